//! Simulations of fields: made from a case, advanced, looked at.

use crate::array::Array;
use crate::buffer::cells;
use crate::document::OWN_CASE;
use crate::failure::{exception, raise, raise_and_warn};
use crate::running::{Limits, Running, Signals, Trouble, make};
use crate::worker::Worker;
use odeum_case::field_ending::{failed, not_stable};
use odeum_case::{CellArray, Described, FieldCase, Given};
use odeum_core::Error;
use odeum_fields::Outcome;
use odeum_io::cells::Numbers;
use odeum_io::{Finding, Findings, Source};
use odeum_ode::Device;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// A field on its way through time.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct Simulation {
    case: Arc<FieldCase>,
    arrays: Vec<(String, CellArray)>,
    signals: Arc<Signals>,
    worker: Worker<Box<dyn Running>>,
}

/// Name, sum, mass, mean, least and largest value of a species, and its mass at the start.
type Sums = (String, f64, f64, f64, f64, f64, f64);

#[pymethods]
impl Simulation {
    /// Reads the text of a case; files it names are looked for among `arrays`, then from `folder`.
    #[new]
    fn new(
        py: Python<'_>,
        text: &str,
        folder: PathBuf,
        arrays: Vec<(String, Bound<'_, PyAny>)>,
    ) -> PyResult<Simulation> {
        let arrays = arrays.into_iter().map(|(name, array)| Ok((name, cells(py, &array)?)));
        let given = Given { arrays: arrays.collect::<PyResult<_>>()?, ..Given::default() };
        let source = Source::new(OWN_CASE, text);
        let (case, findings) = py.detach(|| {
            let findings = Findings::default();
            let path = folder.join("case.toml");
            let case = odeum_case::read_field_text(&source, &path, &given, &findings);
            (case, findings.take())
        });
        raise_and_warn_of(py, findings)?;
        Simulation::of(py, case, given.arrays)
    }

    /// Reads the text of a case file at `path`; a device or a number of threads take precedence over its own.
    #[staticmethod]
    #[pyo3(signature = (path, text, device = None, threads = None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        text: &str,
        device: Option<&str>,
        threads: Option<usize>,
    ) -> PyResult<Simulation> {
        let parsed = device.map(odeum_case::device::parse).transpose();
        let refused = |help: String| exception(py, "InputError", ("device", device, help));
        let device = parsed.map_err(refused)?;
        let findings = Findings::default();
        let source = Source::new(path.display().to_string(), text);
        let described = odeum_case::read_source(&source, &path, device.as_ref(), &findings);
        raise_and_warn_of(py, findings.take())?;
        let mut case = match described {
            Some(Described::Field(case)) => Some(case),
            Some(Described::Ensemble(_)) => {
                let words = ("path", "a case of an ensemble", "give a case with a [grid]");
                return Err(exception(py, "InputError", words));
            }
            None => None,
        };
        if let Some(case) = &mut case {
            case.device = device.unwrap_or(case.device.clone());
            if let Device::Cpu(cpu) = &mut case.device {
                cpu.threads = threads.or(case.threads);
            }
        }
        Simulation::of(py, case, Vec::new())
    }

    /// What is simulated, in a line.
    #[getter]
    fn title(&self) -> &str {
        self.case.title.as_deref().unwrap_or(&self.case.system)
    }

    /// The equations, one for each line.
    #[getter]
    fn lines(&self) -> Vec<&str> {
        self.case.lines.iter().map(String::as_str).collect()
    }

    /// Names of the species.
    #[getter]
    fn species(&self) -> Vec<&str> {
        self.case.problem.model.species().iter().map(String::as_str).collect()
    }

    /// Names and values of the parameters.
    #[getter]
    fn parameters(&self) -> Vec<(&str, f64)> {
        let parameters = self.case.problem.model.params().iter();
        parameters.map(|(name, value)| (name.as_str(), *value)).collect()
    }

    /// Cells, edges of a cell and the lowest corner, along x, y and z.
    #[getter]
    fn grid(&self) -> ([usize; 3], [f64; 3], [f64; 3]) {
        let grid = &self.case.problem.grid;
        (grid.shape(), grid.spacing(), grid.origin())
    }

    /// The cell along an axis whose coordinate is furthest from its centre, and the centre, where coordinates are not
    /// those of the cells.
    fn misplaced(&self, axis: usize, coordinates: Vec<f64>) -> Option<(usize, f64)> {
        let grid = &self.case.problem.grid;
        let at = grid.misplaced(axis, &coordinates)?;
        Some((at, grid.centre(axis, at)))
    }

    /// One for each cell of the domain, zero for solid ones [nz, ny, nx]; none where all are of the domain.
    #[getter]
    fn mask(&self) -> Option<Array> {
        let mask = self.case.problem.mask.as_ref()?;
        let values: Vec<_> = mask.to_values().into_iter().map(u8::from).collect();
        Some(Array::new(values, &self.shape()))
    }

    /// The method.
    #[getter]
    fn method(&self) -> &'static str {
        self.case.time.method.name()
    }

    /// The device in words.
    #[getter]
    fn device(&self) -> String {
        odeum_case::device::describe(&self.case.device)
    }

    /// Names of the arrays that were given.
    #[getter]
    fn given(&self) -> Vec<&str> {
        self.arrays.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// An array that was given.
    fn given_array(&self, name: &str) -> PyResult<Array> {
        let found = self.arrays.iter().find(|(other, _)| other == name);
        let (_, array) = found.ok_or_else(|| PyValueError::new_err("no such array"))?;
        Ok(lent(Numbers::clone(&array.numbers), &array.shape))
    }

    /// The time reached, also while the simulation goes on.
    #[getter]
    fn t(&self) -> f64 {
        self.signals.t()
    }

    /// Ends an `advance` for which another thread waits.
    fn stop(&self) {
        self.signals.stop();
    }

    /// Goes on to a time; steps are judged for all times up to `horizon`; `goes_on` from the call before, which what stops it
    /// may follow. Gives whether it was reached, and what was raised on the way.
    #[pyo3(signature = (end, horizon = None, progress = None, goes_on = false))]
    fn advance(
        &self,
        py: Python<'_>,
        end: f64,
        horizon: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
        goes_on: bool,
    ) -> PyResult<(bool, Option<Py<PyAny>>)> {
        let tell = || match progress {
            Some(progress) => progress.call1((self.signals.t(),)).map(|_| ()),
            None => Ok(()),
        };
        let work = move |running: &mut Box<dyn Running>| {
            let outcome = running.advance(end, horizon, goes_on)?;
            if matches!(outcome, Outcome::Unstable(_)) {
                running.go_back()?;
            }
            Ok(outcome)
        };
        let (outcome, raised) = self.worker.call(py, (|| self.signals.stop(), tell), work)?;
        let outcome = outcome.map_err(|error| self.refused(py, error))?;
        if let Some(error) = self.broken_off(py, &outcome) {
            return Err(error);
        }
        let raised = raised.map(|error| error.into_value(py).into_any());
        Ok((outcome == Outcome::Reached, raised))
    }

    /// Steps, steps that were taken again, evaluations of the right-hand side over all cells, and seconds.
    fn counts(&self, py: Python<'_>) -> PyResult<(u64, u64, u64, f64)> {
        let (counts, seconds) = self.worker.ask(py, |running| running.counts())?;
        Ok((counts.steps, counts.rejected, counts.sweeps, seconds))
    }

    /// The values of a species [nz, ny, nx].
    fn values(&self, py: Python<'_>, species: usize) -> PyResult<Array> {
        let values = self.worker.ask(py, move |running| running.values(species))?;
        Ok(lent(values.map_err(|error| self.refused(py, error))?, &self.shape()))
    }

    /// The values of all species in some cells \[i, j, k\] [cells, S].
    fn pick(&self, py: Python<'_>, cells: Vec<[usize; 3]>) -> PyResult<Array> {
        let shape = [cells.len(), self.case.problem.model.species().len()];
        let values = self.worker.ask(py, move |running| running.pick(&cells))?;
        Ok(Array::new(values.map_err(|error| self.refused(py, error))?, &shape))
    }

    /// What sums up each species.
    fn summaries(&self, py: Python<'_>) -> PyResult<Vec<Sums>> {
        let all = self.worker.ask(py, |running| running.summaries())?;
        let (all, masses) = all.map_err(|error| self.refused(py, error))?;
        let names = self.case.problem.model.species().iter();
        let sums = names.zip(all).zip(masses).map(|((name, sum), mass)| {
            (name.clone(), sum.sum, sum.mass, sum.mean, sum.min, sum.max, mass)
        });
        Ok(sums.collect())
    }

    /// Limits of the steps over times up to `until`.
    #[pyo3(signature = (until = None))]
    fn limits(&self, py: Python<'_>, until: Option<f64>) -> PyResult<Limits> {
        let limits = self.worker.ask(py, move |running| running.limits(until))?;
        limits.map_err(|error| self.refused(py, error))
    }

    /// Writes the present state, which is said to be that of a time: as `npz`, `vti` or `zarr`.
    fn save(&self, py: Python<'_>, path: PathBuf, format: String, t: f64) -> PyResult<()> {
        let saved = self.worker.ask(py, move |running| running.save(&path, &format, t))?;
        saved.map_err(|trouble| match trouble {
            Trouble::Case(finding) => wrong(py, finding.field("path").help("choose another path")),
            Trouble::Library(error) => self.refused(py, error),
        })
    }
}

impl Simulation {
    fn of(
        py: Python<'_>,
        case: Option<FieldCase>,
        arrays: Vec<(String, CellArray)>,
    ) -> PyResult<Simulation> {
        // What is wrong with it was raised already.
        let case = case.ok_or_else(|| PyValueError::new_err("the case cannot be read"))?;
        let (case, signals) = (Arc::new(case), Arc::new(Signals::default()));
        let (own_case, own_signals) = (Arc::clone(&case), Arc::clone(&signals));
        let (send, warnings) = channel();
        let worker = match Worker::new(py, move || make(own_case, own_signals, &send))? {
            Ok(worker) => worker,
            Err(Trouble::Case(finding)) => return Err(wrong(py, finding)),
            Err(Trouble::Library(error)) => return Err(refused(py, &case, error)),
        };
        raise_and_warn_of(py, warnings.try_iter().collect())?;
        Ok(Simulation { case, arrays, signals, worker })
    }

    /// Shape of an array of all cells.
    fn shape(&self) -> [usize; 3] {
        let [nx, ny, nz] = self.case.problem.grid.shape();
        [nz, ny, nx]
    }

    fn refused(&self, py: Python<'_>, error: Error) -> PyErr {
        refused(py, &self.case, error)
    }

    /// An exception for a simulation that ended before its time.
    fn broken_off(&self, py: Python<'_>, outcome: &Outcome) -> Option<PyErr> {
        let t = self.signals.t();
        let kept = match outcome {
            Outcome::Unstable(_) => {
                format!(
                    "; the simulation is back at t = {t}, where this call, or an interrupted one before it, began"
                )
            }
            _ => format!("; the simulation stands at t = {t}"),
        };
        let (finding, t, species) = match outcome {
            Outcome::Reached | Outcome::Stopped => return None,
            Outcome::Failed(failure) => {
                let species = failure.place.as_ref().map(|(species, _)| species.clone());
                (failed(&self.case, failure, &kept), failure.t, species)
            }
            Outcome::Unstable(unstable) => {
                (not_stable(&self.case, unstable, &kept), unstable.t, None)
            }
        };
        let found = finding.found.clone().map_or(String::new(), |found| format!(" ({found})"));
        let (message, remedy) = (&finding.message, finding.help.clone().unwrap_or_default());
        let message = format!("{message}{found}; {remedy}");
        Some(exception(py, "SimulationError", (message, t, species, remedy)))
    }
}

/// Numbers as an array that Python reads where they lie.
fn lent(numbers: Numbers, shape: &[usize]) -> Array {
    match numbers {
        Numbers::Single(all) => Array::new(all, shape),
        Numbers::Double(all) => Array::new(all, shape),
    }
}

/// Raises the errors among some findings, and warns of the rest.
fn raise_and_warn_of(py: Python<'_>, all: Vec<Finding>) -> PyResult<()> {
    let findings = Findings::default();
    all.into_iter().for_each(|finding| findings.push(finding));
    raise_and_warn(py, &findings)
}

/// An exception for something that is wrong.
fn wrong(py: Python<'_>, finding: Finding) -> PyErr {
    match raise_and_warn_of(py, vec![finding]) {
        Err(error) => error,
        Ok(()) => PyValueError::new_err("the case cannot be run"),
    }
}

/// An exception for what the library refused of a case, by its name there, or could not do.
fn refused(py: Python<'_>, case: &FieldCase, error: Error) -> PyErr {
    match error {
        Error::Input { .. } => wrong(py, case.source_spans.place(error)),
        other => raise(py, other),
    }
}
