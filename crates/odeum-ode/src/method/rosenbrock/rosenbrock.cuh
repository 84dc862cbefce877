// Rosenbrock methods on a GPU: one system for each group of OD_WIDTH threads.
//
// Equation, method, order and reference: mod.rs beside this file. The stages are in a loop, so that there is one copy
// of the right-hand side in the instruction cache. After a rejection f and J are evaluated again: to keep J takes as
// much memory as another system.
//
// Generated before this file: OD_STAGES, OD_GAMMA, the coefficient functions od_a(s, m), od_c(s, m), od_alpha(s),
// od_gamma(s), od_m(s), od_e(s), od_start_slope(s), od_end_slope(s), and od_evaluates(s), true of a stage that needs f anew.

struct OdRosenbrock {
    OdStages stages;            // of the last attempt
    OD_FN_MEMBER void begin() {}
    OD_FN_MEMBER void settle(bool) {}
#if OD_EVENT
    static constexpr bool HAS_MIDDLE = false, HAS_CUBIC = true, HAS_STAGES = false;
    OD_FN_MEMBER OdCubicSlopes cubic(int e) const {
        OdCubicSlopes slopes = {real(0), real(0)};
        OD_UNROLL_STAGES
        for (int m = 0; m < OD_STAGES; ++m) {
            slopes.start = od_fma(od_start_slope(m), stages.at(m, e), slopes.start);
            slopes.end = od_fma(od_end_slope(m), stages.at(m, e), slopes.end);
        }
        return slopes;
    }
#endif
    OD_FN_MEMBER real next(real step, real factor) { return step * factor; }

#if OD_PROBE
    OD_FN_MEMBER real first_size(const OdTask &task, const OdStepLoop &c, const OdSystem &x,
                                 OdMemory &memory) const {
        return od_first_size(task, c, x, memory);
    }
#endif

    template <class Propose>
    OD_FN_MEMBER OdAttempt attempt(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory,
                                   Propose propose, real (&after)[OD_EACH]) {
        const OdGroup &g = x.g;
        OdAttempt attempt;
        OdPivots pivots = {true, real(0)};
        // Why there are no factors, J tells, which has gone into them: then f and J are evaluated again, and looked at.
        do {
            OD_IN_STEP();
            od_linearise(c, x, memory);
            if (!pivots.valid) {
                attempt.cause = od_is_finite(x, memory) ? OD_SINGULAR_MATRIX : OD_NON_FINITE;
                return attempt;
            }
            const real step = propose();
            const od_entry sigma = od_entry(real(1) / (step * OD_GAMMA));
            od_group_shift(g, memory.matrices().matrix, sigma);
            OD_IN_STEP();
            pivots = od_group_factor(g, memory.matrices().matrix, sigma);
            ++c.nlu;
            attempt = {step, od_nan(), OD_NON_FINITE, pivots.growth * (real(1) / OD_GAMMA)};
        } while (!pivots.valid);
#if OD_NORM != OD_NORM_RMS
        real start[OD_EACH];
        OD_OWN(e, i) start[e] = memory.slope[i];
#endif
        od_keep_factors(memory);
        od_keep_state(x);
        stages = OdStages();
        const real rate = real(1) / attempt.step;
#pragma unroll 1
        for (int s = 0; s < OD_STAGES; ++s) {
            real b[OD_EACH];
            OD_IN_STEP();
            if (od_evaluates(s)) {
                od_reload_state(x);
                const auto a = [&](int m) { return od_a(s, m); };
                stages.combine(s, a, x.y, real(1), b);
                od_evaluate(c, x, memory, od_fma(od_alpha(s), attempt.step, c.t), b);
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
        od_reload_state(x);
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
