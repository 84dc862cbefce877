//! Sine, cosine and tangent.

use super::dd::{ordered_sum, product, quotient, sum};
use super::{Pack64, polynomial};

/// (sin r − r) / r³ in z = r², for |r| ≤ π/4; the relative error of the sine is below 2⁻⁵⁷.
const SINE_TAIL: [f64; 6] = [
    -0.16666666666666632,
    0.008333333333322425,
    -0.0001984126982981693,
    2.7557313695212276e-06,
    -2.50507586501999e-08,
    1.5896827711899128e-10,
];

/// (cos r − 1 + r²/2) / r⁴ in z = r², for |r| ≤ π/4; the error of the cosine is below 2⁻⁶⁰.
const COSINE_TAIL: [f64; 6] = [
    0.0416666666666666,
    -0.001388888888887414,
    2.480158728949235e-05,
    -2.755731435537025e-07,
    2.087572369957286e-09,
    -1.135967055536225e-11,
];

/// π/2 to three times the precision.
const HALF_PI: [f64; 3] =
    [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];

/// Larger angles than this go to the standard library, which reduces them by a π of any length.
const LARGEST: f64 = 1_048_576.0;

/// An angle |x| = q π/2 + r in its quadrant.
struct Reduced<P: Pack64> {
    /// q modulo 4.
    quadrant: P,
    /// sin r as a double-double.
    sine: (P, P),
    /// cos r as a double-double.
    cosine: (P, P),
}

/// Reduces an angle in [0, [`LARGEST`]].
#[inline(always)]
fn reduce<P: Pack64>(x: P) -> Reduced<P> {
    let n = (x * P::lit(std::f64::consts::FRAC_2_PI)).round();
    // Exact: a multiple of 2⁻⁵³ (for n ≠ 0) and below 1.
    let first = n.mul_add(P::lit(-HALF_PI[0]), x);
    let (second, second_rest) = product(n, P::lit(-HALF_PI[1]));
    let (r, rest) = sum(first, second);
    let rest = n.mul_add(P::lit(-HALF_PI[2]), rest + second_rest);

    let one = P::lit(1.0);
    let (z, z_rest) = product(r, r);
    let half = z * P::lit(0.5);
    let cosine = one - half;
    // 1 − cosine and its difference from half are exact.
    let cosine_rest = ((one - cosine) - half) - z_rest.mul_add(P::lit(0.5), r * rest);
    let cosine_rest = (z * z).mul_add(polynomial(z, &COSINE_TAIL), cosine_rest);
    let sine_rest = (r * z).mul_add(polynomial(z, &SINE_TAIL), rest * cosine);

    let quadrant = (n * P::lit(0.25)).floor().mul_add(P::lit(-4.0), n);
    Reduced { quadrant, sine: (r, sine_rest), cosine: (cosine, cosine_rest) }
}

impl<P: Pack64> Reduced<P> {
    /// Whether sine and cosine change places.
    #[inline(always)]
    fn odd(&self) -> P::Mask {
        self.quadrant.eq(P::lit(1.0)) | self.quadrant.eq(P::lit(3.0))
    }
}

/// `a` where `mask` holds, `b` elsewhere.
#[inline(always)]
fn select<P: Pack64>(mask: P::Mask, a: (P, P), b: (P, P)) -> (P, P) {
    (P::select(mask, a.0, b.0), P::select(mask, a.1, b.1))
}

/// Replaces the lanes of `y` whose angle is beyond the reduction by `f` of the angle.
#[inline(always)]
fn patch<P: Pack64>(x: P, y: P, f: fn(f64) -> f64) -> P {
    let large = P::bits(x.abs().gt(P::lit(LARGEST)));
    if large == 0 {
        return y;
    }
    let (mut angles, mut values) = ([0.0; WIDEST], [0.0; WIDEST]);
    x.store(&mut angles);
    y.store(&mut values);
    patch_lanes(large, &angles, &mut values, f);
    P::load(&values)
}

/// Lanes of the widest pack of `f64`.
const WIDEST: usize = 8;

/// `values[i] = f(angles[i])` for the set bits i of `lanes`.
#[cold]
#[inline(never)]
fn patch_lanes(lanes: u64, angles: &[f64; WIDEST], values: &mut [f64; WIDEST], f: fn(f64) -> f64) {
    for i in 0..WIDEST {
        if lanes >> i & 1 == 1 {
            values[i] = f(angles[i]);
        }
    }
}

/// sin x.
#[inline(always)]
pub(in crate::lanes) fn sin<P: Pack64>(x: P) -> P {
    let reduced = reduce(x.abs());
    let y = select(reduced.odd(), reduced.cosine, reduced.sine);
    let y = y.0 + y.1;
    let y = P::select(reduced.quadrant.ge(P::lit(2.0)), -y, y);
    patch(x, y.flip_sign(x), f64::sin)
}

/// cos x.
#[inline(always)]
pub(in crate::lanes) fn cos<P: Pack64>(x: P) -> P {
    let reduced = reduce(x.abs());
    let y = select(reduced.odd(), reduced.sine, reduced.cosine);
    let y = y.0 + y.1;
    let left = reduced.quadrant.eq(P::lit(1.0)) | reduced.quadrant.eq(P::lit(2.0));
    patch(x, P::select(left, -y, y), f64::cos)
}

/// tan x: the quotient of sine and cosine, with its rest.
#[inline(always)]
pub(in crate::lanes) fn tan<P: Pack64>(x: P) -> P {
    let reduced = reduce(x.abs());
    let odd = reduced.odd();
    let above = select(odd, reduced.cosine, reduced.sine);
    let below = select(odd, reduced.sine, reduced.cosine);
    let (y, rest) = quotient(ordered_sum(above.0, above.1), ordered_sum(below.0, below.1));
    let y = y + rest;
    patch(x, P::select(odd, -y, y).flip_sign(x), f64::tan)
}
