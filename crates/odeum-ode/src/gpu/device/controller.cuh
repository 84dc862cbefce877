// Step-size control: the laws of controller.rs, with the same constants and the same answers to
// NaN. Logarithms are to base 2 and in float: step sizes agree with the host's to six digits.

#define OD_LAW_FIXED 0
#define OD_LAW_I 1
#define OD_LAW_PI 2
#define OD_LAW_PID 3
#define OD_LAW_PREDICTIVE 4

struct OdControl {
    float before, earlier;      // log2 of the errors of the last two accepted steps
    real last_h;                // zero when there was none
    bool was_rejected;
};

OD_FN void od_control_reset(OdControl &c) {
    c.before = c.earlier = 0.0f;
    c.last_h = real(0);
    c.was_rejected = false;
}

// The error norm, from what the norm's accumulation left: for OD_NORM_RMS its square.
#if OD_NORM == OD_NORM_RMS
#define OD_ERROR_POWER 0.5f
#define OD_LEAST_SIZE (OD_LEAST_ERROR * OD_LEAST_ERROR)
#else
#define OD_ERROR_POWER 1.0f
#define OD_LEAST_SIZE OD_LEAST_ERROR
#endif

// Judges an attempt of size h whose error norm (to the power 1 / OD_ERROR_POWER) is `size`, NaN
// when the new state is not finite. True when accepted; `factor` leads to the next step.
OD_FN bool od_judge(const OdTask &task, OdControl &c, real h, real size, real &factor) {
#if OD_LAW == OD_LAW_FIXED
    // An infinite error is that of a finite state whose square overflows.
    const bool accepted = size == size;
    factor = accepted ? real(1) : real(0);
    return accepted;
#else
    const bool accepted = size <= real(1);
    const bool finite = od_magnitude(size) < OD_NOT_FINITE;
    // Beyond 1e30 the factor is at its floor whatever the law.
    const real bounded = size < real(1e30) ? size : real(1e30);
    const real counted = bounded < real(OD_LEAST_SIZE) ? real(OD_LEAST_SIZE) : bounded;
    const float now = OD_ERROR_POWER * od_log2(counted);
    const float k = 1.0f / float(OD_ERROR_ORDER + 1);
    float exponent;
#if OD_LAW == OD_LAW_I
    exponent = now * (accepted ? -k : -1.0f / float(OD_ERROR_ORDER));
#elif OD_LAW == OD_LAW_PREDICTIVE
    if (accepted && c.last_h != real(0)) {
        const float ratio = od_log2(od_abs(h / c.last_h));
        exponent = (c.before - 2.0f * now) * k + ratio;
    } else {
        exponent = -k * now;
    }
#else
    const float history = OD_EXPONENT_1 * c.before + OD_EXPONENT_2 * c.earlier;
    exponent = accepted ? k * (OD_EXPONENT_0 * now + history) : -k * now;
#endif
    const real wanted = task.safety * od_exp2(exponent);
    // Growth right after a rejection is for the elementary law alone, which has no memory.
    const bool held = OD_LAW != OD_LAW_I && c.was_rejected;
    const real ceiling = held ? real(1) : task.max_factor;
    real f = wanted > task.min_factor ? wanted : task.min_factor;
    f = f < ceiling ? f : ceiling;
    factor = finite ? f : task.min_factor;
    if (accepted) {
        c.earlier = c.before;
        c.before = now;
        c.last_h = h;
    }
    c.was_rejected = !accepted;
    return accepted;
#endif
}
