//! Exponential Rosenbrock methods: explicit Runge–Kutta methods that treat the linear part of the
//! problem exactly.
//!
//! # Equation
//! y' = f(t, y), stiff.
//!
//! # Method
//! With J = ∂f/∂y at the start of the step, D₁ = f(y) and Dᵢ = f(Uᵢ) − f(y) − J (Uᵢ − y),
//!
//! Uᵢ = y + h Σ aᵢⱼ(hJ) Dⱼ for j < i,  y⁺ = y + h Σ bⱼ(hJ) Dⱼ,
//!
//! where the coefficients are combinations of φₖ(c hJ), φₖ(z) = Σ zʲ/(j + k)!. A system that depends
//! on t is made autonomous by t' = 1, with ∂f/∂t.
//!
//! By default the functions act on vectors as series of Chebyshev polynomials in the resolvent
//! (σI − J)⁻¹, σ = 25/h: one factorisation for each attempt, and as many solves for each vector
//! as the tolerance requires (about 15 at 10⁻⁴, 20 at 10⁻⁶). [`Action::Krylov`] uses Krylov subspaces
//! instead, as Curtis et al. do. Both continue lane by lane until the estimated truncation error is
//! small; the truncation error counts as error of the step, times the largest factor by which the
//! scale of a component falls in it.
//!
//! # Order and stability
//! Order 4, error estimate of order 3. The linear part is integrated exactly, whatever its
//! stiffness, as long as its eigenvalues lie near the negative real axis or within |hλ| ≲ 4 (1 at
//! tolerances of 10⁻¹⁰): oscillations are resolved, not damped. Fast-decaying components are
//! damped as by exp z.
//!
//! | | stages | evaluations | for |
//! |-|--------|-------------|-----|
//! | [`EXPRB43`] | 3 | 3 | stiff order 4: small largest errors |
//! | [`EXP4`] | 3 | 3 | loose tolerances |
//!
//! # Reference
//! Hochbruck & Ostermann, *Exponential integrators*, Acta Numerica 19 (2010) 209; for chemistry
//! Curtis, Niemeyer & Sung, Combust. Flame 179 (2017) 312.
//!
//! # Options
//! [`Exponential::tableau`]; [`Exponential::action`] (resolvent; Krylov subspaces to compare with Curtis et al.);
//! [`Exponential::jacobian`] (exact); [`Exponential::controller`] (integral, safety 0.9, factors 0.2 to 6);
//! [`Options::growth_limit`](crate::Options::growth_limit), as for
//! [Rosenbrock methods](super::rosenbrock): beyond hλ = 25 growth would be damped, and the series
//! converge only up to hλ = 1 or somewhat beyond. Tolerances of [`Norm::WeightedRms`](crate::Norm) alone: of one stiff equation that follows a
//! forcing the rate excuses any error in the other norm.
//!
//! # Statuses
//! `Success`, `TerminalEvent`, `MaxSteps`, `MaxEvaluations`, `StepTooSmall`, `NonFinite`,
//! `SingularMatrix`, `OutsideBounds`, `InvalidStart`, `NotRun`; with fixed steps `GrowthUnresolved`.

mod device;
mod expansion;
mod hessenberg;
mod krylov;
mod phi;
pub(crate) mod stepper;
mod tableau;
mod tables;

pub use tableau::{Function, Tableau, Term};
pub use tables::{ALL, EXP4, EXPRB43};

use super::JacobianSource;
use crate::controller::{Controller, Law};
use odeum_core::Error;

/// How functions of hJ act on vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// As Chebyshev series in one resolvent of J: solves with the factors of one real matrix.
    #[default]
    Resolvent,
    /// By Krylov subspaces of at most so many dimensions, in which functions of the Hessenberg
    /// matrix are rational approximations: products with J alone, but for the growth guard.
    Krylov {
        /// Largest dimension, at least 1; a full space has one more than there are equations.
        max_dimension: u32,
    },
}

/// An exponential Rosenbrock method and its step-size control.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponential {
    /// The coefficients.
    pub tableau: &'static Tableau,
    /// How functions of hJ act on vectors.
    pub action: Action,
    /// Where the Jacobian comes from. The order rests on an exact one.
    pub jacobian: JacobianSource,
    /// The step-size controller: integral, safety 0.9, factors 0.2 to 6, unless said.
    pub controller: Controller,
}

impl Exponential {
    /// A method with exact Jacobians and [`Action::Resolvent`].
    pub fn new(tableau: &'static Tableau) -> Self {
        let controller = Controller { law: Law::I, safety: 0.9, min_factor: 0.2, max_factor: 6.0 };
        let (action, jacobian) = (Action::default(), JacobianSource::Exact);
        Exponential { tableau, action, jacobian, controller }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.action {
            Action::Krylov { max_dimension: 0 } => {
                Err(Error::input("max_dimension", 0, "must be at least 1"))
            }
            _ => Ok(()),
        }
    }
}
