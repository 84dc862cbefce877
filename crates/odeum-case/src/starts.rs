//! Whether every system has a state to start from, and what is made of compositions of gases.

use crate::case::{Case, ColumnTarget, SourceSpan};
use crate::gas::{self, COMPOSITION, Gas, Mixture};
use crate::levels;
use crate::members::Members;
use crate::model::Start;
use odeum_core::Argument;
use odeum_io::number::count;
use odeum_io::parallel::{self, PIECE};
use odeum_io::{Finding, Findings};
use odeum_kinetics::StateError;
use odeum_ode::Status;
use std::ops::Range;

/// Number of the first variable that is a species.
const SPECIES: usize = 2;

/// Systems of which something is to be told.
struct Several<T> {
    systems: usize,
    /// The first of them, and what it is.
    first: Option<(usize, T)>,
}

impl<T> Default for Several<T> {
    fn default() -> Self {
        Several { systems: 0, first: None }
    }
}

impl<T> Several<T> {
    fn add(&mut self, system: usize, what: T) {
        self.systems += 1;
        self.first.get_or_insert((system, what));
    }

    /// With those of later numbers.
    fn and(self, later: Self) -> Self {
        let first = self.first.or(later.first);
        Several { systems: self.systems + later.systems, first }
    }
}

/// What is to be told of some systems.
#[derive(Default)]
struct Noticed {
    /// Those without a start, and why; `None`: a variable is no number.
    wrong: Several<Option<StateError>>,
    /// Those that start where thermodynamic data are extrapolated, with the temperature.
    extrapolated: Several<f64>,
    /// Those at or beyond their level, with what has it.
    beyond: Several<f64>,
    /// Those of which a fraction below zero counts as zero, and the least.
    raised: usize,
    least: f64,
}

impl Noticed {
    /// In the starts of some systems.
    fn of(case: &Case, members: &Members<'_>, systems: Range<usize>) -> Noticed {
        let mut noticed = Noticed::default();
        let until = case.time.until.as_ref();
        for system in systems {
            let component = until.map(|until| until.component);
            let start = match &case.model.start {
                Start::Direct => {
                    // Without a table, or a lenient one, all numbers are finite.
                    if case.ensemble.takes_bad_rows && !is_finite(&members.values(system)) {
                        noticed.wrong.add(system, None);
                    }
                    component.map(|component| members.value(component, system))
                }
                Start::Gas(gas) => {
                    let state = noticed.state(gas, system, &members.values(system));
                    state.zip(component).map(|(state, component)| state[component])
                }
            };
            if let (Some(until), Some(start)) = (until, start)
                && levels::is_beyond(until, case.run.precision, start)
            {
                noticed.beyond.add(system, start);
            }
        }
        noticed
    }

    /// The state that a gas starts from, where it has one.
    fn state(&mut self, gas: &Gas, system: usize, values: &[f64]) -> Option<Vec<f64>> {
        if !is_finite(values) {
            self.wrong.add(system, None);
            return None;
        }
        let state = gas.start(values).map_err(|why| self.wrong.add(system, Some(why))).ok()?;
        if !gas.reactor.kinetics().data_hold_at(state[0]) {
            self.extrapolated.add(system, state[0]);
        }
        if gas.has_negatives(values) {
            self.raised += 1;
            self.least = values[SPECIES..].iter().copied().fold(self.least, f64::min);
        }
        Some(state)
    }

    /// With what was noticed in systems of later numbers.
    fn and(self, later: Noticed) -> Noticed {
        Noticed {
            wrong: self.wrong.and(later.wrong),
            extrapolated: self.extrapolated.and(later.extrapolated),
            beyond: self.beyond.and(later.beyond),
            raised: self.raised + later.raised,
            least: self.least.min(later.least),
        }
    }
}

fn is_finite(values: &[f64]) -> bool {
    values.iter().all(|x| x.is_finite())
}

/// Looks at the start of every system, on so many threads. Where a table may have bad rows these are told, else they
/// are errors.
pub(crate) fn check(case: &Case, members: &Members<'_>, threads: usize, findings: &Findings) {
    let all = members.len();
    let gas = match &case.model.start {
        Start::Gas(gas) => Some(&**gas),
        Start::Direct if !case.ensemble.takes_bad_rows && case.time.until.is_none() => return,
        Start::Direct => None,
    };
    let pieces: Vec<Range<usize>> =
        (0..all).step_by(PIECE).map(|first| first..all.min(first + PIECE)).collect();
    let noticed =
        parallel::map(threads, 1, &pieces, |systems| Noticed::of(case, members, systems.clone()));
    let Noticed { wrong, extrapolated, beyond, raised, least } =
        noticed.into_iter().fold(Noticed::default(), Noticed::and);
    if let Some((system, why)) = wrong.first {
        let finding = match (gas, &why) {
            (Some(gas), Some(why)) => refused(case, members, gas, system, why),
            _ => not_finite(case, members, system),
        };
        tell(case, finding, wrong.systems, all, findings);
    }
    if let (Some(until), Some(first)) = (&case.time.until, beyond.first) {
        findings.push(levels::warning(case, until, [beyond.systems, all], first));
    }
    let Some(gas) = gas else { return };
    if let Some(first) = extrapolated.first {
        findings.push(beyond_data(case, gas, extrapolated.systems, first));
    }
    if raised > 0 {
        findings.push(raised_to_zero(case, raised, least));
    }
    if let (Mixture::Amounts(_), [_, ..], Some(table)) =
        (&gas.mixture, &kept(case)[..], &case.ensemble.table)
    {
        let message = format!("the table has no column of {}", names(&kept(case)));
        let finding = table.source_span.error(message).into_warning().found(kept(case).join(", "));
        let help = "these amounts stay as in [system]: add columns, or leave them out there";
        findings.push(finding.help(help));
    }
}

/// Tells of systems that start where thermodynamic data are extrapolated: how many, and the first with its temperature.
fn beyond_data(
    case: &Case,
    gas: &Gas,
    systems: usize,
    (system, temperature): (usize, f64),
) -> Finding {
    let message = match systems {
        1 => format!("system {system} starts outside the thermodynamic data"),
        n => format!("{n} systems start outside the thermodynamic data, first system {system}"),
    };
    let source_span = case.model.variable(gas::TEMPERATURE).and_then(|v| case.source_span_of(v));
    let finding = match source_span.or_else(|| case.source_spans.find(gas::TEMPERATURE)) {
        Some(source_span) => source_span.error(message),
        None => Finding::error(message).in_file(case.source.name()).field("system"),
    };
    let (low, high) = gas.reactor.temperature_bounds();
    let help = format!("the data hold from {low} to {high} K, and are extrapolated");
    finding.into_warning().found(format!("{temperature} K")).help(help)
}

/// Tells of systems of which fractions below zero count as zero, and the least fraction.
fn raised_to_zero(case: &Case, systems: usize, least: f64) -> Finding {
    let message =
        format!("of {} systems fractions below zero count as zero", count(systems as u64));
    at_composition(case, message).into_warning().found(least).help(
        "nothing to do where a run rounded them so: they lie within 100 times the \
         absolute tolerance, or 1e-8",
    )
}

/// Reports the first system without a start, and how many there are.
fn tell(case: &Case, first: Finding, wrong: usize, all: usize, findings: &Findings) {
    let others = match wrong {
        2 => "1 more system has none either".to_owned(),
        _ => format!("{} more systems have none either", count(wrong as u64 - 1)),
    };
    if !case.ensemble.takes_bad_rows || wrong == all {
        findings.push(first);
        if wrong > 1 {
            findings.push(Finding::error(others).in_file(case.source.name()));
        }
        return;
    }
    let help = first.help.clone().unwrap_or_default();
    let status = Status::InvalidStart.name();
    let others = if wrong > 1 { format!("; {others}") } else { String::new() };
    findings.push(first.into_warning().help(format!("it ends as `{status}`{others}; {help}")));
}

/// A system that starts from what is no number.
fn not_finite(case: &Case, members: &Members<'_>, system: usize) -> Finding {
    let values = members.values(system);
    let bad = values.iter().position(|x| !x.is_finite()).unwrap_or(0);
    let name = &case.model.variables[bad].name;
    // What perturbs a cell that is no number is not to blame.
    let bad_cell = case.ensemble.table.as_ref().filter(|table| {
        let row = system / (members.len() / table.rows);
        table.column(ColumnTarget::Variable(bad)).is_some_and(|cells| !cells[row].is_finite())
    });
    let row = row(case, members, system);
    let message = format!("system {system}{row} has no state to start from: `{name}` is no number");
    let source_span = bad_cell.map(|table| &table.source_span);
    let finding = match source_span.or_else(|| case.source_span_of(bad)) {
        Some(source_span) => source_span.error(message),
        None => Finding::error(message).in_file(case.source.name()).field("system"),
    };
    finding.found(format!("{name} = {}", values[bad])).help("give a finite number")
}

/// The row of the table that a system is of, in words.
fn row(case: &Case, members: &Members<'_>, system: usize) -> String {
    case.ensemble.table.as_ref().map_or(String::new(), |table| {
        format!(" (table row {}, from 0)", system / (members.len() / table.rows))
    })
}

/// A gas that has no state to start from.
fn refused(
    case: &Case,
    members: &Members<'_>,
    gas: &Gas,
    system: usize,
    why: &StateError,
) -> Finding {
    let (about, mut help) = gas::remedy(why);
    let variable = about.and_then(|name| case.model.variable(name));
    let row = row(case, members, system);
    let message =
        format!("system {system}{row} has no state to start from: {}", gas::describe(why, gas));
    let finding = if about == Some(COMPOSITION) {
        if !kept(case).is_empty() {
            help += &format!("; as [system] has it, {} is counted too", kept(case).join(", "));
        }
        return at_composition(case, message).found(sum_of(why)).help(help);
    } else {
        let source_span = variable.and_then(|v| case.source_span_of(v));
        match source_span.or_else(|| case.source_spans.find(Argument::new(about?.to_owned()))) {
            Some(source_span) => source_span.error(message),
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
    let source_span: Option<&SourceSpan> = species.into_iter().find_map(|v| case.source_span_of(v));
    match source_span.or_else(|| case.source_spans.find(COMPOSITION)) {
        Some(source_span) => source_span.error(message),
        None => Finding::error(message).in_file(case.source.name()).field("system"),
    }
}

/// The species of `[system]` that a table of compositions leaves as they are, with their numbers.
fn kept(case: &Case) -> Vec<String> {
    let Some(table) = &case.ensemble.table else { return Vec::new() };
    if !table.variables().any(|v| v >= SPECIES) {
        return Vec::new();
    }
    let variables = case.model.variables.iter().enumerate().skip(SPECIES);
    let kept = variables.filter(|(v, variable)| variable.value != 0.0 && !case.ensemble.varies(*v));
    kept.map(|(_, variable)| format!("{} = {}", variable.name, variable.value)).collect()
}

/// The names of `name = number`.
fn names(pairs: &[String]) -> String {
    let names: Vec<&str> = pairs.iter().filter_map(|pair| pair.split(" = ").next()).collect();
    names.join(", ")
}
