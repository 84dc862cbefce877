// What the kernels of Runge-Kutta-Chebyshev share: the recurrence of the coefficients, the number of stages, the first step.
// The meaning is that of recurrence.rs and stepper.rs, statement for statement.

// The Chebyshev recurrence: values at the last two stages.
struct OdRecurrence {
    real w0, w1;
    real z[2], dz[2], ddz[2];   // T_j(w0) and its derivatives
    real b[2], theta[2];        // stage times as shares of the step
};

// Coefficients of the next stage.
struct OdStage {
    real mu, nu, mu_tilde, a;
};

OD_FN void od_chebyshev_start(OdRecurrence &c, real stages) {
    c.w0 = real(1) + OD_DAMPING / (stages * stages);
    const real excess = c.w0 * c.w0 - real(1);
    const real root = od_sqrt(excess);
    const real angle = stages * od_ln(c.w0 + root);
    const real sinh = od_sinh(angle), cosh = od_cosh(angle);
    c.w1 = sinh * excess / (cosh * stages * root - c.w0 * sinh);
    c.b[0] = c.b[1] = real(1) / (real(4) * c.w0 * c.w0);
    c.z[0] = real(1), c.z[1] = c.w0;
    c.dz[0] = real(0), c.dz[1] = real(1);
    c.ddz[0] = c.ddz[1] = real(0);
    c.theta[0] = real(0), c.theta[1] = c.w1 * c.b[1];
}

OD_FN OdStage od_chebyshev_next(OdRecurrence &c) {
    const real twice = real(2) * c.w0;
    const real z = twice * c.z[1] - c.z[0];
    const real dz = twice * c.dz[1] - c.dz[0] + real(2) * c.z[1];
    const real ddz = twice * c.ddz[1] - c.ddz[0] + real(4) * c.dz[1];
    const real b = ddz / (dz * dz);
    OdStage s;
    s.a = real(1) - c.z[1] * c.b[1];
    s.mu = twice * b / c.b[1];
    s.nu = -(b / c.b[0]);
    s.mu_tilde = s.mu * c.w1 / c.w0;
    const real theta =
        s.mu * c.theta[1] + s.nu * c.theta[0] + s.mu_tilde * (real(1) - s.a);
    c.theta[0] = c.theta[1], c.theta[1] = theta;
    c.b[0] = c.b[1], c.b[1] = b;
    c.z[0] = c.z[1], c.z[1] = z;
    c.dz[0] = c.dz[1], c.dz[1] = dz;
    c.ddz[0] = c.ddz[1], c.ddz[1] = ddz;
    return s;
}

// The longest stable step up to a wanted one, and its stages.
struct OdStable {
    real step, stages;
    bool valid;                 // there is a number of stages
};

OD_FN OdStable od_stable(const OdTask &task, real t, real wanted, real radius) {
    const real by_radius =
        od_floor(od_sqrt(od_fma(od_abs(wanted) * radius, OD_STABILITY, real(1))));
    real stages = od_larger(by_radius + real(1), real(2));
    const bool too_many = stages > od_max_stages(task);
    if (too_many) stages = od_max_stages(task);
    const real stable = (stages * stages - real(1)) / (radius * OD_STABILITY);
    const real step = too_many ? od_exact_step(t, wanted < real(0) ? -stable : stable) : wanted;
    // A non-finite radius gives no number of stages: two, and a NaN error, which rejects.
    const bool valid = stages >= real(2);
    return OdStable{step, valid ? stages : real(2), valid};
}

// The size of the first step of a piece from t, where an Euler step of size `trial` has this error. An estimate that is not
// finite must not become the step: the attempt meets the cause itself.
OD_FN real od_rkc_first_size(real t, real trial, real error, real length) {
    const real root = od_sqrt(error);
    const real cautious = R(0.1) * trial;
    const real size = od_moving(cautious < length * root ? cautious / root : length, t);
    return size > real(0) ? size : length;
}

// What ends for want of a spectral radius has made an attempt.
OD_FN void od_no_radius(OdStepLoop &c, int &status) {
    ++c.attempts;
    ++c.rejected;
    status = OD_SPECTRAL_RADIUS;
}
