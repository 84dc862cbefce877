// Rosenbrock methods on a GPU: one system for each group of OD_WIDTH threads.
//
// Equation, method, order and reference: mod.rs beside this file. The stages are in a loop, so that there is one copy
// of the right-hand side in the instruction cache. After a rejection f and J are evaluated again: to keep J takes as
// much memory as another system.
//
// Generated before this file: OD_STAGES, OD_GAMMA, the coefficient functions od_a(s, m), od_c(s, m), od_alpha(s),
// od_gamma(s), od_m(s), od_e(s), and od_evaluates(s), true of a stage that needs f anew.

// Stages in registers, all of whose indices are known to the compiler; of a thread that has too many in OD_STAGE_COLUMNS of
// shared memory, where those of its neighbours lie beside each number; else in local memory.
#define OD_STAGES_IN_REGISTERS (OD_STAGES * OD_EACH <= OD_MOST_STAGE_REGISTERS)

struct OdStages {
#if OD_STAGE_COLUMNS > 0
    static_assert(OD_STAGE_COLUMNS == OD_STAGES * OD_EACH, "each number of a stage has a column");
    real *columns;
    OD_FN_MEMBER OdStages() {
        OD_SHARED(real, all);
        columns = all + threadIdx.x;
    }
    OD_FN_MEMBER real &at(int m, int e) const { return columns[(m * OD_EACH + e) * OD_BLOCK]; }
#else
    real u[OD_STAGES][OD_EACH];
    OD_FN_MEMBER OdStages() {
#if OD_STAGES_IN_REGISTERS
        clear();
#endif
    }
    OD_FN_MEMBER real &at(int m, int e) { return u[m][e]; }
    OD_FN_MEMBER const real &at(int m, int e) const { return u[m][e]; }
#endif

    OD_FN_MEMBER void clear() {
#pragma unroll
        for (int m = 0; m < OD_STAGES; ++m) {
#pragma unroll
            for (int e = 0; e < OD_EACH; ++e) at(m, e) = real(0);
        }
    }

    OD_FN_MEMBER void keep(int s, const real (&b)[OD_EACH]) {
#if OD_STAGES_IN_REGISTERS
#pragma unroll
        for (int m = 0; m < OD_STAGES; ++m) {
#pragma unroll
            for (int e = 0; e < OD_EACH; ++e) at(m, e) = m == s ? b[e] : at(m, e);
        }
#else
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) at(s, e) = b[e];
#endif
    }

    // base + scale * (sum of weight(m) u_m over the stages before s); later ones are zero.
    template <class Weight>
    OD_FN_MEMBER void combine(int s, Weight weight, const real (&base)[OD_EACH], real scale,
                              real (&out)[OD_EACH]) const {
        real sum[OD_EACH];
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) sum[e] = real(0);
#if OD_STAGES_IN_REGISTERS
#pragma unroll
        for (int m = 0; m < OD_STAGES; ++m) {
#else
#pragma unroll 1
        for (int m = 0; m < s; ++m) {
#endif
            const real w = weight(m);
            OD_UNROLL_OWN
            for (int e = 0; e < OD_EACH; ++e) sum[e] = od_fma(w, at(m, e), sum[e]);
        }
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) out[e] = od_fma(scale, sum[e], base[e]);
    }
};

struct OdRosenbrock {
    OD_FN_MEMBER void begin() {}
    OD_FN_MEMBER void settle(bool) {}
    OD_FN_MEMBER bool middle(real (&)[OD_EACH]) const { return false; }
    OD_FN_MEMBER real next(real step, real factor) { return step * factor; }

    template <class Propose>
    OD_FN_MEMBER OdAttempt attempt(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory,
                                   Propose propose, real (&after)[OD_EACH]) {
        const OdGroup &g = x.g;
        OdStages stages;
        OdAttempt attempt;
        real rate = real(0);
        bool invalid = false;
#if OD_NORM != OD_NORM_RMS
        real start[OD_EACH];
#endif
        // The stage 0 is f at the state. Why there are no factors, J tells, which has gone into them: then f and J are
        // evaluated again, and looked at.
#pragma unroll 1
        for (int s = 0; s < OD_STAGES; ++s) {
            real b[OD_EACH];
            if (od_evaluates(s)) {
                const auto a = [&](int m) { return od_a(s, m); };
                stages.combine(s, a, x.y, real(1), b);
                const real t = s == 0 ? c.t : od_fma(od_alpha(s), attempt.step, c.t);
                od_evaluate(c, x, memory, t, b, s == 0);
            }
            if (s == 0 && invalid) {
                attempt.cause = od_is_finite(x, memory) ? OD_SINGULAR_MATRIX : OD_NON_FINITE;
                return attempt;
            }
            if (s == 0) {
                const real step = propose();
                const od_entry sigma = od_entry(real(1) / (step * OD_GAMMA));
                od_group_shift(g, memory.matrices().matrix, sigma);
                const OdPivots pivots = od_group_factor(g, memory.matrices().matrix, sigma);
                ++c.nlu;
                attempt = {step, od_nan(), OD_NON_FINITE, pivots.growth * (real(1) / OD_GAMMA)};
                rate = real(1) / step;
                if (!pivots.valid) {
                    invalid = true;
                    s = -1;
                    continue;
                }
#if OD_NORM != OD_NORM_RMS
                OD_OWN(e, i) start[e] = memory.slope[i];
#endif
            }
            OD_OWN(e, i) b[e] = memory.slope[i];
#if OD_GROUP_USES_TIME
            OD_OWN(e, i) b[e] = od_fma(od_gamma(s) * attempt.step, x.rate[e], b[e]);
#endif
            const auto coupling = [&](int m) { return od_c(s, m); };
            stages.combine(s, coupling, b, rate, b);
            od_solve(x, memory, b);
            stages.keep(s, b);
        }
        const auto weights = [](int m) { return od_m(m); };
        stages.combine(OD_STAGES, weights, x.y, real(1), after);
        real error[OD_EACH];
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) error[e] = real(0);
        stages.combine(OD_STAGES, [](int m) { return od_e(m); }, error, real(1), error);
        OdNorm norm;
        od_norm_clear(norm);
        OD_OWN(e, i) {
#if OD_NORM == OD_NORM_RMS
            const real weight = od_weight(task, i, x.y[e], after[e], real(0));
#else
            const real weight = od_weight(task, i, x.y[e], after[e], attempt.step * start[e]);
#endif
            od_norm_ratio(norm, error[e] * weight);
            od_norm_finite(norm, after[e]);
            od_norm_finite(norm, error[e]);
        }
        attempt.size = od_group_norm(task, g, norm);
        return attempt;
    }
};

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_rosenbrock(const OdTask task) {
    OD_GROUP_MEMORY(memory);
    OdRosenbrock method;
    od_integrate(task, memory, method);
}
