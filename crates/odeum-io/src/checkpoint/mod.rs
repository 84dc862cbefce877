//! Checkpoints: what a run has done, kept on the disk so that a stopped run goes on with the same bits.
//!
//! One container holds [`ensemble`]s, a section for each batch, and [`field`]s, one section.

mod container;
pub mod ensemble;
pub mod field;

pub use container::files;
