//! Runge–Kutta–Chebyshev, order 2.
//!
//! # Equation
//! y' = f(t, y), moderately stiff, with eigenvalues of ∂f/∂y near the negative real axis
//! (diffusion, slow chemistry).
//!
//! # Method
//! The s stages follow the three-term recurrence of the Chebyshev polynomials. s is chosen in
//! each step so that the step is stable for the spectral radius σ of ∂f/∂y:
//! s = 1 + ⌊√(1 + 1.54 h σ)⌋. Work grows with √(hσ), that of an ordinary explicit method
//! with hσ; only a few vectors are stored whatever s. Coefficients are computed for any s
//! from their closed formulas.
//!
//! # Order and stability
//! Order 2; real stability interval 0.653 (s² − 1) with damping κ = 2/13, which leaves a narrow
//! strip around the axis.
//!
//! # Reference
//! Sommeijer, Shampine & Verwer (SSV), *RKC: an explicit solver for parabolic PDEs*, J. Comput. Appl.
//! Math. 88 (1998) 315–326; Niemeyer & Sung 2014, eqs. 13–33 (in eq. 15 the factor νⱼ multiplies
//! wⱼ₋₂).
//!
//! # Where the estimate of σ fails
//! The power method needs one real eigenvalue that dominates the others. With a dominant complex
//! pair the estimate oscillates for ever; with two real eigenvalues of opposite sign and nearly equal
//! size it converges too slowly (turning points of the Oregonator, Van der Pol at large μ, the
//! Brusselator without diffusion). Such a system ends with `SpectralRadius`: give a bound, or take
//! an implicit method.
//!
//! # Options
//! [`Rkc::radius_bound`]: a known bound of σ; the system may give one too
//! ([`System::spectral_radius`](odeum_core::System::spectral_radius)). Without either, σ is
//! estimated by a nonlinear power method, again every [`Rkc::RADIUS_EVERY`] steps (steps of one
//! size: each) and after each rejection. [`Rkc::max_stages`]: a step that would need more stages is shortened instead;
//! lower it if the rounding errors of many stages matter.
//!
//! # Statuses
//! `Success`, `TerminalEvent`, `MaxSteps`, `MaxEvaluations`, `StepTooSmall`, `NonFinite`,
//! `SpectralRadius`, `OutsideBounds`, `InvalidStart`, `NotRun`.

mod device;
pub(crate) mod radius;
pub mod recurrence;
pub(crate) mod stepper;
mod work;

use crate::controller::Controller;
use odeum_core::Error;

/// Runge–Kutta–Chebyshev of order 2 and its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Rkc {
    /// A bound of the spectral radius that holds for every system all the time [1 / units of t].
    pub radius_bound: Option<f64>,
    /// Most stages in a step, at least 2; by default √(rtol / (10 ε)) with ε the rounding unit,
    /// as SSV prescribe, so that the rounding errors of the stages stay below the tolerance.
    pub max_stages: Option<u32>,
    /// The step-size controller.
    pub controller: Controller,
}

impl Default for Rkc {
    fn default() -> Self {
        Rkc { radius_bound: None, max_stages: None, controller: Controller::predictive() }
    }
}

impl Rkc {
    /// Accepted steps after which the spectral radius is estimated anew; of steps of one size it is before each.
    pub const RADIUS_EVERY: u32 = 25;
    /// The error of a step from y to w with slopes F₀ and F is 0.8 (y − w) + 0.4 h (F₀ + F) (SSV, sec. 3.1).
    pub const ERROR_WEIGHTS: [f64; 2] = [0.8, 0.4];
    /// Most iterations of the power method.
    pub const POWER_ITERATIONS: u32 = 50;
    /// Order of the error estimate.
    pub const ERROR_ORDER: u32 = 2;

    /// Accepted steps after which it is estimated anew here: steps of one size have no error control that notices one that has grown.
    fn radius_every(&self) -> u32 {
        if self.controller.fixed_step().is_some() { 1 } else { Rkc::RADIUS_EVERY }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(bound) = self.radius_bound
            && !(bound > 0.0 && bound.is_finite())
        {
            return Err(Error::input("radius_bound", bound, "must be positive and finite"));
        }
        if let Some(stages) = self.max_stages
            && stages < 2
        {
            return Err(Error::input("max_stages", stages, "must be at least 2"));
        }
        Ok(())
    }
}
