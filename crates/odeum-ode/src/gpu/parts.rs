//! What the parts of a step cost on a GPU.

use super::arena::{Offsets, Shape};
use super::groups::{self, Content};
use super::kept::Kept;
use super::launch::launch;
use super::plan::no_kernel;
use super::source::Traits;
use super::system::DeviceSystem;
use super::task::{Lists, Task};
use crate::ensemble::{Ensemble, check_shape};
use crate::method::Method;
use crate::options::{FirstStep, Options};
use crate::tolerance::Tolerance;
use odeum_core::{Error, Scalar};
use odeum_cuda::{Device, Memory, Stream};
use std::sync::Arc;

/// A part of a step of an implicit method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPart {
    /// f.
    Rhs,
    /// f with its Jacobian.
    Jacobian,
    /// f with its Jacobian, and the factors of σI − J.
    Factors,
    /// A linear system solved by these factors.
    Solve,
}

/// Times of a part for each system in the shorter and the longer launch: what they differ by is the part alone.
const TURNS: [u32; 2] = [2, 22];
/// Launches of each, of which the fastest counts.
const LAUNCHES: usize = 3;

impl StepPart {
    /// All parts.
    pub const ALL: [StepPart; 4] =
        [StepPart::Rhs, StepPart::Jacobian, StepPart::Factors, StepPart::Solve];

    /// What is 1 in the text of its kernel.
    pub(super) fn flag(self) -> &'static str {
        match self {
            StepPart::Rhs => "OD_PART_RHS",
            StepPart::Jacobian => "OD_PART_JACOBIAN",
            StepPart::Factors => "OD_PART_FACTORS",
            StepPart::Solve => "OD_PART_SOLVE",
        }
    }

    /// Seconds that the part takes for each system of an ensemble on the GPU of this number: by a kernel that does it over
    /// and over, laid out as that of Rodas4, so that what it needs lies where it does in a step, but its instructions are
    /// always at hand. The matrix is that of a step over the span.
    ///
    /// # Errors
    /// Arguments that cannot be used, a GPU that is not there, or too little memory on it.
    pub fn seconds<T: Scalar>(
        self,
        system: impl Into<DeviceSystem>,
        ensemble: &Ensemble<T>,
        tolerance: &Tolerance,
        ordinal: usize,
    ) -> Result<f64, Error> {
        let measured = measure(self, &Kept::open(ordinal)?, &system.into(), ensemble, tolerance)?;
        Ok(measured.seconds)
    }
}

/// Of which method these are the parts.
pub(super) fn method() -> Method {
    Method::rodas4()
}

/// What a part took, and what it gave.
pub(super) struct Measured<T> {
    /// For each system \[s\].
    pub(super) seconds: f64,
    /// f, or what a solve makes of it, component-major \[n × M\].
    pub(super) values: Vec<T>,
}

pub(super) fn measure<T: Scalar, D: Device>(
    part: StepPart,
    kept: &Arc<Kept<D>>,
    system: &DeviceSystem,
    ensemble: &Ensemble<T>,
    tolerance: &Tolerance,
) -> Result<Measured<T>, Error> {
    check_shape(system.grouped.sizes(), (ensemble.dim(), ensemble.n_params()))?;
    let method = method();
    let options = Options::new(tolerance.clone()).first_step(FirstStep::Fraction(1.0));
    options.check(method.controller().fixed_step(), ensemble)?;
    let shared = ensemble.shares_params();
    let traits = Traits::new(T::NAME == "f32", shared, &method, &options, &[]);
    let kernel = groups::kernel(
        system,
        &method,
        Content::Part(part),
        &traits,
        &kept.limits,
        kept.least_width,
    )
    .ok_or_else(|| no_kernel(system, &method, &kept.device.name()))?;
    let kernel = Arc::new(kernel);
    let loaded = kept.load(&kernel)?;
    let shape =
        Shape { shared_span: true, ..Shape::of(&ensemble.inputs(), &options, traits.n_counts) };
    let systems = ensemble.len();
    let offsets = Offsets::new(&shape, systems);
    let mut lane = kept.lane(offsets.end)?;
    let lists = Lists::new(&traits, &options, ensemble.dim());
    lane.put(&offsets, &ensemble.inputs(), &lists)?;
    let arrays = offsets.arrays::<T>(lane.arena.address());
    let mut fastest = [f64::INFINITY; 2];
    for (turns, fastest) in TURNS.into_iter().zip(&mut fastest) {
        let options = options.clone().max_steps(turns);
        let task = Task::new(arrays, ensemble.span(0), systems, systems, &method, &options);
        for _ in 0..LAUNCHES {
            // SAFETY: the arena is live until the stream has been waited for.
            unsafe { lane.stream.set_bytes(&mut lane.arena, offsets.counters(), 0)? };
            lane.stream.record_time(0)?;
            // SAFETY: as above.
            unsafe { launch(kept, &loaded, &kernel.layout, 1, &task, &mut lane)? };
            lane.stream.record_time(1)?;
            lane.stream.wait()?;
            *fastest = fastest.min(lane.stream.elapsed_ms(0, 1)?);
        }
    }
    let values = lane.get(offsets.end_states, ensemble.dim() * systems)?;
    kept.keep(lane);
    let turns = f64::from(TURNS[1] - TURNS[0]) * systems as f64;
    Ok(Measured { seconds: (fastest[1] - fastest[0]) / 1e3 / turns, values })
}
