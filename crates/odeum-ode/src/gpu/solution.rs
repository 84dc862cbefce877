//! Results that stay on a GPU.

use super::in_memory::InMemory;
use super::kept::Kept;
use super::system::DeviceSystem;
use crate::ensemble::check_shape;
use crate::lent::Inputs;
use crate::method::Method;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::{GpuTimes, Solution};
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::{Error, Scalar};
use odeum_cuda::{Device, Gpu};
use std::sync::Arc;
use std::time::Instant;

/// What an integration gives, in the memory of the GPU that integrated: for codes that go on with it there. Made by
/// [`Solver::solve_on_gpu`](crate::Solver::solve_on_gpu). The memory is that of the ensemble, and lives as long as this.
pub struct SolutionOnGpu<T, D: Device = Gpu> {
    memory: InMemory<T, D>,
    save_times: Vec<f64>,
    /// Systems that do not start from numbers, and when they would.
    invalid: Vec<(usize, f64)>,
    gpu_times: GpuTimes,
}

impl<T: Scalar> SolutionOnGpu<T> {
    /// Integrates on the GPU of this number.
    pub(crate) fn solve(
        ordinal: usize,
        system: &DeviceSystem,
        inputs: &Inputs<'_, T>,
        with: (&Method, &Options),
        monitor: &Monitor,
    ) -> Result<Self, Error> {
        Self::solved(Kept::open(ordinal)?, system, inputs, with, monitor)
    }

    /// Number of the GPU.
    pub fn gpu(&self) -> usize {
        self.memory.device().ordinal()
    }

    /// Waits for all work that this process has given to the GPU: before others' arrays of this memory go, and it with them.
    ///
    /// # Errors
    /// When the device fails.
    pub fn wait_for_all(&self) -> Result<(), Error> {
        self.memory.device().wait_for_all()
    }
}

impl<T: Scalar, D: Device> SolutionOnGpu<T, D> {
    /// Integrates on a device that is there.
    pub(super) fn solved(
        kept: Arc<Kept<D>>,
        system: &DeviceSystem,
        inputs: &Inputs<'_, T>,
        (method, options): (&Method, &Options),
        monitor: &Monitor,
    ) -> Result<Self, Error> {
        let begun = Instant::now();
        check_shape(system.grouped.sizes(), (inputs.dim(), inputs.n_params()))?;
        options.check_for(method.controller().fixed_step(), inputs)?;
        let mut memory =
            InMemory::new(kept, system, inputs, (method, options), (|shape| shape, 0))?;
        // SAFETY: there is no memory of steps beside that of the ensemble.
        if unsafe { memory.integrate(inputs.span(0), None, Some(monitor))? } {
            monitor.add_finished(inputs.len());
        }
        let invalid = inputs.invalid_starts();
        if !invalid.is_empty() {
            memory.refuse(&invalid, inputs)?;
        }
        let total_ms = begun.elapsed().as_secs_f64() * 1e3;
        Ok(SolutionOnGpu {
            memory,
            save_times: options.save_times().to_vec(),
            invalid: invalid.into_iter().map(|s| (s, inputs.span(s).0)).collect(),
            gpu_times: GpuTimes { total_ms, batches: 1 },
        })
    }

    /// Number of systems M.
    pub fn len(&self) -> usize {
        self.memory.systems
    }

    /// Always false: there is at least one system.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of equations n.
    pub fn dim(&self) -> usize {
        self.memory.dim
    }

    /// Address of the states on the GPU, component-major [n × M], as [`Solution::states`].
    pub fn states_address(&self) -> u64 {
        self.memory.addresses().map_or(0, |[states, _]| states)
    }

    /// Address of the saved states on the GPU [K × n × M], as [`Solution::saved`].
    pub fn saved_address(&self) -> u64 {
        self.memory.addresses().map_or(0, |[_, saved]| saved)
    }

    /// How each system ended \[M\].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn statuses(&self) -> Result<Vec<Status>, Error> {
        self.of_valid(self.memory.statuses()?, |_| Status::InvalidStart)
    }

    /// What each system cost \[M\].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn stats(&self) -> Result<Vec<Stats>, Error> {
        self.of_valid(self.memory.stats()?, |_| Stats::default())
    }

    /// Time each system reached \[M\].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn times(&self) -> Result<Vec<f64>, Error> {
        self.of_valid(self.memory.times()?, |start| start)
    }

    /// Times of the saved states \[K\], as asked.
    pub fn save_times(&self) -> &[f64] {
        &self.save_times
    }

    /// How many of the save times each system reached \[M\]; empty without any.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn n_saved(&self) -> Result<Vec<u32>, Error> {
        self.of_valid(self.memory.n_saved()?, |_| 0)
    }

    /// Values \[M\], with those of systems that were not to run from their starts; or none.
    fn of_valid<V>(&self, mut values: Vec<V>, refused: impl Fn(f64) -> V) -> Result<Vec<V>, Error> {
        if !values.is_empty() {
            self.invalid.iter().for_each(|&(s, start)| values[s] = refused(start));
        }
        Ok(values)
    }

    /// A copy of everything.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn to_host(&self) -> Result<Solution<T>, Error> {
        Ok(Solution {
            dim: self.dim(),
            t: self.times()?,
            states: self.states()?,
            save_times: self.save_times.clone(),
            saved: self.saved()?,
            n_saved: self.n_saved()?,
            status: self.statuses()?,
            stats: self.stats()?,
            next_steps: self.of_valid(self.memory.next_steps()?, |_| T::default())?,
            warnings: Vec::new(),
            busy_lanes: self.busy_lanes()?,
            gpu_times: Some(self.gpu_times),
        })
    }

    /// How busy lanes were, where that is measured: see [`Solution::busy_lanes`].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn busy_lanes(&self) -> Result<Option<f64>, Error> {
        self.memory.busy_lanes()
    }

    /// A copy of the states [n × M].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn states(&self) -> Result<Vec<T>, Error> {
        self.memory.states()
    }

    /// A copy of the saved states [K × n × M].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn saved(&self) -> Result<Vec<T>, Error> {
        self.memory.saved()
    }
}
