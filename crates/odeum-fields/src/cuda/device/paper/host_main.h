// Runs the kernels of the paper that the host shim made plain C++: stands after their text. The
// threads of a block are fibres, as for other kernels (host_threads.h).
typedef void OdPaperKernel(const real *, real *, real *, const OdPaperTask);
static OdPaperKernel *const od_paper_kernels[] = {
    od_paper_faces_x, od_paper_faces_y, od_paper_faces_z, od_paper_edges_x, od_paper_edges_y,
    od_paper_edges_z, od_paper_step,
#if OD_PAPER_FRONT
    od_paper_laplacian_of_c,
#endif
};

struct OdPaperCall {
    const real *from;
    real *to, *laplacian;
    const OdPaperTask *task;
    OdPaperKernel *kernel;
};
static OdPaperCall od_paper_call;

static void od_paper_thread() {
    const OdPaperCall &call = od_paper_call;
    call.kernel(call.from, call.to, call.laplacian, *call.task);
}

extern "C" unsigned long od_paper_task_size() { return sizeof(OdPaperTask); }

extern "C" void od_paper_run(
    unsigned long kernel, const void *from, void *to, void *laplacian, const void *task,
    const unsigned long *blocks, const unsigned long *block) {
    od_paper_call = OdPaperCall{
        (const real *)from, (real *)to, (real *)laplacian, (const OdPaperTask *)task,
        od_paper_kernels[kernel]};
    const unsigned threads = block[0] * block[1];
    const size_t stack = 32 * 1024;
    std::vector<char> stacks(threads * stack);
    blockDim = uint3_{(unsigned)block[0], (unsigned)block[1], 1};
    for (unsigned b = 0; b < blocks[0] * blocks[1] * blocks[2]; ++b) {
        // Of shared memory nothing is read that the block has not written.
        std::vector<real> shared(4 * (2 * OD_PAPER_W + 1) * OD_PAPER_H * OD_PAPER_D, (real)NAN);
        od_host_shared = shared.data();
        blockIdx = uint3_{
            (unsigned)(b % blocks[0]), (unsigned)(b / blocks[0] % blocks[1]),
            (unsigned)(b / (blocks[0] * blocks[1]))};
        od_host_fibres.assign(threads, ucontext_t());
        std::vector<bool> done(threads, false);
        for (unsigned t = 0; t < threads; ++t) {
            getcontext(&od_host_fibres[t]);
            od_host_fibres[t].uc_stack.ss_sp = &stacks[t * stack];
            od_host_fibres[t].uc_stack.ss_size = stack;
            od_host_fibres[t].uc_link = &od_host_scheduler;
            makecontext(&od_host_fibres[t], (void (*)())od_paper_thread, 0);
        }
        // One round is as far as the next barrier.
        bool any = true;
        while (any) {
            any = false;
            for (unsigned t = 0; t < threads; ++t) {
                if (done[t]) continue;
                od_host_current = t;
                threadIdx = uint3_{t % (unsigned)block[0], t / (unsigned)block[0], 0};
                od_host_ended = true;
                swapcontext(&od_host_scheduler, &od_host_fibres[t]);
                done[t] = od_host_ended;
                any = any || !done[t];
            }
        }
    }
}
