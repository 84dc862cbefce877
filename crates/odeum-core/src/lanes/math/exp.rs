//! Exponential.

use super::dd::{LN_2, ordered_sum};
use super::{Pack64, polynomial};

/// (eʳ − 1 − r) / r² for |r| ≤ ln 2 / 2; the error times r² is below 2⁻⁶⁰.
const SECOND_REMAINDER: [f64; 11] = [
    0.5,
    0.16666666666666685,
    0.04166666666666673,
    0.008333333333316754,
    0.001388888888885858,
    0.00019841269897020279,
    2.4801587373492674e-05,
    2.7557234275034197e-06,
    2.7557233558778604e-07,
    2.5112226570028146e-08,
    2.0926884897247807e-09,
];

/// `x = n ln 2 + r` with integral n and |r| ≤ ln 2 / 2, as `(n, r)`; |x| ≤ 1500.
#[inline(always)]
pub(super) fn reduce<P: Pack64>(x: (P, P)) -> (P, (P, P)) {
    let n = (x.0 * P::lit(std::f64::consts::LOG2_E)).round();
    // The first difference is exact: a multiple of 2⁻⁵⁴ (for n ≠ 0) and below 1/2.
    let high = n.mul_add(P::lit(-LN_2.0), x.0);
    let low = n.mul_add(P::lit(-LN_2.1), x.1);
    (n, ordered_sum(high, low))
}

/// eʳ − 1 − r.0 of a reduced argument, to 2⁻⁵⁸ or so.
#[inline(always)]
pub(super) fn beyond_linear<P: Pack64>(r: (P, P)) -> P {
    let one_plus = P::lit(1.0) + r.0;
    (r.0 * r.0).mul_add(polynomial(r.0, &SECOND_REMAINDER), one_plus * r.1)
}

/// eˣ as `(mantissa, n)`: the double-double mantissa, near [0.7, 1.5], times 2ⁿ; |x| ≤ 1500.
#[inline(always)]
pub(super) fn exp_parts<P: Pack64>(x: (P, P)) -> ((P, P), P) {
    let (n, r) = reduce(x);
    let (high, low) = ordered_sum(P::lit(1.0), r.0);
    ((high, low + beyond_linear(r)), n)
}

/// eˣ.
#[inline(always)]
pub(in crate::lanes) fn exp<P: Pack64>(x: P) -> P {
    // Beyond these the result is 0 or infinite; n stays within what `scale` takes.
    let x = x.clamp(-746.0, 710.0);
    let (mantissa, n) = exp_parts((x, P::lit(0.0)));
    (mantissa.0 + mantissa.1).scale(n)
}
