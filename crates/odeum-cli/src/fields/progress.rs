//! How far a field is: time, updates per second, and the estimated end.

use crate::report::{Exact, TICK, duration, note, rounded, significant};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(10);
/// Parts of the bar.
const PARTS: u64 = 1000;

/// Shows the progress of a simulation on the standard error.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    /// Start, end, and where this run began.
    span: (f64, f64),
    from: f64,
    begun: Instant,
    shown: Instant,
}

impl Progress {
    /// Over times `span`, from `from` on.
    pub(super) fn new(span: (f64, f64), from: f64, quiet: bool) -> Progress {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(10);
            let bar = ProgressBar::with_draw_target(Some(PARTS), target);
            let style = ProgressStyle::with_template("{bar:20.cyan/dim} {percent:>3} %  {msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("━╸─"));
            bar
        });
        let now = Instant::now();
        Progress { bar, quiet, span, from, begun: now, shown: now }
    }

    /// At time `t`, after so many updates of cells in this run.
    pub(super) fn update(&mut self, t: f64, updates: f64) {
        let wait = if self.bar.is_some() { TICK } else { LINE };
        if self.quiet || self.shown.elapsed() < wait {
            return;
        }
        self.shown = Instant::now();
        let fraction = ((t - self.span.0) / (self.span.1 - self.span.0)).clamp(0.0, 1.0);
        let text = self.text(t, updates);
        match &self.bar {
            Some(bar) => {
                bar.set_position((fraction * PARTS as f64) as u64);
                bar.set_message(text);
            }
            None => note(&format!("{:3.0} %  {text}", 100.0 * fraction)),
        }
    }

    fn text(&self, t: f64, updates: f64) -> String {
        let seconds = self.begun.elapsed().as_secs_f64().max(1e-9);
        let speed = (t - self.from) / seconds;
        let left = if speed > 0.0 {
            let seconds = ((self.span.1 - t) / speed).clamp(0.0, 1e9);
            format!(", {} left", duration(Duration::from_secs_f64(seconds)))
        } else {
            String::new()
        };
        let rate = significant(updates / seconds / 1e6);
        let (t, end) = (rounded(t, 6), Exact(self.span.1));
        format!("t = {t} of {end}, {rate} M updates/s{left}")
    }

    /// Clears the bar.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
