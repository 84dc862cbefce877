// Error norms (tolerance.rs), accumulated component by component.
//
// Components come in groups, and the square sum is the sum of the groups' sums: the kernel that
// gives each group to a warp then has the same bits as the one that gives a system to a thread.
// There is no division: 1 / scale is taken to 12 digits.

#define OD_NORM_RMS 0
#define OD_NORM_STATE_AND_RATE 1

struct OdNorm {
    real part;                  // of the present group
    real total;                 // of the groups before
    int magnitude;              // largest of new states and errors, see od_magnitude
};

OD_FN void od_norm_clear(OdNorm &n) {
    n.part = n.total = real(0);
    n.magnitude = 0;
}

OD_FN real od_atol(const OdTask &task, int i) {
#if OD_ATOL_EACH
    return __ldg(task.atol + i);
#else
    return task.atol0;
#endif
}

// 1 / scale of a component; `slope_step` is h f there, for OD_NORM_STATE_AND_SLOPE.
OD_FN real od_weight(const OdTask &task, int i, real before, real after, real slope_step) {
#if OD_NORM == OD_NORM_RMS
    const real larger = od_larger(od_abs(before), od_abs(after));
    return od_near_recip(od_fma(larger, task.rtol, od_atol(task, i)));
#else
    // rtol is taken out of the sum: see od_norm_size.
    return od_near_recip(od_abs(before) + od_abs(slope_step) + OD_TINY);
#endif
}

// What a component may err by in the state y, whatever it was before and its slope; without rtol as above.
OD_FN real od_scale_at(const OdTask &task, int i, real y) {
#if OD_NORM == OD_NORM_RMS
    return od_fma(od_abs(y), task.rtol, od_atol(task, i));
#else
    return od_abs(y) + OD_TINY;
#endif
}

// Adds one weighted error.
OD_FN void od_norm_ratio(OdNorm &n, real ratio) {
#if OD_NORM == OD_NORM_RMS
    n.part = od_fma(ratio, ratio, n.part);
#else
    n.part = od_larger(n.part, od_abs(ratio));
#endif
}

OD_FN void od_norm_finite(OdNorm &n, real x) {
    const int magnitude = od_magnitude(x);
    n.magnitude = magnitude > n.magnitude ? magnitude : n.magnitude;
}

OD_FN void od_norm_close_group(OdNorm &n) {
#if OD_NORM == OD_NORM_RMS
    n.total = n.total + n.part;
#else
    n.total = od_larger(n.total, n.part);
#endif
    n.part = real(0);
}

// The norm, or its square (see OD_ERROR_POWER); NaN unless all new states and errors are finite.
OD_FN real od_norm_size(const OdTask &task, const OdNorm &n) {
#if OD_NORM == OD_NORM_RMS
    const real size = n.total * (real(1) / real(OD_N));
#else
    const real size = n.total * od_near_recip(task.rtol);
#endif
    return n.magnitude < OD_NOT_FINITE ? size : od_nan();
}

// The norm itself from what od_norm_size gives, and back.
#if OD_NORM == OD_NORM_RMS
OD_FN real od_norm_of_size(real size) { return od_sqrt(size); }
OD_FN real od_size_of_norm(real norm) { return norm * norm; }
#else
OD_FN real od_norm_of_size(real size) { return size; }
OD_FN real od_size_of_norm(real norm) { return norm; }
#endif
