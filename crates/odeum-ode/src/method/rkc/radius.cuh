// The spectral radius by the nonlinear power method. The meaning is that of radius.rs, statement for statement.
//
// Every kernel of Runge-Kutta-Chebyshev has the vectors of a system in its own way. `Vectors` gives their Euclidean norms, and moves
// w, where f is evaluated next.

// The Euclidean norm of numbers that `squares` multiplies by a unit and sums the squares of.
template <class Squares> OD_FN real od_euclid(Squares squares) {
    const real plain = squares(real(1));
    const bool large = plain == od_inf(), small = plain < OD_UNDERFLOW;
    if (!(large || small)) return od_sqrt(plain);
    const real unit = large ? OD_REDUCTION : real(1) / OD_REDUCTION;
    return od_sqrt(squares(unit)) / unit;
}

// Where w goes; y is the state, a the scale of a move.
enum OdMove : unsigned {
    OD_STAY,                    // w
    OD_TO_STATE,                // y
    OD_ALONG_SLOPE,             // y + a slope
    OD_ALONG_DIRECTION,         // y + a direction
    OD_ALONG_CHANGE,            // y + a (f - slope)
    OD_ALONG_STATE,             // y + a y
    OD_OFF_ZERO,                // a, where y is zero
    OD_MIRROR                   // y - (w - y), in one component
};

// One component after a move.
OD_FN real od_moved(OdMove move, real a, bool mirrored, real w, real y, real slope, real direction, real f) {
    if (move == OD_STAY) return w;
    if (move == OD_TO_STATE) return y;
    if (move == OD_OFF_ZERO) return a;
    if (move == OD_MIRROR) return mirrored ? y - (w - y) : w;
    const real along = move == OD_ALONG_SLOPE ? slope : move == OD_ALONG_DIRECTION ? direction : move == OD_ALONG_CHANGE ? f - slope : y;
    return od_fma(along, a, y);
}

struct OdPower {
    real sigma, distance;
    int iteration;
};

// Moves w beside the state, in the direction found last.
template <class Vectors> OD_FN void od_power_start(OdPower &power, Vectors &x) {
    const real epsilon = OD_EPSILON, root_epsilon = OD_ROOT_EPSILON;
    const real y_norm = x.norm_of_state(), d_norm = x.norm_of_direction();
    const bool has_y = y_norm > real(0), has_d = d_norm > real(0);
    power.distance = has_y ? y_norm * root_epsilon : epsilon;
    power.sigma = real(0);
    power.iteration = 0;
    x.move(has_d ? OD_ALONG_DIRECTION : has_y ? OD_ALONG_STATE : OD_OFF_ZERO,
           has_d ? power.distance / d_norm : has_y ? root_epsilon : epsilon);
}

enum OdPowerNext { OD_POWER_ON, OD_POWER_FOUND, OD_POWER_FAILED };

// One iteration, with f at w. `longest` is the length of the longest step there can be.
template <class Vectors> OD_FN OdPowerNext od_power_turn(OdPower &power, Vectors &x, real longest) {
    const real change = x.norm_of_change(), before = power.sigma;
    power.sigma = change / power.distance;
    ++power.iteration;
    const real near = OD_SETTLED * od_larger(power.sigma, real(1) / longest);
    if (power.iteration >= 2 && od_abs(power.sigma - before) <= near) {
        x.keep_direction();
        return OD_POWER_FOUND;
    }
    if (power.iteration >= OD_POWER_ITERATIONS) return OD_POWER_FAILED;
    // A direction that f does not feel is left by mirroring one component.
    const bool moves = change > real(0);
    x.move(moves ? OD_ALONG_CHANGE : OD_MIRROR, moves ? power.distance / change : real(0), power.iteration % OD_N);
    return OD_POWER_ON;
}
