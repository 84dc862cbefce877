//! What a worker of a run does with batches.
//!
//! It copies its batch into page-locked memory, starts upload, kernel and download on a stream of its own, and copies
//! the results out. With several workers on a GPU, copies of some overlap the kernels of others; a batch is small enough for that,
//! and for the memory of the GPU.

use super::arena::{Offsets, Shape};
use super::in_place::InPlace;
use super::kept::Kept;
use super::launch::{blocks, launch, matrices};
use super::run::Ready;
use super::sink::{Sink, Taken};
use super::staging::Staging;
use super::stream_workspace::StreamWorkspace;
use super::task::{Lists, Task};
use crate::lent::Inputs;
use crate::method::Method;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::WARP;
use odeum_core::{Error, Scalar, lock};
use odeum_cuda::{Device, Memory, Stream};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What the workers of a run share.
pub(super) struct Job<'a, T> {
    pub(super) inputs: &'a Inputs<'a, T>,
    pub(super) method: &'a Method,
    pub(super) options: &'a Options,
    pub(super) shape: Shape,
    pub(super) lists: Lists<T>,
    /// Systems of a batch.
    pub(super) batch: usize,
    pub(super) n_batches: usize,
    /// Of the device, what the kernel of one batch may take: one over this.
    pub(super) fraction: usize,
    /// The next batch to take.
    pub(super) next: AtomicUsize,
    pub(super) sink: Sink<T>,
    /// Which batches the sink has taken.
    pub(super) taken: Vec<AtomicBool>,
    pub(super) monitor: &'a Monitor,
    pub(super) failure: Mutex<Option<Error>>,
}

impl<T: Scalar> Job<'_, T> {
    /// The first error is the one that is told; it stops all workers.
    pub(super) fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
    }

    /// Takes batches until there are none. Of the workers of a device, `without` may find no memory and leave their batches to the others.
    pub(super) fn work<D: Device>(
        &self,
        device: &Kept<D>,
        ready: &Ready<D>,
        without: &AtomicUsize,
    ) {
        let may_leave = |error: &Error| {
            let left = |n: usize| n.checked_sub(1);
            matches!(error, Error::Device { .. })
                && without.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
        };
        let (mut lane, mut staging, room) = match self.memory(device, ready) {
            Ok(memory) => memory,
            Err(error) if may_leave(&error) => return,
            Err(error) => return self.fail(error),
        };
        while !self.is_over() {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            if place >= self.n_batches {
                break;
            }
            let memory = (&mut lane, &mut staging, room);
            if let Err(error) = self.run_batch(device, ready, memory, place) {
                self.fail(error);
            }
        }
        device.keep(lane);
        device.keep_staging(staging);
    }

    /// Memory of a worker, and for how many systems at a time: fewer than a batch has, where other runs have taken meanwhile what was
    /// free when batches were sized.
    fn memory<D: Device>(
        &self,
        device: &Kept<D>,
        ready: &Ready<D>,
    ) -> Result<(StreamWorkspace<D>, Staging<D>, usize), Error> {
        let Ready { kernel, loaded, .. } = ready;
        let of = |room: usize| {
            let bytes = self.shape.bytes(room);
            let mut lane = device.lane(bytes)?;
            let blocks = blocks(device, loaded, &kernel.layout, self.fraction, room);
            matrices(device, &kernel.layout, blocks, &mut lane)?;
            Ok((lane, device.staging(bytes)?, room))
        };
        let mut room = self.batch;
        loop {
            match of(room) {
                Err(Error::Device { .. }) if room > WARP => {
                    room = (room / 2).next_multiple_of(WARP);
                }
                memory => return memory,
            }
        }
    }

    /// Whether no more batches are wanted.
    pub(super) fn is_over(&self) -> bool {
        self.monitor.is_stopped() || self.is_failed()
    }

    /// Whether there was an error.
    pub(super) fn is_failed(&self) -> bool {
        lock(&self.failure).is_some()
    }

    /// The systems of a batch.
    pub(super) fn systems(&self, batch: usize) -> Range<usize> {
        let first = batch * self.batch;
        first..(first + self.batch).min(self.inputs.len())
    }

    /// Copies the results of a batch out of page-locked memory: see [`Sink::take`].
    ///
    /// # Safety
    /// No other thread uses the systems of the batch.
    pub(super) unsafe fn take<D: Device>(
        &self,
        staging: &mut Staging<D>,
        offsets: &Offsets,
        batch: usize,
        how: Taken<'_>,
    ) {
        // SAFETY: the caller's word.
        unsafe { self.sink.take(staging, offsets, &self.systems(batch), how) };
        self.taken[batch].store(true, Ordering::Relaxed);
    }

    /// Says of systems whose batch was not begun that they did not run. No worker is at work any more.
    pub(super) fn leave_rest(&self) {
        let is_left = |batch: &usize| !self.taken[*batch].load(Ordering::Relaxed);
        for batch in (0..self.n_batches).filter(is_left) {
            // SAFETY: there are no workers.
            unsafe { self.sink.leave(&self.systems(batch)) };
        }
    }

    /// Integrates a batch, so many systems at a time as there is room for.
    fn run_batch<D: Device>(
        &self,
        device: &Kept<D>,
        ready: &Ready<D>,
        (lane, staging, room): (&mut StreamWorkspace<D>, &mut Staging<D>, usize),
        batch: usize,
    ) -> Result<(), Error> {
        let Range { start, end } = self.systems(batch);
        for first in (start..end).step_by(room) {
            let range = first..(first + room).min(end);
            // SAFETY: this worker alone has taken the batch.
            unsafe { self.run_systems(device, ready, (&mut *lane, &mut *staging), range)? };
        }
        self.taken[batch].store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Integrates systems of a batch, for which there is room.
    ///
    /// # Safety
    /// No other thread uses the systems.
    unsafe fn run_systems<D: Device>(
        &self,
        device: &Kept<D>,
        ready: &Ready<D>,
        (lane, staging): (&mut StreamWorkspace<D>, &mut Staging<D>),
        range: Range<usize>,
    ) -> Result<(), Error> {
        let offsets = Offsets::new(&self.shape, range.len());
        // A batch travels in one copy: nothing is read or written where it lies.
        let in_place = InPlace::default();
        staging.fill(&offsets, self.inputs, &range, &self.lists, &in_place);
        // SAFETY: the memory here lives, and is used by nobody else, until the stream has been waited for, here or in
        // `Kept::keep` after an error.
        unsafe { lane.upload(staging, 0..offsets.results)? };
        if self.shape.n_saves > 0 {
            // All bits set is NaN: what a system that ended early never reached.
            // SAFETY: the arena is live until the stream has been waited for.
            unsafe { lane.stream.set_bytes(&mut lane.arena, offsets.saved..offsets.stats, 0xff)? };
        }
        let arrays = offsets.arrays::<T>(lane.arena.address());
        let span = self.inputs.span(range.start);
        let task = Task::new(arrays, span, range.len(), range.len(), self.method, self.options);
        // SAFETY: as above.
        unsafe { launch(device, &ready.loaded, &ready.kernel.layout, self.fraction, &task, lane)? };
        // SAFETY: as above.
        unsafe { lane.download(staging, offsets.results..offsets.end)? };
        // While the GPU works: the pages of the results come into being.
        // SAFETY: the caller's word.
        unsafe { self.sink.touch(&range) };
        lane.stream.wait()?;
        let how = Taken { past_caches: false, all_began: false, in_place: &in_place };
        // SAFETY: as above.
        unsafe { self.sink.take(staging, &offsets, &range, how) };
        self.monitor.add_finished(range.len());
        Ok(())
    }
}
