// Threads of a block as fibres of one thread, so that barriers can be run on the host: stands
// before a kernel's text. A fibre begins as a context; from then on it is left and entered by
// jumps, which do not call the system as changes of context do.
#include <memory>
#include <setjmp.h>
#include <type_traits>
#include <ucontext.h>
#include <utility>
#include <vector>

struct OdHostFibre {
    ucontext_t start;
    jmp_buf place;
    bool begun, ended;
};

static jmp_buf od_host_scheduler;
static std::vector<OdHostFibre> od_host_fibres;
static unsigned od_host_current;

static inline void od_host_yield() {
    const uint3_ mine = threadIdx;
    if (!_setjmp(od_host_fibres[od_host_current].place)) _longjmp(od_host_scheduler, 1);
    threadIdx = mine;
}
