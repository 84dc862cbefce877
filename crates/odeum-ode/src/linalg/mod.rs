//! Linear algebra over lanes: sparse LU of the matrices of implicit methods, one per lane, all
//! with the same pattern.

mod dense;
mod entry;
mod lu;
mod ordering;
mod symbolic;

pub(crate) use entry::{Complex, Entry};
pub(crate) use lu::{Factor, Lu, Pivots, Solve};
pub(crate) use symbolic::Symbolic;
