// One part of a step over and over, to learn what it costs by itself: f, f with -J, these with the factors, a solution.
//
// Generated before this file: OD_PART_RHS, OD_PART_JACOBIAN, OD_PART_FACTORS and OD_PART_SOLUTION, one of them 1. Of every
// system the part is done task.max_steps times; its end state is f, or the solution for f. The whole part is done every
// time, as the compiler knows nothing of what it begins from and has to have ready what it ends with.

OD_FN void od_make_opaque(real (&values)[OD_EACH]) {
    OD_UNROLL_OWN
    for (int e = 0; e < OD_EACH; ++e) values[e] = od_opaque(values[e]);
}

// What the memory of a thread holds of the matrix; that of several threads the compiler leaves alone.
OD_FN void od_make_opaque(OdMemory &memory, unsigned entries) {
#if OD_WIDTH == 1
    od_entry *const matrix = memory.matrices().matrix;
#pragma unroll
    for (unsigned e = 0; e < entries; ++e) matrix[e] = od_opaque(matrix[e]);
#endif
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
#if OD_PART_SOLUTION
        od_linearise(c, x, memory);
        od_factor_part(task, x, memory);
        OD_GROUP_BARRIER();
#endif
#pragma unroll 1
        for (unsigned turn = 0; turn < task.max_steps; ++turn) {
#if OD_PART_SOLUTION
            OD_OWN(e, i) b[e] = memory.slope[i];
            od_make_opaque(b);
            od_solve(x, memory, b);
#else
            od_make_opaque(x.y);
#if OD_PART_RHS
            od_evaluate(c, x, memory, c.t, x.y);
#else
            od_linearise(c, x, memory);
            od_make_opaque(memory, OD_JACOBIAN_ENTRIES);
#endif
#if OD_PART_FACTORS
            od_opaque(od_factor_part(task, x, memory));
            od_make_opaque(memory, OD_MATRIX_ENTRIES);
#endif
            OD_OWN(e, i) b[e] = memory.slope[i];
#endif
            od_make_opaque(b);
        }
        OD_OWN(e, i) task.end_states[(size_t)i * task.stride + s] = b[e];
#if OD_WIDTH == 1
        OD_CONSTANT_STATES(i) task.end_states[(size_t)i * task.stride + s] = real(0);
#endif
    }
}
