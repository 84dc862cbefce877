//! `[system]`: a built-in problem by name, equations as text, or a mechanism.

use super::inputs::Beside;
use super::reader::{Field, Section};
use super::source_spans::SourceSpans;
use super::text;
use super::{gas, names};
use crate::model::Model;
use crate::suggest;
use odeum_fields::problems::Builtin;
use odeum_io::finding::Findings;
use odeum_ode::problems;

/// Reads the section.
pub(super) fn read(
    section: &Section<'_>,
    beside: &Beside<'_>,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> Option<Model> {
    let (problem, equations) = (section.get("problem"), section.get("equations"));
    match (problem, equations, section.get("mechanism")) {
        (Some(problem), None, None) => built_in(section, &problem, findings),
        (None, Some(equations), None) => text::read(section, &equations, source_spans, findings),
        (None, None, Some(file)) => gas::read(section, &file, beside, source_spans, findings),
        (None, None, None) if section.misspells(&["problem", "equations", "mechanism"]) => None,
        (None, None, None) => {
            findings.push(section.here("which system?").help(
                "give problem = \"lorenz\" (see `odeum problems`), or states, parameters and \
                 equations, or mechanism = \"file.yaml\"",
            ));
            None
        }
        (_, equations, mechanism) => {
            let message = "more than one of `problem`, `equations` and `mechanism`";
            mechanism.or(equations)?.refuse(message, "give one of them")
        }
    }
}

fn built_in(section: &Section<'_>, field: &Field<'_>, findings: &Findings) -> Option<Model> {
    let name = field.text();
    let size = section.get("size").map(|field| (field.whole(1, 1_000_000), field));
    let states = section.get("states");
    let params = section.get("parameters");
    section.finish();
    let name = name?;
    if Builtin::named(name).is_some() {
        let message = format!("`{name}` is a problem of fields, and there is no grid");
        return field.refuse(message, "add [grid] with shape = [64, 64, 64]");
    }
    let Some(mut problem) = problems::find(name) else {
        let all = problems::all();
        let help = suggest::remedy(name, "built-in problems", all.iter().map(|p| p.name));
        return field.refuse(format!("there is no built-in problem `{name}`"), &help);
    };
    if let Some((size, field)) = size {
        match problem.resized(size? as usize) {
            Ok(resized) => problem = resized,
            Err(odeum_ode::Error::Input { remedy, .. }) => {
                return field.refuse(remedy, "leave `size` out, or give one that fits");
            }
            Err(other) => return field.refuse(other.to_string(), "leave `size` out"),
        }
    }
    let mut model = Model::built_in(&problem);
    let n = model.dim();
    let mut good = true;
    if let Some(states) = states {
        for (name, source_span, value) in states.section()?.entries() {
            match (findings.ok(names::state(&model, &name, &source_span)), value.number()) {
                (Some(i), Some(value)) => model.variables[i].value = value,
                _ => good = false,
            }
        }
    }
    if let Some(params) = params {
        for (name, source_span, value) in params.section()?.entries() {
            match (findings.ok(names::param(&model, &name, &source_span)), value.number()) {
                (Some(j), Some(value)) => model.variables[n + j].value = value,
                _ => good = false,
            }
        }
    }
    good.then_some(model)
}
