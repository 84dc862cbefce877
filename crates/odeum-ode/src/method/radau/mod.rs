//! Radau IIA of order 5: the implicit Runge–Kutta method for stiff systems at tight tolerances.
//!
//! # Equation
//! y' = f(t, y), stiff.
//!
//! # Method
//! Collocation at the three Radau points c = ((4 − √6)/10, (4 + √6)/10, 1): the increments
//! zᵢ = Yᵢ − y solve z = h (A ⊗ I) f(y + z), and y⁺ = y + z₃. Simplified Newton iterations solve the
//! system transformed by the eigenvectors of A⁻¹, which decouples into one real and one complex
//! system of n equations with the matrices (γ/h) I − J and ((α + iβ)/h) I − J. They start from the
//! extrapolated collocation polynomial of the previous step. The Jacobian is kept while the iteration converges fast, for ten
//! steps at most and for steps of twice the size of its first one: growth that begins meanwhile shows in no other place. With steps of a given
//! size, which are not taken again shorter, each has its own. Factors are kept while the step hardly changes.
//!
//! The error estimate is (γ/h I − J)⁻¹ (f(t, y) + Σ eᵢzᵢ/h), solved with the factors of the real
//! matrix; on a first step or after a rejection it is filtered a second time.
//!
//! # Order and stability
//! Order 5 (stage order 3), error estimate of order 3; A- and L-stable, stiffly accurate.
//!
//! # Reference
//! Hairer & Wanner, *Solving Ordinary Differential Equations II*, 2nd ed., sec. IV.8, and their
//! code RADAU5.
//!
//! # Options
//! [`Radau::max_iterations`]; [`Radau::jacobian`]; [`Radau::controller`] (predictive, safety 0.9,
//! factors 0.2 to 8); [`Options::growth_limit`](crate::Options::growth_limit), as for
//! [Rosenbrock methods](super::rosenbrock).
//!
//! # Statuses
//! `Success`, `TerminalEvent`, `MaxSteps`, `MaxEvaluations`, `StepTooSmall`, `NonFinite`,
//! `NewtonDiverged`, `SingularMatrix`, `OutsideBounds`, `InvalidStart`, `NotRun`; with fixed steps `GrowthUnresolved`.

mod device;
mod newton;
pub(crate) mod stepper;
mod transform;

use super::JacobianSource;
use crate::controller::{Controller, Law};
use odeum_core::Error;

/// Radau IIA of order 5 and its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Radau {
    /// Most Newton iterations in a step, from 2 to 1000; default 7.
    pub max_iterations: u32,
    /// Where the Jacobian comes from.
    pub jacobian: JacobianSource,
    /// The step-size controller.
    pub controller: Controller,
}

impl Default for Radau {
    fn default() -> Self {
        let controller =
            Controller { law: Law::Predictive, safety: 0.9, min_factor: 0.2, max_factor: 8.0 };
        Radau { max_iterations: 7, jacobian: JacobianSource::Exact, controller }
    }
}

impl Radau {
    /// Order of the error estimate.
    pub const ERROR_ORDER: u32 = 3;

    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(2..=1000).contains(&self.max_iterations) {
            let remedy = "must lie between 2 and 1000";
            return Err(Error::input("max_iterations", self.max_iterations, remedy));
        }
        Ok(())
    }
}
