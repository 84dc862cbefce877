//! A single number as a pack of one lane.

use super::{Isa, LaneWork, Lanes, PackVisitor, Scalar, Wide};

#[cfg(target_arch = "x86_64")]
use super::{
    avx2::{F32x8, F64x4},
    avx512::{F32x16, F64x8},
};

/// Where there are no packs, the sets that would use them are never available.
#[cfg(not(target_arch = "x86_64"))]
mod absent {
    pub(super) type F64x8 = f64;
    pub(super) type F64x4 = f64;
    pub(super) type F32x16 = f32;
    pub(super) type F32x8 = f32;
}
#[cfg(not(target_arch = "x86_64"))]
use absent::{F32x8, F32x16, F64x4, F64x8};

/// Packs in a [`Wide`] block, per instruction set. Four fill the registers' latency without
/// spilling; single numbers need more to make a block worth an interpreter's while.
const AVX512_BLOCK: usize = 4;
const AVX2_BLOCK: usize = 4;
const SCALAR_BLOCK: usize = 8;

macro_rules! one_lane {
    ($float:ty, $name:literal, $avx512:ty, $avx2:ty, $pair512:ty, $pair2:ty) => {
        impl Lanes for $float {
            type Scalar = $float;
            const WIDTH: usize = 1;
            #[inline(always)]
            fn splat(x: $float) -> Self {
                x
            }
            #[inline(always)]
            fn load(from: &[$float]) -> Self {
                from[0]
            }
            #[inline(always)]
            fn store(self, to: &mut [$float]) {
                to[0] = self;
            }
            #[inline(always)]
            fn lane(self, _i: usize) -> $float {
                self
            }
            #[inline(always)]
            fn set_lane(&mut self, _i: usize, x: $float) {
                *self = x;
            }
            #[inline(always)]
            fn bits(mask: bool) -> u64 {
                mask as u64
            }
            #[inline(always)]
            fn from_bits(bits: u64) -> bool {
                bits & 1 == 1
            }
        }

        impl Scalar for $float {
            const NAME: &'static str = $name;
            const EPSILON: f64 = <$float>::EPSILON as f64;
            const MIN_POSITIVE: f64 = <$float>::MIN_POSITIVE as f64;
            const MAX: f64 = <$float>::MAX as f64;
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $float
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$float>::is_finite(self)
            }
            #[inline]
            fn dispatch<W: LaneWork<Self>>(isa: Isa, work: W) -> W::Output {
                isa.dispatch_over::<Self, $avx512, $avx2, Self, W>(work)
            }
            #[inline]
            fn dispatch_pair<W: LaneWork<Self>>(isa: Isa, work: W) -> W::Output {
                isa.dispatch_over::<Self, $pair512, $pair2, Self, W>(work)
            }
            #[inline]
            fn dispatch_wide<W: LaneWork<Self>>(isa: Isa, work: W) -> W::Output {
                isa.dispatch_over::<
                                                                    Self,
                                                                    Wide<$avx512, AVX512_BLOCK>,
                                                                    Wide<$avx2, AVX2_BLOCK>,
                                                                    Wide<Self, SCALAR_BLOCK>,
                                                                    W,
                                                                >(work)
            }
            fn visit_packs<V: PackVisitor<Self>>(visitor: &mut V) {
                let pairs = <$pair512 as Lanes>::WIDTH != <$avx512 as Lanes>::WIDTH;
                if Isa::Avx512.is_available() {
                    visitor.visit::<$avx512>();
                    if pairs {
                        visitor.visit_pair::<$pair512>();
                    }
                    visitor.visit::<Wide<$avx512, AVX512_BLOCK>>();
                }
                if Isa::Avx2.is_available() {
                    visitor.visit::<$avx2>();
                    if pairs {
                        visitor.visit_pair::<$pair2>();
                    }
                    visitor.visit::<Wide<$avx2, AVX2_BLOCK>>();
                }
                visitor.visit::<$float>();
                visitor.visit::<Wide<$float, SCALAR_BLOCK>>();
            }
        }
    };
}

one_lane!(f64, "f64", F64x8, F64x4, Wide<F64x8, 2>, Wide<F64x4, 2>);
one_lane!(f32, "f32", F32x16, F32x8, F32x16, F32x8);
