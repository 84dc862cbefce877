// Linear invariants: sums of c y over the components, which every solution keeps, as a reactor keeps its elements. Methods keep
// them to rounding where matrices have the precision of the state; where these are of single precision, to some 1e-7 of what a step
// changes, which this puts right.
//
// Generated before this file: OD_INVARIANTS, their number, and the coefficients of each [OD_INVARIANTS x OD_N].

OD_FN real od_invariant(const OdGroup &g, int r, int i) {
#if OD_WIDTH == 1
    return od_invariant_coefficient(r * OD_N + i);
#else
    return __ldg((const real *)(g.tables + OD_INVARIANT_COEFFICIENTS) + r * OD_N + i);
#endif
}

// Moves `after` so that all sums are what they are at the state: the least change, each component over its size. That is
// y + |y| sum c lambda with (C |y| C^T) lambda = C (before - y), where lambda = 0 of a sum that follows from those before it, or
// whose pivot is so small that it has lost its digits and perhaps its inverse.
OD_FN void od_keep_invariants(const OdSystem &x, real (&after)[OD_EACH]) {
    const OdGroup &g = x.g;
    real lambda[OD_INVARIANTS], matrix[OD_INVARIANTS][OD_INVARIANTS];
#pragma unroll
    for (int r = 0; r < OD_INVARIANTS; ++r) {
        lambda[r] = real(0);
#pragma unroll
        for (int q = 0; q <= r; ++q) matrix[r][q] = real(0);
    }
    OD_OWN(e, i) {
        const real size = od_abs(after[e]), change = x.y[e] - after[e];
#pragma unroll
        for (int r = 0; r < OD_INVARIANTS; ++r) {
            const real c = od_invariant(g, r, i);
            if (c == real(0)) continue;
            lambda[r] = od_fma(c, change, lambda[r]);
#pragma unroll
            for (int q = 0; q <= r; ++q) {
                matrix[r][q] = od_fma(c * size, od_invariant(g, q, i), matrix[r][q]);
            }
        }
    }
    // Sums of all threads.
    real sums[OD_INVARIANTS * (OD_INVARIANTS + 3) / 2];
    int at = 0;
#pragma unroll
    for (int r = 0; r < OD_INVARIANTS; ++r) {
        sums[at++] = lambda[r];
#pragma unroll
        for (int q = 0; q <= r; ++q) sums[at++] = matrix[r][q];
    }
    od_group_sums(g, sums);
    at = 0;
    real least[OD_INVARIANTS];
#pragma unroll
    for (int r = 0; r < OD_INVARIANTS; ++r) {
        lambda[r] = sums[at++];
#pragma unroll
        for (int q = 0; q <= r; ++q) matrix[r][q] = sums[at++];
        least[r] = od_larger(matrix[r][r] * OD_INVARIANT_ROUNDING, OD_UNDERFLOW);
    }
    // L D L^T in place.
#pragma unroll
    for (int k = 0; k < OD_INVARIANTS; ++k) {
        const real inverse = matrix[k][k] > least[k] ? real(1) / matrix[k][k] : real(0);
#pragma unroll
        for (int r = k + 1; r < OD_INVARIANTS; ++r) {
            const real factor = matrix[r][k] * inverse;
            lambda[r] = od_fma(-factor, lambda[k], lambda[r]);
#pragma unroll
            for (int q = k + 1; q <= r; ++q) {
                matrix[r][q] = od_fma(-factor, matrix[q][k], matrix[r][q]);
            }
        }
#pragma unroll
        for (int r = k + 1; r < OD_INVARIANTS; ++r) matrix[r][k] = matrix[r][k] * inverse;
        lambda[k] = lambda[k] * inverse;
    }
#pragma unroll
    for (int k = OD_INVARIANTS - 1; k >= 0; --k) {
#pragma unroll
        for (int r = k + 1; r < OD_INVARIANTS; ++r) {
            lambda[k] = od_fma(-matrix[r][k], lambda[r], lambda[k]);
        }
    }
    OD_OWN(e, i) {
        real sum = real(0);
#pragma unroll
        for (int r = 0; r < OD_INVARIANTS; ++r) {
            const real c = od_invariant(g, r, i);
            if (c != real(0)) sum = od_fma(c, lambda[r], sum);
        }
        after[e] = od_fma(od_abs(after[e]), sum, after[e]);
    }
}
