//! Reaction–diffusion–advection on grids of one to three dimensions.
//!
//! A [`Model`] is the equations as data; a [`Problem`] puts it on a [`Grid`] with [`Boundaries`], a
//! velocity and sources; an [`Engine`] computes right-hand sides of a [`Field`], and a [`Simulation`] advances one
//! in time.

mod analysis;
mod backend;
mod cpu;
mod field;
pub mod gpu;
mod plan;
mod problem;
pub mod problems;
mod simulation;
mod tiling;
mod time;

pub use analysis::reduce::Summary;
pub use backend::Snapshot;
pub use cpu::engine::Engine;
pub use cpu::sweep::{Combination, Precision};
pub use field::Field;
pub use field::noise::noise;
#[doc(hidden)]
pub use field::noise::rough;
pub use problem::boundaries::{Boundaries, Boundary, Face};
pub use problem::grid::{AXES, Grid};
pub use problem::mask::Mask;
pub use problem::model::{Model, ModelError, ModelText};
pub use problem::quantity::Quantity;
pub use problem::record::Local;
pub use problem::stencil::Stencil;
pub use problem::{Advection, PointSource, Problem, Velocity};
pub use simulation::checkpoint::{Checkpoint, Clock, Counts};
pub use simulation::{Failure, Options, Outcome, Simulation, Unstable};
pub use time::method::{Method, Steps};
#[doc(hidden)]
pub use time::rounding::rounded_away;
#[doc(hidden)]
pub use time::sharpening::sharpening_step;
pub use time::stability::{Stability, stability};
pub use time::within_step::first_growing_step;
