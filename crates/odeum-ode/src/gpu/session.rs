//! An ensemble that stays on a GPU over many calls.

use super::arena::{Offsets, Shape, Work};
use super::kept::Kept;
use super::lane::Lane;
use super::launch::launch;
use super::order::Costs;
use super::run::Ready;
use super::source::Traits;
use super::stop::{no_more, watched};
use super::system::DeviceSystem;
use super::task::{self, Lists, Resident, Task};
use crate::ensemble::{Ensemble, check_count, check_first_steps, check_span};
use crate::method::Method;
use crate::method::device::Storage;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::Solution;
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::{Error, Scalar, System};
use odeum_cuda::{Device, Gpu, Memory, Stream};
use std::sync::Arc;

/// An ensemble whose states stay on a GPU: uploaded once, advanced many times, downloaded when
/// wanted. For codes that split operators and integrate the same cells over and over.
///
/// [`crate::Solver::session`] has the same on either device; this one knows the type of its system, and lends its arrays to other
/// kernels ([`Exchange`](super::Exchange)).
///
/// With [`Options::warm_start`], or first steps that were given, every system begins an advance with the step size with which it
/// ended the one before. A system that failed stands at its last accepted state and is advanced
/// from there like the others, with a first step anew: look at [`statuses`](Session::statuses) after each advance.
///
/// Where not all systems fit on the GPU at once, those that cost most in the advance before begin first, in the first advance those that
/// will probably cost most; their results are the same in any order.
pub struct Session<T, D: Device = Gpu> {
    kept: Arc<Kept<D>>,
    ready: Ready<D>,
    /// There until the session ends.
    lane: Option<Lane<D>>,
    offsets: Offsets,
    /// Sizes of the first steps of the next advance \[M\], where they are kept, and memory for those of the one after it.
    steps: Option<[D::Memory; 2]>,
    /// There was an advance: what systems cost is known.
    advanced: bool,
    dim: usize,
    systems: usize,
    /// Counts of a system.
    n_counts: usize,
    method: Method,
    options: Options,
    precision: std::marker::PhantomData<T>,
}

impl<T: Scalar> Session<T> {
    /// Uploads an ensemble to the GPU of this number. The spans of the ensemble are not used:
    /// [`advance`](Session::advance) says where to go.
    ///
    /// # Errors
    /// Arguments that cannot be used (among them save times, as a session saves nothing, and a
    /// terminal event, as an advance takes all systems over one span), a GPU that is not there, or
    /// too little memory on it.
    pub fn new<S: System>(
        system: &S,
        ensemble: &Ensemble<T>,
        method: &Method,
        ordinal: usize,
        options: &Options,
    ) -> Result<Self, Error> {
        method.check()?;
        options.check_for_session((system.dim(), system.n_params()), ensemble)?;
        let system = DeviceSystem::traced(system);
        Self::begin(Kept::open(ordinal)?, &system, ensemble, method, options)
    }

    /// The same of a [`DynSystem`](crate::DynSystem), by reference.
    ///
    /// # Errors
    /// As [`new`](Session::new).
    pub fn of(
        system: impl Into<DeviceSystem>,
        ensemble: &Ensemble<T>,
        method: &Method,
        ordinal: usize,
        options: &Options,
    ) -> Result<Self, Error> {
        let system = system.into();
        method.check()?;
        options.check_for_session(system.grouped.sizes(), ensemble)?;
        Self::begin(Kept::open(ordinal)?, &system, ensemble, method, options)
    }

    /// Number of the GPU, and the address of the states in its memory, component-major \[n × M\].
    pub(crate) fn place(&self) -> Option<(usize, u64)> {
        self.resident().map(|(resident, gpu, _)| (gpu.ordinal(), resident.states))
    }

    /// Waits for all work on the GPU: [`Gpu::wait_for_all`].
    pub(crate) fn wait_for_all(&self) -> Result<(), Error> {
        self.kept.device.wait_for_all()
    }
}

impl<T: Scalar, D: Device> Session<T, D> {
    /// As [`new`](Session::new), on a device that is there.
    pub(super) fn on<S: System>(
        kept: Arc<Kept<D>>,
        system: &S,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
    ) -> Result<Self, Error> {
        method.check()?;
        options.check_for_session((system.dim(), system.n_params()), ensemble)?;
        let system = DeviceSystem::traced(system);
        Self::begin(kept, &system, ensemble, method, options)
    }

    fn begin(
        kept: Arc<Kept<D>>,
        system: &DeviceSystem,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
    ) -> Result<Self, Error> {
        let shared = ensemble.shares_params();
        let traits = Traits::new(T::NAME == "f32", shared, method, options, &system.ranges);
        let ready = Ready::new(&kept, system, method, &traits, ensemble.len())?;
        let n_counts = traits.n_counts;
        let shape = Shape::of(&ensemble.inputs(), options, n_counts);
        // Steps lie in an array of the session's own.
        let shape = Shape { shared_span: true, keeps_steps: false, ..shape };
        let offsets = Offsets::new(&shape, ensemble.len());
        let mut lane = kept.lane(offsets.end)?;
        let lists = Lists::new(&traits, options, ensemble.dim());
        lane.put(&offsets, &ensemble.inputs(), &lists)?;
        let bytes = ensemble.len() * size_of::<T>();
        let given = ensemble.first_steps();
        let keeps = given.is_some() || options.warm_start;
        let mut steps = keeps.then(|| two_of(&kept.device, bytes)).transpose()?;
        if let Some([first, _]) = &mut steps {
            match given {
                Some(given) => lane.stream.write(first, 0, given)?,
                // Zero: no step yet.
                // SAFETY: the memory lives until the stream has been waited for.
                None => unsafe { lane.stream.set_bytes(first, 0..bytes, 0)? },
            }
        }
        lane.stream.wait()?;
        Ok(Session {
            kept,
            ready,
            lane: Some(lane),
            offsets,
            steps,
            advanced: false,
            dim: ensemble.dim(),
            systems: ensemble.len(),
            n_counts,
            method: method.clone(),
            options: options.clone(),
            precision: std::marker::PhantomData,
        })
    }

    /// Integrates every system over `span`; gives the time on the GPU, in ms.
    ///
    /// # Errors
    /// A span that cannot be used, or a driver that fails.
    pub fn advance(&mut self, span: (f64, f64)) -> Result<f64, Error> {
        self.advance_watched(span, None)?;
        self.lane.as_ref().map_or(Ok(0.0), |lane| lane.stream.elapsed_ms(0, 1))
    }

    /// The same unless it is stopped: then systems that have not begun keep their states, with the status
    /// [`Status::NotRun`], others are integrated to their ends, and step sizes stay those of before for all. Gives whether it was not
    /// stopped.
    ///
    /// # Errors
    /// As [`advance`](Session::advance).
    pub fn advance_monitored(
        &mut self,
        span: (f64, f64),
        monitor: &Monitor,
    ) -> Result<bool, Error> {
        self.advance_watched(span, Some(monitor))
    }

    fn advance_watched(
        &mut self,
        span: (f64, f64),
        monitor: Option<&Monitor>,
    ) -> Result<bool, Error> {
        check_span(span, "span")?;
        let Some(lane) = &mut self.lane else { return Ok(false) };
        let mut arrays = self.offsets.arrays::<T>(lane.arena.address());
        // In place: a system is read when it begins and written when it ends, by the same thread.
        arrays.end_states = arrays.states.cast_mut();
        if let Some([first, end]) = &self.steps {
            arrays.first_steps = first.address() as *const T;
            arrays.end_steps = end.address() as *mut T;
        }
        let systems = self.systems;
        if let Some(monitor) = monitor {
            let of_systems = self.offsets.status..self.offsets.status + systems;
            // SAFETY: the arena lives as long as the session.
            unsafe { lane.stream.set_bytes(&mut lane.arena, of_systems, Status::NotRun as u8)? };
            if monitor.is_stopped() {
                lane.stream.wait()?;
                return Ok(false);
            }
        }
        let mut task = Task::new(arrays, span, systems, systems, &self.method, &self.options);
        // SAFETY: the arena lives as long as the session.
        unsafe { lane.stream.set_bytes(&mut lane.arena, self.offsets.counters(), 0)? };
        let expected = self.ready.expected.as_ref().filter(|_| !self.advanced);
        let orders = queues(&self.kept, &self.ready, systems);
        let order = (orders && (self.advanced || expected.is_some())).then(|| self.kept.order());
        let order = order.transpose()?;
        if order.is_some() {
            // Not in the time of the advance.
            lane.ordered(&self.kept.device, systems, 1)?;
        }
        lane.stream.record_time(0)?;
        if let Some(order) = order {
            let (stream, ordered) = lane.ordered(&self.kept.device, systems, 1)?;
            let (address, part) = (ordered.address(0), (0, 0..systems));
            let at_once = self.ready.at_once(&self.kept.limits);
            let counted = Costs::Counted(arrays.stats as u64, self.n_counts);
            // SAFETY: all arrays lie in the arena, which lives as long as the session, and so does the order.
            unsafe {
                match expected {
                    Some(expected) => {
                        expected.order(&self.kept, stream, ordered, part, (&task, at_once))?;
                    }
                    None => order.sort(stream, ordered, part, counted)?,
                }
            }
            task.arrays.order = address as *const u32;
        }
        let Ready { kernel, loaded, .. } = &self.ready;
        // SAFETY: the arena and the step sizes live as long as the session, which waits here.
        unsafe { launch(&self.kept, loaded, &kernel.layout, 1, &task, lane)? };
        lane.stream.record_time(1)?;
        match monitor {
            None => lane.stream.wait()?,
            Some(monitor) => {
                let Lane { stream, arena, .. } = lane;
                let stop = || no_more(&self.kept.device, arena, self.offsets.next, 1);
                watched(|| stream.wait(), || monitor.is_stopped(), stop)?;
            }
        }
        self.advanced = true;
        let whole = !monitor.is_some_and(Monitor::is_stopped);
        if let Some(steps) = &mut self.steps
            && whole
        {
            steps.swap(0, 1);
        }
        Ok(whole)
    }

    /// Other states for all systems, component-major \[n × M\]; statuses, costs and step sizes stay.
    ///
    /// # Errors
    /// Another number of values, or a driver that fails.
    pub fn set_states(&mut self, states: &[T]) -> Result<(), Error> {
        check_count(self.dim, self.systems, states.len())?;
        let Some(lane) = &mut self.lane else { return Ok(()) };
        lane.write(self.offsets.states, states)
    }

    /// Sizes of the first steps of the next advance \[M\], zero where there is none. From here on steps are kept as with
    /// [`Options::warm_start`].
    ///
    /// # Errors
    /// Sizes that are negative or no numbers, or not as many as systems; a driver that fails.
    pub fn set_step_sizes(&mut self, sizes: &[T]) -> Result<(), Error> {
        check_first_steps(sizes, self.systems)?;
        let Some(lane) = &self.lane else { return Ok(()) };
        if self.steps.is_none() {
            self.steps = Some(two_of(&self.kept.device, size_of_val(sizes))?);
        }
        let Some([steps, _]) = &mut self.steps else { return Ok(()) };
        lane.stream.write(steps, 0, sizes)
    }

    /// Sizes of the first steps of the next advance \[M\]; zero where steps are not kept.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn step_sizes(&self) -> Result<Vec<T>, Error> {
        let mut sizes = vec![T::default(); self.systems];
        if let (Some(lane), Some([steps, _])) = (&self.lane, &self.steps) {
            lane.stream.read(steps, 0, &mut sizes)?;
        }
        Ok(sizes)
    }

    /// What kernels beside the integration see of it, and the stream that they belong on.
    pub(super) fn resident(&self) -> Option<(Resident, &D, &D::Stream)> {
        let lane = self.lane.as_ref()?;
        let arrays = self.offsets.arrays::<T>(lane.arena.address());
        let resident = Resident {
            states: arrays.states as u64,
            params: arrays.params as u64,
            steps: self.steps.as_ref().map_or(0, |[steps, _]| steps.address()),
            status: arrays.status as u64,
            stats: arrays.stats as u64,
            least: 0,
            n_systems: self.systems as u32,
        };
        Some((resident, &self.kept.device, &lane.stream))
    }

    /// Counts of a system.
    pub(super) fn n_counts(&self) -> usize {
        self.n_counts
    }

    /// Downloads part of the arena.
    fn get<V: Copy + Default>(&self, place: usize, count: usize) -> Result<Vec<V>, Error> {
        self.lane.as_ref().map_or_else(|| Ok(Vec::new()), |lane| lane.get(place, count))
    }

    /// The states, component-major [n × M].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn states(&mut self) -> Result<Vec<T>, Error> {
        self.get(self.offsets.states, self.dim * self.systems)
    }

    /// States, times, statuses and costs of the last advance, and how busy lanes were in its kernel where that is an implicit
    /// method's; without warnings and times of the run.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn solution(&mut self) -> Result<Solution<T>, Error> {
        let mut solution = Solution::empty(self.systems, self.dim, &[]);
        solution.states = self.states()?;
        solution.status = self.statuses()?;
        solution.stats = self.stats()?;
        let times: Vec<T> = self.get(self.offsets.end_times, self.systems)?;
        solution.t = times.into_iter().map(Scalar::to_f64).collect();
        let work: Vec<Work> = self.get(self.offsets.work, 1)?;
        solution.busy_lanes = work.first().and_then(Work::busy_fraction);
        Ok(solution)
    }

    /// How each system ended the last advance \[M\].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn statuses(&mut self) -> Result<Vec<Status>, Error> {
        let numbers: Vec<u8> = self.get(self.offsets.status, self.systems)?;
        Ok(numbers.into_iter().map(|n| Status::from_number(n).unwrap_or_default()).collect())
    }

    /// What each system cost in the last advance \[M\].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn stats(&mut self) -> Result<Vec<Stats>, Error> {
        let counts: Vec<u32> = self.get(self.offsets.stats, self.n_counts * self.systems)?;
        Ok(counts.chunks_exact(self.n_counts).map(task::stats).collect())
    }
}

/// Memory of the same size twice.
fn two_of<D: Device>(device: &D, bytes: usize) -> Result<[D::Memory; 2], Error> {
    Ok([device.reserve(bytes)?, device.reserve(bytes)?])
}

/// Whether systems wait for others: the order in which they begin then decides when the last one ends.
fn queues<D: Device>(kept: &Kept<D>, ready: &Ready<D>, systems: usize) -> bool {
    let layout = &ready.kernel.layout;
    let held = kept.limits.multiprocessors * ready.loaded.resident * (layout.block / layout.width);
    layout.storage != Storage::Lanes && systems > held
}

impl<T, D: Device> Drop for Session<T, D> {
    fn drop(&mut self) {
        if let Some(lane) = self.lane.take() {
            self.kept.keep(lane);
        }
    }
}
