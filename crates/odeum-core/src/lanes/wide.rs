//! Several packs as one.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::{Lanes, Scalar};
use crate::real::{Mask, Outlined, Real};

/// A block of `K` packs, itself a pack of `K * L::WIDTH` lanes (at most 64).
///
/// Whoever chooses operations one by one, as the tape does, chooses once for the whole block.
#[derive(Clone, Copy, Debug)]
pub struct Wide<L, const K: usize>([L; K]);

/// The mask of a [`Wide`] block: that of each of its packs.
#[derive(Clone, Copy, Debug)]
pub struct WideMask<M, const K: usize>([M; K]);

impl<M: Mask, const K: usize> BitAnd for WideMask<M, K> {
    type Output = Self;
    #[inline(always)]
    fn bitand(mut self, other: Self) -> Self {
        for k in 0..K {
            self.0[k] = self.0[k] & other.0[k];
        }
        self
    }
}

impl<M: Mask, const K: usize> BitOr for WideMask<M, K> {
    type Output = Self;
    #[inline(always)]
    fn bitor(mut self, other: Self) -> Self {
        for k in 0..K {
            self.0[k] = self.0[k] | other.0[k];
        }
        self
    }
}

impl<M: Mask, const K: usize> Not for WideMask<M, K> {
    type Output = Self;
    #[inline(always)]
    fn not(mut self) -> Self {
        for k in 0..K {
            self.0[k] = !self.0[k];
        }
        self
    }
}

impl<M: Mask, const K: usize> Mask for WideMask<M, K> {}

/// The operator `$op` of every pack.
macro_rules! operator {
    ($($trait:ident $op:ident)*) => {
        $(impl<L: Lanes, const K: usize> $trait for Wide<L, K> {
            type Output = Self;
            #[inline(always)]
            fn $op(mut self, other: Self) -> Self {
                for k in 0..K {
                    self.0[k] = self.0[k].$op(other.0[k]);
                }
                self
            }
        })*
    };
}

operator!(Add add Sub sub Mul mul Div div);

impl<L: Lanes, const K: usize> Neg for Wide<L, K> {
    type Output = Self;
    #[inline(always)]
    fn neg(mut self) -> Self {
        for k in 0..K {
            self.0[k] = -self.0[k];
        }
        self
    }
}

/// The function `$name` of one or two arguments, of every pack.
macro_rules! each {
    ($($name:ident)* ; $($binary:ident)*) => {
        $(#[inline(always)]
        fn $name(mut self) -> Self {
            for k in 0..K {
                self.0[k] = self.0[k].$name();
            }
            self
        })*
        $(#[inline(always)]
        fn $binary(mut self, other: Self) -> Self {
            for k in 0..K {
                self.0[k] = self.0[k].$binary(other.0[k]);
            }
            self
        })*
    };
}

/// The comparison `$name` of every pack.
macro_rules! comparison {
    ($($name:ident)*) => {
        $(#[inline(always)]
        fn $name(self, other: Self) -> Self::Mask {
            let mut mask = [self.0[0].$name(other.0[0]); K];
            for k in 1..K {
                mask[k] = self.0[k].$name(other.0[k]);
            }
            WideMask(mask)
        })*
    };
}

impl<L: Lanes, const K: usize> Real for Wide<L, K> {
    type Mask = WideMask<L::Mask, K>;

    #[inline(always)]
    fn lit(x: f64) -> Self {
        Self([L::lit(x); K])
    }
    #[inline(always)]
    fn mul_add(mut self, a: Self, b: Self) -> Self {
        for k in 0..K {
            self.0[k] = self.0[k].mul_add(a.0[k], b.0[k]);
        }
        self
    }
    each! {
        recip rsqrt sqrt cbrt abs floor exp ln sin cos tan asin acos atan sinh cosh tanh;
        powf min max
    }
    comparison!(lt le eq gt ge ne);
    #[inline(always)]
    fn outline<W: Outlined>(work: W) {
        L::outline(work);
    }
    #[inline(always)]
    fn select(mask: Self::Mask, mut a: Self, b: Self) -> Self {
        for k in 0..K {
            a.0[k] = L::select(mask.0[k], a.0[k], b.0[k]);
        }
        a
    }
}

impl<L: Lanes, const K: usize> Lanes for Wide<L, K> {
    type Scalar = L::Scalar;
    const WIDTH: usize = {
        assert!(K >= 1 && K * L::WIDTH <= 64, "the bits of a mask are those of a u64");
        K * L::WIDTH
    };

    #[inline(always)]
    fn splat(x: L::Scalar) -> Self {
        Self([L::splat(x); K])
    }
    #[inline(always)]
    fn load(from: &[L::Scalar]) -> Self {
        let mut wide = Self([L::splat(L::Scalar::from_f64(0.0)); K]);
        let from = &from[..Self::WIDTH];
        for k in 0..K {
            wide.0[k] = L::load(&from[k * L::WIDTH..]);
        }
        wide
    }
    #[inline(always)]
    fn store(self, to: &mut [L::Scalar]) {
        let to = &mut to[..Self::WIDTH];
        for k in 0..K {
            self.0[k].store(&mut to[k * L::WIDTH..]);
        }
    }
    #[inline(always)]
    unsafe fn stream(self, to: &mut [L::Scalar]) {
        let to = &mut to[..Self::WIDTH];
        for k in 0..K {
            // SAFETY: the caller's promise.
            unsafe { self.0[k].stream(&mut to[k * L::WIDTH..]) };
        }
    }
    #[inline(always)]
    fn lane(self, i: usize) -> L::Scalar {
        self.0[i / L::WIDTH].lane(i % L::WIDTH)
    }
    #[inline(always)]
    fn set_lane(&mut self, i: usize, x: L::Scalar) {
        self.0[i / L::WIDTH].set_lane(i % L::WIDTH, x);
    }
    #[inline(always)]
    fn bits(mask: Self::Mask) -> u64 {
        let mut bits = 0;
        for k in 0..K {
            bits |= L::bits(mask.0[k]) << (k * L::WIDTH);
        }
        bits
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self::Mask {
        let mut mask = [L::from_bits(bits); K];
        for k in 1..K {
            mask[k] = L::from_bits(bits >> (k * L::WIDTH));
        }
        WideMask(mask)
    }
}
