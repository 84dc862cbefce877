// Runge-Kutta-Chebyshev of order 2, systems abreast (gpu/device/abreast.cuh).
//
// Equation, method, order, stability and reference: mod.rs beside this file. The meaning is that
// of stepper.rs and radius.rs, statement for statement.
//
// Systems differ in what they do next: they have different numbers of stages, and some look for their spectral radius while
// others step. What all need, and what costs, is the right-hand side. So each turn of the loop evaluates it once for every
// system, and then each uses the value for the phase it is in. Of a system the first thread has the step loop and decides; all
// threads do with their components of the vectors what it orders.

// What the next value of the right-hand side is for.
enum OdPhase {
    OD_IDLE,                    // nothing: there is no system
    OD_AT_START,                // the slope at the start of a piece
    OD_IN_POWER,                // the power method
    OD_AT_EULER,                // an Euler step that probes for a first step
    OD_AT_STAGE,                // stage j
    OD_AT_END                   // the slope at the new state
};

// What is to be done with the vectors, in this order; the first thread orders it.
enum OdOrder : unsigned {
    OD_KEEP_DIRECTION = 1,      // of the power method, which has found it
    OD_START = 2,               // the slope is f, and so is the direction
    OD_ACCEPT = 4,              // the state is w, its slope f
    OD_TAKE = 8,                // the state is the first one of another system
    OD_SAVE = 16,               // the state goes to save times
    OD_WRITE = 32,              // the state is the last one of its system
    OD_MOVE = 64,               // w = y
    OD_MOVE_SLOPE = 128,        // w = y + a slope
    OD_MOVE_DIRECTION = 256,    // w = y + a direction
    OD_MOVE_CHANGE = 512,       // w = y + a (f - slope)
    OD_MOVE_BLIND = 1024,       // w = y + a y
    OD_MOVE_OFF_ZERO = 2048,    // w = a
    OD_MIRROR = 4096,           // component `index` of w goes to the other side of y
    OD_FIRST_STAGE = 8192       // the stage before w is y
};

// What the first thread tells the others: rows of OdMemory::words and ::numbers.
enum OdToldWord {
    OD_TOLD_PHASE, OD_TOLD_HAS_MORE, OD_TOLD_ORDER, OD_TOLD_INDEX, OD_TOLD_FIRST_SAVE, OD_TOLD_END_SAVE,
    OD_TOLD_GOES_ON, OD_TOLD_WORDS
};
enum OdToldNumber {
    OD_TOLD_AT, OD_TOLD_MU, OD_TOLD_NU, OD_TOLD_REACH, OD_TOLD_A, OD_TOLD_REST, OD_TOLD_SCALE, OD_TOLD_STEP_SIZE,
    OD_TOLD_NUMBERS
};
static_assert(OD_TOLD_WORDS <= OD_ABREAST_WORDS && OD_TOLD_NUMBERS <= OD_ABREAST_NUMBERS, "there are rows");

struct OdPower {
    real sigma, distance;
    int iteration;
};

// Of a system, in its first thread.
struct OdRkcLoop {
    OdStepLoop c;
    OdRecurrence chebyshev;
    OdPower power;
    real at;                    // the time at which f is evaluated next
    real radius, step;
    int stage, last_stage, age;
    unsigned order, index, saves[2];
    real scale;                 // a of an order
#if OD_EVENT
    real passing[4];            // the component of the terminal event before and after a step, and f of it
#endif
    OdStage coefficients;
    OdPhase phase;
    bool whole, stale, valid, starting, more;
};

// Sums over the components, for whoever decides.
enum OdSum {
    OD_OF_PHASE,                // squares of what the phase wants, or the norm of an error
    OD_NOT_FINITE_SUM,          // above zero: there is a component that is not finite,
    OD_OUTSIDE_SUM,             // that lies outside the data of the model,
    OD_IMPOSSIBLE_SUM,          // that can be none of a state
    OD_W2, OD_Y2, OD_D2, OD_F2, // squares of w, the state, the direction, f
    OD_SUMS
};
// A decision of all systems takes about so large a part of a turn.
#define OD_DECISIONS_OF_A_TURN 4u
static_assert(OD_SUMS <= OD_CELLS && OD_SUMS <= OD_WARPS, "each sum has a cell and a warp");

// The stage for whose end f is evaluated now.
static __device__ __noinline__ void od_rkc_plan(OdRkcLoop &loop) {
    if (loop.phase != OD_AT_STAGE) return;
    ++loop.c.nfev;
    loop.coefficients = od_chebyshev_next(loop.chebyshev);
    ++loop.stage;
    loop.at = loop.stage > loop.last_stage ? loop.c.t + loop.step
                                           : od_fma(loop.step, loop.chebyshev.theta[1], loop.c.t);
}

static __device__ __noinline__ void od_rkc_decide(const OdTask &task, OdRkcLoop &loop, const real (&sums)[OD_SUMS]) {
    OdStepLoop &c = loop.c;
    unsigned order = 0;
    const auto save = [&](unsigned k) {
        if (!(order & OD_SAVE)) loop.saves[0] = k;
        loop.saves[1] = k + 1;
        order |= OD_SAVE;
    };
    bool find_radius = false, choose_first = false, attempt = false, ended = false, powers = false;
    int status = 0;
    real y2 = sums[OD_Y2], d2 = sums[OD_D2];
    const OdPhase phase = loop.phase;
    if (phase != OD_IDLE) ++c.nfev;
    if (phase == OD_IDLE) {
        const unsigned k = loop.index;
        loop.more = k < task.n_systems;
        if (loop.more) {
            loop.index = od_in_order(task, k);
            od_load(task, c, loop.index, save);
            order |= OD_TAKE | OD_MOVE;
            loop.at = c.t;
            loop.stale = false;
            loop.phase = OD_AT_START;
        }
    } else if (phase == OD_AT_START) {
        order |= OD_START;
        d2 = sums[OD_F2];
        loop.starting = true;
        find_radius = true;
    } else if (phase == OD_IN_POWER) {
        OdPower &power = loop.power;
        ++c.nfev_radius;
        const real change = od_sqrt(sums[OD_OF_PHASE]), before = power.sigma, longest = od_abs(c.length);
        power.sigma = change / power.distance;
        ++power.iteration;
        const real near = OD_SETTLED * od_larger(power.sigma, real(1) / longest);
        const bool found = power.iteration >= 2 && od_abs(power.sigma - before) <= near;
        if (found || power.iteration >= OD_POWER_ITERATIONS) {
            if (found) order |= OD_KEEP_DIRECTION;
            loop.radius = power.sigma * OD_MARGIN;
            loop.age = 0;
            // Where it fails at the start the first attempt tries again.
            loop.stale = !found;
            if (loop.starting) {
                choose_first = true;
            } else if (loop.stale && od_magnitude(power.sigma) < OD_NOT_FINITE) {
                od_no_radius(c, status);
                ended = true;
            } else {
                // Where f is not finite there is no radius for that reason: the attempt says so.
                if (loop.stale) loop.radius = od_nan();
                loop.stale = false;
                attempt = true;
            }
        } else if (change > real(0)) {
            order |= OD_MOVE_CHANGE;
            loop.scale = power.distance / change;
        } else {
            // A direction that f does not feel is left by mirroring one component.
            order |= OD_MIRROR;
            loop.index = power.iteration % OD_N;
        }
    } else if (phase == OD_AT_EULER) {
        const real trial = od_abs(loop.step), error = trial * od_sqrt(sums[OD_OF_PHASE] / real(OD_N));
        c.h = od_first(task, c, od_rkc_first_size(trial, error, od_abs(c.length)));
        if (!(c.h == c.h)) c.h = od_first(task, c, od_abs(c.length));
        attempt = true;
    } else {
        OdNorm norm;
        norm.total = sums[OD_OF_PHASE];
        norm.magnitude = sums[OD_NOT_FINITE_SUM] > real(0) ? OD_NOT_FINITE : 0;
        const real size = loop.valid ? od_norm_size(task, norm) : od_nan();
        const OdAttempt made = od_explicit(loop.step, size);
        OdVerdict verdict = od_verdict(task, c, made, loop.whole);
#if OD_EVENT
        if (verdict.accepted) {
            const real *const at = loop.passing;
            const OdPassage passage = od_passage(task, c.event, at[0], at[1], at[2]);
            od_look_for_event(task, c, passage, loop.step, verdict, [&] { return at[3]; });
        }
#endif
        bool lost;
        const bool accepted = od_settle(task, c, made, verdict, loop.whole, lost);
        if (accepted) {
            order |= OD_ACCEPT;
            y2 = sums[OD_W2];
            ++loop.age;
#if OD_RANGES
            c.outside += sums[OD_OUTSIDE_SUM] > real(0);
#endif
        }
        loop.stale = loop.stale || !accepted || loop.age >= OD_RADIUS_EVERY;
        const OdNext next = od_proceed(task, c, accepted && loop.whole, lost, status, save);
        ended = next == OD_END;
#if OD_RANGES
        // Who has come to the end has accepted the step.
        if (ended && od_reaches_end(status) && sums[OD_IMPOSSIBLE_SUM] > real(0)) status = OD_OUTSIDE_BOUNDS;
#endif
        attempt = next == OD_ONWARD;
        if (next == OD_BEGIN) {
            order |= OD_MOVE;
            loop.at = c.t;
            loop.phase = OD_AT_START;
        }
    }

    if (attempt) loop.starting = false;
#if OD_RADIUS_BOUND
    // A bound is as good as an estimate and costs nothing: it is taken anew each time.
    if (find_radius || attempt) {
        loop.radius = od_radius_bound(task);
        if (find_radius) choose_first = true;
        if (!(od_magnitude(loop.radius) < OD_NOT_FINITE)) loop.radius = od_nan();
        if (attempt && loop.radius < real(0)) {
            od_no_radius(c, status);
            attempt = false;
            ended = true;
        }
    }
#else
    powers = find_radius || (attempt && loop.stale);
#endif
    if (choose_first) {
        const real length = od_abs(c.length);
#if OD_PROBE
        if (!c.resumed) {
            const real stable = real(1) / loop.radius;
            const real trial = stable < length ? stable : length;
            loop.step = c.length < real(0) ? -trial : trial;
            order |= OD_MOVE_SLOPE;
            loop.scale = loop.step;
            loop.at = c.t + loop.step;
            loop.phase = OD_AT_EULER;
            choose_first = false;
        }
#endif
        if (choose_first) {
            if (!(od_abs(c.h) > real(0))) c.h = od_first(task, c, length);
            loop.starting = false;
            attempt = true;
#if !OD_RADIUS_BOUND
            powers = loop.stale;
#endif
        }
    }
    if (attempt && !powers) {
        const real wanted = od_propose(c, loop.whole);
        const OdStable stable = od_stable(task, wanted, loop.radius);
        loop.step = stable.step;
        loop.valid = stable.valid;
        loop.whole = loop.whole && stable.step == wanted;
        loop.last_stage = (int)stable.stages;
        loop.stage = 2;
        od_chebyshev_start(loop.chebyshev, stable.stages);
        order |= OD_MOVE_SLOPE | OD_FIRST_STAGE;
        loop.scale = stable.step * loop.chebyshev.theta[1];
        loop.at = od_fma(stable.step, loop.chebyshev.theta[1], c.t);
        loop.phase = OD_AT_STAGE;
    }
#if !OD_RADIUS_BOUND
    // A point beside the state, in the direction found last.
    if (powers) {
        const real epsilon = OD_EPSILON, root_epsilon = OD_ROOT_EPSILON;
        const real y_norm = od_sqrt(y2), d_norm = od_sqrt(d2);
        const bool has_y = y_norm > real(0), has_d = d_norm > real(0);
        loop.power.distance = has_y ? y_norm * root_epsilon : epsilon;
        order |= has_d ? OD_MOVE_DIRECTION : has_y ? OD_MOVE_BLIND : OD_MOVE_OFF_ZERO;
        loop.scale = has_d ? loop.power.distance / d_norm : has_y ? root_epsilon : epsilon;
        loop.power.sigma = real(0);
        loop.power.iteration = 0;
        loop.at = c.t;
        loop.phase = OD_IN_POWER;
    }
#endif
    if (ended) {
        od_finish(task, c, status);
        order |= OD_WRITE;
        loop.phase = OD_IDLE;
    }
    loop.order = order;
}

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_rkc_abreast(const OdTask task) {
    OD_SHARED(OdMemory, od_memory);
    OdMemory &memory = od_memory[0];
    const OdGroup g = od_group(task, memory);
    const OdNumbers w = g.state();
    const bool decides = g.warp == 0;
    OdRkcLoop loop;
    loop.phase = OD_IDLE;
    loop.more = true;
    loop.at = real(0);
    OdParams p = od_params(task, 0);
    real y[OD_EACH];            // the state
    real slope[OD_EACH];        // f there
    real direction[OD_EACH];    // of the power method, found last: seldom wanted, so in local memory
    real before[OD_EACH];       // the stage before the last
    real f[OD_EACH];            // f where it is evaluated: at w, which is OdMemory::state
    unsigned system = 0, waited = 0;
    real at = real(0), step = real(0);
    OD_UNROLL_OWN
    for (int e = 0; e < OD_EACH; ++e) y[e] = slope[e] = direction[e] = before[e] = real(1);
    OD_OWN(e, i) w[i] = real(1);
    // Of arrays whose places the compiler does not know nothing is in registers.
    const unsigned aside = od_opaque(0);
    OdWork work;
    work.begin();

    // It ends: the power method and the stages are bounded, every attempt counts, and od_proceed
    // ends a system at max_steps.
    for (;;) {
        OD_GROUP_BARRIER();
        if (decides) {
            memory.words[OD_TOLD_PHASE][g.lane] = loop.phase;
            memory.words[OD_TOLD_HAS_MORE][g.lane] = loop.more;
            od_rkc_plan(loop);
            if (loop.phase == OD_AT_STAGE) {
                const OdStage &s = loop.coefficients;
                memory.numbers[OD_TOLD_AT][g.lane] = loop.at;
                memory.numbers[OD_TOLD_MU][g.lane] = s.mu;
                memory.numbers[OD_TOLD_NU][g.lane] = s.nu;
                memory.numbers[OD_TOLD_REACH][g.lane] = loop.step * s.mu_tilde;
                memory.numbers[OD_TOLD_A][g.lane] = s.a;
                memory.numbers[OD_TOLD_REST][g.lane] = s.rest;
                if (loop.stage > loop.last_stage) loop.phase = OD_AT_END;
            }
        }
        od_group_rhs(g, at, w, p, f);
        const OdPhase phase = (OdPhase)memory.words[OD_TOLD_PHASE][g.lane];
        const bool more = memory.words[OD_TOLD_HAS_MORE][g.lane];
        if (phase == OD_AT_STAGE) {
            const real mu = memory.numbers[OD_TOLD_MU][g.lane], nu = memory.numbers[OD_TOLD_NU][g.lane];
            const real reach = memory.numbers[OD_TOLD_REACH][g.lane], a = memory.numbers[OD_TOLD_A][g.lane];
            const real rest = memory.numbers[OD_TOLD_REST][g.lane];
            at = memory.numbers[OD_TOLD_AT][g.lane];
            OD_OWN(e, i) {
                const real change = f[e] - a * slope[e];
                const real old = od_fma(nu, before[e], rest * y[e]);
                before[e] = w[i];
                w[i] = od_fma(change, reach, od_fma(mu, before[e], old));
            }
        }
        // Decisions take a part of a turn, whoever has one to make: systems wait for others, at f of the same state, until together they
        // have waited for about as long.
        const bool is_busy = phase != OD_IDLE || more, waits = is_busy && phase != OD_AT_STAGE;
        waited += od_count(waits);
        if (waited * OD_DECISIONS_OF_A_TURN < od_count(is_busy)) continue;
        waited = 0;
        OD_GROUP_BARRIER();

        // Sums over the components.
        if (waits) {
            real sums[OD_SUMS] = {};
            OdNorm norm;
            od_norm_clear(norm);
            const real fraction = step * OD_ERROR_OF_SLOPES;
            const real unit = OD_NORM == OD_NORM_RMS ? real(1) : od_near_recip(task.rtol);
            OD_OWN(e, i) {
                const real there = w[i], d = direction[e + aside];
                sums[OD_W2] = od_fma(there, there, sums[OD_W2]);
                sums[OD_Y2] = od_fma(y[e], y[e], sums[OD_Y2]);
                sums[OD_D2] = od_fma(d, d, sums[OD_D2]);
                sums[OD_F2] = od_fma(f[e], f[e], sums[OD_F2]);
                if (phase == OD_IN_POWER) {
                    const real change = f[e] - slope[e];
                    sums[OD_OF_PHASE] = od_fma(change, change, sums[OD_OF_PHASE]);
                } else if (phase == OD_AT_EULER) {
                    const real weight = od_weight(task, i, y[e], y[e], od_abs(step) * slope[e]);
                    const real ratio = (f[e] - slope[e]) * (unit * weight);
                    sums[OD_OF_PHASE] = od_fma(ratio, ratio, sums[OD_OF_PHASE]);
                } else if (phase == OD_AT_END) {
                    const real error = od_fma(slope[e] + f[e], fraction, OD_ERROR_OF_STATES * (y[e] - there));
                    od_norm_ratio(norm, error * od_weight(task, i, y[e], there, step * slope[e]));
                    od_norm_finite(norm, there);
                    od_norm_finite(norm, error);
#if OD_RANGES
                    // How many components would lie outside the data of the model, and where there is no state.
                    if (od_outside(i, there)) sums[OD_OUTSIDE_SUM] = real(1);
                    if (od_impossible(task, i, there)) sums[OD_IMPOSSIBLE_SUM] = real(1);
#endif
                }
            }
#if OD_EVENT
            // Into the first rows, which all threads have read: before these sums was a barrier.
            OD_OWN(e, i) {
                if (i == od_event_component(task)) {
                    const real passing[4] = {y[e], w[i], slope[e], f[e]};
#pragma unroll
                    for (int k = 0; k < 4; ++k) memory.numbers[k][g.lane] = passing[k];
                }
            }
#endif
            if (phase == OD_AT_END) {
                od_norm_close_group(norm);
                sums[OD_OF_PHASE] = norm.total;
                sums[OD_NOT_FINITE_SUM] = norm.magnitude < OD_NOT_FINITE ? real(0) : real(1);
            }
#pragma unroll
            for (int k = 0; k < OD_SUMS; ++k) memory.cells[k][g.warp][g.lane] = sums[k];
        }
        OD_GROUP_BARRIER();
        // Each sum is completed by a warp.
        if (waits && g.warp < OD_SUMS) {
            const bool largest = OD_NORM != OD_NORM_RMS && g.warp == OD_OF_PHASE && phase == OD_AT_END;
            real sum = memory.cells[g.warp][0][g.lane];
            for (int s = 1; s < OD_WARPS; ++s) {
                const real next = memory.cells[g.warp][s][g.lane];
                sum = largest ? od_larger(sum, next) : sum + next;
            }
            memory.cells[g.warp][0][g.lane] = sum;
        }
        OD_GROUP_BARRIER();
        // Of idle systems the next one's number.
        if (decides && waits && phase == OD_IDLE) {
            loop.index = atomicAdd(task.next, 1u);
        } else {
            OD_BESIDE_ATOMIC();
        }
        if (decides) {
            loop.order = 0;
            if (waits) {
                real sums[OD_SUMS];
#pragma unroll
                for (int k = 0; k < OD_SUMS; ++k) sums[k] = memory.cells[k][0][g.lane];
#if OD_EVENT
#pragma unroll
                for (int k = 0; k < 4; ++k) loop.passing[k] = memory.numbers[k][g.lane];
#endif
                const bool was_busy = loop.phase != OD_IDLE;
                od_rkc_decide(task, loop, sums);
                if (was_busy && loop.phase == OD_IDLE) work.end_system();
            }
            memory.words[OD_TOLD_ORDER][g.lane] = loop.order;
            memory.words[OD_TOLD_INDEX][g.lane] = loop.index;
            memory.words[OD_TOLD_FIRST_SAVE][g.lane] = loop.saves[0];
            memory.words[OD_TOLD_END_SAVE][g.lane] = loop.saves[1];
            memory.words[OD_TOLD_GOES_ON][g.lane] = loop.phase != OD_IDLE || loop.more;
            memory.numbers[OD_TOLD_AT][g.lane] = loop.at;
            memory.numbers[OD_TOLD_SCALE][g.lane] = loop.scale;
            memory.numbers[OD_TOLD_STEP_SIZE][g.lane] = loop.step;
        }
        OD_GROUP_BARRIER();
        const unsigned order = memory.words[OD_TOLD_ORDER][g.lane], index = memory.words[OD_TOLD_INDEX][g.lane];
        const bool goes_on = memory.words[OD_TOLD_GOES_ON][g.lane];
        if (waits) {
            at = memory.numbers[OD_TOLD_AT][g.lane];
            const real a = memory.numbers[OD_TOLD_SCALE][g.lane];
            step = memory.numbers[OD_TOLD_STEP_SIZE][g.lane];
            if (order & OD_KEEP_DIRECTION) {
                OD_OWN(e, i) direction[e + aside] = w[i] - y[e];
            }
            if (order & OD_START) {
                OD_OWN(e, i) slope[e] = direction[e + aside] = f[e];
            }
            if (order & OD_ACCEPT) {
                OD_OWN(e, i) y[e] = w[i], slope[e] = f[e];
            }
            if (order & OD_TAKE) {
                system = index;
                p = od_params(task, system);
                OD_OWN(e, i) y[e] = __ldcs(task.states + (size_t)i * task.stride + system);
            }
#if OD_SAVES
            if (order & OD_SAVE) {
                for (unsigned k = memory.words[OD_TOLD_FIRST_SAVE][g.lane]; k < memory.words[OD_TOLD_END_SAVE][g.lane]; ++k) {
                    OD_OWN(e, i) task.saved[((size_t)k * OD_N + i) * task.stride + system] = y[e];
                }
            }
#endif
            if (order & OD_WRITE) {
                OD_OWN(e, i) __stcs(task.end_states + (size_t)i * task.stride + system, y[e]);
            }
            OD_OWN(e, i) {
                const real there = w[i];
                real moved = there;
                if (order & OD_MOVE) moved = y[e];
                if (order & OD_MOVE_SLOPE) moved = od_fma(slope[e], a, y[e]);
                if (order & OD_MOVE_DIRECTION) moved = od_fma(direction[e + aside], a, y[e]);
                if (order & OD_MOVE_CHANGE) moved = od_fma(f[e] - slope[e], a, y[e]);
                if (order & OD_MOVE_BLIND) moved = od_fma(y[e], a, y[e]);
                if (order & OD_MOVE_OFF_ZERO) moved = a;
                if (order & OD_MIRROR && i == (int)index) moved = y[e] - (there - y[e]);
                w[i] = moved;
                if (order & OD_FIRST_STAGE) before[e] = y[e];
            }
        }
        if (od_count(goes_on) == 0) break;
    }
    if (decides) od_add_work(task, g, work);
}
