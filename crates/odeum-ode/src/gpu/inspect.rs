//! For checks: the texts of kernels, and ensembles on devices that are no GPUs.

use super::groups::Content;
use super::kept::Kept;
use super::parts::StepPart;
use super::plan::{Kernel, Wanted};
use super::session::Session;
use super::solution::SolutionOnGpu;
use super::source::Traits;
use super::system::DeviceSystem;
use super::{exchange, groups, parts, plan, run};
use crate::ensemble::{Ensemble, check_shape, check_sizes};
use crate::lent::{Inputs, Outputs, Remarks};
use crate::method::Method;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::Solution;
use crate::stats::Stats;
use crate::tolerance::Tolerance;
use odeum_core::{Error, Graph, Scalar, System};
use odeum_cuda::{Device, Limits};
use std::sync::Arc;

/// A kernel and how it is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelText {
    /// Name of the kernel.
    pub name: &'static str,
    /// The whole text.
    pub source: String,
    /// Threads of a block.
    pub block: usize,
    /// Dynamic shared memory of a block, in bytes.
    pub shared: usize,
    /// Blocks that fit on a multiprocessor.
    pub blocks_per_sm: usize,
}

impl KernelText {
    fn of(kernel: &Kernel) -> KernelText {
        KernelText {
            name: kernel.name,
            source: kernel.source.clone(),
            block: kernel.layout.block,
            shared: kernel.layout.shared,
            blocks_per_sm: kernel.layout.blocks_per_sm,
        }
    }
}

/// Every kernel for this system, method and options on an H200: one thread per system, and
/// several lanes per system where there is such a kernel. None for methods that have only kernels of groups of threads.
pub fn kernels<T: Scalar>(
    graph: &Graph,
    method: &Method,
    options: &Options,
    shared_params: bool,
) -> Vec<KernelText> {
    let traits = Traits::new(T::NAME == "f32", shared_params, method, options, &[]);
    let limits = Limits::HOPPER;
    let Some(own) = plan::OfThreads::new(graph, method, &traits, &limits) else {
        return Vec::new();
    };
    [own.single()].iter().chain(&own.lanes()).map(KernelText::of).collect()
}

/// The kernel for a system of any type, in double precision on an H200, with at least so many threads for each system; `None`
/// where there is none.
pub fn planned(
    system: impl Into<DeviceSystem>,
    method: &Method,
    options: &Options,
    least_width: usize,
) -> Option<KernelText> {
    let system = system.into();
    let traits = Traits::new(false, false, method, options, &system.ranges);
    let wanted = Wanted::new(&system, method, &traits, &Limits::HOPPER, (false, least_width));
    plan::planned(wanted).map(|kernel| KernelText::of(&kernel))
}

/// The kernel that does a part of a step over and over, as that of an implicit method is laid out.
pub fn part(
    system: impl Into<DeviceSystem>,
    part: StepPart,
    options: &Options,
) -> Option<KernelText> {
    let system = system.into();
    let traits = Traits::new(false, false, &parts::method(), options, &system.ranges);
    groups::kernel(&system, &parts::method(), Content::Part(part), &traits, &Limits::HOPPER, 1)
        .map(|kernel| KernelText::of(&kernel))
}

/// The kernel that says what the systems of a first call will probably cost, as that of an implicit method is laid out.
pub fn costs(
    system: impl Into<DeviceSystem>,
    method: &Method,
    options: &Options,
) -> Option<KernelText> {
    let system = system.into();
    let traits = Traits::new(false, false, method, options, &system.ranges);
    groups::kernel(&system, method, Content::Costs, &traits, &Limits::HOPPER, 1)
        .map(|kernel| KernelText::of(&kernel))
}

/// The whole text of kernels beside a session ([`Session::exchange`]) that counts all there is.
pub fn exchange<T: Scalar>(kernels: &str) -> String {
    exchange::text::<T>(kernels, Stats::COUNTS)
}

/// Devices of whichever kind, on which ensembles are integrated as on GPUs; what is kept of them between calls
/// is kept as long as this value.
pub struct Devices<D: Device>(Vec<Arc<Kept<D>>>);

impl<D: Device> Devices<D> {
    /// At least one.
    pub fn new(devices: Vec<D>) -> Self {
        Devices(devices.into_iter().map(|device| Arc::new(Kept::new(device))).collect())
    }

    /// The same, with several lanes for a system in ensembles of up to so many systems, where there is such a
    /// kernel.
    pub fn lanes_up_to(self, systems: usize) -> Self {
        self.with(|kept| kept.lane_systems = systems)
    }

    /// The same, with at least so many threads for each system: one, or whole warps.
    pub fn threads_at_least(self, width: usize) -> Self {
        self.with(|kept| kept.least_width = width)
    }

    /// The same, with so many systems in a batch at most: a multiple of 32.
    pub fn batches_up_to(self, systems: usize) -> Self {
        self.with(|kept| kept.largest_batch = systems)
    }

    /// The same devices, with other choices, of which nothing is kept.
    fn with(self, choose: impl Fn(&mut Kept<D>)) -> Self {
        let chosen = |kept: Arc<Kept<D>>| {
            let mut other = Kept::new(kept.device.clone());
            other.lane_systems = kept.lane_systems;
            other.least_width = kept.least_width;
            other.largest_batch = kept.largest_batch;
            choose(&mut other);
            Arc::new(other)
        };
        Devices(self.0.into_iter().map(chosen).collect())
    }

    /// Streams with their memory that no run is using, of all devices.
    pub fn idle_lanes(&self) -> usize {
        self.0.iter().map(|kept| kept.idle_lanes()).sum()
    }

    /// As [`solve_monitored`](crate::solve_monitored).
    ///
    /// # Errors
    /// As there.
    pub fn solve<T: Scalar, S: System>(
        &self,
        system: &S,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
        monitor: &Monitor,
    ) -> Result<Solution<T>, Error> {
        check_sizes(system, ensemble)?;
        self.run(&DeviceSystem::traced(system), ensemble, method, options, monitor)
    }

    /// As [`Solver::solve_monitored`](crate::Solver::solve_monitored).
    ///
    /// # Errors
    /// As there.
    pub fn solve_any<T: Scalar>(
        &self,
        system: impl Into<DeviceSystem>,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
        monitor: &Monitor,
    ) -> Result<Solution<T>, Error> {
        let system = system.into();
        check_shape(system.grouped.sizes(), (ensemble.dim(), ensemble.n_params()))?;
        self.run(&system, ensemble, method, options, monitor)
    }

    /// As [`Solver::solve_into`](crate::Solver::solve_into).
    ///
    /// # Errors
    /// As there.
    pub fn solve_into<T: Scalar>(
        &self,
        system: impl Into<DeviceSystem>,
        inputs: &Inputs<'_, T>,
        method: &Method,
        options: &Options,
        outputs: Outputs<'_, T>,
        monitor: &Monitor,
    ) -> Result<Remarks, Error> {
        let system = system.into();
        check_shape(system.grouped.sizes(), (inputs.dim(), inputs.n_params()))?;
        outputs.check(inputs.dim(), inputs.len(), options.save_times().len())?;
        self.run_into(&system, inputs, method, options, outputs, monitor)
    }

    fn run<T: Scalar>(
        &self,
        system: &DeviceSystem,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
        monitor: &Monitor,
    ) -> Result<Solution<T>, Error> {
        let inputs = ensemble.inputs();
        let mut solution = Solution::of(&inputs, options.save_times());
        let outputs = solution.outputs();
        let remarks = self.run_into(system, &inputs, method, options, outputs, monitor)?;
        Ok(solution.with_remarks(remarks))
    }

    fn run_into<T: Scalar>(
        &self,
        system: &DeviceSystem,
        inputs: &Inputs<'_, T>,
        method: &Method,
        options: &Options,
        outputs: Outputs<'_, T>,
        monitor: &Monitor,
    ) -> Result<Remarks, Error> {
        method.check()?;
        options.check_for(method.controller().fixed_step(), inputs)?;
        run::solve_on(&self.0, system, inputs, method, options, outputs, monitor)
    }

    /// What a part of a step gives, by [`StepPart::seconds`] on the first device: f, or the solution for f
    /// \[n × M\].
    ///
    /// # Errors
    /// As there.
    pub fn part<T: Scalar>(
        &self,
        part: StepPart,
        system: impl Into<DeviceSystem>,
        ensemble: &Ensemble<T>,
        tolerance: &Tolerance,
    ) -> Result<Vec<T>, Error> {
        Ok(parts::measure(part, &self.0[0], &system.into(), ensemble, tolerance)?.values)
    }

    /// As [`Solver::solve_on_gpu`](crate::Solver::solve_on_gpu), on the first device.
    ///
    /// # Errors
    /// As there.
    pub fn solve_there<T: Scalar, S: System>(
        &self,
        system: &S,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
        monitor: &Monitor,
    ) -> Result<SolutionOnGpu<T, D>, Error> {
        let (kept, system) = (Arc::clone(&self.0[0]), DeviceSystem::traced(system));
        SolutionOnGpu::solved(kept, &system, &ensemble.inputs(), (method, options), monitor)
    }

    /// As [`Session::new`], on the first device.
    ///
    /// # Errors
    /// As there.
    pub fn session<T: Scalar, S: System>(
        &self,
        system: &S,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
    ) -> Result<Session<T, D>, Error> {
        Session::on(Arc::clone(&self.0[0]), system, ensemble, method, options)
    }
}
