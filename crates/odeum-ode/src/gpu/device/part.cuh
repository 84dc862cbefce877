// One part of a step over and over, to learn what it costs by itself: f, f with -J, these with the factors, a solve.
//
// Generated before this file: OD_PART_RHS, OD_PART_JACOBIAN, OD_PART_FACTORS and OD_PART_SOLVE, one of them 1. Of every
// system the part is done task.max_steps times; its end state is f, or what a solve makes of it. The whole part is done every
// time, as each time begins from what the one before gave, times zero.

// `values` with other numbers times zero.
OD_FN void od_follow(real (&values)[OD_EACH], const real (&others)[OD_EACH]) {
    OD_UNROLL_OWN
    for (int e = 0; e < OD_EACH; ++e) values[e] = od_fma(others[e], real(0), values[e]);
}

// A number with the entries of the matrix times zero, where the matrix is in registers; shared memory the compiler leaves
// alone.
OD_FN real od_follow(real value, OdMemory &memory, unsigned entries) {
#if OD_WIDTH == 1
    const od_entry *const matrix = memory.matrices().matrix;
    od_entry sums[4] = {od_entry(0), od_entry(0), od_entry(0), od_entry(0)};
#pragma unroll
    for (unsigned e = 0; e < entries; ++e) sums[e % 4] = od_plus(sums[e % 4], matrix[e]);
    const od_entry sum = od_plus(od_plus(sums[0], sums[1]), od_plus(sums[2], sums[3]));
    value = od_fma(real(sum), real(0), value);
#endif
    return value;
}

// The matrix of a step of Rodas4 over the span, and its factors.
OD_FN real od_factor_part(const OdTask &task, const OdSystem &x, OdMemory &memory) {
    const OdGroup &g = x.g;
    const od_entry sigma = od_entry(real(1) / ((task.t1 - task.t0) * OD_GAMMA));
    od_group_shift(g, memory.matrices().matrix, sigma);
    return od_group_factor(g, memory.matrices().matrix, sigma).growth;
}

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_part(const OdTask task) {
    OD_GROUP_MEMORY(memory);
    OdStepLoop c = {};
    OdSystem x;
    x.g = od_group(task, memory);
    const OdGroup &g = x.g;
    od_place(task, g, memory);
    c.t = task.t0;
    for (;;) {
        const unsigned s = od_group_take(g, task.next);
        if (s >= task.n_systems) break;
        od_read(task, x, memory, s);
        real b[OD_EACH];
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) b[e] = real(0);
#if OD_PART_SOLVE
        od_linearise(c, x, memory);
        od_factor_part(task, x, memory);
        od_keep_factors(memory);
        OD_GROUP_BARRIER();
#endif
#pragma unroll 1
        for (unsigned turn = 0; turn < task.max_steps; ++turn) {
#if OD_PART_SOLVE
            real rhs[OD_EACH];
            OD_OWN(e, i) rhs[e] = memory.slope[i];
            od_follow(rhs, b);
            od_solve(x, memory, rhs);
            OD_OWN(e, i) b[e] = rhs[e];
#else
            od_follow(x.y, b);
#if OD_PART_RHS
            od_evaluate(c, x, memory, c.t, x.y);
#else
            od_linearise(c, x, memory);
            x.y[0] = od_follow(x.y[0], memory, OD_JACOBIAN_ENTRIES);
#endif
#if OD_PART_FACTORS
            x.y[0] = od_fma(od_factor_part(task, x, memory), real(0), x.y[0]);
            x.y[0] = od_follow(x.y[0], memory, OD_MATRIX_ENTRIES);
#endif
            OD_OWN(e, i) b[e] = memory.slope[i];
#endif
        }
        OD_OWN(e, i) task.end_states[(size_t)i * task.stride + s] = b[e];
#if OD_WIDTH == 1
        OD_CONSTANT_STATES(i) task.end_states[(size_t)i * task.stride + s] = real(0);
#endif
    }
}
