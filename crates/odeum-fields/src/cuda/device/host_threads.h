// Threads of a block as fibres of one thread, so that barriers can be run on the host: stands
// before a kernel's text.
#include <type_traits>
#include <ucontext.h>
#include <utility>
#include <vector>

static ucontext_t od_host_scheduler;
static std::vector<ucontext_t> od_host_fibres;
static unsigned od_host_current;
static bool od_host_ended;

static inline void od_host_yield() {
    const uint3_ mine = threadIdx;
    const unsigned current = od_host_current;
    od_host_ended = false;
    swapcontext(&od_host_fibres[current], &od_host_scheduler);
    threadIdx = mine;
}
