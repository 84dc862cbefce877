//! Memory of this computer through which the GPU reads and writes at full speed.

use super::gpu::Gpu;
use super::library::failed;
use crate::error::Error;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaStream, result};
use std::ffi::c_void;
use std::sync::Arc;
use std::thread;

/// Bytes of it, in two halves: one is filled while the other is emptied.
pub(super) const STAGING: usize = 16 << 20;

/// The most threads that fill one.
const THREADS: usize = 6;

/// Page-locked memory.
pub(super) struct Staging {
    address: *mut c_void,
    gpu: Arc<Gpu>,
}

// SAFETY: the memory belongs to the value alone; the driver takes calls from any thread.
unsafe impl Send for Staging {}

impl Staging {
    pub(super) fn new(gpu: &Arc<Gpu>) -> Result<Staging, Error> {
        gpu.bind()?;
        // SAFETY: the context is bound.
        let address = unsafe { result::malloc_host(STAGING, 0) }
            .map_err(failed("reserving page-locked memory"))?;
        Ok(Staging { address, gpu: gpu.clone() })
    }

    /// Writes `count` numbers to an address of the GPU, after all work of a stream, and waits.
    /// `fill` is asked for them by several threads: where they begin, and their place.
    ///
    /// # Safety
    /// There is room for so many numbers, and nobody reads it meanwhile.
    pub(super) unsafe fn write<T: Copy + Send>(
        &mut self,
        stream: &CudaStream,
        to: CUdeviceptr,
        count: usize,
        fill: &(dyn Fn(usize, &mut [T]) + Sync),
    ) -> Result<(), Error> {
        let threads = thread::available_parallelism().map_or(1, |n| n.get().min(THREADS));
        let most = STAGING / 2 / size_of::<T>();
        for (piece, first) in (0..count).step_by(most).enumerate() {
            let len = most.min(count - first);
            // SAFETY: copies of the piece before the last have been waited for.
            let values = unsafe { half_of::<T>(self.address, piece % 2, len) };
            let share = len.div_ceil(threads);
            thread::scope(|scope| {
                for (n, share_of) in values.chunks_mut(share).enumerate() {
                    scope.spawn(move || fill(first + n * share, share_of));
                }
            });
            stream.synchronize().map_err(failed("waiting for a GPU"))?;
            let place = to + (first * size_of::<T>()) as u64;
            // SAFETY: the caller's promise; the half is filled again only after the next wait.
            unsafe { result::memcpy_htod_async(place, values, stream.cu_stream()) }
                .map_err(failed("copying to the GPU"))?;
        }
        stream.synchronize().map_err(failed("waiting for a GPU"))
    }

    /// Reads numbers from an address of the GPU, after all work of a stream.
    ///
    /// # Safety
    /// There are so many numbers, and nobody writes them meanwhile.
    pub(super) unsafe fn read<T: Copy>(
        &mut self,
        stream: &CudaStream,
        from: CUdeviceptr,
        values: &mut [T],
    ) -> Result<(), Error> {
        let most = STAGING / 2 / size_of::<T>();
        let fetch = |piece: usize, len: usize| {
            let place = from + (piece * most * size_of::<T>()) as u64;
            // SAFETY: the caller's promise; what the half held has been taken, and it is not read
            // until the stream has been waited for.
            unsafe {
                result::memcpy_dtoh_async(
                    half_of::<T>(self.address, piece % 2, len),
                    place,
                    stream.cu_stream(),
                )
            }
            .map_err(failed("copying from the GPU"))
        };
        let mut pieces = values.chunks_mut(most).enumerate().peekable();
        if let Some((_, first)) = pieces.peek() {
            fetch(0, first.len())?;
        }
        while let Some((piece, values)) = pieces.next() {
            stream.synchronize().map_err(failed("waiting for a GPU"))?;
            if let Some((next, values)) = pieces.peek() {
                fetch(*next, values.len())?;
            }
            // SAFETY: the half has arrived, and the next piece goes to the other.
            values.copy_from_slice(unsafe { half_of(self.address, piece % 2, values.len()) });
        }
        Ok(())
    }
}

/// The first `len` values of half 0 or 1 of the memory at an address.
///
/// # Safety
/// It is page-locked memory of [`STAGING`] bytes that lives as long as the values; `T` is a plain number.
/// Nobody else reads or writes the half, and no copy of it is under way.
unsafe fn half_of<'a, T>(memory: *mut c_void, half: usize, len: usize) -> &'a mut [T] {
    assert!(len * size_of::<T>() <= STAGING / 2, "half of the memory is enough");
    // SAFETY: inside the allocation, which is aligned to pages; every bit pattern is a number.
    unsafe {
        let first = memory.cast::<u8>().add(half * (STAGING / 2));
        std::slice::from_raw_parts_mut(first.cast(), len)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: reserved by `Staging::new`, freed once; its stream has been waited for.
            let _ = unsafe { result::free_host(self.address) };
        }
    }
}
