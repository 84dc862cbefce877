//! Natural logarithm, to single and to double precision.

use std::f64::consts::SQRT_2;

use super::dd::{LN_2_SHORT, ordered_sum, product, quotient, times};
use super::{Pack64, polynomial};

/// (ln((1 + s) / (1 − s)) − 2 s) / s³ in z = s², for (1 ± s) / (1 ∓ s) ≤ √2; the relative error of
/// the logarithm is below 2⁻⁵⁹.
const ATANH_TAIL: [f64; 7] = [
    0.6666666666666734,
    0.3999999999941513,
    0.28571428742302335,
    0.22222198580922484,
    0.18183563961818824,
    0.1531405913749795,
    0.1479586960930159,
];

/// (artanh(s) − s − s³ / 3) / s⁵ in z = s² on the same interval; the relative error of the
/// logarithm is below 2⁻⁶⁶.
const ATANH_LONG_TAIL: [f64; 8] = [
    0.19999999999999993,
    0.1428571428572099,
    0.11111111109084568,
    0.09090909401926872,
    0.07692280418024404,
    0.06668090917440107,
    0.05838648161978551,
    0.05985120575871809,
];

/// A third to twice the precision.
const THIRD: (f64, f64) = (1.0 / 3.0, 1.850_371_707_708_594e-17);

/// `x = m 2ᵉ` with m in [√½, √2], as `(m, e)`, for positive finite `x`.
#[inline(always)]
pub(super) fn centred<P: Pack64>(x: P) -> (P, P) {
    let (m, e) = x.mantissa_exponent();
    let above = m.gt(P::lit(SQRT_2));
    (P::select(above, m * P::lit(0.5), m), P::select(above, e + P::lit(1.0), e))
}

/// ln x for positive finite x.
///
/// With f = m − 1 and s = f / (2 + f): ln m = f − (f²/2 − s (f²/2 + s² R(s²))), in which the
/// rounding errors of the small terms do not matter (the arrangement is FreeBSD's, `e_log.c`).
#[inline(always)]
pub(super) fn ln_regular<P: Pack64>(x: P) -> P {
    let (m, e) = centred(x);
    let f = m - P::lit(1.0);
    let s = f / (P::lit(2.0) + f);
    let z = s * s;
    let half_square = f * f * P::lit(0.5);
    let inner = z.mul_add(polynomial(z, &ATANH_TAIL), half_square);
    let below = half_square - s.mul_add(inner, e * P::lit(LN_2_SHORT.1));
    let (mantissa, rest) = ordered_sum(f, -below);
    let (high, low) = ordered_sum(e * P::lit(LN_2_SHORT.0), mantissa);
    high + (low + rest)
}

/// ln x.
#[inline(always)]
pub(in crate::lanes) fn ln<P: Pack64>(x: P) -> P {
    let zero = P::lit(0.0);
    let infinity = P::lit(f64::INFINITY);
    let special = P::select(x.lt(zero), P::lit(f64::NAN), x);
    let special = P::select(x.eq(zero), -infinity, special);
    P::select(x.gt(zero) & x.lt(infinity), ln_regular(x), special)
}

/// ln x for positive finite x as a double-double with a relative error below 2⁻⁶⁴.
#[inline(always)]
pub(super) fn ln_long<P: Pack64>(x: P) -> (P, P) {
    let one = P::lit(1.0);
    let (m, e) = centred(x);
    // f is exact; so are d − 1, for d lies in [1.7, 2.5], and the rest of d.
    let f = m - one;
    let d = m + one;
    let s = quotient((f, P::lit(0.0)), (d, m - (d - one)));
    let (square, square_rest) = product(s.0, s.0);
    let z = (square, (s.0 + s.0).mul_add(s.1, square_rest));
    // artanh s = s + s z (1/3 + z T(z))
    let (tail, tail_rest) = product(z.0, polynomial(z.0, &ATANH_LONG_TAIL));
    let (sum, rest) = ordered_sum(P::lit(THIRD.0), tail);
    let cubic = times(s, times(z, (sum, rest + (tail_rest + P::lit(THIRD.1)))));
    let (artanh, rest) = ordered_sum(s.0, cubic.0);
    let rest = rest + (s.1 + cubic.1);
    // ln m = 2 artanh s
    let (high, low) = ordered_sum(e * P::lit(LN_2_SHORT.0), artanh + artanh);
    ordered_sum(high, low + e.mul_add(P::lit(LN_2_SHORT.1), rest + rest))
}
