//! The growth guard of adaptive steps, as that of ensembles: the error of a step says nothing about what is far below the tolerance,
//! and of what grows by itself the stages of RKC make far less than it becomes.
//!
//! Where all cells are alike within the tolerance, waves about one of them are waves of the field, and steps are held to a part of the
//! time in which the fastest grows. Where cells differ by more, eigenvalues are those of places, not of the field: within a front
//! at rest there are cells that would grow by themselves. What changes there the error sees.
//!
//! The work is bounded. What is not zero comes to any tolerance within [`EXPONENTS`] of growth. When this alone has held
//! steps for so long, for a time T, what grew so fast is zero, and steps of that part of T / `EXPONENTS` pass over nothing slower.

use super::Simulation;
use crate::cpu::sweep::Precision;
use crate::simulation::checkpoint::Clock;
use crate::time::method::Steps;
use odeum_ode::{Error, Tolerance};

/// The exponent from the smallest positive number to 1 and beyond.
const EXPONENTS: f64 = 745.0;

/// Growth over a step: at 0.25 a step of RKC makes 1.281 of 1 for 1.284.
const LIMIT: f64 = 0.25;

impl<T: Precision> Simulation<T> {
    /// The longest step that resolves what grows unseen.
    pub(super) fn longest(&self) -> f64 {
        let Clock { growth, held: [exponents, time], .. } = self.clock;
        let free = if exponents < EXPONENTS { 0.0 } else { time / EXPONENTS * LIMIT };
        (LIMIT / growth).max(free)
    }

    /// Takes over how fast something grows about the present field, where that is unseen.
    pub(super) fn watch_growth(&mut self, growth: f64) -> Result<(), Error> {
        let Steps::Adaptive(tolerance) = &self.options.steps else { return Ok(()) };
        let is_unseen = growth > 0.0 && self.is_even(tolerance)?;
        self.clock.growth = if is_unseen { growth } else { 0.0 };
        Ok(())
    }

    /// Counts an adaptive step of size `h` among those that nothing but the guard has held, if the next would be longer without it.
    pub(super) fn count_held(&mut self, h: f64, accepted: bool) {
        let Clock { growth, held: [exponents, time], next_step, .. } = self.clock;
        let is_held = accepted && growth > 0.0 && next_step * growth > LIMIT;
        self.clock.held = if is_held { [exponents + h * growth, time + h] } else { [0.0; 2] };
    }

    /// Whether all cells are alike within the tolerance.
    fn is_even(&self, tolerance: &Tolerance) -> Result<bool, Error> {
        let summaries = self.backend.summaries()?;
        Ok(summaries.iter().enumerate().all(|(s, species)| {
            let size = species.max.abs().max(species.min.abs());
            species.max - species.min <= tolerance.atol.at(s) + tolerance.rtol * size
        }))
    }
}
