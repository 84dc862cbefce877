//! What is looked at on the way: progress, tables, states, checkpoints, Ctrl-C.

use super::progress::Progress;
use super::queue::Outbox;
use super::series;
use super::writer::{Message, Signals};
use odeum_case::{Every, FieldCase, FieldOutput};
use odeum_fields::{Counts, Precision, Simulation};
use odeum_io::checkpoint::field::Header;
use odeum_io::number;
use odeum_ode::{Error, Monitor};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Checkpoints take no more than this fraction of the time.
const FRACTION: u32 = 20;

/// Time between two looks, where steps are shorter.
const PACE: Duration = Duration::from_millis(50);

/// Watches a simulation and sends what is to be written.
pub(super) struct Observer<'a, T: Precision> {
    pub(super) case: &'a FieldCase,
    pub(super) monitor: &'a Monitor,
    pub(super) signals: &'a Signals,
    pub(super) progress: Progress,
    pub(super) outbox: Outbox<Message<T>>,
    pub(super) header: Header,
    /// Time between two checkpoints.
    pub(super) every: Duration,
    pub(super) last_checkpoint: Instant,
    /// The step looked at last, and when that was.
    pub(super) last: u64,
    pub(super) looked: Instant,
    /// Steps until the next look, by the clock.
    pub(super) pace: u64,
    /// What the device failed with while it was looked at.
    pub(super) broken: Option<Error>,
    /// Steps and sweeps before this run.
    pub(super) first: Counts,
    /// What a run that goes on from the end later has behind it.
    pub(super) last_header: Option<Header>,
}

/// The time that files say.
pub(super) fn time_told<T: Precision>(simulation: &Simulation<T>) -> f64 {
    number::time_told(simulation.t(), simulation.clock().start)
}

impl<T: Precision> Observer<'_, T> {
    /// Looks at a simulation; breaks where the run must end, else says how many steps it may take
    /// before the next look.
    pub(super) fn look(&mut self, simulation: &Simulation<T>) -> ControlFlow<(), u64> {
        let steps = simulation.counts().steps;
        if steps != self.last {
            self.keep_pace(steps);
            self.progress.update(simulation.t(), self.updates(simulation));
            if let Err(error) = self.write(simulation, steps) {
                self.broken = Some(error);
                return ControlFlow::Break(());
            }
        }
        if self.monitor.is_stopped() || self.signals.failed.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let left = self.intervals().into_iter().flatten().map(|every| every - steps % every);
        ControlFlow::Continue(left.fold(self.pace, u64::min))
    }

    /// Steps between two rows, two states, two structure factors and two checkpoints.
    fn intervals(&self) -> [Option<u64>; 4] {
        let states = match self.case.output.every {
            Some(Every::Steps(every)) => Some(every),
            _ => None,
        };
        let FieldOutput { series, structure, .. } = &self.case.output;
        let rows = series.as_ref().map(|s| s.every);
        let structure = structure.as_ref().map(|s| s.every);
        [rows, states, structure, self.case.checkpoint_steps]
    }

    /// Sends what is due after a step.
    fn write(&mut self, simulation: &Simulation<T>, steps: u64) -> Result<(), Error> {
        let due = self.intervals().map(|every| every.is_some_and(|n| steps.is_multiple_of(n)));
        if due[0] {
            self.rows(simulation)?;
        }
        if due[1] {
            self.state(simulation)?;
        }
        if due[2] {
            self.structure(simulation)?;
        }
        if due[3] || self.checkpoint_is_due() {
            self.checkpoint(simulation)?;
        }
        Ok(())
    }

    /// Judges by the steps since the last look how many there should be to the next.
    fn keep_pace(&mut self, steps: u64) {
        let taken = steps.saturating_sub(self.last);
        let fraction = PACE.as_secs_f64() / self.looked.elapsed().as_secs_f64().max(1e-9);
        // What was taken between may have been little, and what was written long.
        let wanted = (taken as f64 * fraction) as u64;
        self.pace = wanted.clamp(1, 4 * self.pace);
        (self.last, self.looked) = (steps, Instant::now());
    }

    /// Steps and sweeps of this run.
    pub(super) fn counts(&self, simulation: &Simulation<T>) -> Counts {
        let (all, first) = (simulation.counts(), self.first);
        Counts {
            steps: all.steps - first.steps,
            rejected: all.rejected - first.rejected,
            sweeps: all.sweeps - first.sweeps,
        }
    }

    /// Updates of cells in this run; every stage of a step is one.
    pub(super) fn updates(&self, simulation: &Simulation<T>) -> f64 {
        let sweeps = self.counts(simulation).sweeps;
        sweeps as f64 * self.case.problem.cells() as f64
    }

    fn checkpoint_is_due(&self) -> bool {
        let cost = Duration::from_micros(self.signals.checkpoint_cost.load(Ordering::Relaxed));
        self.last_checkpoint.elapsed() >= self.every.max(cost * FRACTION)
    }

    /// Sends the present state to be written, where any file is asked for.
    pub(super) fn state(&mut self, simulation: &Simulation<T>) -> Result<(), Error> {
        let t = time_told(simulation);
        // Copying a state for nobody takes as long as many steps.
        if self.case.output.writes_states() {
            let room = self.outbox.room();
            let field = simulation.snapshot()?;
            self.outbox.copy(Message::State { t, field }, room);
        }
        self.header.frames.push(t.to_bits());
        Ok(())
    }

    /// Sends rows of the tables.
    pub(super) fn rows(&mut self, simulation: &Simulation<T>) -> Result<(), Error> {
        if let Some(series) = &self.case.output.series {
            let lines = series::lines(series, &self.case.problem.grid, simulation)?;
            let series = series::row(series, simulation)?;
            let bytes = series.len() + lines.len();
            self.outbox.text(Message::Rows { series, lines }, bytes);
        }
        Ok(())
    }

    /// Sends the present state for its structure factors.
    pub(super) fn structure(&mut self, simulation: &Simulation<T>) -> Result<(), Error> {
        if self.case.output.structure.is_some() {
            let room = self.outbox.room();
            let (step, t, field) =
                (simulation.counts().steps, time_told(simulation), simulation.snapshot()?);
            self.outbox.copy(Message::Structure { step, t, field }, room);
        }
        Ok(())
    }

    /// Marks what a run to a later end would have written too, before what is written of this end.
    pub(super) fn mark(&mut self) {
        self.last_header = Some(self.header.clone());
        self.outbox.text(Message::Mark, 0);
    }

    /// Sends a checkpoint, unless no run may go on from here: then that of before stays.
    pub(super) fn checkpoint(&mut self, simulation: &Simulation<T>) -> Result<(), Error> {
        if let Some(clock) = simulation.clock_to_keep()? {
            let room = self.outbox.room();
            let (header, field) = (Box::new(self.header.clone()), simulation.snapshot()?);
            self.outbox.copy(Message::Checkpoint { header, clock, field }, room);
        }
        self.last_checkpoint = Instant::now();
        Ok(())
    }
}
