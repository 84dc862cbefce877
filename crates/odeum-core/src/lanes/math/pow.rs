//! Real powers.

use super::Pack64;
use super::exp::exp_parts;
use super::ln::{ln_long, ln_regular};

/// `x` to the power `y`.
///
/// A relative error of the logarithm counts up to 745 times, so it is a double-double.
#[inline(always)]
pub(in crate::lanes) fn powf<P: Pack64>(x: P, y: P) -> P {
    power(x, y, ln_long(x.abs()))
}

/// `x` to the power `y`, accurate enough to be rounded to `f32`.
#[inline(always)]
pub(in crate::lanes) fn powf_single<P: Pack64>(x: P, y: P) -> P {
    power(x, y, (ln_regular(x.abs()), P::lit(0.0)))
}

/// e to the `y ln |x|` with the sign and the exceptions of IEEE 754 `pow`. The logarithm counts
/// where |x| is positive and finite.
#[inline(always)]
fn power<P: Pack64>(x: P, y: P, (high, low): (P, P)) -> P {
    let (zero, one, infinity) = (P::lit(0.0), P::lit(1.0), P::lit(f64::INFINITY));
    let base = x.abs();
    // What the logarithm does not know: the ends of the line, and NaN.
    let special = P::select(base.eq(zero), -infinity, base);
    let regular = base.gt(zero) & base.lt(infinity);
    let high = P::select(regular, high, special);
    let low = P::select(regular, low, zero);

    let exponent = y * high;
    let rest = y.mul_add(high, -exponent) + y * low;
    // Beyond these the result is 0 or infinite, and the rest may be NaN.
    let within = exponent.abs().lt(P::lit(800.0));
    let rest = P::select(within, rest, zero);
    let (mantissa, n) = exp_parts((exponent.clamp(-800.0, 800.0), rest));
    let power = (mantissa.0 + mantissa.1).scale(n);

    let integral = y.floor().eq(y);
    let half = y * P::lit(0.5);
    let odd = integral & half.floor().ne(half);
    // A negative base: the sign of an odd power (also of −0), no other power but of −∞.
    let power = P::select(odd, power.flip_sign(x), power);
    let power = P::select(x.lt(zero) & x.gt(-infinity) & !integral, P::lit(f64::NAN), power);
    // One, whatever the other argument; (−1)^±∞ too, where the logarithm gave 0 ∞.
    let unit = base.eq(one) & y.abs().eq(infinity);
    P::select(x.eq(one) | y.eq(zero) | unit, one, power)
}
