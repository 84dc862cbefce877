// Runge-Kutta-Chebyshev of order 2, one system per thread.
//
// Equation, method, order, stability and reference: mod.rs beside this file. The meaning is that
// of stepper.rs and radius.rs, statement for statement.
//
// Threads differ in what they do next: systems have different numbers of stages, and some look
// for their spectral radius while others step. What all need, and what costs, is the right-hand
// side. So each turn of the loop evaluates it once for every thread, and then each thread uses
// the value for the phase its system is in. There is one copy of the right-hand side.

#if OD_N <= OD_UNROLLED_COMPONENTS
#define OD_UNROLL _Pragma("unroll")
#else
#define OD_UNROLL _Pragma("unroll 1")
#endif

// What the next value of the right-hand side is for.
enum OdPhase {
    OD_AT_START,                // the slope at the start of a piece
    OD_IN_POWER,                // the power method
    OD_AT_EULER,                // an Euler step that probes for a first step
    OD_AT_STAGE,                // stage j
    OD_AT_END                   // the slope at the new state
};

// Vectors that outlive a turn.
enum OdVector {
    OD_STATE,
    OD_SLOPE,                   // f at the state
    OD_DIRECTION,               // of the power method, found last
    OD_BEFORE                   // the stage before the last
};

#if OD_IN_SHARED
struct OdVectors {
    real *mine;
    OD_FN_MEMBER real get(int v, int i) const { return mine[(v * OD_N + i) * OD_BLOCK]; }
    OD_FN_MEMBER void set(int v, int i, real x) { mine[(v * OD_N + i) * OD_BLOCK] = x; }
};
#else
struct OdVectors {
    real x[4 * OD_N];
    OD_FN_MEMBER real get(int v, int i) const { return x[v * OD_N + i]; }
    OD_FN_MEMBER void set(int v, int i, real value) { x[v * OD_N + i] = value; }
};
#endif

struct OdPower {
    real sigma, distance;
    int iteration;
};

// Sets `point` beside the state, in the direction found last.
OD_FN void od_power_start(OdPower &power, const OdVectors &x, real (&point)[OD_N]) {
    const real epsilon = OD_EPSILON, root_epsilon = OD_ROOT_EPSILON;
    real y2 = real(0), d2 = real(0);
    OD_UNROLL
    for (int i = 0; i < OD_N; ++i) {
        y2 = od_fma(x.get(OD_STATE, i), x.get(OD_STATE, i), y2);
        d2 = od_fma(x.get(OD_DIRECTION, i), x.get(OD_DIRECTION, i), d2);
    }
    const real y_norm = od_sqrt(y2), d_norm = od_sqrt(d2);
    const bool has_y = y_norm > real(0), has_d = d_norm > real(0);
    power.distance = has_y ? y_norm * root_epsilon : epsilon;
    const real stretch = has_d ? power.distance / d_norm : real(0);
    OD_UNROLL
    for (int i = 0; i < OD_N; ++i) {
        const real y = x.get(OD_STATE, i);
        const real blind = has_y ? od_fma(y, root_epsilon, y) : epsilon;
        point[i] = has_d ? od_fma(x.get(OD_DIRECTION, i), stretch, y) : blind;
    }
    power.sigma = real(0);
    power.iteration = 0;
}

enum OdPowerNext { OD_POWER_ON, OD_POWER_FOUND, OD_POWER_FAILED };

// One iteration, with f at `point`.
OD_FN OdPowerNext od_power_turn(OdPower &power, OdVectors &x, real (&point)[OD_N],
                                const real (&f)[OD_N], real longest) {
    real c2 = real(0);
    OD_UNROLL
    for (int i = 0; i < OD_N; ++i) {
        const real d = f[i] - x.get(OD_SLOPE, i);
        c2 = od_fma(d, d, c2);
    }
    const real change = od_sqrt(c2), before = power.sigma;
    power.sigma = change / power.distance;
    ++power.iteration;
    if (power.iteration >= 2) {
        const real near = OD_SETTLED * od_larger(power.sigma, real(1) / longest);
        if (od_abs(power.sigma - before) <= near) {
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i)
                x.set(OD_DIRECTION, i, point[i] - x.get(OD_STATE, i));
            return OD_POWER_FOUND;
        }
    }
    if (power.iteration >= OD_POWER_ITERATIONS) return OD_POWER_FAILED;
    // A direction that f does not feel is left by mirroring one component.
    const bool moves = change > real(0);
    const real stretch = moves ? power.distance / change : real(0);
    const int mirrored = power.iteration % OD_N;
    OD_UNROLL
    for (int i = 0; i < OD_N; ++i) {
        const real y = x.get(OD_STATE, i);
        const real still = i == mirrored ? y - (point[i] - y) : point[i];
        point[i] = moves ? od_fma(f[i] - x.get(OD_SLOPE, i), stretch, y) : still;
    }
    return OD_POWER_ON;
}

// The weighted error of an Euler step of size h, from f at its end.
OD_FN real od_euler_error(const OdTask &task, const OdVectors &x, const real (&f)[OD_N], real h) {
    const real unit = OD_NORM == OD_NORM_RMS ? real(1) : od_near_recip(task.rtol);
    real sum = real(0);
    OD_UNROLL
    for (int i = 0; i < OD_N; ++i) {
        const real y = x.get(OD_STATE, i), slope = x.get(OD_SLOPE, i);
        const real ratio = (f[i] - slope) * (unit * od_weight(task, i, y, y, h * slope));
        sum = od_fma(ratio, ratio, sum);
    }
    return h * od_sqrt(sum / real(OD_N));
}

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_rkc(const OdTask task) {
#if OD_IN_SHARED
    OD_SHARED(real, slab);
    OdVectors x{slab + threadIdx.x};
#else
    OdVectors x;
#endif
    OdStepLoop c;
    OdParams p;
    OdRecurrence chebyshev;
    OdPower power;
    // The point at which the right-hand side is evaluated next, and its time.
    real w[OD_N], f[OD_N], at = real(0);
    real radius = real(1), step = real(0);
    int stage = 0, last_stage = 0, age = 0, status = 0;
    bool busy = false, whole = false, stale = false, valid = true, starting = false;
    OdPhase phase = OD_AT_START;
    const auto save = [&](unsigned k) {
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i)
            task.saved[((size_t)k * OD_N + i) * task.stride + c.system] = x.get(OD_STATE, i);
    };

    // It ends: the power method and the stages are bounded, every attempt counts, and od_proceed
    // ends a system at max_steps.
    for (;;) {
        if (!busy) {
            const unsigned k = atomicAdd(task.next, 1u);
            if (k >= task.n_systems) break;
            const unsigned s = od_in_order(task, k);
            p = od_params(task, s);
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) {
                w[i] = task.states[(size_t)i * task.stride + s];
                x.set(OD_STATE, i, w[i]);
            }
            od_load(task, c, s, save);
            at = c.t;
            stale = false;
            starting = true;
            phase = OD_AT_START;
            busy = true;
        }
        od_rhs(at, w, p, f);
        ++c.nfev;

        // What the value leads to.
        bool find_radius = false, choose_first = false, attempt = false, ended = false;
        switch (phase) {
        case OD_AT_START:
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) {
                x.set(OD_SLOPE, i, f[i]);
                x.set(OD_DIRECTION, i, f[i]);
            }
            starting = true;
            find_radius = true;
            break;
        case OD_IN_POWER: {
            ++c.nfev_radius;
            const OdPowerNext next = od_power_turn(power, x, w, f, od_abs(c.length));
            if (next == OD_POWER_ON) break;
            radius = power.sigma * OD_MARGIN;
            age = 0;
            // Where it fails at the start the first attempt tries again.
            stale = next == OD_POWER_FAILED;
            if (starting) {
                choose_first = true;
            } else if (stale && od_magnitude(power.sigma) < OD_NOT_FINITE) {
                od_no_radius(c, status);
                ended = true;
            } else {
                // Where f is not finite there is no radius for that reason: the attempt says so.
                if (stale) radius = od_nan();
                stale = false;
                attempt = true;
            }
            break;
        }
        case OD_AT_EULER: {
            const real error = od_euler_error(task, x, f, od_abs(step));
            c.h = od_first(task, c, od_rkc_first_size(od_abs(step), error, od_abs(c.length)));
            if (!(c.h == c.h)) c.h = od_first(task, c, od_abs(c.length));
            attempt = true;
            break;
        }
        case OD_AT_STAGE: {
            const OdStage s = od_chebyshev_next(chebyshev);
            const real reach = step * s.mu_tilde;
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) {
                const real slope = f[i] - s.a * x.get(OD_SLOPE, i);
                const real old =
                    od_fma(s.nu, x.get(OD_BEFORE, i), s.rest * x.get(OD_STATE, i));
                x.set(OD_BEFORE, i, w[i]);
                w[i] = od_fma(slope, reach, od_fma(s.mu, w[i], old));
            }
            ++stage;
            if (stage > last_stage) {
                at = c.t + step;
                phase = OD_AT_END;
            } else {
                at = od_fma(step, chebyshev.theta[1], c.t);
            }
            break;
        }
        case OD_AT_END: {
            OdNorm norm;
            od_norm_clear(norm);
            const real fraction = step * OD_ERROR_OF_SLOPES;
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) {
                const real y = x.get(OD_STATE, i), slope = x.get(OD_SLOPE, i);
                const real error = od_fma(slope + f[i], fraction, OD_ERROR_OF_STATES * (y - w[i]));
                od_norm_ratio(norm, error * od_weight(task, i, y, w[i], step * slope));
                od_norm_finite(norm, w[i]);
                od_norm_finite(norm, error);
            }
            od_norm_close_group(norm);
            const real size = valid ? od_norm_size(task, norm) : od_nan();
            const OdAttempt made = od_explicit(step, size);
            OdVerdict verdict = od_verdict(task, c, made, whole);
#if OD_EVENT
            if (verdict.accepted) {
                real before = real(0), after = real(0), slopes[2] = {real(0), real(0)};
                OD_UNROLL
                for (int i = 0; i < OD_N; ++i) {
                    if (i == od_event_component(task)) {
                        before = x.get(OD_STATE, i), after = w[i];
                        slopes[0] = x.get(OD_SLOPE, i), slopes[1] = f[i];
                    }
                }
                const OdPassage passage = od_passage(task, c.event, before, after, slopes[0]);
                od_look_for_event(task, c, passage, step, verdict, [&] { return slopes[1]; });
            }
#endif
            bool lost;
            const bool accepted = od_settle(task, c, made, verdict, whole, lost);
            if (accepted) {
                OD_UNROLL
                for (int i = 0; i < OD_N; ++i) {
                    x.set(OD_STATE, i, w[i]);
                    x.set(OD_SLOPE, i, f[i]);
                }
                ++age;
#if OD_RANGES
                bool outside = false;
                OD_UNROLL
                for (int i = 0; i < OD_N; ++i) outside = outside || od_outside(i, w[i]);
                c.outside += outside;
#endif
            }
            stale = stale || !accepted || age >= OD_RADIUS_EVERY;
            const OdNext next = od_proceed(task, c, accepted && whole, lost, status, save);
            ended = next == OD_END;
#if OD_RANGES
            if (ended && od_reaches_end(status)) {
                bool impossible = false;
                OD_UNROLL
                for (int i = 0; i < OD_N; ++i) {
                    impossible = impossible || od_impossible(task, i, x.get(OD_STATE, i));
                }
                if (impossible) status = OD_OUTSIDE_BOUNDS;
            }
#endif
            attempt = next == OD_ONWARD;
            if (next == OD_BEGIN) {
                OD_UNROLL
                for (int i = 0; i < OD_N; ++i) w[i] = x.get(OD_STATE, i);
                at = c.t;
                phase = OD_AT_START;
            }
            break;
        }
        }

        if (attempt) starting = false;
#if OD_RADIUS_BOUND
        // A bound is as good as an estimate and costs nothing: it is taken anew each time.
        if (find_radius || attempt) {
#if OD_RADIUS_BOUND == 1
            radius = od_radius_bound(task);
#else
            real y[OD_N], bound[1];
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) y[i] = x.get(OD_STATE, i);
            od_radius(c.t, y, p, bound);
            radius = bound[0];
#endif
            if (find_radius) choose_first = true;
            if (!(od_magnitude(radius) < OD_NOT_FINITE)) radius = od_nan();
            if (attempt && radius < real(0)) {
                od_no_radius(c, status);
                attempt = false;
                ended = true;
            }
        }
#else
        if (find_radius || (attempt && stale)) {
            attempt = false;
            od_power_start(power, x, w);
            at = c.t;
            phase = OD_IN_POWER;
        }
#endif
        if (choose_first) {
            const real length = od_abs(c.length);
#if OD_PROBE
            if (!c.resumed) {
                const real stable = real(1) / radius;
                const real trial = stable < length ? stable : length;
                step = c.length < real(0) ? -trial : trial;
                OD_UNROLL
                for (int i = 0; i < OD_N; ++i)
                    w[i] = od_fma(x.get(OD_SLOPE, i), step, x.get(OD_STATE, i));
                at = c.t + step;
                phase = OD_AT_EULER;
                choose_first = false;
            }
#endif
            if (choose_first) {
                if (!(od_abs(c.h) > real(0))) c.h = od_first(task, c, length);
                starting = false;
                attempt = true;
#if !OD_RADIUS_BOUND
                if (stale) {
                    attempt = false;
                    od_power_start(power, x, w);
                    at = c.t;
                    phase = OD_IN_POWER;
                }
#endif
            }
        }
        if (attempt) {
            const real wanted = od_propose(c, whole);
            const OdStable stable = od_stable(task, wanted, radius);
            step = stable.step;
            valid = stable.valid;
            whole = whole && step == wanted;
            last_stage = (int)stable.stages;
            stage = 2;
            od_chebyshev_start(chebyshev, stable.stages);
            const real first = step * chebyshev.theta[1];
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) {
                const real y = x.get(OD_STATE, i);
                x.set(OD_BEFORE, i, y);
                w[i] = od_fma(x.get(OD_SLOPE, i), first, y);
            }
            at = od_fma(step, chebyshev.theta[1], c.t);
            phase = OD_AT_STAGE;
        }
        if (ended) {
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i)
                task.end_states[(size_t)i * task.stride + c.system] = x.get(OD_STATE, i);
            od_finish(task, c, status);
            busy = false;
        }
    }
}
