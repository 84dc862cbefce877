//! Starting a kernel.

use super::gpu::{Gpu, Loaded};
use super::layout::{Layout, Storage};
use super::task::Task;
use odeum_core::Error;
use odeum_cuda::Stream;
use std::ffi::c_void;

/// Starts a kernel over the systems of a task, on one part in `share` of the GPU.
///
/// # Safety
/// The arrays of the task must be live memory of the GPU until the stream has done its work.
pub(super) unsafe fn launch<T>(
    gpu: &Gpu,
    loaded: &Loaded,
    layout: &Layout,
    share: usize,
    task: &Task<T>,
    stream: &Stream,
) -> Result<(), Error> {
    let systems = task.n_systems as usize;
    let blocks = if let Storage::Lanes(width) = layout.storage {
        systems.div_ceil(layout.block / width)
    } else {
        // A persistent grid: as many blocks as the GPU, or its share, holds at once.
        let held = gpu.limits.multiprocessors * loaded.resident;
        systems.div_ceil(layout.block).min(held.div_ceil(share))
    };
    let mut arguments = [(task as *const Task<T>).cast_mut().cast::<c_void>()];
    // SAFETY: the kernel takes one argument, the structure that `Task` mirrors; the driver copies
    // it before it returns. Of the arrays the caller answers for.
    unsafe {
        let (blocks, threads) = ([blocks, 1, 1], [layout.block, 1]);
        stream.launch(&loaded.kernel, blocks, threads, layout.shared, &mut arguments)
    }
}
