//! Ensembles of systems of which some cost a hundred times what others do: no batch waits for its most costly one.
//!
//! All that a device has room for lie in one arena, in a few parts with a launch each. Workers upload batches of the first part, then of the
//! next one while the kernel of the first runs, and so on; groups of threads that one kernel does not need any more make room for those
//! of the next. Results of a part are downloaded while the next ones are uploaded and integrated, so that the bus works in both
//! directions; its longest systems hold up none of the others (`early`).

mod copies;
mod early;

use super::arena::{Offsets, Shape};
use super::batch_parts::batch_parts;
use super::in_place::InPlace;
use super::kept::Kept;
use super::launch::{blocks, launch_blocks, matrices};
use super::run::Ready;
use super::stop::{no_more, watched};
use super::stream_workspace::StreamWorkspace;
use super::task::Task;
use super::worker::Job;
use crate::status::Status;
use copies::Desk;
use early::Early;
use odeum_core::{Error, Scalar, lock};
use odeum_cuda::{Device, Memory, Stream};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a worker does nothing when there is nothing to do.
const PAUSE: Duration = Duration::from_micros(50);

/// So many batches as a device has room for.
struct Round<'a, T, D: Device> {
    job: &'a Job<'a, T>,
    device: &'a Kept<D>,
    ready: &'a Ready<D>,
    /// In the order in which they lie in the arena.
    batches: &'a [usize],
    shape: Shape,
    offsets: Offsets,
    /// Systems that there is room for, which is the distance between components.
    room: usize,
    arena: Mutex<Arena<D>>,
    parts: Vec<Part<D>>,
    in_place: InPlace,
    turns: Turns,
    early: Early,
}

/// Whose turn it is: the next batch to upload, the next to download, the next whose pages of results are to come into being.
#[derive(Default)]
struct Turns {
    uploads: AtomicUsize,
    downloads: Mutex<usize>,
    pages: AtomicUsize,
    /// For each batch, who writes its results.
    writes: Vec<Mutex<()>>,
}

/// Where the systems lie.
struct Arena<D: Device> {
    lane: StreamWorkspace<D>,
    /// The address of matrices, where the kernel keeps them in global memory.
    matrices: u64,
    /// Behind the last launch, where one must not begin before the other has ended.
    launched: D::Event,
}

struct Part<D: Device> {
    /// The places of its batches.
    batches: Range<usize>,
    /// Batches that have not arrived.
    missing: AtomicUsize,
    /// Of its kernel, once it is launched.
    kernel: Mutex<Option<D::Stream>>,
    /// Groups of threads of that.
    groups: AtomicUsize,
    /// All systems have begun, and few go on: results may come back ([`early`]).
    comes_early: AtomicBool,
}

/// What of results is next for a worker.
enum Results {
    /// Those of the batch of this place. Where they come early, those of some systems are late.
    Of {
        place: usize,
        is_early: bool,
    },
    /// None that is there yet.
    Wait,
    End,
}

impl<T: Scalar> Job<'_, T> {
    /// Integrates batches on a device by several workers, as many batches at a time as there is room for.
    pub(super) fn integrate<D: Device>(
        &self,
        device: &Kept<D>,
        ready: &Ready<D>,
        batches: &[usize],
        workers: usize,
    ) -> Result<(), Error> {
        // Half is left to others, to the matrices and the local memory of the kernel.
        let mut at_once = (device.free_memory()? / 2 / self.shape.bytes(self.batch)).max(1);
        let desk = || {
            let staging = device.staging(self.shape.bytes(self.batch))?;
            Ok(Desk { staging, uploads: device.stream()?, downloads: device.stream()? })
        };
        let mut desks = (0..workers).map(|_| desk()).collect::<Result<Vec<_>, Error>>()?;
        let mut left = batches;
        while !left.is_empty() && !self.is_over() {
            let (now, later) = left.split_at(at_once.min(left.len()));
            match Round::begin(self, (device, ready), now, workers) {
                // Other runs have taken what was free.
                Err(Error::Device { .. }) if now.len() > 1 => at_once = now.len() / 2,
                round => {
                    round?.run(&mut desks);
                    left = later;
                }
            }
        }
        for Desk { staging, uploads, downloads } in desks {
            device.keep_staging(staging);
            device.keep_stream(uploads);
            device.keep_stream(downloads);
        }
        Ok(())
    }
}

impl<'a, T: Scalar, D: Device> Round<'a, T, D> {
    fn begin(
        job: &'a Job<'a, T>,
        (device, ready): (&'a Kept<D>, &'a Ready<D>),
        batches: &'a [usize],
        workers: usize,
    ) -> Result<Self, Error> {
        let part = |batches: Range<usize>| {
            let missing = AtomicUsize::new(batches.len());
            let (kernel, groups, comes_early) = Default::default();
            Part { batches, missing, kernel, groups, comes_early }
        };
        // Mechanisms take an explicit method far longer than the bus, and the end of each part would leave lanes idle.
        let parts: Vec<Part<D>> = if ready.is_interleaved() {
            vec![part(0..batches.len())]
        } else {
            batch_parts(batches.len()).into_iter().map(part).collect()
        };
        let shape = Shape { queues: parts.len(), ..job.shape };
        let room = batches.len() * job.batch;
        let offsets = Offsets::new(&shape, room);
        let mut lane = device.lane(offsets.end)?;
        // All that the launches need: a round that has begun wants for no memory. They have the same memory for matrices.
        let largest = parts.iter().map(|part| part.batches.len()).max().unwrap_or(0);
        let layout = &ready.kernel.layout;
        let blocks = blocks(device, &ready.loaded, layout, 1, largest * job.batch);
        let matrices = matrices(device, layout, blocks, &mut lane)?;
        if ready.expected.is_some() {
            lane.ordered(device, room, parts.len())?;
        }
        lane.put_shared(&offsets, job.inputs, &job.lists)?;
        let StreamWorkspace { stream, arena, .. } = &mut lane;
        // SAFETY: the arena is live until the stream has been waited for, here.
        unsafe {
            stream.set_bytes(arena, offsets.counters(), 0)?;
            // What nobody begins is as in a solution of nothing.
            stream.set_bytes(arena, offsets.end_states..offsets.end, 0)?;
            if shape.n_saves > 0 {
                stream.set_bytes(arena, offsets.saved..offsets.stats, 0xff)?;
            }
            let of_systems = offsets.status..offsets.status + room;
            stream.set_bytes(arena, of_systems, Status::NotRun as u8)?;
        }
        stream.wait()?;
        let arena = Mutex::new(Arena { lane, matrices, launched: device.device.event()? });
        let in_place = InPlace::new(&device.device, job.inputs, &job.sink, &shape);
        let writes = batches.iter().map(|_| Mutex::default()).collect();
        let turns = Turns { writes, ..Turns::default() };
        // Of explicit methods a status may be seen before the state that it is of: they do not publish it (step_loop.cuh).
        let early = match job.method.jacobian_source() {
            Some(_) => Early::new(&job.shape, &offsets, (job.batch, workers)),
            None => Early::never(),
        };
        Ok(Round {
            job,
            device,
            ready,
            batches,
            shape,
            offsets,
            room,
            arena,
            parts,
            in_place,
            turns,
            early,
        })
    }

    fn run(self, desks: &mut [Desk<D>]) {
        let finished = AtomicUsize::new(0);
        let mut told = 0;
        let work = || {
            std::thread::scope(|scope| {
                for desk in &mut *desks {
                    scope.spawn(|| {
                        let done = self.work(desk, &finished);
                        let ended = desk.uploads.wait().and(desk.downloads.wait());
                        if let Err(error) = done.and(ended) {
                            self.job.fail(error);
                        }
                    });
                }
            });
        };
        let is_over = || {
            let finished = self.finished().unwrap_or(told).max(told);
            self.job.monitor.add_finished(finished - told);
            told = finished;
            self.job.is_over()
        };
        watched(work, is_over, || self.stop());
        for kernel in self.parts.iter().filter_map(|part| lock(&part.kernel).take()) {
            match kernel.wait() {
                Ok(()) => self.device.keep_stream(kernel),
                Err(error) => self.job.fail(error),
            }
        }
        if !self.job.is_failed() {
            self.take_late(desks, &finished);
        }
        self.job.monitor.add_finished(finished.into_inner().saturating_sub(told));
        let arena = self.arena.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.device.keep(arena.lane);
    }

    /// Uploads batches and takes their results, until there are none. One upload and one download are under way while the worker copies
    /// to page-locked memory for the next one, and from it.
    fn work(&self, desk: &mut Desk<D>, finished: &AtomicUsize) -> Result<(), Error> {
        let (mut uploading, mut downloading) = (None, None);
        loop {
            if let Some(place) = uploading.take() {
                desk.uploads.wait()?;
                self.arrive(place)?;
            }
            uploading = self.next_to_upload();
            if let Some(place) = uploading {
                self.upload(desk, place)?;
            }
            if let Some((place, in_place, is_early)) = downloading.take() {
                desk.downloads.wait()?;
                self.take(&mut desk.staging, place, (&in_place, is_early), finished);
            }
            match self.next_results()? {
                Results::Of { place, is_early } => {
                    // Where nobody stopped the run until all systems had begun, no state of the caller is to stay.
                    let stays = self.job.is_over() && !is_early;
                    let in_place = if stays { InPlace::default() } else { self.in_place };
                    self.download(desk, place, &in_place)?;
                    downloading = Some((place, in_place, is_early));
                }
                Results::Wait => {
                    self.look(desk)?;
                    if uploading.is_none() && !self.touch() {
                        std::thread::sleep(PAUSE);
                    }
                }
                Results::End if uploading.is_none() => return Ok(()),
                Results::End => {}
            }
        }
    }

    fn next_to_upload(&self) -> Option<usize> {
        if self.job.is_over() {
            return None;
        }
        let place = self.turns.uploads.fetch_add(1, Ordering::Relaxed);
        (place < self.batches.len()).then_some(place)
    }

    /// Lets the pages of the results of a batch come into being while there is nothing else to do; false when it has been done for all.
    /// Those that the device writes are there.
    fn touch(&self) -> bool {
        let place = self.turns.pages.fetch_add(1, Ordering::Relaxed);
        let Some(&batch) = self.batches.get(place) else { return false };
        if self.in_place.has_results() {
            return false;
        }
        let _writes = lock(&self.turns.writes[place]);
        if !self.job.taken[batch].load(Ordering::Relaxed) {
            // SAFETY: nobody else writes the results of the batch meanwhile.
            unsafe { self.job.sink.touch(&self.systems(place).0) };
        }
        true
    }

    /// The next batch to download: of the first part of which there are any left, once its kernel is done.
    fn next_results(&self) -> Result<Results, Error> {
        let place = &mut *lock(&self.turns.downloads);
        if *place == self.batches.len() {
            return Ok(Results::End);
        }
        let is_over = self.job.is_over();
        let part = self.part_of(*place).1;
        let is_early = part.comes_early.load(Ordering::Relaxed);
        Ok(match &*lock(&part.kernel) {
            Some(kernel) if is_early || kernel.is_done()? => {
                *place += 1;
                Results::Of { place: *place - 1, is_early }
            }
            // Stopped before the kernel was started: who uploads the last batch of the part, and starts it all the same, comes here again.
            None if is_over => Results::End,
            _ => Results::Wait,
        })
    }

    /// The part of a batch, and its number.
    fn part_of(&self, place: usize) -> (usize, &Part<D>) {
        let number = self.parts.partition_point(|part| part.batches.end <= place);
        (number, &self.parts[number])
    }

    /// The systems of a batch, and the place of the first in the arena.
    fn systems(&self, place: usize) -> (Range<usize>, usize) {
        (self.job.systems(self.batches[place]), place * self.job.batch)
    }

    /// Says that a batch has arrived, and starts the kernel of its part when that was the last one.
    fn arrive(&self, place: usize) -> Result<(), Error> {
        let (number, part) = self.part_of(place);
        if part.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.launch(number)?;
        }
        Ok(())
    }

    /// Starts the kernel of a part that has arrived.
    fn launch(&self, part: usize) -> Result<(), Error> {
        let Arena { lane, matrices, launched } = &mut *lock(&self.arena);
        let mut task = self.task(part, lane.arena.address());
        let Ready { kernel, loaded, expected } = self.ready;
        let stream = self.device.stream()?;
        if let Some(expected) = expected {
            let (_, ordered) = lane.ordered(self.device, self.room, self.parts.len())?;
            let systems = self.systems_of(part);
            let (first, at_once) = (systems.start, self.ready.at_once(&self.device.limits));
            let place = (part, systems);
            // SAFETY: the arena, and the order with it, live until all streams have been waited for.
            unsafe { expected.order(self.device, &stream, ordered, place, (&task, at_once))? };
            task.arrays.order = ordered.address(first) as *const u32;
        }
        if kernel.layout.global > 0 {
            task.arrays.matrices = *matrices as *mut u8;
            stream.wait_event(launched)?;
        }
        let blocks = blocks(self.device, loaded, &kernel.layout, 1, task.n_systems as usize);
        // SAFETY: the arena lives until all streams have been waited for.
        unsafe { launch_blocks(loaded, &kernel.layout, blocks, &task, &stream)? };
        if kernel.layout.global > 0 {
            stream.record_event(launched)?;
        }
        let groups = blocks * kernel.layout.block / kernel.layout.width;
        self.parts[part].groups.store(groups, Ordering::Release);
        *lock(&self.parts[part].kernel) = Some(stream);
        Ok(())
    }

    /// The systems of a part, in the arena at an address.
    fn task(&self, part: usize, arena: u64) -> Task<T> {
        let Job { inputs, method, options, .. } = *self.job;
        let of_part = self.systems_of(part);
        let arrays = self.offsets.arrays::<T>(arena);
        let Shape { shared_params, n_counts, .. } = self.shape;
        let mut arrays = arrays.starting_at(of_part.start, shared_params, n_counts);
        arrays.next = arrays.next.wrapping_add(part);
        Task::new(arrays, inputs.span(0), of_part.len(), self.room, method, options)
    }

    /// The places of the systems of a part in the arena.
    fn systems_of(&self, part: usize) -> Range<usize> {
        let Range { start, end } = self.parts[part].batches;
        // Only the last batch of all may have fewer systems.
        let (systems, place) = self.systems(end - 1);
        start * self.job.batch..place + systems.len()
    }

    /// Systems that have ended at least: those that were handed out, but for as many as there is room for at once.
    fn finished(&self) -> Result<usize, Error> {
        let mut handed_out = vec![0_u32; self.parts.len()];
        {
            let StreamWorkspace { stream, arena, .. } = &lock(&self.arena).lane;
            stream.read(arena, self.offsets.next, &mut handed_out)?;
        }
        let of_part =
            |(part, &count): (usize, &u32)| self.systems_of(part).len().min(count as usize);
        let at_once = self.ready.at_once(&self.device.limits);
        let all: usize = handed_out.iter().enumerate().map(of_part).sum();
        Ok(all.saturating_sub(at_once))
    }

    /// Lets groups begin no more systems.
    fn stop(&self) -> Result<(), Error> {
        let arena = &mut lock(&self.arena).lane.arena;
        no_more(&self.device.device, arena, self.offsets.next, self.parts.len())
    }
}
