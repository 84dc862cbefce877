// What a system of Runge-Kutta-Chebyshev wants f for, and what follows from its value, for the kernels in which systems differ in
// that. The meaning is that of stepper.rs and radius.rs, statement for statement.
//
// Systems have different numbers of stages, and some look for their spectral radius while others step. What all need, and what
// costs, is the right-hand side. So each turn of a kernel's loop evaluates it once for every system, and then each uses the value
// for the phase it is in. There is one copy of the right-hand side.

// What the next value of the right-hand side is for.
enum OdPhase {
    OD_IDLE,                    // nothing: there is no system
    OD_AT_START,                // the slope at the start of a piece
    OD_IN_POWER,                // the power method
    OD_AT_EULER,                // an Euler step that probes for a first step
    OD_AT_STAGE,                // stage j
    OD_AT_END                   // the slope at the new state
};

// The scalars of a system.
struct OdRkcLoop {
    OdStepLoop c;
    OdRecurrence chebyshev;
    OdPower power;
    real at;                    // the time at which f is evaluated next
    real radius, step;
    int stage, last_stage;
    int age;                    // accepted steps since the radius was estimated
    OdPhase phase;
    bool whole;                 // the step goes to the stop
    bool stale;                 // the radius is to be estimated before the next step
    bool valid;                 // the step has a number of stages
    bool starting;              // no attempt was made in this piece
};

// Takes the system that is number k of the queue.
template <class Vectors> OD_FN void od_rkc_load(const OdTask &task, OdRkcLoop &loop, unsigned k, Vectors &x) {
    const unsigned s = od_in_order(task, k);
    x.take(s);
    od_load(task, loop.c, s, [&](unsigned saved) { x.save(saved); });
    x.move(OD_TO_STATE, real(0));
    loop.at = loop.c.t;
    loop.stale = false;
    loop.phase = OD_AT_START;
}

// The coefficients of the stage that the value of f at OD_AT_STAGE gives, and the time of the next one.
OD_FN OdStage od_rkc_stage(OdRkcLoop &loop) {
    ++loop.c.nfev;
    const OdStage s = od_chebyshev_next(loop.chebyshev);
    ++loop.stage;
    const bool is_end = loop.stage > loop.last_stage;
    loop.at = is_end ? od_step_end(loop.c, loop.step) : od_fma(loop.step, loop.chebyshev.theta[1], loop.c.t);
    if (is_end) loop.phase = OD_AT_END;
    return s;
}

// What follows from the value of f in any other phase.
template <class Vectors> OD_FN void od_rkc_decide(const OdTask &task, OdRkcLoop &loop, Vectors &x) {
    OdStepLoop &c = loop.c;
    bool find_radius = false, choose_first = false, attempt = false, ended = false;
    int status = 0;
    ++c.nfev;
    if (loop.phase == OD_AT_START) {
        x.start();
        loop.starting = true;
        find_radius = true;
    } else if (loop.phase == OD_IN_POWER) {
        ++c.nfev_radius;
        const OdPowerNext next = od_power_turn(loop.power, x, od_abs(c.length));
        if (next == OD_POWER_ON) return;
        loop.radius = loop.power.sigma * OD_MARGIN;
        loop.age = 0;
        // Where it fails at the start the first attempt tries again.
        loop.stale = next == OD_POWER_FAILED;
        if (loop.starting) {
            choose_first = true;
        } else if (loop.stale && od_magnitude(loop.power.sigma) < OD_NOT_FINITE) {
            od_no_radius(c, status);
            ended = true;
        } else {
            // Where f is not finite there is no radius for that reason: the attempt says so.
            if (loop.stale) loop.radius = od_nan();
            loop.stale = false;
            attempt = true;
        }
    } else if (loop.phase == OD_AT_EULER) {
        const real trial = od_abs(loop.step), error = trial * od_sqrt(x.squares_of_euler_error(trial) / real(OD_N));
        c.h = od_first(task, c, od_rkc_first_size(c.t, trial, error, od_abs(c.length)));
        if (!(c.h == c.h)) c.h = od_first(task, c, od_abs(c.length));
        attempt = true;
    } else {
        const OdNorm norm = x.error(loop.step);
        const OdAttempt made = od_explicit(loop.step, loop.valid ? od_norm_size(task, norm) : od_nan());
        OdVerdict verdict = od_verdict(task, c, made, loop.whole);
#if OD_EVENT
        if (verdict.accepted) {
            real slope_after;
            const OdPassage passage = x.passage(c.event, slope_after);
            const auto complete = [&](OdPassage &passed) { passed.slopes[1] = slope_after; };
            od_look_for_event(task, c, passage, loop.step, verdict, complete);
        }
#endif
        bool lost;
        const bool accepted = od_settle(task, c, made, verdict, loop.whole, lost);
        if (accepted) {
#if OD_RANGES
            c.outside += x.is_outside();
#endif
            x.accept();
            ++loop.age;
        }
        loop.stale = loop.stale || !accepted || loop.age >= OD_RADIUS_EVERY;
        const OdNext next =
            od_proceed(task, c, accepted && loop.whole, lost, status, [&](unsigned saved) { x.save(saved); });
        ended = next == OD_END;
#if OD_RANGES
        // What has come to the end has accepted the step.
        if (ended && od_reaches_end(status) && x.is_impossible()) status = OD_OUTSIDE_BOUNDS;
#endif
        attempt = next == OD_ONWARD;
        if (next == OD_BEGIN) {
            x.move(OD_TO_STATE, real(0));
            loop.at = c.t;
            loop.phase = OD_AT_START;
        }
    }

    bool power = false;
    if (attempt) loop.starting = false;
#if OD_RADIUS_BOUND
    // A bound is as good as an estimate and costs nothing: it is taken anew each time.
    if (find_radius || attempt) {
#if OD_RADIUS_BOUND == 1
        loop.radius = od_radius_bound(task);
#else
        loop.radius = x.radius_bound(c.t);
#endif
        if (find_radius) choose_first = true;
        if (!(od_magnitude(loop.radius) < OD_NOT_FINITE)) loop.radius = od_nan();
        if (attempt && loop.radius < real(0)) {
            od_no_radius(c, status);
            attempt = false;
            ended = true;
        }
    }
#else
    power = find_radius || (attempt && loop.stale);
#endif
    if (choose_first) {
        const real length = od_abs(c.length);
#if OD_PROBE
        if (!c.resumed) {
            const real stable = real(1) / loop.radius;
            const real trial = stable < length ? stable : length;
            loop.step = c.length < real(0) ? -trial : trial;
            x.move(OD_ALONG_SLOPE, loop.step);
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
            power = loop.stale;
#endif
        }
    }
#if !OD_RADIUS_BOUND
    if (power) {
        od_power_start(loop.power, x, od_abs(loop.c.length));
        loop.at = c.t;
        loop.phase = OD_IN_POWER;
    }
#endif
    if (attempt && !power) {
        const real wanted = od_propose(c, loop.whole);
        const OdStable stable = od_stable(task, c.t, wanted, loop.radius);
        loop.step = stable.step;
        loop.valid = stable.valid;
        loop.whole = loop.whole && stable.step == wanted;
        loop.last_stage = (int)stable.stages;
        loop.stage = 2;
        od_chebyshev_start(loop.chebyshev, stable.stages);
        x.begin_stages();
        x.move(OD_ALONG_SLOPE, stable.step * loop.chebyshev.theta[1]);
        loop.at = od_fma(stable.step, loop.chebyshev.theta[1], c.t);
        loop.phase = OD_AT_STAGE;
    }
    if (ended) {
        x.write();
        od_finish(task, c, status);
        loop.phase = OD_IDLE;
    }
}
