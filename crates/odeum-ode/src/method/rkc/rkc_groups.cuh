// Runge-Kutta-Chebyshev of order 2, one system for each group of OD_WIDTH threads.
//
// Equation, method, order, stability and reference: mod.rs beside this file. The meaning is that of stepper.rs and
// radius.rs, statement for statement.
//
// Whatever f is wanted for, it is evaluated in one place, od_rkc_evaluate, so that there is one copy of the right-hand
// side in the instruction cache. Vectors are in registers of the threads; memory of the group holds what f reads and
// gives.

// What f is evaluated for.
enum OdRkcAim {
    OD_FOR_ITSELF,              // once
    OD_FOR_RADIUS,              // until the power method has settled, or has not
    OD_FOR_STEP                 // in the stages of a step, and at its end
};

struct OdRkc {
    real slope[OD_EACH];        // f at the state
    real direction[OD_EACH];    // of the power method, found last
    real d[OD_EACH];            // f is evaluated at y + d, y the state: of a step at last at its end
    real f[OD_EACH];            // f there
    real radius;
    int age;                    // accepted steps since the radius was estimated
    bool fresh;                 // a piece begins: f at the state is not known
    bool stale;                 // the radius is to be estimated before the next step

    OD_FN_MEMBER void begin() { fresh = true; }
    OD_FN_MEMBER real next(real step, real factor) { return step * factor; }
    OD_FN_MEMBER void prepare(const OdTask &task, OdStepLoop &c, const OdSystem &x);
    OD_FN_MEMBER real first_size(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory);
    template <class Propose>
    OD_FN_MEMBER OdAttempt attempt(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory,
                                   Propose propose, real (&after)[OD_EACH]);

    OD_FN_MEMBER void settle(bool accepted) {
        if (accepted) {
            OD_UNROLL_OWN
            for (int e = 0; e < OD_EACH; ++e) slope[e] = f[e];
            ++age;
        }
        stale = stale || !accepted || age >= OD_RADIUS_EVERY;
    }

    static constexpr bool HAS_MIDDLE = false, HAS_CUBIC = false, HAS_STAGES = false, KNOWS_END_SLOPE = true;
    OD_FN_MEMBER real end_slope(int e) const { return f[e]; }
};

// The vectors of a system, for the power method.
struct OdVectors {
    const OdTask &task;
    const OdSystem &x;
    OdRkc &rkc;

    OD_FN_MEMBER real moved(int e) const { return x.y[e] + rkc.d[e]; }

    // Euclidean norm, of components e of the thread, i of the system.
    template <class Component> OD_FN_MEMBER real norm_of(Component component) const {
        const OdGroup &g = x.g;
        return od_euclid([&](real unit) {
            real sum = real(0);
            OD_OWN(e, i) {
                const real part = component(e) * unit;
                sum = od_fma(part, part, sum);
            }
            return od_group_sum(g, sum);
        });
    }
    OD_FN_MEMBER real norm_of_change() const {
        return norm_of([&](int e) { return rkc.f[e] - rkc.slope[e]; });
    }
    OD_FN_MEMBER real norm_of_move() const {
        return norm_of([&](int e) { return moved(e) - x.y[e]; });
    }
    OD_FN_MEMBER real cosine_of_change(real change) const {
        const OdGroup &g = x.g;
        const real of_change = real(1) / change, of_move = real(1) / norm_of_move();
        real sum = real(0);
        OD_OWN(e, i) sum = od_fma((rkc.f[e] - rkc.slope[e]) * of_change, (moved(e) - x.y[e]) * of_move, sum);
        return od_group_sum(g, sum);
    }
    template <class Component> OD_FN_MEMBER real stretch_of(Component component, real longest) const {
        const OdGroup &g = x.g;
        real most = real(0);
        OD_OWN(e, i) most = od_larger(most, od_abs(component(e)));
        return od_stretch(od_group_largest(g, most), longest, [&](real scale) {
            OdAlong along = {real(0), real(0), real(0)};
            OD_OWN(e, i) {
                const real share = scale > real(0) ? od_abs(component(e)) * scale : real(1);
                along.state = od_larger(along.state, od_abs(x.y[e]) * share);
                along.slope = od_larger(along.slope, od_abs(rkc.slope[e]) * share);
                along.atol = od_larger(along.atol, od_atol(task, i) * share);
            }
            return OdAlong{od_group_largest(g, along.state), od_group_largest(g, along.slope), od_group_largest(g, along.atol)};
        });
    }
    OD_FN_MEMBER real stretch_of_direction(real longest) const {
        return stretch_of([&](int e) { return rkc.direction[e]; }, longest);
    }
    OD_FN_MEMBER real stretch_of_change(real longest) const {
        return stretch_of([&](int e) { return rkc.f[e] - rkc.slope[e]; }, longest);
    }
    OD_FN_MEMBER void keep_direction() {
        const OdGroup &g = x.g;
        OD_OWN(e, i) rkc.direction[e] = moved(e) - x.y[e];
    }
    OD_FN_MEMBER void move(OdMove how, real a, int mirrored = -1) {
        const OdGroup &g = x.g;
        OD_OWN(e, i) {
            rkc.d[e] = od_moved(task, how, a, i, i == mirrored, rkc.d[e], x.y[e], rkc.slope[e], rkc.direction[e], rkc.f[e]);
        }
    }
};

// Evaluates f at y + d and time `at`; or from the state as often as the power method wants it, whether that settles or
// not; or through a step of so many stages. It works on copies: see od_copy.
static __device__ __noinline__ bool od_rkc_evaluate(const OdTask &task, OdStepLoop &loop, const OdSystem &system,
                                                    OdRkc &method, OdRkcAim aim, real at, real step,
                                                    real stages) {
    OD_GROUP_MEMORY(memory);
    const OdSystem x = od_copy(system, memory);
    OdStepLoop c = loop;
    OdRkc rkc = method;
    const OdGroup &g = x.g;
    OdRecurrence chebyshev;
    OdPower power;
    OdVectors vectors{task, x, rkc};
    OdPowerNext next = OD_POWER_FOUND;
    real before[OD_EACH];       // d of the stage before the last
    int stage = 2;
    if (aim == OD_FOR_RADIUS) {
        od_power_start(power, vectors, od_abs(c.length));
    } else if (aim == OD_FOR_STEP) {
        od_chebyshev_start(chebyshev, stages);
        const real first = step * chebyshev.theta[1];
        OD_OWN(e, i) {
            before[e] = real(0);
            rkc.d[e] = rkc.slope[e] * first;
        }
        at = od_fma(step, chebyshev.theta[1], c.t);
    }
    // It ends, because the power method and the stages are bounded.
    for (;;) {
        real w[OD_EACH];
        OD_OWN(e, i) w[e] = vectors.moved(e);
        od_evaluate(c, x, memory, at, w);
        OD_OWN(e, i) rkc.f[e] = memory.slope[i];
        if (aim == OD_FOR_ITSELF) break;
        if (aim == OD_FOR_RADIUS) {
            ++c.nfev_radius;
            next = od_power_turn(power, vectors, od_abs(c.length));
            if (next == OD_POWER_ON) continue;
            rkc.radius = power.sigma * OD_MARGIN;
            rkc.age = 0;
            break;
        }
        const OdStage s = od_chebyshev_next(chebyshev);
        const real reach = step * s.mu_tilde;
        OD_OWN(e, i) {
            const real slope = rkc.f[e] - s.a * rkc.slope[e];
            const real old = od_fma(s.mu, rkc.d[e], s.nu * before[e]);
            before[e] = rkc.d[e];
            rkc.d[e] = od_fma(slope, reach, old);
        }
        ++stage;
        const bool is_end = stage > (int)stages;
        at = is_end ? od_step_end(c, step) : od_fma(step, chebyshev.theta[1], c.t);
        if (is_end) aim = OD_FOR_ITSELF;
    }
    loop.nfev = c.nfev;
    loop.nfev_radius = c.nfev_radius;
    method = rkc;
    return next == OD_POWER_FOUND;
}

#if OD_RADIUS_BOUND
// A bound is as good as an estimate and costs nothing: it is taken anew each time. NaN where it is not finite.
OD_FN real od_known_radius(const OdTask &task, const OdStepLoop &c, const OdSystem &x,
                           OdMemory &memory) {
#if OD_RADIUS_BOUND == 1
    const real radius = od_radius_bound(task);
#else
    const OdGroup &g = x.g;
    OD_GROUP_BARRIER();
    OD_OWN(e, i) memory.state[i] = x.y[e];
    OD_GROUP_BARRIER();
    const real *const y = memory.state;
    real bound[1];
    od_radius(c.t, y, x.p, bound);
    const real radius = bound[0];
    OD_GROUP_BARRIER();
#endif
    return od_magnitude(radius) < OD_NOT_FINITE ? radius : od_nan();
}
#endif

// f at the state where a piece begins, and the radius there.
OD_FN_MEMBER void OdRkc::prepare(const OdTask &task, OdStepLoop &c, const OdSystem &x) {
    if (!fresh) return;
    fresh = false;
    OD_UNROLL_OWN
    for (int e = 0; e < OD_EACH; ++e) d[e] = real(0);
    od_rkc_evaluate(task, c, x, *this, OD_FOR_ITSELF, c.t, real(0), real(0));
    OD_UNROLL_OWN
    for (int e = 0; e < OD_EACH; ++e) slope[e] = direction[e] = f[e];
#if OD_RADIUS_BOUND
    stale = false;
#else
    // Where this fails the first attempt tries again, and reports it.
    stale = !od_rkc_evaluate(task, c, x, *this, OD_FOR_RADIUS, c.t, real(0), real(0));
#endif
}

// From the error of an Euler step that is surely stable.
OD_FN_MEMBER real OdRkc::first_size(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory) {
    const OdGroup &g = x.g;
#if OD_RADIUS_BOUND
    radius = od_known_radius(task, c, x, memory);
#endif
    const real length = od_abs(c.length), stable = real(1) / radius;
    const real trial = stable < length ? stable : length;
    const real step = c.length < real(0) ? -trial : trial;
    OD_OWN(e, i) d[e] = slope[e] * step;
    od_rkc_evaluate(task, c, x, *this, OD_FOR_ITSELF, c.t + step, real(0), real(0));
    const real unit = OD_NORM == OD_NORM_RMS ? real(1) : od_near_recip(task.rtol);
    real sum = real(0);
    OD_OWN(e, i) {
        const real weight = od_weight(task, i, x.y[e], x.y[e], trial * slope[e]);
        const real ratio = (f[e] - slope[e]) * (unit * weight);
        sum = od_fma(ratio, ratio, sum);
    }
    const real error = trial * od_sqrt(od_group_sum(g, sum) / real(OD_N));
    return od_rkc_first_size(c.t, trial, error, length);
}

template <class Propose>
OD_FN_MEMBER OdAttempt OdRkc::attempt(const OdTask &task, OdStepLoop &c, OdSystem &x,
                                      OdMemory &memory, Propose propose, real (&after)[OD_EACH]) {
    const OdGroup &g = x.g;
    prepare(task, c, x);
    const real wanted = propose();
    OdAttempt attempt = od_explicit(wanted, od_nan());
#if OD_EVENT
    OD_OWN(e, i) {
        if (i == x.event_component) x.event_slope = slope[e];
    }
#endif
    bool has_radius = true;
#if OD_RADIUS_BOUND
    radius = od_known_radius(task, c, x, memory);
    has_radius = !(radius < real(0));
#else
    if (stale && !od_rkc_evaluate(task, c, x, *this, OD_FOR_RADIUS, c.t, real(0), real(0))) {
        // Where f is not finite there is no radius for that reason: the attempt says so.
        has_radius = !(od_magnitude(radius) < OD_NOT_FINITE);
        radius = od_nan();
    }
#endif
    stale = false;
    if (!has_radius) {
        attempt.cause = OD_SPECTRAL_RADIUS;
        return attempt;
    }
    const OdStable stable = od_stable(task, c.t, wanted, radius);
    const real step = attempt.step = stable.step;
    od_rkc_evaluate(task, c, x, *this, OD_FOR_STEP, c.t, step, stable.stages);
    OdNorm norm;
    od_norm_clear(norm);
    const real fraction = step * OD_ERROR_OF_SLOPES;
    OD_OWN(e, i) {
        const real y = x.y[e];
        after[e] = y + d[e];
        const real error = od_fma(slope[e] + f[e], fraction, -(OD_ERROR_OF_STATES * d[e]));
        od_norm_ratio(norm, error * od_weight(task, i, y, after[e], step * slope[e]));
        od_norm_finite(norm, after[e]);
        od_norm_finite(norm, error);
    }
    const real size = od_group_norm(task, g, norm);
    attempt.size = stable.valid ? size : od_nan();
    return attempt;
}

// What says what systems will cost (gpu/device/expect.cuh) wants the radius alone.
#if !OD_COSTS_BY_STAGES
// A task whose address is taken would have a copy in local memory, but for the word before its type.
extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_rkc_groups(const __grid_constant__ OdTask task) {
    OD_GROUP_MEMORY(memory);
    OdRkc method;
    od_integrate(task, memory, method);
}
#endif
