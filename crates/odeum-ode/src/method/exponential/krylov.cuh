// Functions of hJ by Krylov subspaces: krylov.rs beside this file.
//
// Of a basis vector each thread has its components, in memory; all threads know the last one, of time.
//
// Generated before this file: OD_ENOUGH, OD_FIRST_LOOK, OD_BREAKDOWN_EPSILONS, and what hessenberg.cuh reads.

// The least number of full precision.
#if OD_FLOAT
#define OD_LEAST_NUMBER 0x1p-126f
#else
#define OD_LEAST_NUMBER 0x1p-1022
#endif

struct OdKrylov {
    OdHessenberg hessenberg;
    real basis[OD_DIMENSION][OD_N];
    real time[OD_DIMENSION];
};
static_assert(sizeof(OdKrylov) <= OD_SCRATCH_BYTES, "the size of OdKrylov is that of device.rs");

// A vector with its component of time.
struct OdWithTime {
    real own[OD_EACH];
    real time;
};

OD_FN real od_length(const OdGroup &g, const OdWithTime &v) {
    real sum = real(0);
    OD_OWN(e, i) sum = od_fma(v.own[e], v.own[e], sum);
    return od_sqrt(od_fma(v.time, v.time, od_group_sum(g, sum)));
}

OD_FN void od_scale_by(const OdGroup &g, OdWithTime &v, real by) {
    OD_OWN(e, i) v.own[e] = v.own[e] * by;
    v.time = v.time * by;
}

// Vector m of the basis.
OD_FN void od_keep(const OdGroup &g, OdKrylov &krylov, int m, const OdWithTime &v) {
    OD_OWN(e, i) krylov.basis[m][i] = v.own[e];
    if (OD_GROUP_USES_TIME && g.slot == 0) krylov.time[m] = v.time;
}

// Makes a vector orthogonal to the m of the basis, twice, and of length 1, and writes column m - 1 of the Hessenberg
// matrix; a vector that lies in their space becomes zero.
OD_FN void od_orthogonalise(const OdGroup &g, OdKrylov &krylov, int m, OdWithTime &next) {
    real *const column = krylov.hessenberg.entries[m - 1];
    const real whole = od_length(g, next);
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
#pragma unroll 1
        for (int k = 0; k < m; ++k) {
            const real *const v = krylov.basis[k];
            const real time = OD_GROUP_USES_TIME ? krylov.time[k] : real(0);
            real sum = real(0);
            OD_OWN(e, i) sum = od_fma(v[i], next.own[e], sum);
            const real product = od_fma(time, next.time, od_group_sum(g, sum));
            OD_OWN(e, i) next.own[e] = od_fma(-product, v[i], next.own[e]);
            next.time = od_fma(-product, time, next.time);
            if (g.slot == 0) column[k] = pass == 0 ? product : column[k] + product;
        }
    }
    // Of a length whose square overflows nothing is known: what follows is no number.
    const real length = whole < od_inf() ? od_length(g, next) : od_nan();
    const bool within = length <= whole * (OD_BREAKDOWN_EPSILONS * OD_EPSILON);
    if (g.slot == 0) column[m] = within ? real(0) : length;
    od_scale_by(g, next, within ? real(0) : real(1) / length);
}

// Adds h g(hJ) D_j to the sums, by products with J; the norm of what is left out.
OD_FN real od_act(const OdTask &task, const OdSystem &x, OdMemory &memory, int j, real step,
                  const real (&vector)[OD_EACH], const real (&weight)[OD_EACH], OdSums &sums) {
    const OdGroup &g = x.g;
    OdKrylov &krylov = *(OdKrylov *)memory.scratch;
    OdHessenberg &h = krylov.hessenberg;
    OdWithTime now;
    now.time = real(0);
    real size = real(0), scale[OD_EACH];
    OD_OWN(e, i) {
        scale[e] = real(1) / weight[e];
        now.own[e] = vector[e] * weight[e];
        size = od_larger(size, od_abs(now.own[e]));
    }
    // The largest is taken out first: squares of amounts far below the tolerance would vanish.
    size = od_group_largest(g, size);
    const real unit = size >= OD_LEAST_NUMBER ? size : real(1);
    od_scale_by(g, now, real(1) / unit);
#if OD_GROUP_USES_TIME
    // Time is given the weight of the rest of the vector, where it matters.
    real of_time = real(0);
    if (j == 0) {
        const real length = od_length(g, now);
        real sum = real(0);
        OD_OWN(e, i) sum = sum + od_abs(x.rate[e]);
        if (od_group_sum(g, sum) != real(0)) {
            now.time = length > real(0) ? length : real(1);
            of_time = real(1) / (now.time * unit);
        }
    }
#endif
    const real of_unit = od_length(g, now), beta = of_unit * unit;
    od_scale_by(g, now, of_unit == real(0) ? real(0) : real(1) / of_unit);
    od_keep(g, krylov, 0, now);
    // From the 2-norm to the norm of the tolerance.
#if OD_NORM == OD_NORM_RMS
    const real to_norm = beta * od_abs(step) * (real(1) / od_sqrt(real(OD_N)));
#else
    const real to_norm = beta * od_abs(step) * od_near_recip(task.rtol);
#endif

    int look = OD_FIRST_LOOK < OD_DIMENSION ? OD_FIRST_LOOK : OD_DIMENSION;
    real left = real(0);
    int m = 1;
#pragma unroll 1
    for (;; ++m) {
        // Nobody reads the last direction any more.
        OD_GROUP_BARRIER();
        OD_OWN(e, i) memory.state[i] = now.own[e] * scale[e];
        OD_GROUP_BARRIER();
        OdWithTime next;
        od_group_product(g, memory.matrices().jacobian(), memory.state, next.own);
        next.time = real(0);
        OD_OWN(e, i) {
#if OD_GROUP_USES_TIME
            next.own[e] = od_fma(x.rate[e], now.time * of_time, next.own[e]);
#endif
            next.own[e] = next.own[e] * (weight[e] * step);
        }
        od_orthogonalise(g, krylov, m, next);
        if (m < OD_DIMENSION) od_keep(g, krylov, m, next);
        now = next;
        if (m < look) continue;
        // Between two looks the dimension grows by a third.
        look = m + (m / 3 > 1 ? m / 3 : 1);
        look = look < OD_DIMENSION ? look : OD_DIMENSION;
        left = od_hessenberg_act(g, h, j, m) * to_norm;
        // NaN is not large: the space then is complete, and says so by what is left.
        if (!(left > OD_ENOUGH) || m == OD_DIMENSION) break;
    }
    od_hessenberg_values(g, h, j, m);
    left = od_fma(od_hessenberg_pole_error(g, h, m), to_norm, left);
    real added[OD_STAGES + 1][OD_EACH];
#pragma unroll
    for (int n = 0; n <= OD_STAGES; ++n) {
        OD_OWN(e, i) added[n][e] = real(0);
    }
#pragma unroll 1
    for (int k = 0; k < m; ++k) {
#pragma unroll
        for (int n = 0; n <= OD_STAGES; ++n) {
            const real value = h.values[n][k];
            OD_OWN(e, i) added[n][e] = od_fma(value, krylov.basis[k][i], added[n][e]);
        }
    }
    const real by = step * beta;
#pragma unroll
    for (int n = 0; n <= OD_STAGES; ++n) {
        OD_OWN(e, i) sums.at[n][e] = od_fma(added[n][e] * scale[e], by, sums.at[n][e]);
    }
    return left;
}
