//! Reactions in the cells of a flow code: many calls over the same cells, in the caller's arrays.

use crate::array::Array;
use crate::buffer::View;
use crate::document::OWN_CASE;
use crate::failure::{raise, raise_and_warn};
use crate::gpu_array::GpuArray;
use crate::on_gpu::{AS_THEY_WERE, Arrays as GpuArrays, OnGpu};
use crate::watch::watch;
use odeum_case::gas::Gas;
use odeum_case::{Given, Overrides, Plan, Start};
use odeum_core::{Argument, Error, memory};
use odeum_io::{Findings, Source, parallel};
use odeum_kinetics::{Reactor, StateError};
use odeum_ode::{ArrayMut, ArrayRef, Device, Inputs, Monitor, Outputs, Solver, Stats, Status};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// Cells that a thread gathers or scatters at once.
const PIECE: usize = 1024;

/// Integrates the reactions in the same cells over one time step after the other.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct Integrator {
    gas: Gas,
    solver: Solver,
    /// For what is done beside integrating.
    threads: usize,
    /// Numbers of the GPUs it is on.
    #[pyo3(get)]
    gpus: Vec<usize>,
    cells: Mutex<Cells>,
    /// How far outside the thermodynamic data a gas is taken as it is given \[K\].
    temperature_margin: f64,
}

/// What is kept of the cells from call to call, and room for the next.
struct Cells {
    /// What makes starts. Its margin is that of the integrator beyond the farthest that cells came outside the
    /// thermodynamic data: what a call left is a start of the next, and transport carries it to other cells.
    gas: Gas,
    /// In the last call, steps ended outside the data.
    came_outside: bool,
    /// In the last call, the first cell that did not start because of its temperature.
    first_outside: Option<usize>,
    /// States before and after a call [cells × n].
    before: Vec<f64>,
    after: Vec<f64>,
    /// Pressures \[Pa\] or densities [kg/m³] \[cells\].
    params: Vec<f64>,
    /// Sizes of the first steps of the next call \[cells\], zero where there is none.
    steps: Vec<f64>,
    next_steps: Vec<f64>,
    t: Vec<f64>,
    status: Vec<Status>,
    stats: Vec<Stats>,
    /// Of arrays on a GPU, since the first.
    on_gpu: Option<OnGpu>,
    /// The last call was of arrays on a GPU: there are its steps and stats.
    was_on_gpu: bool,
}

/// The caller's arrays.
struct Arrays {
    t: View,
    p: View,
    updates_p: bool,
    y: View,
}

#[pymethods]
impl Integrator {
    /// `text` is a case whose system is a mechanism with mass fractions; its method, tolerance and device are
    /// those of the integrator.
    #[new]
    #[pyo3(signature = (text, folder, cells, mechanisms = Vec::new(), threads = None))]
    fn new(
        py: Python<'_>,
        text: &str,
        folder: PathBuf,
        cells: usize,
        mechanisms: Vec<(String, String)>,
        threads: Option<usize>,
    ) -> PyResult<Integrator> {
        let findings = Findings::default();
        let source = Source::new(OWN_CASE, text);
        let given = Given { mechanisms, ..Given::default() };
        let case = odeum_case::read_text(&source, &folder.join("case.toml"), given, &findings);
        raise_and_warn(py, &findings)?;
        let case = case.ok_or_else(|| PyValueError::new_err("the case cannot be read"))?;
        let Start::Gas(gas) = &case.model.start else {
            return Err(PyValueError::new_err("the case has no mechanism"));
        };
        let overrides = Overrides { device: None, threads, has_other_numbers: true };
        let plan = Plan::new(&case, &overrides, &findings);
        raise_and_warn(py, &findings)?;
        let plan = plan.ok_or_else(|| PyValueError::new_err("the case cannot be run"))?;
        let (rhs, method) = (&case.model.rhs, &case.method.method);
        let solver = Solver::new(rhs, method, &plan.device, &plan.options);
        let solver = solver.map_err(|error| raise(py, error))?;
        let gas = (**gas).clone();
        let cells =
            Cells::new(gas.clone(), cells, case.model.dim()).map_err(|error| raise(py, error))?;
        let gpus = match &plan.device {
            Device::Cuda(cuda) => cuda.ordinals.clone(),
            Device::Cpu(_) => Vec::new(),
        };
        let (threads, cells) = (plan.threads(), Mutex::new(cells));
        let temperature_margin = gas.reactor.temperature_margin();
        Ok(Integrator { gas, solver, threads, gpus, cells, temperature_margin })
    }

    /// Integrates all cells over `dt` in place: temperatures \[cells\], pressures \[cells\], which are written
    /// to where `updates_p`, and mass fractions [cells, species]. Cells that fail keep what they had. Statuses
    /// \[cells\].
    fn advance(
        &self,
        py: Python<'_>,
        t: PyBuffer<f64>,
        p: PyBuffer<f64>,
        updates_p: bool,
        y: PyBuffer<f64>,
        dt: f64,
    ) -> PyResult<Array> {
        let mut cells = self.cells()?;
        let arrays = self.arrays(cells.status.len(), t, (p, updates_p), y);
        let arrays = arrays.map_err(|error| raise(py, error))?;
        let monitor = Monitor::new();
        let held = &mut *cells;
        let work = || {
            if held.was_on_gpu
                && let Some(on_gpu) = &mut held.on_gpu
            {
                held.steps = on_gpu.steps()?;
            }
            self.integrate(held, &arrays, dt, &monitor)
        };
        let (done, raised) = watch(py, &monitor, None, work)?;
        if let Some(raised) = raised {
            return Err(raised);
        }
        done.map_err(|error| raise(py, error))?;
        // What came since signals were last looked at.
        py.check_signals()?;
        let held = &mut *cells;
        py.detach(|| self.scatter(held, &arrays));
        let beyond = held.beyond();
        self.widen(held, beyond);
        cells.was_on_gpu = false;
        Ok(numbers_of(&cells.status))
    }

    /// The handle of the stream on which arrays of a GPU are read and written.
    fn stream(&self, py: Python<'_>) -> PyResult<u64> {
        let mut cells = self.cells()?;
        let held = &mut *cells;
        let work = || self.begin_on_gpu(&mut held.on_gpu, held.status.len())?.stream();
        let (stream, raised) = watch(py, &Monitor::new(), None, work)?;
        raised.map_or_else(|| stream.map_err(|error| raise(py, error)), Err)
    }

    /// The same of arrays on the GPU; one `pressure` is that of all cells where `p` is none.
    #[pyo3(signature = (t, p, pressure, updates_p, y, dt))]
    fn advance_on_gpu(
        &self,
        py: Python<'_>,
        t: Py<GpuArray>,
        p: Option<Py<GpuArray>>,
        pressure: f64,
        updates_p: bool,
        y: Py<GpuArray>,
        dt: f64,
    ) -> PyResult<Array> {
        let mut cells = self.cells()?;
        let n = self.gas.reactor.kinetics().n_species();
        let p = p.as_ref().map(Py::get);
        let arrays = GpuArrays { t: t.get(), p, pressure, updates_p, y: y.get() };
        let margin = cells.gas.reactor.temperature_margin();
        let arrays = arrays.cells(&self.gpus, (cells.status.len(), n), margin);
        let arrays = arrays.map_err(|error| raise(py, error))?;
        let monitor = Monitor::new();
        let held = &mut *cells;
        let work = || {
            let was_on_gpu = held.was_on_gpu;
            let steps = (!was_on_gpu).then(|| held.steps.clone());
            let on_gpu = self.begin_on_gpu(&mut held.on_gpu, held.status.len())?;
            if let Some(steps) = steps {
                on_gpu.set_steps(&steps)?;
            }
            // SAFETY: the arrays are those of `GpuArray`s, which keep their memory; its owners let nobody change it.
            held.first_outside = unsafe { on_gpu.integrate(&arrays, dt, &monitor)? };
            Ok(())
        };
        let (done, raised) = watch(py, &monitor, None, work)?;
        if let Some(raised) = raised {
            return Err(raised);
        }
        done.map_err(|error| raise(py, error))?;
        // What came since signals were last looked at.
        py.check_signals()?;
        let held = &mut *cells;
        // SAFETY: as above.
        let work =
            || unsafe { self.begin_on_gpu(&mut held.on_gpu, held.status.len())?.scatter(&arrays) };
        let (done, raised) = watch(py, &Monitor::new(), None, work)?;
        if let Some(raised) = raised {
            return Err(raised);
        }
        let (status, beyond) = done.map_err(|error| raise(py, error))?;
        self.widen(&mut cells, beyond);
        cells.was_on_gpu = true;
        Ok(numbers_of(&status))
    }

    /// In the last call, steps ended outside the thermodynamic data.
    #[getter]
    fn came_outside(&self) -> PyResult<bool> {
        Ok(self.cells()?.came_outside)
    }

    /// In the last call, the first cell that did not start because of its temperature.
    #[getter]
    fn first_outside(&self) -> PyResult<Option<usize>> {
        Ok(self.cells()?.first_outside)
    }

    /// How far outside the thermodynamic data cells may start \[K\].
    #[getter]
    fn temperature_margin(&self) -> PyResult<f64> {
        Ok(self.cells()?.gas.reactor.temperature_margin())
    }

    /// What the last call cost [cells, 8], named by `counts()`.
    #[getter]
    fn stats(&self, py: Python<'_>) -> PyResult<Array> {
        let mut cells = self.cells()?;
        if cells.was_on_gpu
            && let Some(on_gpu) = &mut cells.on_gpu
        {
            let (stats, raised) = watch(py, &Monitor::new(), None, || on_gpu.stats())?;
            raised.map_or(Ok(()), Err)?;
            cells.stats = stats.map_err(|error| raise(py, error))?;
        }
        Ok(Array::new(cells.stats.clone(), &[cells.stats.len(), Stats::COUNTS]))
    }
}

impl Integrator {
    /// Refuses to wait: who holds the cells may need the interpreter to go on.
    fn cells(&self) -> PyResult<MutexGuard<'_, Cells>> {
        match self.cells.try_lock() {
            Ok(cells) => Ok(cells),
            // What a panic left is overwritten by the next call, but for sizes of steps, which are numbers.
            Err(TryLockError::Poisoned(cells)) => Ok(cells.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let message = "another thread is in `advance`: make an integrator for each thread";
                Err(PyRuntimeError::new_err(message))
            }
        }
    }

    /// The cells on the GPU, as long as the integrator from the first call on.
    fn begin_on_gpu<'a>(
        &self,
        kept: &'a mut Option<OnGpu>,
        cells: usize,
    ) -> Result<&'a mut OnGpu, Error> {
        let &[gpu] = &*self.gpus else {
            let found = format!("{} GPUs", self.gpus.len());
            return Err(Error::input("device", found, "give one GPU, as cuda:0"));
        };
        let on_gpu = match kept.take() {
            Some(on_gpu) => on_gpu,
            None => OnGpu::new(&self.solver, &self.gas, gpu, cells)?,
        };
        Ok(kept.insert(on_gpu))
    }

    fn arrays(
        &self,
        cells: usize,
        t: PyBuffer<f64>,
        (p, updates_p): (PyBuffer<f64>, bool),
        y: PyBuffer<f64>,
    ) -> Result<Arrays, Error> {
        let p = if updates_p { View::write("p", p)? } else { View::read("p", p)? };
        let arrays = Arrays { t: View::write("T", t)?, p, updates_p, y: View::write("Y", y)? };
        let n = self.gas.reactor.kinetics().n_species();
        let shapes =
            [&arrays.t, &arrays.p, &arrays.y].map(|view| (view.systems(), view.components()));
        if shapes != [(cells, 1), (cells, 1), (cells, n)] {
            let remedy = format!("give T and p [{cells}], Y [{cells}, {n}]");
            return Err(Error::input("T, p, Y", format!("{shapes:?}"), remedy));
        }
        Ok(arrays)
    }

    /// Integrates all cells, each to its end or its failure. Nothing is written to the arrays, which `scatter` does.
    fn integrate(
        &self,
        cells: &mut Cells,
        arrays: &Arrays,
        dt: f64,
        monitor: &Monitor,
    ) -> Result<(), Error> {
        self.gather(cells, arrays)?;
        let dim = self.solver.system().dim();
        let inputs =
            Inputs::with_invalid_starts(ArrayRef::system_major(&cells.before, dim)?, (0.0, dt))?
                .with_params(ArrayRef::system_major(&cells.params, 1)?)?
                .with_first_steps(&cells.steps)?;
        let states = ArrayMut::system_major(&mut cells.after, dim)?;
        let outputs = Outputs::new(states, &mut cells.t, &mut cells.status, &mut cells.stats)?
            .with_next_steps(&mut cells.next_steps)?;
        self.solver.solve_into(&inputs, outputs, monitor).map(drop)
    }

    /// Makes states of the numbers of all cells. A cell that is no gas gets NaN, which becomes its status;
    /// NaN of the caller is refused.
    fn gather(&self, cells: &mut Cells, arrays: &Arrays) -> Result<(), Error> {
        let dim = self.solver.system().dim();
        let species = self.gas.reactor.kinetics().n_species();
        let states = cells.before.chunks_mut(PIECE * dim);
        let pieces = states.zip(cells.params.chunks_mut(PIECE)).enumerate();
        let (first_nan, first_outside) =
            (AtomicUsize::new(usize::MAX), AtomicUsize::new(usize::MAX));
        let gas = &cells.gas;
        parallel::each_of(self.threads, pieces, |(piece, (states, params))| {
            let mut numbers = vec![0.0; species + 2];
            let rows = states.chunks_mut(dim).zip(params);
            for (k, (state, param)) in rows.enumerate() {
                let cell = PIECE * piece + k;
                arrays.take(cell, &mut numbers);
                if numbers.iter().any(|number| !number.is_finite()) {
                    first_nan.fetch_min(cell, Ordering::Relaxed);
                }
                match start(gas, &numbers) {
                    Ok((start, [start_param])) => {
                        state.copy_from_slice(&start);
                        *param = start_param;
                    }
                    Err(error) => {
                        if let StateError::Temperature { .. } = error {
                            first_outside.fetch_min(cell, Ordering::Relaxed);
                        }
                        state.fill(f64::NAN);
                        *param = f64::NAN;
                    }
                }
            }
        });
        cells.first_outside = Some(first_outside.into_inner()).filter(|&cell| cell < usize::MAX);
        match first_nan.into_inner() {
            usize::MAX => Ok(()),
            cell => Err(arrays.nan(cell, species)),
        }
    }

    /// Lets cells start as far outside the thermodynamic data as calls brought any \[K\].
    fn widen(&self, cells: &mut Cells, beyond: Option<f64>) {
        cells.came_outside = beyond.is_some();
        let margin = self.temperature_margin + beyond.unwrap_or(0.0);
        if margin > cells.gas.reactor.temperature_margin() {
            let reactor = Reactor::clone(&cells.gas.reactor).with_temperature_margin(margin);
            cells.gas.reactor = Arc::new(reactor);
        }
    }

    /// Puts the new states of the cells that did not fail into the arrays, and keeps their steps.
    fn scatter(&self, cells: &mut Cells, arrays: &Arrays) {
        let dim = self.solver.system().dim();
        let states = cells.after.chunks(PIECE * dim);
        let steps = cells.steps.chunks_mut(PIECE).zip(cells.next_steps.chunks(PIECE));
        let (status, params) = (&cells.status, &cells.params);
        parallel::each_of(self.threads, states.zip(steps).enumerate(), |(piece, work)| {
            let (states, (steps, next_steps)) = work;
            for (k, state) in states.chunks(dim).enumerate() {
                let cell = PIECE * piece + k;
                steps[k] = next_steps[k];
                if !status[cell].is_success() {
                    continue;
                }
                arrays.t.set(cell, 0, state[0]);
                for (i, y) in state[1..dim - 1].iter().enumerate() {
                    arrays.y.set(cell, i, *y);
                }
                if arrays.updates_p
                    && let Some(gas) = self.gas.reactor.gas(state, &params[cell..=cell])
                {
                    arrays.p.set(cell, 0, gas.pressure);
                }
            }
        });
    }
}

/// State and parameter of a cell. Most are gases as they stand; what transport left a little beside one is
/// mended, or refused, as the starts of an ensemble are.
fn start(gas: &Gas, numbers: &[f64]) -> Result<(Vec<f64>, [f64; 1]), StateError> {
    gas.reactor.state(numbers[0], numbers[1], &numbers[2..]).or_else(|_| {
        let mut start = gas.start(numbers)?;
        let param = start.pop().unwrap_or(f64::NAN);
        Ok((start, [param]))
    })
}

/// The numbers of statuses.
fn numbers_of(status: &[Status]) -> Array {
    let numbers: Vec<u8> = status.iter().map(|status| *status as u8).collect();
    Array::new(numbers, &[status.len()])
}

impl Cells {
    fn new(gas: Gas, cells: usize, dim: usize) -> Result<Cells, Error> {
        let refused = || Error::input("cells", cells, "there is no memory for so many");
        let zeros = |len| memory::zeros(len).ok_or_else(refused);
        let states = cells.checked_mul(dim).ok_or_else(refused)?;
        Ok(Cells {
            gas,
            came_outside: false,
            first_outside: None,
            before: zeros(states)?,
            after: zeros(states)?,
            params: zeros(cells)?,
            steps: zeros(cells)?,
            next_steps: zeros(cells)?,
            t: zeros(cells)?,
            status: vec![Status::NotRun; cells],
            stats: vec![Stats::default(); cells],
            on_gpu: None,
            was_on_gpu: false,
        })
    }

    /// How far outside the thermodynamic data the last call left a cell \[K\], if steps of any ended there.
    fn beyond(&self) -> Option<f64> {
        let (low, high) = self.gas.reactor.temperature_bounds();
        let dim = self.before.len() / self.stats.len();
        let cells = self.stats.iter().zip(&self.status).enumerate();
        cells.filter(|(_, (stats, _))| stats.outside > 0).fold(
            None,
            |beyond, (cell, (_, status))| {
                let t = self.after[cell * dim];
                let here = if status.is_success() { (low - t).max(t - high).max(0.0) } else { 0.0 };
                Some(beyond.unwrap_or(0.0).max(here))
            },
        )
    }
}

impl Arrays {
    /// Temperature, pressure and mass fractions of a cell.
    fn take(&self, cell: usize, numbers: &mut [f64]) {
        (numbers[0], numbers[1]) = (self.t.get(cell, 0), self.p.get(cell, 0));
        for (i, y) in numbers[2..].iter_mut().enumerate() {
            *y = self.y.get(cell, i);
        }
    }

    /// Where and what is no number in a cell.
    fn nan(&self, cell: usize, species: usize) -> Error {
        let remedy = AS_THEY_WERE;
        let (t, p) = (self.t.get(cell, 0), self.p.get(cell, 0));
        if !t.is_finite() {
            return Error::input(Argument::new("T").at(cell), t, remedy);
        }
        if !p.is_finite() {
            return Error::input(Argument::new("p").at(cell), p, remedy);
        }
        let found = (0..species).map(|i| self.y.get(cell, i)).find(|y| !y.is_finite());
        let found = found.map_or("a change during the call".to_owned(), |y| y.to_string());
        Error::input("Y", format!("{found} in cell {cell}"), remedy)
    }
}
