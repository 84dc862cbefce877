//! Memory of this computer through which the GPU reads and writes at full speed.

use super::gpu::Gpu;
use crate::library::failed;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaStream, result};
use odeum_core::{Error, cores};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread::{self, Builder};

/// Bytes of it, in two halves: one is filled while the other is emptied.
pub(super) const STAGING: usize = 16 << 20;

/// The most threads that fill one.
const THREADS: usize = 12;

/// Page-locked memory.
pub(super) struct Staging {
    address: *mut c_void,
    gpu: Gpu,
}

// SAFETY: the memory belongs to the value alone; the driver takes calls from any thread.
unsafe impl Send for Staging {}

impl Staging {
    pub(super) fn new(gpu: &Gpu) -> Result<Staging, Error> {
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
        let most = STAGING / 2 / size_of::<T>();
        let memory = Halves(self.address);
        // Threads stay for all pieces: to start them takes longer than to fill one. They begin once it is known how many there are: the
        // system may give fewer.
        let (team, broken) = (OnceLock::new(), AtomicBool::new(false));
        let fill_fraction = |n: usize, piece: usize, threads: usize| {
            let first = piece * most;
            let len = most.min(count - first);
            let fraction = len.div_ceil(threads);
            let part = (n * fraction).min(len)..((n + 1) * fraction).min(len);
            // SAFETY: copies of the piece before the last have been waited for, and shares do not overlap.
            fill(first + part.start, unsafe { memory.part(piece % 2, part) });
        };
        thread::scope(|scope| {
            let another = |&n: &usize| {
                let (fill_fraction, team, broken) = (&fill_fraction, &team, &broken);
                let work = move || {
                    let (threads, barrier): &(usize, Barrier) = team.wait();
                    for piece in 0..count.div_ceil(most) {
                        fill_fraction(n, piece, *threads);
                        // Filled by all, then copied by the first.
                        barrier.wait();
                        barrier.wait();
                        if broken.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                };
                Builder::new().spawn_scoped(scope, work).is_ok()
            };
            let threads = 1 + (1..cores().min(THREADS)).take_while(another).count();
            let (_, barrier) = team.get_or_init(|| (threads, Barrier::new(threads)));
            for piece in 0..count.div_ceil(most) {
                fill_fraction(0, piece, threads);
                barrier.wait();
                let first = piece * most;
                let len = most.min(count - first);
                let copied =
                    stream.synchronize().map_err(failed("waiting for a GPU")).and_then(|()| {
                        let place = to + (first * size_of::<T>()) as u64;
                        // SAFETY: the caller's promise; the half is filled again only after the next wait.
                        unsafe {
                            let values = memory.part::<T>(piece % 2, 0..len);
                            result::memcpy_htod_async(place, values, stream.cu_stream())
                        }
                        .map_err(failed("copying to the GPU"))
                    });
                broken.store(copied.is_err(), Ordering::Relaxed);
                barrier.wait();
                copied?;
            }
            stream.synchronize().map_err(failed("waiting for a GPU"))
        })
    }

    /// Gives `count` numbers from an address of the GPU on to `take`, a piece at a time, after all work of a
    /// stream: where the piece begins, and its numbers.
    ///
    /// # Safety
    /// There are so many numbers, and nobody writes them meanwhile.
    pub(super) unsafe fn read<T: Copy>(
        &mut self,
        stream: &CudaStream,
        from: CUdeviceptr,
        count: usize,
        take: &mut dyn FnMut(usize, &[T]),
    ) -> Result<(), Error> {
        let most = STAGING / 2 / size_of::<T>();
        let memory = Halves(self.address);
        let len = |piece: usize| most.min(count.saturating_sub(piece * most));
        let fetch = |piece: usize| {
            let place = from + (piece * most * size_of::<T>()) as u64;
            // SAFETY: the caller's promise; what the half held has been taken, and it is not read
            // until the stream has been waited for.
            unsafe {
                let values = memory.part::<T>(piece % 2, 0..len(piece));
                result::memcpy_dtoh_async(values, place, stream.cu_stream())
            }
            .map_err(failed("copying from the GPU"))
        };
        let pieces = count.div_ceil(most);
        if pieces > 0 {
            fetch(0)?;
        }
        for piece in 0..pieces {
            stream.synchronize().map_err(failed("waiting for a GPU"))?;
            if piece + 1 < pieces {
                fetch(piece + 1)?;
            }
            // SAFETY: the half has arrived, and the next piece goes to the other.
            take(piece * most, unsafe { memory.part(piece % 2, 0..len(piece)) });
        }
        Ok(())
    }
}

/// Page-locked memory of [`STAGING`] bytes, in halves.
#[derive(Clone, Copy)]
struct Halves(*mut c_void);

// SAFETY: who takes a part of it promises that nobody else does.
unsafe impl Sync for Halves {}

impl Halves {
    /// These values of half 0 or 1.
    ///
    /// # Safety
    /// The memory lives as long as the values; `T` is a plain number. Nobody else reads or writes them, and no
    /// copy of them is under way.
    unsafe fn part<'a, T>(&self, half: usize, part: Range<usize>) -> &'a mut [T] {
        assert!(part.end * size_of::<T>() <= STAGING / 2, "half of the memory is enough");
        // SAFETY: inside the allocation, which is aligned to pages; every bit pattern is a number.
        unsafe {
            let first = self.0.cast::<u8>().add(half * (STAGING / 2)).cast::<T>();
            std::slice::from_raw_parts_mut(first.add(part.start), part.len())
        }
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
