//! Linear algebra over lanes: sparse LU of the matrices of implicit methods, one per lane, all
//! with the same pattern.

mod dense;
mod entry;
#[allow(dead_code, reason = "the kernels of implicit methods are not there yet")]
mod group;
mod lu;
mod ordering;
#[allow(dead_code, reason = "as above")]
mod straight;
mod symbolic;
#[cfg(test)]
mod testing;

pub(crate) use entry::{Complex, Entry};
#[allow(unused_imports, reason = "as above")]
pub(crate) use group::{GROUP_LU, GroupLu};
pub(crate) use lu::{Factor, Lu, Pivots, Solve};
#[allow(unused_imports, reason = "as above")]
pub(crate) use straight::StraightLu;
pub(crate) use symbolic::Symbolic;
