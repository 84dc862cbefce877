//! Systems that start at the level that is to end them, or beyond it: they must first leave it. A level at a distance from the
//! start is there too where the distance vanishes in rounding.

use crate::case::{Case, Level, Precision, Until};
use odeum_io::number::count;
use odeum_io::{Finding, Findings};

/// How many such systems there are.
pub(crate) struct Beyond<'a> {
    until: &'a Until,
    /// In which starts are compared with the level.
    precision: Precision,
    systems: usize,
    /// The first of them, and what it starts from.
    first: Option<(usize, f64)>,
}

impl Beyond<'_> {
    /// None seen yet; `None` where no level ends systems.
    pub(crate) fn new(case: &Case) -> Option<Beyond<'_>> {
        let (until, precision) = (case.time.until.as_ref()?, case.run.precision);
        Some(Beyond { until, precision, systems: 0, first: None })
    }

    /// The number of the state that has the level.
    pub(crate) fn component(&self) -> usize {
        self.until.component
    }

    /// Looks at what a system starts from.
    pub(crate) fn look(&mut self, system: usize, start: f64) {
        let [at, level] = [start, self.until.level_from(start)].map(|x| self.precision.round(x));
        if if self.until.rises { at >= level } else { at <= level } {
            self.systems += 1;
            self.first.get_or_insert((system, start));
        }
    }

    /// Warns of them, of so many systems in all.
    pub(crate) fn tell(&self, case: &Case, all: usize, findings: &Findings) {
        let Some((system, start)) = self.first else { return };
        let name = &case.model.state_names[self.until.component];
        let verb = if self.until.rises { "rises" } else { "falls" };
        let [systems, all] = [self.systems, all].map(|n| count(n as u64));
        let message = format!(
            "{systems} of {all} systems start at or beyond the level of `until`: each goes on until {name} \
             has left it and {verb} to it again, or to the end of its span"
        );
        let finding = match case.source_spans.find("until") {
            Some(source_span) => source_span.error(message),
            None => Finding::error(message).in_file(case.source.name()).field("time.until"),
        };
        let help = match self.until.level {
            Level::At(_) => format!(
                "give a level that {name} has yet to come to, or, as a distance from each start, {verb}_by"
            ),
            Level::By(_) => format!("give {verb}_by more than the rounding of {name}"),
        };
        let found = format!("system {system} starts from {name} = {start}");
        findings.push(finding.into_warning().found(found).help(help));
    }
}
