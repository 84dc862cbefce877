// Runs kernels that the host shim made plain C++, as a driver does: by a list of addresses of
// their arguments. Stands after their text; OD_HOST_KERNEL exports one.
static void **od_host_arguments;

template <class... A, size_t... I>
static void od_host_apply(void (*kernel)(A...), void **a, std::index_sequence<I...>) {
    kernel(*(typename std::decay<A>::type *)a[I]...);
}
template <class... A>
static void od_host_call(void (*kernel)(A...)) {
    od_host_apply(kernel, od_host_arguments, std::index_sequence_for<A...>());
}

static void od_host_launch(
    void (*body)(), const unsigned long *blocks, const unsigned long *block) {
    const unsigned nx = block[0], threads = block[0] * block[1];
    const size_t stack = 128 * 1024;
    static std::vector<char> stacks;
    if (stacks.size() < threads * stack) stacks.resize(threads * stack);
    // More than the 227 KiB that a block may have.
    std::vector<double> shared(32 * 1024);
    od_host_shared = shared.data();
    blockDim = uint3_{nx, (unsigned)block[1], 1};
    for (unsigned b = 0; b < blocks[0] * blocks[1] * blocks[2]; ++b) {
        blockIdx = uint3_{
            (unsigned)(b % blocks[0]), (unsigned)(b / blocks[0] % blocks[1]),
            (unsigned)(b / (blocks[0] * blocks[1]))};
        // Of shared memory nothing is read that the block has not written: what it holds are large
        // numbers, as after what is no number marches go back and take single steps.
        std::memset(shared.data(), 0x41, shared.size() * sizeof(double));
        od_host_fibres.assign(threads, ucontext_t());
        std::vector<bool> done(threads, false);
        for (unsigned t = 0; t < threads; ++t) {
            getcontext(&od_host_fibres[t]);
            od_host_fibres[t].uc_stack.ss_sp = &stacks[t * stack];
            od_host_fibres[t].uc_stack.ss_size = stack;
            // A fibre that ends comes back here, as one that waits does; od_host_ended
            // tells which.
            od_host_fibres[t].uc_link = &od_host_scheduler;
            makecontext(&od_host_fibres[t], body, 0);
        }
        // One round is as far as the next barrier. Threads that end have as many barriers behind
        // them as the others, or none follow: a finished fibre is not resumed.
        bool any = true;
        while (any) {
            any = false;
            for (unsigned t = 0; t < threads; ++t) {
                if (done[t]) continue;
                od_host_current = t;
                threadIdx = uint3_{t % nx, t / nx, 0};
                od_host_ended = true;
                swapcontext(&od_host_scheduler, &od_host_fibres[t]);
                done[t] = od_host_ended;
                any = any || !done[t];
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
