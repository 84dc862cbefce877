//! The language in which Odeum's systems are written.
//!
//! A system of ordinary differential equations is said once, as one generic function over
//! [`Real`]; what `Real` is decides what happens:
//!
//! - `f64` and `f32` compute one system;
//! - a pack of SIMD [`lanes`] computes one system per lane;
//! - the recording scalar writes the function down as an expression graph, from which come the
//!   sparsity pattern, the derivatives, the tape that runs without a compiler, and CUDA C text.
//!
//! This crate does no input or output, starts no threads and knows no device.

pub mod lanes;
pub mod real;
pub mod system;

pub use lanes::{Isa, Lanes, Scalar};
pub use real::{Mask, Real};
pub use system::System;
