// Explicit Runge-Kutta pairs on a GPU: what the kernels share.
//
// Equation, method, order and reference: mod.rs beside this file.
//
// A system of second order written as one of first order has components with x_i' = v_j exactly.
// The slopes of such a "paired component" i of j are the stage states of j, so they are not stored: with
// A2 = A A, b2 = b A and e2 = e A,
//   X_s = x + h c_s v + h^2 sum_m A2_sm k_m,   x+ = x + h v + h^2 sum_m b2_m k_m,
//   error of x = h^2 sum_m e2_m k_m
// with the stored slopes k of v. That halves the storage and most of the arithmetic.
//
// Generated before this file: OD_STAGES, OD_FSAL, OD_ERROR_ORDER, the coefficient functions
// od_a(s, m), od_a2(s, m), od_c(s), od_b(m), od_b2, od_e, od_e2, and the map of the components:
//   OD_SLOTS            stored slopes
//   od_component(q)     component j whose slope is stored in slot q
//   od_paired(q)        component i with x_i' = y_j, or -1
//   od_closes_group(q)  true when slot q is the last of its group (norm.cuh)
//   OD_FULL_STAGES      0 when the right-hand side reads no component that has a stored slope

// How many slopes the state of stage s is made of. A2_{s,s-1} = 0: the last slope before a stage
// is not needed when only paired components are read.
OD_FN int od_stage_end(int s) { return OD_FULL_STAGES || (OD_PROBE && s == 1) ? s : s - 1; }

// The coefficients of a stage. Where a first step is probed for, stage 1 is the end of an Euler
// step instead.
OD_FN real od_reach(int s, bool euler) { return s == 1 && euler ? real(1) : od_c(s); }
OD_FN real od_fraction(int s, int m, bool euler) { return s == 1 && euler ? real(1) : od_a(s, m); }

// The state at a stage of the component of one slot, and of its paired component.
struct OdPair {
    real y, paired;
};

// Sums over the stages for one slot, without powers of h: of the new state and of the error.
struct OdSums {
    real y, error, paired, paired_error;
};

// Adds the slope k of stage m. Coefficients that are zero are left out at compile time.
// A fixed step is accepted when everything is finite: the last slope stands for the error.
template <bool HAS_PAIRED> OD_FN void od_sum_stage(OdSums &s, int m, real k) {
    const bool judged = OD_LAW != OD_LAW_FIXED;
    if (!OD_FSAL && od_b(m) != real(0)) s.y = od_fma(od_b(m), k, s.y);
    if (judged && od_e(m) != real(0)) s.error = od_fma(od_e(m), k, s.error);
    if (!judged && m == OD_STAGES - 1) s.error = k;
    if (HAS_PAIRED) {
        if (!OD_FSAL && od_b2(m) != real(0)) s.paired = od_fma(od_b2(m), k, s.paired);
        if (judged && od_e2(m) != real(0)) s.paired_error = od_fma(od_e2(m), k, s.paired_error);
    }
}

// From the sums to the new state of a slot, adding its error to the norm. `last` is the state at
// the last stage, which is the new state for a pair with OD_FSAL. k0 is the slope at the start.
template <bool HAS_PAIRED>
OD_FN OdPair od_close_slot(const OdTask &task, OdNorm &norm, int component, int paired,
                           const OdSums &sums, OdPair y, OdPair last, real k0, real h) {
    OdPair after = last;
    if (!OD_FSAL) after.y = od_fma(h, sums.y, y.y);
    const real error = h * sums.error;
    if (OD_LAW != OD_LAW_FIXED) {
        const real weight = od_weight(task, component, y.y, after.y, h * k0);
        od_norm_ratio(norm, error * weight);
    }
    od_norm_finite(norm, after.y);
    od_norm_finite(norm, error);
    if (HAS_PAIRED) {
        const real step = h * y.y;
        if (!OD_FSAL) after.paired = od_fma(h, od_fma(h, sums.paired, y.y), y.paired);
        const real paired_error = h * (h * sums.paired_error);
        if (OD_LAW != OD_LAW_FIXED) {
            const real paired_weight = od_weight(task, paired, y.paired, after.paired, step);
            od_norm_ratio(norm, paired_error * paired_weight);
        }
        od_norm_finite(norm, after.paired);
        od_norm_finite(norm, paired_error);
    }
    return after;
}

#if OD_PROBE
// The automatic first step (stepper.rs; Hairer, Norsett & Wanner I, sec. II.4), in two parts:
// the size of the Euler step that probes the slope's change, and the step that follows from it.
struct OdStart {
    OdNorm state, slope, change;
};

OD_FN void od_start_clear(OdStart &s) {
    od_norm_clear(s.state);
    od_norm_clear(s.slope);
    od_norm_clear(s.change);
}

// Adds a component: its state, its slope, and for the second part the slope at the probe.
OD_FN void od_start_add(const OdTask &task, OdStart &s, int i, real y, real f, real probe,
                        real length) {
    const real weight = od_weight(task, i, y, y, length * f);
    od_norm_ratio(s.state, y * weight);
    od_norm_ratio(s.slope, f * weight);
    od_norm_ratio(s.change, (probe - f) * weight);
}

OD_FN void od_start_close_group(OdStart &s) {
    od_norm_close_group(s.state);
    od_norm_close_group(s.slope);
    od_norm_close_group(s.change);
}

OD_FN real od_start_norm(const OdTask &task, const OdNorm &n) {
    const real size = od_norm_size(task, n);
    return OD_NORM == OD_NORM_RMS ? od_sqrt(size) : size;
}

// The signed size of the probing step.
OD_FN real od_probe_step(const OdTask &task, const OdStart &s, real length) {
    const real d0 = od_start_norm(task, s.state), d1 = od_first_norm(od_start_norm(task, s.slope));
    const bool small = d0 < OD_SMALL || d1 < OD_SMALL;
    real h0 = small ? OD_TINY_STEP : OD_GUESS * d0 / d1;
    h0 = h0 < od_abs(length) ? h0 : od_abs(length);
    // Whatever is not a positive finite number (a non-finite slope) becomes the tiny step.
    h0 = h0 > real(0) ? h0 : OD_TINY_STEP;
    return length < real(0) ? -h0 : h0;
}

// The size of the first step from t after a probing step of signed size h0.
OD_FN real od_automatic_step(const OdTask &task, const OdStart &s, real t, real h0) {
    const real size = od_abs(h0);
    const real slope = od_first_norm(od_start_norm(task, s.slope));
    const real curvature = od_start_norm(task, s.change) / size;
    const real steepest = od_larger(slope, curvature < od_inf() ? curvature : slope);
    const real exponent = real(-1) / real(OD_ERROR_ORDER + 1);
    const real by_slope = od_exp(od_ln(steepest * OD_LONGER) * exponent);
    const real flat = od_larger(OD_TINY_STEP, size * OD_FLAT_FRACTION);
    const real h1 = steepest <= OD_FLAT ? flat : by_slope;
    const real cap = size * OD_LONGER;
    return od_moving(h1 < cap ? h1 : cap, t);
}
#endif
