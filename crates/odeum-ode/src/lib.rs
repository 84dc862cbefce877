//! Ensembles: very large numbers of independent ODE systems, integrated at once on SIMD lanes and
//! threads of a CPU and on NVIDIA GPUs.
//!
//! A [`System`] is written once over [`Real`]. An [`Ensemble`] holds the data of many of them:
//! initial states, parameters, time spans. [`solve()`] integrates every one with its own step
//! size, [`Status`] and [`Stats`]; a system that fails has a status that says why, and affects no other.
//!
//! ```
//! use odeum_ode::{Device, Ensemble, Method, Options, Real, System, Tolerance, solve};
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
//! # Ok::<(), odeum_ode::Error>(())
//! ```

pub mod arrays;
pub mod controller;
pub mod cpu;
pub mod device;
pub mod dynamic;
pub mod ensemble;
pub mod gpu;
pub mod lent;
mod linalg;
pub mod method;
pub mod monitor;
pub mod options;
pub mod problems;
mod series;
mod session;
mod slopes;
pub mod solution;
mod solve;
pub mod stats;
pub mod status;
pub mod tolerance;

pub use arrays::{ArrayMut, ArrayRef, SavedMut};
pub use controller::Controller;
pub use cpu::Cpu;
pub use device::Device;
pub use dynamic::DynSystem;
pub use ensemble::Ensemble;
pub use gpu::Cuda;
pub use lent::{Inputs, Outputs, Remarks};
pub use method::{Erk, Exponential, JacobianSource, Method, Radau, Rkc, Rosenbrock};
pub use monitor::Monitor;

pub use odeum_core::{Error, Isa, Mask, RangeKind, Real, Scalar, System, ValidRange};
pub use options::{FirstStep, Options, SaveAt, TerminalEvent};
pub use series::{Part, Series};
pub use session::Session;
pub use solution::Solution;
pub use solve::{Compiled, Solver, solve, solve_monitored};
pub use stats::Stats;
pub use status::Status;
pub use tolerance::{Atol, Norm, Tolerance};
