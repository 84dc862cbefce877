//! Explicit embedded Runge–Kutta pairs.
//!
//! # Equation
//! y' = f(t, y), not stiff.
//!
//! # Method
//! k₁ = f(t, y), kᵢ = f(t + cᵢh, y + h Σⱼ aᵢⱼ kⱼ), y⁺ = y + h Σ bᵢ kᵢ, and the error estimate
//! e = h Σ (bᵢ − b̂ᵢ) kᵢ against the embedded solution of lower order. The step continues with the
//! solution of higher order (local extrapolation).
//!
//! # Order and stability
//! Each [`Tableau`] states its orders; the stability intervals on the negative real axis
//! ([`Tableau::real_stability`]) are 3.73 for Cash & Karp, 3.31 for Dormand & Prince, 3.51 for
//! Tsitouras and 4.64 for Verner. Beyond them stability limits the step.
//!
//! # Reference
//! Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, 2nd ed., ch. II.4–II.5;
//! each tableau names its own source.
//!
//! # Options
//! [`Erk::tableau`]; [`Erk::controller`] (by default integral, as in Niemeyer & Sung 2014; use `pi` if a
//! mildly stiff system makes the step size oscillate).
//!
//! # Statuses
//! `Success`, `TerminalEvent`, `MaxSteps`, `MaxEvaluations`, `StepTooSmall`, `NonFinite`, `OutsideBounds`,
//! `InvalidStart`, `NotRun`.

mod device;
mod lanes;
#[cfg(test)]
mod order_conditions;
mod slots;
pub(crate) mod stepper;
mod tableau;
mod tables;

pub use tableau::Tableau;
pub use tables::{ALL, CASH_KARP, DORMAND_PRINCE, TSITOURAS, VERNER7};

use crate::controller::Controller;

/// An explicit Runge–Kutta pair and its step-size control.
#[derive(Clone, Debug, PartialEq)]
pub struct Erk {
    /// The coefficients.
    pub tableau: &'static Tableau,
    /// The step-size controller.
    pub controller: Controller,
}

impl Erk {
    /// A pair with the integral controller.
    pub fn new(tableau: &'static Tableau) -> Self {
        Erk { tableau, controller: Controller::integral() }
    }
}
