//! Solutions as arrays.

use crate::array::{Array, Element};
use odeum_core::recycled::Recycled;
use odeum_ode::{Scalar, Stats, Status};
use pyo3::prelude::*;

/// What the integration of M systems of n equations gave.
#[pyclass(frozen, get_all, module = "odeum._odeum")]
pub(crate) struct Solution {
    /// Time each system reached \[M\].
    t: Py<Array>,
    /// State at that time [1, n, M]; where inputs are kept, after the state at the start [2, n, M].
    states: Py<Array>,
    /// Parameters [m, M], or [m, 1] of all systems, where inputs are kept.
    params: Option<Py<Array>>,
    /// Saved states [K, n, M], NaN where a system did not come.
    saved: Py<Array>,
    /// Save times that each system reached \[M\]; empty without save times.
    n_saved: Py<Array>,
    /// Times of the saved states \[K\].
    save_times: Vec<f64>,
    /// Numbers of the statuses \[M\].
    status: Py<Array>,
    /// Counts [M, 8], named by `counts()`.
    stats: Py<Array>,
    /// Remarks on the run.
    warnings: Vec<String>,
    /// Fraction of the lanes' work that advanced a system.
    busy_lanes: Option<f64>,
}

/// The arrays of a solution: see there.
pub(crate) struct Arrays<T: Send + 'static> {
    pub(crate) dim: usize,
    pub(crate) t: Recycled<f64>,
    pub(crate) states: Recycled<T>,
    /// With the number of parameters m.
    pub(crate) params: Option<(Recycled<T>, usize)>,
    pub(crate) save_times: Vec<f64>,
    pub(crate) saved: Recycled<T>,
    pub(crate) n_saved: Recycled<u32>,
    pub(crate) status: Vec<Status>,
    pub(crate) stats: Recycled<Stats>,
    pub(crate) warnings: Vec<String>,
    pub(crate) busy_lanes: Option<f64>,
}

impl<T: Scalar> From<odeum_ode::Solution<T>> for Arrays<T> {
    fn from(solution: odeum_ode::Solution<T>) -> Arrays<T> {
        Arrays {
            dim: solution.dim,
            t: solution.t.into(),
            states: solution.states.into(),
            params: None,
            save_times: solution.save_times,
            saved: solution.saved.into(),
            n_saved: solution.n_saved.into(),
            status: solution.status,
            stats: solution.stats.into(),
            warnings: solution.warnings,
            busy_lanes: solution.busy_lanes,
        }
    }
}

impl Solution {
    pub(crate) fn new<T: Scalar + Element>(
        py: Python<'_>,
        arrays: Arrays<T>,
    ) -> PyResult<Solution> {
        let (n, systems, times) = (arrays.dim, arrays.status.len(), arrays.save_times.len());
        let (n_saved, kept) = (arrays.n_saved.len(), arrays.states.len() / (n * systems).max(1));
        let status: Vec<u8> = arrays.status.into_iter().map(|status| status as u8).collect();
        let params = arrays.params.map(|(params, m)| {
            let sets = params.len().checked_div(m).unwrap_or(1);
            Py::new(py, Array::new(params, &[m, sets]))
        });
        Ok(Solution {
            t: Py::new(py, Array::new(arrays.t, &[systems]))?,
            states: Py::new(py, Array::new(arrays.states, &[kept, n, systems]))?,
            params: params.transpose()?,
            saved: Py::new(py, Array::new(arrays.saved, &[times, n, systems]))?,
            n_saved: Py::new(py, Array::new(arrays.n_saved, &[n_saved]))?,
            save_times: arrays.save_times,
            status: Py::new(py, Array::new(status, &[systems]))?,
            stats: Py::new(py, Array::new(arrays.stats, &[systems, Stats::COUNTS]))?,
            warnings: arrays.warnings,
            busy_lanes: arrays.busy_lanes,
        })
    }
}
