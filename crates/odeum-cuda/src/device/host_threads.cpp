// Runs the threads of blocks, as fibres of one thread of the computer: each runs up to a barrier, a vote or
// an atomic operation, and then lets the others run. Stands after host_shim.h; one library for all kernels.
#include <algorithm>
#include <memory>
#include <ucontext.h>
#include <vector>

// Where a jump goes. The compiler's own jumps save nothing but that and the stack: those of the C library took an eighth of the time of
// kernels with barriers.
typedef void *OdHostPlace[5];

// In a function of its own: no function may have a jump and be the aim of one.
[[noreturn]] static __attribute__((noinline)) void od_host_jump(OdHostPlace &to) { __builtin_longjmp(to, 1); }

// A fibre begins as a context; from then on it is left and entered by jumps, which do not call the
// system as changes of context do. It stays for later launches, of whichever kernel.
struct OdHostFibre {
    std::unique_ptr<char[]> stack;
    OdHostPlace place;
    uint3_ index;
    bool ended;
    unsigned votes;
};

// What a thread of the computer has.
struct OdHostThread {
    OdHostPlace scheduler;
    std::vector<OdHostFibre> fibres;
    // Of the block that is run: its threads, those that have not ended, and the one whose turn it is.
    unsigned threads, running, current;
    void (*body)(void **);
    void **arguments;
    // More than the 227 KiB that a block may have.
    std::vector<double> shared = std::vector<double>(32 * 1024);
    // Of each thread of a block.
    double numbers[1024];
    // Of each warp.
    unsigned char votes[32][3];
};

__thread uint3_ threadIdx, blockIdx, blockDim, gridDim;
__thread void *od_host_shared;
__thread double *od_host_numbers;
static __thread OdHostThread *od_host_me;

// Goes to the next thread of the block that has begun, or where there is none to the scheduler.
[[noreturn]] static __attribute__((noinline)) void od_host_next(OdHostThread &me) {
    for (unsigned t = me.current + 1; t < me.threads; ++t) {
        OdHostFibre &fibre = me.fibres[t];
        if (fibre.ended) continue;
        if (!fibre.stack) break;
        me.current = t;
        threadIdx = fibre.index;
        od_host_jump(fibre.place);
    }
    od_host_jump(me.scheduler);
}

__attribute__((noinline)) void od_host_yield() {
    OdHostThread &me = *od_host_me;
    if (!__builtin_setjmp(me.fibres[me.current].place)) od_host_next(me);
}

// A vote is written in one round and read in the next, while the one after it is cleared.
bool od_any_lane(bool x) {
    OdHostThread &me = *od_host_me;
    unsigned char *votes = me.votes[me.current / 32];
    const unsigned n = me.fibres[me.current].votes++;
    votes[n % 3] |= x;
    votes[(n + 1) % 3] = 0;
    od_host_yield();
    return votes[n % 3];
}

static void od_host_fibre() {
    OdHostThread &me = *od_host_me;
    for (;;) {
        me.body(me.arguments);
        me.fibres[me.current].ended = true;
        --me.running;
        od_host_yield();
    }
}

// Comes back when the fibre, or one of those after it, goes to the scheduler.
static __attribute__((noinline)) void od_host_enter(OdHostThread &me, OdHostFibre &fibre) {
    if (__builtin_setjmp(me.scheduler)) return;
    if (fibre.stack) od_host_jump(fibre.place);
    const size_t bytes = 128 * 1024;
    // Not cleared: memory that is not touched is none.
    fibre.stack.reset(new char[bytes]);
    ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = fibre.stack.get();
    start.uc_stack.ss_size = bytes;
    makecontext(&start, od_host_fibre, 0);
    setcontext(&start);
}

// What shared memory holds that no block has written: large numbers, as after what is no number simulations go back and
// take single steps.
static const unsigned char od_host_unwritten = 0x41;

// Shared memory beyond that of a block, which it must leave as it is [bytes].
static const unsigned long od_host_margin = 4096;

// False where the block wrote beyond its shared memory. Of a kernel that asks for none that is not known: it may have arrays of
// its own.
static bool od_host_block(OdHostThread &me, unsigned threads, unsigned long bytes) {
    const unsigned long all = me.shared.size() * sizeof(double);
    if (bytes > all) return false;
    const unsigned long end = bytes > 0 ? std::min(bytes + od_host_margin, all) : all;
    memset(me.shared.data(), od_host_unwritten, end);
    memset(me.votes, 0, sizeof(me.votes));
    for (unsigned t = 0; t < threads; ++t) {
        OdHostFibre &fibre = me.fibres[t];
        fibre.index = uint3_{t % blockDim.x, t / blockDim.x, 0};
        fibre.ended = false;
        fibre.votes = 0;
    }
    // One round is as far as the next barrier. Threads that end have as many barriers behind
    // them as the others, or none follow: a finished fibre is not resumed.
    me.threads = me.running = threads;
    while (me.running > 0) {
        for (unsigned t = 0; t < threads; t = me.current + 1) {
            OdHostFibre &fibre = me.fibres[t];
            me.current = t;
            if (fibre.ended) continue;
            threadIdx = fibre.index;
            od_host_enter(me, fibre);
        }
    }
    if (bytes == 0) return true;
    const unsigned char *shared = reinterpret_cast<const unsigned char *>(me.shared.data());
    return std::all_of(shared + bytes, shared + end, [](unsigned char x) { return x == od_host_unwritten; });
}

bool od_host_launch(
    void (*body)(void **), void **arguments, const unsigned long *blocks, const unsigned long *block,
    const unsigned long *range) {
    static thread_local std::unique_ptr<OdHostThread> own(new OdHostThread());
    OdHostThread &me = *(od_host_me = own.get());
    const unsigned threads = block[0] * block[1];
    if (me.fibres.size() < threads) me.fibres.resize(threads);
    me.body = body;
    me.arguments = arguments;
    od_host_shared = me.shared.data();
    od_host_numbers = me.numbers;
    blockDim = uint3_{(unsigned)block[0], (unsigned)block[1], 1};
    gridDim = uint3_{(unsigned)blocks[0], (unsigned)blocks[1], (unsigned)blocks[2]};
    for (unsigned long n = range[0]; n < range[1]; ++n) {
        const unsigned row = n / gridDim.x;
        blockIdx = uint3_{(unsigned)(n % gridDim.x), row % gridDim.y, row / gridDim.y};
        if (!od_host_block(me, threads, block[2])) return false;
    }
    return true;
}
