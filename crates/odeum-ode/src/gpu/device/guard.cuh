// The growth guard: implicit methods do not step over an instability. The law and its reasons are those of the
// processor (cpu/guard.rs).

struct OdGuard {
    real resolved;              // sum of h lambda over the last steps that nothing but the guard limited
};

// Whether a step of this growth is too long; `limit` is the largest h lambda.
OD_FN bool od_guard_vetoes(const OdGuard &guard, real limit, real growth) {
    return growth > limit && guard.resolved < OD_GUARD_EXPONENTS;
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
    const bool limited = od_abs(proposed) > od_abs(h * fraction);
    const bool holds = limited && guard.resolved < OD_GUARD_EXPONENTS;
    guard.resolved = limited && grows && !failed ? guard.resolved + growth : real(0);
    return holds && !failed ? h * fraction : proposed;
}
