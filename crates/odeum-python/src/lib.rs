//! `odeum._odeum`: what the Python package calls.
//!
//! Arrays come in by the buffer protocol and go out as `Array`s, which export their memory by it.
//! Computations run on a separate thread, with the GIL released, and can be interrupted by Ctrl-C
//! (`watch`). Errors become exceptions of `odeum.errors`.

mod array;
mod buffer;
mod case;
mod dlpack;
mod document;
mod failure;
mod given;
mod gpu_array;
mod integrator;
mod loan;
mod mechanism;
mod on_gpu;
mod ours;
mod pasr;
mod properties;
mod running;
mod session;
mod simulation;
mod solution;
mod solution_on_gpu;
mod watch;
mod worker;

use pyo3::prelude::*;

/// What the package `odeum` is made of.
#[pymodule(gil_used = false)]
mod _odeum {
    use odeum_case::available::Working;
    use pyo3::prelude::*;
    use std::ffi::OsString;

    #[pymodule_export]
    use crate::array::Array;
    #[pymodule_export]
    use crate::case::Case;
    #[pymodule_export]
    use crate::document::{defaults, load_case_text};
    #[pymodule_export]
    use crate::gpu_array::GpuArray;
    #[pymodule_export]
    use crate::integrator::Integrator;
    #[pymodule_export]
    use crate::mechanism::Mechanism;
    #[pymodule_export]
    use crate::pasr::Pasr;
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::solution::Solution;
    #[pymodule_export]
    use crate::solution_on_gpu::SolutionOnGpu;

    /// Adds what is no class and no function.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("ATM", odeum_kinetics::constants::ONE_ATM)?;
        module.add("LARGEST_CASE", odeum_case::LARGEST_CASE)?;
        module.add("MOST_THREADS", odeum_case::MOST_THREADS)?;
        module.add("NEGATIVE_LEAST", odeum_case::gas::NEGATIVE_LEAST)?;
        module.add("OWN_CASE", crate::document::OWN_CASE)?;
        module.add("SUM_TOLERANCE", odeum_case::gas::SUM_TOLERANCE)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs the command `odeum` with these arguments, the name of the command first; gives its exit status.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| odeum_cli::run(arguments))
    }

    /// The statuses of systems, in the order of their numbers: name, whether it is a success, what to do.
    #[pyfunction]
    fn statuses() -> Vec<(&'static str, bool, &'static str)> {
        let all = odeum_ode::Status::ALL.iter();
        all.map(|status| (status.name(), status.is_success(), status.advice())).collect()
    }

    /// The names of all methods.
    #[pyfunction]
    fn methods() -> Vec<&'static str> {
        odeum_ode::Method::all().iter().map(odeum_ode::Method::name).collect()
    }

    /// The time n intervals after another.
    #[pyfunction]
    fn time_after(t: f64, n: u64, interval: f64) -> f64 {
        odeum_io::number::time_after(t, n, interval)
    }

    /// Memory that can still be had \[bytes\], and the words for it; `None` where the system does not say.
    #[pyfunction]
    fn free_memory() -> Option<(u128, String)> {
        let free = odeum_case::available::available_memory(Working::default())?;
        Some((free.bytes, free.to_string()))
    }

    /// What is counted for each system, in the order of the columns of `Solution.stats`.
    #[pyfunction]
    fn counts() -> [&'static str; odeum_ode::Stats::COUNTS] {
        odeum_ode::Stats::NAMES
    }
}
