//! Names of variables, states and parameters in a case file.

use super::reader::SourceSpan;
use crate::gas::PRESSURE;
use crate::model::Model;
use crate::suggest;
use odeum_io::Finding;

/// The variable of this name, or what is wrong with it.
pub(super) fn variable(
    model: &Model,
    name: &str,
    source_span: &SourceSpan,
) -> Result<usize, Finding> {
    model.variable(name).ok_or_else(|| {
        let kind = if model.is_direct() { "state or parameter" } else { "variable" };
        source_span.error(format!("the system has no {kind} `{name}`")).help(suggest::remedy(
            name,
            "names",
            model.names(),
        ))
    })
}

/// The number of the state of this name, or what is wrong with it.
pub(super) fn state(model: &Model, name: &str, source_span: &SourceSpan) -> Result<usize, Finding> {
    let known = model.state_names.iter().position(|n| n == name);
    known.ok_or_else(|| {
        let states = model.state_names.iter().map(String::as_str);
        let remedy = suggest::remedy(name, "states", states);
        source_span.error(format!("the system has no state `{name}`")).help(match name {
            PRESSURE if !model.is_direct() => {
                format!("the pressure is no state of a reactor; {remedy}")
            }
            _ => remedy,
        })
    })
}

/// The number of the parameter of this name, or what is wrong with it.
pub(super) fn param(model: &Model, name: &str, source_span: &SourceSpan) -> Result<usize, Finding> {
    let known = model.param_names.iter().position(|n| n == name);
    known.ok_or_else(|| {
        source_span.error(format!("the system has no parameter `{name}`")).help(suggest::remedy(
            name,
            "parameters",
            model.param_names.iter().map(String::as_str),
        ))
    })
}
