// The growth guard: implicit methods do not step over an instability. The law and its reasons are those of the
// processor (cpu/guard.rs).

struct OdGuard {
    real resolved;              // sum of h lambda over the last steps that nothing but the guard limited
    real alone;                 // their time
};

// The longest step over which what is unseen after so much growth does not grow by more than the limit, the largest h lambda.
OD_FN real od_guard_free(const OdGuard &guard, real limit) {
    return guard.resolved < OD_GUARD_EXPONENTS ? real(0) : guard.alone * (limit / OD_GUARD_EXPONENTS);
}

// The shortest step that moves the time.
OD_FN real od_guard_shortest(real t) { return od_abs(t) * OD_EPSILON; }

// Whether a step from t of size h and this growth is too long.
OD_FN bool od_guard_vetoes(const OdGuard &guard, real limit, real t, real h, real growth) {
    const real longest = od_larger(od_guard_free(guard, limit), od_guard_shortest(t) * OD_GUARD_ROUNDED);
    return growth > limit && od_abs(h) > longest;
}

// The step from t after one of signed size h, from the one that the method proposes. `failed`: the error test
// rejected the attempt.
OD_FN real od_guard_next(OdGuard &guard, real limit, real t, real h, real growth, real proposed,
                         bool vetoed, bool failed) {
    const bool grows = growth > real(0);
    const real fraction = grows ? limit * OD_GUARD_SAFETY / growth : od_inf();
    if (vetoed) {
        const real most = fraction > OD_GUARD_MOST ? OD_GUARD_MOST : fraction;
        const real shorter = od_abs(h * (most < OD_GUARD_LEAST ? OD_GUARD_LEAST : most));
        const real size = od_larger(shorter, od_guard_shortest(t));
        return h < real(0) ? -size : size;
    }
    const real by_growth = od_abs(h * fraction);
    const bool limited = od_abs(proposed) > by_growth && grows;
    guard.resolved = limited && !failed ? guard.resolved + growth : real(0);
    guard.alone = limited && !failed ? guard.alone + od_abs(h) : real(0);
    const real longest = od_larger(
        od_larger(by_growth, od_guard_free(guard, limit) * OD_GUARD_SAFETY), od_guard_shortest(t));
    const bool holds = limited && !failed && od_abs(proposed) > longest;
    return holds ? (h < real(0) ? -longest : longest) : proposed;
}
