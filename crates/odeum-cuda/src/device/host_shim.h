// Makes device code plain C++, so that the test suite executes it on machines without a GPU: stands before
// a kernel's text, host_main.h after it; host_threads.cpp defines what is only declared here. Headers of C
// alone: those of C++ would be a third of the work for each text.
#include <math.h>
#include <stdint.h>
#include <string.h>

#define __device__
#define __global__
#define __constant__ static const
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __restrict__
#define __ldg(pointer) (*(pointer))

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
// What the other threads of a group do meanwhile, so that all come to the next barrier.
#define OD_BESIDE_ATOMIC() od_host_yield()

// Dynamic shared memory of the block that is run.
extern "C" __thread void *od_host_shared;
#define OD_SHARED(type, name) type *name = (type *)od_host_shared

#define OD_LANE_BARRIER() od_host_yield()

// Of a warp, all of whose lanes vote equally often.
extern "C" bool od_any_lane(bool x);

// Runs a body for each thread of each block.
extern "C" void od_host_launch(
    void (*body)(void **), void **arguments, const unsigned long *blocks, const unsigned long *block);
