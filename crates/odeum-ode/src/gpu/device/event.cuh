// Ends a system where a component crosses its level. The rules and their reasons are those of the CPU
// (cpu/event.rs): false position by real steps, and a look at the cubic for crossings within a step, if it can be trusted.

// What is known of the terminal event that a system approaches.
struct OdApproach {
    bool is_past;               // there is a time beyond the event:
    real beyond, excess;        // the time, and the weighted excess there
    real weight;                // of the excess before the event: halved by each step in a row that goes past
};

// What an attempt did.
struct OdSight {
    bool hit;                   // it stands at the event
    bool overshot;              // it went past, and is to be taken again, shorter
    bool approaches;
    real step;                  // the signed size of the next step, where it approaches
};

struct OdEvent {
    real level;                 // of this system
    OdApproach approach;
    OdSight sight;              // of the last attempt
};

// The component in question over an attempt. Its excess is how far it lies beyond its level: negative before it.
struct OdPassage {
    real before, after;         // excess at both ends
    real middle;                // excess half-way, of a method that tells it; else that at the end
    bool has_middle;
    real slopes[2];             // of its cubic at both ends: of the method's own, or f, at the end only where it is asked for
    real miss;                  // how far it misses the component at the places, or slopes of stages, together, where that is asked for
    real most_miss;             // how far it may, as a fraction of what the component moves; zero where it is not tested
};

// Slopes of a cubic at both ends of a step, times the step.
struct OdCubicSlopes {
    real start, end;
};

// The cubic between the ends of a step that rises by `rise`.
struct OdCubic {
    real start, a, b;
    OD_FN_MEMBER real risen(real theta) const { return od_fma(od_fma(a, theta, b), theta, start) * theta; }
    OD_FN_MEMBER real slope(real theta) const {
        return od_fma(od_fma(real(3) * a, theta, real(2) * b), theta, start);
    }
};

OD_FN OdCubic od_cubic(real rise, const OdCubicSlopes &slopes) {
    const real start = slopes.start, end = slopes.end;
    return OdCubic{start, start + end - real(2) * rise, real(3) * rise - real(2) * start - end};
}

// Number of the component.
OD_FN int od_event_component(const OdTask &task) { return (int)task.event_component; }

OD_FN void od_event_forget(OdEvent &event) {
    event.approach.is_past = false;
    event.approach.beyond = event.approach.excess = real(0);
    event.approach.weight = real(1);
}

OD_FN OdSight od_no_sight() { return OdSight{false, false, false, real(0)}; }

// The passage of the component from `before` to `after`, where f is `slope` at the start.
OD_FN OdPassage od_passage(const OdTask &task, const OdEvent &event, real before, real after, real slope) {
    const real sign = task.event_sign, level = event.level;
    const real excess = sign * (after - level);
    return OdPassage{sign * (before - level), excess, excess, false, {slope, real(0)}, real(0), real(0)};
}

// Adds the value half-way.
OD_FN void od_passes_by(const OdTask &task, const OdEvent &event, OdPassage &passage, real middle) {
    passage.middle = task.event_sign * (middle - event.level);
    passage.has_middle = true;
}

// The tolerance of the component at its level, times `fraction`; what rounding makes of the level is no distance.
OD_FN real od_event_tolerance(const OdTask &task, const OdEvent &event, real fraction) {
    const real level = od_abs(event.level);
    return od_larger(fraction * (task.event_atol + task.rtol * level), real(4) * OD_EPSILON * level);
}

// How far beyond its level a component counts as at it.
OD_FN real od_event_near(const OdTask &task, const OdEvent &event) {
    return od_event_tolerance(task, event, OD_EVENT_FRACTION);
}

// The passage as seen from its start: of a component that is at its level or beyond it excesses are negated, less what counts as
// at the level. Then they, too, are negative at first, and above zero across the level.
OD_FN OdPassage od_across(const OdTask &task, const OdEvent &event, OdPassage passage) {
    if (passage.before < real(0)) return passage;
    const real near = od_event_near(task, event);
    passage.before = -passage.before - near;
    passage.middle = -passage.middle - near;
    passage.after = -passage.after - near;
    passage.slopes[0] = -passage.slopes[0];
    passage.slopes[1] = -passage.slopes[1];
    return passage;
}

// Whether a step of signed size h moves the component as far as its level is away: then f at its end is asked for, or how far the
// cubic misses it.
OD_FN bool od_is_doubtful(const OdTask &task, const OdEvent &event, const OdPassage &passed, real h) {
    const OdPassage passage = od_across(task, event, passed);
    const real steepest = od_larger(od_abs(passage.slopes[0]), od_abs(passage.slopes[1]));
    const real moves = od_abs(steepest * h) + od_abs(passage.after - passage.middle) +
                       od_abs(passage.middle - passage.before);
    const real nearest = od_larger(od_larger(passage.before, passage.middle), passage.after);
    return !event.approach.is_past && nearest + OD_EVENT_BEND * moves >= real(0);
}

// Where in (0, 1) the cubic with values p and q and slopes f and g at 0 and 1, p below zero, has a maximum at or
// above zero after which it falls below zero; zero where there is none.
OD_FN real od_excursion(real p, real q, real f, real g) {
    // p + f x + b x^2 + a x^3, whose derivative is 3a x^2 + 2b x + f.
    const real rise = q - p;
    const real a = f + g - real(2) * rise, b = real(3) * rise - real(2) * f - g;
    const auto value = [&](real x) { return ((a * x + b) * x + f) * x + p; };
    // In units of their size: squares of large states are beyond the range of numbers.
    const real size = od_abs(a) + od_abs(b) + od_abs(f);
    const real discriminant = (b / size) * (b / size) - real(3) * (a / size) * (f / size);
    if (!(discriminant > real(0))) return real(0);
    // The maximum is the root at which the second derivative is negative; both roots in the form that does not cancel.
    const real root = size * od_sqrt(discriminant);
    const real peak = b > real(0) ? -(b + root) / (real(3) * a) : f / (root - b);
    const real trough = b > real(0) ? -f / (b + root) : (root - b) / (real(3) * a);
    const auto inside = [](real x) { return x > real(0) && x < real(1); };
    const bool falls =
        q < real(0) || (inside(trough) && trough > peak && value(trough) < real(0));
    return inside(peak) && value(peak) >= real(0) && falls ? peak : real(0);
}

// Where in a step of signed size h the component crosses the level and comes back, as a fraction, as far as that can be
// told; half-way if it cannot, and zero where it does not.
OD_FN real od_hidden(const OdTask &task, const OdEvent &event, const OdPassage &passed, real h) {
    const OdPassage passage = od_across(task, event, passed);
    const real step = task.event_sign * h;
    const real p = passage.before, q = passage.after;
    const real f = passage.slopes[0] * step, g = passage.slopes[1] * step;
    if (passage.has_middle) {
        const real cubic = (p + q) / real(2) + (f - g) / real(8);
        const real moves = od_abs(passage.middle - p) + od_abs(q - passage.middle);
        const real most = od_larger(OD_EVENT_MISS * (moves + od_abs(f) + od_abs(g)), od_event_tolerance(task, event, real(1)));
        if (od_abs(passage.middle - cubic) > most) return R(0.5);
    }
    if (passage.most_miss > real(0)) {
        const real moves = od_abs(q - p) + od_abs(f) + od_abs(g);
        const real most = od_larger(passage.most_miss * moves, od_event_tolerance(task, event, real(1)));
        // What is no number is no small miss.
        if (!(passage.miss <= most)) return R(0.5);
    }
    return od_excursion(p, q, f, g);
}

// The size that is aimed at, with the sign of `length`. A step that does not move the time finds nothing; half of the least is
// below it in spite of rounding.
OD_FN real od_aim_at(real aimed, real least, real length) {
    const real size = od_larger(od_abs(aimed), real(0.5) * least);
    return length < real(0) ? -size : size;
}

// Looks at an attempt of signed size h that passed the error test, from time t to t_new.
OD_FN void od_look(const OdTask &task, OdEvent &event, const OdPassage &passage, bool doubtful, real h,
                   real t, real t_new) {
    OdSight &sight = event.sight;
    OdApproach &approach = event.approach;
    const real before = passage.before, after = passage.after, length = t_new - t;
    const real least = real(4) * OD_EPSILON * od_larger(od_abs(t), od_abs(t_new));
    // Of so few roundings of the time a part may be rounded to the whole again; no level is looked for within.
    const bool is_short = od_abs(length) <= real(4) * least;
    const real fraction = doubtful && !is_short ? od_hidden(task, event, passage, h) : real(0);
    if (fraction > real(0)) {
        sight.approaches = sight.overshot = true;
        sight.step = od_aim_at(length * (fraction < OD_EVENT_SHORTER ? fraction : OD_EVENT_SHORTER), least, length);
        return;
    }
    if (before >= real(0) || (after < real(0) && !approach.is_past)) return;
    const real near = od_event_near(task, event);
    if (after >= real(0) && (after <= near || od_abs(length) <= least)) {
        sight.hit = true;
        return;
    }
    // Excess over the middle of what counts as reached.
    const real from = before - real(0.5) * near, to = after - real(0.5) * near;
    real aimed;
    if (after >= real(0)) {
        sight.overshot = true;
        const real weighed = from * approach.weight;
        approach = OdApproach{true, t_new, to, real(0.5) * approach.weight};
        aimed = length * (weighed / (weighed - to));
    } else if (od_abs(approach.beyond - t_new) > least) {
        aimed = (approach.beyond - t_new) * (to / (to - approach.excess));
        approach.weight = real(1);
        approach.excess = real(0.5) * approach.excess;
    } else {
        od_event_forget(event);
        return;
    }
    sight.approaches = true;
    sight.step = od_aim_at(aimed, least, length);
}

// The next step h; where the system approaches, the one that is aimed.
OD_FN real od_aimed(const OdSight &sight, real h) { return sight.approaches ? sight.step : h; }
