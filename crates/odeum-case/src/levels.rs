//! Systems that start at the level that is to end them, or beyond it: they must first leave it. A level at a distance from the
//! start is there too where the distance vanishes in rounding.

use crate::case::{Case, Level, Precision, Until};
use odeum_io::Finding;
use odeum_io::number::count;

/// Whether a start is at the level or beyond it, in the precision of a run.
pub(crate) fn is_beyond(until: &Until, precision: Precision, start: f64) -> bool {
    let [at, level] = [start, until.level_from(start)].map(|x| precision.round(x));
    if until.rises { at >= level } else { at <= level }
}

/// Warns of so many such systems of all, with the first and what it starts from.
pub(crate) fn warning(
    case: &Case,
    until: &Until,
    [systems, all]: [usize; 2],
    (system, start): (usize, f64),
) -> Finding {
    let name = &case.model.state_names[until.component];
    let verb = if until.rises { "rises" } else { "falls" };
    let [systems, all] = [systems, all].map(|n| count(n as u64));
    let message = format!(
        "{systems} of {all} systems start at or beyond the level of `until`: each goes on until {name} \
         has left it and {verb} to it again, or to the end of its span"
    );
    let finding = match case.source_spans.find("until") {
        Some(source_span) => source_span.error(message),
        None => Finding::error(message).in_file(case.source.name()).field("time.until"),
    };
    let help = match until.level {
        Level::At(_) => format!(
            "give a level that {name} has yet to come to, or, as a distance from each start, {verb}_by"
        ),
        Level::By(_) => format!("give {verb}_by more than the rounding of {name}"),
    };
    let found = format!("system {system} starts from {name} = {start}");
    finding.into_warning().found(found).help(help)
}
