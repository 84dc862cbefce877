//! `[system]`: a built-in problem by name, or equations as text.

use super::names;
use super::reader::{Field, Section};
use super::text;
use crate::finding::Findings;
use crate::model::Model;
use crate::suggest;
use odeum::problems;

/// Reads the section.
pub(crate) fn read(section: &Section<'_>, findings: &Findings) -> Option<Model> {
    let problem = section.get("problem");
    let equations = section.get("equations");
    match (problem, equations) {
        (Some(problem), None) => built_in(section, &problem, findings),
        (None, Some(equations)) => text::read(section, &equations, findings),
        (Some(problem), Some(_)) => {
            problem.refuse("`problem` and `equations` together", "give one of the two")
        }
        (None, None) => {
            findings.push(section.here("which system?").help(
                "give problem = \"lorenz\" (see `odeum problems`), or states, parameters and \
                 equations",
            ));
            None
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
    let Some(mut problem) = problems::find(name) else {
        let all = problems::all();
        let help = suggest::remedy(name, "built-in problems", all.iter().map(|p| p.name));
        return field.refuse(format!("there is no built-in problem `{name}`"), &help);
    };
    if let Some((size, field)) = size {
        match problem.resized(size? as usize) {
            Ok(resized) => problem = resized,
            Err(odeum::Error::Input { remedy, .. }) => {
                return field.refuse(remedy, "leave `size` out, or give one that fits");
            }
            Err(other) => return field.refuse(other.to_string(), "leave `size` out"),
        }
    }
    let mut model = Model::built_in(&problem);
    let mut good = true;
    if let Some(states) = states {
        for (name, spot, value) in states.section()?.entries() {
            match (findings.ok(names::state(&model, &name, &spot)), value.number()) {
                (Some(i), Some(value)) => model.states[i] = value,
                _ => good = false,
            }
        }
    }
    if let Some(params) = params {
        for (name, spot, value) in params.section()?.entries() {
            match (findings.ok(names::param(&model, &name, &spot)), value.number()) {
                (Some(j), Some(value)) => model.params[j] = value,
                _ => good = false,
            }
        }
    }
    good.then_some(model)
}
