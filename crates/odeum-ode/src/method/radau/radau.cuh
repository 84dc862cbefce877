// Radau IIA of order 5 on a GPU: one system for each group of OD_WIDTH threads.
//
// Equation, method, order and reference: mod.rs beside this file. The rules are those of the CPU (stepper.rs,
// newton.rs). Of the increments of the stages only the transformed ones are kept: z = T w wherever z is wanted. An
// attempt is a loop each of whose turns evaluates f at one point at most, so that there is one copy of the right-hand
// side, and one of the real solve, in the instruction cache.
//
// Generated before this file: OD_STAGES, OD_MAX_ITERATIONS, the eigenvalues OD_GAMMA and OD_ALPHA + i OD_BETA, the
// numbers of the iteration, and the coefficient functions od_c(k), od_t(k, j), od_t_inverse(k, j), od_e(k),
// od_end_slope(k).

OD_FN real od_power(real x, unsigned exponent) {
    real power = real(1);
    for (; exponent; exponent >>= 1) {
        if (exponent & 1u) power = power * x;
        x = x * x;
    }
    return power;
}

// When a simplified Newton iteration has converged, and when it is given up. Powers have six digits, as those of
// step-size control.
struct OdNewton {
    real theta;                 // rate of convergence
    real shrink;                // by what to multiply the step when the iteration diverged
    real last_change, last_ratio;
    unsigned iterations;
    bool open, diverged;        // closed, but not diverged: converged, or what it met is not finite
    bool finite;

    OD_FN_MEMBER void begin() {
        theta = OD_FAST;
        shrink = real(1);
        iterations = 0;
        open = finite = true;
        diverged = false;
    }

    OD_FN_MEMBER void give_up(real by) {
        open = false;
        diverged = true;
        shrink = by;
    }

    // Learns the norm of the next change, whether a component crawls, and whether the change is to be taken; `enough` is the
    // error that may be left.
    OD_FN_MEMBER bool learn(real change, bool crawls, real enough) {
        if (!(change < od_inf())) {
            // No divergence: its cause is f.
            open = finite = false;
            return false;
        }
        ++iterations;
        // The rate is measured in every step, unless there is no change: see newton.rs.
        open = change > real(0);
        if (iterations > 1) {
            const real ratio = change / last_change;
            theta = iterations == 2 ? ratio : od_sqrt(ratio * last_ratio);
            last_ratio = ratio;
            const bool converges = theta < OD_DIVERGES;
            // Changes that small may be roundings, which do not converge.
            if (!converges && !(change <= enough)) {
                give_up(OD_SHRINK);
                return false;
            }
            // theta / (1 - theta) of the last change is left.
            const real rest = converges ? theta / (real(1) - theta) * change : real(0);
            if (iterations < OD_MAX_ITERATIONS) {
                // The error expected after the last iteration.
                const unsigned left = OD_MAX_ITERATIONS - 1u - iterations;
                const real expected = rest * od_power(theta, left) / enough;
                if (expected >= real(1)) {
                    const real excess = expected < OD_MOST_EXCESS ? expected : OD_MOST_EXCESS;
                    const float power = -1.0f / float(OD_SLOW_DELAY + left);
                    give_up(OD_SLOW_SHRINK * od_exp2(power * od_log2(excess)));
                    return false;
                }
            }
            open = crawls || !(rest <= enough);
        }
        last_change = change;
        if (open && iterations == OD_MAX_ITERATIONS) give_up(OD_SHRINK);
        return true;
    }
};

// What a turn of an attempt is for: f of a stage, from 0, or one of these. After the last stage comes an iteration.
enum OdTurn {
    OD_ITERATION = OD_STAGES,
    OD_AT_STATE,                // f at the state, which has moved
    OD_ESTIMATE,                // the error estimate, from f at the state
    OD_FILTER                   // the same, filtered once more
};

struct OdRadau {
    // Components of this thread: f at the state, transformed increments, and divided differences of the collocation
    // polynomial of the last accepted step.
    real slope[OD_EACH], w[OD_STAGES][OD_EACH], polynomial[OD_STAGES][OD_EACH];
    real h, last_h;             // present step, and the last accepted one
    real factored, growth;      // step for which there are factors, and growth over it
    OdNewton newton;
    bool moved;                 // since f was evaluated
    bool stale, current;        // a new Jacobian is wanted; the Jacobian is that of the state
    unsigned age;               // steps accepted since it was evaluated
    real jacobian_h;            // the first step tried from there
    bool unfactored, valid;     // the Jacobian is newer than the factors; these can be used
    bool first, rejected;       // no step has been accepted yet; the last attempt was rejected

#if OD_EVENT
    static constexpr bool HAS_MIDDLE = false, HAS_CUBIC = true, HAS_STAGES = false;
    OD_FN_MEMBER OdCubicSlopes cubic(int e) const {
        const real z[OD_STAGES] = {increment(0, e), increment(1, e), increment(2, e)};
        return OdCubicSlopes{-od_fma(z[2], od_e(2), od_fma(z[1], od_e(1), z[0] * od_e(0))),
                        od_fma(z[2], od_end_slope(2), od_fma(z[1], od_end_slope(1), z[0] * od_end_slope(0)))};
    }
#endif

    OD_FN_MEMBER void begin() {
        moved = stale = first = true;
        current = rejected = false;
    }

#if OD_PROBE
    OD_FN_MEMBER real first_size(const OdTask &task, const OdStepLoop &c, const OdSystem &x,
                                 OdMemory &memory) const {
        return od_first_size(task, c, x, memory);
    }
#endif

    OD_FN_MEMBER void prepare(OdStepLoop &c, OdSystem &x, OdMemory &memory) {
        if (!stale) return;
        const OdGroup &g = x.g;
        od_linearise(c, x, memory, moved);
        OD_OWN(e, i) slope[e] = memory.slope[i];
        copy(g, memory.matrices().jacobian(), kept(memory));
        moved = stale = false;
        current = unfactored = true;
        age = 0;
    }

    // -J: a copy, from which matrices are assembled. They fill shared memory, so it is in global memory if several threads have a
    // system, where each reads what it has written itself.
    OD_FN_MEMBER static od_entry *kept(const OdMemory &memory) { return (od_entry *)memory.scratch; }

    OD_FN_MEMBER static void copy(const OdGroup &g, const od_entry *from, od_entry *to) {
        OD_UNROLL_OWN
        for (unsigned e = g.slot; e < OD_JACOBIAN_ENTRIES; e += OD_WIDTH) to[e] = from[e];
    }

    OD_FN_MEMBER void factor(OdStepLoop &c, const OdGroup &g, OdMemory &memory) {
        OdMatrices &matrices = memory.matrices();
        const od_entry shift = od_entry(OD_GAMMA / h);
        od_group_assemble(g, kept(memory), matrices.matrix, shift);
        const OdPivots pivots = od_group_factor(g, matrices.matrix, shift);
        const OdComplex complex(od_entry(OD_ALPHA / h), od_entry(OD_BETA / h));
        od_group_assemble(g, kept(memory), matrices.complex, complex);
        valid = od_group_factor(g, matrices.complex, complex).valid && pivots.valid;
        growth = pivots.growth * OD_GAMMA;
        c.nlu += 2;
        factored = h;
        unfactored = false;
    }

    // Increments to start from: those of the last collocation polynomial, continued; zero where there is none.
    OD_FN_MEMBER void start() {
        real s[OD_STAGES];
#pragma unroll
        for (int k = 0; k < OD_STAGES; ++k) s[k] = first ? real(0) : h / last_h * od_c(k);
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) {
            real z[OD_STAGES];
#pragma unroll
            for (int k = 0; k < OD_STAGES; ++k) {
                const real inner =
                    od_fma(s[k] - (OD_C1 - real(1)), polynomial[2][e], polynomial[1][e]);
                const real outer = od_fma(s[k] - (OD_C2 - real(1)), inner, polynomial[0][e]);
                z[k] = first ? real(0) : s[k] * outer;
            }
#pragma unroll
            for (int j = 0; j < OD_STAGES; ++j) {
                w[j][e] = real(0);
#pragma unroll
                for (int k = 0; k < OD_STAGES; ++k) {
                    w[j][e] = od_fma(od_t_inverse(j, k), z[k], w[j][e]);
                }
            }
        }
    }

    // Component e of the increment of stage k.
    OD_FN_MEMBER real increment(int k, int e) const {
        return od_fma(w[2][e], od_t(k, 2), od_fma(w[1][e], od_t(k, 1), w[0][e] * od_t(k, 0)));
    }

    // The norm of a change of the transformed increments: of the first by `one`, before by `last`, of the others by theirs; and
    // whether a component crawls, as newton.rs has it, where f over the stages has these sums.
    OD_FN_MEMBER real change(const OdTask &task, const OdSystem &x, const real (&one)[OD_EACH],
                             const real (&sums)[OD_EACH], const real (&others)[OD_STAGES][OD_EACH],
                             real (&last)[OD_EACH], real enough, bool &crawls) const {
        const real rounding = OD_NEWTON_FLOOR_EPSILONS * OD_EPSILON;
        const OdGroup &g = x.g;
        // What one component may have left if the others have nothing.
        const real alone = od_sqrt(real(OD_N)) * (OD_NORM == OD_NORM_RMS ? enough : enough * task.rtol);
        real sum = real(0), most = real(0);
        crawls = false;
        OD_OWN(e, i) {
            const real weight = od_weight(task, i, x.y[e], x.y[e], h * slope[e]);
            const real ratios[OD_STAGES] = {
                one[e] * weight, others[1][e] * weight, others[2][e] * weight};
#pragma unroll
            for (int k = 0; k < OD_STAGES; ++k) {
                sum = od_fma(ratios[k], ratios[k], sum);
                most = od_larger(most, od_abs(ratios[k]));
            }
            const real a = sums[e], b = OD_GAMMA / h * w[0][e];
            const bool rounds = od_abs(a - b) <= (od_abs(a) + od_abs(b)) * rounding || od_abs(one[e]) <= od_abs(x.y[e]) * rounding;
            const real less = od_abs(last[e] - one[e]);
            crawls = crawls || (!rounds && less < od_abs(one[e]) && ratios[0] * one[e] > less * alone);
            last[e] = one[e];
        }
        sum = od_group_sum(g, sum);
        crawls = od_group_any(g, crawls);
        // A change whose square underflows is one still.
        const real size = sum < OD_UNDERFLOW ? od_group_largest(g, most)
                                             : od_sqrt(sum * (real(1) / real(OD_STAGES * OD_N)));
        return OD_NORM == OD_NORM_RMS ? size : size / task.rtol;
    }

    // The error norm of a step to `after`.
    OD_FN_MEMBER real size(const OdTask &task, const OdSystem &x, const real (&after)[OD_EACH],
                           const real (&error)[OD_EACH]) const {
        const OdGroup &g = x.g;
        OdNorm norm;
        od_norm_clear(norm);
        OD_OWN(e, i) {
            const real weight = od_weight(task, i, x.y[e], after[e], h * slope[e]);
            od_norm_ratio(norm, error[e] * weight);
            od_norm_finite(norm, after[e]);
            od_norm_finite(norm, error[e]);
        }
        return od_group_norm(task, g, norm);
    }

    template <class Propose>
    OD_FN_MEMBER OdAttempt attempt(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory,
                                   Propose propose, real (&after)[OD_EACH]) {
        const OdGroup &g = x.g;
        // Twice at most: the second time the Jacobian is current.
#pragma unroll 1
        for (;;) {
            prepare(c, x, memory);
            h = propose();
            if (current || !(od_abs(h) > od_abs(jacobian_h) * OD_JACOBIAN_LONGER)) break;
            stale = true;
        }
        if (current) jacobian_h = h;
        if (unfactored || od_abs(h - factored) > od_abs(h) * OD_SAME_FACTORS) factor(c, g, memory);
        OdAttempt attempt = {h, od_nan(), OD_NON_FINITE, growth};
        start();
        newton.begin();
        const real left = od_sqrt(task.rtol);
        const real enough = od_larger(OD_NEWTON_FLOOR_EPSILONS * OD_EPSILON / task.rtol,
                                      left < OD_MOST_LEFT ? left : OD_MOST_LEFT);
        const real rate = real(1) / h;
        real last[OD_EACH];
        bool crawls;
        // What the state has added to it for the next evaluation, then a real right-hand side and its solution.
        real b[OD_EACH];
        // Sums of f over the stages, transformed; the last two become the complex right-hand side and solution. When
        // the iteration has ended the first is what the estimate adds to f.
        real sums[OD_STAGES][OD_EACH];
        const auto clear = [&]() {
            OD_UNROLL_OWN
            for (int e = 0; e < OD_EACH; ++e) b[e] = sums[0][e] = sums[1][e] = sums[2][e] = real(0);
        };
        clear();
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) last[e] = real(0);
        int turn = moved ? OD_AT_STATE : 0;
        // It ends, because the iteration does, and a turn or two follow it.
#pragma unroll 1
        while (valid || turn == OD_AT_STATE) {
            if (turn < OD_ITERATION) {
                OD_UNROLL_OWN
                for (int e = 0; e < OD_EACH; ++e) b[e] = increment(turn, e);
            }
            if (turn < OD_ITERATION || turn == OD_AT_STATE) {
                real state[OD_EACH];
                OD_OWN(e, i) state[e] = x.y[e] + b[e];
                const real t = turn < OD_ITERATION ? od_fma(od_c(turn), h, c.t) : c.t;
                od_evaluate(c, x, memory, t, state);
            }
            if (turn == OD_AT_STATE) {
                OD_OWN(e, i) slope[e] = memory.slope[i];
                od_keep_event_slope(x, memory);
                moved = false;
                turn = 0;
                continue;
            }
            if (turn < OD_ITERATION) {
#pragma unroll
                for (int j = 0; j < OD_STAGES; ++j) {
                    const real weight = od_t_inverse(j, turn);
                    OD_OWN(e, i) sums[j][e] = od_fma(memory.slope[i], weight, sums[j][e]);
                }
                if (++turn < OD_ITERATION) continue;
                const real gamma = OD_GAMMA * rate, alpha = OD_ALPHA * rate, beta = OD_BETA * rate;
                OD_UNROLL_OWN
                for (int e = 0; e < OD_EACH; ++e) {
                    b[e] = od_fma(-gamma, w[0][e], sums[0][e]);
                    sums[1][e] = od_fma(-alpha, w[1][e], od_fma(beta, w[2][e], sums[1][e]));
                    sums[2][e] = od_fma(-alpha, w[2][e], od_fma(-beta, w[1][e], sums[2][e]));
                }
            } else {
                OD_UNROLL_OWN
                for (int e = 0; e < OD_EACH; ++e) {
                    b[e] = turn == OD_ESTIMATE ? sums[0][e] + slope[e] : b[e] * (OD_GAMMA * rate);
                }
            }
            od_solve(x, memory, b);
            if (turn == OD_ITERATION) {
                od_solve_complex(x, memory, sums[1], sums[2]);
                const real changed = change(task, x, b, sums[0], sums, last, enough, crawls);
                if (newton.learn(changed, crawls, enough)) {
                    OD_UNROLL_OWN
                    for (int e = 0; e < OD_EACH; ++e) {
                        w[0][e] = w[0][e] + b[e];
                        w[1][e] = w[1][e] + sums[1][e];
                        w[2][e] = w[2][e] + sums[2][e];
                    }
                }
                clear();
                turn = 0;
                if (newton.open) continue;
                if (newton.diverged || !newton.finite) break;
                OD_OWN(e, i) {
                    const real z[OD_STAGES] = {increment(0, e), increment(1, e), increment(2, e)};
                    after[e] = x.y[e] + z[2];
                    sums[0][e] =
                        od_fma(z[2], od_e(2), od_fma(z[1], od_e(1), z[0] * od_e(0))) * rate;
                }
                turn = OD_ESTIMATE;
                continue;
            }
            attempt.size = size(task, x, after, b);
            if (turn == OD_FILTER || !(first || rejected) || !(attempt.size >= real(1))) break;
            turn = OD_FILTER;
        }
        if (newton.diverged) attempt.cause = OD_NEWTON_DIVERGED;
        if (!valid) {
            OD_OWN(e, i) memory.slope[i] = slope[e];
            copy(g, kept(memory), memory.matrices().jacobian());
            unfactored = true;
            if (od_is_finite(x, memory)) attempt.cause = OD_SINGULAR_MATRIX;
        }
        return attempt;
    }

    // Whether the iteration would gain from a new Jacobian.
    OD_FN_MEMBER bool slow() const { return newton.theta > OD_FAST && newton.iterations > 2; }

    OD_FN_MEMBER real next(real step, real factor) const {
#if OD_LAW == OD_LAW_FIXED
        return step * factor;
#else
        if (newton.diverged) return step * newton.shrink;
        const real most = real(2) * real(OD_MAX_ITERATIONS);
        const real iterations = real(newton.iterations > 1 ? newton.iterations : 1);
        const real cautious = factor * ((real(1) + most) / (iterations + most));
        const bool same =
            cautious >= OD_SAME_STEP_LEAST && cautious <= OD_SAME_STEP_MOST && !slow();
        return same ? step : step * cautious;
#endif
    }

    OD_FN_MEMBER void settle(bool accepted) {
        age += accepted;
        stale = accepted ? stale || slow() || age >= OD_MOST_KEPT : stale || !current;
        rejected = !accepted;
        if (!accepted) return;
        current = first = false;
        moved = true;
        last_h = h;
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) {
            const real z1 = increment(0, e), z2 = increment(1, e), z3 = increment(2, e);
            const real p = (z2 - z3) * (real(1) / (OD_C2 - real(1)));
            const real between = (z1 - z2) * (real(1) / (OD_C1 - OD_C2));
            const real q = (between - p) * (real(1) / (OD_C1 - real(1)));
            polynomial[0][e] = p;
            polynomial[1][e] = q;
            polynomial[2][e] = q - (between - z1 * (real(1) / OD_C1)) * (real(1) / OD_C2);
        }
    }
};

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_radau(const OdTask task) {
    OD_GROUP_MEMORY(memory);
    OdRadau method;
    od_integrate(task, memory, method);
}
