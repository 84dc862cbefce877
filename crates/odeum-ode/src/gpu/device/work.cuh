// How long the groups of a launch have systems: from its begin, which is that of all, until the queue has none left for
// them. What the longest works beyond that they are idle. In units of 1024 clocks of a multiprocessor, whose differences
// are right for half an hour; whoever waits for other lanes of its warp within an attempt counts as working.

struct OdWorked {
    unsigned long long busy;    // of all groups together
    unsigned groups, longest;   // their number, and the longest
};

struct OdWork {
    unsigned begun, ended;

    OD_FN_MEMBER void begin() { begun = ended = od_clock(); }
    // When a system ends: at the end of the loop all lanes of a warp meet, and would have one time.
    OD_FN_MEMBER void end_system() { ended = od_clock(); }
};

// Adds a group to what the launch worked.
OD_FN void od_add_work(const OdTask &task, const OdGroup &g, const OdWork &work) {
    unsigned long long busy = work.ended - work.begun;
    unsigned longest = work.ended - work.begun, groups = 1;
#if defined(__CUDACC__) && OD_WIDTH == 1
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        busy += __shfl_xor_sync(0xffffffffu, busy, step);
        const unsigned other = __shfl_xor_sync(0xffffffffu, longest, step);
        longest = other > longest ? other : longest;
    }
    groups = 32;
    if (threadIdx.x % 32 != 0) return;
#endif
    if (g.slot != 0) return;
    atomicAdd(&task.work->busy, busy);
    atomicAdd(&task.work->groups, groups);
    atomicMax(&task.work->longest, longest);
}
