// Runs kernels that the host shim made plain C++, as a driver does: by a list of addresses of
// their arguments. Stands after their text; OD_HOST_KERNEL exports one.
static thread_local void **od_host_arguments;

template <class... A, size_t... I>
static void od_host_apply(void (*kernel)(A...), void **a, std::index_sequence<I...>) {
    kernel(*(typename std::decay<A>::type *)a[I]...);
}
template <class... A>
static void od_host_call(void (*kernel)(A...)) {
    od_host_apply(kernel, od_host_arguments, std::index_sequence_for<A...>());
}

static thread_local void (*od_host_body)();

static void od_host_fibre() {
    od_host_body();
    od_host_fibres[od_host_current].ended = true;
    _longjmp(od_host_scheduler, 1);
}

// Comes back when the fibre yields, or has ended.
static void od_host_enter(OdHostFibre &fibre) {
    if (_setjmp(od_host_scheduler)) return;
    if (fibre.begun) _longjmp(fibre.place, 1);
    fibre.begun = true;
    setcontext(&fibre.start);
}

static void od_host_launch(
    void (*body)(), const unsigned long *blocks, const unsigned long *block) {
    od_host_body = body;
    const unsigned nx = block[0], threads = block[0] * block[1];
    const size_t stack = 128 * 1024;
    // Not cleared: memory that is not touched is none.
    static thread_local std::unique_ptr<char[]> stacks;
    static thread_local unsigned room;
    if (room < threads) stacks.reset(new char[(room = threads) * stack]);
    std::vector<OdHostFibre> fibres;
    // More than the 227 KiB that a block may have.
    std::vector<double> shared(32 * 1024);
    od_host_shared = shared.data();
    blockDim = uint3_{nx, (unsigned)block[1], 1};
    gridDim = uint3_{(unsigned)blocks[0], (unsigned)blocks[1], (unsigned)blocks[2]};
    for (unsigned b = 0; b < blocks[0] * blocks[1] * blocks[2]; ++b) {
        blockIdx = uint3_{
            (unsigned)(b % blocks[0]), (unsigned)(b / blocks[0] % blocks[1]),
            (unsigned)(b / (blocks[0] * blocks[1]))};
        // Of shared memory nothing is read that the block has not written: what it holds are large
        // numbers, as after what is no number simulations go back and take single steps.
        std::memset(shared.data(), 0x41, shared.size() * sizeof(double));
        std::memset(od_host_votes, 0, sizeof(od_host_votes));
        fibres.assign(threads, OdHostFibre());
        od_host_fibres = fibres.data();
        for (unsigned t = 0; t < threads; ++t) {
            ucontext_t &start = fibres[t].start;
            getcontext(&start);
            start.uc_stack.ss_sp = &stacks[t * stack];
            start.uc_stack.ss_size = stack;
            makecontext(&start, od_host_fibre, 0);
        }
        // One round is as far as the next barrier. Threads that end have as many barriers behind
        // them as the others, or none follow: a finished fibre is not resumed.
        bool any = true;
        while (any) {
            any = false;
            for (unsigned t = 0; t < threads; ++t) {
                OdHostFibre &fibre = fibres[t];
                if (fibre.ended) continue;
                od_host_current = t;
                threadIdx = uint3_{t % nx, t / nx, 0};
                od_host_enter(fibre);
                any = any || !fibre.ended;
            }
        }
    }
}

// Bytes of the arguments of a kernel, and how many these are.
template <class... A>
static unsigned long od_host_sizes(void (*)(A...), unsigned long *to) {
    const unsigned long sizes[] = {sizeof(A)...};
    for (size_t n = 0; n < sizeof...(A); ++n) to[n] = sizes[n];
    return sizeof...(A);
}

#define OD_HOST_KERNEL(name) \
    extern "C" unsigned long od_host_sizes_##name(unsigned long *to) { \
        return od_host_sizes(name, to); \
    } \
    static void od_host_body_##name() { od_host_call(name); } \
    extern "C" void od_host_run_##name( \
        void **arguments, const unsigned long *blocks, const unsigned long *block) { \
        od_host_arguments = arguments; \
        od_host_launch(od_host_body_##name, blocks, block); \
    }
