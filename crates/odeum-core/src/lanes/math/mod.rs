//! Elementary functions of packs, written once over a few primitives of an `f64` pack.
//!
//! None of them branches on values, but for arguments of the circular functions beyond
//! [`trig`]'s range, whose lanes go to the standard library one by one. Every pack has fused
//! multiply-add and the same sequence of roundings, so all instruction sets give the same bits.
//! Accuracy: see [`lanes`](super).
//! Packs of `f32` compute in two packs of `f64` and round once.
//!
//! The polynomials are minimax approximations computed for this crate by the Remez exchange in
//! 200-bit arithmetic; each states the weighted error that remains after its coefficients are
//! rounded. Double-double steps ([`dd`]) keep what the last rounding of a sum would lose.

mod cbrt;
mod dd;
mod exp;
mod hyperbolic;
mod inverse_trig;
mod ln;
mod pow;
mod trig;

use super::Lanes;
use crate::real::Real;

pub(super) use cbrt::cbrt;
pub(super) use exp::exp;
pub(super) use hyperbolic::{cosh, sinh, tanh};
pub(super) use inverse_trig::{acos, asin, atan};
pub(super) use ln::ln;
pub(super) use pow::{powf, powf_single};
pub(super) use trig::{cos, sin, tan};

/// What the elementary functions ask of a pack of `f64` besides [`Lanes`].
pub(super) trait Pack64: Lanes<Scalar = f64> {
    /// Nearest integer, to even when halfway.
    fn round(self) -> Self;
    /// Into `[low, high]`; NaN stays NaN.
    fn clamp(self, low: f64, high: f64) -> Self;
    /// `self` 2ⁿ for an integral `n`, |n| ≤ 2000. Rounded once for |self| in [1/4, 4].
    fn scale(self, n: Self) -> Self;
    /// Mantissa in [1, 2) and exponent of a positive finite number, subnormal ones included.
    /// Without meaning for other numbers.
    fn mantissa_exponent(self) -> (Self, Self);
    /// `self`, negated where `other` is negative (minus zero is).
    fn flip_sign(self, other: Self) -> Self;
}

/// A pack of `f32` as two packs of `f64`.
pub(super) trait Halves: Lanes<Scalar = f32> {
    /// The pack of half as many lanes.
    type Half: Pack64;
    /// The lower and the upper lanes, exactly.
    fn halves(self) -> (Self::Half, Self::Half);
    /// The inverse, rounded.
    fn join(low: Self::Half, high: Self::Half) -> Self;
}

/// The polynomial c₀ + c₁ x + … of which `c` lists the coefficients, its even and its odd part
/// by Horner's rule: half the latency of one chain.
#[inline(always)]
fn polynomial<R: Real, const N: usize>(x: R, c: &[f64; N]) -> R {
    const { assert!(N >= 2) };
    let square = x * x;
    let mut top = R::lit(c[N - 1]);
    let mut next = R::lit(c[N - 2]);
    let mut i = N - 2;
    while i >= 2 {
        top = top.mul_add(square, R::lit(c[i - 1]));
        next = next.mul_add(square, R::lit(c[i - 2]));
        i -= 2;
    }
    if i == 1 {
        // `top` holds the even part but for c₀, `next` the odd part.
        top = top.mul_add(square, R::lit(c[0]));
        next.mul_add(x, top)
    } else {
        top.mul_add(x, next)
    }
}

/// The elementary functions of [`Real`] for a pack of `f64`.
macro_rules! functions_of_f64 {
    (@unary $($name:ident)*) => {
        $(#[inline(always)]
        fn $name(self) -> Self {
            $crate::lanes::math::$name(self)
        })*
    };
    () => {
        functions_of_f64!(@unary cbrt exp ln sin cos tan asin acos atan sinh cosh tanh);
        #[inline(always)]
        fn powf(self, exponent: Self) -> Self {
            $crate::lanes::math::powf(self, exponent)
        }
    };
}

/// The elementary functions of [`Real`] for a pack of `f32`, which is [`Halves`].
macro_rules! functions_of_f32 {
    (@unary $($name:ident)*) => {
        $(#[inline(always)]
        fn $name(self) -> Self {
            let (low, high) = $crate::lanes::math::Halves::halves(self);
            $crate::lanes::math::Halves::join(
                $crate::lanes::math::$name(low),
                $crate::lanes::math::$name(high),
            )
        })*
    };
    () => {
        functions_of_f32!(@unary cbrt exp ln sin cos tan asin acos atan sinh cosh tanh);
        #[inline(always)]
        fn powf(self, exponent: Self) -> Self {
            let (low, high) = $crate::lanes::math::Halves::halves(self);
            let (exponent_low, exponent_high) = $crate::lanes::math::Halves::halves(exponent);
            $crate::lanes::math::Halves::join(
                $crate::lanes::math::powf_single(low, exponent_low),
                $crate::lanes::math::powf_single(high, exponent_high),
            )
        }
    };
}

pub(super) use {functions_of_f32, functions_of_f64};
