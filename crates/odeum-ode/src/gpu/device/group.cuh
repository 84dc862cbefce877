// Systems that OD_WIDTH threads share, a group: one thread, a warp, or a block of several warps.
//
// The scalars of a system (time, step size, counts) are the same in all threads of its group. Of its vectors each
// thread has the components slot, slot + OD_WIDTH, ...: OD_EACH at most. What threads read of each other goes
// through memory of the group, with a barrier in between. Sums are in a fixed order: every thread has the same bits.

//
// One thread alone has straight-line code, which knows which states never change: it has the OD_CHANGING others, of which e is
// the component od_changing(e).

#if OD_WIDTH == 1
#define OD_EACH OD_CHANGING
#else
#define OD_EACH ((OD_N + OD_WIDTH - 1) / OD_WIDTH)
#endif

struct OdGroup {
    unsigned slot;                  // of this thread in its group
    const unsigned char *tables;
    real *memory;                   // for those that evaluate a system; nothing is kept there between calls
    struct OdCells *cells;          // what threads tell each other
};

struct OdCells {
    real values[OD_CELLS];
    unsigned number;
};
static_assert(OD_WIDTH <= 32 * OD_CELLS, "each warp has a cell");

// The components i of this thread, and their places e among them.
#if OD_WIDTH == 1
#define OD_OWN(e, i) \
    OD_UNROLL_OWN for (int e = 0; e < OD_EACH; ++e) \
        if (const int i = od_changing(e); i < OD_N)
// The components i that never change.
#define OD_CONSTANT_STATES(i) \
    _Pragma("unroll") for (int k = 0; k < OD_N - OD_CHANGING; ++k) \
        if (const int i = od_constant_state(k); i < OD_N)
#else
#define OD_OWN(e, i) \
    OD_UNROLL_OWN for (int e = 0, i = (int)g.slot; e < OD_EACH; ++e, i += OD_WIDTH) \
        if (OD_N % OD_WIDTH == 0 || i < OD_N)
#endif
#if OD_EACH <= 64
#define OD_UNROLL_OWN _Pragma("unroll")
#else
#define OD_UNROLL_OWN _Pragma("unroll 1")
#endif

#if OD_WIDTH == 1

#define OD_GROUP_BARRIER()
#define OD_IN_STEP()
OD_FN real od_group_sum(const OdGroup &, real x) { return x; }
// The largest, for values that are no NaN.
OD_FN real od_group_largest(const OdGroup &, real x) { return x; }
OD_FN bool od_group_any(const OdGroup &, bool x) { return x; }
OD_FN unsigned od_group_take(const OdGroup &, unsigned *counter) { return atomicAdd(counter, 1u); }

#else

#if OD_WIDTH == 32 || !defined(__CUDACC__)
#define OD_GROUP_BARRIER() OD_LANE_BARRIER()
#else
#define OD_GROUP_BARRIER() od_block_barrier()
#endif

// Warps of a block that are groups of their own wait here for each other, though none needs another: what they read at the
// same time, tables and instructions, the caches hold for all of them. A method whose steps take about the same work each comes
// here before the large parts of a step. A group that has ended is not waited for, and nothing is lost where one is not.
#if OD_WIDTH == 32 && OD_BLOCK > 32 && defined(__CUDACC__)
#define OD_IN_STEP() __syncthreads()
#else
#define OD_IN_STEP()
#endif

#ifdef __CUDACC__
// One copy of each, out of line: there are many sums, and the code must stay in the cache of instructions.
static __device__ __noinline__ real od_warp_sum(real x) {
    __syncwarp();
#pragma unroll
    for (int step = 16; step > 0; step /= 2) x = x + __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}
// Several at once. Of many, a thread completes one: in each exchange it takes half of the sums that it has parts of, and gives the
// other half away.
template <int STEP> OD_FN void od_warp_halve(unsigned slot, real *x) {
    const bool upper = (slot & unsigned(STEP)) != 0;
#pragma unroll
    for (int k = 0; k < STEP; ++k) {
        const real own = upper ? x[k + STEP] : x[k], other = upper ? x[k] : x[k + STEP];
        x[k] = own + __shfl_xor_sync(0xffffffffu, other, STEP);
    }
}
template <int COUNT> OD_FN void od_warp_sums(unsigned slot, real (&x)[COUNT]) {
    __syncwarp();
    if constexpr (COUNT > 8 && COUNT <= 32) {
        real all[32];
#pragma unroll
        for (int k = 0; k < 32; ++k) all[k] = k < COUNT ? x[k < COUNT ? k : 0] : real(0);
        od_warp_halve<16>(slot, all);
        od_warp_halve<8>(slot, all);
        od_warp_halve<4>(slot, all);
        od_warp_halve<2>(slot, all);
        od_warp_halve<1>(slot, all);
#pragma unroll
        for (int k = 0; k < COUNT; ++k) x[k] = __shfl_sync(0xffffffffu, all[0], k);
    } else {
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
#pragma unroll
            for (int k = 0; k < COUNT; ++k) x[k] = x[k] + __shfl_xor_sync(0xffffffffu, x[k], step);
        }
    }
}
static __device__ __noinline__ real od_warp_largest(real x) {
    __syncwarp();
#pragma unroll
    for (int step = 16; step > 0; step /= 2) x = od_larger(x, __shfl_xor_sync(0xffffffffu, x, step));
    return x;
}
// The numbers of all warps, of which each thread has its own's.
OD_FN const real *od_of_warps(const OdGroup &g, real x) {
    OD_GROUP_BARRIER();
    if (g.slot % 32 == 0) g.cells->values[g.slot / 32] = x;
    OD_GROUP_BARRIER();
    return g.cells->values;
}
OD_FN real od_group_sum(const OdGroup &g, real x) {
    x = od_warp_sum(x);
#if OD_WIDTH > 32
    const real *const all = od_of_warps(g, x);
    x = all[0];
#pragma unroll
    for (int warp = 1; warp < OD_WIDTH / 32; ++warp) x = x + all[warp];
#endif
    return x;
}
OD_FN real od_group_largest(const OdGroup &g, real x) {
    x = od_warp_largest(x);
#if OD_WIDTH > 32
    const real *const all = od_of_warps(g, x);
#pragma unroll
    for (int warp = 0; warp < OD_WIDTH / 32; ++warp) x = od_larger(x, all[warp]);
#endif
    return x;
}
OD_FN bool od_group_any(const OdGroup &g, bool x) {
#if OD_WIDTH > 32
    return od_any_of_block(x);
#else
    return __any_sync(0xffffffffu, x);
#endif
}
#else
// The numbers of all threads of the group.
OD_FN const double *od_of_threads(const OdGroup &g, real x) {
    OD_GROUP_BARRIER();
    od_host_numbers[threadIdx.x] = x;
    OD_GROUP_BARRIER();
    return od_host_numbers + threadIdx.x - g.slot;
}
OD_FN real od_group_sum(const OdGroup &g, real x) {
    const double *const all = od_of_threads(g, x);
    real sum = real(0);
    for (int s = 0; s < OD_WIDTH; ++s) sum = sum + real(all[s]);
    return sum;
}
OD_FN real od_group_largest(const OdGroup &g, real x) {
    const double *const all = od_of_threads(g, x);
    for (int s = 0; s < OD_WIDTH; ++s) x = od_larger(x, real(all[s]));
    return x;
}
OD_FN bool od_group_any(const OdGroup &g, bool x) {
    return od_group_sum(g, x ? real(1) : real(0)) != real(0);
}
#endif

// Takes the next number of a queue.
OD_FN unsigned od_group_take(const OdGroup &g, unsigned *counter) {
    OD_GROUP_BARRIER();
    if (g.slot == 0) {
        g.cells->number = atomicAdd(counter, 1u);
    } else {
        OD_BESIDE_ATOMIC();
    }
    OD_GROUP_BARRIER();
    return g.cells->number;
}

#endif

// Several sums at once, each as od_group_sum has it, to the bit. One alone waits for five exchanges.
template <int COUNT> OD_FN void od_group_sums(const OdGroup &g, real (&x)[COUNT]) {
#if OD_WIDTH == 32 && defined(__CUDACC__)
    od_warp_sums(g.slot, x);
#else
#pragma unroll
    for (int k = 0; k < COUNT; ++k) x[k] = od_group_sum(g, x[k]);
#endif
}

// Numbers that the thread of component i has, to all threads.
template <int COUNT> OD_FN void od_group_tell(const OdGroup &g, int i, real (&values)[COUNT]) {
#if OD_WIDTH > 1
    static_assert(COUNT <= OD_CELLS, "each number has a cell");
    OD_GROUP_BARRIER();
    if ((int)g.slot == i % OD_WIDTH) {
#pragma unroll
        for (int k = 0; k < COUNT; ++k) g.cells->values[k] = values[k];
    }
    OD_GROUP_BARRIER();
#pragma unroll
    for (int k = 0; k < COUNT; ++k) values[k] = g.cells->values[k];
#endif
}

// Completes the sum of a norm, to which each thread has added its components.
OD_FN void od_group_close(const OdGroup &g, OdNorm &norm) {
    od_norm_close_group(norm);
#if OD_NORM == OD_NORM_RMS
    norm.total = od_group_sum(g, norm.total);
#else
    norm.total = od_group_largest(g, norm.total);
#endif
}

// The norm of a vector of which each thread has added its components: see od_norm_size.
OD_FN real od_group_norm(const OdTask &task, const OdGroup &g, OdNorm &norm) {
    const bool finite = norm.magnitude < OD_NOT_FINITE;
    od_group_close(g, norm);
    norm.magnitude = od_group_any(g, !finite) ? OD_NOT_FINITE : 0;
    return od_norm_size(task, norm);
}

// The memory of this thread's group.
#if OD_WIDTH == 1
#define OD_GROUP_MEMORY(name) OdMemory name
#else
#define OD_GROUP_MEMORY(name) \
    OD_SHARED(OdMemory, od_memories); \
    OdMemory &name = od_memories[threadIdx.x / OD_WIDTH]
#endif
