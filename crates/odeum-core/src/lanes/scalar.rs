//! A single number as a pack of one lane.

use super::{Lanes, Scalar};

macro_rules! one_lane {
    ($float:ty, $name:literal) => {
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
        }
    };
}

one_lane!(f64, "f64");
one_lane!(f32, "f32");
