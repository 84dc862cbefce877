//! What is wrong, as exceptions and warnings of Python.

use odeum_io::finding::Severity;
use odeum_io::{Finding, Findings};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Severity, sentence, place, field, found and remedy of a finding.
type FindingTuple = (&'static str, String, String, String, String, String);

fn tuple_of(finding: &Finding) -> FindingTuple {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = match (&finding.span, &finding.file) {
        (Some((source, span)), _) => {
            let place = source.place(span.start);
            format!("{}:{}:{}", source.name(), place.line, place.column)
        }
        (None, Some(file)) => file.clone(),
        (None, None) => String::new(),
    };
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    let (field, found, help) = (word(&finding.field), word(&finding.found), word(&finding.help));
    (severity, finding.message.clone(), place, field, found, help)
}

/// Raises the errors among the findings as one exception, and warns of the rest.
pub(crate) fn raise_and_warn(py: Python<'_>, findings: &Findings) -> PyResult<()> {
    let all = findings.take();
    if all.is_empty() {
        return Ok(());
    }
    let tuples: Vec<FindingTuple> = all.iter().map(tuple_of).collect();
    py.import("odeum._findings")?.call_method1("raise_and_warn", (tuples,)).map(|_| ())
}

/// An exception for what the library refused or could not do.
pub(crate) fn raise(py: Python<'_>, error: odeum_core::Error) -> PyErr {
    use odeum_core::Error;
    let (class, arguments) = match error {
        Error::Input { field, found, remedy } => {
            ("InputError", vec![field.to_string(), found, remedy])
        }
        error @ (Error::Device { .. } | Error::Cuda { .. }) => {
            ("DeviceError", vec![error.to_string()])
        }
        Error::Compile { .. } => ("CompileError", vec![error.to_string()]),
        other => ("OdeumError", vec![other.to_string()]),
    };
    match PyTuple::new(py, arguments) {
        Ok(arguments) => exception(py, class, arguments),
        Err(error) => error,
    }
}

/// An exception of `odeum.errors`.
pub(crate) fn exception<'py>(
    py: Python<'py>,
    class: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyErr {
    let made = || py.import("odeum.errors")?.getattr(class)?.call1(arguments);
    made().map_or_else(|error| error, PyErr::from_value)
}
