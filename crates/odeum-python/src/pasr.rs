//! States of partially stirred reactors, as arrays.

use crate::array::Array;
use crate::failure::{exception, raise_and_warn};
use crate::mechanism::Mechanism;
use crate::watch::watched;
use odeum_cli::pasr::{Database, Plan};
use odeum_io::{Finding, Findings};
use odeum_ode::Monitor;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs of a partially stirred reactor, checked.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct Pasr {
    plan: Plan,
    n_species: usize,
}

/// T, p, Y, t and run of the states.
type States = (Array, Array, Array, Array, Array);

#[pymethods]
impl Pasr {
    /// Of the options of `odeum pasr` that say what is computed.
    #[new]
    fn new(py: Python<'_>, mechanism: &Mechanism, options: Vec<String>) -> PyResult<Pasr> {
        let kinetics = mechanism.kinetics();
        let plan = Plan::of_options(kinetics, &options).map_err(|finding| refused(py, finding))?;
        Ok(Pasr { plan, n_species: kinetics.n_species() })
    }

    /// Steps of all runs together.
    #[getter]
    fn steps(&self) -> usize {
        self.plan.steps
    }

    /// Computes the states. `progress` is called with the number of steps that are done.
    #[pyo3(signature = (progress = None))]
    fn run(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<States> {
        let (monitor, done) = (Monitor::new(), AtomicUsize::new(0));
        let say = || match progress {
            Some(progress) => progress.call1((done.load(Ordering::Relaxed),)).map(|_| ()),
            None => Ok(()),
        };
        let work = || self.plan.compute(&monitor, |steps| done.store(steps, Ordering::Relaxed));
        let (computed, raised) = watched(py, || monitor.stop(), say, work)?;
        match (computed, raised) {
            (_, Some(error)) => Err(error),
            (Ok(database), None) => Ok(self.states(database)),
            (Err(finding), None) => Err(exception(py, "OdeumError", (finding.message.clone(),))),
        }
    }
}

impl Pasr {
    fn states(&self, database: Database) -> States {
        let runs: Vec<u32> = database.runs.iter().map(|&run| run as u32).collect();
        let len = runs.len();
        (
            Array::new(database.temperatures, &[len]),
            Array::new(database.pressures, &[len]),
            Array::new(database.mass_fractions, &[len, self.n_species]),
            Array::new(database.times, &[len]),
            Array::new(runs, &[len]),
        )
    }
}

/// The exception for options that are wrong, by the names that `odeum.pasr` has for them.
fn refused(py: Python<'_>, mut finding: Finding) -> PyErr {
    finding.field = finding.field.take().map(|option| match option.as_str() {
        "--temperature" => "T".to_owned(),
        "--pressure" => "p".to_owned(),
        other => other.trim_start_matches('-').replace('-', "_"),
    });
    let findings = Findings::default();
    findings.push(finding);
    match raise_and_warn(py, &findings) {
        Err(error) => error,
        Ok(()) => PyRuntimeError::new_err("options were refused without a reason"),
    }
}
