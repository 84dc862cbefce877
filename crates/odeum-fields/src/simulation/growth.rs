//! The growth guard of adaptive steps, as that of ensembles: the error of a step says nothing about what is far below the tolerance,
//! and of what grows by itself the stages of RKC make far less than it becomes.
//!
//! Where all cells are alike within the tolerance, waves about one of them are waves of the field, and steps are held to a part of the
//! time in which the fastest of those that grow changes: of one that oscillates meanwhile longer steps would make too much. A species that is
//! near `atol` in all cells counts as alike: an error of `atol` a step, which is then allowed, is a large part of it.
//! Coefficients that differ from cell to cell, which are species that nothing changes, leave the guard on: what a place would grow by is
//! then more than the field does, and steps are shorter than they must be, never longer.
//! Where cells differ by more, and are not near `atol`, eigenvalues are those of places, not of the field: within a front at rest there are cells that would grow
//! by themselves. What changes there the error sees.
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

/// |hλ| of what grows, at least and at most: of its growth by a factor e a step of RKC leaves out up to (hλ)²/6, which is to be within `rtol`.
const LIMITS: [f64; 2] = [0.05, 0.25];

/// Values that are not larger, in units of `atol`, have errors that are large beside them.
const NEAR_ATOL: f64 = 300.0;

/// Units in the last place of the time that steps are not held below: shorter ones are none.
const UNITS: f64 = 4.0;

/// The shortest step that the guard, or the first guess, asks for.
pub(super) fn shortest(t: f64) -> f64 {
    UNITS * f64::EPSILON * t.abs()
}

impl<T: Precision> Simulation<T> {
    /// The longest step that resolves what grows unseen.
    pub(super) fn longest(&self) -> f64 {
        let Clock { t, growing_radius, held: [exponents, time], .. } = self.clock;
        let free = if exponents < EXPONENTS { 0.0 } else { time / EXPONENTS * LIMITS[1] };
        (self.limit() / growing_radius).max(free).max(shortest(t))
    }

    /// |hλ| of what grows unseen at most.
    fn limit(&self) -> f64 {
        let Steps::Adaptive(tolerance) = &self.options.steps else { return f64::INFINITY };
        (6.0 * tolerance.rtol).sqrt().clamp(LIMITS[0], LIMITS[1])
    }

    /// Takes over how fast something grows and oscillates about the present field, where that is unseen.
    pub(super) fn watch_growth(&mut self, [growth, growing_radius]: [f64; 2]) -> Result<(), Error> {
        let Steps::Adaptive(tolerance) = &self.options.steps else { return Ok(()) };
        let is_unseen = growth > 0.0 && self.is_even(tolerance)?;
        let seen = [0.0; 2];
        [self.clock.growth, self.clock.growing_radius] =
            if is_unseen { [growth, growing_radius] } else { seen };
        Ok(())
    }

    /// Counts an adaptive step of size `h` among those that nothing but the guard has held, if the next would be longer without it.
    pub(super) fn count_held(&mut self, h: f64, accepted: bool) {
        let Clock { growth, growing_radius, held: [exponents, time], next_step, .. } = self.clock;
        let is_held = accepted && next_step * growing_radius > self.limit();
        self.clock.held = if is_held { [exponents + h * growth, time + h] } else { [0.0; 2] };
    }

    /// Whether all cells are alike within the tolerance, or near `atol`, but for what nothing changes.
    fn is_even(&self, tolerance: &Tolerance) -> Result<bool, Error> {
        let summaries = self.backend.summaries()?;
        Ok(summaries.iter().zip(&self.still).enumerate().all(|(s, (species, is_still))| {
            let size = species.max.abs().max(species.min.abs());
            let atol = tolerance.atol.at(s);
            *is_still
                || species.max - species.min <= atol + tolerance.rtol * size
                || size <= NEAR_ATOL * atol
        }))
    }
}
