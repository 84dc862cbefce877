// Threads of a block as fibres of one thread, so that barriers and exchanges within a warp can be
// run on the host: stands before a kernel's text.
#include <type_traits>
#include <ucontext.h>
#include <utility>
#include <vector>

static ucontext_t od_host_scheduler;
static std::vector<ucontext_t> od_host_fibres;
static unsigned od_host_current;
static bool od_host_ended;
static double od_host_slots[2][1024];
static unsigned od_host_turn[1024];

static inline void od_host_yield() {
    const uint3_ mine = threadIdx;
    const unsigned current = od_host_current;
    od_host_ended = false;
    swapcontext(&od_host_fibres[current], &od_host_scheduler);
    threadIdx = mine;
}

// The value of the lane `by` places on; its own at the end of a warp.
template <class T> static inline T od_host_shift(T a, int by) {
    const unsigned current = od_host_current, turn = od_host_turn[current]++ & 1;
    std::memcpy(&od_host_slots[turn][current], &a, sizeof(T));
    od_host_yield();
    const int lane = (int)(current % 32) + by;
    const unsigned from = lane < 0 || lane > 31 ? current : current + by;
    std::memcpy(&a, &od_host_slots[turn][from], sizeof(T));
    return a;
}
