//! Cases of ensembles: read, looked at, run.

use crate::array::{Array, Element};
use crate::buffer::numbers;
use crate::document::OWN_CASE;
use crate::failure::{raise, raise_and_warn};
use crate::given::{GivenSystems, put_back};
use crate::session::Session;
use crate::solution::{Arrays, Solution};
use crate::solution_on_gpu::SolutionOnGpu;
use crate::watch::watch;
use odeum_case::gas::Gas;
use odeum_case::{Columns, Described, Given, Members, Overrides, Plan, Precision, Start, Values};
use odeum_io::{Findings, Source};
use odeum_ode::{Compiled, Inputs, Monitor, Solver};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::OnceLock;

/// An ensemble that a case describes.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct Case {
    case: odeum_case::Case,
    overrides: Overrides,
    /// Made by the first run.
    solver: OnceLock<Solver>,
    /// Names and lengths of the axes, once a plan was made: of many systems that takes a while.
    shape: OnceLock<Vec<(String, usize)>>,
}

#[pymethods]
impl Case {
    /// Reads the text of a case; files it names are looked for from `folder`. `table` gives columns by name,
    /// one row a system; `mechanisms` names and texts of mechanisms that have no file.
    #[new]
    #[pyo3(signature = (text, folder, table = None, threads = None, mechanisms = Vec::new()))]
    fn new(
        py: Python<'_>,
        text: &str,
        folder: PathBuf,
        table: Option<Vec<(String, PyBuffer<f64>)>>,
        threads: Option<usize>,
        mechanisms: Vec<(String, String)>,
    ) -> PyResult<Case> {
        let columns = |table: Vec<(String, PyBuffer<f64>)>| {
            let values: PyResult<_> = table.iter().map(|(_, column)| numbers(py, column)).collect();
            let names = table.into_iter().map(|(name, _)| name).collect();
            PyResult::Ok(Columns { names, values: values? })
        };
        let table = table.map(columns).transpose()?;
        let source = Source::new(OWN_CASE, text);
        let findings = Findings::default();
        let given = Given { table, mechanisms, ..Given::default() };
        let case = odeum_case::read_text(&source, &folder.join("case.toml"), given, &findings);
        raise_and_warn(py, &findings)?;
        Case::of(case, threads)
    }

    /// Reads the text of a case file at `path`.
    #[staticmethod]
    #[pyo3(signature = (path, text, threads = None))]
    fn read(py: Python<'_>, path: PathBuf, text: &str, threads: Option<usize>) -> PyResult<Case> {
        let findings = Findings::default();
        let source = Source::new(path.display().to_string(), text);
        let described = odeum_case::read_source(&source, &path, None, &findings);
        raise_and_warn(py, &findings)?;
        match described {
            Some(Described::Field(_)) => {
                Err(PyValueError::new_err("this case is of fields on a grid"))
            }
            Some(Described::Ensemble(case)) => Case::of(Some(case), threads),
            None => Case::of(None, threads),
        }
    }

    /// What its systems are, by the section or key whose files say it: equal words mean equal systems, as in checkpoints.
    #[getter]
    fn systems(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, String)>> {
        // More than can be had of them are refused.
        self.shape(py)?;
        let ensemble = py.detach(|| {
            let members = Members::new(&self.case)?;
            Some(format!("{}, {}", members.fingerprint(), members.spans()))
        });
        let system = self.case.model.identity.clone();
        Ok(vec![("system", system), ("ensemble.table", ensemble.unwrap_or_default())])
    }

    /// What is integrated, in a line.
    #[getter]
    fn title(&self) -> &str {
        self.case.title.as_deref().unwrap_or(&self.case.model.title)
    }

    /// Names of the states.
    #[getter]
    fn states(&self) -> Vec<&str> {
        self.case.model.state_names.iter().map(String::as_str).collect()
    }

    /// Names of the parameters of the equations.
    #[getter]
    fn parameters(&self) -> Vec<&str> {
        self.case.model.param_names.iter().map(String::as_str).collect()
    }

    /// Names of what an ensemble may vary, and the values that systems have unless it does.
    #[getter]
    fn variables(&self) -> Vec<(&str, f64)> {
        let variables = self.case.model.variables.iter();
        variables.map(|variable| (variable.name.as_str(), variable.value)).collect()
    }

    /// True where variables are the states, then the parameters.
    #[getter]
    fn is_direct(&self) -> bool {
        self.case.model.is_direct()
    }

    /// Name, length and, of a sweep, values of the axes, the last fastest.
    #[getter]
    fn axes(&self, py: Python<'_>) -> PyResult<Vec<(String, usize, Option<Array>)>> {
        let shape = self.shape(py)?;
        let swept = &self.case.ensemble.sweep;
        let values = |name: &str| swept.iter().find(|axis| axis.name == name).map(|a| &a.values);
        let array = |values: &Values| Array::new(values.all().into_owned(), &[values.len()]);
        Ok(shape.iter().map(|(name, len)| (name.clone(), *len, values(name).map(array))).collect())
    }

    /// Number of systems.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.shape(py)?.iter().map(|(_, len)| len).product())
    }

    /// What the ensemble varies, or would vary: the values of a variable for all systems.
    fn values(&self, py: Python<'_>, name: &str) -> PyResult<Array> {
        let plan = self.plan(py)?;
        let Some(variable) = self.case.model.variable(name) else {
            return Err(PyValueError::new_err(format!("there is no variable `{name}`")));
        };
        let len = plan.members.len();
        let values: Vec<f64> = (0..len).map(|s| plan.members.value(variable, s)).collect();
        Ok(Array::new(values, &[len]))
    }

    /// Integrates all systems, or those of the given numbers. Gives the solution, and what was raised where it
    /// was stopped on the way.
    #[pyo3(signature = (systems = None, progress = None))]
    fn solve(
        &self,
        py: Python<'_>,
        systems: Option<PyBuffer<u64>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Solution, Option<Py<PyAny>>)> {
        self.refuse_idle_span(py)?;
        let plan = self.plan(py)?;
        let systems = numbers_of(py, &plan, systems)?;
        match self.case.run.precision {
            Precision::F64 => self.run::<f64>(py, &plan, &systems, progress),
            Precision::F32 => self.run::<f32>(py, &plan, &systems, progress),
        }
    }

    /// The same on one GPU, where the results stay.
    #[pyo3(signature = (systems = None, progress = None))]
    fn solve_on_gpu(
        &self,
        py: Python<'_>,
        systems: Option<PyBuffer<u64>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(SolutionOnGpu, Option<Py<PyAny>>)> {
        self.refuse_idle_span(py)?;
        let plan = self.plan(py)?;
        let systems = numbers_of(py, &plan, systems)?;
        match self.case.run.precision {
            Precision::F64 => self.run_on_gpu::<f64>(py, &plan, &systems, progress),
            Precision::F32 => self.run_on_gpu::<f32>(py, &plan, &systems, progress),
        }
    }

    /// Brings all systems, or those of the given numbers, to the device of the case, to stay there.
    #[pyo3(signature = (systems = None))]
    fn session(&self, py: Python<'_>, systems: Option<PyBuffer<u64>>) -> PyResult<Session> {
        let plan = self.plan(py)?;
        let systems = numbers_of(py, &plan, systems)?;
        match self.case.run.precision {
            Precision::F64 => self.begin::<f64>(py, &plan, &systems),
            Precision::F32 => self.begin::<f32>(py, &plan, &systems),
        }
    }

    /// Integrates systems of the caller, by the method and the options of the case, over one span: initial states and
    /// parameters in blocks, each \[M\], [M, components], or \[1\] for all systems, of any strides. With `keep` the
    /// solution holds what was given too.
    #[pyo3(signature = (systems, states, params, span, progress = None, keep = false))]
    fn solve_arrays(
        &self,
        py: Python<'_>,
        systems: usize,
        states: Vec<PyBuffer<f64>>,
        params: Vec<PyBuffer<f64>>,
        span: (f64, f64),
        progress: Option<&Bound<'_, PyAny>>,
        keep: bool,
    ) -> PyResult<(Solution, Option<Py<PyAny>>)> {
        let given = GivenSystems::new(systems, states, params, span, keep);
        let given = given.map_err(|error| raise(py, error))?;
        self.check_gas(&given).map_err(|error| raise(py, error))?;
        match self.case.run.precision {
            Precision::F64 => self.run_arrays::<f64>(py, &given, progress),
            Precision::F32 => self.run_arrays::<f32>(py, &given, progress),
        }
    }

    /// The same on one GPU, where the results stay: see `solve_on_gpu`.
    #[pyo3(signature = (systems, states, params, span, progress = None))]
    fn solve_arrays_on_gpu(
        &self,
        py: Python<'_>,
        systems: usize,
        states: Vec<PyBuffer<f64>>,
        params: Vec<PyBuffer<f64>>,
        span: (f64, f64),
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(SolutionOnGpu, Option<Py<PyAny>>)> {
        let given = GivenSystems::new(systems, states, params, span, false);
        let given = given.map_err(|error| raise(py, error))?;
        self.check_gas(&given).map_err(|error| raise(py, error))?;
        match self.case.run.precision {
            Precision::F64 => self.run_arrays_on_gpu::<f64>(py, &given, progress),
            Precision::F32 => self.run_arrays_on_gpu::<f32>(py, &given, progress),
        }
    }
}

impl Case {
    fn of(case: Option<odeum_case::Case>, threads: Option<usize>) -> PyResult<Case> {
        // What is wrong with it was raised already.
        let case = case.ok_or_else(|| PyValueError::new_err("the case cannot be read"))?;
        let overrides = Overrides { device: None, threads, has_other_numbers: true };
        Ok(Case { case, overrides, solver: OnceLock::new(), shape: OnceLock::new() })
    }

    /// The plan; the first one warns of what it finds.
    fn plan(&self, py: Python<'_>) -> PyResult<Plan<'_>> {
        let findings = Findings::default();
        let plan = Plan::new(&self.case, &self.overrides, &findings);
        if plan.is_none() || self.shape.get().is_none() {
            raise_and_warn(py, &findings)?;
        }
        let plan = plan.ok_or_else(|| PyValueError::new_err("the case cannot be run"))?;
        self.shape.get_or_init(|| plan.members.shape().to_vec());
        Ok(plan)
    }

    /// Refuses a span that no system has.
    fn refuse_idle_span(&self, py: Python<'_>) -> PyResult<()> {
        let findings = Findings::default();
        self.case.idle_span().into_iter().for_each(|error| findings.push(error));
        raise_and_warn(py, &findings)
    }

    /// Names and lengths of the axes.
    fn shape(&self, py: Python<'_>) -> PyResult<&[(String, usize)]> {
        match self.shape.get() {
            Some(shape) => Ok(shape),
            None => {
                let plan = self.plan(py)?;
                Ok(self.shape.get_or_init(|| plan.members.shape().to_vec()))
            }
        }
    }

    fn run<T: Compiled + Element>(
        &self,
        py: Python<'_>,
        plan: &Plan<'_>,
        systems: &[usize],
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Solution, Option<Py<PyAny>>)> {
        let monitor = Monitor::new();
        let work = || {
            let solver = self.solver(plan)?.with_options(plan.options_of(systems));
            let ensemble = plan.members.ensemble::<T>(systems, plan.threads())?;
            let mut solution = solver.solve_monitored(&ensemble, &monitor)?;
            if monitor.is_stopped() {
                let (status, t, states) = (&solution.status, &mut solution.t, &mut solution.states);
                put_back(&Inputs::from(&ensemble), status, t, states);
            }
            Ok(Arrays::from(solution))
        };
        watched(py, &monitor, progress, work)
    }

    fn run_on_gpu<T: Compiled + Element>(
        &self,
        py: Python<'_>,
        plan: &Plan<'_>,
        systems: &[usize],
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(SolutionOnGpu, Option<Py<PyAny>>)> {
        let monitor = Monitor::new();
        let work = || {
            let solver = self.solver(plan)?.with_options(plan.options_of(systems));
            let ensemble = plan.members.ensemble::<T>(systems, plan.threads())?;
            solver.solve_on_gpu(&Inputs::from(&ensemble), &monitor)
        };
        watched_on_gpu(py, &monitor, progress, work)
    }

    fn begin<T: Compiled + Element>(
        &self,
        py: Python<'_>,
        plan: &Plan<'_>,
        systems: &[usize],
    ) -> PyResult<Session> {
        let work = || {
            let solver = self.solver(plan)?.with_options(plan.options_of(systems));
            solver.session(&plan.members.ensemble::<T>(systems, plan.threads())?)
        };
        let (session, raised) = watch(py, &Monitor::new(), None, work)?;
        raised.map_or(Ok(()), Err)?;
        let session = session.map_err(|error| raise(py, error))?;
        Ok(Session::new(session, [self.case.model.dim(), systems.len()]))
    }

    fn run_arrays<T: Compiled + Element>(
        &self,
        py: Python<'_>,
        given: &GivenSystems,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Solution, Option<Py<PyAny>>)> {
        let (solver, monitor) = (self.solver_of_arrays(py)?, Monitor::new());
        watched(py, &monitor, progress, || given.solve::<T>(solver, &monitor))
    }

    fn run_arrays_on_gpu<T: Compiled + Element>(
        &self,
        py: Python<'_>,
        given: &GivenSystems,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(SolutionOnGpu, Option<Py<PyAny>>)> {
        let (solver, monitor) = (self.solver_of_arrays(py)?, Monitor::new());
        watched_on_gpu(py, &monitor, progress, || given.solve_on_gpu::<T>(solver, &monitor))
    }

    /// The gas of which states are made.
    fn gas(&self) -> Option<&Gas> {
        match &self.case.model.start {
            Start::Gas(gas) => Some(gas),
            Start::Direct => None,
        }
    }

    /// Refuses systems of the caller that are no gas, where they are to be.
    fn check_gas(&self, given: &GivenSystems) -> Result<(), odeum_ode::Error> {
        let Some(gas) = self.gas() else { return Ok(()) };
        let (states, params) = given.doubles();
        gas.reactor.check_states(&states, &gas.state_bounds(), false)?;
        gas.reactor.check_params(&params)
    }

    /// The solver for systems of the caller.
    fn solver_of_arrays(&self, py: Python<'_>) -> PyResult<&Solver> {
        if self.case.time.until.is_some() {
            return Err(PyValueError::new_err("levels that end systems need a plan of the case"));
        }
        match self.solver.get() {
            Some(solver) => Ok(solver),
            None => self.solver(&self.plan(py)?).map_err(|error| raise(py, error)),
        }
    }

    /// What is found of the system once, for every run.
    fn solver(&self, plan: &Plan<'_>) -> Result<&Solver, odeum_ode::Error> {
        if let Some(solver) = self.solver.get() {
            return Ok(solver);
        }
        let (rhs, method) = (&self.case.model.rhs, &self.case.method.method);
        let solver = Solver::new(rhs, method, &plan.device, &plan.options)?;
        Ok(self.solver.get_or_init(|| solver))
    }
}

/// The given numbers of systems, or those of all.
fn numbers_of(
    py: Python<'_>,
    plan: &Plan<'_>,
    systems: Option<PyBuffer<u64>>,
) -> PyResult<Vec<usize>> {
    let systems: Vec<usize> = match systems {
        None => (0..plan.members.len()).collect(),
        Some(numbers) => numbers.to_vec(py)?.into_iter().map(|s| s as usize).collect(),
    };
    match systems.iter().find(|&&system| system >= plan.members.len()) {
        None => Ok(systems),
        Some(beyond) => {
            let message = format!("there is no system {beyond} of {}", plan.members.len());
            Err(PyValueError::new_err(message))
        }
    }
}

/// Integrates on a thread of its own; what was raised meanwhile comes back beside the solution.
fn watched<T: Compiled + Element>(
    py: Python<'_>,
    monitor: &Monitor,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Result<Arrays<T>, odeum_ode::Error> + Send,
) -> PyResult<(Solution, Option<Py<PyAny>>)> {
    let (arrays, raised) = watch(py, monitor, progress, work)?;
    let arrays = arrays.map_err(|error| raise(py, error))?;
    let raised = raised.map(|error| error.into_value(py).into_any());
    Ok((Solution::new(py, arrays)?, raised))
}

/// The same of what stays on a GPU.
fn watched_on_gpu<T: Compiled + Element>(
    py: Python<'_>,
    monitor: &Monitor,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Result<odeum_ode::gpu::SolutionOnGpu<T>, odeum_ode::Error> + Send,
) -> PyResult<(SolutionOnGpu, Option<Py<PyAny>>)> {
    let work = || {
        let solution = work()?;
        let (status, busy_lanes) = (solution.statuses()?, solution.busy_lanes()?);
        Ok(((solution, status), busy_lanes))
    };
    let (done, raised) = watch(py, monitor, progress, work)?;
    let (solved, busy_lanes) = done.map_err(|error| raise(py, error))?;
    let raised = raised.map(|error| error.into_value(py).into_any());
    Ok((SolutionOnGpu::new(py, solved, busy_lanes)?, raised))
}
