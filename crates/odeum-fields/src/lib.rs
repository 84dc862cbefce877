//! Reaction–diffusion–advection on grids of one to three dimensions.
//!
//! A [`Model`] is the equations as data; a [`Problem`] puts it on a [`Grid`] with [`Walls`], a
//! wind and sources; an [`Engine`] computes slopes of a [`Field`].

mod engine;
mod field;
mod grid;
mod model;
mod plan;
mod problem;
mod quantity;
mod stencil;
mod sweep;
mod walls;

pub use engine::Engine;
pub use field::Field;
pub use grid::{AXES, Grid};
pub use model::{Model, ModelError, ModelText};
pub use problem::{Advection, PointSource, Problem, Wind};
pub use quantity::Quantity;
pub use stencil::Stencil;
pub use sweep::Combination;
pub use walls::{Face, Wall, Walls};
