//! Inverse sine, cosine and tangent.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::dd::{ordered_sum, quotient};
use super::{Pack64, polynomial};

/// What π/2 exceeds its `f64` by; that of π is twice this, of π/4 half.
const FRAC_PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// (arctan t − t) / t³ in z = t², for |t| ≤ 1/2; the relative error of the angle is below 2⁻⁵⁷.
const ATAN_TAIL: [f64; 13] = [
    -0.33333333333333315,
    0.19999999999993445,
    -0.14285714284977824,
    0.11111111069366537,
    -0.0909090769214849,
    0.07692277477928511,
    -0.06666223719690442,
    0.058778094954275946,
    -0.05230031058893913,
    0.04589536782848853,
    -0.03712138314292765,
    0.023659433170768695,
    -0.008368843966001294,
];

/// (arcsin t − t) / t³ in z = t², for |t| ≤ 1/2; the relative error of the angle is below 2⁻⁵⁸.
const ASIN_TAIL: [f64; 13] = [
    0.16666666666666763,
    0.07499999999970267,
    0.044642857175117116,
    0.030381942683771555,
    0.022372215656392302,
    0.017351600156086368,
    0.013980960739666598,
    0.011397781404214468,
    0.010786500690264383,
    0.003683142427473648,
    0.021763269237361195,
    -0.021076985117179564,
    0.03267670787041515,
];

/// arctan x, by arctan t = π/4 + arctan((t − 1) / (t + 1)) = π/2 − arctan(1 / t).
#[inline(always)]
pub(in crate::lanes) fn atan<P: Pack64>(x: P) -> P {
    let one = P::lit(1.0);
    // From 2¹⁰⁰ on the angle is π/2, and 1/t still harmless.
    let t = x.abs().clamp(0.0, 1.267_650_600_228_229_4e30);
    let middle = t.gt(P::lit(0.5));
    let outer = t.gt(P::lit(2.0));
    // In (1/2, 2] the difference is exact, and so is the rest of the sum.
    let sum = t + one;
    let above = P::select(outer, -one, P::select(middle, t - one, t));
    let below = P::select(outer, t, P::select(middle, sum, one));
    let below_rest = P::select(outer | !middle, P::lit(0.0), t - (sum - one));
    let (u, rest) = quotient((above, P::lit(0.0)), (below, below_rest));

    let z = u * u;
    // The derivative of arctan, to first order, suits the rest.
    let small = (u * z).mul_add(polynomial(z, &ATAN_TAIL), rest - rest * z);
    let base = P::select(middle, P::lit(FRAC_PI_4), P::lit(0.0));
    let base = P::select(outer, P::lit(FRAC_PI_2), base);
    let base_rest = base * P::lit(FRAC_PI_2_REST / FRAC_PI_2);
    let (high, low) = ordered_sum(base, u);
    (high + (low + (small + base_rest))).flip_sign(x)
}

/// arcsin t for t in [0, 1] as the parts of `base − 2 (root + tail)` where t > 1/2, and of
/// `root + tail` (with root = t) elsewhere.
///
/// The root is that of (1 − t) / 2 where t > 1/2: arcsin t = π/2 − 2 arcsin √((1 − t) / 2).
/// NaN for t > 1.
#[inline(always)]
fn asin_parts<P: Pack64>(t: P, outer: P::Mask) -> (P, P) {
    // Exact for t > 1/2.
    let halved = P::lit(0.5).mul_add(-t, P::lit(0.5));
    let z = P::select(outer, halved, t * t);
    let root = P::select(outer, z.sqrt(), t);
    // What the square root was rounded off by; at t = 1 there is nothing to divide.
    let rest = (-root).mul_add(root, z) / (root + root).clamp(f64::MIN_POSITIVE, f64::MAX);
    let rest = P::select(outer, rest, P::lit(0.0));
    (root, (root * z).mul_add(polynomial(z, &ASIN_TAIL), rest))
}

/// arcsin x; NaN beyond ±1.
#[inline(always)]
pub(in crate::lanes) fn asin<P: Pack64>(x: P) -> P {
    let t = x.abs();
    let outer = t.gt(P::lit(0.5));
    let (root, tail) = asin_parts(t, outer);
    let (high, low) = ordered_sum(P::lit(FRAC_PI_2), P::lit(-2.0) * root);
    let low = tail.mul_add(P::lit(-2.0), low + P::lit(FRAC_PI_2_REST));
    P::select(outer, high + low, root + tail).flip_sign(x)
}

/// arccos x; NaN beyond ±1.
#[inline(always)]
pub(in crate::lanes) fn acos<P: Pack64>(x: P) -> P {
    let two = P::lit(2.0);
    let t = x.abs();
    let outer = t.gt(P::lit(0.5));
    let (root, tail) = asin_parts(t, outer);
    // 2 arcsin √((1 − x) / 2) for x > 1/2, π less that of −x for x < −1/2, else π/2 − arcsin x.
    let (factor_base, base) = (P::select(outer, two, P::lit(1.0)), P::lit(FRAC_PI_2));
    let base = P::select(outer, P::lit(PI), base);
    let (root, tail) = (factor_base * root, factor_base * tail);
    let right = outer & x.gt(P::lit(0.0));
    let (signed_root, signed_tail) =
        (P::select(outer, root, root.flip_sign(x)), P::select(outer, tail, tail.flip_sign(x)));
    let (high, low) = ordered_sum(base, -signed_root);
    let base_rest = base * P::lit(FRAC_PI_2_REST / FRAC_PI_2);
    P::select(right, root + tail, high + (low + (base_rest - signed_tail)))
}
