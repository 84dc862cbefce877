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

/// 2 to a power, exactly.
const fn two_to(power: i64) -> f64 {
    f64::from_bits(((1023 + power) as u64) << 52)
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
    /// Where squares would overflow or lose digits, in units of a power of two: the digits are the same in all of these.
    #[inline(always)]
    fn recip(self) -> Self {
        use odeum_core::Real;
        let exponents = if L::Scalar::MAX < 1e100 { 127 } else { 1023 };
        let [small, large, down, up] =
            [-2, 2, -3, 3].map(|fifths| L::lit(two_to(fifths * exponents / 5)));
        let size = self.size();
        let reduced = L::select(size.gt(large), down, L::lit(1.0));
        let unit = L::select(size.lt(small), up, reduced);
        let (re, im) = (self.re * unit, self.im * unit);
        let scale = Real::recip(re.mul_add(re, im * im));
        Complex { re: re * scale * unit, im: -(im * scale * unit) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn reciprocal<L: Lanes>(re: f64, im: f64) -> [f64; 2] {
        let Complex { re, im } = Complex { re: L::lit(re), im: L::lit(im) }.recip();
        [re.lane(0).to_f64(), im.lane(0).to_f64()]
    }

    /// Of every power of two times the same number, the reciprocal has the same digits.
    fn is_of_every_size<L: Lanes>(powers: i64) {
        let [re, im] = reciprocal::<L>(0.75, -1.375);
        let exact = 0.75 * 0.75 + 1.375 * 1.375;
        assert!((re - 0.75 / exact).abs() + (im - 1.375 / exact).abs() < 4.0 * L::Scalar::EPSILON);
        for power in -powers..=powers {
            let unit = two_to(power);
            let [scaled_re, scaled_im] = reciprocal::<L>(0.75 * unit, -1.375 * unit);
            assert_eq!([scaled_re * unit, scaled_im * unit], [re, im], "2^{power}");
        }
    }

    #[test]
    fn reciprocals_of_complex_numbers_are_of_every_size() {
        is_of_every_size::<f64>(1020);
        is_of_every_size::<f32>(124);
    }

    #[test]
    fn complex_numbers_without_a_reciprocal_have_none() {
        for x in [0.0, f64::INFINITY, f64::NAN] {
            let [re, im] = reciprocal::<f64>(x, 0.0);
            assert!(!(re.abs() + im.abs()).is_finite(), "{x}: {re} {im}");
        }
    }
}
