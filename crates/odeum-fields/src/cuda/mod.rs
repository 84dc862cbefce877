//! Fields on NVIDIA GPUs.
//!
//! A problem becomes a kernel: sizes, strides, stencil, walls and equations are compiled into it
//! (`source`), how many cells a thread owns follows from the model (`tiling`), and what changes
//! from step to step is an argument (`step`).

#[doc(hidden)]
pub mod inspect;
mod march;
pub mod paper;
mod shape;
mod source;
mod step;
mod tiling;

pub use march::CudaMarch;
#[doc(hidden)]
pub use tiling::Tiling;
