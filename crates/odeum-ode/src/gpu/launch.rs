//! Starting a kernel.

use super::kept::{Kept, Loaded};
use super::layout::{Layout, Storage};
use super::task::Task;
use odeum_core::Error;
use odeum_cuda::{Device, Stream, argument};

/// Starts a kernel over the systems of a task, on one part in `fraction` of the device.
///
/// # Safety
/// The arrays of the task must be live memory of the device until the stream has done its work.
pub(super) unsafe fn launch<T, D: Device>(
    device: &Kept<D>,
    loaded: &Loaded<D>,
    layout: &Layout,
    fraction: usize,
    task: &Task<T>,
    stream: &D::Stream,
) -> Result<(), Error> {
    let systems = task.n_systems as usize;
    let blocks = if let Storage::Lanes(width) = layout.storage {
        systems.div_ceil(layout.block / width)
    } else {
        // A persistent grid: as many blocks as the device, or its fraction, holds at once.
        let held = device.limits.multiprocessors * loaded.resident;
        systems.div_ceil(layout.block).min(held.div_ceil(fraction))
    };
    let mut arguments = [argument(task)];
    // SAFETY: the kernel takes one argument, the structure that `Task` mirrors; the driver copies
    // it before it returns. Of the arrays the caller answers for.
    unsafe {
        let (blocks, threads) = ([blocks, 1, 1], [layout.block, 1]);
        stream.launch(&loaded.kernel, blocks, threads, layout.shared, &mut arguments)
    }
}
