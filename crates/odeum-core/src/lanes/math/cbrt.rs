//! Cube root.

use super::ln::centred;
use super::{Pack64, polynomial};

/// m^(−1/3) for m in [√½, √2], to 2⁻¹⁴.
const INVERSE_ROOT: [f64; 5] = [
    1.874519257816107,
    -1.8618315928731963,
    1.5613061995870239,
    -0.7023867165502911,
    0.12836943760061184,
];

/// 2^(1/3).
const CBRT_2: f64 = 1.259_921_049_894_873_2;

/// The cube root of x, also of negative x.
#[inline(always)]
pub(in crate::lanes) fn cbrt<P: Pack64>(x: P) -> P {
    let third = P::lit(1.0 / 3.0);
    let t = x.abs();
    let (m, e) = centred(t);
    // e = 3 k + j with j in {−1, 0, 1}; the root is that of a = m 2ʲ times 2ᵏ.
    let k = (e * third).round();
    let j = k.mul_add(P::lit(-3.0), e);
    let up = j.gt(P::lit(0.0));
    let down = j.lt(P::lit(0.0));
    let a = P::select(up, m + m, P::select(down, m * P::lit(0.5), m));
    let shift = P::select(up, P::lit(1.0 / CBRT_2), P::lit(1.0));
    let shift = P::select(down, P::lit(CBRT_2), shift);

    // y → a^(−1/3): with d = 1 − a y³, the step y (1 − d)^(−1/3) to second order leaves 2⁻⁴⁰.
    let y = polynomial(m, &INVERSE_ROOT) * shift;
    let d = (a * y).mul_add(-(y * y), P::lit(1.0));
    let y = (y * d).mul_add(d.mul_add(P::lit(2.0 / 9.0), third), y);
    // The root c = a y² and a Newton step with the exact rest a − c³.
    let c = a * y * y;
    let square = c * c;
    let square_rest = c.mul_add(c, -square);
    let rest = (-square).mul_add(c, a) - square_rest * c;
    let root = (rest * third * y).mul_add(y, c).scale(k).flip_sign(x);

    // Zero, infinity and NaN are their own roots.
    P::select(t.gt(P::lit(0.0)) & t.lt(P::lit(f64::INFINITY)), root, x)
}
