//! An ensemble that stays on a GPU over many calls.

use super::arena::Shape;
use super::in_memory::InMemory;
use super::kept::Kept;
use super::system::DeviceSystem;
use super::task::Resident;
use crate::cpu::ranges;
use crate::ensemble::{Ensemble, check_first_steps, check_new_states, check_span};
use crate::method::Method;
use crate::monitor::Monitor;
use crate::options::{Options, check_length};
use crate::solution::Solution;
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::{Error, RangeKind, Scalar, System, ValidRange};
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
    memory: InMemory<T, D>,
    /// Sizes of the first steps of the next advance \[M\], where they are kept, and memory for those of the one after it.
    steps: Option<[D::Memory; 2]>,
    /// True when states that are not finite are a status, not an error.
    takes_invalid: bool,
    /// For which the model has data.
    data: Vec<ValidRange>,
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
        let fixed_step = method.controller().fixed_step();
        options.check_for_session((system.dim(), system.n_params()), fixed_step, ensemble)?;
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
        let fixed_step = method.controller().fixed_step();
        options.check_for_session(system.grouped.sizes(), fixed_step, ensemble)?;
        Self::begin(Kept::open(ordinal)?, &system, ensemble, method, options)
    }

    /// Number of the GPU, and the address of the states in its memory, component-major \[n × M\].
    pub(crate) fn place(&self) -> Option<(usize, u64)> {
        let [states, _] = self.memory.addresses()?;
        Some((self.memory.device().ordinal(), states))
    }

    /// Waits for all work on the GPU: [`Gpu::wait_for_all`].
    pub(crate) fn wait_for_all(&self) -> Result<(), Error> {
        self.memory.device().wait_for_all()
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
        let fixed_step = method.controller().fixed_step();
        options.check_for_session((system.dim(), system.n_params()), fixed_step, ensemble)?;
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
        ranges::check(&system.ranges, ensemble.dim())?;
        let inputs = ensemble.inputs();
        // Steps lie in an array of the session's own, spans come with each advance.
        let shape = |shape| Shape { shared_span: true, keeps_steps: false, ..shape };
        let given = ensemble.first_steps();
        let keeps = given.is_some() || options.warm_start;
        let bytes = ensemble.len() * size_of::<T>();
        let arrays = (shape, if keeps { 2 * bytes } else { 0 });
        let mut memory = InMemory::new(kept, system, &inputs, (method, options), arrays)?;
        let steps = keeps.then(|| memory.two_of(bytes)).transpose()?;
        let steps = match (steps, memory.lane()) {
            (Some([mut first, end]), Some(lane)) => {
                match given {
                    Some(given) => lane.stream.write(&mut first, 0, given)?,
                    // Zero: no step yet.
                    // SAFETY: the memory lives until the stream has been waited for.
                    None => unsafe { lane.stream.set_bytes(&mut first, 0..bytes, 0)? },
                }
                lane.stream.wait()?;
                Some([first, end])
            }
            _ => None,
        };
        let of_data = |range: &&ValidRange| range.kind == RangeKind::Data;
        let data = system.ranges.iter().filter(of_data).copied().collect();
        Ok(Session { memory, steps, takes_invalid: ensemble.takes_invalid(), data })
    }

    /// Integrates every system over `span`; gives the time on the GPU, in ms.
    ///
    /// # Errors
    /// A span that cannot be used, or a driver that fails.
    pub fn advance(&mut self, span: (f64, f64)) -> Result<f64, Error> {
        self.advance_watched(span, None)?;
        self.memory.lane().map_or(Ok(0.0), |lane| lane.stream.elapsed_ms(0, 1))
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
        check_length::<T>(span, "span")?;
        let fixed_step = self.memory.method.controller().fixed_step();
        self.memory.options.check_lengths::<T>(fixed_step, span)?;
        let steps = self.steps.as_ref().map(|[first, end]| (first.address(), end.address()));
        // SAFETY: the memory of the steps lives as long as the session.
        let whole = unsafe { self.memory.integrate(span, steps, monitor)? };
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
    /// As [`crate::Session::set_states`].
    pub fn set_states(&mut self, states: &[T]) -> Result<(), Error> {
        let sizes = (self.memory.dim, self.memory.systems);
        check_new_states(states, sizes, self.takes_invalid)?;
        self.memory.set_states(states)
    }

    /// Sizes of the first steps of the next advance \[M\], zero where there is none. From here on steps are kept as with
    /// [`Options::warm_start`].
    ///
    /// # Errors
    /// Sizes that are negative or no numbers, or not as many as systems; a driver that fails.
    pub fn set_step_sizes(&mut self, sizes: &[T]) -> Result<(), Error> {
        check_first_steps(sizes, self.memory.systems)?;
        if self.steps.is_none() {
            self.steps = Some(self.memory.two_of(size_of_val(sizes))?);
        }
        match (&mut self.steps, self.memory.lane()) {
            (Some([steps, _]), Some(lane)) => lane.stream.write(steps, 0, sizes),
            _ => Ok(()),
        }
    }

    /// Sizes of the first steps of the next advance \[M\]; zero where steps are not kept.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn step_sizes(&self) -> Result<Vec<T>, Error> {
        let mut sizes = vec![T::default(); self.memory.systems];
        if let (Some((_, stream)), Some([steps, _])) = (self.memory.resident(), &self.steps) {
            stream.read(steps, 0, &mut sizes)?;
        }
        Ok(sizes)
    }

    /// What kernels beside the integration see of it, and the stream that they belong on.
    pub(super) fn resident(&self) -> Option<(Resident, &D, &D::Stream)> {
        let (resident, stream) = self.memory.resident()?;
        let steps = self.steps.as_ref().map_or(0, |[steps, _]| steps.address());
        Some((Resident { steps, ..resident }, self.memory.device(), stream))
    }

    /// Counts of a system.
    pub(super) fn n_counts(&self) -> usize {
        self.memory.n_counts
    }

    /// The states, component-major [n × M].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn states(&mut self) -> Result<Vec<T>, Error> {
        self.memory.states()
    }

    /// States, times, statuses and costs of the last advance, and how busy lanes were in its kernel where that is an implicit
    /// method's; without warnings and times of the run.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn solution(&mut self) -> Result<Solution<T>, Error> {
        Ok(Solution {
            t: self.memory.times()?,
            states: self.states()?,
            status: self.statuses()?,
            stats: self.stats()?,
            busy_lanes: self.memory.busy_lanes()?,
            ..Solution::empty(0, self.memory.dim, &[])
        })
    }

    /// Whether states lie outside the data of the model. Of them the components alone that have such data come from the GPU.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn is_outside(&self) -> Result<bool, Error> {
        for &ValidRange { component, lower, upper, .. } in &self.data {
            let values = self.memory.component(component)?;
            if values.into_iter().map(Scalar::to_f64).any(|value| value < lower || value > upper) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How each system ended the last advance \[M\].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn statuses(&mut self) -> Result<Vec<Status>, Error> {
        self.memory.statuses()
    }

    /// What each system cost in the last advance \[M\].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn stats(&mut self) -> Result<Vec<Stats>, Error> {
        self.memory.stats()
    }
}
