//! Odeum integrates very large numbers of independent ODE systems at once, and reaction–diffusion
//! fields, on SIMD lanes and threads of a CPU and on NVIDIA GPUs.
//!
//! This crate re-exports the public interface:
//!
//! - [`ode`]: ensembles of ODE systems, methods, solvers,
//! - [`fields`]: reaction–diffusion–advection equations on grids,
//! - [`kinetics`]: chemical mechanisms, reactors,
//! - [`core`]: right-hand sides (generic Rust, text, recorded graphs).
//!
//! ```
//! use odeum::prelude::*;
//!
//! /// y' = -k y
//! struct Decay;
//!
//! impl System for Decay {
//!     fn dim(&self) -> usize { 1 }
//!     fn n_params(&self) -> usize { 1 }
//!     #[inline(always)]
//!     fn rhs<R: Real>(&self, _t: R, y: &[R], k: &[R], dydt: &mut [R]) {
//!         dydt[0] = -(k[0] * y[0]);
//!     }
//! }
//!
//! let ensemble = Ensemble::new(1, vec![1.0_f64; 1000], (0.0, 1.0))?
//!     .with_params((0..1000).map(|i| i as f64 / 1000.0).collect())?;
//! let options = Options::new(Tolerance::new(1e-8, 1e-10));
//! let solution = solve(&Decay, &ensemble, &Method::dopri5(), &Device::cpu(), &options)?;
//! assert!(solution.all_succeeded());
//! assert!((solution.y(999)[0] - (-0.999_f64).exp()).abs() < 1e-7);
//! # Ok::<(), Error>(())
//! ```

mod error;

pub use error::Error;
pub use odeum_core as core;
pub use odeum_fields as fields;
pub use odeum_kinetics as kinetics;
pub use odeum_ode as ode;

/// The names that a program with ensembles needs.
pub mod prelude {
    pub use crate::Error;
    pub use odeum_core::{Real, Scalar, System};
    pub use odeum_ode::{
        Cpu, Cuda, Device, DynSystem, Ensemble, FirstStep, Method, Monitor, Options, SaveAt,
        Session, Solution, Solver, Stats, Status, Tolerance, solve,
    };
}

/// The code of the book, which runs as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/fields-in-rust.md")]
#[doc = include_str!("../../../docs/src/writing-systems.md")]
struct Book;
