//! Integrates ensembles: in one call, or many times with what a system needs found once.

use crate::backend::{Device, cpu, cuda};
use crate::ensemble::{Ensemble, check_sizes};
use crate::method::Method;
use crate::method::linearised::Plan;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::Solution;
use odeum_core::{Error, Graph, Scalar, System};
use std::sync::Arc;

/// Integrates every system of the ensemble.
///
/// The answer of a system depends on its own data alone: the same bits whatever its place, its
/// neighbours, the number of systems and threads, on one kind of device and one build.
///
/// Whoever integrates the same system many times keeps a [`Solver`].
///
/// # Errors
/// An argument that cannot be used, or a device that is not there. A system that fails is no
/// error: see [`Solution::status`].
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
    Solver::new(system, method, device, options)?.solve_monitored(ensemble, monitor)
}

/// A system made ready for a method and a device: what [`solve`] finds anew in every call (the
/// recorded right-hand side, its Jacobian, the order of elimination) is found once.
///
/// ```
/// use odeum_ode::{Device, Ensemble, Method, Options, Real, Solver, System, Tolerance};
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
/// let solver = Solver::new(&Decay, &Method::rodas5p(), &Device::cpu(), &options)?;
/// let mut state = vec![1.0_f64; 100];
/// for step in 0..3 {
///     let span = (f64::from(step), f64::from(step + 1));
///     let ensemble = Ensemble::new(1, state, span)?.with_params(vec![1.0; 100])?;
///     state = solver.solve(&ensemble)?.states;
/// }
/// assert!((state[99] - (-3.0_f64).exp()).abs() < 1e-6);
/// # Ok::<(), odeum_ode::Error>(())
/// ```
#[derive(Debug)]
pub struct Solver<'a, S> {
    system: &'a S,
    method: Method,
    options: Options,
    ready: Ready,
}

/// What a device needs to know of a system.
#[derive(Debug)]
enum Ready {
    Cpu(cpu::Cpu, Option<Box<Plan>>),
    Cuda(cuda::Cuda, Arc<Graph>),
}

impl<'a, S: System> Solver<'a, S> {
    /// Makes a system ready.
    ///
    /// # Errors
    /// A method whose options mean nothing, or a Jacobian pattern that does not fit the system.
    pub fn new(
        system: &'a S,
        method: &Method,
        device: &Device,
        options: &Options,
    ) -> Result<Self, Error> {
        method.check()?;
        let ready = match device {
            Device::Cpu(cpu) => {
                let plan = method.jacobian_by().map(|by| Plan::new(system, by)).transpose()?;
                Ready::Cpu(cpu.clone(), plan.map(Box::new))
            }
            Device::Cuda(cuda) => Ready::Cuda(cuda.clone(), Arc::new(Graph::trace(system))),
        };
        Ok(Solver { system, method: method.clone(), options: options.clone(), ready })
    }

    /// As [`solve()`](solve).
    ///
    /// # Errors
    /// As [`solve()`](solve).
    pub fn solve<T: Scalar>(&self, ensemble: &Ensemble<T>) -> Result<Solution<T>, Error> {
        self.solve_monitored(ensemble, &Monitor::new())
    }

    /// As [`solve_monitored`].
    ///
    /// # Errors
    /// As [`solve()`](solve).
    pub fn solve_monitored<T: Scalar>(
        &self,
        ensemble: &Ensemble<T>,
        monitor: &Monitor,
    ) -> Result<Solution<T>, Error> {
        let Solver { system, method, options, ready } = self;
        check_sizes(*system, ensemble)?;
        options.check(ensemble)?;
        match ready {
            Ready::Cpu(cpu, plan) => {
                cpu::solve(*system, ensemble, method, plan.as_deref(), cpu, options, monitor)
            }
            Ready::Cuda(cuda, graph) => {
                cuda::solve(graph, ensemble, method, cuda, options, monitor)
            }
        }
    }
}
