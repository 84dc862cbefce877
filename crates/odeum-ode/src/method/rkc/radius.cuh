// The spectral radius by the nonlinear power method. The meaning is that of radius.rs, statement for statement.
//
// Every kernel of Runge-Kutta-Chebyshev has the vectors of a system in its own way. `Vectors` measures them, and moves d: f is
// evaluated next at y + d, beside the state y.

// The Euclidean norm of numbers that `squares` multiplies by a unit and sums the squares of.
template <class Squares> OD_FN real od_euclid(Squares squares) {
    const real plain = squares(real(1));
    const bool large = plain == od_inf(), small = plain < OD_UNDERFLOW;
    if (!(large || small)) return od_sqrt(plain);
    const real unit = large ? OD_REDUCTION : real(1) / OD_REDUCTION;
    return od_sqrt(squares(unit)) / unit;
}

// Where y + d goes; a is the scale of a move.
enum OdMove : unsigned {
    OD_STAY,                    // nowhere
    OD_TO_STATE,                // to y
    OD_ALONG_SLOPE,             // to y + a slope
    OD_ALONG_CHANGE,            // to y + a (f - slope)
    OD_ALONG_ALL,               // to y + a direction, and a part of every component
    OD_MIRROR,                  // to the other side of y
    OD_MIRROR_ONE               // the same in one component
};

// One component of d after a move; `mirrored` says whether it is the one.
OD_FN real od_moved(const OdTask &task, OdMove move, real a, int i, bool mirrored, real d, real y, real slope, real direction, real f) {
    if (move == OD_STAY) return d;
    if (move == OD_TO_STATE) return real(0);
    if (move == OD_MIRROR || move == OD_MIRROR_ONE) return mirrored || move == OD_MIRROR ? y - (y + d) : d;
    if (move == OD_ALONG_ALL) {
        const real part = od_larger(od_abs(y) * OD_PART_OF_STATE, od_atol(task, i)) * real(0.5);
        return od_fma(direction, a, __popc(i) % 2 == 1 ? -part : part);
    }
    return (move == OD_ALONG_SLOPE ? slope : f - slope) * a;
}

struct OdPower {
    real sigma;
    int iteration, turns;
    bool mirrored;
};

// The largest of the components of a state, of f there and of the tolerances, each with its share of a direction.
struct OdAlong {
    real state, slope, atol;
};

OD_FN real od_of_span(const OdAlong &along, real longest) { return along.slope * (OD_SPAN_EPSILONS * OD_EPSILON) * longest; }
OD_FN real od_distance(const OdAlong &along, real longest) {
    const real of_span = od_of_span(along, longest);
    return od_larger(along.state * OD_PART_OF_STATE, of_span < along.atol ? of_span : along.atol);
}

// What a direction d is multiplied by, for a move. `along` measures with the shares |d| a; or, with a = 0, all components alike.
template <class Along> OD_FN real od_stretch(real most, real longest, Along along) {
    if (!(most > real(0))) return real(0);
    real distance = od_distance(along(real(1) / most), longest);
    if (!(distance > OD_UNDERFLOW)) {
        // The direction is one of components without a scale: that of all stands in.
        const OdAlong all = along(real(0));
        distance = od_distance(all, longest);
        if (!(distance > OD_UNDERFLOW)) distance = od_larger(od_of_span(all, longest), OD_EPSILON);
    }
    return distance / most;
}

// Moves beside the state, in the direction found last and in every component.
template <class Vectors> OD_FN void od_power_start(OdPower &power, Vectors &x, real longest) {
    power.sigma = real(0);
    power.iteration = power.turns = 0;
    power.mirrored = false;
    x.move(OD_ALONG_ALL, x.stretch_of_direction(longest));
}

enum OdPowerNext { OD_POWER_ON, OD_POWER_FOUND, OD_POWER_FAILED };

// One iteration, with f at y + d. `longest` is the length of the longest step there can be.
template <class Vectors> OD_FN OdPowerNext od_power_turn(OdPower &power, Vectors &x, real longest) {
    const real change = x.norm_of_change(), before = power.sigma;
    const bool finite = change < od_inf(), nowhere = !finite && power.mirrored;
    if (finite || nowhere) power.sigma = change / x.norm_of_move();
    // Where f ends on one side of the state it may go on on the other; where it ends on both there is no radius.
    if (nowhere) return OD_POWER_FAILED;
    power.mirrored = !finite;
    power.turns += finite;
    ++power.iteration;
    const real near = OD_SETTLED * od_larger(power.sigma, real(1) / longest);
    if (finite && power.turns >= OD_LEAST_ITERATIONS && od_abs(power.sigma - before) <= near) {
        x.keep_direction();
        return OD_POWER_FOUND;
    }
    if (power.iteration >= OD_POWER_ITERATIONS) return OD_POWER_FAILED;
    // A direction that f does not feel is left by mirroring one component.
    const bool moves = finite && change > real(0);
    real stretch = real(0);
    if (moves) {
        // On the side of the state where y + d is.
        stretch = x.stretch_of_change(longest);
        if (x.cosine_of_change(change) < real(0)) stretch = -stretch;
    }
    x.move(moves ? OD_ALONG_CHANGE : finite ? OD_MIRROR_ONE : OD_MIRROR, stretch, power.iteration % OD_N);
    return OD_POWER_ON;
}
