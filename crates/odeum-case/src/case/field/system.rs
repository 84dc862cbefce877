//! `[system]` of a field: a built-in problem, or equations as text.

use crate::case::reader::{Field, Section};
use crate::case::text::{self, Entry};
use crate::suggest;
use odeum_core::text::{Diagnostic, Part, names};
use odeum_fields::problems::Builtin;
use odeum_fields::{Model, ModelError, ModelText};
use odeum_io::{Finding, Findings};
use std::collections::HashSet;

/// Equations, and where they come from.
pub(super) struct FieldSystem {
    pub(super) model: Model,
    pub(super) builtin: Option<Builtin>,
    pub(super) title: String,
    pub(super) lines: Vec<String>,
}

/// Sections in which expressions name parameters too.
const EXPRESSIVE: [&str; 5] = ["grid", "boundary", "velocity", "sources", "initial"];

/// Reads the section of a case.
pub(super) fn read(
    section: &Section<'_>,
    root: &Section<'_>,
    findings: &Findings,
) -> Option<FieldSystem> {
    match (section.get("problem"), section.get("equations")) {
        (Some(problem), None) => built_in(section, &problem),
        (None, Some(equations)) => written(section, root, &equations, findings),
        (None, None) if section.misspells(&["problem", "equations"]) => None,
        (None, None) => {
            findings.push(section.here("which system?").help(
                "give problem = \"turing\" (see `odeum problems`), or species, parameters and \
                 equations",
            ));
            None
        }
        (Some(_), Some(_)) => {
            let message = "both `problem` and `equations`";
            findings.push(section.here(message).help("give one of them"));
            None
        }
    }
}

fn built_in(section: &Section<'_>, field: &Field<'_>) -> Option<FieldSystem> {
    let params = section.get("parameters");
    section.finish();
    let name = field.text()?;
    let names = Builtin::ALL.map(Builtin::name);
    let Some(builtin) = Builtin::named(name) else {
        let help = suggest::remedy(name, "built-in problems of fields", names);
        return field.refuse(format!("there is no built-in problem `{name}` of fields"), &help);
    };
    let mut model = builtin.model().ok()?;
    let mut good = true;
    if let Some(params) = params {
        for (name, _, value) in params.section()?.entries() {
            let Some(number) = value.number() else {
                good = false;
                continue;
            };
            let names: Vec<String> = model.params().iter().map(|(name, _)| name.clone()).collect();
            match model.clone().with_param(&name, number) {
                Ok(changed) => model = changed,
                Err(_) => {
                    let names = names.iter().map(String::as_str);
                    let help = suggest::remedy(&name, "parameters", names);
                    good &= value
                        .refuse::<()>(format!("there is no parameter `{name}`"), &help)
                        .is_some();
                }
            }
        }
    }
    let lines = model.params().iter().map(|(name, value)| format!("{name} = {value}"));
    let lines = vec![lines.collect::<Vec<_>>().join(", ")];
    let title = format!("{} (built in)", builtin.name());
    good.then_some(FieldSystem { model, builtin: Some(builtin), title, lines })
}

fn written(
    section: &Section<'_>,
    root: &Section<'_>,
    equations: &Field<'_>,
    findings: &Findings,
) -> Option<FieldSystem> {
    let help = "name the species, in order: species = [\"u\", \"v\"]";
    let species_field = section.need("species", help);
    let species = species_field.as_ref().and_then(|field| field.list()).and_then(|items| {
        let names: Vec<Option<&str>> = items.iter().map(|item| item.text()).collect();
        let names: Option<Vec<&str>> = names.into_iter().collect();
        Some((names?, items))
    });
    let params = text::optional(section, "parameters", text::number);
    let definitions = text::optional(section, "definitions", |field| field.text());
    let equations = text::entries(equations, |field| field.text());
    section.finish();
    let ((species, items), params) = (species?, params?);
    if let Some(at) = species.iter().position(|name| *name == "seed") {
        let help = "call it something else: `seed` in [initial] is that of random values";
        return items[at].refuse("no species can be called `seed`", help);
    }
    let (definitions, equations) = (definitions?, equations?);
    let values = |entries: &[Entry<'_, Option<f64>>]| {
        let pairs = entries.iter().map(|entry| Some((entry.name.clone(), entry.value?)));
        pairs.collect::<Option<Vec<(String, f64)>>>()
    };
    let numbers = values(&params)?;
    let source = ModelText {
        species: species.clone(),
        params: numbers.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
        definitions: definitions.iter().map(|e| (e.name.as_str(), e.value)).collect(),
        equations: equations.iter().map(|e| (e.name.as_str(), e.value)).collect(),
    };
    let place = |diagnostic: &Diagnostic, finding: Finding| {
        let finding = match diagnostic.part {
            Part::StateName(i) => items[i].source_span().locate(finding),
            Part::ParamName(j) => params[j].source_span.locate(finding),
            Part::DefinitionName(k) => definitions[k].source_span.locate(finding),
            Part::EquationName(k) => equations[k].source_span.locate(finding),
            Part::Definition(k) => definitions[k].field.within(finding, diagnostic),
            Part::Equation(k) => equations[k].field.within(finding, diagnostic),
            Part::SpectralRadius => finding,
        };
        findings.push(match &diagnostic.help {
            Some(help) => finding.help(help),
            None => finding,
        });
    };
    let model = match source.read() {
        Ok((model, warnings)) => {
            let texts = EXPRESSIVE.iter().flat_map(|key| root.texts(key));
            let named: HashSet<&str> = texts.flat_map(names).collect();
            let used = |d: &&Diagnostic| match d.part {
                Part::ParamName(j) => named.contains(params[j].name.as_str()),
                _ => false,
            };
            let unused = warnings.iter().filter(|d| !used(d));
            unused.for_each(|d| place(d, Finding::warning(&d.message)));
            model
        }
        Err(ModelError::Text(errors)) => {
            let can_be = |name: &str| {
                let (species, equations) = (vec![name], vec![(name, "0")]);
                ModelText { species, equations, ..ModelText::default() }.read().is_ok()
            };
            let text_of = |part: Part| match part {
                Part::Definition(k) => Some(definitions[k].value),
                Part::EquationName(k) => Some(equations[k].name.as_str()),
                Part::Equation(k) => Some(equations[k].value),
                Part::StateName(_) | Part::ParamName(_) | Part::DefinitionName(_) => None,
                Part::SpectralRadius => None,
            };
            let own = text::own(&errors, can_be, text_of);
            own.for_each(|d| place(d, Finding::error(&d.message)));
            return None;
        }
        Err(other) => {
            findings.push(section.here(&other.to_string()));
            return None;
        }
    };
    let mut lines: Vec<String> =
        definitions.iter().map(|e| format!("{} = {}", e.name, text::one_line(e.value))).collect();
    let equation = |e: &Entry<'_, &str>| format!("∂{}/∂t = {}", e.name, text::one_line(e.value));
    lines.extend(equations.iter().map(equation));
    let title = "equations of the case file".to_owned();
    Some(FieldSystem { model, builtin: None, title, lines })
}
