//! Results that stay on a GPU.

use crate::array::{Array, Element};
use crate::failure::raise;
use crate::gpu_array::GpuArray;
use crate::ours::Ours;
use crate::watch::watch;
use odeum_core::lock;
use odeum_ode::gpu;
use odeum_ode::{Compiled, Error, Monitor, Stats, Status};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};

/// What the integration of M systems of n equations gave, in memory of the GPU that integrated: it comes to the CPU when it
/// is asked for.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct SolutionOnGpu {
    held: Arc<Ours<Mutex<Held>>>,
    /// [K, n, M]
    shape: [usize; 3],
    /// Of a number.
    bits: u8,
    gpu: usize,
    /// Where the states and the saved states begin.
    addresses: [u64; 2],
    /// Times of the saved states \[K\].
    #[pyo3(get)]
    save_times: Vec<f64>,
    /// Numbers of the statuses \[M\].
    #[pyo3(get)]
    status: Py<Array>,
    /// Fraction of the lanes' work that advanced a system.
    #[pyo3(get)]
    busy_lanes: Option<f64>,
}

/// A solution of either precision, whose memory others may work on until it goes.
struct Held(Box<dyn OnGpu>);

impl Drop for Held {
    fn drop(&mut self) {
        // What cannot be waited for cannot be used either.
        let _ = self.0.wait_for_all();
    }
}

/// A solution, whatever its precision.
trait OnGpu: Send {
    fn wait_for_all(&self) -> Result<(), Error>;
    fn states(&self, shape: &[usize]) -> Result<Array, Error>;
    fn saved(&self, shape: &[usize]) -> Result<Array, Error>;
    fn times(&self) -> Result<Vec<f64>, Error>;
    fn n_saved(&self) -> Result<Vec<u32>, Error>;
    fn stats(&self) -> Result<Vec<Stats>, Error>;
}

impl<T: Compiled + Element> OnGpu for gpu::SolutionOnGpu<T> {
    fn wait_for_all(&self) -> Result<(), Error> {
        gpu::SolutionOnGpu::wait_for_all(self)
    }

    fn states(&self, shape: &[usize]) -> Result<Array, Error> {
        Ok(Array::new(gpu::SolutionOnGpu::states(self)?, shape))
    }

    fn saved(&self, shape: &[usize]) -> Result<Array, Error> {
        Ok(Array::new(gpu::SolutionOnGpu::saved(self)?, shape))
    }

    fn times(&self) -> Result<Vec<f64>, Error> {
        gpu::SolutionOnGpu::times(self)
    }

    fn n_saved(&self) -> Result<Vec<u32>, Error> {
        gpu::SolutionOnGpu::n_saved(self)
    }

    fn stats(&self) -> Result<Vec<Stats>, Error> {
        gpu::SolutionOnGpu::stats(self)
    }
}

impl SolutionOnGpu {
    /// One that a thread of ours made and asked for its statuses.
    pub(crate) fn new<T: Compiled + Element>(
        py: Python<'_>,
        (solution, status): (gpu::SolutionOnGpu<T>, Vec<Status>),
        busy_lanes: Option<f64>,
    ) -> PyResult<SolutionOnGpu> {
        let systems = solution.len();
        let numbers: Vec<u8> = status.into_iter().map(|status| status as u8).collect();
        let save_times = solution.save_times().to_vec();
        Ok(SolutionOnGpu {
            shape: [save_times.len(), solution.dim(), systems],
            bits: 8 * <T as Element>::SIZE as u8,
            gpu: solution.gpu(),
            addresses: [solution.states_address(), solution.saved_address()],
            save_times,
            status: Py::new(py, Array::new(numbers, &[systems]))?,
            busy_lanes,
            held: Arc::new(Ours::new(Mutex::new(Held(Box::new(solution))))),
        })
    }

    /// Numbers of it in C order.
    fn array(&self, address: u64, shape: &[usize]) -> GpuArray {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis] as isize;
        }
        GpuArray {
            owner: self.held.clone(),
            address,
            shape: shape.to_vec(),
            strides,
            bits: self.bits,
            gpu: self.gpu,
            is_written: true,
        }
    }

    /// A copy of what a thread of ours gets, once whoever works there has done what it began.
    fn copy<R: Send>(
        &self,
        py: Python<'_>,
        of: impl FnOnce(&dyn OnGpu) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let work = || {
            let held = lock(&self.held);
            held.0.wait_for_all()?;
            of(&*held.0)
        };
        let (copy, raised) = watch(py, &Monitor::new(), None, work)?;
        raised.map_or_else(|| copy.map_err(|error| raise(py, error)), Err)
    }
}

#[pymethods]
impl SolutionOnGpu {
    /// States at the times reached [n, M], where they lie.
    #[getter]
    fn states(&self) -> GpuArray {
        self.array(self.addresses[0], &self.shape[1..])
    }

    /// Saved states [K, n, M], where they lie.
    #[getter]
    fn saved(&self) -> GpuArray {
        self.array(self.addresses[1], &self.shape)
    }

    /// A copy of the states [n, M].
    fn copy_states(&self, py: Python<'_>) -> PyResult<Array> {
        self.copy(py, |held| held.states(&self.shape[1..]))
    }

    /// A copy of the saved states [K, n, M].
    fn copy_saved(&self, py: Python<'_>) -> PyResult<Array> {
        self.copy(py, |held| held.saved(&self.shape))
    }

    /// A copy of the times reached \[M\].
    fn copy_t(&self, py: Python<'_>) -> PyResult<Array> {
        Ok(Array::new(self.copy(py, |held| held.times())?, &self.shape[2..]))
    }

    /// How many of the save times each system reached \[M\]; empty without any.
    fn copy_n_saved(&self, py: Python<'_>) -> PyResult<Array> {
        let n_saved = self.copy(py, |held| held.n_saved())?;
        let len = n_saved.len();
        Ok(Array::new(n_saved, &[len]))
    }

    /// What each system cost [M, 8], named by `counts()`.
    fn copy_stats(&self, py: Python<'_>) -> PyResult<Array> {
        Ok(Array::new(self.copy(py, |held| held.stats())?, &[self.shape[2], Stats::COUNTS]))
    }
}
