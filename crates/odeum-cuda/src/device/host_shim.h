// Makes device code plain C++, so that the test suite executes it on machines without a GPU: stands before
// a kernel's text, host_main.h after it; host_threads.cpp defines what is only declared here. Headers of C
// alone, and not math.h: to read it would be an eighth of the work for each text, those of C++ a third.
#include <stdint.h>
#include <string.h>

// Of math.h, in both precisions, what device code calls.
#define OD_HOST_MATH_1(name) \
    extern "C" double name(double) noexcept; \
    extern "C" float name##f(float) noexcept;
#define OD_HOST_MATH_2(name) \
    extern "C" double name(double, double) noexcept; \
    extern "C" float name##f(float, float) noexcept;
OD_HOST_MATH_1(acos)
OD_HOST_MATH_1(asin)
OD_HOST_MATH_1(atan)
OD_HOST_MATH_1(cbrt)
OD_HOST_MATH_1(cos)
OD_HOST_MATH_1(cosh)
OD_HOST_MATH_1(exp)
OD_HOST_MATH_1(exp2)
OD_HOST_MATH_1(fabs)
OD_HOST_MATH_1(floor)
OD_HOST_MATH_1(log)
OD_HOST_MATH_1(log2)
OD_HOST_MATH_1(sin)
OD_HOST_MATH_1(sinh)
OD_HOST_MATH_1(sqrt)
OD_HOST_MATH_1(tan)
OD_HOST_MATH_1(tanh)
OD_HOST_MATH_2(fmax)
OD_HOST_MATH_2(pow)
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
static inline bool isnan(double a) { return a != a; }

// What a text does not use is not compiled where it is inline; without optimisation all else that is static is.
#define __device__ inline
#define __global__
#define __constant__ static const
#define __grid_constant__
#define __forceinline__
#define __noinline__
#define __launch_bounds__(...)
#define __restrict__
#define __ldg(pointer) (*(pointer))
#define __ldcs(pointer) (*(pointer))
static inline void od_publish(unsigned char *to, unsigned char value) {
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}
#define __stcs(pointer, value) (*(pointer) = (value))

struct uint3_ { unsigned x, y, z; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct double2 { double x, y; };
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return uint4{x, y, z, w};
}
extern "C" __thread uint3_ threadIdx, blockIdx, blockDim, gridDim;

static inline int __double2hiint(double a) {
    int64_t bits;
    memcpy(&bits, &a, 8);
    return (int)(bits >> 32);
}
static inline int __double2loint(double a) {
    int64_t bits;
    memcpy(&bits, &a, 8);
    return (int)bits;
}
static inline double __hiloint2double(int high, int low) {
    const uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
    double a;
    memcpy(&a, &bits, 8);
    return a;
}
static inline double __longlong_as_double(long long bits) {
    double a;
    memcpy(&a, &bits, 8);
    return a;
}
static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline int __float_as_int(float a) {
    int bits;
    memcpy(&bits, &a, 4);
    return bits;
}
static inline float __int_as_float(int bits) {
    float a;
    memcpy(&a, &bits, 4);
    return a;
}

// Time goes on by one whenever a thread looks at the clock.
static inline unsigned od_clock() {
    static unsigned time;
    return __atomic_add_fetch(&time, 1, __ATOMIC_RELAXED);
}

// Comes back when every other thread of the block has run as far as its own next yield.
extern "C" void od_host_yield();

// Threads take turns, so that those of a block share what they count out.
static inline unsigned atomicAdd(unsigned *counter, unsigned by) {
    const unsigned old = __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
    od_host_yield();
    return old;
}
static inline unsigned long long atomicAdd(unsigned long long *sum, unsigned long long by) {
    return __atomic_fetch_add(sum, by, __ATOMIC_RELAXED);
}
static inline unsigned atomicMax(unsigned *most, unsigned x) {
    unsigned old = *most;
    while (old < x && !__atomic_compare_exchange_n(most, &old, x, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return old;
}
static inline unsigned long long atomicMin(unsigned long long *least, unsigned long long x) {
    unsigned long long old = *least;
    while (old > x && !__atomic_compare_exchange_n(least, &old, x, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return old;
}
// What the other threads of a group do meanwhile, so that all come to the next barrier.
#define OD_BESIDE_ATOMIC() od_host_yield()

// Dynamic shared memory of the block that is run.
extern "C" __thread void *od_host_shared;
#define OD_SHARED(type, name) type *name = (type *)od_host_shared

// A number of each thread of the block that is run, in place of shuffles.
extern "C" __thread double *od_host_numbers;

#define OD_LANE_BARRIER() od_host_yield()

// Of a warp, all of whose lanes vote equally often.
extern "C" bool od_any_lane(bool x);

// Runs a body for each thread of a range of blocks; `block`: its threads, in two directions, and the bytes of its shared
// memory. False where a block wrote beyond these.
extern "C" bool od_host_launch(
    void (*body)(void **), void **arguments, const unsigned long *blocks, const unsigned long *block,
    const unsigned long *range);
