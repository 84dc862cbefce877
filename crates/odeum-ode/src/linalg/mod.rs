//! Linear algebra over lanes: sparse LU of the iteration matrices σI − J of implicit methods, one per
//! lane, all with the same pattern. σ is the shift, the inverse of a multiple of the step size.

mod dense;
mod entry;
mod group;
mod lu;
mod ordering;
mod straight;
mod symbolic;
#[cfg(test)]
mod testing;

pub(crate) use entry::{Complex, Entry};
pub(crate) use group::{GROUP_LU, GroupLu};
pub(crate) use lu::{Factor, Lu, Pivots, Solve};
pub(crate) use straight::StraightLu;
pub(crate) use symbolic::Symbolic;
