//! The language in which Odeum's systems are written.
//!
//! A system of ordinary differential equations is written once, as one generic function over
//! [`Real`]; the type that stands for `Real` decides what the function does:
//!
//! - `f64` and `f32` compute one system;
//! - a pack of SIMD [`lanes`] computes one system per lane;
//! - the recording scalar records the function as an expression graph, from which follow the
//!   sparsity pattern, the derivatives, the tape that is interpreted without a compiler, and CUDA C text.
//!
//! This crate does no input or output, starts no threads and depends on no device.

mod argument;
mod derive;
pub mod emit;
pub mod error;
pub mod graph;
pub mod lanes;
mod line_ends;
mod lock;
pub mod memory;
mod number;
pub mod pattern;
pub mod random;
mod range;
pub mod real;
mod record;
pub mod recycled;
pub mod spelling;
pub mod symbol;
pub mod system;
pub mod tape;
pub mod text;
mod threads;

pub use argument::{Argument, ArgumentPart};
pub use error::Error;
pub use graph::Graph;
pub use lanes::{Isa, Lanes, Scalar};
pub use line_ends::line_feeds;
pub use lock::lock;
pub use number::{TOO_SMALL, vanishes, with_exponents};
pub use pattern::Pattern;
pub use range::{RangeKind, ValidRange};
pub use real::{Mask, Real};
pub use symbol::Symbol;
pub use system::System;
pub use tape::{NotSquare, Program, Tape};
pub use threads::{IS_UNOPTIMISED, LARGE_STACK, computing_thread, cores, joined};
