// phi functions of a Hessenberg matrix by rational approximation: hessenberg.rs beside this file.
//
// A task is a system (c H - theta I) x = b, for one of the poles and one of the scales c that the methods and the estimate of the error of poles
// need. A thread has whole tasks. It makes the matrix upper triangular from the last row up, by operations on two
// neighbouring columns; for each row it then needs one number, which takes the place of an entry of the column at
// work and is replaced by one of the solution.
//
// Generated before this file: OD_DIMENSION, OD_POLES, OD_TASKS, OD_VALUE_ROWS, OD_HALF, od_scale(s), od_pole_re(p),
// od_pole_im(p), and the coefficients of solutions: od_value_re(j, r, q), od_value_im(j, r, q) in the values,
// od_end_re(j, r, q), od_end_im(j, r, q) in the ends, od_exp_re(p), od_exp_im(p) in that estimate.

// Rows of the values: g(H) e1 of the sums that are not complete, then phi1(H) e1 - phi1(H/2) e1 / 2, and phi1(H/2) e1.
#define OD_WHOLE_ROW (OD_STAGES + 1)
#define OD_HALF_ROW (OD_STAGES + 2)

struct OdHessenberg {
    OdComplex x[OD_DIMENSION][OD_TASKS];            // solutions
    real entries[OD_DIMENSION][OD_DIMENSION + 1];   // column by column
    real values[OD_VALUE_ROWS][OD_DIMENSION];
    bool exchanged[OD_DIMENSION][OD_TASKS];
};

// Adds Re(a x).
OD_FN real od_plus_real(real sum, real re, real im, OdComplex x) {
    return od_fma(re, x.re, od_fma(-im, x.im, sum));
}

// Solves task q for the leading m x m part. The right-hand side is the first unit vector; or where it is GIVEN, column
// `rhs` of h.x, which is lost.
template <bool GIVEN>
OD_FN void od_hessenberg_solve(OdHessenberg &h, int m, real scale, int pole, int q, int rhs) {
    const OdComplex shift(-od_pole_re(pole), -od_pole_im(pole));
    const auto entry = [&](int row, int column) {
        const OdComplex unshifted(scale * h.entries[column][row]);
        return row == column ? od_plus(unshifted, shift) : unshifted;
    };
#pragma unroll 1
    for (int r = 0; r < m; ++r) h.x[r][q] = entry(r, m - 1);
#pragma unroll 1
    for (int i = m - 1; i > 0; --i) {
        const OdComplex before = entry(i, i - 1), own = h.x[i][q];
        const bool exchanged = od_size(before) > od_size(own);
        const OdComplex pivot = od_reciprocal(exchanged ? before : own);
        const OdComplex factor = od_product(exchanged ? own : before, pivot);
        const OdComplex solved = GIVEN ? od_product(h.x[i][rhs], pivot) : OdComplex(0);
#pragma unroll 2
        for (int r = 0; r < i; ++r) {
            const OdComplex mine = h.x[r][q], other = entry(r, i - 1);
            const OdComplex of_pivot = exchanged ? other : mine;
            h.x[r][q] = od_minus_product(exchanged ? mine : other, factor, of_pivot);
            if (GIVEN) h.x[r][rhs] = od_minus_product(h.x[r][rhs], solved, of_pivot);
        }
        h.x[i][q] = factor;
        h.exchanged[i][q] = exchanged;
        if (GIVEN) h.x[i][rhs] = solved;
    }
    OdComplex carried = od_reciprocal(h.x[0][q]);
    if (GIVEN) carried = od_product(h.x[0][rhs], carried);
#pragma unroll 1
    for (int i = 1; i < m; ++i) {
        const OdComplex solved = GIVEN ? h.x[i][rhs] : OdComplex(0);
        const OdComplex mixed = od_minus_product(solved, h.x[i][q], carried);
        const bool exchanged = h.exchanged[i][q];
        h.x[i - 1][q] = exchanged ? mixed : carried;
        carried = exchanged ? carried : mixed;
    }
    h.x[m - 1][q] = carried;
}

// Solves all tasks for the leading m x m part; the first term of the error of what D_j adds to any sum.
OD_FN real od_hessenberg_act(const OdGroup &g, OdHessenberg &h, int j, int m) {
    real ends[OD_STAGES + 1];
#pragma unroll
    for (int k = 0; k <= OD_STAGES; ++k) ends[k] = real(0);
    OD_GROUP_BARRIER();
#pragma unroll 1
    for (int q = (int)g.slot; q < OD_TASKS; q += OD_WIDTH) {
        od_hessenberg_solve<false>(h, m, od_scale(q / OD_POLES), q % OD_POLES, q, 0);
        const OdComplex last = h.x[m - 1][q];
#pragma unroll
        for (int k = 0; k <= OD_STAGES; ++k) {
            ends[k] = od_plus_real(ends[k], od_end_re(j, k, q), od_end_im(j, k, q), last);
        }
    }
    real largest = real(0);
#pragma unroll
    for (int k = 0; k <= OD_STAGES; ++k) {
        largest = od_max(largest, od_abs(od_group_sum(g, ends[k])));
    }
    return largest * h.entries[m - 1][m];
}

// The values, from the solutions of all tasks.
OD_FN void od_hessenberg_values(const OdGroup &g, OdHessenberg &h, int j, int m) {
    OD_GROUP_BARRIER();
#pragma unroll 1
    for (int i = (int)g.slot; i < m; i += OD_WIDTH) {
        real values[OD_VALUE_ROWS];
#pragma unroll
        for (int r = 0; r < OD_VALUE_ROWS; ++r) values[r] = real(0);
#pragma unroll 1
        for (int q = 0; q < OD_TASKS; ++q) {
            const OdComplex x = h.x[i][q];
#pragma unroll
            for (int r = 0; r < OD_VALUE_ROWS; ++r) {
                values[r] = od_plus_real(values[r], od_value_re(j, r, q), od_value_im(j, r, q), x);
            }
        }
#pragma unroll
        for (int r = 0; r < OD_VALUE_ROWS; ++r) h.values[r][i] = values[r];
    }
    OD_GROUP_BARRIER();
}

// The error of phi1(H) e1 as doubling shows it, from the values; the solutions are lost.
OD_FN real od_hessenberg_pole_error(const OdGroup &g, OdHessenberg &h, int m) {
#pragma unroll 1
    for (int p = (int)g.slot; p < OD_POLES; p += OD_WIDTH) {
        const int rhs = OD_POLES + p;
#pragma unroll 1
        for (int r = 0; r < m; ++r) h.x[r][rhs] = OdComplex(h.values[OD_HALF_ROW][r]);
        od_hessenberg_solve<true>(h, m, OD_HALF, p, p, rhs);
    }
    OD_GROUP_BARRIER();
    real sum = real(0);
#pragma unroll 1
    for (int i = (int)g.slot; i < m; i += OD_WIDTH) {
        real x = h.values[OD_WHOLE_ROW][i];
#pragma unroll 1
        for (int p = 0; p < OD_POLES; ++p) {
            x = od_plus_real(x, od_exp_re(p), od_exp_im(p), h.x[i][p]);
        }
        sum = od_fma(x, x, sum);
    }
    return od_sqrt(od_group_sum(g, sum));
}
