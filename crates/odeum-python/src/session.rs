//! Ensembles that stay on their device over many calls.

use crate::array::{Array, Element};
use crate::buffer::numbers;
use crate::failure::raise;
use crate::gpu_array::GpuArray;
use crate::ours::Ours;
use crate::watch::{at_once, watch};
use odeum_ode::{Compiled, Error, Monitor, Stats, Status};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// An ensemble in the memory of its device.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct Session {
    held: Arc<Ours<Mutex<Held>>>,
    /// States of a system, and systems.
    n: usize,
    systems: usize,
    /// Of a number.
    bits: u8,
    /// Number of the GPU and the address of the states there.
    place: Option<(usize, u64)>,
    /// Others may work on the states.
    is_lent: AtomicBool,
}

/// A session of either precision, on whose memory others may work until it goes.
struct Held(Box<dyn Resident>);

impl Drop for Held {
    fn drop(&mut self) {
        // What cannot be waited for cannot be used either.
        let _ = self.0.wait_for_all();
    }
}

/// A session, whatever its precision.
trait Resident: Send {
    fn advance(&mut self, span: (f64, f64), monitor: &Monitor) -> Result<bool, Error>;
    fn wait_for_all(&self) -> Result<(), Error>;
    /// [n, M]
    fn states(&mut self, shape: &[usize; 2]) -> Result<Array, Error>;
    fn set_states(&mut self, states: &[f64]) -> Result<(), Error>;
    fn statuses(&mut self) -> Result<Vec<Status>, Error>;
    fn stats(&mut self) -> Result<Vec<Stats>, Error>;
    fn came_outside(&mut self) -> Result<bool, Error>;
}

impl<T: Compiled + Element> Resident for odeum_ode::Session<T> {
    fn advance(&mut self, span: (f64, f64), monitor: &Monitor) -> Result<bool, Error> {
        self.advance_monitored(span, monitor)
    }

    fn wait_for_all(&self) -> Result<(), Error> {
        odeum_ode::Session::wait_for_all(self)
    }

    fn states(&mut self, shape: &[usize; 2]) -> Result<Array, Error> {
        Ok(Array::new(odeum_ode::Session::states(self)?, shape))
    }

    fn set_states(&mut self, states: &[f64]) -> Result<(), Error> {
        let states: Vec<T> = states.iter().map(|value| T::from_f64(*value)).collect();
        odeum_ode::Session::set_states(self, &states)
    }

    fn statuses(&mut self) -> Result<Vec<Status>, Error> {
        odeum_ode::Session::statuses(self)
    }

    fn stats(&mut self) -> Result<Vec<Stats>, Error> {
        odeum_ode::Session::stats(self)
    }

    fn came_outside(&mut self) -> Result<bool, Error> {
        odeum_ode::Session::came_outside(self)
    }
}

impl Session {
    /// One that was begun by a thread of ours, of so many states and systems.
    pub(crate) fn new<T: Compiled + Element>(
        session: odeum_ode::Session<T>,
        [n, systems]: [usize; 2],
    ) -> Session {
        let (place, bits) = (session.place_on_gpu(), 8 * <T as Element>::SIZE as u8);
        let held = Arc::new(Ours::new(Mutex::new(Held(Box::new(session)))));
        Session { held, n, systems, bits, place, is_lent: AtomicBool::new(false) }
    }

    /// What a thread of ours does with it, which hears Ctrl-C, once whoever borrowed the states has done what it began.
    fn watched<R: Send>(
        &self,
        py: Python<'_>,
        monitor: &Monitor,
        work: impl FnOnce(&mut dyn Resident) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let mut held = self.held()?;
        let session = &mut *held.0;
        let is_lent = self.is_lent.load(Ordering::Relaxed);
        let work = || {
            if is_lent {
                session.wait_for_all()?;
            }
            work(session)
        };
        let (done, raised) = watch(py, monitor, None, work)?;
        raised.map_or_else(|| done.map_err(|error| raise(py, error)), Err)
    }

    /// What copies numbers of all systems; on a GPU, whose work may have to be waited for, as `watched`.
    fn copied<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Resident) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        if self.place.is_some() {
            return self.watched(py, &Monitor::new(), work);
        }
        let mut held = self.held()?;
        let session = &mut *held.0;
        at_once(py, || work(session))?.map_err(|error| raise(py, error))
    }

    /// Refuses to wait: who holds it may need the interpreter to go on.
    fn held(&self) -> PyResult<MutexGuard<'_, Held>> {
        match self.held.try_lock() {
            Ok(held) => Ok(held),
            Err(TryLockError::Poisoned(held)) => Ok(held.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let message = "another thread uses the session: make one for each thread";
                Err(PyRuntimeError::new_err(message))
            }
        }
    }
}

#[pymethods]
impl Session {
    /// Integrates all systems over a span; statuses \[M\], and where `looks_outside` whether steps ended outside the data
    /// of a mechanism; on a GPU, the last ones.
    fn advance(
        &self,
        py: Python<'_>,
        span: (f64, f64),
        looks_outside: bool,
    ) -> PyResult<(Array, bool)> {
        let monitor = Monitor::new();
        let (status, came_outside) = self.watched(py, &monitor, |session| {
            session.advance(span, &monitor)?;
            Ok((session.statuses()?, looks_outside && session.came_outside()?))
        })?;
        let numbers: Vec<u8> = status.into_iter().map(|status| status as u8).collect();
        Ok((Array::new(numbers, &[self.systems]), came_outside))
    }

    /// A copy of the states [n, M].
    fn states(&self, py: Python<'_>) -> PyResult<Array> {
        let shape = [self.n, self.systems];
        self.copied(py, |session| session.states(&shape))
    }

    /// Other states [n, M], in C order.
    fn set_states(&self, py: Python<'_>, states: PyBuffer<f64>) -> PyResult<()> {
        let states = numbers(py, &states)?;
        self.copied(py, |session| session.set_states(&states))
    }

    /// What the last advance cost [M, 8], named by `counts()`.
    #[getter]
    fn stats(&self, py: Python<'_>) -> PyResult<Array> {
        let stats = self.copied(py, |session| session.stats())?;
        Ok(Array::new(stats, &[self.systems, Stats::COUNTS]))
    }

    /// The states [n, M] where they lie on the GPU; `None` of a session on the CPU.
    #[getter]
    fn states_on_gpu(&self) -> Option<GpuArray> {
        let (gpu, address) = self.place?;
        self.is_lent.store(true, Ordering::Relaxed);
        let (shape, strides) = (vec![self.n, self.systems], vec![self.systems as isize, 1]);
        let (owner, bits) = (self.held.clone(), self.bits);
        Some(GpuArray { owner, address, shape, strides, bits, gpu, is_written: true })
    }
}
