//! Results that stay on a GPU.

use crate::array::{Array, Element};
use crate::failure::raise;
use crate::gpu_array::GpuArray;
use crate::ours::Ours;
use crate::watch::watch;
use odeum_core::lock;
use odeum_ode::{Compiled, Error, Monitor};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};

/// The states and saved states of a solution, in memory of the GPU that integrated.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct SolutionOnGpu {
    held: Arc<Ours<Mutex<Held>>>,
    /// [K, n, M]
    shape: [usize; 3],
    /// Of a number.
    bits: u8,
    gpu: usize,
    states: u64,
    saved: u64,
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
}

impl<T: Compiled + Element> OnGpu for odeum_ode::gpu::SolutionOnGpu<T> {
    fn wait_for_all(&self) -> Result<(), Error> {
        odeum_ode::gpu::SolutionOnGpu::wait_for_all(self)
    }

    fn states(&self, shape: &[usize]) -> Result<Array, Error> {
        Ok(Array::new(odeum_ode::gpu::SolutionOnGpu::states(self)?, shape))
    }

    fn saved(&self, shape: &[usize]) -> Result<Array, Error> {
        Ok(Array::new(odeum_ode::gpu::SolutionOnGpu::saved(self)?, shape))
    }
}

impl SolutionOnGpu {
    /// One that a thread of ours made, with so many save times.
    pub(crate) fn new<T: Compiled + Element>(
        solution: odeum_ode::gpu::SolutionOnGpu<T>,
        times: usize,
    ) -> SolutionOnGpu {
        SolutionOnGpu {
            shape: [times, solution.dim(), solution.len()],
            bits: 8 * <T as Element>::SIZE as u8,
            gpu: solution.gpu(),
            states: solution.states_address(),
            saved: solution.saved_address(),
            held: Arc::new(Ours::new(Mutex::new(Held(Box::new(solution))))),
        }
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

    /// A copy that waits for whoever writes there.
    fn copy(
        &self,
        py: Python<'_>,
        of: impl FnOnce(&dyn OnGpu) -> Result<Array, Error> + Send,
    ) -> PyResult<Array> {
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
        self.array(self.states, &self.shape[1..])
    }

    /// Saved states [K, n, M], where they lie.
    #[getter]
    fn saved(&self) -> GpuArray {
        self.array(self.saved, &self.shape)
    }

    /// A copy of the states [n, M].
    fn copy_states(&self, py: Python<'_>) -> PyResult<Array> {
        self.copy(py, |held| held.states(&self.shape[1..]))
    }

    /// A copy of the saved states [K, n, M].
    fn copy_saved(&self, py: Python<'_>) -> PyResult<Array> {
        self.copy(py, |held| held.saved(&self.shape))
    }
}
