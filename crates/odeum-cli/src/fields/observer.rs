//! What is looked at after every step: progress, tables, states, checkpoints, Ctrl-C.

use super::checkpoint::Header;
use super::progress::Progress;
use super::series;
use super::writer::{Message, Signals};
use crate::case::{Every, FieldCase};
use odeum::Monitor;
use odeum_fields::{March, Precision};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// Checkpoints take no more than this share of the time.
const SHARE: u32 = 20;

/// Watches a march and sends what is to be written.
pub(super) struct Observer<'a, T: Precision> {
    pub(super) case: &'a FieldCase,
    pub(super) monitor: &'a Monitor,
    pub(super) signals: &'a Signals,
    pub(super) progress: Progress,
    pub(super) sender: SyncSender<Message<T>>,
    pub(super) header: Header,
    /// Time between two checkpoints.
    pub(super) every: Duration,
    pub(super) last_checkpoint: Instant,
    /// The step looked at last.
    pub(super) last: u64,
    /// Sweeps before this run.
    pub(super) first: u64,
}

impl<T: Precision> Observer<'_, T> {
    /// Looks at a march after a step; breaks where the run must end.
    pub(super) fn look(&mut self, march: &March<T>) -> ControlFlow<()> {
        let steps = march.counts().steps;
        if steps != self.last {
            self.last = steps;
            self.progress.update(march.t(), self.updates(march));
            if self.case.output.series.as_ref().is_some_and(|s| steps.is_multiple_of(s.every)) {
                self.rows(march);
            }
            if let Some(Every::Steps(every)) = self.case.output.every
                && steps.is_multiple_of(every)
            {
                self.state(march);
            }
            if self.checkpoint_is_due(steps) {
                self.checkpoint(march);
            }
        }
        if self.monitor.is_stopped() || self.signals.failed.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Updates of cells in this run; every stage of a step is one.
    pub(super) fn updates(&self, march: &March<T>) -> f64 {
        let sweeps = march.counts().slopes - self.first;
        sweeps as f64 * self.case.problem.grid.cells() as f64
    }

    fn checkpoint_is_due(&self, steps: u64) -> bool {
        let by_steps = self.case.checkpoint_steps.is_some_and(|n| steps.is_multiple_of(n));
        let cost = Duration::from_micros(self.signals.checkpoint_cost.load(Ordering::Relaxed));
        by_steps || self.last_checkpoint.elapsed() >= self.every.max(cost * SHARE)
    }

    /// Sends the present state to be written.
    pub(super) fn state(&mut self, march: &March<T>) {
        self.header.frames.push(march.t().to_bits());
        self.send(Message::State { t: march.t(), field: march.field().clone() });
    }

    /// Sends rows of the tables.
    pub(super) fn rows(&mut self, march: &March<T>) {
        if let Some(series) = &self.case.output.series {
            let lines = series::lines(series, &self.case.problem.grid, march);
            self.send(Message::Rows { series: series::row(series, march), lines });
        }
    }

    /// Sends a checkpoint.
    pub(super) fn checkpoint(&mut self, march: &March<T>) {
        let march = Box::new(march.checkpoint());
        self.send(Message::Checkpoint { header: self.header.clone(), march });
        self.last_checkpoint = Instant::now();
    }

    fn send(&self, message: Message<T>) {
        // The writer listens as long as there is a sender.
        let _ = self.sender.send(message);
    }
}
