//! How far a run is: a bar in a terminal, a line now and then elsewhere, nothing when quiet.

use super::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use odeum_io::number::{count, duration, significant};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a run is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(10);

/// Shows the progress of a run on the standard error.
pub(crate) struct Progress {
    total: u64,
    /// Systems that were there when the run started.
    before: u64,
    start: Instant,
    last_line: Instant,
    kind: Kind,
}

enum Kind {
    Bar(ProgressBar),
    Lines,
    Quiet,
}

impl Progress {
    /// Of `total` systems, `before` of which are done already.
    pub(crate) fn new(total: usize, before: usize, quiet: bool) -> Progress {
        let (total, before) = (total as u64, before as u64);
        let kind = if quiet {
            Kind::Quiet
        } else if std::io::stderr().is_terminal() {
            Kind::Bar(bar(total, before))
        } else {
            Kind::Lines
        };
        let now = Instant::now();
        Progress { total, before, start: now, last_line: now, kind }
    }

    /// `finished` systems have ended since the start.
    pub(crate) fn update(&mut self, finished: usize) {
        let done = self.before + finished as u64;
        match &self.kind {
            Kind::Bar(bar) => bar.set_position(done),
            Kind::Lines if self.last_line.elapsed() >= LINE => {
                self.last_line = Instant::now();
                note(&self.line(done, finished));
            }
            _ => {}
        }
    }

    /// Clears the bar.
    pub(crate) fn end(&self) {
        if let Kind::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }

    fn line(&self, done: u64, finished: usize) -> String {
        let rate = finished as f64 / self.start.elapsed().as_secs_f64();
        let left = if rate > 0.0 {
            let seconds = ((self.total - done.min(self.total)) as f64 / rate).min(1e9);
            format!(", {} left", duration(Duration::from_secs_f64(seconds)))
        } else {
            String::new()
        };
        format!(
            "{:3.0} %  {} of {} systems, {}/s{left}",
            100.0 * done as f64 / self.total.max(1) as f64,
            count(done),
            count(self.total),
            significant(rate),
        )
    }
}

fn bar(total: u64, before: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
    let template = "{bar:20.cyan/dim} {percent:>3} %  {done} of {all} systems{rate}{left}";
    let write_count = |n: u64| {
        move |_: &ProgressState, w: &mut dyn std::fmt::Write| {
            let _ = w.write_str(&count(n));
        }
    };
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸─")
        .with_key("done", |state: &ProgressState, w: &mut dyn std::fmt::Write| {
            let _ = w.write_str(&count(state.pos()));
        })
        .with_key("all", write_count(total))
        .with_key("rate", |state: &ProgressState, w: &mut dyn std::fmt::Write| {
            if state.per_sec() > 0.0 {
                let _ = write!(w, "  {}/s", significant(state.per_sec()));
            }
        })
        .with_key("left", |state: &ProgressState, w: &mut dyn std::fmt::Write| {
            if state.per_sec() > 0.0 {
                let _ = write!(w, "  {} left", duration(state.eta()));
            }
        });
    bar.set_style(style);
    bar.set_position(before);
    bar.reset_eta();
    bar
}
