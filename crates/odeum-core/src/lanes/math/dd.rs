//! Double-double steps: a number as an unevaluated sum of two (Dekker; with fused multiply-add).

use crate::real::Real;

/// ln 2 to twice the precision.
pub(super) const LN_2: (f64, f64) = (std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);

/// ln 2 whose upper part has 42 bits: its product with an exponent is exact.
pub(super) const LN_2_SHORT: (f64, f64) = (0.693_147_180_559_890_3, 5.497_923_018_708_371e-14);

/// `a + b` exactly, as rounded sum and rest, for |a| ≥ |b| or a = 0.
#[inline(always)]
pub(super) fn ordered_sum<R: Real>(a: R, b: R) -> (R, R) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// `a + b` exactly, as rounded sum and rest.
#[inline(always)]
pub(super) fn sum<R: Real>(a: R, b: R) -> (R, R) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// `a * b` exactly, as rounded product and rest.
#[inline(always)]
pub(super) fn product<R: Real>(a: R, b: R) -> (R, R) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// The product of two double-doubles.
#[inline(always)]
pub(super) fn times<R: Real>(a: (R, R), b: (R, R)) -> (R, R) {
    let (high, low) = product(a.0, b.0);
    (high, low + a.0.mul_add(b.1, a.1 * b.0))
}

/// The quotient of two double-doubles whose second numbers are no more than rounding errors.
/// So is that of the quotient, though it may be more than half an ulp.
#[inline(always)]
pub(super) fn quotient<R: Real>(a: (R, R), b: (R, R)) -> (R, R) {
    let inverse = R::lit(1.0) / b.0;
    let high = a.0 * inverse;
    let rest = (-high).mul_add(b.0, a.0) + (-high).mul_add(b.1, a.1);
    (high, rest * inverse)
}
