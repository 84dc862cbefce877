//! Built-in problems: the test set of the field, each with its source and reference solutions.
//!
//! [`all`] lists them and [`find`] takes one by name. A [`Problem`] holds the data of a run
//! (initial state, parameters, span) and its [`Reference`] solutions, which were computed twice
//! by independent means (`validation/references.py`), from the same doubles that stand here.
//!
//! The systems are written as a user writes them. [`System::rhs`] is generic and so cannot be
//! called through a pointer; a [`WithSystem`] visitor receives the concrete type instead:
//!
//! ```
//! use odeum_ode::problems::{self, WithSystem};
//! use odeum_ode::System;
//!
//! struct Slope<'a>(&'a problems::Problem);
//!
//! impl WithSystem for Slope<'_> {
//!     type Output = Vec<f64>;
//!     fn run<S: System>(self, system: &S) -> Vec<f64> {
//!         let mut dydt = vec![0.0; system.dim()];
//!         system.rhs(self.0.span.0, &self.0.y0, &self.0.params, &mut dydt);
//!         dydt
//!     }
//! }
//!
//! let lorenz = problems::find("lorenz").expect("a built-in problem");
//! assert_eq!(lorenz.with_system(Slope(&lorenz)), [-10.0, 28.0, 0.0]);
//! ```

mod arenstorf;
mod brusselator;
mod brusselator_1d;
mod e5;
mod hires;
mod lorenz;
mod lotka_volterra;
mod oregonator;
mod pleiades;
mod pollu;
mod references;
mod robertson;
mod van_der_pol;
mod van_der_pol_ring;

pub use arenstorf::Arenstorf;
pub use brusselator::Brusselator;
pub use brusselator_1d::Brusselator1d;
pub use e5::E5;
pub use hires::Hires;
pub use lorenz::Lorenz;
pub use lotka_volterra::LotkaVolterra;
pub use oregonator::Oregonator;
pub use pleiades::Pleiades;
pub use pollu::Pollu;
pub use robertson::Robertson;
pub use van_der_pol::VanDerPol;
pub use van_der_pol_ring::VanDerPolRing;

use crate::ensemble::Ensemble;
use odeum_core::{Error, Scalar, System};

/// A solution known far better than any run will find it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Time.
    pub t: f64,
    /// State \[n\], each component rounded to the nearest double.
    pub y: &'static [f64],
    /// Significant decimal digits of every component in which two independent computations
    /// agree, at most 16.
    pub digits: u32,
    /// The two computations.
    pub source: &'static str,
}

/// A built-in problem: a system with the data of one run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// Name by which [`find`] knows it.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// What it tests, and what is difficult about it.
    pub about: &'static str,
    /// Where the equations and data come from.
    pub source: &'static str,
    /// Short name of the method of this library that suits it.
    pub method: &'static str,
    /// Initial state \[n\].
    pub y0: Vec<f64>,
    /// Parameters \[m\].
    pub params: Vec<f64>,
    /// Start and end of the time span.
    pub span: (f64, f64),
    /// Reference solutions from this initial state with these parameters, by rising time. They
    /// may go past the end of the span.
    pub references: &'static [Reference],
    system: Builtin,
}

/// Work on a system of whatever type.
pub trait WithSystem {
    /// What the work gives.
    type Output;
    /// Does the work.
    fn run<S: System>(self, system: &S) -> Self::Output;
}

/// Every built-in system, by type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Builtin {
    Arenstorf(Arenstorf),
    Brusselator(Brusselator),
    Brusselator1d(Brusselator1d),
    E5(E5),
    Hires(Hires),
    Lorenz(Lorenz),
    LotkaVolterra(LotkaVolterra),
    Oregonator(Oregonator),
    Pleiades(Pleiades),
    Pollu(Pollu),
    Robertson(Robertson),
    VanDerPol(VanDerPol),
    VanDerPolRing(VanDerPolRing),
}

/// All built-in problems.
pub fn all() -> Vec<Problem> {
    vec![
        Pleiades::problem(),
        Lorenz::problem(),
        LotkaVolterra::problem(),
        Arenstorf::problem(),
        VanDerPol::problem(),
        VanDerPol::stiff_problem(),
        VanDerPolRing::default().problem(),
        Brusselator::problem(),
        Brusselator1d::default().problem(),
        Robertson::problem(),
        Hires::problem(),
        Oregonator::problem(),
        E5::problem(),
        Pollu::problem(),
    ]
}

/// The built-in problem of this name.
pub fn find(name: &str) -> Option<Problem> {
    all().into_iter().find(|problem| problem.name == name)
}

impl Problem {
    /// Number of equations n.
    pub fn dim(&self) -> usize {
        self.y0.len()
    }

    /// Names of the states \[n\].
    pub fn state_names(&self) -> Vec<String> {
        self.with_system(StateNames)
    }

    /// Names of the parameters \[m\].
    pub fn param_names(&self) -> Vec<String> {
        self.with_system(ParamNames)
    }

    /// The reference solution at time `t`, if there is one.
    pub fn reference_at(&self, t: f64) -> Option<&'static Reference> {
        self.references.iter().find(|reference| reference.t == t)
    }

    /// The reference solution at the end of the span, if there is one.
    pub fn reference(&self) -> Option<&'static Reference> {
        self.reference_at(self.span.1)
    }

    /// An ensemble of `systems` copies.
    ///
    /// # Errors
    /// When `systems` is zero.
    pub fn ensemble<T: Scalar>(&self, systems: usize) -> Result<Ensemble<T>, Error> {
        let round = |values: &[f64]| values.iter().map(|x| T::from_f64(*x)).collect::<Vec<T>>();
        Ensemble::repeated(&round(&self.y0), systems, self.span)?
            .with_shared_params(round(&self.params))
    }

    /// The size of a problem that comes in sizes: grid points, oscillators.
    pub fn size(&self) -> Option<usize> {
        match self.system {
            Builtin::Brusselator1d(system) => Some(system.points()),
            Builtin::VanDerPolRing(system) => Some(system.oscillators()),
            _ => None,
        }
    }

    /// The same problem in another size. References are for the default size alone.
    ///
    /// # Errors
    /// When the problem comes in one size only, or the size is too small.
    pub fn resized(&self, size: usize) -> Result<Problem, Error> {
        match self.system {
            Builtin::Brusselator1d(_) => Ok(Brusselator1d::new(size)?.problem()),
            Builtin::VanDerPolRing(_) => Ok(VanDerPolRing::new(size)?.problem()),
            _ => Err(Error::input("size", size, format!("{} comes in one size only", self.name))),
        }
    }

    /// Calls `visitor` with the system.
    ///
    /// This compiles the visitor for every built-in system: right for what is small, as tracing
    /// a graph. A [`DynSystem`](crate::DynSystem) has solvers that are compiled already.
    pub fn with_system<V: WithSystem>(&self, visitor: V) -> V::Output {
        match &self.system {
            Builtin::Arenstorf(system) => visitor.run(system),
            Builtin::Brusselator(system) => visitor.run(system),
            Builtin::E5(system) => visitor.run(system),
            Builtin::Hires(system) => visitor.run(system),
            Builtin::LotkaVolterra(system) => visitor.run(system),
            Builtin::Oregonator(system) => visitor.run(system),
            Builtin::Pollu(system) => visitor.run(system),
            Builtin::Robertson(system) => visitor.run(system),
            Builtin::VanDerPolRing(system) => visitor.run(system),
            Builtin::Brusselator1d(system) => visitor.run(system),
            Builtin::Lorenz(system) => visitor.run(system),
            Builtin::Pleiades(system) => visitor.run(system),
            Builtin::VanDerPol(system) => visitor.run(system),
        }
    }

    pub(crate) fn builtin(&self) -> &Builtin {
        &self.system
    }
}

struct StateNames;

impl WithSystem for StateNames {
    type Output = Vec<String>;
    fn run<S: System>(self, system: &S) -> Vec<String> {
        system.state_names()
    }
}

struct ParamNames;

impl WithSystem for ParamNames {
    type Output = Vec<String>;
    fn run<S: System>(self, system: &S) -> Vec<String> {
        system.param_names()
    }
}

/// Names as a system gives them.
fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// A state, or parameters, as an array, so that its length is known and no access to it is checked.
///
/// [`System::rhs`] gets `dim()` states and `n_params()` parameters, and every system asks for an N
/// of that size.
#[inline(always)]
fn fixed<const N: usize, R>(values: &[R]) -> &[R; N] {
    values.first_chunk().expect("as many values as the system has equations")
}

/// As [`fixed`], to be written.
#[inline(always)]
fn fixed_mut<const N: usize, R>(values: &mut [R]) -> &mut [R; N] {
    values.first_chunk_mut().expect("as many values as the system has equations")
}
