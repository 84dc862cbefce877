//! SIMD lanes: one ODE system per lane.
//!
//! A lane pack is a [`Real`] of [`WIDTH`](Lanes::WIDTH) independent numbers. There is one small
//! type per instruction set, and the set is chosen when the program runs: generic code marked
//! `#[inline(always)]` is called from a function compiled for the set ([`Isa::dispatch`]), so one
//! baseline binary runs at the speed of a native build.
//!
//! The result in a lane depends on the arguments in that lane alone, bit for bit: not on the
//! neighbours, nor on the lane's place in the pack.
//!
//! # Accuracy
//!
//! The largest errors of the elementary functions of `f64` packs, in units of the last place, on
//! 150 000 arguments each (300 000 for `powf`; `tests/data/make_elementary.py` draws them, many
//! where a function is difficult), and the bounds that the tests hold them to:
//!
//! | function | largest | bound | | function | largest | bound |
//! | -------- | ------- | ----- |-| -------- | ------- | ----- |
//! | `exp`    | 0.77    | 0.8   | | `acos`   | 0.57    | 0.7   |
//! | `ln`     | 0.82    | 0.9   | | `atan`   | 0.72    | 0.8   |
//! | `powf`   | 0.99    | 1.1   | | `sinh`   | 0.79    | 0.8   |
//! | `sin`    | 0.72    | 0.8   | | `cosh`   | 0.88    | 0.9   |
//! | `cos`    | 0.71    | 0.8   | | `tanh`   | 0.80    | 0.9   |
//! | `tan`    | 0.81    | 0.9   | | `cbrt`   | 0.50    | 0.6   |
//! | `asin`   | 0.61    | 0.7   | | `rsqrt`  | 1.11, by division 1.49 | 1.5 |
//!
//! Functions of `f32` packs err by at most 0.501 units, but for `rsqrt` with the same 1.5. Zeros,
//! infinities, NaN and subnormal numbers follow IEEE 754 throughout. Every set with lanes gives the
//! same bits, except for `rsqrt`, which starts from an estimate on AVX-512. Angles beyond ±2²⁰ go
//! to the standard library one by one. Single numbers ([`Isa::Scalar`]) use the standard library
//! for everything and have no fused multiply-add.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod isa;
#[cfg(target_arch = "x86_64")]
mod math;
#[cfg(target_arch = "x86_64")]
mod pack;
mod scalar;
mod wide;

use crate::real::Real;

pub use isa::{Isa, LaneWork, PackVisitor, UnknownIsa};
pub use wide::{Wide, WideMask};

/// A pack of [`WIDTH`](Lanes::WIDTH) numbers of one precision.
pub trait Lanes: Real + 'static {
    /// The number in one lane.
    type Scalar: Scalar;
    /// Lanes in the pack, at most 64.
    const WIDTH: usize;

    /// The same number in every lane.
    fn splat(x: Self::Scalar) -> Self;
    /// The first [`WIDTH`](Lanes::WIDTH) numbers of `from`.
    fn load(from: &[Self::Scalar]) -> Self;
    /// Writes all lanes to the front of `to`.
    fn store(self, to: &mut [Self::Scalar]);
    /// As [`store`](Lanes::store), past the caches: for results that are not read again soon.
    ///
    /// # Safety
    ///
    /// The place must be aligned as the pack is. Before anything else reads or writes it, this
    /// thread must call [`stream_fence`].
    #[inline(always)]
    unsafe fn stream(self, to: &mut [Self::Scalar]) {
        self.store(to);
    }
    /// The number in lane `i`, below the width.
    fn lane(self, i: usize) -> Self::Scalar;
    /// Replaces the number in lane `i`, below the width.
    fn set_lane(&mut self, i: usize, x: Self::Scalar);
    /// Every lane from the one below; the lowest from the highest of `before`.
    #[inline(always)]
    fn shifted_up(self, before: Self) -> Self {
        let mut shifted = before;
        shifted.set_lane(0, before.lane(Self::WIDTH - 1));
        for i in 1..Self::WIDTH {
            shifted.set_lane(i, self.lane(i - 1));
        }
        shifted
    }
    /// Every lane from the one above; the highest from the lowest of `after`.
    #[inline(always)]
    fn shifted_down(self, after: Self) -> Self {
        let mut shifted = after;
        for i in 1..Self::WIDTH {
            shifted.set_lane(i - 1, self.lane(i));
        }
        shifted.set_lane(Self::WIDTH - 1, after.lane(0));
        shifted
    }
    /// One bit per lane, lane 0 lowest; the other bits are zero.
    fn bits(mask: Self::Mask) -> u64;
    /// The inverse of [`bits`](Lanes::bits); bits above the width are ignored.
    fn from_bits(bits: u64) -> Self::Mask;
}

/// Asks for the cache line at a place, which need not exist, ahead of its use.
#[inline(always)]
pub fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing the program could see and faults at no address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Ends the [streaming](Lanes::stream) of this thread: what was written may be used again.
#[inline(always)]
pub fn stream_fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// The precision of a computation: `f64` or `f32`.
pub trait Scalar:
    Lanes<Scalar = Self, Mask = bool>
    + crate::memory::Zeroable
    + Copy
    + PartialOrd
    + Default
    + Send
    + Sync
    + std::fmt::Display
    + 'static
{
    /// `"f64"` or `"f32"`.
    const NAME: &'static str;
    /// Distance from 1 to the next larger number.
    const EPSILON: f64;
    /// The smallest positive number of full precision.
    const MIN_POSITIVE: f64;
    /// Largest finite number.
    const MAX: f64;
    /// Rounds to this precision.
    fn from_f64(x: f64) -> Self;
    /// Widens, exactly.
    fn to_f64(self) -> f64;
    /// True unless NaN or infinite.
    fn is_finite(self) -> bool;

    /// [`Isa::dispatch`] for this precision: the one place that knows its packs.
    #[doc(hidden)]
    fn dispatch<W: LaneWork<Self>>(isa: Isa, work: W) -> W::Output;
    /// [`Isa::dispatch_pair`] for this precision.
    #[doc(hidden)]
    fn dispatch_pair<W: LaneWork<Self>>(isa: Isa, work: W) -> W::Output;
    /// [`Isa::dispatch_wide`] for this precision.
    #[doc(hidden)]
    fn dispatch_wide<W: LaneWork<Self>>(isa: Isa, work: W) -> W::Output;
    /// [`Isa::visit_packs`] for this precision.
    #[doc(hidden)]
    fn visit_packs<V: PackVisitor<Self>>(visitor: &mut V);
}
