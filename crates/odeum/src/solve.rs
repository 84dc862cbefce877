//! One call that integrates an ensemble.

use crate::backend::{Device, cpu};
use crate::ensemble::Ensemble;
use crate::error::Error;
use crate::method::Method;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::Solution;
use odeum_core::{Scalar, System};

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
        Device::Cuda(_) => todo!(),
    }
}

fn check_sizes<T: Scalar, S: System>(system: &S, ensemble: &Ensemble<T>) -> Result<(), Error> {
    if ensemble.dim() != system.dim() {
        return Err(Error::input(
            "states",
            format!("{} components", ensemble.dim()),
            format!("the system has {} equations", system.dim()),
        ));
    }
    if ensemble.n_params() != system.n_params() {
        return Err(Error::input(
            "params",
            format!("{} parameters per system", ensemble.n_params()),
            format!("the system has {}", system.n_params()),
        ));
    }
    Ok(())
}
