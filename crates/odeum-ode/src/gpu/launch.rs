//! Starting a kernel.

use super::kept::{Kept, Loaded};
use super::layout::Layout;
use super::stream_workspace::StreamWorkspace;
use super::task::Task;
use crate::method::device::Storage;
use odeum_core::{Error, Scalar};
use odeum_cuda::{Device, Stream, argument};

/// Starts a kernel over the systems of a task, on one part in `fraction` of the device.
///
/// # Safety
/// The arrays of the task must be live memory of the device until the stream of the lane has done its work.
pub(super) unsafe fn launch<T: Scalar, D: Device>(
    device: &Kept<D>,
    loaded: &Loaded<D>,
    layout: &Layout,
    fraction: usize,
    task: &Task<T>,
    lane: &mut StreamWorkspace<D>,
) -> Result<(), Error> {
    let blocks = blocks(device, loaded, layout, fraction, task.n_systems as usize);
    let mut task = *task;
    task.arrays.matrices = matrices(device, layout, blocks, lane)? as *mut u8;
    // SAFETY: the caller's.
    unsafe { launch_blocks(loaded, layout, blocks, &task, &lane.stream) }
}

/// The address of memory for the matrices of so many blocks; zero where they are elsewhere.
pub(super) fn matrices<D: Device>(
    device: &Kept<D>,
    layout: &Layout,
    blocks: usize,
    lane: &mut StreamWorkspace<D>,
) -> Result<u64, Error> {
    match layout.global {
        0 => Ok(0),
        bytes => lane.matrices(device, blocks * bytes),
    }
}

/// Blocks of a kernel over so many systems, on one part in `fraction` of the device.
pub(super) fn blocks<D: Device>(
    device: &Kept<D>,
    loaded: &Loaded<D>,
    layout: &Layout,
    fraction: usize,
    systems: usize,
) -> usize {
    let of_block = layout.block / layout.width;
    if layout.storage == Storage::Lanes {
        systems.div_ceil(of_block)
    } else {
        // A persistent grid: as many blocks as the device, or its fraction, holds at once.
        let held = device.limits.multiprocessors * loaded.resident;
        systems.div_ceil(of_block).min(held.div_ceil(fraction))
    }
}

/// Starts so many blocks of a kernel, whose matrices the task names.
///
/// # Safety
/// The arrays of the task must be live memory of the device until the stream has done its work.
pub(super) unsafe fn launch_blocks<T: Scalar, D: Device>(
    loaded: &Loaded<D>,
    layout: &Layout,
    blocks: usize,
    task: &Task<T>,
    stream: &D::Stream,
) -> Result<(), Error> {
    let mut task = *task;
    task.arrays.tables = loaded.tables();
    let mut arguments = [argument(&task)];
    // SAFETY: the kernel takes one argument, the structure that `Task` mirrors; the driver copies
    // it before it returns. Of the arrays the caller answers for.
    unsafe {
        let (blocks, threads) = ([blocks, 1, 1], [layout.block, 1]);
        stream.launch(&loaded.kernel, blocks, threads, layout.shared, &mut arguments)
    }
}
