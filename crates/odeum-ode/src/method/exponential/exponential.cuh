// Exponential Rosenbrock methods on a GPU: one system for each group of OD_WIDTH threads.
//
// Equation, method, order and reference: mod.rs beside this file. The vectors D_j are in a loop, so that there is one
// copy of the right-hand side, of products with J and of od_act in the instruction cache. J stays beside its factors:
// after a rejection nothing is evaluated again.
//
// Generated before this file: OD_STAGES, OD_SHIFT, OD_LEFT_OUT, od_c(j).

struct OdExponential {
    bool moved;                 // the state has moved since f and its derivatives were evaluated
    real slope[OD_EACH];        // f at the state
#if OD_EVENT
    real half[OD_EACH];         // the state half-way through the last attempt: its second stage
#endif

    OD_FN_MEMBER void begin() { moved = true; }
    OD_FN_MEMBER void settle(bool accepted) { moved = moved || accepted; }
    OD_FN_MEMBER real next(real step, real factor) { return step * factor; }

#if OD_EVENT
    static constexpr bool HAS_MIDDLE = true, HAS_CUBIC = false, HAS_STAGES = false, KNOWS_END_SLOPE = false;
    OD_FN_MEMBER real middle(int e) const { return half[e]; }
#endif

#if OD_PROBE
    OD_FN_MEMBER real first_size(const OdTask &task, const OdStepLoop &c, const OdSystem &x,
                                 OdMemory &memory) const {
        return od_first_size(task, c, x, memory);
    }
#endif

    OD_FN_MEMBER void prepare(OdStepLoop &c, OdSystem &x, OdMemory &memory) {
        if (!moved) return;
        const OdGroup &g = x.g;
        od_linearise(c, x, memory);
        OD_OWN(e, i) slope[e] = memory.slope[i];
        moved = false;
    }

    // D_j of a later stage, from the increment of the stage.
    OD_FN_MEMBER void nonlinearity(OdStepLoop &c, const OdSystem &x, OdMemory &memory, int j, real step,
                                   const real (&increment)[OD_EACH], real (&out)[OD_EACH]) {
        const OdGroup &g = x.g;
        const real elapsed = step * od_c(j);
        real stage[OD_EACH];
        OD_OWN(e, i) stage[e] = x.y[e] + increment[e];
#if OD_EVENT
        if (j == 1) {
            OD_OWN(e, i) half[e] = stage[e];
        }
#endif
        OD_IN_STEP();
        od_evaluate(c, x, memory, c.t + elapsed, stage);
        // Before the state, which f may share its place with, becomes a vector to multiply.
        OD_OWN(e, i) out[e] = memory.slope[i] - slope[e];
        // Of the increment and not of its rate, which J would make a square of rates.
        OD_OWN(e, i) memory.state[i] = increment[e];
        OD_GROUP_BARRIER();
        real linear[OD_EACH];
        od_group_product(g, memory.matrices().jacobian(), memory.state, linear);
#if OD_GROUP_USES_TIME
        OD_OWN(e, i) linear[e] = od_fma(x.rate[e], elapsed, linear[e]);
#endif
        OD_OWN(e, i) out[e] = out[e] - linear[e];
    }

    template <class Propose>
    OD_FN_MEMBER OdAttempt attempt(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory,
                                   Propose propose, real (&after)[OD_EACH]) {
        const OdGroup &g = x.g;
        OD_IN_STEP();
        prepare(c, x, memory);
        const real step = propose();
        OdMatrices &matrices = memory.matrices();
        const od_entry sigma = od_entry(OD_SHIFT / step);
        od_group_assemble(g, matrices.jacobian(), matrices.matrix, sigma);
        OD_IN_STEP();
        const OdPivots pivots = od_group_factor(g, matrices.matrix, sigma);
        ++c.nlu;
        OdAttempt attempt = {step, od_nan(), OD_NON_FINITE, pivots.growth * OD_SHIFT};
        if (!pivots.valid) {
            OD_OWN(e, i) memory.slope[i] = slope[e];
            if (od_is_finite(x, memory)) attempt.cause = OD_SINGULAR_MATRIX;
            return attempt;
        }
        real weight[OD_EACH], vector[OD_EACH];
        OD_OWN(e, i) {
            weight[e] = od_weight(task, i, x.y[e], x.y[e], step * slope[e]);
            vector[e] = slope[e];
        }
        OdSums sums;
        sums.clear();
        real rest = real(0);
#pragma unroll 1
        for (int j = 0; j < OD_STAGES; ++j) {
            if (j > 0) {
                nonlinearity(c, x, memory, j, step, sums.at[0], vector);
                sums.take_off();
            }
            rest = rest + od_act(task, x, memory, j, step, vector, weight, sums);
        }
        OdNorm norm;
        od_norm_clear(norm);
        real fall = real(1);
        OD_OWN(e, i) {
            const real error = sums.at[1][e];
            after[e] = x.y[e] + sums.at[0][e];
            fall = od_larger(fall, od_scale_at(task, i, x.y[e]) * od_recip(od_scale_at(task, i, after[e])));
            od_norm_ratio(norm, error * od_weight(task, i, x.y[e], after[e], step * slope[e]));
            od_norm_finite(norm, after[e]);
            od_norm_finite(norm, error);
        }
        // What is left out counts as error, of the state that it is in: see stepper.rs.
        const real tick = od_larger(od_abs(step), od_abs(c.t + step)) * OD_EPSILON, most = od_abs(step) / tick;
        fall = od_group_largest(g, fall);
        fall = fall < most ? fall : most;
        const real left_out = od_fma(rest + real(OD_LEFT_OUT), fall - real(1), rest);
        attempt.size = od_size_of_norm(od_norm_of_size(od_group_norm(task, g, norm)) + left_out);
        return attempt;
    }
};

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_exponential(const OdTask task) {
    OD_GROUP_MEMORY(memory);
    OdExponential method;
    od_integrate(task, memory, method);
}
