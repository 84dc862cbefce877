// Functions of hJ as polynomials in one resolvent: expansion.rs beside this file.
//
// Generated before this file: OD_TERMS, OD_RESOLVENT (2/gamma), OD_ENOUGH, od_series(j, k, m), od_majorant(j, k),
// od_least(j).

// Adds h g(hJ) D_j to the sums, with the factors of the shifted matrix; the norm of what the series leave out.
OD_FN real od_act(const OdTask &task, const OdSystem &x, OdMemory &memory, int j, real step,
                  const real (&vector)[OD_EACH], const real (&weight)[OD_EACH], OdSums &sums) {
    const OdGroup &g = x.g;
    const real rate = OD_RESOLVENT / step;
    const int least = od_least(j);
    // Chebyshev polynomials of the resolvent, on the solution for the vector; first the vector itself.
    real before[OD_EACH], now[OD_EACH];
    OD_OWN(e, i) {
        before[e] = real(0);
        now[e] = vector[e];
    }
#if OD_GROUP_USES_TIME
    // The last components of the same: f alone has one, of t' = 1.
    real time_before = real(0), time = j == 0 ? real(1) : real(0);
#endif
    real left = real(0);
    bool was_large = true;
#pragma unroll 1
    for (int k = 0; k < OD_TERMS; ++k) {
        // X itself for k = 1; 2X less the polynomial before for those that follow.
        const real less = k < 2 ? real(k) : real(2), by = k == 0 ? real(1) : rate * less;
        real next[OD_EACH];
        OD_OWN(e, i) next[e] = now[e] * by;
#if OD_GROUP_USES_TIME
        const real along = time * (by * step * (real(1) / OD_SHIFT));
        OD_OWN(e, i) next[e] = od_fma(x.rate[e], along, next[e]);
        const real time_next = along - od_fma(less, time, time_before);
        time_before = k == 0 ? real(0) : time;
        time = time_next;
#endif
        od_solve(x, memory, next);
        OD_OWN(e, i) {
            const real polynomial = next[e] - od_fma(less, now[e], before[e]);
            before[e] = k == 0 ? real(0) : now[e];
            now[e] = polynomial;
        }
#pragma unroll
        for (int m = 0; m <= OD_STAGES; ++m) {
            const real a = od_series(j, k, m);
            OD_OWN(e, i) sums.at[m][e] = od_fma(now[e], a, sums.at[m][e]);
        }
        const real majorant = od_majorant(j, k);
        OdNorm norm;
        od_norm_clear(norm);
        OD_OWN(e, i) {
            od_norm_ratio(norm, now[e] * weight[e] * majorant);
            od_norm_finite(norm, now[e]);
        }
        left = od_norm_of_size(od_group_norm(task, g, norm));
        // NaN is not large: such a series ends, and says so by what is left.
        const bool large = left > OD_ENOUGH;
        if (k >= least) {
            if (!large && !was_large) break;
        }
        was_large = large;
    }
    return left;
}
