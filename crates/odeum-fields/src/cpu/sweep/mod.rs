//! One pass over the grid: out = own · out + Σ cₖ Vₖ + rhs · F(t, u).
//!
//! Every explicit method is a sequence of such sweeps. A sweep is cut into tiles that write
//! disjoint rows; a row is computed from the rows around it by code that does not know the tile,
//! so the bits of a result depend neither on the tiles nor on the threads.

mod cascade;
mod coded;
mod combine;
mod faces;
mod flush;
mod gain;
mod gather;
mod laplacian;
mod line;
mod masked;
mod memory;
mod moment;
mod nine;
mod program;
mod ring;
mod rod;
mod rod_rows;
mod row;
mod scratch;
mod sweeper;
mod tile;
mod transport;

pub(crate) use combine::MOST;
pub(crate) use sweeper::{Batch, Sweeper};
pub(crate) use tile::STREAM;

use crate::cpu::native::Code;
use crate::cpu::sums::{Errors, Part, Summing};
use crate::field::Field;
use crate::plan::solids::Solids;
use crate::plan::{Kernel, Plan};
use memory::Memory;
use moment::Moment;
use odeum_core::lanes::{LaneWork, stream_fence};
use odeum_core::{Isa, Lanes, Scalar};
use rod::Rods;
use tile::Tile;

/// What a sweep computes from F and other fields of the same shape.
#[derive(Clone, Copy)]
pub struct Combination<'a, T> {
    /// The factor of F.
    pub rhs: f64,
    /// The factor of the old content of the output; `None` to leave that unread.
    pub own: Option<f64>,
    /// Factors and fields.
    pub terms: &'a [(f64, &'a Field<T>)],
}

/// `f32` and `f64`: the precisions that fields are computed in.
///
/// Their kernels are compiled once, here, and not again in every crate that uses them.
pub trait Precision: Scalar {
    /// Computes the rows of a tile; true when every value of the output is finite.
    #[doc(hidden)]
    fn tile(isa: Isa, frame: &Frame<'_, Self>, tile: &Tile, memory: &mut Memory<Self>) -> bool;

    /// Takes steps along rods; gives how many.
    #[doc(hidden)]
    fn rods(isa: Isa, rods: Rods<'_, Self>) -> u64;

    /// Sums up some rows.
    #[doc(hidden)]
    fn sum_up(isa: Isa, rows: Summing<'_, Self>) -> Part;

    /// Adds up errors of some rows.
    #[doc(hidden)]
    fn add_errors(isa: Isa, errors: Errors<'_, Self>) -> f64;
}

impl Precision for f32 {
    fn tile(isa: Isa, frame: &Frame<'_, f32>, tile: &Tile, memory: &mut Memory<f32>) -> bool {
        run_tile(isa, frame, tile, memory)
    }

    fn rods(isa: Isa, rods: Rods<'_, f32>) -> u64 {
        isa.dispatch(rods)
    }

    fn sum_up(isa: Isa, rows: Summing<'_, f32>) -> Part {
        isa.dispatch(rows)
    }

    fn add_errors(isa: Isa, errors: Errors<'_, f32>) -> f64 {
        isa.dispatch(errors)
    }
}

impl Precision for f64 {
    fn tile(isa: Isa, frame: &Frame<'_, f64>, tile: &Tile, memory: &mut Memory<f64>) -> bool {
        run_tile(isa, frame, tile, memory)
    }

    fn rods(isa: Isa, rods: Rods<'_, f64>) -> u64 {
        isa.dispatch(rods)
    }

    fn sum_up(isa: Isa, rows: Summing<'_, f64>) -> Part {
        isa.dispatch(rows)
    }

    fn add_errors(isa: Isa, errors: Errors<'_, f64>) -> f64 {
        isa.dispatch(errors)
    }
}

fn run_tile<T: Scalar>(
    isa: Isa,
    frame: &Frame<'_, T>,
    tile: &Tile,
    memory: &mut Memory<T>,
) -> bool {
    // A step so short that its size is zero here is a step: the terms of the frame are not all.
    let sums = frame.rhs == T::from_f64(0.0) && !frame.from_here;
    let finite = match sums && frame.moments.len() == 1 {
        true => isa.dispatch(Combine { frame, tile }),
        false => isa.dispatch(Sweep { frame, tile, memory }),
    };
    if frame.streams {
        stream_fence();
    }
    finite
}

/// What all tiles of a sweep share.
pub struct Frame<'a, T> {
    pub(crate) plan: &'a Plan<T>,
    pub(crate) solids: Option<&'a Solids>,
    pub(crate) moments: &'a [Moment<T>],
    pub(crate) u: &'a [T],
    pub(crate) rhs: T,
    pub(crate) own: Option<T>,
    pub(crate) terms: &'a [(T, &'a [T])],
    /// Whether what F is taken of is added, in place of all terms.
    pub(crate) from_here: bool,
    pub(crate) out: Output<T>,
    /// Whether the output is written past the caches.
    pub(crate) streams: bool,
    /// Rows that are computed together where no ghosts are near.
    pub(crate) together: usize,
    /// Whether the ghosts of a boundary along z have to be computed.
    pub(crate) boundaries_in_z: bool,
    /// The code of rows of the output, of those that solid cells are near, of those of steps
    /// between, and of potentials.
    pub(crate) outputs: Option<&'a Code>,
    pub(crate) near_solids: Option<&'a Code>,
    pub(crate) between: Option<&'a Code>,
    pub(crate) potentials: Option<&'a Code>,
}

impl<T> Frame<'_, T> {
    /// Whether any rows are left to the interpreter.
    pub(crate) fn interprets(&self) -> bool {
        let Kernel::Tape(tape) = &self.plan.kernel else { return false };
        self.outputs.is_none()
            || self.solids.is_some() && self.near_solids.is_none()
            || self.moments.len() > 1 && self.between.is_none()
            || tape.n_potentials > 0 && self.potentials.is_none()
    }
}

/// The field that a sweep writes.
pub(crate) struct Output<T>(*mut T);

// SAFETY: tiles write disjoint rows, and nobody reads the output while a sweep runs.
unsafe impl<T: Send> Send for Output<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Output<T> {}

impl<T> Output<T> {
    /// A value of the field.
    fn at(&self, at: usize) -> *mut T {
        self.0.wrapping_add(at)
    }
}

/// A tile of a combination of fields alone.
struct Combine<'a, T> {
    frame: &'a Frame<'a, T>,
    tile: &'a Tile,
}

impl<T: Scalar> LaneWork<T> for Combine<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> bool {
        combine::without_rhs::<L>(self.frame, self.tile)
    }
}

/// A tile with F.
struct Sweep<'a, T> {
    frame: &'a Frame<'a, T>,
    tile: &'a Tile,
    memory: &'a mut Memory<T>,
}

impl<T: Scalar> LaneWork<T> for Sweep<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> bool {
        cascade::run::<L>(self.frame, self.tile, self.memory)
    }
}
