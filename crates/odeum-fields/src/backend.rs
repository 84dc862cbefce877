//! What fields lie on and are swept by: the CPU, or a GPU.

use crate::analysis::reduce::Summary;
use crate::field::Field;
use crate::tiling::Tiling;
use odeum_ode::{Error, Tolerance};
use std::borrow::Cow;

/// A field of a simulation. A backend has as many as the method needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The state at the time reached.
    Now,
    /// What a step is written to, and the newest stage.
    Next,
    /// The stage before.
    Older,
    /// F at the beginning of a step.
    Rhs,
}

/// As [`Combination`](crate::Combination), of the fields of a simulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blend<'a> {
    /// The factor of F.
    pub(crate) rhs: f64,
    /// The factor of the old content of the output; `None` to leave that unread.
    pub(crate) own: Option<f64>,
    pub(crate) terms: &'a [(f64, Slot)],
}

/// Steps of forward Euler of one size, taken without a word in between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    /// Step n of the sequence begins at `origin` + n `h`.
    pub(crate) origin: f64,
    pub(crate) h: f64,
    /// Number of the first step.
    pub(crate) first: u64,
    pub(crate) count: u64,
}

impl Batch {
    /// When step `n` of the batch begins \[time\].
    pub(crate) fn t(&self, n: u64) -> f64 {
        self.origin + (self.first + n) as f64 * self.h
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepsTaken {
    /// Steps that succeeded; the state is that after them.
    pub(crate) steps: u64,
    /// The first value of the step after these that is NaN or infinite: species and cell.
    pub(crate) non_finite: Option<(usize, [usize; 3])>,
}

/// A copy of a field, wherever it lies: taken at once, brought into memory when it is asked for,
/// on any thread.
pub struct Snapshot<T>(Fetch<T>);

type Fetch<T> = Box<dyn FnOnce() -> Result<Field<T>, Error> + Send>;

impl<T> Snapshot<T> {
    pub(crate) fn new(
        fetch: impl FnOnce() -> Result<Field<T>, Error> + Send + 'static,
    ) -> Snapshot<T> {
        Snapshot(Box::new(fetch))
    }

    /// The field.
    ///
    /// # Errors
    /// Too little memory, or a driver that fails.
    pub fn field(self) -> Result<Field<T>, Error> {
        (self.0)()
    }
}

/// The work of a simulation. Errors are those of devices; values that are not finite are none.
pub(crate) trait Backend<T: odeum_ode::Scalar> {
    /// out = own · out + Σ cₖ Vₖ + rhs · F(t, u); the output is none of the others.
    fn sweep(&mut self, t: f64, u: Slot, what: &Blend<'_>, out: Slot) -> Result<(), Error>;

    /// Takes steps of forward Euler from [`Slot::Now`] to there. Of steps that fail none counts
    /// after the first, and the state is that before it. There may be fewer than asked for, at least one.
    ///
    /// After an error the state is that before all of them, or [lost](Backend::is_lost).
    fn euler(&mut self, batch: &Batch) -> Result<StepsTaken, Error>;

    /// Whether the state went when a device failed.
    fn is_lost(&self) -> bool {
        false
    }

    /// Exchanges two fields.
    fn swap(&mut self, a: Slot, b: Slot);

    /// The first value that is NaN or infinite of a field that a step has ended in: what spoils a
    /// stage spoils all that follow.
    fn non_finite(&mut self, slot: Slot) -> Result<Option<(usize, [usize; 3])>, Error>;

    /// A step was left on its way: what it swept says nothing about the state.
    fn leave(&mut self) {}

    /// The error of RKC between [`Slot::Now`] and [`Slot::Next`], whose right-hand sides are in
    /// [`Slot::Rhs`] and [`Slot::Older`]; NaN when any value is not finite.
    fn rkc_error(&mut self, tolerance: &Tolerance, h: f64) -> Result<f64, Error>;

    /// Sum, mass, mean and extremes of every species.
    fn summaries(&self) -> Result<Vec<Summary>, Error>;

    /// Cells of the domain with the least and the largest value of every species.
    fn extreme_cells(&self) -> Result<Vec<[usize; 3]>, Error>;

    /// The values of all species in some cells \[cells × S\].
    fn pick(&self, cells: &[[usize; 3]]) -> Result<Vec<T>, Error>;

    /// The state where it lies in memory.
    fn in_memory(&self) -> Option<&Field<T>> {
        None
    }

    /// Gives the values of a species of the state to `take`, x fastest, some at a time.
    fn values(&self, species: usize, take: &mut dyn FnMut(&[T])) -> Result<(), Error>;

    /// The state.
    fn field(&self) -> Result<Cow<'_, Field<T>>, Error>;

    /// A copy of the state.
    fn snapshot(&self) -> Result<Snapshot<T>, Error>;

    /// Time that batches of forward Euler have taken on a device of its own so far \[s\].
    fn device_time(&self) -> Option<f64> {
        None
    }

    /// How cells are dealt to threads of a GPU.
    fn tiling(&self) -> Option<Tiling> {
        None
    }

    /// Deals cells to threads in another way, `None` for that of single steps.
    fn retile(&mut self, _tiling: Option<Tiling>) -> Result<(), Error> {
        Ok(())
    }
}
