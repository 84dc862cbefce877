// Runs a kernel that host_shim.h made plain C++: stands after the kernel's text. The test suite
// compiles with -DOD_HOST_KERNEL=od_erk (or another name) and -DOD_HOST_THREADS for the threads
// of a block.
#include <thread>
#include <vector>

static_assert(sizeof(OdTask) % alignof(void *) == 0, "the host's structure has no padding either");

extern "C" unsigned long od_host_task_size() { return sizeof(OdTask); }

extern "C" void od_host_run(const OdTask *task, unsigned blocks, unsigned long shared_bytes) {
    for (unsigned block = 0; block < blocks; ++block) {
        std::vector<double> shared(shared_bytes / sizeof(double) + 1, NAN);
        OdHostBarrier barrier;
        barrier.members = OD_HOST_THREADS;
        std::vector<std::thread> threads;
        for (unsigned thread = 0; thread < OD_HOST_THREADS; ++thread) {
            threads.emplace_back([&, block, thread] {
                threadIdx.x = thread;
                blockIdx.x = block;
                blockDim.x = OD_HOST_THREADS;
                gridDim.x = blocks;
                od_host_shared = shared.data();
                od_host_barrier = &barrier;
                OD_HOST_KERNEL(*task);
            });
        }
        for (std::thread &thread : threads) thread.join();
    }
}
