// A recorded system by the threads of a group: rows of equal operations, each thread on operands of its own, see
// emit/rows.rs.

#if OD_TAPE_WIDE
typedef uint4 OdStep;               // where to, and three operands
OD_FN unsigned od_step_part(OdStep step, unsigned k) {
    return k == 0 ? step.x : k == 1 ? step.y : k == 2 ? step.z : step.w;
}
#define OD_TAPE_CONSTANT 0x80000000u
#define OD_TAPE_NEGATIVE 0x40000000u
#else
typedef uint2 OdStep;
OD_FN unsigned od_step_part(OdStep step, unsigned k) {
    const unsigned pair = k < 2 ? step.x : step.y;
    return k % 2 ? pair >> 16 : pair & 0xffffu;
}
#define OD_TAPE_CONSTANT 0x8000u
#define OD_TAPE_NEGATIVE 0x4000u
#endif

#if OD_FLOAT
#define OD_TAPE_CONSTANTS OD_TAPE_FLOATS
#else
#define OD_TAPE_CONSTANTS OD_TAPE_DOUBLES
#endif

// An operand: what is in memory or minus that, or a constant of the tables.
OD_FN real od_step_operand(const OdGroup &g, OdStep step, unsigned k) {
    const unsigned at = od_step_part(step, k);
    if (at & OD_TAPE_CONSTANT) {
        return __ldg((const real *)(g.tables + OD_TAPE_CONSTANTS) + (at & ~OD_TAPE_CONSTANT));
    }
    const real x = g.memory[at & ~OD_TAPE_NEGATIVE];
    return at & OD_TAPE_NEGATIVE ? -x : x;
}

OD_FN void od_tape_run(
    const OdGroup &g, real t, const real *y, const OdParams &p, real *f, od_entry *matrix,
    unsigned row, unsigned end) {
    for (unsigned i = g.slot; i < OD_TAPE_STATES; i += OD_WIDTH) g.memory[i] = y[i];
    for (unsigned j = g.slot; j < OD_TAPE_PARAMS; j += OD_WIDTH) {
        g.memory[OD_TAPE_STATES + 1 + j] = p[j];
    }
    if (g.slot == 0) {
        g.memory[OD_TAPE_STATES] = t;
        g.memory[OD_TAPE_STATES + 1 + OD_TAPE_PARAMS] = real(1);
        g.memory[OD_TAPE_STATES + 2 + OD_TAPE_PARAMS] = -real(0);
    }
    const OdStep *steps = (const OdStep *)(g.tables + OD_TAPE_STEPS) + row * OD_WIDTH + g.slot;
    const unsigned *const kinds = (const unsigned *)(g.tables + OD_TAPE_KINDS);
    // Loads from tables run a row ahead.
    OdStep next = __ldg(steps);
    unsigned next_kind = __ldg(kinds + row);
    OD_GROUP_BARRIER();
    for (; row < end; ++row) {
        const OdStep step = next;
        const unsigned kind = next_kind, operands = kind >> 1 & 3u;
        steps += OD_WIDTH;
        next = __ldg(steps);
        next_kind = __ldg(kinds + row + 1);
        const unsigned to = od_step_part(step, 0);
        const real a = od_step_operand(g, step, 1);
        const real b = operands > 1 ? od_step_operand(g, step, 2) : real(0);
        const real c = operands > 2 ? od_step_operand(g, step, 3) : real(0);
        // Threads without an operation have a place behind all others.
        real x = a;
        switch (kind >> 3) {
        case OD_TAPE_FUSED: x = od_fma(a, b, c); break;
OD_TAPE_CASES
        case OD_TAPE_SLOPE:
            if (to < OD_TAPE_STATES) f[to] = a;
            break;
        default:
            if (to < OD_TAPE_MATRIX) matrix[to] = od_entry(-a);
        }
        if (kind >> 3 <= OD_TAPE_FUSED && to < OD_TAPE_VALUES) g.memory[to] = x;
        if (kind & 1u) OD_GROUP_BARRIER();
    }
}

OD_FN void od_group_rhs(
    const OdGroup &g, real t, const real *y, const OdParams &p, real *f) {
    od_tape_run(g, t, y, p, f, (od_entry *)0, 0, OD_TAPE_RHS_ROWS);
}

#if OD_TAPE_MATRIX > 0
OD_FN void od_group_linearise(
    const OdGroup &g, real t, const real *y, const OdParams &p, real *f, od_entry *matrix) {
    for (unsigned e = g.slot; e < OD_TAPE_MATRIX; e += OD_WIDTH) matrix[e] = od_entry(0);
    od_tape_run(g, t, y, p, f, matrix, OD_TAPE_RHS_ROWS, OD_TAPE_LINEARISED_ROWS);
}

#if OD_GROUP_USES_TIME
OD_FN void od_group_time_derivative(
    const OdGroup &g, real t, const real *y, const OdParams &p, real *dfdt) {
    od_tape_run(g, t, y, p, dfdt, (od_entry *)0, OD_TAPE_LINEARISED_ROWS, OD_TAPE_ROWS);
}
#endif
#endif
