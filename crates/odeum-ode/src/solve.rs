//! Integrates ensembles: in one call, or many times with what a system needs found once.

use crate::cpu::{ByLanes, ERK, Inlining, OnLanes, RKC, ranges};
use crate::device::Device;
use crate::dynamic::DynSystem;
use crate::ensemble::{Ensemble, check_shape};
use crate::gpu::{DeviceSystem, SolutionOnGpu};
use crate::lent::{Inputs, Outputs, Remarks};
use crate::method::Method;
use crate::method::linearised::JacobianPlan;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::series::{Made, Part, Parts, Series};
use crate::solution::Solution;
use crate::{cpu, gpu, slopes};
use odeum_core::{Error, Graph, Pattern, Scalar, System, computing_thread, joined, lock};
use std::sync::{Arc, Mutex};

/// Parts of a series that are integrated at once by calls.
const CALLS: usize = 2;

/// Integrates every system of the ensemble.
///
/// The answer of a system depends on its own data alone: the same bits whatever its place, its
/// neighbours, the number of systems and threads, on one kind of device and one build.
///
/// Explicit methods are compiled for this very system: that is the fastest code there is, and takes its time
/// to compile. Whoever integrates a system many times, or many systems, keeps a [`Solver`].
///
/// # Errors
/// An argument that cannot be used, a device that is not there, or a right-hand side that does not set all of `dydt`, for which it is
/// evaluated twice at the first start. A system that fails is no error: see [`Solution::status`].
pub fn solve<T: Scalar, S: System>(
    system: &S,
    ensemble: &Ensemble<T>,
    method: &Method,
    device: &Device,
    options: &Options,
) -> Result<Solution<T>, Error> {
    solve_monitored(system, ensemble, method, device, options, &Monitor::new())
}

/// As [`solve`], with a [`Monitor`] that another thread may watch or use to stop the run.
///
/// # Errors
/// As [`solve`].
pub fn solve_monitored<T: Scalar, S: System>(
    system: &S,
    ensemble: &Ensemble<T>,
    method: &Method,
    device: &Device,
    options: &Options,
    monitor: &Monitor,
) -> Result<Solution<T>, Error> {
    let sizes = (system.dim(), system.n_params());
    ranges::check(&system.ranges(), sizes.0)?;
    let (t, y, p) = first_start(sizes, &ensemble.inputs())?;
    slopes::check(system, t, &y, &p)?;
    let trace = || Graph::trace(system);
    let on_device = || DeviceSystem::traced(system);
    let pattern = system.jacobian_pattern();
    let inlining = Inlining::new(!S::INTERPRETED);
    let ready = Ready::new(sizes.0, pattern, || Ok(trace()), on_device, method, device, inlining)?;
    let on_lanes = ByLanes::<S, { ERK | RKC }>(system);
    ready.run(&on_lanes, sizes, ensemble, method, options, monitor)
}

/// Time, state and parameters with which the first system of an ensemble begins.
fn first_start<T: Scalar>(
    sizes: (usize, usize),
    inputs: &Inputs<'_, T>,
) -> Result<(f64, Vec<f64>, Vec<f64>), Error> {
    check_shape(sizes, (inputs.dim(), inputs.n_params()))?;
    let doubles = |values: Vec<T>| values.into_iter().map(T::to_f64).collect();
    Ok((inputs.span(0).0, doubles(inputs.initial_state(0)), doubles(inputs.params_of(0))))
}

/// A precision that solvers are compiled for: `f64` and `f32`.
pub trait Compiled: sealed::Precision {}

impl Compiled for f64 {}
impl Compiled for f32 {}

mod sealed {
    use crate::ensemble::Ensemble;
    use crate::lent::{Inputs, Outputs, Remarks};
    use crate::monitor::Monitor;
    use crate::series::Series;
    use crate::solution::Solution;
    use crate::solve::Solver;
    use odeum_core::{Error, Scalar};

    /// Not generic in this crate, so compiled here and nowhere else.
    pub trait Precision: Scalar {
        fn solve(
            solver: &Solver,
            ensemble: &Ensemble<Self>,
            monitor: &Monitor,
        ) -> Result<Solution<Self>, Error>;

        fn solve_into(
            solver: &Solver,
            inputs: &Inputs<'_, Self>,
            outputs: Outputs<'_, Self>,
            monitor: &Monitor,
        ) -> Result<Remarks, Error>;

        fn solve_series(
            solver: &Solver,
            series: &mut (dyn Series<Self> + Send),
            monitor: &Monitor,
        ) -> Result<Remarks, Error>;
    }

    impl Precision for f64 {
        fn solve(
            solver: &Solver,
            ensemble: &Ensemble<f64>,
            monitor: &Monitor,
        ) -> Result<Solution<f64>, Error> {
            solver.run(&*solver.system.any().in_f64(), ensemble, monitor)
        }

        fn solve_into(
            solver: &Solver,
            inputs: &Inputs<'_, f64>,
            outputs: Outputs<'_, f64>,
            monitor: &Monitor,
        ) -> Result<Remarks, Error> {
            solver.run_into(&*solver.system.any().in_f64(), inputs, outputs, monitor)
        }

        fn solve_series(
            solver: &Solver,
            series: &mut (dyn Series<f64> + Send),
            monitor: &Monitor,
        ) -> Result<Remarks, Error> {
            solver.run_series(&*solver.system.any().in_f64(), series, monitor)
        }
    }

    pub(super) fn refused() -> Error {
        Error::input("precision", "f32", "mechanisms are integrated in f64")
    }

    impl Precision for f32 {
        fn solve(
            solver: &Solver,
            ensemble: &Ensemble<f32>,
            monitor: &Monitor,
        ) -> Result<Solution<f32>, Error> {
            let on_lanes = solver.system.any().in_f32().ok_or_else(refused)?;
            solver.run(&*on_lanes, ensemble, monitor)
        }

        fn solve_into(
            solver: &Solver,
            inputs: &Inputs<'_, f32>,
            outputs: Outputs<'_, f32>,
            monitor: &Monitor,
        ) -> Result<Remarks, Error> {
            let on_lanes = solver.system.any().in_f32().ok_or_else(refused)?;
            solver.run_into(&*on_lanes, inputs, outputs, monitor)
        }

        fn solve_series(
            solver: &Solver,
            series: &mut (dyn Series<f32> + Send),
            monitor: &Monitor,
        ) -> Result<Remarks, Error> {
            let on_lanes = solver.system.any().in_f32().ok_or_else(refused)?;
            solver.run_series(&*on_lanes, series, monitor)
        }
    }
}

/// A system made ready for a method and a device: what [`solve`] finds anew in every call (the
/// recorded right-hand side, its Jacobian, the order of elimination) is found once.
///
/// It owns its system, knows nothing of its type, and serves any number of calls, of several threads at once.
///
/// ```
/// use odeum_ode::{Device, DynSystem, Ensemble, Method, Options, Real, Solver, System, Tolerance};
///
/// /// y' = -k y
/// struct Decay;
///
/// impl System for Decay {
///     fn dim(&self) -> usize { 1 }
///     fn n_params(&self) -> usize { 1 }
///     #[inline(always)]
///     fn rhs<R: Real>(&self, _t: R, y: &[R], k: &[R], dydt: &mut [R]) {
///         dydt[0] = -(k[0] * y[0]);
///     }
/// }
///
/// let options = Options::new(Tolerance::new(1e-6, 1e-9));
/// let decay = DynSystem::new(Decay);
/// let solver = Solver::new(decay, &Method::rodas5p(), &Device::cpu(), &options)?;
/// let mut state = vec![1.0_f64; 100];
/// for step in 0..3 {
///     let span = (f64::from(step), f64::from(step + 1));
///     let ensemble = Ensemble::new(1, state, span)?.with_params(vec![1.0; 100])?;
///     state = solver.solve(&ensemble)?.states;
/// }
/// assert!((state[99] - (-3.0_f64).exp()).abs() < 1e-6);
/// # Ok::<(), odeum_ode::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solver {
    system: DynSystem,
    method: Method,
    options: Options,
    ready: Ready,
}

impl Solver {
    /// Makes a system ready.
    ///
    /// # Errors
    /// A method whose options mean nothing, a largest step below its fixed step, a Jacobian pattern or ranges that do not
    /// fit the system, or a system that the device cannot run.
    pub fn new(
        system: impl Into<DynSystem>,
        method: &Method,
        device: &Device,
        options: &Options,
    ) -> Result<Solver, Error> {
        Solver::of(system.into(), method, device, options)
    }

    fn of(
        system: DynSystem,
        method: &Method,
        device: &Device,
        options: &Options,
    ) -> Result<Solver, Error> {
        options.check_largest(method.controller().fixed_step())?;
        ranges::check(&system.any().in_f64().ranges(), system.dim())?;
        let trace = || {
            let refused = || Error::input("system", "a mechanism", "it has a Jacobian of its own");
            system.any().trace().ok_or_else(refused)
        };
        let on_device = || system.any().on_device();
        let inlining = Inlining::new(system.any().is_callers());
        let (n, pattern) = (system.dim(), system.pattern());
        let ready = Ready::new(n, pattern, trace, on_device, method, device, inlining)?;
        Ok(Solver { system, method: method.clone(), options: options.clone(), ready })
    }

    /// The same with other options: what was found is kept. What these cannot be is told by the next run.
    pub fn with_options(&self, options: Options) -> Solver {
        Solver { options, ..self.clone() }
    }

    /// The system.
    pub fn system(&self) -> &DynSystem {
        &self.system
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The one GPU in whose memory systems may stay, and what it needs to know of this one; `None` of a solver for the CPU.
    pub(crate) fn on_one_gpu<T: Compiled>(&self) -> Result<Option<(usize, &DeviceSystem)>, Error> {
        if T::NAME == f32::NAME && self.system.any().in_f32().is_none() {
            return Err(sealed::refused());
        }
        let Ready::Cuda(cuda, system) = &self.ready else { return Ok(None) };
        let &[ordinal] = &*cuda.ordinals else {
            let found = format!("{} GPUs", cuda.ordinals.len());
            let remedy = "systems stay on one GPU: give each a part of them";
            return Err(Error::input("device", found, remedy));
        };
        Ok(Some((ordinal, system)))
    }

    /// As [`solve()`](solve).
    ///
    /// # Errors
    /// As [`solve()`](solve).
    pub fn solve<T: Compiled>(&self, ensemble: &Ensemble<T>) -> Result<Solution<T>, Error> {
        self.solve_monitored(ensemble, &Monitor::new())
    }

    /// As [`solve_monitored`].
    ///
    /// # Errors
    /// As [`solve()`](solve).
    pub fn solve_monitored<T: Compiled>(
        &self,
        ensemble: &Ensemble<T>,
        monitor: &Monitor,
    ) -> Result<Solution<T>, Error> {
        self.check_slopes(&ensemble.inputs())?;
        T::solve(self, ensemble, monitor)
    }

    /// Refuses a right-hand side that does not set all of `dydt` at the first start.
    pub(crate) fn check_slopes<T: Scalar>(&self, inputs: &Inputs<'_, T>) -> Result<(), Error> {
        let sizes = (self.system.dim(), self.system.n_params());
        let (t, y, p) = first_start(sizes, inputs)?;
        self.system.any().check_slopes(t, &y, &p)
    }

    /// Integrates systems from the caller's arrays into the caller's arrays.
    ///
    /// ```
    /// use odeum_ode::{
    ///     ArrayMut, ArrayRef, Device, DynSystem, Inputs, Method, Monitor, Options, Outputs, Solver,
    ///     Stats, Status, Tolerance, problems,
    /// };
    ///
    /// // Three Lorenz systems, one after the other in memory.
    /// let lorenz = DynSystem::from(&problems::find("lorenz").expect("a built-in problem"));
    /// let options = Options::new(Tolerance::new(1e-6, 1e-6));
    /// let solver = Solver::new(lorenz, &Method::tsit5(), &Device::cpu(), &options)?;
    /// let start = [1.0, 0.0, 0.0, 1.0, 0.5, 0.0, 1.0, 1.0, 0.0];
    /// let inputs = Inputs::new(ArrayRef::system_major(&start, 3)?, (0.0, 0.1))?
    ///     .with_shared_params(&[10.0, 28.0, 8.0 / 3.0])?;
    ///
    /// let mut end = [0.0; 9];
    /// let (mut t, mut status, mut stats) =
    ///     ([0.0; 3], [Status::NotRun; 3], [Stats::default(); 3]);
    /// let states = ArrayMut::system_major(&mut end, 3)?;
    /// let outputs = Outputs::new(states, &mut t, &mut status, &mut stats)?;
    /// solver.solve_into(&inputs, outputs, &Monitor::new())?;
    /// assert!(status.iter().all(|status| status.is_success()) && end[8] != 0.0);
    /// # Ok::<(), odeum_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`solve()`](solve); arrays without room for the systems, or for the states at the save times.
    pub fn solve_into<T: Compiled>(
        &self,
        inputs: &Inputs<'_, T>,
        outputs: Outputs<'_, T>,
        monitor: &Monitor,
    ) -> Result<Remarks, Error> {
        self.check_slopes(inputs)?;
        self.advance_into(inputs, outputs, monitor)
    }

    /// As [`solve_into`](Solver::solve_into), of a right-hand side that has been looked at.
    pub(crate) fn advance_into<T: Compiled>(
        &self,
        inputs: &Inputs<'_, T>,
        outputs: Outputs<'_, T>,
        monitor: &Monitor,
    ) -> Result<Remarks, Error> {
        T::solve_into(self, inputs, outputs, monitor)
    }

    /// Integrates systems from the caller's arrays on one GPU, where the results stay; they are the same to the bit.
    ///
    /// All systems are in its memory at once. The monitor tells of none that ended before the last.
    ///
    /// ```no_run
    /// use odeum_ode::{
    ///     Device, DynSystem, Ensemble, Inputs, Method, Monitor, Options, Solver, Tolerance, problems,
    /// };
    ///
    /// let lorenz = DynSystem::from(&problems::find("lorenz").expect("a built-in problem"));
    /// let options = Options::new(Tolerance::new(1e-6, 1e-6));
    /// let solver = Solver::new(lorenz, &Method::tsit5(), &Device::cuda(0), &options)?;
    /// let start = Ensemble::repeated(&[1.0_f64, 0.0, 0.0], 1_000_000, (0.0, 1.0))?
    ///     .with_shared_params(vec![10.0, 28.0, 8.0 / 3.0])?;
    /// let solution = solver.solve_on_gpu(&Inputs::from(&start), &Monitor::new())?;
    /// println!("states [3 × 1000000] at {:x} of cuda:{}", solution.states_address(), solution.gpu());
    /// # Ok::<(), odeum_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`solve()`](solve); a solver for the CPU or for several GPUs; too little memory on the GPU.
    pub fn solve_on_gpu<T: Compiled>(
        &self,
        inputs: &Inputs<'_, T>,
        monitor: &Monitor,
    ) -> Result<SolutionOnGpu<T>, Error> {
        let Some((ordinal, system)) = self.on_one_gpu::<T>()? else {
            let remedy = "results stay on a GPU that integrates: name one, as cuda:0";
            return Err(Error::input("device", "cpu", remedy));
        };
        self.check_slopes(inputs)?;
        SolutionOnGpu::solve(ordinal, system, inputs, (&self.method, &self.options), monitor)
    }

    /// Integrates the parts of a series, without a wait between them: a lane that finds no more systems of one takes the next
    /// system from the part after it. Each system ends as by [`solve`](Solver::solve).
    ///
    /// ```
    /// use odeum_ode::{
    ///     Device, DynSystem, Ensemble, Error, Method, Monitor, Options, Part, Series, Solution, Solver,
    ///     Tolerance, problems,
    /// };
    ///
    /// /// The mean of x over many Lorenz systems, a thousand of them in memory at a time.
    /// struct Mean { parts: usize, sum: f64, count: usize }
    ///
    /// impl Series<f64> for Mean {
    ///     fn systems(&self) -> usize { 1000 * self.parts }
    ///     fn next(&mut self) -> Result<Option<Part<f64>>, Error> {
    ///         let Some(parts) = self.parts.checked_sub(1) else { return Ok(None) };
    ///         self.parts = parts;
    ///         let start = [1.0 + parts as f64, 0.0, 0.0];
    ///         let ensemble = Ensemble::repeated(&start, 1000, (0.0, 0.1))?;
    ///         Ok(Some(ensemble.with_shared_params(vec![10.0, 28.0, 8.0 / 3.0])?.into()))
    ///     }
    ///     fn ended(&mut self, _part: usize, solution: Solution<f64>) {
    ///         self.sum += solution.states[..solution.len()].iter().sum::<f64>();
    ///         self.count += solution.len();
    ///     }
    /// }
    ///
    /// let lorenz = DynSystem::from(&problems::find("lorenz").expect("a built-in problem"));
    /// let options = Options::new(Tolerance::new(1e-6, 1e-6));
    /// let solver = Solver::new(lorenz, &Method::tsit5(), &Device::cpu(), &options)?;
    /// let mut mean = Mean { parts: 5, sum: 0.0, count: 0 };
    /// solver.solve_series(&mut mean, &Monitor::new())?;
    /// assert!(mean.count == 5000 && mean.sum > 0.0);
    /// # Ok::<(), odeum_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`solve()`](crate::solve()), of any part, and those of [`Series::next`]. What was integrated before has been given to
    /// [`Series::ended`].
    pub fn solve_series<T: Compiled>(
        &self,
        series: &mut (dyn Series<T> + Send),
        monitor: &Monitor,
    ) -> Result<Remarks, Error> {
        T::solve_series(self, series, monitor)
    }

    /// By the threads of the CPU, which draw from all parts; by calls on GPUs, and where the CPU gives no
    /// thread.
    fn run_series<T: Scalar>(
        &self,
        on_lanes: &dyn OnLanes<T>,
        series: &mut (dyn Series<T> + Send),
        monitor: &Monitor,
    ) -> Result<Remarks, Error> {
        let sizes = (self.system.dim(), self.system.n_params());
        let fixed_step = self.method.controller().fixed_step();
        let mut series = Looked { series, solver: self, is_first: true };
        let mut parts = Parts::new(&mut series, (fixed_step, &self.options), sizes, monitor);
        let mut remarks = Remarks::default();
        if let Ready::Cpu(cpu, plan, inlining) = &self.ready {
            let (method, plan, options) = (&self.method, plan.as_deref(), &self.options);
            let run = cpu::Run { on_lanes, method, plan, inlining, cpu, options, monitor };
            remarks = run.solve_series(&mut parts)?;
        }
        if !parts.are_over() {
            call_for_each(&mut parts, |options, ensemble| {
                self.with_options(options).run(on_lanes, ensemble, monitor)
            });
        }
        parts.result()?;
        Ok(remarks)
    }

    fn run<T: Scalar>(
        &self,
        on_lanes: &dyn OnLanes<T>,
        ensemble: &Ensemble<T>,
        monitor: &Monitor,
    ) -> Result<Solution<T>, Error> {
        let sizes = (self.system.dim(), self.system.n_params());
        self.ready.run(on_lanes, sizes, ensemble, &self.method, &self.options, monitor)
    }

    fn run_into<T: Scalar>(
        &self,
        on_lanes: &dyn OnLanes<T>,
        inputs: &Inputs<'_, T>,
        mut outputs: Outputs<'_, T>,
        monitor: &Monitor,
    ) -> Result<Remarks, Error> {
        let (method, options) = (&self.method, &self.options);
        outputs.check(inputs.dim(), inputs.len(), options.save_times().len())?;
        let sizes = (self.system.dim(), self.system.n_params());
        check_shape(sizes, (inputs.dim(), inputs.n_params()))?;
        options.check_for(method.controller().fixed_step(), inputs)?;
        if let Ready::Cpu(..) = self.ready {
            // A run on GPUs writes to the arrays of all systems.
            outputs.clear();
        }
        self.ready.run_into(on_lanes, inputs, method, options, outputs, monitor)
    }
}

/// A series whose right-hand side is looked at with its first part.
struct Looked<'a, T> {
    series: &'a mut (dyn Series<T> + Send),
    solver: &'a Solver,
    is_first: bool,
}

impl<T: Scalar> Series<T> for Looked<'_, T> {
    fn systems(&self) -> usize {
        self.series.systems()
    }

    fn next(&mut self) -> Result<Option<Part<T>>, Error> {
        let part = self.series.next()?;
        if let (true, Some(part)) = (std::mem::take(&mut self.is_first), &part) {
            self.solver.check_slopes(&part.ensemble.inputs())?;
        }
        Ok(part)
    }

    fn ended(&mut self, part: usize, solution: Solution<T>) {
        self.series.ended(part, solution);
    }
}

/// What a device needs to know of a system.
#[derive(Clone, Debug)]
enum Ready {
    /// With a plan, where the method needs a Jacobian.
    Cpu(cpu::Cpu, Option<Arc<JacobianPlan>>, Arc<Inlining>),
    Cuda(gpu::Cuda, DeviceSystem),
}

impl Ready {
    /// For a system of n equations, with the pattern of its own Jacobian, which can be recorded.
    fn new(
        n: usize,
        pattern: Option<&Pattern>,
        trace: impl FnOnce() -> Result<Graph, Error>,
        on_device: impl FnOnce() -> DeviceSystem,
        method: &Method,
        device: &Device,
        inlining: Inlining,
    ) -> Result<Ready, Error> {
        method.check()?;
        match device {
            Device::Cpu(cpu) => {
                let plan =
                    method.jacobian_source().map(|by| JacobianPlan::new(n, pattern, trace, by));
                Ok(Ready::Cpu(cpu.clone(), plan.transpose()?.map(Arc::new), Arc::new(inlining)))
            }
            Device::Cuda(cuda) => Ok(Ready::Cuda(cuda.clone(), on_device())),
        }
    }

    /// Integrates an ensemble of the system, which has these numbers of equations and parameters.
    fn run<T: Scalar>(
        &self,
        on_lanes: &dyn OnLanes<T>,
        sizes: (usize, usize),
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
        monitor: &Monitor,
    ) -> Result<Solution<T>, Error> {
        let inputs = &ensemble.inputs();
        check_shape(sizes, (inputs.dim(), inputs.n_params()))?;
        options.check_for(method.controller().fixed_step(), inputs)?;
        let mut solution = Solution::of(inputs, options.save_times());
        let outputs = solution.outputs();
        let remarks = self.run_into(on_lanes, inputs, method, options, outputs, monitor)?;
        Ok(solution.with_remarks(remarks))
    }

    /// Integrates systems into arrays in which none has run yet; on GPUs these may hold anything. The arguments
    /// have been checked.
    fn run_into<T: Scalar>(
        &self,
        on_lanes: &dyn OnLanes<T>,
        inputs: &Inputs<'_, T>,
        method: &Method,
        options: &Options,
        outputs: Outputs<'_, T>,
        monitor: &Monitor,
    ) -> Result<Remarks, Error> {
        match self {
            Ready::Cpu(cpu, plan, inlining) => {
                let plan = plan.as_deref();
                let run = cpu::Run { on_lanes, method, plan, inlining, cpu, options, monitor };
                run.solve(inputs, outputs)
            }
            Ready::Cuda(cuda, system) => {
                gpu::solve(system, inputs, method, cuda, options, outputs, monitor)
            }
        }
    }
}

/// Calls for what is left of a series; while the last systems of one call end, those of another fill the GPU.
fn call_for_each<T: Scalar>(
    parts: &mut Parts<'_, T>,
    solve: impl Fn(Options, &Ensemble<T>) -> Result<Solution<T>, Error> + Sync,
) {
    let parts = Mutex::new(parts);
    let call = || {
        while let Some(Made { number, ensemble, options }) = { lock(&parts).next() } {
            match solve(options, &ensemble) {
                Ok(solution) => lock(&parts).ended(number, solution),
                Err(error) => lock(&parts).fail(error),
            }
        }
    };
    std::thread::scope(|scope| {
        // Those that begin do the work of those that do not.
        let another = |_| computing_thread().spawn_scoped(scope, call).ok();
        let begun: Vec<_> = (1..CALLS).filter_map(another).collect();
        call();
        begun.into_iter().for_each(joined);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tolerance;
    use crate::series::Part;

    /// Numbers and states of parts.
    type Ended = Vec<(usize, Vec<f64>)>;

    /// Parts of two systems, as many as are left.
    struct Left {
        parts: usize,
        ended: Ended,
    }

    impl Series<f64> for Left {
        fn systems(&self) -> usize {
            2 * self.parts
        }

        fn next(&mut self) -> Result<Option<Part<f64>>, Error> {
            let Some(left) = self.parts.checked_sub(1) else { return Ok(None) };
            self.parts = left;
            Ok(Some(Ensemble::new(1, vec![left as f64; 2], (0.0, 0.5))?.into()))
        }

        fn ended(&mut self, number: usize, solution: Solution<f64>) {
            self.ended.push((number, solution.states));
        }
    }

    /// The parts that ended, in order; solving those that begin at `fails` fails.
    fn ended(fails: f64) -> (Ended, Result<(), Error>) {
        let mut series = Left { parts: 40, ended: Vec::new() };
        let (options, monitor) = (Options::new(Tolerance::new(1e-6, 1e-6)), Monitor::new());
        let mut parts = Parts::new(&mut series, (None, &options), (1, 0), &monitor);
        call_for_each(&mut parts, |_, ensemble| {
            let states = ensemble.states().to_vec();
            if states[0] == fails {
                return Err(Error::input("part", fails, "fails"));
            }
            Ok(Solution { states, ..Solution::empty(2, 1, &[]) })
        });
        let result = parts.result();
        series.ended.sort_by_key(|(number, _)| *number);
        (series.ended, result)
    }

    #[test]
    fn calls_solve_each_part_once() {
        let (ended, result) = ended(-1.0);
        assert!(result.is_ok());
        let expected: Ended = (0..40).map(|k| (k, vec![39.0 - k as f64; 2])).collect();
        assert_eq!(ended, expected);
    }

    #[test]
    fn a_call_that_fails_ends_the_series() {
        let (ended, result) = ended(20.0);
        assert!(result.unwrap_err().to_string().contains("fails"));
        assert!((19..39).contains(&ended.len()), "{}", ended.len());
    }
}
