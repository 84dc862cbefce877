//! Solutions as arrays.

use crate::array::{Array, Element};
use odeum_ode::Scalar;
use pyo3::prelude::*;

/// What the integration of M systems of n equations gave.
#[pyclass(frozen, get_all, module = "odeum._odeum")]
pub(crate) struct Solution {
    /// Time each system reached \[M\].
    t: Py<Array>,
    /// State at that time [n, M].
    states: Py<Array>,
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

impl Solution {
    pub(crate) fn new<T: Scalar + Element>(
        py: Python<'_>,
        solution: odeum_ode::Solution<T>,
    ) -> PyResult<Solution> {
        let (n, systems, times) = (solution.dim, solution.len(), solution.save_times.len());
        let counts = odeum_ode::Stats::COUNTS;
        let n_saved = solution.n_saved.len();
        let status: Vec<u8> = solution.status.into_iter().map(|status| status as u8).collect();
        let stats: Vec<_> = solution.stats.into_iter().map(odeum_ode::Stats::to_array).collect();
        Ok(Solution {
            t: Py::new(py, Array::new(solution.t, &[systems]))?,
            states: Py::new(py, Array::new(solution.states, &[n, systems]))?,
            saved: Py::new(py, Array::new(solution.saved, &[times, n, systems]))?,
            n_saved: Py::new(py, Array::new(solution.n_saved, &[n_saved]))?,
            save_times: solution.save_times,
            status: Py::new(py, Array::new(status, &[systems]))?,
            stats: Py::new(py, Array::new(stats, &[systems, counts]))?,
            warnings: solution.warnings,
            busy_lanes: solution.busy_lanes,
        })
    }
}
