//! Integrating an ensemble: batches, drawn from one queue by workers of all GPUs.

use super::Cuda;
use super::arena::Shape;
use super::expect::Expected;
use super::kept::{Kept, Loaded};
use super::plan::{Kernel, Wanted, no_kernel, planned};
use super::sink::Sink;
use super::source::Traits;
use super::stop::check_queue;
use super::system::DeviceSystem;
use super::task::Lists;
use super::worker::Job;
use crate::lent::{Inputs, Outputs, Remarks};
use crate::method::Method;
use crate::method::device::Storage;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::GpuTimes;
use crate::solution::WARP;
use odeum_core::{Error, Scalar, cores};
use odeum_cuda::{Device, Limits};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Workers for each GPU, at most: enough for copies to hide behind kernels.
const WORKERS: usize = 16;
/// Batches for each worker, about: more hide copies better, fewer fill the GPU better.
const BATCHES: usize = 2;
/// A batch smaller than this is not worth a launch, in bytes.
const SMALL_BATCH: usize = 1 << 20;
/// A larger one makes the GPU wait for the first copies and the caller for the last, in bytes.
const LARGE_BATCH: usize = 12 << 20;

/// Integrates an ensemble on GPUs. The arguments have been checked; the outputs may hold anything.
pub(crate) fn solve<T: Scalar>(
    system: &DeviceSystem,
    inputs: &Inputs<'_, T>,
    method: &Method,
    cuda: &Cuda,
    options: &Options,
    outputs: Outputs<'_, T>,
    monitor: &Monitor,
) -> Result<Remarks, Error> {
    let begun = Instant::now();
    if cuda.ordinals.is_empty() {
        return Err(Error::input("cuda", "no GPU", "name at least one, as cuda:0"));
    }
    let gpus = Kept::open_all(&cuda.ordinals)?;
    let mut remarks = solve_on(&gpus, system, inputs, method, options, outputs, monitor)?;
    if let Some(times) = &mut remarks.gpu_times {
        times.total_ms = begun.elapsed().as_secs_f64() * 1e3;
    }
    Ok(remarks)
}

/// The same on devices that are there, at least one, by a method that has kernels.
pub(super) fn solve_on<T: Scalar, D: Device>(
    devices: &[Arc<Kept<D>>],
    system: &DeviceSystem,
    inputs: &Inputs<'_, T>,
    method: &Method,
    options: &Options,
    mut outputs: Outputs<'_, T>,
    monitor: &Monitor,
) -> Result<Remarks, Error> {
    let begun = Instant::now();
    check_queue(inputs.len())?;
    let traits =
        Traits::new(T::NAME == "f32", inputs.shares_params(), method, options, &system.ranges);
    let shape = Shape {
        keeps_steps: inputs.first_steps().is_some() || !outputs.next_steps.is_empty(),
        ..Shape::of(inputs, options, traits.n_counts)
    };
    // Before anything that wants a context, which is made while a kernel is compiled.
    let ready = Ready::all(devices, system, method, &traits, inputs.len())?;
    let workers = WORKERS.min((cores() / devices.len()).max(1));
    let (batch, workers) = batch_size(devices, &shape, inputs.len(), workers)?;
    let n_batches = inputs.len().div_ceil(batch);
    // Of stiff systems one may cost a hundred times what others do; and a block of interleaved systems ends with its longest one.
    let uneven = method.jacobian_source().is_some() || ready.iter().any(Ready::is_interleaved);
    let job = Job {
        inputs,
        method,
        options,
        shape,
        lists: Lists::new(&traits, options, inputs.dim()),
        batch,
        n_batches,
        // Where batches follow each other, the threads of each take several systems one after
        // the other, which evens out their lengths; other batches fill the rest of the GPU.
        fraction: if n_batches > 2 * devices.len() { 2 } else { 1 },
        next: AtomicUsize::new(0),
        sink: Sink::new(&mut outputs, shape.n_counts),
        taken: (0..n_batches).map(|_| AtomicBool::new(false)).collect(),
        monitor,
        failure: Mutex::new(None),
    };
    let each = workers.min(n_batches.div_ceil(devices.len()));
    let on = |n: usize| {
        let (device, ready) = (&*devices[n], &ready[n]);
        // Each has its group of threads at once: nobody takes the place of who is done.
        let one_each = devices.len() == 1 && inputs.len() <= ready.at_once(&device.limits);
        if uneven && n_batches > devices.len() && !one_each {
            let own: Vec<usize> = (n..n_batches).step_by(devices.len()).collect();
            if let Err(error) = job.integrate(device, ready, &own, each) {
                job.fail(error);
            }
            return;
        }
        // All but one.
        let without = AtomicUsize::new(each.saturating_sub(1));
        std::thread::scope(|scope| {
            for _ in 1..each {
                scope.spawn(|| job.work(device, ready, &without));
            }
            job.work(device, ready, &without);
        });
    };
    std::thread::scope(|scope| {
        let on = &on;
        for n in 1..devices.len() {
            scope.spawn(move || on(n));
        }
        on(0);
    });
    job.leave_rest();
    let Job { failure, .. } = job;
    if let Some(error) = failure.into_inner().unwrap_or_default() {
        return Err(error);
    }
    let total_ms = begun.elapsed().as_secs_f64() * 1e3;
    for s in inputs.invalid_starts() {
        outputs.refuse(s, inputs);
    }
    let gpu_times = Some(GpuTimes { total_ms, batches: n_batches });
    Ok(Remarks { gpu_times, ..Remarks::default() })
}

/// Systems of a batch, and workers for each device, at most so many.
fn batch_size<D: Device>(
    devices: &[Arc<Kept<D>>],
    shape: &Shape,
    systems: usize,
    mut workers: usize,
) -> Result<(usize, usize), Error> {
    let per_system = (shape.bytes(1024) - shape.bytes(0)).div_ceil(1024);
    let by_overlap = systems.div_ceil(devices.len() * workers * BATCHES);
    let by_size =
        by_overlap.clamp(SMALL_BATCH.div_ceil(per_system), LARGE_BATCH.div_ceil(per_system));
    let mut batch = by_size.next_multiple_of(WARP).min(systems);
    for device in devices {
        batch = batch.min(device.largest_batch);
        // A quarter is left to others, and to the local memory of the kernel.
        let free = device.free_memory()?;
        while shape.bytes(batch) * workers.min(systems.div_ceil(batch)) > free / 4 * 3 {
            if batch > WARP {
                batch = (batch / 2).next_multiple_of(WARP);
            } else if workers > 1 {
                workers /= 2;
            } else if batch > 1 {
                batch /= 2;
            } else {
                return Err(Error::Device {
                    device: device.device.name(),
                    reason: format!(
                        "not enough memory: a system needs {} bytes, {free} are free",
                        shape.bytes(1)
                    ),
                    remedy: "free memory of the GPU, or save fewer times".to_owned(),
                });
            }
        }
    }
    Ok((batch, workers))
}

/// A kernel, planned for and loaded on one device.
pub(super) struct Ready<D: Device> {
    pub(super) kernel: Arc<Kernel>,
    pub(super) loaded: Loaded<D>,
    /// What tells their costs, where systems wait for others and some may take far longer.
    pub(super) expected: Option<Expected<D>>,
}

impl<D: Device> Ready<D> {
    /// Whether systems are interleaved.
    pub(super) fn is_interleaved(&self) -> bool {
        self.kernel.layout.storage == Storage::Interleaved
    }

    /// Systems that the device integrates at once.
    pub(super) fn at_once(&self, limits: &Limits) -> usize {
        let of_block = self.kernel.layout.block / self.kernel.layout.width;
        limits.multiprocessors * self.loaded.resident * of_block
    }

    /// On each of these devices, side by side.
    fn all(
        devices: &[Arc<Kept<D>>],
        system: &DeviceSystem,
        method: &Method,
        traits: &Traits,
        systems: usize,
    ) -> Result<Vec<Self>, Error> {
        let on = |device: &Kept<D>| Ready::new(device, system, method, traits, systems);
        let Some((first, others)) = devices.split_first() else { return Ok(Vec::new()) };
        std::thread::scope(|scope| {
            let others: Vec<_> = others.iter().map(|device| scope.spawn(|| on(device))).collect();
            let first = on(first);
            let others = others
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            std::iter::once(first).chain(others).collect()
        })
    }

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
        let held = device.limits.multiprocessors * kernel.layout.systems();
        let differ =
            method.jacobian_source().is_some() || kernel.layout.storage == Storage::Interleaved;
        let is_wanted = differ && !traits.event && systems > held;
        let expected = || {
            let widths = (false, device.least_width);
            let wanted = Wanted::new(system, method, traits, &device.limits, widths).costs();
            let Some(kernel) = planned(wanted) else { return Ok(None) };
            Ok(Some(Expected { loaded: device.load(&kernel)?, kernel }))
        };
        // Compiled side by side.
        std::thread::scope(|scope| {
            let expected = is_wanted.then(|| scope.spawn(expected));
            if method.jacobian_source().is_some() && systems > held {
                // Who wants it has the error, if there is one.
                scope.spawn(|| device.late());
            }
            let loaded = device.load(&kernel)?;
            let expected = expected.map(|thread| thread.join().unwrap_or(Ok(None))).transpose()?;
            Ok(Ready { kernel, loaded, expected: expected.flatten() })
        })
    }
}
