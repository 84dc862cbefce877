//! Fields on NVIDIA GPUs.
//!
//! A problem becomes a kernel: sizes, strides, stencil, walls and equations are compiled into it
//! (`source`), how many cells a thread owns follows from the model (`tiling`), and what changes
//! from step to step is an argument (`step`). Fields stay on the GPU (`engine`), where many steps
//! are taken without a word (`euler`); what is asked of them is summed up there (`reduce`) or
//! brought into memory while the march goes on (`snapshot`). Where the domain is a part of the box,
//! cells near solid ones are computed anew after each sweep (`masked`).

mod engine;
mod euler;
#[doc(hidden)]
pub mod inspect;
mod machine;
mod masked;
pub mod paper;
mod reduce;
mod shape;
mod snapshot;
mod source;
mod step;
mod tiling;
mod transport;

#[doc(hidden)]
pub use tiling::Tiling;

use crate::backend::Backend;
use crate::field::Field;
use crate::method::Method;
use crate::problem::Problem;
use crate::sweep::Precision;
use machine::{Gpu, Machine};
use odeum::Error;
use odeum::backend::cuda::Cuda;

/// A field on a GPU, with room for what the method needs.
pub(crate) fn open<T: Precision>(
    problem: &Problem,
    field: &Field<T>,
    method: Method,
    gpu: &Cuda,
) -> Result<Box<dyn Backend<T>>, Error> {
    on(problem, field, method, Gpu::open(ordinal(gpu)?)?)
}

/// The same on any machine.
pub(crate) fn on<T: Precision>(
    problem: &Problem,
    field: &Field<T>,
    method: Method,
    machine: impl Machine,
) -> Result<Box<dyn Backend<T>>, Error> {
    Ok(Box::new(engine::Engine::new(problem, field, method, machine)?))
}

/// The one GPU of a march.
fn ordinal(gpu: &Cuda) -> Result<usize, Error> {
    match gpu.ordinals[..] {
        [ordinal] => Ok(ordinal),
        _ => {
            let found = format!("{} GPUs", gpu.ordinals.len());
            Err(Error::input("device", found, "a field marches on one: give cuda:N"))
        }
    }
}

/// Bytes that a march of a field needs on a GPU, and those that are free there.
///
/// # Errors
/// No driver, no such GPU, several of them, or a grid that is too large for any.
pub fn memory<T: Precision>(
    problem: &Problem,
    method: Method,
    gpu: &Cuda,
) -> Result<(u128, u128), Error> {
    let need = engine::bytes_needed::<T>(problem, method)?;
    Ok((need, Gpu::open(ordinal(gpu)?)?.free_memory()? as u128))
}
