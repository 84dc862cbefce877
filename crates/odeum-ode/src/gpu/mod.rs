//! Ensembles on NVIDIA GPUs.
//!
//! A system becomes a kernel: its graph is printed as CUDA C++, the method's device header and
//! the sizes of the problem make it a complete source (`source`), which `odeum-cuda` compiles for the
//! GPU at hand. Which kernel, and how it is laid out, follows from the system and the GPU (`plan`,
//! `layout`); who runs what from the ensemble (`run`).
//!
//! The answer of a system is the same to the bit whatever the ensemble, the batch and the kernel
//! it falls to. Products and sums are fused where the source says so, never by the compiler.

mod arena;
mod batch_parts;
mod columns;
mod differences;
mod exchange;
mod expect;
mod groups;
mod in_memory;
mod in_place;
#[doc(hidden)]
pub mod inspect;
mod interleaved;
mod kept;
mod late;
mod launch;
mod layout;
mod order;
mod page_locked;
mod parts;
mod plan;
mod published;
mod recent;
mod round;
mod run;
mod session;
mod sink;
mod solution;
mod source;
mod staging;
mod stop;
mod stream_workspace;
mod system;
mod task;
mod worker;

pub use exchange::Exchange;
pub use odeum_cuda::{DeviceInfo, check_compiler, devices, gpus_here, least_free_memory};
pub use page_locked::PageLocked;
pub use parts::StepPart;
pub use plan::layout_in_words;
#[doc(hidden)]
pub use published::pleiades_as_published;
pub(crate) use run::solve;
pub use session::Session;
pub use solution::SolutionOnGpu;
pub use system::DeviceSystem;

use odeum_core::Error;

/// Frees the memory that ensembles and sessions have left on some GPUs for the next call; false where there was none.
#[doc(hidden)]
pub fn drop_idle(ordinals: &[usize]) -> bool {
    ordinals
        .iter()
        .fold(false, |any, ordinal| kept::Kept::<odeum_cuda::Gpu>::drop_idle_of(*ordinal) | any)
}

/// Which GPUs to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuda {
    /// Numbers of the GPUs, as the driver counts them; several split one ensemble, or share the
    /// planes of a field.
    pub ordinals: Vec<usize>,
}

impl Cuda {
    /// Opens these GPUs side by side. What uses them opens them by itself; called early, in a thread of
    /// its own, it lets the driver start while other things are prepared.
    ///
    /// # Errors
    /// No NVIDIA driver, or no such GPU.
    pub fn open(&self) -> Result<(), Error> {
        odeum_cuda::Gpu::open_all(&self.ordinals).map(drop)
    }

    /// Whether these GPUs are there and can be used, where the driver sees any: what runs elsewhere can be prepared where there is none.
    ///
    /// # Errors
    /// A driver that is too old, no such GPU, or one that is too old.
    pub fn check(&self) -> Result<(), Error> {
        odeum_cuda::check_gpus(&self.ordinals)
    }
}
