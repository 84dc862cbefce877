//! Reaction–diffusion–advection on grids of one to three dimensions.
//!
//! A [`Model`] is the equations as data; a [`Problem`] puts it on a [`Grid`] with [`Walls`], a
//! wind and sources; an [`Engine`] computes slopes of a [`Field`], and a [`March`] carries one
//! through time.

mod backend;
mod checkpoint;
mod coefficients;
pub mod cuda;
mod domain;
mod eigen;
mod engine;
mod field;
mod flat;
mod grid;
mod host;
mod linear;
mod march;
mod mask;
mod memory;
mod method;
mod model;
mod native;
mod noise;
mod plan;
mod problem;
pub mod problems;
mod quantity;
mod record;
mod reduce;
mod sample;
mod slab;
mod solids;
mod spectrum;
mod stability;
mod stages;
mod stencil;
mod sweep;
mod text;
mod tiling;
mod walls;

pub use backend::Snapshot;
pub use checkpoint::{Checkpoint, Clock, Counts};
pub use engine::Engine;
pub use field::Field;
pub use grid::{AXES, Grid};
pub use march::{Failure, March, Options, Outcome, Unstable, fields_needed};
pub use mask::Mask;
pub use method::{Method, Steps};
pub use model::{Model, ModelError, ModelText};
pub use noise::noise;
#[doc(hidden)]
pub use noise::rough;
pub use problem::{Advection, PointSource, Problem, Wind};
pub use quantity::Quantity;
pub use record::Local;
pub use reduce::Summary;
pub use stability::{Stability, stability};
pub use stencil::Stencil;
pub use sweep::{Combination, Precision};
pub use walls::{Face, Wall, Walls};

/// The code of the book, which runs as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/fields-in-rust.md")]
struct Book;
