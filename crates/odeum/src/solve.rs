//! One call that integrates an ensemble.

use crate::backend::{Device, cpu, cuda};
use crate::ensemble::{Ensemble, check_sizes};
use crate::error::Error;
use crate::method::Method;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::Solution;
use odeum_core::{Graph, Scalar, System};

/// Integrates every system of the ensemble.
///
/// The answer of a system depends on its own data alone: the same bits whatever its place, its
/// neighbours, the number of systems and threads, on one kind of device and one build.
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
    check_sizes(system, ensemble)?;
    method.check()?;
    options.check(ensemble)?;
    match device {
        Device::Cpu(cpu) => cpu::solve(system, ensemble, method, cpu, options, monitor),
        Device::Cuda(cuda) => {
            let graph = Graph::trace(system);
            cuda::solve(&graph, ensemble, method, cuda, options, monitor)
        }
    }
}
