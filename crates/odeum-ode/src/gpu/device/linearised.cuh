// What implicit methods share: f and its derivatives, solves with the factors of the iteration matrix, the first step.

// f and its derivatives at the state: `slope` and `jacobian()` of the memory, and `rate`. `moved`: f has not been
// evaluated there.
OD_FN void od_linearise(OdStepLoop &c, OdSystem &x, OdMemory &memory, bool moved = true) {
    const OdGroup &g = x.g;
    OD_GROUP_BARRIER();
#if OD_BY_DIFFERENCES
    od_evaluate_by_differences(g, c.t, memory, x.y, x.p);
    c.nfev += OD_COLUMN_GROUPS + OD_GROUP_USES_TIME;
#else
    OD_OWN(e, i) memory.state[i] = x.y[e];
    OD_GROUP_BARRIER();
    od_group_linearise(g, c.t, memory.state, x.p, memory.slope, memory.matrices().jacobian());
#if OD_GROUP_USES_TIME
    od_group_time_derivative(g, c.t, memory.state, x.p, memory.rate);
#endif
#endif
#if OD_GROUP_USES_TIME
    OD_OWN(e, i) x.rate[e] = memory.rate[i];
#endif
    od_keep_event_slope(x, memory);
    c.nfev += moved;
    ++c.njev;
}

#if OD_FACTOR_COLUMNS > 0
// Entries in a column.
#define OD_ENTRIES_OF_COLUMN (sizeof(real) / sizeof(od_entry))
#endif

// The first of the factors in `matrix` go to columns, from where od_solve reads them.
OD_FN void od_keep_factors(OdMemory &memory) {
#if OD_FACTOR_COLUMNS > 0
#pragma unroll
    for (int k = 0; k < OD_FACTOR_COLUMNS; ++k) {
        real both;
        memcpy(&both, memory.matrices().matrix + k * OD_ENTRIES_OF_COLUMN, sizeof(real));
        od_spill(OD_STAGE_COLUMNS + OD_STATE_COLUMNS + k, both);
    }
#endif
}

// Solves with the factors in `matrix`, or where od_keep_factors has put them: b becomes the solution.
OD_FN void od_solve(const OdSystem &x, OdMemory &memory, real (&b)[OD_EACH]) {
    const OdGroup &g = x.g;
    OD_OWN(e, i) memory.x[od_rhs_place(g, i)] = od_entry(b[e]);
    OD_GROUP_BARRIER();
#if OD_FACTOR_COLUMNS > 0
#pragma unroll
    for (int k = 0; k < OD_FACTOR_COLUMNS; ++k) {
        const real both = od_reload(OD_STAGE_COLUMNS + OD_STATE_COLUMNS + k);
        memcpy(memory.matrices().matrix + k * OD_ENTRIES_OF_COLUMN, &both, sizeof(real));
    }
#endif
    od_group_solve(g, memory.matrices().matrix, memory.x);
    OD_OWN(e, i) b[e] = real(memory.x[od_solution_place(g, i)]);
}

#if OD_COMPLEX
// The same with the factors of the complex matrix. Right-hand sides of both types have the same memory.
OD_FN void od_solve_complex(const OdSystem &x, OdMemory &memory, real (&re)[OD_EACH],
                            real (&im)[OD_EACH]) {
    const OdGroup &g = x.g;
    OD_GROUP_BARRIER();
    OD_OWN(e, i) {
        memory.complex_x[od_rhs_place(g, i)] = OdComplex(od_entry(re[e]), od_entry(im[e]));
    }
    OD_GROUP_BARRIER();
    od_group_solve(g, memory.matrices().complex, memory.complex_x);
    OD_OWN(e, i) {
        const OdComplex solution = memory.complex_x[od_solution_place(g, i)];
        re[e] = real(solution.re);
        im[e] = real(solution.im);
    }
    OD_GROUP_BARRIER();
}
#endif

#if OD_EVENT
// How far the cubic of the method misses each component at a fraction theta of its step to the state `after`: what it leaves of the
// equation, through the factors in `matrix`.
template <class Method>
OD_FN void od_cubic_misses(OdStepLoop &c, const OdSystem &x, OdMemory &memory, const Method &method,
                           const real (&after)[OD_EACH], real step, real theta, real (&misses)[OD_EACH]) {
    const OdGroup &g = x.g;
    real state[OD_EACH];
    OD_UNROLL_OWN
    for (int e = 0; e < OD_EACH; ++e) {
        const OdCubic cubic = od_cubic(after[e] - x.y[e], method.cubic(e));
        state[e] = x.y[e] + cubic.risen(theta);
        misses[e] = cubic.slope(theta) / step;
    }
    od_evaluate(c, x, memory, od_fma(theta, step, c.t), state);
    OD_OWN(e, i) misses[e] = memory.slope[i] - misses[e];
    od_solve(x, memory, misses);
}
#endif

// Whether f and its derivatives are numbers: -J, not its factors.
OD_FN bool od_is_finite(const OdSystem &x, OdMemory &memory) {
    const OdGroup &g = x.g;
    real sum = real(0);
    OD_OWN(e, i) sum = od_fma(memory.slope[i], real(0), sum);
#if OD_GROUP_USES_TIME
    OD_OWN(e, i) sum = od_fma(x.rate[e], real(0), sum);
#endif
    od_entry entries = od_entry(0);
    OD_UNROLL_OWN
    for (unsigned e = g.slot; e < OD_JACOBIAN_ENTRIES; e += OD_WIDTH) {
        const od_entry entry = memory.matrices().jacobian()[e];
        if (e != OD_MATRIX_UNUSED) entries = od_minus_product(entries, entry, od_entry(0));
    }
    return !od_group_any(g, sum != real(0) || entries != od_entry(0));
}

#if OD_PROBE
// The size of the first step, from f and its derivatives. Hairer, Norsett & Wanner I, sec. II.4, with the curvature
// y'' = J f + df/dt, as first_step.rs has it.
OD_FN real od_first_size(const OdTask &task, const OdStepLoop &c, const OdSystem &x,
                         OdMemory &memory) {
    const OdGroup &g = x.g;
    real second[OD_EACH];
    od_group_product<od_entry>(g, memory.matrices().jacobian(), memory.slope, second);
    // The matrix may change from here on.
    OD_GROUP_BARRIER();
    OdNorm state, slope, curvature;
    od_norm_clear(state);
    od_norm_clear(slope);
    od_norm_clear(curvature);
    OD_OWN(e, i) {
        const real y = x.y[e], f = memory.slope[i];
        const real weight = od_weight(task, i, y, y, c.length * f);
#if OD_GROUP_USES_TIME
        second[e] = second[e] + x.rate[e];
#endif
        od_norm_ratio(state, y * weight);
        od_norm_ratio(slope, f * weight);
        od_norm_ratio(curvature, second[e] * weight);
    }
#if OD_WIDTH == 1
    OD_CONSTANT_STATES(i) {
        const real y = memory.state[i];
        od_norm_ratio(state, y * od_weight(task, i, y, y, real(0)));
    }
#endif
    const real length = od_abs(c.length);
    const auto norm = [&](OdNorm &n) { return od_norm_of_size(od_group_norm(task, g, n)); };
    const real d0 = norm(state), d1 = od_first_norm(norm(slope)), bend = norm(curvature);
    // J f of very fast reactions is beyond single precision, though J is not. Then the slope alone bounds the step.
    const real curved = sizeof(od_entry) < sizeof(real) ? bend : od_first_norm(bend);
    const bool small = d0 < OD_SMALL || d1 < OD_SMALL;
    real h0 = small ? OD_TINY_STEP : OD_GUESS * d0 / d1;
    h0 = h0 < length ? h0 : length;
    // Whatever is not a positive finite number (a slope that is not finite) becomes the tiny step.
    h0 = h0 > real(0) ? h0 : OD_TINY_STEP;
    // Of a Jacobian that is not a number the step itself will say so.
    const real steepest = od_larger(d1, curved < od_inf() ? curved : d1);
    const real exponent = real(-1) / real(OD_ERROR_ORDER + 1);
    const real by_slope = od_exp(od_ln(steepest * OD_LONGER) * exponent);
    const real flat = od_larger(OD_TINY_STEP, h0 * OD_FLAT_FRACTION);
    const real h1 = steepest <= OD_FLAT ? flat : by_slope;
    const real cap = h0 * OD_LONGER;
    return od_moving(h1 < cap ? h1 : cap, c.t);
}
#endif
