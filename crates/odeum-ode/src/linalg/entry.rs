//! What an entry of a matrix must do: a pack of lanes, or a pair of packs as complex numbers.

use odeum_core::Lanes;

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
    /// Not scaled against overflow: the square of the size must be a number, as it is for any
    /// matrix 1/h of a step that can be taken in double precision.
    #[inline(always)]
    fn recip(self) -> Self {
        let scale = odeum_core::Real::recip(self.re.mul_add(self.re, self.im * self.im));
        Complex { re: self.re * scale, im: -(self.im * scale) }
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
