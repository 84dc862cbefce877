//! Integrating an ensemble: batches, drawn from one queue by workers of all GPUs.
//!
//! A worker copies its batch into pinned memory, starts upload, kernel and download on a stream
//! of its own, and copies the results out. With several workers on a GPU, copies of some overlap
//! the kernels of others; a batch is small enough for that, and for the memory of the GPU.

use super::Cuda;
use super::arena::{Offsets, Shape};
use super::kept::{Kept, Loaded};
use super::lane::Lane;
use super::launch::launch;
use super::layout::WARP;
use super::plan::{Kernel, Wanted, no_kernel, planned};
use super::sink::Sink;
use super::source::Traits;
use super::system::DeviceSystem;
use super::task::{Lists, Task};
use crate::ensemble::Ensemble;
use crate::method::Method;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::{GpuTimes, Solution};
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::{Error, Scalar, lock};
use odeum_cuda::{Device, Stream};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Workers for each GPU, at most: enough for copies to hide behind kernels.
const WORKERS: usize = 8;
/// Batches for each worker, about: more hide copies better, fewer fill the GPU better.
const BATCHES: usize = 2;
/// A batch smaller than this is not worth a launch, in bytes.
const SMALL_BATCH: usize = 1 << 20;
/// A larger one makes the GPU wait for the first copies and the caller for the last, in bytes.
const LARGE_BATCH: usize = 12 << 20;
/// The same of implicit methods: a batch takes as long as its most costly system, and of stiff ones one may cost a hundred times what
/// others do, so more of them are to be under way.
const LARGE_UNEVEN_BATCH: usize = 64 << 20;

/// Integrates an ensemble on GPUs. The arguments have been checked.
pub(crate) fn solve<T: Scalar>(
    system: &DeviceSystem,
    ensemble: &Ensemble<T>,
    method: &Method,
    cuda: &Cuda,
    options: &Options,
    monitor: &Monitor,
) -> Result<Solution<T>, Error> {
    let begun = Instant::now();
    if cuda.ordinals.is_empty() {
        return Err(Error::input("cuda", "no GPU", "name at least one, as cuda:0"));
    }
    let gpus = Kept::open_all(&cuda.ordinals)?;
    let mut solution = solve_on(&gpus, system, ensemble, method, options, monitor)?;
    if let Some(times) = &mut solution.gpu_times {
        times.total_ms = begun.elapsed().as_secs_f64() * 1e3;
    }
    Ok(solution)
}

/// The same on devices that are there, at least one, by a method that has kernels.
pub(super) fn solve_on<T: Scalar, D: Device>(
    devices: &[Arc<Kept<D>>],
    system: &DeviceSystem,
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
    monitor: &Monitor,
) -> Result<Solution<T>, Error> {
    let begun = Instant::now();
    if ensemble.len() > u32::MAX as usize {
        return Err(Error::input("states", ensemble.len(), "a GPU takes up to 2^32 systems"));
    }
    let mut solution = Solution::of(&ensemble.inputs(), options.save_times());
    let traits =
        Traits::new(T::NAME == "f32", ensemble.shares_params(), method, options, &system.ranges);
    let shape = Shape::of(ensemble, options, traits.n_counts);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = WORKERS.min((cores / devices.len()).max(1));
    let largest = if method.jacobian_by().is_some() { LARGE_UNEVEN_BATCH } else { LARGE_BATCH };
    let batch = batch_size(devices, &shape, ensemble.len(), workers, largest)?;
    let n_batches = ensemble.len().div_ceil(batch);

    let job = Job {
        ensemble,
        method,
        options,
        shape,
        lists: Lists::new(&traits, options, ensemble.dim()),
        batch,
        // Where batches follow each other, the threads of each take several systems one after
        // the other, which evens out their lengths; other batches fill the rest of the GPU.
        fraction: if n_batches > 2 * devices.len() { 2 } else { 1 },
        next: AtomicUsize::new(0),
        sink: Sink::new(&mut solution, shape.n_counts),
        monitor,
        failure: Mutex::new(None),
        times: Mutex::new(GpuTimes::default()),
    };
    let each = workers.min(n_batches.div_ceil(devices.len()));
    std::thread::scope(|scope| {
        for device in devices {
            let (job, traits) = (&job, &traits);
            scope.spawn(move || {
                let ready = Ready::new(device, system, method, traits, ensemble.len());
                match ready {
                    Err(error) => job.fail(error),
                    Ok(ready) => std::thread::scope(|scope| {
                        for _ in 1..each {
                            scope.spawn(|| job.work(device, &ready));
                        }
                        job.work(device, &ready);
                    }),
                }
            });
        }
    });
    let Job { failure, times, .. } = job;
    if let Some(error) = failure.into_inner().unwrap_or_default() {
        return Err(error);
    }
    let mut times = times.into_inner().unwrap_or_default();
    times.total_ms = begun.elapsed().as_secs_f64() * 1e3;
    times.batches = n_batches;
    solution.gpu_times = Some(times);
    for s in (0..ensemble.len()).filter(|&s| ensemble.starts_invalid(s)) {
        solution.status[s] = Status::InvalidStart;
        solution.stats[s] = Stats::default();
    }
    Ok(solution)
}

/// Systems of a batch of `largest` bytes at most.
fn batch_size<D: Device>(
    devices: &[Arc<Kept<D>>],
    shape: &Shape,
    systems: usize,
    workers: usize,
    largest: usize,
) -> Result<usize, Error> {
    let per_system = (shape.bytes(1024) - shape.bytes(0)).div_ceil(1024);
    let by_overlap = systems.div_ceil(devices.len() * workers * BATCHES);
    let by_size = by_overlap.clamp(SMALL_BATCH.div_ceil(per_system), largest.div_ceil(per_system));
    let mut batch = by_size.next_multiple_of(WARP).min(systems);
    for device in devices {
        // A quarter is left to others, and to the local memory of the kernel.
        let free = device.free_memory()?;
        while shape.bytes(batch) * workers.min(systems.div_ceil(batch)) > free / 4 * 3 {
            if batch <= WARP {
                return Err(Error::Device {
                    device: device.device.name(),
                    reason: format!(
                        "not enough memory: {batch} systems need {} bytes for each of {workers} \
                         batches, {free} are free",
                        shape.bytes(batch)
                    ),
                    remedy: "free memory of the GPU, or save fewer times".to_owned(),
                });
            }
            batch = (batch / 2).next_multiple_of(WARP);
        }
    }
    Ok(batch)
}

/// A kernel, planned for and loaded on one device.
pub(super) struct Ready<D: Device> {
    pub(super) kernel: Arc<Kernel>,
    pub(super) loaded: Loaded<D>,
}

impl<D: Device> Ready<D> {
    pub(super) fn new(
        device: &Kept<D>,
        system: &DeviceSystem,
        method: &Method,
        traits: &Traits,
        systems: usize,
    ) -> Result<Self, Error> {
        let widths = (systems <= device.lane_systems, device.least_width);
        let wanted = Wanted::new(system, method, traits, &device.limits, widths);
        let kernel =
            planned(wanted).ok_or_else(|| no_kernel(system, method, &device.device.name()))?;
        let loaded = device.load(&kernel)?;
        Ok(Ready { kernel, loaded })
    }
}

/// What the workers of a run share.
struct Job<'a, T> {
    ensemble: &'a Ensemble<T>,
    method: &'a Method,
    options: &'a Options,
    shape: Shape,
    lists: Lists<T>,
    batch: usize,
    /// Of the device, what the kernel of one batch may take: one over this.
    fraction: usize,
    /// The next batch to take.
    next: AtomicUsize,
    sink: Sink<T>,
    monitor: &'a Monitor,
    failure: Mutex<Option<Error>>,
    times: Mutex<GpuTimes>,
}

impl<T: Scalar> Job<'_, T> {
    /// The first error is the one that is told; it stops all workers.
    fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
    }

    /// Takes batches until there are none.
    fn work<D: Device>(&self, device: &Kept<D>, ready: &Ready<D>) {
        let mut lane = match device.lane(self.shape.bytes(self.batch)) {
            Ok(lane) => lane,
            Err(error) => return self.fail(error),
        };
        loop {
            let first = self.next.fetch_add(1, Ordering::Relaxed) * self.batch;
            if first >= self.ensemble.len()
                || self.monitor.is_stopped()
                || lock(&self.failure).is_some()
            {
                break;
            }
            let range = first..(first + self.batch).min(self.ensemble.len());
            let count = range.len();
            match self.run_batch(device, ready, &mut lane, range) {
                Ok(()) => self.monitor.add_finished(count),
                Err(error) => self.fail(error),
            }
        }
        device.keep(lane);
    }

    fn run_batch<D: Device>(
        &self,
        device: &Kept<D>,
        ready: &Ready<D>,
        lane: &mut Lane<D>,
        range: Range<usize>,
    ) -> Result<(), Error> {
        let offsets = Offsets::new(&self.shape, range.len());
        lane.arena.fill(&offsets, self.ensemble, &range, &self.lists);
        lane.stream.record_time(0)?;
        lane.upload(0..offsets.results)?;
        if self.shape.n_saves > 0 {
            // All bits set is NaN: what a system that ended early never reached.
            // SAFETY: the arena is live until the stream has been waited for.
            unsafe {
                lane.stream.set_bytes(
                    &mut lane.arena.device,
                    offsets.saved..offsets.stats,
                    0xff,
                )?;
            }
        }
        let arrays = offsets.arrays::<T>(lane.arena.address());
        let span = self.ensemble.span(range.start);
        let task = Task::new(arrays, span, range.len(), range.len(), self.method, self.options);
        lane.stream.record_time(1)?;
        // SAFETY: the arena is live until the stream has been waited for, here or in `Kept::keep`.
        unsafe { launch(device, &ready.loaded, &ready.kernel.layout, self.fraction, &task, lane)? };
        lane.stream.record_time(2)?;
        lane.download(offsets.results..offsets.end)?;
        lane.stream.record_time(3)?;
        // While the GPU works: the pages of the results come into being.
        // SAFETY: this worker alone has taken the batch.
        unsafe { self.sink.touch(&range) };
        lane.stream.wait()?;
        // SAFETY: as above.
        unsafe { self.sink.take(&mut lane.arena, &offsets, &range) };
        let (kernel, whole) = (lane.stream.elapsed_ms(1, 2)?, lane.stream.elapsed_ms(0, 3)?);
        let mut times = lock(&self.times);
        times.kernels_ms += kernel;
        times.batches_ms += whole;
        Ok(())
    }
}
