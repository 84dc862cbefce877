//! Results that stay on a GPU.

use super::in_memory::InMemory;
use super::kept::Kept;
use super::system::DeviceSystem;
use crate::ensemble::{Ensemble, check_shape};
use crate::lent::Inputs;
use crate::method::Method;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::{GpuTimes, Solution};
use crate::solve::{Compiled, Solver};
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::{Error, Scalar};
use odeum_cuda::{Device, Gpu};
use std::sync::Arc;
use std::time::Instant;

/// What an integration gives, in the memory of the GPU that integrated: for codes that go on with it there. Made by
/// [`Solver::solve_on_gpu`]. The memory is that of the ensemble, and lives as long as this.
pub struct SolutionOnGpu<T, D: Device = Gpu> {
    memory: InMemory<T, D>,
    save_times: Vec<f64>,
    /// Systems that do not start from numbers.
    invalid: Vec<usize>,
    times: GpuTimes,
}

impl Solver {
    /// As [`solve_monitored`](Solver::solve_monitored) on one GPU, where the results stay; they are the same to the bit.
    ///
    /// All systems are in its memory at once. The monitor tells of none that ended before the last.
    ///
    /// ```no_run
    /// use odeum_ode::{
    ///     Device, DynSystem, Ensemble, Method, Monitor, Options, Solver, Tolerance, problems,
    /// };
    ///
    /// let lorenz = DynSystem::from(&problems::find("lorenz").expect("a built-in problem"));
    /// let options = Options::new(Tolerance::new(1e-6, 1e-6));
    /// let solver = Solver::new(lorenz, &Method::tsit5(), &Device::cuda(0), &options)?;
    /// let start = Ensemble::repeated(&[1.0_f64, 0.0, 0.0], 1_000_000, (0.0, 1.0))?
    ///     .with_shared_params(vec![10.0, 28.0, 8.0 / 3.0])?;
    /// let solution = solver.solve_on_gpu(&start, &Monitor::new())?;
    /// println!("states [3 × 1000000] at {:x} of cuda:{}", solution.states_address(), solution.gpu());
    /// # Ok::<(), odeum_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`solve()`](crate::solve()); a solver for the processor or for several GPUs; too little memory on the GPU.
    pub fn solve_on_gpu<T: Compiled>(
        &self,
        ensemble: &Ensemble<T>,
        monitor: &Monitor,
    ) -> Result<SolutionOnGpu<T>, Error> {
        let Some((ordinal, system)) = self.on_one_gpu::<T>()? else {
            let remedy = "results stay on a GPU that integrates: name one, as cuda:0";
            return Err(Error::input("device", "cpu", remedy));
        };
        let (kept, method) = (Kept::open(ordinal)?, (self.method(), self.options()));
        SolutionOnGpu::solved(kept, system, ensemble, method, monitor)
    }
}

impl<T: Scalar> SolutionOnGpu<T> {
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
        ensemble: &Ensemble<T>,
        (method, options): (&Method, &Options),
        monitor: &Monitor,
    ) -> Result<Self, Error> {
        let begun = Instant::now();
        let inputs = ensemble.inputs();
        check_shape(system.grouped.sizes(), (inputs.dim(), inputs.n_params()))?;
        options.check_for(&inputs)?;
        let mut memory = InMemory::new(kept, system, &inputs, (method, options), |shape| shape)?;
        memory.clear()?;
        // SAFETY: there is no memory of steps beside that of the ensemble.
        unsafe { memory.integrate(inputs.span(0), None, Some(monitor))? };
        monitor.add_finished(inputs.len());
        let total_ms = begun.elapsed().as_secs_f64() * 1e3;
        Ok(SolutionOnGpu {
            memory,
            save_times: options.save_times().to_vec(),
            invalid: invalid(&inputs),
            times: GpuTimes { total_ms, batches: 1 },
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

    /// A copy of all but the states and the saved ones.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn without_states(&self) -> Result<Solution<T>, Error> {
        let mut solution = Solution {
            t: self.memory.times()?,
            save_times: self.save_times.clone(),
            n_saved: self.memory.n_saved()?,
            status: self.memory.statuses()?,
            stats: self.memory.stats()?,
            next_steps: self.memory.next_steps()?,
            busy_lanes: self.memory.busy_lanes()?,
            gpu_times: Some(self.times),
            ..Solution::empty(0, self.dim(), &[])
        };
        for &s in &self.invalid {
            solution.status[s] = Status::InvalidStart;
            solution.stats[s] = Stats::default();
        }
        Ok(solution)
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

/// The systems that do not start from numbers.
fn invalid<T: Scalar>(inputs: &Inputs<'_, T>) -> Vec<usize> {
    (0..inputs.len()).filter(|&s| inputs.starts_invalid(s)).collect()
}
