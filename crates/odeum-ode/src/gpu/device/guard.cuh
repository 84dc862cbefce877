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

// Whether a step of size h and this growth is too long.
OD_FN bool od_guard_vetoes(const OdGuard &guard, real limit, real h, real growth) {
    return growth > limit && od_abs(h) > od_guard_free(guard, limit);
}

// The next step after one of signed size h, from the one that the method proposes. `failed`: the error test
// rejected the attempt.
OD_FN real od_guard_next(OdGuard &guard, real limit, real h, real growth, real proposed, bool vetoed,
                         bool failed) {
    const bool grows = growth > real(0);
    const real fraction = grows ? limit * OD_GUARD_SAFETY / growth : od_inf();
    if (vetoed) {
        const real most = fraction > OD_GUARD_MOST ? OD_GUARD_MOST : fraction;
        return h * (most < OD_GUARD_LEAST ? OD_GUARD_LEAST : most);
    }
    const real by_growth = od_abs(h * fraction);
    const bool limited = od_abs(proposed) > by_growth && grows;
    guard.resolved = limited && !failed ? guard.resolved + growth : real(0);
    guard.alone = limited && !failed ? guard.alone + od_abs(h) : real(0);
    const real longest = od_larger(by_growth, od_guard_free(guard, limit) * OD_GUARD_SAFETY);
    const bool holds = limited && !failed && od_abs(proposed) > longest;
    return holds ? (h < real(0) ? -longest : longest) : proposed;
}
