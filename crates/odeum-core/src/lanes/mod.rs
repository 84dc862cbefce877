//! SIMD lanes: one ODE system per lane.
//!
//! A lane pack is a [`Real`] of [`WIDTH`](Lanes::WIDTH) independent numbers. There is one small
//! type per instruction set, and the set is chosen when the program runs: generic code marked
//! `#[inline(always)]` is called from a function compiled for the set ([`Isa::dispatch`]), so one
//! baseline binary runs at the speed of a native build.

mod scalar;

use crate::real::Real;

/// A pack of [`WIDTH`](Lanes::WIDTH) numbers of one precision.
pub trait Lanes: Real {
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
    /// The number in lane `i`.
    fn lane(self, i: usize) -> Self::Scalar;
    /// Replaces the number in lane `i`.
    fn set_lane(&mut self, i: usize, x: Self::Scalar);
    /// One bit per lane, lane 0 lowest; the other bits are zero.
    fn bits(mask: Self::Mask) -> u64;
    /// The inverse of [`bits`](Lanes::bits); bits above the width are ignored.
    fn from_bits(bits: u64) -> Self::Mask;
}

/// The precision of a computation: `f64` or `f32`.
pub trait Scalar:
    Lanes<Scalar = Self, Mask = bool>
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
    /// Largest finite number.
    const MAX: f64;
    /// Rounds to this precision.
    fn from_f64(x: f64) -> Self;
    /// Widens, exactly.
    fn to_f64(self) -> f64;
    /// True unless NaN or infinite.
    fn is_finite(self) -> bool;
}

/// An instruction set the CPU backend has lanes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// No lanes: one system at a time, on any processor.
    Scalar,
}

/// Work that is generic over the lane pack; [`Isa::dispatch`] picks the pack.
pub trait LaneWork<T: Scalar> {
    /// What the work gives.
    type Output;
    /// Does the work. Must be `#[inline(always)]`, as everything it calls.
    fn run<L: Lanes<Scalar = T>>(self) -> Self::Output;
}

impl Isa {
    /// The widest set this processor has.
    pub fn best() -> Isa {
        Isa::Scalar
    }

    /// Runs `work` with the lane pack of this set.
    pub fn dispatch<T: Scalar, W: LaneWork<T>>(self, work: W) -> W::Output {
        match self {
            Isa::Scalar => work.run::<T>(),
        }
    }
}
