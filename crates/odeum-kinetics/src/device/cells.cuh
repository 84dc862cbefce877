// Cells of a flow code, in arrays on the device: kernels that make states of reactors of them, and give new ones back. The
// rules are those of the host (reactor/state.rs), operation by operation. Generated before this file: OD_CELLS_SPECIES,
// OD_GAS_CONSTANT, OD_GAS_AT_VOLUME, the bounds and tolerances, od_cells_slack, od_cells_recip_weight.

struct OdCells {
    real *t, *p, *y;            // p null: `pressure` is that of all
    real pressure;
    // From a cell to the next [numbers]; of mass fractions also from a species to the next.
    long long t_stride, p_stride, y_stride, species_stride;
    unsigned long long updates_p;
    real margin;                // how far outside the thermodynamic data a cell may start [K]
};

OD_FN real *od_cells_y(const OdCells &c, unsigned s, int k) {
    return c.y + (long long)s * c.y_stride + (long long)k * c.species_stride;
}

// Tells of the number `place` of a cell (temperature, pressure, mass fractions) where it is NaN (0), or infinity (1: above, 2:
// below zero).
OD_FN bool od_cells_tell(const OdResident &r, unsigned s, int place, real x) {
    if (od_magnitude(x) < OD_NOT_FINITE) return false;
    const unsigned long long number = (unsigned long long)s * (OD_CELLS_SPECIES + 2) + place;
    od_tell(r, 3 * number + (x != x ? 0 : x > real(0) ? 1 : 2));
    return true;
}

// Tells how far outside the data a cell came, if steps of it ended there. The host gets the largest of all: bits of numbers
// that are not negative have their order.
OD_FN void od_cells_tell_beyond(const OdResident &r, unsigned s, double beyond) {
    if (r.stats[s].outside == 0) return;
    const unsigned high = __double2hiint(beyond), low = __double2loint(beyond);
    od_tell(r, ~(((unsigned long long)high << 32 | low) + 1));
}

// Scales fractions to sum to one; false where one is negative, or their sum is not near one.
OD_FN bool od_cells_scale(real *y, size_t stride, real tolerance) {
    real sum = real(0);
    bool sound = true;
    for (int k = 0; k < OD_CELLS_SPECIES; ++k) {
        const real x = y[k * stride];
        sound = sound && x >= real(0);
        sum = sum + x;
    }
    if (!sound || !(od_abs(sum - real(1)) <= tolerance)) return false;
    for (int k = 0; k < OD_CELLS_SPECIES; ++k) y[k * stride] = y[k * stride] / sum;
    return true;
}

// Fractions that are those of a gas, or that transport left a little beside one.
OD_FN bool od_cells_mend(real *y, size_t stride) {
    if (od_cells_scale(y, stride, OD_CELLS_SUM)) return true;
    for (int k = 0; k < OD_CELLS_SPECIES; ++k) {
        const real x = y[k * stride];
        if (x < real(0) && x >= -od_cells_slack[k]) y[k * stride] = real(0);
    }
    return od_cells_scale(y, stride, OD_CELLS_GIVEN_SUM) && od_cells_scale(y, stride, OD_CELLS_SUM);
}

// A cell that is no gas gets NaN. What is not finite is told, or else the first cell that is too cold or too hot.
extern "C" __global__ void __launch_bounds__(OD_EXCHANGE_BLOCK)
od_cells_to_states(const OdResident r, const OdCells c) {
    const unsigned s = od_own_system();
    if (s >= r.n_systems) return;
    const size_t stride = r.n_systems;
    real *state = r.states + s;
    const real t = c.t[(long long)s * c.t_stride];
    const real p = c.p ? c.p[(long long)s * c.p_stride] : c.pressure;
    bool told = od_cells_tell(r, s, 0, t) || od_cells_tell(r, s, 1, p);
    for (int k = 0; k < OD_CELLS_SPECIES; ++k) {
        const real y = *od_cells_y(c, s, k);
        told = told || od_cells_tell(r, s, k + 2, y);
        state[(k + 1) * stride] = y;
    }
    const bool held = t > real(0) && t >= OD_CELLS_LOWEST - c.margin && t <= OD_CELLS_HIGHEST + c.margin;
    if (!told && !held) od_tell(r, OD_CELLS_OUTSIDE | s);
    if (told || !held || !(p > real(0)) || !od_cells_mend(state + stride, stride)) {
        for (int i = 0; i < OD_CELLS_SPECIES + 2; ++i) state[i * stride] = od_nan();
        r.params[s] = od_nan();
        return;
    }
    real m = real(0);
    for (int k = 0; k < OD_CELLS_SPECIES; ++k) m = m + state[(k + 1) * stride] * od_cells_recip_weight[k];
    state[0] = t;
    state[(OD_CELLS_SPECIES + 1) * stride] = m;
    r.params[s] = OD_GAS_AT_VOLUME ? p / (OD_GAS_CONSTANT * t * m) : p;
}

// Cells that failed keep what they have, and begin anew when they are tried again. How far outside the data any came is told.
extern "C" __global__ void __launch_bounds__(OD_EXCHANGE_BLOCK)
od_states_to_cells(const OdResident r, const OdCells c) {
    const unsigned s = od_own_system();
    if (s >= r.n_systems) return;
    const size_t stride = r.n_systems;
    const real *state = r.states + s;
    const real param = r.params[s];
    if (param != param) {
        r.status[s] = OD_INVALID_START;
        r.stats[s] = OdStats{};
    }
    if (r.status[s] != OD_SUCCESS) {
        if (r.steps) r.steps[s] = real(0);
        od_cells_tell_beyond(r, s, 0);
        return;
    }
    const real t = state[0], m = state[(OD_CELLS_SPECIES + 1) * stride];
    const real below = OD_CELLS_LOWEST - t, above = t - OD_CELLS_HIGHEST;
    od_cells_tell_beyond(r, s, below > real(0) ? below : above > real(0) ? above : real(0));
    c.t[(long long)s * c.t_stride] = t;
    for (int k = 0; k < OD_CELLS_SPECIES; ++k) *od_cells_y(c, s, k) = state[(k + 1) * stride];
    if (c.updates_p && c.p) c.p[(long long)s * c.p_stride] = OD_GAS_AT_VOLUME ? param * (OD_GAS_CONSTANT * t * m) : param;
}
