// Compiles device code as plain C++, so that the test suite executes it on machines without a
// GPU. A block has as many threads as the harness starts: the lanes of one system.
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sched.h>

#define __device__
#define __global__
#define __constant__ static const
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __restrict__
#define __ldg(pointer) (*(pointer))

struct uint3_ { unsigned x, y, z; };
struct uint4 { unsigned x, y, z, w; };
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return uint4{x, y, z, w};
}
static thread_local uint3_ threadIdx, blockIdx, blockDim, gridDim;

static inline int __double2hiint(double a) {
    int64_t bits;
    std::memcpy(&bits, &a, 8);
    return (int)(bits >> 32);
}
static inline double __longlong_as_double(long long bits) {
    double a;
    std::memcpy(&a, &bits, 8);
    return a;
}
static inline int __float_as_int(float a) {
    int bits;
    std::memcpy(&bits, &a, 4);
    return bits;
}
static inline float __int_as_float(int bits) {
    float a;
    std::memcpy(&a, &bits, 4);
    return a;
}
static inline unsigned atomicAdd(unsigned *counter, unsigned by) {
    return __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

// Dynamic shared memory of the block the thread belongs to, and its barrier.
static thread_local void *od_host_shared;
#define OD_SHARED(type, name) type *name = (type *)od_host_shared

struct OdHostBarrier {
    std::atomic<unsigned> waiting{0}, round{0};
    unsigned members = 1;
    void wait() {
        const unsigned now = round.load();
        if (waiting.fetch_add(1) + 1 == members) {
            waiting.store(0);
            round.fetch_add(1);
        } else {
            while (round.load() == now) sched_yield();
        }
    }
};
static thread_local OdHostBarrier *od_host_barrier;
#define OD_LANE_BARRIER() od_host_barrier->wait()
static inline bool od_any_lane(bool x) { return x; }
