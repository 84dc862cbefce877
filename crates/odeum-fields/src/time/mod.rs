//! Methods in time: coefficients, stages, and how large a step may be.

pub(crate) mod coefficients;
mod coupling;
mod effort;
pub(crate) mod eigen;
pub(crate) mod growth_bound;
mod limits;
mod linearised;
pub(crate) mod method;
pub(crate) mod rounding;
pub(crate) mod sampling;
pub(crate) mod sharpening;
pub(crate) mod spectrum;
pub(crate) mod stability;
pub(crate) mod stages;
mod wave_series;
pub(crate) mod within_step;
