// The step loop of one system through its span: stops, segments, saves, endings. The meaning is
// that of the host's loop (cpu/drive.rs), statement for statement.

struct OdStepLoop {
    real t, h, stop;            // signed step size; next stop
    real t0, t1;
    real length;                // signed length of the segment
    OdControl control;
    unsigned system;
    unsigned piece, saved;      // pieces and save times that are done
    unsigned attempts, rejected;
    unsigned nfev, nfev_radius;
#if OD_IMPLICIT
    unsigned njev, nlu, guarded;
    OdGuard guard;
#endif
#if OD_EVENT
    OdEvent event;
#endif
#if OD_RANGES
    unsigned outside;           // accepted steps that ended outside the data of the model
#endif
    bool resumed;               // the first step is that of an earlier call
    int cause;                  // of the last rejection: the status if the step becomes too small
};

// What a step attempt gave.
struct OdAttempt {
    real step;                  // its signed size
    real size;                  // of the error, see od_norm_size
    int cause;                  // the status that says why `size` is NaN
    real growth;                // h lambda of the fastest growth of a perturbation; zero of explicit methods
};

// How it was judged.
struct OdVerdict {
    real t_new, factor;         // of the controller
    bool stuck, vetoed;         // it does not move the time; the growth guard rejects it
    bool passed;                // the error test
    bool accepted;
};

enum OdNext { OD_ONWARD, OD_BEGIN, OD_END };

// Out of line where it is seldom wanted, and the code is large already.
#if OD_IMPLICIT
#define OD_FN_SELDOM static __device__ __noinline__
#else
#define OD_FN_SELDOM OD_FN
#endif

// The time between t0 and t1 when some segments are done.
OD_FN_SELDOM real od_between(real t0, real t1, unsigned done, unsigned segments) {
    return t0 + (t1 - t0) * (real(done) / real(segments));
}

// End of the present piece; of the last one, exactly the end of the span.
OD_FN real od_piece_end(const OdTask &task, const OdStepLoop &c) {
    const unsigned done = c.piece + 1;
    return done >= task.segments ? c.t1 : od_between(c.t0, c.t1, done, task.segments);
}

// Saves whatever falls on the present time; `save(k)` writes the state for save time k.
template <class Save> OD_FN void od_save_due(const OdTask &task, OdStepLoop &c, Save save) {
#if OD_SAVES
    while (c.saved < task.n_saves && task.saves[c.saved] == c.t) {
        save(c.saved);
        ++c.saved;
    }
#endif
}

template <class Save> OD_FN void od_aim(const OdTask &task, OdStepLoop &c, Save save) {
    od_save_due(task, c, save);
    const real end = od_piece_end(task, c);
    c.stop = end;
#if OD_SAVES
    if (c.saved < task.n_saves) {
        const real next = task.saves[c.saved];
        if ((next < end) == (c.t1 > c.t0)) c.stop = next;
    }
#endif
}

// h, no longer than the largest step in either direction.
OD_FN real od_bounded(const OdTask &task, real h) {
    if (!(od_abs(h) > task.largest_step)) return h;
    return h < real(0) ? -task.largest_step : task.largest_step;
}

// The norm of a slope or a curvature at the start: where its square is beyond the range of numbers it asks for a step as
// small as it can be.
OD_FN real od_first_norm(real norm) {
    return norm == od_inf() ? OD_STEEPEST : norm;
}

// The size of a first step from t, large enough to move the time.
OD_FN real od_moving(real size, real t) {
    return od_larger(size, od_abs(t) * (OD_LEAST_ULPS * OD_EPSILON));
}

// The first step of a piece from its size, zero where none is given, no longer than the piece.
OD_FN real od_first(const OdTask &task, const OdStepLoop &c, real size) {
    const real length = od_abs(c.length);
#if OD_LAW != OD_LAW_FIXED
    if (size > real(0)) size = od_moving(size, c.t);
#endif
    const real least = size < length ? size : length;
    return od_bounded(task, c.length < real(0) ? -least : least);
}

// Begins a piece: forgets the past, and sets the first step unless it is automatic.
OD_FN void od_begin(const OdTask &task, OdStepLoop &c) {
    od_control_reset(c.control);
    c.cause = OD_STEP_TOO_SMALL;
    c.resumed = false;
#if OD_IMPLICIT
    c.guard.resolved = c.guard.alone = real(0);
#endif
#if OD_EVENT
    od_event_forget(c.event);
#endif
    c.length = od_piece_end(task, c) - c.t;
    const bool fraction = task.flags & OD_FLAG_FRACTION;
    c.h = od_first(task, c, fraction ? od_abs(c.length) * task.first_step : task.first_step);
}

// Puts system s at its start.
template <class Save>
OD_FN void od_load(const OdTask &task, OdStepLoop &c, unsigned s, Save save) {
    c.system = s;
    c.t0 = task.spans ? task.spans[s] : task.t0;
    c.t1 = task.spans ? task.spans[task.stride + s] : task.t1;
    c.t = c.t0;
    c.piece = c.saved = c.attempts = c.rejected = c.nfev = c.nfev_radius = 0;
#if OD_IMPLICIT
    c.njev = c.nlu = c.guarded = 0;
#endif
#if OD_EVENT
    c.event.level = task.levels ? task.levels[s] : task.event_level;
#endif
#if OD_RANGES
    c.outside = 0;
#endif
    od_aim(task, c, save);
    od_begin(task, c);
#if OD_LAW != OD_LAW_FIXED
    // Zero where there was no call before.
    if (task.first_steps && task.first_steps[s] > real(0)) {
        c.h = od_first(task, c, task.first_steps[s]);
        c.resumed = true;
    }
#endif
}

// A step of about h that is as long as the time moves by it; h itself where it does not move the time.
OD_FN real od_exact_step(real t, real h) {
    const real moves = (t + h) - t;
    return moves == real(0) ? h : moves;
}

// The signed step to attempt; `whole` when it goes to the stop.
OD_FN real od_propose(const OdStepLoop &c, bool &whole) {
    const real remaining = c.stop - c.t, step = od_exact_step(c.t, c.h);
    whole = od_abs(step) * OD_STRETCH >= od_abs(remaining);
    return whole ? remaining : step;
}

// The time at which a step ends: the stop where it goes there, which t + step may miss by a rounding.
OD_FN real od_step_end(const OdStepLoop &c, real step) {
    return step == c.stop - c.t ? c.stop : c.t + step;
}

// The time of a stage at a fraction of a step: a slope at the end, which is kept for the next step, is to be that at its start.
OD_FN real od_stage_time(const OdStepLoop &c, real fraction, real step) {
    return fraction == real(1) ? od_step_end(c, step) : od_fma(fraction, step, c.t);
}

// Judges an attempt.
OD_FN OdVerdict od_verdict(const OdTask &task, OdStepLoop &c, const OdAttempt &attempt, bool whole) {
    OdVerdict verdict;
    verdict.t_new = whole ? c.stop : c.t + attempt.step;
    verdict.stuck = verdict.t_new == c.t;
#if OD_IMPLICIT
    verdict.vetoed = od_guard_vetoes(c.guard, task.growth_limit, attempt.step, attempt.growth);
#else
    verdict.vetoed = false;
#endif
    // A step that the guard rejects must not count as one that passed.
    const real judged = verdict.vetoed ? od_nan() : attempt.size;
    verdict.passed = od_judge(task, c.control, attempt.step, judged, verdict.factor);
    verdict.accepted = verdict.passed && !verdict.stuck;
#if OD_EVENT
    c.event.sight = od_no_sight();
#endif
    return verdict;
}

#if OD_EVENT
// Looks at an attempt that was accepted so far. `complete(passage)` finds what is asked for in doubt: the slope at the end or the
// miss.
template <class Complete>
OD_FN void od_look_for_event(const OdTask &task, OdStepLoop &c, OdPassage passage, real step,
                    OdVerdict &verdict, Complete complete) {
    const bool doubtful = od_is_doubtful(task, c.event, passage, step);
    if (doubtful) complete(passage);
    od_look(task, c.event, passage, doubtful, step, c.t, verdict.t_new);
    verdict.accepted = !c.event.sight.overshot;
}
#endif

// Moves the time when an attempt is accepted; `lost` when there is no going on. `next(step, factor)` is the signed
// size of the step that the method proposes after a factor of the controller.
template <class Next>
OD_FN bool od_settle(const OdTask &task, OdStepLoop &c, const OdAttempt &attempt,
                     const OdVerdict &verdict, bool whole, Next next, bool &lost) {
    const bool accepted = verdict.accepted, stuck = verdict.stuck;
#if OD_LAW == OD_LAW_FIXED
    // A size given is that of every step, whatever was cut for a stop or a level.
    const real of = c.length < real(0) ? -task.first_step : task.first_step;
#else
    const real of = attempt.step;
#endif
    real proposed = next(of, verdict.factor);
#if OD_IMPLICIT && OD_LAW != OD_LAW_FIXED
    proposed = od_guard_next(c.guard, task.growth_limit, attempt.step, attempt.growth, proposed,
                             verdict.vetoed, !verdict.passed && !verdict.vetoed);
#endif
    if (accepted) c.t = verdict.t_new;
#if OD_LAW != OD_LAW_FIXED
    // What a factor makes of so short a step may be rounded to the same length again, or not move the time.
    if (od_abs(attempt.step) < od_abs(c.t) * (real(OD_SHORT_STEP_EPSILONS) * OD_EPSILON)) {
        if (!accepted) {
            proposed = attempt.step * OD_SHORTER;
        } else if (od_abs(proposed) < od_abs(attempt.step)) {
            proposed = attempt.step;
        }
    }
#endif
    if (!accepted) {
        ++c.rejected;
        // A step too small to move the time is too small for the cause to show, unless f itself is
        // not finite: the cause is that of the rejection before.
        const int cause = attempt.size != attempt.size ? attempt.cause : OD_STEP_TOO_SMALL;
        if (!stuck || (cause == OD_NON_FINITE && c.cause == OD_STEP_TOO_SMALL)) c.cause = cause;
#if OD_IMPLICIT
        if (verdict.vetoed) {
            ++c.guarded;
            if (OD_LAW == OD_LAW_FIXED) c.cause = OD_GROWTH_UNRESOLVED;
        }
#endif
    }
    // The step proposed before a cut is taken up again after it.
    const bool cut = accepted && whole && od_abs(c.h) > od_abs(proposed);
    c.h = od_bounded(task, cut ? c.h : proposed);
#if OD_EVENT
    c.h = od_aimed(c.event.sight, c.h);
#endif
    ++c.attempts;
    lost = stuck || c.h == real(0);
    return accepted;
}

// The same of an explicit method.
OD_FN OdAttempt od_explicit(real step, real size) {
    return OdAttempt{step, size, OD_NON_FINITE, real(0)};
}

OD_FN bool od_settle(const OdTask &task, OdStepLoop &c, const OdAttempt &attempt,
                     const OdVerdict &verdict, bool whole, bool &lost) {
    const auto next = [](real h, real factor) { return h * factor; };
    return od_settle(task, c, attempt, verdict, whole, next, lost);
}

// What follows an attempt, once the state is that of the time c.t. At OD_END `status` is set.
template <class Save>
OD_FN OdNext od_proceed(const OdTask &task, OdStepLoop &c, bool arrived, bool lost, int &status,
                        Save save) {
    OdNext next = OD_ONWARD;
#if OD_EVENT
    if (c.event.sight.hit) {
        od_save_due(task, c, save);
        status = OD_TERMINAL_EVENT;
        return OD_END;
    }
#endif
    if (arrived) {
        od_save_due(task, c, save);
        if (c.t == od_piece_end(task, c)) {
            ++c.piece;
            if (c.piece >= task.segments) {
                status = OD_SUCCESS;
                return OD_END;
            }
            if (!(task.flags & OD_FLAG_WARM)) next = OD_BEGIN;
        }
        od_aim(task, c, save);
    } else if (lost) {
        status = c.cause;
        return OD_END;
    }
    if (c.nfev >= task.max_evaluations) {
        status = OD_MAX_EVALUATIONS;
        return OD_END;
    }
    if (c.attempts >= task.max_steps) {
        status = OD_MAX_STEPS;
        return OD_END;
    }
    if (next == OD_BEGIN) od_begin(task, c);
    return next;
}

// Writes everything about an ended system but its state.
OD_FN void od_finish(const OdTask &task, const OdStepLoop &c, int status) {
    const unsigned s = c.system;
    task.end_times[s] = c.t;
    // What made a system fail made its steps small, or no numbers: it begins anew where it is tried again.
    const bool failed = status != OD_SUCCESS && status != OD_TERMINAL_EVENT;
    if (task.end_steps) task.end_steps[s] = failed ? real(0) : od_abs(c.h);
    OdStats stats = {};
    stats.steps = c.attempts - c.rejected;
    stats.rejected = c.rejected;
    stats.nfev = c.nfev;
    stats.nfev_radius = c.nfev_radius;
#if OD_IMPLICIT
    stats.njev = c.njev;
    stats.nlu = c.nlu;
    stats.guarded = c.guarded;
#endif
#if OD_RANGES
    stats.outside = c.outside;
#endif
    task.stats[s] = stats;
#if OD_SAVES
    task.n_saved[s] = c.saved;
#endif
#if OD_IMPLICIT
    // Results are read while other systems go on: gpu/round.rs.
    od_publish(task.status + s, (unsigned char)status);
#else
    task.status[s] = (unsigned char)status;
#endif
}
