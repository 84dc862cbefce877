//! Rosenbrock methods: linearly implicit Runge–Kutta for stiff systems.
//!
//! # Equation
//! y' = f(t, y), stiff.
//!
//! # Method
//! With J = ∂f/∂y and fₜ = ∂f/∂t at the start of the step, each of s stages solves one linear
//! system with the same matrix,
//!
//! (1/(hγ) I − J) Uᵢ = f(t + αᵢh, y + Σ aᵢⱼUⱼ) + Σ (cᵢⱼ/h) Uⱼ + hγᵢ fₜ,
//!
//! and y⁺ = y + Σ mᵢUᵢ with the error estimate Σ eᵢUᵢ. The transformed form of Hairer & Wanner II,
//! eqs. IV.7.16–17 and (for fₜ) IV.7.25, avoids products with J.
//!
//! Nothing is iterated: each step evaluates one Jacobian, each attempt takes one factorisation and a
//! fixed number of evaluations. After a rejection the Jacobian and f(y) are kept (on CPUs).
//!
//! # Order and stability
//! Each [`Tableau`] states its orders; all are L-stable and stiffly accurate.
//!
//! | | order | stages | evaluations | for |
//! |-|-------|--------|-------------|-----|
//! | [`RODAS3`] | 3(2) | 4 | 3 | loose tolerances (above 10⁻⁴), costly right-hand sides |
//! | [`RODAS4`] | 4(3) | 6 | 6 | tolerances about 10⁻⁴ to 10⁻⁶ |
//! | [`RODAS5P`] | 5(4) | 8 | 8 | 10⁻⁴ to 10⁻⁸: first choice for stiff systems |
//! | [`ROS34PW2`] | 3(2) | 4 | 4 | Jacobians that are not exact |
//!
//! # Reference
//! Hairer & Wanner, *Solving Ordinary Differential Equations II*, 2nd ed., ch. IV.7; each tableau
//! names its own source.
//!
//! # Options
//! [`Rosenbrock::tableau`]; [`Rosenbrock::jacobian`] (exact; take [`ROS34PW2`] where it must be by finite differences);
//! [`Rosenbrock::controller`] (integral, safety 0.9, factors 0.2 to 6, as RODAS).
//!
//! [`Options::growth_limit`](crate::Options::growth_limit), for all implicit methods: a step over
//! which a perturbation grows by more than e to this power is rejected, since the method would damp
//! it. Turn it off to follow an unstable solution with large steps.
//!
//! # Statuses
//! `Success`, `TerminalEvent`, `MaxSteps`, `MaxEvaluations`, `StepTooSmall`, `NonFinite`,
//! `SingularMatrix`, `OutsideBounds`, `InvalidStart`, `NotRun`; with fixed steps `GrowthUnresolved`.

mod device;
#[cfg(test)]
mod order_conditions;
pub(crate) mod stepper;
mod tableau;
mod tables;

pub use tableau::Tableau;
pub use tables::{ALL, RODAS3, RODAS4, RODAS5P, ROS34PW2};

use super::JacobianSource;
use crate::controller::{Controller, Law};

/// A Rosenbrock method and its step-size control.
#[derive(Clone, Debug, PartialEq)]
pub struct Rosenbrock {
    /// The coefficients.
    pub tableau: &'static Tableau,
    /// Where the Jacobian comes from. By finite differences it is not exact: then a W-method keeps its
    /// order, the others fall to order 2 or less where the error of J matters. So they do with a Jacobian of the system's own that is
    /// wrong, with success: with one sign wrong in Robertson's problem, [`RODAS3`] ended 790 relative tolerances off.
    pub jacobian: JacobianSource,
    /// The step-size controller: integral, safety 0.9, factors 0.2 to 6 (as RODAS), unless said.
    pub controller: Controller,
}

impl Rosenbrock {
    /// A method with exact Jacobians.
    pub fn new(tableau: &'static Tableau) -> Self {
        let controller = Controller { law: Law::I, safety: 0.9, min_factor: 0.2, max_factor: 6.0 };
        Rosenbrock { tableau, jacobian: JacobianSource::Exact, controller }
    }
}
