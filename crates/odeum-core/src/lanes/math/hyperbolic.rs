//! Hyperbolic sine, cosine and tangent.

use super::dd::{ordered_sum, quotient, sum};
use super::exp::{beyond_linear, exp_parts, reduce};
use super::{Pack64, polynomial};

/// (sinh t − t) / t³ in z = t², for |t| ≤ 1; the relative error of the sine is below 2⁻⁵⁶.
const SINH_TAIL: [f64; 7] = [
    0.16666666666666669,
    0.008333333333333139,
    0.00019841269841437678,
    2.7557319155337404e-06,
    2.5052123398477724e-08,
    1.6057240346748303e-10,
    7.759312051801177e-13,
];

/// eᵗ / 2 for t ≥ 0 as high and low part, and e⁻ᵗ / 2.
#[inline(always)]
fn half_exponentials<P: Pack64>(t: P) -> ((P, P), P) {
    let t = t.clamp(0.0, 712.0);
    let (mantissa, n) = exp_parts((t, P::lit(0.0)));
    let (high, low) = ordered_sum(mantissa.0, mantissa.1);
    let n = n - P::lit(1.0);
    let high = high.scale(n);
    ((high, low.scale(n)), P::lit(0.25) / high)
}

/// sinh x.
#[inline(always)]
pub(in crate::lanes) fn sinh<P: Pack64>(x: P) -> P {
    let t = x.abs();
    let z = t * t;
    let near = (t * z).mul_add(polynomial(z, &SINH_TAIL), t);
    let (growing, decaying) = half_exponentials(t);
    let far = growing.0 + (growing.1 - decaying);
    P::select(t.gt(P::lit(1.0)), far, near).flip_sign(x)
}

/// cosh x.
#[inline(always)]
pub(in crate::lanes) fn cosh<P: Pack64>(x: P) -> P {
    let (growing, decaying) = half_exponentials(x.abs());
    growing.0 + (growing.1 + decaying)
}

/// tanh x = (e²ᵗ − 1) / (e²ᵗ + 1), of which the numerator is computed without cancellation.
#[inline(always)]
pub(in crate::lanes) fn tanh<P: Pack64>(x: P) -> P {
    let one = P::lit(1.0);
    // At 20 the difference from 1 is far below half an ulp.
    let t = x.abs().clamp(0.0, 20.0);
    let (n, r) = reduce((t + t, P::lit(0.0)));
    // eʳ − 1, then e²ᵗ − 1 = (2ⁿ − 1) + 2ⁿ (eʳ − 1), whose first summand is the larger or zero.
    let (high, low) = ordered_sum(r.0, beyond_linear(r));
    let power = one.scale(n);
    let (above, rest) = ordered_sum(power - one, power * high);
    let above = (above, power.mul_add(low, rest));
    let (below, rest) = sum(P::lit(2.0), above.0);
    let (y, rest) = quotient(above, (below, rest + above.1));
    (y + rest).flip_sign(x)
}
