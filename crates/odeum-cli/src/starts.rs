//! Whether every gas of an ensemble has a state to start from, and what is made of its composition.

use crate::case::{Case, Spot};
use crate::finding::{Finding, Findings};
use crate::gas::{self, COMPOSITION, Gas, Mixture};
use crate::members::Members;
use crate::model::Start;
use crate::report::count;
use odeum::kinetics::StateError;

/// Number of the first variable that is a species.
const SPECIES: usize = 2;

/// Fractions below zero that count as zero.
#[derive(Default)]
struct Raised {
    systems: usize,
    least: f64,
}

/// Looks at the start of every system.
pub(crate) fn check(case: &Case, members: &Members<'_>, findings: &Findings) {
    let Start::Gas(gas) = &case.model.start else { return };
    let (mut wrong, mut raised) = (0, Raised::default());
    for system in 0..members.len() {
        let values = members.values(system);
        match gas.start(&values) {
            Err(why) => {
                wrong += 1;
                if wrong == 1 {
                    findings.push(refused(case, members, gas, system, &why));
                }
            }
            Ok(_) if gas.has_negatives(&values) => {
                raised.systems += 1;
                raised.least = values[SPECIES..].iter().copied().fold(raised.least, f64::min);
            }
            Ok(_) => {}
        }
    }
    if wrong > 1 {
        let message = format!("{} more systems have none either", count(wrong - 1));
        findings.push(Finding::error(message).in_file(case.source.name()));
    }
    if raised.systems > 0 {
        let message = format!(
            "of {} systems fractions below zero count as zero",
            count(raised.systems as u64)
        );
        let finding = at_composition(case, message).into_warning().found(raised.least);
        let help = "nothing to do where a run rounded them so: they lie within 100 times the \
                    absolute tolerance, or 1e-8";
        findings.push(finding.help(help));
    }
    if let (Mixture::Amounts(_), [_, ..], Some(table)) =
        (&gas.mixture, &kept(case)[..], &case.ensemble.table)
    {
        let message = format!("the table has no column of {}", names(&kept(case)));
        let finding = table.spot.error(message).into_warning().found(kept(case).join(", "));
        let help = "these amounts stay as in [system]: add columns, or leave them out there";
        findings.push(finding.help(help));
    }
}

/// A system that has no state to start from.
fn refused(
    case: &Case,
    members: &Members<'_>,
    gas: &Gas,
    system: usize,
    why: &StateError,
) -> Finding {
    let (about, mut help) = gas::remedy(why);
    let variable = about.and_then(|name| case.model.variable(name));
    let row = case.ensemble.table.as_ref().map_or(String::new(), |table| {
        format!(" (table row {}, from 0)", system / (members.len() / table.rows))
    });
    let message =
        format!("system {system}{row} has no state to start from: {}", gas::describe(why, gas));
    let finding = if about == Some(COMPOSITION) {
        if !kept(case).is_empty() {
            help += &format!("; as [system] has it, {} is counted too", kept(case).join(", "));
        }
        return at_composition(case, message).found(sum_of(why)).help(help);
    } else {
        let spot = variable.and_then(|v| case.spot_of(v));
        match spot.or_else(|| case.spots.find(about?)) {
            Some(spot) => spot.error(message),
            None => Finding::error(message).in_file(case.source.name()).field("system"),
        }
    };
    let values = members.values(system);
    let named = case.model.names().zip(&values).enumerate();
    let shown: Vec<String> = named
        .filter(|(v, _)| variable.is_none_or(|one| one == *v))
        .map(|(_, (name, value))| format!("{name} = {value}"))
        .collect();
    finding.found(shown.join(", ")).help(help)
}

fn sum_of(why: &StateError) -> String {
    match why {
        StateError::Sum(sum) => format!("a sum of {sum}"),
        other => other.to_string(),
    }
}

/// An error where the composition of systems comes from: the ensemble, else `[system]`.
fn at_composition(case: &Case, message: String) -> Finding {
    let species = SPECIES..case.model.variables.len();
    let spot: Option<&Spot> = species.into_iter().find_map(|v| case.spot_of(v));
    match spot.or_else(|| case.spots.find(COMPOSITION)) {
        Some(spot) => spot.error(message),
        None => Finding::error(message).in_file(case.source.name()).field("system"),
    }
}

/// The species of `[system]` that a table of compositions leaves as they are, with their numbers.
fn kept(case: &Case) -> Vec<String> {
    let Some(table) = &case.ensemble.table else { return Vec::new() };
    let varied = |v: usize| {
        table.variables().any(|other| other == v)
            || case.ensemble.sweep.iter().any(|axis| axis.variable == v)
    };
    if !table.variables().any(|v| v >= SPECIES) {
        return Vec::new();
    }
    let variables = case.model.variables.iter().enumerate().skip(SPECIES);
    let kept = variables.filter(|(v, variable)| variable.value != 0.0 && !varied(*v));
    kept.map(|(_, variable)| format!("{} = {}", variable.name, variable.value)).collect()
}

/// The names of `name = number`.
fn names(pairs: &[String]) -> String {
    let names: Vec<&str> = pairs.iter().filter_map(|pair| pair.split(" = ").next()).collect();
    names.join(", ")
}
