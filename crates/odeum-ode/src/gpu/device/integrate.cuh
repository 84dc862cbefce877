// The loop over the systems of the queue, for every method that groups of threads integrate by.

#if OD_EVENT
// Looks at a step to the state `after` for the terminal event.
template <class Method>
OD_FN void od_look_at_step(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory,
                         const Method &method, const real (&after)[OD_EACH], real step,
                         OdVerdict &verdict) {
    const OdGroup &g = x.g;
    // The component before and after, its slope before, and the state half-way or the slope after.
    real of[4] = {real(0), real(0), x.event_slope, real(0)};
#if OD_WIDTH == 1
    OD_CONSTANT_STATES(i) {
        if (i == x.event_component) {
            of[0] = of[1] = memory.state[i];
            if constexpr (Method::HAS_MIDDLE) of[3] = memory.state[i];
        }
    }
#endif
    OD_OWN(e, i) {
        if (i == x.event_component) {
            of[0] = x.y[e], of[1] = after[e];
            if constexpr (Method::HAS_MIDDLE) of[3] = method.middle(e);
            if constexpr (Method::HAS_CUBIC) {
                const OdCubicSlopes slopes = method.cubic(e);
                of[2] = slopes.start / step, of[3] = slopes.end / step;
            }
        }
    }
    od_group_tell(g, x.event_component, of);
    OdPassage passage = od_passage(task, c.event, of[0], of[1], of[2]);
    if constexpr (Method::HAS_MIDDLE) od_passes_by(task, c.event, passage, of[3]);
    passage.most_miss = Method::HAS_CUBIC    ? OD_EVENT_CUBIC_MISS
                        : Method::HAS_STAGES ? OD_EVENT_STAGE_MISS
                                             : real(0);
    if constexpr (Method::HAS_CUBIC) passage.slopes[1] = of[3];
    od_look_for_event(task, c, passage, step, verdict, [&](OdPassage &passed) {
        if constexpr (Method::HAS_CUBIC) {
            real told[1] = {real(0)};
#pragma unroll 1
            for (int k = 0; k < 2; ++k) {
                const real theta = k == 0 ? OD_EVENT_PLACE : OD_EVENT_OTHER_PLACE;
                real misses[OD_EACH];
                od_cubic_misses(c, x, memory, method, after, step, theta, misses);
                OD_OWN(e, i) {
                    if (i == x.event_component) told[0] = misses[e];
                }
                od_group_tell(g, x.event_component, told);
                passed.miss = passed.miss + od_abs(told[0]);
            }
        } else {
            real told[1 + Method::HAS_STAGES] = {};
            if constexpr (!Method::KNOWS_END_SLOPE) od_evaluate(c, x, memory, verdict.t_new, after);
            OD_OWN(e, i) {
                if (i == x.event_component) {
                    if constexpr (Method::KNOWS_END_SLOPE) told[0] = method.end_slope(e);
                    else told[0] = memory.slope[i];
                    if constexpr (Method::HAS_STAGES) {
                        const OdCubicSlopes slopes = {x.event_slope * step, told[0] * step};
                        told[1] = method.stage_misses(e, step, od_cubic(after[e] - x.y[e], slopes));
                    }
                }
            }
            od_group_tell(g, x.event_component, told);
            passed.slopes[1] = told[0];
            if constexpr (Method::HAS_STAGES) passed.miss = told[1];
        }
    });
}
#endif

#if OD_RANGES
// Whether the state lies outside the data of the model.
OD_FN bool od_is_outside(const OdSystem &x, const OdMemory &memory) {
    const OdGroup &g = x.g;
    bool outside = false;
    OD_OWN(e, i) outside = outside || od_outside(i, x.y[e]);
#if OD_WIDTH == 1
    OD_CONSTANT_STATES(i) outside = outside || od_outside(i, memory.state[i]);
#endif
    return od_group_any(g, outside);
}

// Whether it can be no state.
OD_FN bool od_is_impossible(const OdTask &task, const OdSystem &x, const OdMemory &memory) {
    const OdGroup &g = x.g;
    bool impossible = false;
    OD_OWN(e, i) impossible = impossible | od_impossible(task, i, x.y[e]);
#if OD_WIDTH == 1
    OD_CONSTANT_STATES(i) impossible = impossible | od_impossible(task, i, memory.state[i]);
#endif
    return od_group_any(g, impossible);
}
#endif

// Whether a group is to take a system. Threads of a warp with a group each take systems two at least at a time, unless none of them has
// one: so all of them meet here, and none goes into an attempt apart from the others.
OD_FN bool od_takes(bool busy) {
#if OD_WIDTH == 1 && defined(__CUDACC__)
    const unsigned here = __activemask(), idle = __ballot_sync(here, !busy);
    return !busy && (idle == here || __popc(idle) >= 2);
#else
#if OD_WIDTH == 1
    // They take turns.
    od_host_yield();
#endif
    return !busy;
#endif
}

// Integrates systems from the queue until it is empty. A method has
//
//     void begin()                                    a piece begins: nothing is known of the past
//     OdAttempt attempt(task, c, x, memory, propose, after)  a step to the state `after`, of the signed size that
//                                                         propose() gives once what first_size asks for is that of the
//                                                         state: of implicit methods `slope`, `rate` and `jacobian()`;
//                                                         explicit ones may shorten the step
//     real first_size(task, c, x, memory)             with OD_PROBE: the size of the first step
//     real next(step, factor)                         the signed size that follows, by a factor of the controller
//     void settle(accepted)
//
// and with OD_EVENT constants that say what it tells of its component e in the last attempt (cpu/event.rs says which do):
//
//     real middle(e)         HAS_MIDDLE               half-way
//     OdCubicSlopes cubic(e) HAS_CUBIC                slopes of the cubic of its stages
//     real end_slope(e)      KNOWS_END_SLOPE          f at the end; of other methods it is evaluated where it is asked for
//     real stage_misses(e, step, cubic)  HAS_STAGES   how far slopes of its stages are from those of the cubic
//
// Who evaluates f at the state without linearising keeps it of the component of the terminal event. An attempt with the
// cause OD_SPECTRAL_RADIUS is the last.
template <class Method>
OD_FN void od_integrate(const OdTask &task, OdMemory &memory, Method &method) {
    OdStepLoop c;
    OdSystem x;
    x.g = od_group(task, memory);
    const OdGroup &g = x.g;
#if OD_EVENT
    x.event_component = od_event_component(task);
    x.event_slope = real(0);
#endif
#if OD_WIDTH == 1 && OD_SCRATCH_BYTES > 0
    alignas(16) unsigned char scratch[OD_SCRATCH_BYTES];
    memory.scratch = scratch;
#endif
    od_place(task, g, memory);
    const auto save = [&](unsigned k) {
        od_write(task, x, memory, task.saved + (size_t)k * OD_N * task.stride, c.system);
    };
    bool busy = false, starting = false;
    OdWork work;
    work.begin();
    // One attempt in every turn. It ends, because every attempt counts and od_proceed ends a system at max_steps.
    for (;;) {
        if (od_takes(busy)) {
            const unsigned k = od_group_take(g, task.next);
            if (k >= task.n_systems) break;
            const unsigned s = od_in_order(task, k);
            od_read(task, x, memory, s);
            od_load(task, c, s, save);
            method.begin();
            starting = OD_PROBE && !c.resumed;
            busy = true;
        }
        if (!busy) continue;
        bool whole, lost;
        real proposed;
        const auto propose = [&] {
#if OD_PROBE
            if (starting) c.h = od_first(task, c, method.first_size(task, c, x, memory));
            starting = false;
#endif
            return proposed = od_propose(c, whole);
        };
        real after[OD_EACH];
        const OdAttempt attempt = method.attempt(task, c, x, memory, propose, after);
#if !OD_IMPLICIT
        whole = whole && attempt.step == proposed;
#endif
        OdVerdict verdict = od_verdict(task, c, attempt, whole);
#if OD_EVENT
        if (verdict.accepted) {
            od_look_at_step(task, c, x, memory, method, after, attempt.step, verdict);
        }
#endif
        const auto next_step = [&](real h, real factor) { return method.next(h, factor); };
        const bool accepted = od_settle(task, c, attempt, verdict, whole, next_step, lost);
        if (accepted) {
#if OD_INVARIANTS > 0
            od_keep_invariants(x, after);
#endif
            OD_OWN(e, i) x.y[e] = after[e];
#if OD_RANGES
            c.outside += od_is_outside(x, memory);
#endif
        }
        method.settle(accepted);
#if !OD_IMPLICIT
        if (attempt.cause == OD_SPECTRAL_RADIUS) {
            c.cause = attempt.cause;
            lost = true;
        }
#endif
        int status;
        const OdNext next = od_proceed(task, c, accepted && whole, lost, status, save);
        if (next == OD_BEGIN) {
            method.begin();
            starting = OD_PROBE;
        }
        if (next == OD_END) {
            od_write(task, x, memory, task.end_states, c.system);
#if OD_RANGES
            if (od_reaches_end(status) && od_is_impossible(task, x, memory)) status = OD_OUTSIDE_BOUNDS;
#endif
#if OD_WIDTH > 1
            OD_GROUP_BARRIER();
#endif
            if (g.slot == 0) od_finish(task, c, status);
            work.end_system();
            busy = false;
        }
    }
    od_add_work(task, g, work);
}
