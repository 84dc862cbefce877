//! What a scalar must be able to do for a right-hand side to be written over it.

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// The answer of a comparison: one truth value, or one per lane.
///
/// There is no conversion to `bool`: a right-hand side chooses with [`Real::select`], so that
/// every lane and every GPU thread runs the same instructions.
pub trait Mask:
    Copy + Debug + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
}

impl Mask for bool {}

/// A number in a right-hand side: `f64`, `f32`, a pack of SIMD lanes, or a recording symbol.
///
/// Every operation has one meaning on every backend:
///
/// - comparisons with NaN are false, except [`ne`](Real::ne);
/// - [`min`](Real::min) and [`max`](Real::max) give NaN when either argument is NaN, so that no
///   failure is masked;
/// - [`powi`](Real::powi) multiplies by repeated squaring, in the same order everywhere;
/// - elementary functions are accurate to 2 units in the last place.
pub trait Real:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// What comparing two of these gives.
    type Mask: Mask;

    /// The number `x`, rounded to this type.
    fn lit(x: f64) -> Self;

    /// `self * a + b`. Fused (one rounding) wherever the target has the instruction.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// `1 / self`.
    #[inline(always)]
    fn recip(self) -> Self {
        Self::lit(1.0) / self
    }
    /// `1 / sqrt(self)`: a good deal cheaper than the division and the root on most targets.
    #[inline(always)]
    fn rsqrt(self) -> Self {
        Self::lit(1.0) / self.sqrt()
    }
    /// Square root; NaN below zero.
    fn sqrt(self) -> Self;
    /// Cube root, of negative numbers too.
    fn cbrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Largest integer not above `self`.
    fn floor(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm; minus infinity at zero, NaN below.
    fn ln(self) -> Self;
    /// Sine of an angle in radians.
    fn sin(self) -> Self;
    /// Cosine of an angle in radians.
    fn cos(self) -> Self;
    /// Tangent of an angle in radians.
    fn tan(self) -> Self;
    /// Inverse sine (radians).
    fn asin(self) -> Self;
    /// Inverse cosine (radians).
    fn acos(self) -> Self;
    /// Inverse tangent (radians).
    fn atan(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `self` to a real power; the rules of IEEE 754 `pow`.
    fn powf(self, exponent: Self) -> Self;

    /// `self` to an integer power, by repeated squaring.
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        let mut left = exponent.unsigned_abs();
        let mut square = self;
        let mut product: Option<Self> = None;
        while left > 0 {
            if left & 1 == 1 {
                product = Some(product.map_or(square, |p| p * square));
            }
            left >>= 1;
            if left > 0 {
                square = square * square;
            }
        }
        let power = product.unwrap_or(Self::lit(1.0));
        if exponent < 0 { power.recip() } else { power }
    }

    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// `self == other`.
    fn eq(self, other: Self) -> Self::Mask;
    /// `self > other`.
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        other.lt(self)
    }
    /// `self >= other`.
    #[inline(always)]
    fn ge(self, other: Self) -> Self::Mask {
        other.le(self)
    }
    /// `self != other`; true when either is NaN.
    #[inline(always)]
    fn ne(self, other: Self) -> Self::Mask {
        !self.eq(other)
    }

    /// `a` where `mask` holds, `b` elsewhere. Both are computed.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;

    /// Does `work` in a function of its own, compiled for this scalar's instruction set: for long
    /// code that several places call, which would otherwise be copied into each.
    #[doc(hidden)]
    #[inline(always)]
    fn outline<W: Outlined>(work: W) {
        work.outlined();
    }

    /// The smaller of two; NaN when either is NaN.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other) | self.ne(self), self, other)
    }
    /// The larger of two; NaN when either is NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self) | self.ne(self), self, other)
    }
}

/// Work for [`Real::outline`]. A trait rather than a closure, because only a method can be made
/// to inline; and a method for each instruction set rather than a function, because the compiler puts methods
/// into the code generation unit of the type's module: functions of all works would make one unit, and a change in
/// one work compile all of them again.
#[doc(hidden)]
pub trait Outlined: Sized {
    /// Does the work. Must be `#[inline(always)]`.
    fn run(self);

    /// [`run`](Outlined::run) in a function of its own.
    #[inline(never)]
    fn outlined(self) {
        self.run();
    }

    /// The same compiled for AVX-512.
    ///
    /// # Safety
    /// The CPU has the instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    #[inline(never)]
    unsafe fn outlined_avx512(self) {
        self.run();
    }

    /// The same compiled for AVX2 with FMA.
    ///
    /// # Safety
    /// The CPU has the instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    #[inline(never)]
    unsafe fn outlined_avx2(self) {
        self.run();
    }
}

/// Implements [`Real`] for a primitive float by the standard library's functions.
macro_rules! real_for_float {
    ($float:ty) => {
        impl Real for $float {
            type Mask = bool;
            #[inline(always)]
            fn lit(x: f64) -> Self {
                x as $float
            }
            /// Not fused: a build for the baseline instruction set has no such instruction, and
            /// the standard library's `mul_add` would call a slow software routine there.
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                self * a + b
            }
            real_for_float!(@unary $float: sqrt cbrt abs floor exp ln sin cos tan asin acos atan sinh cosh tanh);
            #[inline(always)]
            fn powf(self, exponent: Self) -> Self {
                <$float>::powf(self, exponent)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn eq(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(mask: bool, a: Self, b: Self) -> Self {
                if mask { a } else { b }
            }
        }
    };
    (@unary $float:ty: $($name:ident)*) => {
        $(#[inline(always)]
        fn $name(self) -> Self {
            <$float>::$name(self)
        })*
    };
}

real_for_float!(f64);
real_for_float!(f32);

#[cfg(test)]
mod tests {
    use super::Real;

    #[test]
    fn powi_follows_repeated_squaring() {
        for (exponent, expected) in [(0, 1.0), (1, 1.5), (2, 2.25), (5, 7.59375), (-2, 1.0 / 2.25)]
        {
            assert_eq!(Real::powi(1.5_f64, exponent), expected);
        }
        assert!(Real::powi(2.0_f64, i32::MIN) == 0.0);
    }

    #[test]
    fn min_and_max_pass_nan_on() {
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(Real::min(a, b).is_nan() && Real::max(a, b).is_nan());
        }
        assert_eq!((Real::min(2.0, 1.0), Real::max(2.0, 1.0)), (1.0, 2.0));
    }
}
