//! `[system]` with equations as text.

use super::reader::{Field, Section, SourceSpan};
use super::run::Precision;
use super::source_spans::SourceSpans;
use crate::model::{self, Model, Start};
use odeum_core::graph::Node;
use odeum_core::text::{Diagnostic, Part, TextErrors, TextSource};
use odeum_io::{Finding, Findings};
use odeum_ode::DynSystem;
use std::collections::HashSet;

/// A name, where it stands, and what it stands for.
pub(super) struct Entry<'a, T> {
    pub(super) name: String,
    pub(super) source_span: SourceSpan,
    pub(super) value: T,
    pub(super) field: Field<'a>,
}

const STATES_HELP: &str = "name each state with its initial value: states = { x = 1.0, y = 0.0 }";

/// Reads states, parameters, definitions and equations.
pub(super) fn read(
    section: &Section<'_>,
    equations: &Field<'_>,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> Option<Model> {
    let states =
        section.need("states", STATES_HELP).and_then(|field| match entries(&field, number) {
            Some(states) if states.is_empty() => {
                field.refuse("there are no states: a system has one equation at least", STATES_HELP)
            }
            states => states,
        });
    let params = optional(section, "parameters", number);
    let definitions = optional(section, "definitions", |field| field.text());
    let equations = entries(equations, |field| field.text());
    let radius_field = section.get("spectral_radius");
    let radius = match &radius_field {
        Some(field) if field.is_constant() => match field.number() {
            Some(radius) if radius >= 0.0 => field.text().map(Some),
            Some(_) => field.refuse("a spectral radius is not negative", "give a bound of it"),
            None => None,
        },
        Some(field) => field.text().map(Some),
        None => Some(None),
    };
    section.finish();
    let (states, params) = (states?, params?);
    let (definitions, equations, radius) = (definitions?, equations?, radius?);
    let source = TextSource {
        states: states.iter().map(|e| e.name.as_str()).collect(),
        params: params.iter().map(|e| e.name.as_str()).collect(),
        definitions: definitions.iter().map(|e| (e.name.as_str(), e.value)).collect(),
        equations: equations.iter().map(|e| (e.name.as_str(), e.value)).collect(),
        spectral_radius: radius,
    };
    let place = |diagnostic: &Diagnostic, finding: Finding| {
        let finding = match diagnostic.part {
            Part::StateName(i) => states[i].source_span.locate(finding),
            Part::ParamName(j) => params[j].source_span.locate(finding),
            Part::DefinitionName(k) => definitions[k].source_span.locate(finding),
            Part::EquationName(k) => equations[k].source_span.locate(finding),
            Part::Definition(k) => definitions[k].field.within(finding, diagnostic),
            Part::Equation(k) => equations[k].field.within(finding, diagnostic),
            Part::SpectralRadius => match &radius_field {
                Some(field) => field.within(finding, diagnostic),
                None => finding,
            },
        };
        findings.push(match &diagnostic.help {
            Some(help) => finding.help(help),
            None => finding,
        });
    };
    let system = match source.read() {
        Ok(system) => system,
        Err(errors) => {
            let can_be = |name: &str| {
                let (states, equations) = (vec![name], vec![(name, "0")]);
                TextSource { states, equations, ..TextSource::default() }.read().is_ok()
            };
            let text_of = |part: Part| match part {
                Part::Definition(k) => Some(definitions[k].value),
                Part::EquationName(k) => Some(equations[k].name.as_str()),
                Part::Equation(k) => Some(equations[k].value),
                Part::SpectralRadius => radius,
                Part::StateName(_) | Part::ParamName(_) | Part::DefinitionName(_) => None,
            };
            own(&errors, can_be, text_of).for_each(|d| place(d, Finding::error(&d.message)));
            return None;
        }
    };
    system.warnings().iter().for_each(|d| place(d, Finding::warning(&d.message)));
    let mut lines: Vec<String> =
        definitions.iter().map(|e| format!("{} = {}", e.name, one_line(e.value))).collect();
    lines.extend(equations.iter().map(|e| format!("{}' = {}", e.name, one_line(e.value))));
    let identity = format!("text {source:?}");
    // A value that is no number was reported; the equations have been looked at all the same.
    let values = |entries: &[Entry<'_, Option<f64>>]| entries.iter().map(|e| e.value).collect();
    let (states_start, params_start): (Option<Vec<f64>>, Option<Vec<f64>>) =
        (values(&states), values(&params));
    let (state_names, param_names): (Vec<String>, Vec<String>) = (
        states.iter().map(|e| e.name.clone()).collect(),
        params.iter().map(|e| e.name.clone()).collect(),
    );
    let switches = system.graph().switches();
    if let Some(switches) = &switches
        && let Some(state) = state_names.get(switches.output)
        && let Some(equation) = equations.iter().find(|equation| equation.name == *state)
    {
        source_spans.put("switches", equation.field.source_span());
    }
    let mut constants = system.graph().nodes().iter().filter_map(Node::constant);
    let names = state_names.iter().chain(&param_names).cloned();
    let variables = model::variables(names, states_start?.into_iter().chain(params_start?));
    Some(Model {
        title: "equations of the case file".to_owned(),
        identity,
        lines,
        state_names,
        param_names,
        variables,
        start: Start::Direct,
        span: None,
        rhs: DynSystem::from(&system),
        outside_single: constants.find(|x| Precision::F32.loses(*x)),
        switches,
    })
}

/// The errors without what is said of names where they are used that can be no names of a system, which follows from
/// their refusal. `can_be` tells whether a name can be one, `text_of` gives the text of a part that uses names.
pub(super) fn own<'e>(
    errors: &'e TextErrors,
    can_be: impl Fn(&str) -> bool,
    text_of: impl Fn(Part) -> Option<&'e str>,
) -> impl Iterator<Item = &'e Diagnostic> {
    let named = errors.0.iter().filter(|d| text_of(d.part).is_none());
    let mut refused: HashSet<&str> = named.map(|d| d.name.as_str()).collect();
    refused.retain(|name| !can_be(name));
    errors.0.iter().filter(move |d| match text_of(d.part) {
        None => true,
        Some(text) => {
            let about = text.get(d.offset..d.offset + d.len);
            // Of no length are the name of an equation, and what is missing in a text.
            let is_name = d.len > 0 || matches!(d.part, Part::EquationName(_));
            !(is_name && about.is_some_and(|name| refused.contains(name)))
        }
    })
}

/// The entries of a table, each read by `read`; `None` when one is wrong.
pub(super) fn entries<'a, T>(
    field: &Field<'a>,
    read: impl Fn(&Field<'a>) -> Option<T>,
) -> Option<Vec<Entry<'a, T>>> {
    let all: Vec<Option<Entry<'a, T>>> = field
        .section()?
        .entries()
        .into_iter()
        .map(|(name, source_span, field)| {
            Some(Entry { name, source_span, value: read(&field)?, field })
        })
        .collect();
    all.into_iter().collect()
}

/// As [`entries`]; none when the key is missing.
pub(super) fn optional<'a, T>(
    section: &Section<'a>,
    key: &'static str,
    read: impl Fn(&Field<'a>) -> Option<T>,
) -> Option<Vec<Entry<'a, T>>> {
    match section.get(key) {
        Some(field) => entries(&field, read),
        None => Some(Vec::new()),
    }
}

/// A number, or `None` after reporting that it is none.
pub(super) fn number(field: &Field<'_>) -> Option<Option<f64>> {
    Some(field.number())
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
