//! Numbers of Python's arrays.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

/// The numbers of a one-dimensional array of doubles, whatever its strides.
pub(crate) fn numbers(py: Python<'_>, array: &PyBuffer<f64>) -> PyResult<Vec<f64>> {
    array.to_vec(py)
}
