// f and -J by finite differences of f, as the CPU has them (method/linearised.rs): columns that share no row are a group,
// whose components are moved at once, each by the root of eps times |y|, or by some roundings of y where that is more. Stands
// before linearised.cuh.
//
// Generated before this file: OD_COLUMN_GROUPS, the number of groups, and for a thread od_column_group(g, i), that of
// component i, and od_keep_quotients(g, k, f, changed, inverse, matrix), which writes the entries of group k.

OD_FN real od_increment(real x) {
    const real size = od_abs(x), root = od_sqrt(od_larger(size, OD_LEAST_MOVED) * OD_EPSILON);
    return od_larger(root, size * OD_EPSILON * OD_LEAST_EPSILONS);
}

#if OD_WIDTH > 1
OD_FN int od_column_group(const OdGroup &g, int i) {
    return __ldg((const int *)(g.tables + OD_GROUP_OF_COLUMN) + i);
}

OD_FN void od_keep_quotients(const OdGroup &g, int k, const real *f, const real *changed, const real *inverse,
                             od_entry *matrix) {
    const unsigned *const starts = (const unsigned *)(g.tables + OD_QUOTIENT_STARTS) + k;
    const unsigned end = __ldg(starts + 1);
    for (unsigned e = __ldg(starts) + g.slot; e < end; e += OD_WIDTH) {
        const uint4 entry = __ldg((const uint4 *)(g.tables + OD_QUOTIENTS) + e);
        matrix[entry.x] = od_entry((f[entry.y] - changed[entry.y]) * inverse[entry.z]);
    }
}
#endif

// f into `slope` of the memory, at a state of which each thread has its components, the places of -J, and `rate`: f first at
// the state, then of each group, at last at a later time.
template <class Memory>
OD_FN void od_evaluate_by_differences(const OdGroup &g, real t, Memory &memory, const real (&y)[OD_EACH],
                                      const OdParams &p) {
    od_entry *const matrix = memory.matrices().jacobian();
#if OD_WIDTH > 1
    for (unsigned e = g.slot; e < OD_MATRIX_ENTRIES; e += OD_WIDTH) matrix[e] = od_entry(0);
#endif
    const real later = t + od_increment(t);
#pragma unroll 1
    for (int k = -1; k < OD_COLUMN_GROUPS + OD_GROUP_USES_TIME; ++k) {
        OD_OWN(e, i) {
            const bool moves = k >= 0 && od_column_group(g, i) == k;
            const real moved = moves ? y[e] + od_increment(y[e]) : y[e];
            memory.state[i] = moved;
            // By what it is after rounding.
            memory.inverse[i] = moves ? real(1) / (moved - y[e]) : real(0);
        }
        OD_GROUP_BARRIER();
        od_group_rhs(g, k == OD_COLUMN_GROUPS ? later : t, memory.state, p, memory.changed);
        OD_OWN(e, i) {
            if (k < 0) memory.slope[i] = memory.changed[i];
#if OD_GROUP_USES_TIME
            if (k == OD_COLUMN_GROUPS) memory.rate[i] = (memory.changed[i] - memory.slope[i]) / (later - t);
#endif
        }
        if (k >= 0 && k < OD_COLUMN_GROUPS) {
            od_keep_quotients(g, k, memory.slope, memory.changed, memory.inverse, matrix);
        }
        OD_GROUP_BARRIER();
    }
}
