//! Many steps of forward Euler on GPUs, and the way back from those that fail.
//!
//! What is not finite stays so: u + h F(u) of such a u is not finite either. So a field is
//! looked through once after many steps, and when one of its values is non-finite these steps are
//! taken again from a state that was kept, one by one, up to the last finite one. From there it is also
//! come back to where a batch began when the device fails on the way.

use super::engine::Engine;
use super::part::{self, Part, StepLaunch, Sweep};
use super::step;
use super::step_cache::{RecordingKey, ReturnPoint};
use crate::backend::{Backend, Batch, Slot, StepsTaken};
use odeum_cuda::{Device, Stream};
use odeum_ode::{Error, Scalar};

/// Kernels in a recording: an even number, after which the fields are where they were.
const RECORDED: usize = 64;

/// Bytes of a field from which on nothing is gained by recording.
const LARGE: usize = 256 << 20;

/// Steps after which a field is looked through, at most; it costs half a step.
const LOOK: u64 = 256;

/// Steps after which another state is kept, at most; it costs a step.
const KEEP: u64 = 512;

/// So many times these of fields that are kept in the cache, where to wait for a look costs more
/// than a step.
const PATIENCE: u64 = 8;

/// The place of the kept state among the fields.
const KEPT: usize = 2;

impl<T: Scalar, D: Device> Engine<T, D> {
    /// Takes a batch. Of one that fails nothing is left, or the state is lost.
    pub(super) fn take(&mut self, batch: &Batch) -> Result<StepsTaken, Error> {
        let place = self.parts[0].address(Slot::Now);
        self.forward(batch).inspect_err(|_| {
            if batch.count > 1 {
                self.euler.lost = self.back(batch).is_err();
            } else if self.parts[0].address(Slot::Now) != place {
                self.swap(Slot::Now, Slot::Next);
            }
        })
    }

    /// Returns to the state that a batch of several steps began with.
    fn back(&mut self, batch: &Batch) -> Result<(), Error> {
        // Without one no step was taken.
        let Some(point) = self.euler.return_point else { return Ok(()) };
        self.restore(KEPT, Slot::Now as usize)?;
        self.steps(&Batch { first: point.at, ..*batch }, 0, batch.first - point.at)
    }

    /// Steps up to the end of a batch, or to where another state is kept.
    fn forward(&mut self, batch: &Batch) -> Result<StepsTaken, Error> {
        let mut done = 0;
        while done < batch.count {
            let count = (batch.count - done).min(LOOK * self.patience());
            // After a single step the state before it is still there.
            if count > 1 && !self.reaches(batch, done + count) {
                if done > 0 {
                    break;
                }
                self.keep(batch)?;
            }
            self.steps(batch, done, count)?;
            let Some(place) = self.non_finite(Slot::Now)? else {
                done += count;
                continue;
            };
            if count == 1 {
                self.swap(Slot::Now, Slot::Next);
                return Ok(StepsTaken { steps: done, non_finite: Some(place) });
            }
            let (steps, non_finite) = self.find(batch, done, count)?;
            return Ok(StepsTaken { steps: done + steps, non_finite });
        }
        Ok(StepsTaken { steps: done, non_finite: None })
    }

    fn patience(&self) -> u64 {
        let part = &self.parts[0];
        if part::is_small(&part.plan, &part.shape) { PATIENCE } else { 1 }
    }

    /// Whether a state is kept from which the steps of the batch up to step `to` can be taken again.
    fn reaches(&self, batch: &Batch, to: u64) -> bool {
        let keep = KEEP * self.patience();
        self.euler.return_point.as_ref().is_some_and(|point| {
            point.origin == batch.origin
                && point.h == batch.h
                && point.at <= batch.first
                && batch.first + to <= point.at.saturating_add(keep)
        })
    }

    /// Keeps the state that a batch begins with.
    fn keep(&mut self, batch: &Batch) -> Result<(), Error> {
        self.euler.return_point = None;
        self.restore(Slot::Now as usize, KEPT)?;
        self.euler.return_point =
            Some(ReturnPoint { origin: batch.origin, h: batch.h, at: batch.first });
        Ok(())
    }

    /// Goes from the kept state to the last finite one among `count` steps from step `done` on:
    /// how many of these are finite, and the first value of the next that is not.
    fn find(&mut self, batch: &Batch, done: u64, count: u64) -> Result<FiniteSteps, Error> {
        if let Some(point) = self.euler.return_point {
            self.restore(KEPT, Slot::Now as usize)?;
            let again = Batch { first: point.at, ..*batch };
            // Up to here all was finite.
            self.steps(&again, 0, batch.first + done - point.at)?;
        }
        for n in 0..count {
            self.steps(batch, done + n, 1)?;
            if let Some(place) = self.non_finite(Slot::Now)? {
                self.swap(Slot::Now, Slot::Next);
                return Ok((n, Some(place)));
            }
        }
        // Several steps at once have the bits of one by one, so this does not happen.
        Ok((count, None))
    }

    /// Gives `count` steps from step `from` of a batch on to the GPUs.
    fn steps(&mut self, batch: &Batch, from: u64, count: u64) -> Result<(), Error> {
        let h = batch.h;
        // What is waited for is not timed.
        for most in [count, count % self.fastest().depth as u64] {
            if most > 0 {
                self.step((batch, from), most)?;
            }
        }
        let piece = RECORDED as u64 * self.fastest().depth as u64;
        if count >= piece {
            self.record(batch, from)?;
        }
        self.parts.iter().try_for_each(|part| part.stream.record_time(0))?;
        let mut done = 0;
        while done < count {
            let place = self.parts[0].address(Slot::Now);
            if count - done >= piece
                && let Some(recording) = self.recording(RecordingKey { h, from: place })
            {
                self.parts[0].stream.launch_graph(recording)?;
                done += piece;
                continue;
            }
            let (taken, launches) = self.step((batch, from + done), count - done)?;
            self.give(&launches, Slot::Next)?;
            self.swap(Slot::Now, Slot::Next);
            done += taken;
        }
        self.settle()?;
        self.parts.iter().try_for_each(|part| part.stream.record_time(1))?;
        let mut longest: f64 = 0.0;
        for part in &self.parts {
            part.stream.wait()?;
            longest = longest.max(part.stream.elapsed_ms(0, 1)? * 1e-3);
        }
        self.euler.seconds += longest;
        Ok(())
    }

    /// A step of a batch, or several where `most` and the kernels that are there allow it: how many,
    /// and what each part sweeps.
    fn step(
        &mut self,
        (batch, from): (&Batch, u64),
        most: u64,
    ) -> Result<(u64, Vec<StepLaunch<D>>), Error> {
        let sweeps = |parts: &[Part<T, D>], count: usize| -> Option<Vec<Sweep<T>>> {
            parts.iter().map(|part| part.steps(batch, from, count)).collect()
        };
        let depth = self.fastest().depth;
        let several = if most < depth as u64 { None } else { sweeps(&self.parts, depth) };
        let most = if several.is_some() { depth } else { 1 };
        // Kernels that take a single step read the first of several.
        let sweeps = several.or_else(|| sweeps(&self.parts, 1)).unwrap_or_default();
        let (tiling, launches) = self.prepare(most, &sweeps)?;
        Ok((tiling.depth as u64, launches))
    }

    /// Records many steps, where that serves: those of one GPU, which waits for no other.
    fn record(&mut self, batch: &Batch, from: u64) -> Result<(), Error> {
        let part = &self.parts[0];
        let recorded = RecordingKey { h: batch.h, from: part.address(Slot::Now) };
        if self.recording(recorded).is_some() {
            return Ok(());
        }
        let small = self.parts.len() == 1 && part.bytes() < LARGE;
        if !small || !step::is_steady(&self.problem, &part.plan) {
            return Ok(());
        }
        let fastest = self.fastest();
        let launches = self.step((batch, from), fastest.depth as u64)?.1;
        if launches[0].tiling() != fastest {
            return Ok(());
        }
        let part = &self.parts[0];
        let recording = part.stream.capture(|| {
            let there_and_back = [&launches[0], &launches[0].reversed()];
            (0..RECORDED).try_for_each(|n| part.sweep_inner(there_and_back[n % 2]))
        })?;
        if self.euler.recordings.len() > 1 {
            self.euler.recordings.clear();
        }
        self.euler.recordings.extend(recording.map(|recording| (recorded, recording)));
        Ok(())
    }

    fn recording(&self, wanted: RecordingKey) -> Option<&D::Graph> {
        let found = self.euler.recordings.iter().find(|(recorded, _)| *recorded == wanted);
        found.map(|(_, recording)| recording)
    }
}

/// Finite steps, and the first value of the next that is non-finite.
type FiniteSteps = (u64, Option<(usize, [usize; 3])>);
