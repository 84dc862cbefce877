//! What an entry of a matrix must do: a pack of lanes, or a pair of packs as complex numbers.

use odeum_core::{Lanes, Scalar};

/// An entry of a matrix over lanes.
pub(crate) trait Entry<L: Lanes>: Copy {
    /// A real number.
    fn real(x: L) -> Self;
    fn mul(self, other: Self) -> Self;
    /// self − a b.
    fn minus_product(self, a: Self, b: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn recip(self) -> Self;
    /// 1 − d/σ for a pivot d of σI − J, from 1/σ; zero for complex matrices.
    fn growth(pivot: Self, inverse_shift: Self) -> L;
    /// A measure of size, within a factor √2 of the absolute value.
    fn size(self) -> L;
}

impl<L: Lanes> Entry<L> for L {
    #[inline(always)]
    fn real(x: L) -> Self {
        x
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self * other
    }
    #[inline(always)]
    fn minus_product(self, a: Self, b: Self) -> Self {
        (-a).mul_add(b, self)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn recip(self) -> Self {
        odeum_core::Real::recip(self)
    }
    #[inline(always)]
    fn growth(pivot: Self, inverse_shift: Self) -> L {
        (-pivot).mul_add(inverse_shift, L::lit(1.0))
    }
    #[inline(always)]
    fn size(self) -> L {
        self.abs()
    }
}

/// Complex numbers, one per lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Complex<L> {
    pub(crate) re: L,
    pub(crate) im: L,
}

impl<L: Lanes> Entry<L> for Complex<L> {
    #[inline(always)]
    fn real(x: L) -> Self {
        Complex { re: x, im: L::lit(0.0) }
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Complex {
            re: self.re.mul_add(other.re, -(self.im * other.im)),
            im: self.re.mul_add(other.im, self.im * other.re),
        }
    }
    #[inline(always)]
    fn minus_product(self, a: Self, b: Self) -> Self {
        Complex {
            re: (-a.re).mul_add(b.re, a.im.mul_add(b.im, self.re)),
            im: (-a.re).mul_add(b.im, (-a.im).mul_add(b.re, self.im)),
        }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
    #[inline(always)]
    fn recip(self) -> Self {
        use odeum_core::Real;
        // Squares of single precision end at those of 1.8e19. Those of double precision need no unit.
        let unit = if L::Scalar::MAX < 1e100 { Real::recip(self.size()) } else { L::lit(1.0) };
        let (re, im) = (self.re * unit, self.im * unit);
        let scale = Real::recip(re.mul_add(re, im * im)) * unit;
        Complex { re: re * scale, im: -(im * scale) }
    }
    #[inline(always)]
    fn growth(_pivot: Self, _inverse_shift: Self) -> L {
        L::lit(0.0)
    }
    #[inline(always)]
    fn size(self) -> L {
        self.re.abs() + self.im.abs()
    }
}
