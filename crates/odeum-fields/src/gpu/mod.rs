//! Fields on NVIDIA GPUs.
//!
//! A problem becomes a kernel: sizes, strides, stencil, boundaries and equations are compiled into it
//! (`source`), how many cells a thread owns follows from the model (`tiling`), and what changes
//! from step to step is an argument (`step`). Two steps of what computes most are taken by groups of
//! warps (`pipeline`). Fields stay on the GPU (`part`), where many steps
//! are taken without a word (`euler`); what is asked of them is summed up there (`reduce`) or
//! brought into memory while the simulation goes on (`snapshot`). Where the domain is a part of the box,
//! cells near solid ones (`near`) are computed anew after each sweep (`masked`). Several GPUs have a
//! slab of the box each (`engine`), and exchange planes while they sweep (`exchange`).

mod engine;
mod euler;
mod exchange;
#[doc(hidden)]
pub mod inspect;
mod masked;
mod near;
mod part;
mod pending;
mod pipeline;
pub mod published;
mod reduce;
mod shape;
mod snapshot;
mod source;
mod span;
mod step;
mod step_cache;
mod transport;
mod variant;

#[doc(hidden)]
pub use crate::tiling::Tiling;

use crate::backend::Backend;
use crate::cpu::sweep::Precision;
use crate::field::Field;
use crate::problem::Problem;
use crate::time::method::Method;
use odeum_cuda::{Device, Gpu};
use odeum_ode::Error;
use odeum_ode::gpu::{Cuda, drop_idle};

/// A field on GPUs, with room for what the method needs.
pub(crate) fn open<T: Precision>(
    problem: &Problem,
    field: &Field<T>,
    method: Method,
    gpu: &Cuda,
) -> Result<Box<dyn Backend<T>>, Error> {
    let open = || on(problem, field, method, Gpu::open_all(&gpu.ordinals)?);
    // What ensembles have left for their next call is in the way of nothing else.
    open().or_else(|error| if drop_idle(&gpu.ordinals) { open() } else { Err(error) })
}

/// The same on any devices, each of which takes some of the planes along z.
pub(crate) fn on<T: Precision>(
    problem: &Problem,
    field: &Field<T>,
    method: Method,
    devices: Vec<impl Device>,
) -> Result<Box<dyn Backend<T>>, Error> {
    Ok(Box::new(engine::Engine::new(problem, field, method, devices)?))
}

/// Memory of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Number of the GPU, as [`Cuda::ordinals`] has it.
    pub ordinal: usize,
    /// What a simulation takes of it \[bytes\].
    pub need: u128,
    /// What is free \[bytes\].
    pub free: u128,
}

/// What a simulation of a field needs on each of so many GPUs \[bytes\].
///
/// # Errors
/// A grid that is too large for any, or too few planes for so many.
pub fn bytes<T: Precision>(
    problem: &Problem,
    method: Method,
    gpus: usize,
) -> Result<Vec<u128>, Error> {
    engine::needs::<T>(problem, method, gpus)
}

/// What a simulation of a field needs on each of some GPUs, and what is free there.
///
/// # Errors
/// No driver, no such GPU, a grid that is too large for any, or too few planes for so many.
pub fn memory<T: Precision>(
    problem: &Problem,
    method: Method,
    gpu: &Cuda,
) -> Result<Vec<Memory>, Error> {
    let needs = bytes::<T>(problem, method, gpu.ordinals.len())?;
    let gpus = Gpu::open_all(&gpu.ordinals)?;
    let of = |(gpu, need): (Gpu, u128)| {
        let (ordinal, mut free) = (gpu.ordinal(), gpu.free_memory(0)? as u128);
        if need > free && drop_idle(&[ordinal]) {
            free = gpu.free_memory(0)? as u128;
        }
        Ok(Memory { ordinal, need, free })
    };
    gpus.into_iter().zip(needs).map(of).collect()
}
