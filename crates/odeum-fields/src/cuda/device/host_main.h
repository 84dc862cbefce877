// Runs a kernel that the host shim made plain C++: stands after the kernel's text, which is
// compiled with OD_HOST_KERNEL and OD_HOST_STEP for its name and the type of its steps.
static const void *od_host_in, *od_host_step_numbers;
static void *od_host_out;
static int od_host_planes;

static void od_host_thread() {
    OD_HOST_STEP step;
    std::memcpy(&step, od_host_step_numbers, sizeof(step));
    OD_HOST_KERNEL((const real *)od_host_in, (real *)od_host_out, step, od_host_planes);
}

extern "C" void od_host_sweep(
    const void *in, void *out, const void *step, int planes, const unsigned long *blocks,
    const unsigned long *block) {
    od_host_in = in;
    od_host_out = out;
    od_host_step_numbers = step;
    od_host_planes = planes;
    const unsigned nx = block[0], threads = block[0] * block[1];
    const size_t stack = 256 * 1024;
    std::vector<char> stacks(threads * stack);
    std::vector<double> shared(64 * 1024, NAN);
    od_host_shared = shared.data();
    for (unsigned b = 0; b < blocks[0] * blocks[1] * blocks[2]; ++b) {
        blockIdx = uint3_{
            (unsigned)(b % blocks[0]), (unsigned)(b / blocks[0] % blocks[1]),
            (unsigned)(b / (blocks[0] * blocks[1]))};
        od_host_fibres.assign(threads, ucontext_t());
        std::vector<bool> done(threads, false);
        for (unsigned t = 0; t < threads; ++t) {
            getcontext(&od_host_fibres[t]);
            od_host_fibres[t].uc_stack.ss_sp = &stacks[t * stack];
            od_host_fibres[t].uc_stack.ss_size = stack;
            // A fibre that ends comes back here, as one that waits does; od_host_ended
            // tells which.
            od_host_fibres[t].uc_link = &od_host_scheduler;
            od_host_turn[t] = 0;
            makecontext(&od_host_fibres[t], (void (*)())od_host_thread, 0);
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
