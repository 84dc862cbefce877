// Makes device code plain C++, so that the test suite executes it on machines without a GPU: stands before
// a kernel's text, host_main.h after it. The threads of a block are fibres of one thread of the computer:
// each runs up to a barrier, a vote or an atomic operation, and then lets the others run.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <setjmp.h>
#include <type_traits>
#include <ucontext.h>
#include <utility>
#include <vector>

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

// A fibre begins as a context; from then on it is left and entered by jumps, which do not call the
// system as changes of context do.
struct OdHostFibre {
    ucontext_t start;
    jmp_buf place;
    bool begun, ended;
    unsigned votes;
};

static thread_local jmp_buf od_host_scheduler;
static thread_local OdHostFibre *od_host_fibres;
static thread_local unsigned od_host_current;

// Comes back when every other fibre of the block has run as far as its own next yield.
static inline void od_host_yield() {
    const uint3_ mine = threadIdx;
    if (!_setjmp(od_host_fibres[od_host_current].place)) _longjmp(od_host_scheduler, 1);
    threadIdx = mine;
}

// Threads take turns, so that those of a block share what they count out.
static inline unsigned atomicAdd(unsigned *counter, unsigned by) {
    const unsigned old = __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
    od_host_yield();
    return old;
}

// Dynamic shared memory of the block that is run.
static thread_local void *od_host_shared;
#define OD_SHARED(type, name) type *name = (type *)od_host_shared

#define OD_LANE_BARRIER() od_host_yield()

// Of a warp, all of whose lanes vote equally often. A vote is written in one round and read in the
// next, while the one after it is cleared.
static thread_local unsigned char od_host_votes[32][3];
static inline bool od_any_lane(bool x) {
    unsigned char *votes = od_host_votes[od_host_current / 32];
    const unsigned n = od_host_fibres[od_host_current].votes++;
    votes[n % 3] |= x;
    votes[(n + 1) % 3] = 0;
    od_host_yield();
    return votes[n % 3];
}
