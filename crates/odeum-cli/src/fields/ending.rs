//! How a run of a field ended, in words.

use super::conservation;
use crate::args::RunArgs;
use crate::exit::Exit;
use crate::job::{note_kept, note_stopped};
use crate::report::{Exact, Style, Table, count, duration, say, significant};
use odeum_case::FieldPlan;
use odeum_fields::{Counts, Summary};
use odeum_io::checkpoint::field::Header;
use std::path::Path;
use std::time::Duration;

/// How a simulation came to its end, and what of it is needed afterwards.
pub(super) struct Ended {
    /// Of all runs up to here.
    pub(super) counts: Counts,
    pub(super) of_this_run: Counts,
    pub(super) t: f64,
    pub(super) updates: f64,
    pub(super) elapsed: Duration,
    pub(super) masses: Vec<f64>,
    pub(super) summaries: Vec<Summary>,
    /// What a run that goes on from the end later has behind it.
    pub(super) header: Header,
}

pub(super) fn interrupted(ended: &Ended, path: &Path, args: &RunArgs, kept: bool) -> Exit {
    note_stopped(&format!("at t = {}, step {}", Exact(ended.t), ended.counts.steps));
    if kept {
        note_kept(path, args);
    }
    Exit::Interrupted
}

pub(super) fn print_summary(
    plan: &FieldPlan<'_>,
    ended: &Ended,
    stable: String,
    files: &[std::path::PathBuf],
) {
    let style = Style::stdout();
    let case = plan.case;
    let names = case.problem.model.species();
    let masses = conservation::table(names, &ended.masses, &ended.summaries).render(style);
    let mut facts = Table::pairs();
    facts.pair("system", &case.system);
    facts.pair("cells", super::plan::cells(&case.problem));
    // As the time and the rate.
    let Counts { steps, rejected, sweeps } = ended.of_this_run;
    let mut text = count(steps);
    if rejected > 0 {
        text += &format!(", {} rejected", count(rejected));
    }
    if steps < ended.counts.steps {
        text += &format!("; {} with those before", count(ended.counts.steps));
    }
    facts.pair("steps", text);
    facts.pair("sweeps", count(sweeps));
    facts.pair("t", ended.t.to_string());
    facts.pair("stable up to", stable);
    facts.pair("device", odeum_case::device::describe(&plan.device));
    facts.pair("time", duration(ended.elapsed));
    let seconds = ended.elapsed.as_secs_f64().max(1e-9);
    facts.pair("rate", format!("{} M updates/s", significant(ended.updates / seconds / 1e6)));
    for (k, file) in files.iter().enumerate() {
        facts.row([if k == 0 { "result" } else { "" }.to_owned(), file.display().to_string()]);
    }
    say(&format!("{masses}\n{}", facts.render(style)));
}
