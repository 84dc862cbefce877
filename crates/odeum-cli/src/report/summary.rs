//! What a run gave, in one screen.

use super::table::{Align, Table, wrap};
use super::{Style, say};
use odeum_io::number::{count, duration, rounded, significant};
use odeum_ode::solution::Summary;
use std::path::PathBuf;
use std::time::Duration;

/// A run that ended.
pub(crate) struct Outcome {
    pub(crate) summary: Summary,
    /// Systems computed in this run: without those from a checkpoint.
    pub(crate) computed: usize,
    /// Right-hand sides of the systems computed in this run.
    pub(crate) nfev: u64,
    pub(crate) elapsed: Duration,
    pub(crate) busy_lanes: Option<f64>,
    /// Times at which systems crossed their level, from their start: least, median, most.
    pub(crate) events: Option<[f64; 3]>,
    /// The first systems that failed, with the time they reached.
    pub(crate) failed: Vec<(usize, f64)>,
    pub(crate) system: String,
    pub(crate) device: String,
    pub(crate) files: Vec<PathBuf>,
}

/// The summary on the standard output.
pub(crate) fn print_summary(outcome: &Outcome) {
    say(&render(outcome, Style::stdout()));
}

fn render(outcome: &Outcome, style: Style) -> String {
    let Outcome { summary, .. } = outcome;
    let systems = summary.systems as f64;
    let mut statuses =
        Table::new(&[("status", Align::Left), ("systems", Align::Right), ("share", Align::Right)]);
    for &(status, n) in &summary.statuses {
        let fraction = 100.0 * n as f64 / systems;
        let fraction = if n as f64 == systems {
            "100 %".to_owned()
        } else {
            // Neither a failure nor a success may be rounded away.
            format!("{:.2} %", fraction.clamp(0.01, 99.99))
        };
        statuses.row([status.name().to_owned(), count(n as u64), fraction]);
    }
    let mut text = format!("{}\n", statuses.render(style));
    let seconds = outcome.elapsed.as_secs_f64().max(1e-9);
    let mut facts = Table::pairs();
    facts.pair("system", &outcome.system);
    let (mean, most) = summary.steps;
    // A mean of three digits might lie above the most.
    let mean = if mean < 100.0 { significant(mean) } else { count(mean.round() as u64) };
    let steps = format!("{mean} on average, {} at most", count(most.into()));
    facts.pair("steps", steps);
    facts.pair("rejected", count(summary.rejected));
    facts.pair("right-hand sides", count(summary.nfev));
    if summary.nlu > 0 {
        facts.pair("Jacobians", count(summary.njev));
        facts.pair("factorisations", count(summary.nlu));
    }
    if summary.guarded > 0 {
        facts.pair("growth guard", format!("{} of the rejections", count(summary.guarded)));
    }
    facts.pair("divergence D", format!("{:.4}", summary.divergence));
    if let Some([least, median, most]) = outcome.events {
        let text = format!("{least:.3e} to {most:.3e}, median {median:.3e}, from the start");
        facts.pair("events after", text);
    }
    if let Some(busy) = outcome.busy_lanes {
        facts.pair("lanes busy", format!("{:.1} %", 100.0 * busy));
    }
    facts.pair("device", &outcome.device);
    facts.pair("time", duration(outcome.elapsed));
    if outcome.computed > 0 {
        let rate = format!(
            "{} systems/s, {} right-hand sides/s",
            significant(outcome.computed as f64 / seconds),
            significant(outcome.nfev as f64 / seconds)
        );
        facts.pair("rate", rate);
    }
    for (k, file) in outcome.files.iter().enumerate() {
        facts.row([if k == 0 { "result" } else { "" }.to_owned(), file.display().to_string()]);
    }
    text += &facts.render(style);
    for &(status, n) in summary.statuses.iter().filter(|(status, _)| !status.is_success()) {
        let head = format!("{} {}:", count(n as u64), status.name());
        text += &format!("\n  {}\n", style.yellow(&head));
        for line in wrap(status.advice(), 84) {
            text += &format!("    {line}\n");
        }
    }
    if summary.outside > 0 {
        let head = format!("{} outside the model's data:", count(summary.outside as u64));
        text += &format!("\n  {}\n", style.yellow(&head));
        let advice = "these systems had states for which the model extrapolates, as temperatures \
                      beyond its polynomials; `outside` in the result counts the steps";
        for line in wrap(advice, 84) {
            text += &format!("    {line}\n");
        }
    }
    if !outcome.failed.is_empty() {
        // Six digits of the time are enough to look there.
        let first: Vec<String> =
            outcome.failed.iter().map(|&(s, t)| format!("{s} (t = {})", rounded(t, 6))).collect();
        text += &format!("\n  first to look at: system {}\n", first.join(", "));
    }
    text
}
