//! Numbers of Python's arrays.

use odeum_case::CellArray;
use odeum_io::cells::Numbers;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use std::sync::Arc;

/// The numbers of a one-dimensional array of doubles, whatever its strides.
pub(crate) fn numbers(py: Python<'_>, array: &PyBuffer<f64>) -> PyResult<Vec<f64>> {
    array.to_vec(py)
}

/// An array with a number for each cell, in C order, as wide as it is.
pub(crate) fn cells(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<CellArray> {
    let (shape, numbers) = match PyBuffer::<f32>::get(array) {
        Ok(single) => (single.shape().to_vec(), Numbers::Single(single.to_vec(py)?)),
        Err(_) => {
            let double = PyBuffer::<f64>::get(array)?;
            (double.shape().to_vec(), Numbers::Double(double.to_vec(py)?))
        }
    };
    Ok(CellArray { shape, numbers: Arc::new(numbers) })
}
