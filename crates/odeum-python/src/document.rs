//! Case files as Python has them: their keys, and what holds where they do not say it.

use crate::failure::raise_and_warn;
use odeum_case::{RunSpec, TimeSpec};
use odeum_io::Findings;
use odeum_ode::{FirstStep, Norm, Options, Tolerance};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use toml::de::{DeTable, DeValue};

/// What a case that the package wrote is called: its lines mean nothing to a reader. No file is likely to have the name.
pub(crate) const OWN_CASE: &str = "<case>";

/// The text of a case file, of `content` where its bytes were read, and its keys. A text that is no TOML has none, which
/// is told by whoever reads the case.
#[pyfunction]
#[pyo3(signature = (path, content = None))]
pub(crate) fn load_case_text<'py>(
    py: Python<'py>,
    path: PathBuf,
    content: Option<&[u8]>,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let findings = Findings::default();
    let source = odeum_case::source(&path, content.map(<[u8]>::to_vec), &findings);
    raise_and_warn(py, &findings)?;
    let text = source.map_or(String::new(), |source| source.text().to_owned());
    let keys = match DeTable::parse(&text) {
        Ok(document) => table(py, document.get_ref())?,
        Err(_) => PyDict::new(py),
    };
    Ok((text, keys))
}

fn table<'py>(py: Python<'py>, table: &DeTable<'_>) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    for (key, value) in table {
        made.set_item(&**key.get_ref(), object(py, value.get_ref())?)?;
    }
    Ok(made)
}

fn object<'py>(py: Python<'py>, value: &DeValue<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value {
        DeValue::String(text) => (&**text).into_bound_py_any(py),
        DeValue::Integer(integer) => {
            // As the engine takes them; a larger one it refuses.
            match i128::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(integer) => integer.into_bound_py_any(py),
                Err(_) => number(integer.as_str()).into_bound_py_any(py),
            }
        }
        DeValue::Float(float) => number(float.as_str()).into_bound_py_any(py),
        DeValue::Boolean(flag) => flag.into_bound_py_any(py),
        // No key of a case takes one.
        DeValue::Datetime(time) => time.to_string().into_bound_py_any(py),
        DeValue::Array(items) => {
            let items: PyResult<Vec<_>> =
                items.iter().map(|item| object(py, item.get_ref())).collect();
            Ok(PyList::new(py, items?)?.into_any())
        }
        DeValue::Table(inner) => Ok(table(py, inner)?.into_any()),
    }
}

fn number(digits: &str) -> f64 {
    digits.parse().unwrap_or(f64::NAN)
}

/// Keys of a case that say how systems are integrated, with what holds where it does not say them; without those that are
/// nothing then.
#[pyfunction]
pub(crate) fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let (options, time) = (Options::new(Tolerance::new(1e-6, 1e-9)), TimeSpec::new(None));
    let first_step = match options.first_step {
        FirstStep::Automatic => "automatic".into_bound_py_any(py)?,
        FirstStep::Size(size) | FirstStep::Fraction(size) => size.into_bound_py_any(py)?,
    };
    let norm = match options.tolerance.norm {
        Norm::WeightedRms => "rms",
        Norm::StateAndRate => "state-and-rate",
    };
    let made = PyDict::new(py);
    made.set_item("method.first_step", first_step)?;
    made.set_item("method.growth_limit", options.growth_limit)?;
    made.set_item("method.max_evaluations", options.max_evaluations)?;
    made.set_item("method.max_steps", options.max_steps)?;
    made.set_item("tolerance.norm", norm)?;
    made.set_item("time.segments", time.segments)?;
    made.set_item("time.warm_start", time.warm_start)?;
    made.set_item("run.precision", RunSpec::default().precision.name())?;
    Ok(made)
}
