//! Step by step to a time, by the method and the steps of a simulation.

use super::{Failure, Outcome, Simulation};
use crate::backend::{Backend, Batch, Blend, Slot, StepsTaken};
use crate::cpu::sweep::Precision;
use crate::simulation::checkpoint::{Clock, MOST_COUNTED};
use crate::simulation::growth::shortest;
use crate::time::method::{MARGIN, Method, Steps};
use crate::time::stages::{self, SweepResult};
use odeum_ode::controller::{exact_step, no_shorter_step, shorter_step};
use odeum_ode::{Error, Rkc, Status};
use std::cell::Cell;
use std::ops::ControlFlow;

/// Steps after which the spectral radius is computed anew.
pub(super) const RADIUS_EVERY: u64 = Rkc::RADIUS_EVERY as u64;

/// Steps since it was computed where it is to be computed anew at once.
const OUTDATED: u64 = MOST_COUNTED;

/// Steps that end this close to a time asked for, as a part of the step, end at it, if rounding can have made the difference.
const NEAR: f64 = 1e-9;

/// The same where units in the last place of times are that large.
const COARSE: f64 = 1e-3;

/// Units roundoff, of the larger times, that rounding can make of the end of many steps.
const TIME_EPSILONS: f64 = 8.0;

/// Parts of a step at whose ends what is given is looked at where a step has failed.
const STAGES: u32 = 16;

/// F alone.
const RHS: Blend<'_> = Blend { rhs: 1.0, own: None, terms: &[] };

/// A species and a cell.
type Place = (usize, [usize; 3]);

/// What became of an attempt.
enum Attempt {
    /// There was nothing left to do.
    AtEnd,
    Made,
    Failed(Failure),
    /// Left on its way: the state is that before it.
    Stopped,
}

/// What became of a step.
enum Step {
    Taken(StepsTaken),
    Stopped,
}

/// Asks between the sweeps of a step whether to stop.
struct Pause<'a> {
    is_stopped: &'a dyn Fn() -> bool,
    stopped: bool,
    sweeps: u64,
}

impl<'a> Pause<'a> {
    fn new(is_stopped: &'a dyn Fn() -> bool) -> Self {
        Pause { is_stopped, stopped: false, sweeps: 0 }
    }

    fn after_sweep<T>(&mut self) -> impl FnMut(&mut dyn Backend<T>, Slot) -> SweepResult {
        |_, _| {
            self.sweeps += 1;
            self.stopped = (self.is_stopped)();
            Ok(if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        }
    }
}

impl<T: Precision> Simulation<T> {
    /// Takes a number of steps of fixed size; every `every` steps, and at the end, `watch` is
    /// called and may stop the simulation.
    ///
    /// # Errors
    /// As [`run_every`](Simulation::run_every), and steps whose size is not fixed.
    pub fn run_steps(
        &mut self,
        steps: u64,
        every: u64,
        watch: &mut dyn FnMut(&Simulation<T>) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        let found = match self.options.steps {
            Steps::Fixed(h) => return self.run_every(self.end_of(steps, h), every, watch),
            Steps::Fraction(_) => "a fraction of the largest",
            Steps::Adaptive(_) => "adaptive",
        };
        Err(Error::input("steps", found, "a number of steps wants a fixed size"))
    }

    /// Goes on to time `end`; every `every` steps, and at the end, `watch` is called and may stop
    /// the simulation. An error is said of what cannot be begun; what fails on the way is an
    /// [`Outcome`]. After an error of a device the simulation stands at the time that it says it has reached, and can go on
    /// from there if the device can; where the way back to that state failed too, all that needs it is refused.
    ///
    /// The limits of the steps are judged by the field of that moment, and larger steps refused; anew
    /// where velocity or rates change with time, or waves that decay slowly limit the steps, and `end` lies beyond the times that
    /// were judged: steps of a fraction become shorter then. A simulation that is taken up from a checkpoint is not
    /// refused what it was allowed up to the end that it had. Where limits
    /// depend on the field they are judged again on the way, and at the end: steps that have become too
    /// large end the simulation as [`Outcome::Unstable`] unless they are forced.
    ///
    /// # Errors
    /// An end that is not finite or lies before the present time, steps that are not stable, and a driver that fails.
    pub fn run_every(
        &mut self,
        end: f64,
        every: u64,
        watch: &mut dyn FnMut(&Simulation<T>) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        let (begun, mut watched) = (self.clock.counts.steps, None);
        // How many steps are left to the next multiple of `every`.
        let ahead = |steps: u64| if every > 0 { every - steps % every } else { u64::MAX };
        let outcome = self.run(end, &mut |simulation| {
            let steps = simulation.counts().steps;
            let due = every > 0 && steps.is_multiple_of(every) && steps != begun;
            if due && watched != Some(steps) {
                watched = Some(steps);
                watch(simulation)?;
            }
            ControlFlow::Continue(ahead(steps))
        })?;
        let at_end = outcome == Outcome::Reached && watched != Some(self.clock.counts.steps);
        if at_end && watch(self).is_break() {
            return Ok(Outcome::Stopped);
        }
        Ok(outcome)
    }

    /// Goes on to time `end` without watching.
    ///
    /// # Errors
    /// As [`run_every`](Simulation::run_every).
    pub fn advance_to(&mut self, end: f64) -> Result<Outcome, Error> {
        self.run_every(end, 0, &mut |_| ControlFlow::Continue(()))
    }

    /// Goes on to time `end`. `watch` is called before the first step and says how many steps
    /// at most are taken before it is called again, or stops the simulation; these are taken at once,
    /// without a word from this side.
    ///
    /// # Errors
    /// As [`run_every`](Simulation::run_every).
    pub fn run(
        &mut self,
        end: f64,
        watch: &mut dyn FnMut(&Simulation<T>) -> ControlFlow<(), u64>,
    ) -> Result<Outcome, Error> {
        if !(end.is_finite() && end >= self.clock.t - self.near(end)) {
            let remedy = format!("must be finite and not before {}", self.clock.t);
            return Err(Error::input("end", end, remedy));
        }
        self.device_time = self.whole()?.device_time().unwrap_or(0.0);
        self.judge_stability(end)?;
        loop {
            let ControlFlow::Continue(most) = watch(self) else { return Ok(Outcome::Stopped) };
            if let Some(unstable) = self.judge_again(end, false)? {
                return Ok(unstable);
            }
            if let Some(unstable) = self.judge_stages(end)? {
                return Ok(Outcome::Unstable(unstable));
            }
            match self.attempt(end, most.clamp(1, self.unjudged()))? {
                Attempt::AtEnd => {
                    return Ok(self.judge_again(end, true)?.unwrap_or(Outcome::Reached));
                }
                Attempt::Failed(failure) => return Ok(Outcome::Failed(failure)),
                Attempt::Stopped => return Ok(Outcome::Stopped),
                Attempt::Made => {}
            }
        }
    }

    /// One attempt towards `end`, or up to `most` steps of forward Euler.
    fn attempt(&mut self, end: f64, most: u64) -> Result<Attempt, Error> {
        let attempts = self.clock.counts.steps + self.clock.counts.rejected;
        let (h, whole) = match self.size() {
            Some(h) => {
                if end - self.clock.t <= self.near(end) {
                    return Ok(Attempt::AtEnd);
                }
                if self.ends_within(1, end) { (h, true) } else { (end - self.clock.t, false) }
            }
            None => {
                let left = end - self.clock.t;
                if left <= 0.0 {
                    return Ok(Attempt::AtEnd);
                }
                // After the first attempt a step of zero is one that was rejected at t = 0 until nothing was left of it.
                if attempts == 0 {
                    let radius = self.clock.radius;
                    let first = (1.0 / radius).max(shortest(self.clock.t));
                    self.clock.next_step = if radius > 0.0 { first } else { left };
                    self.watch_growth(self.growth_at_start())?;
                }
                let cut = self.clock.next_step >= left;
                (if cut { left } else { self.clock.next_step }, !cut)
            }
        };
        if attempts >= self.options.max_steps {
            return Ok(Attempt::Failed(self.failure(Status::MaxSteps, None)));
        }
        if self.clock.t + h == self.clock.t {
            if !self.clock.non_finite {
                return Ok(Attempt::Failed(self.failure(Status::StepTooSmall, None)));
            }
            let place = match self.non_finite {
                Some(h) => self.trace(h)?,
                None => None,
            };
            return Ok(Attempt::Failed(self.failure(Status::NonFinite, place)));
        }
        let step = match self.options.method {
            Method::Euler => {
                let most = if whole { most.min(self.options.max_steps - attempts) } else { 1 };
                Step::Taken(self.euler(h, end, most)?)
            }
            Method::Ssprk3 => self.strong(h)?,
            Method::Rkc { .. } | Method::Rkl2 { .. } => self.stabilised(h, end, whole)?,
        };
        let Step::Taken(StepsTaken { steps: taken, non_finite }) = step else {
            self.backend.leave();
            return Ok(Attempt::Stopped);
        };
        if let Some(h) = self.size()
            && taken > 0
        {
            self.clock.counts.steps += taken;
            self.clock.judged_in = u64::from(self.clock.judged_in).saturating_sub(taken) as u32;
            if whole {
                self.clock.since_origin += taken;
                self.clock.t = self.clock.origin + self.clock.since_origin as f64 * h;
            } else {
                (self.clock.t, self.clock.origin, self.clock.since_origin) = (end, end, 0);
            }
        }
        Ok(non_finite.map_or(Attempt::Made, |place| {
            Attempt::Failed(self.failure(Status::NonFinite, Some(place)))
        }))
    }

    /// Whether so many more whole steps of fixed size end before `end`, or at it.
    pub(super) fn ends_within(&self, steps: u64, end: f64) -> bool {
        let Some(h) = self.size() else { return false };
        self.end_of(steps, h) <= end + self.near(end)
    }

    /// The time after so many more steps of this size.
    fn end_of(&self, steps: u64, h: f64) -> f64 {
        self.clock.origin + self.clock.since_origin.saturating_add(steps) as f64 * h
    }

    /// By how much a step of fixed size may miss `end` and still end there. A part of the step alone would leave out the rest
    /// of a span that is much shorter than a step.
    pub(super) fn near(&self, end: f64) -> f64 {
        let rounding = TIME_EPSILONS * f64::EPSILON * (end.abs() + self.clock.origin.abs());
        // Below two units in the last place of the end nothing would be left out.
        let least = 2.0 * f64::EPSILON * end.abs();
        self.size().map_or(rounding, |h| rounding.min(NEAR * h).max(least.min(COARSE * h)))
    }

    fn failure(&self, status: Status, non_finite: Option<Place>) -> Failure {
        let place = non_finite.map(|(s, cell)| (self.problem.model.species()[s].clone(), cell));
        let (t, h) = (self.clock.t, self.non_finite.or(self.size()).unwrap_or(0.0));
        let of_stages: Vec<f64> =
            (0..=STAGES).map(|k| t + h * f64::from(k) / f64::from(STAGES)).collect();
        // A problem that is being solved has no mistakes.
        let given = place.as_ref().and_then(|_| self.problem.not_finite(&of_stages).ok().flatten());
        Failure { status, t, steps: self.clock.counts.steps, place, given }
    }

    /// Up to `most` steps of size `h`, which end before `end` but for the first.
    fn euler(&mut self, h: f64, end: f64, most: u64) -> Result<StepsTaken, Error> {
        let mut count = most.min((((end - self.clock.t) / h) as u64).saturating_add(1)).max(1);
        while count > 1 && !self.ends_within(count, end) {
            count -= 1;
        }
        let Clock { t, origin, since_origin, .. } = self.clock;
        // A step that is cut has a sequence of its own.
        let cut = count == 1 && !self.ends_within(1, end);
        let (origin, first) = if cut { (t, 0) } else { (origin, since_origin) };
        let batch = Batch { origin, h, first, count };
        let taken = self.backend.euler(&batch)?;
        self.clock.counts.sweeps += taken.steps + u64::from(taken.non_finite.is_some());
        Ok(taken)
    }

    /// A step of SSPRK3.
    fn strong(&mut self, h: f64) -> Result<Step, Error> {
        let Simulation { backend, is_stopped, clock, .. } = self;
        let mut pause = Pause::new(is_stopped);
        stages::strong_step(backend.as_mut(), (clock.t, h), &mut pause.after_sweep())?;
        self.clock.counts.sweeps += pause.sweeps;
        if pause.stopped {
            return Ok(Step::Stopped);
        }
        self.take_over(h)
    }

    /// Makes what a step of size `h` has ended in the state, if all of it is finite.
    fn take_over(&mut self, h: f64) -> Result<Step, Error> {
        let non_finite = self.backend.non_finite(Slot::Next)?;
        if non_finite.is_none() {
            self.backend.swap(Slot::Now, Slot::Next);
            return Ok(Step::Taken(StepsTaken { steps: 1, non_finite: None }));
        }
        let non_finite = self.trace(h)?.or(non_finite);
        Ok(Step::Taken(StepsTaken { steps: 0, non_finite }))
    }

    /// Takes a step by stages again, and finds the first value that is not finite where it arises:
    /// stages after that spread it.
    fn trace(&mut self, h: f64) -> Result<Option<Place>, Error> {
        let (t, method) = (self.clock.t, self.options.method);
        let found = Cell::new(None);
        let mut after_sweep = |backend: &mut dyn Backend<T>, slot: Slot| {
            found.set(backend.non_finite(slot)?);
            Ok(match found.get() {
                None => ControlFlow::Continue(()),
                Some(_) => ControlFlow::Break(()),
            })
        };
        let backend = self.backend.as_mut();
        match method {
            Method::Euler => {}
            Method::Ssprk3 => stages::strong_step(backend, (t, h), &mut after_sweep)?,
            Method::Rkc { .. } | Method::Rkl2 { .. } => {
                self.has_rhs = false;
                backend.sweep(t, Slot::Now, &RHS, Slot::Rhs)?;
                if after_sweep(backend, Slot::Rhs)?.is_continue() {
                    let stages = method.stages(h, self.clock.radius);
                    stages::step(backend, method, stages, (t, h), &mut after_sweep)?;
                }
                if found.get().is_none() {
                    backend.sweep(t + h, Slot::Next, &RHS, Slot::Older)?;
                    let _ = after_sweep(backend, Slot::Older)?;
                }
            }
        }
        Ok(found.get())
    }

    /// How fast something grew, and the largest |λ| of what did, where steps were judged before the first.
    fn growth_at_start(&self) -> [f64; 2] {
        self.judged.as_ref().map_or([0.0; 2], |it| [it.limits.growth, it.limits.growing_radius])
    }

    /// Computes the spectral radius anew where that is due, for steps of about size `h`, and how fast something grows unseen; the latter
    /// also where it holds steps, so that it does not for longer than it grows.
    fn update_radius(&mut self, h: f64) -> Result<(), Error> {
        let adaptive = matches!(self.options.steps, Steps::Adaptive(_));
        let (every, age) = (self.radius_every(), self.clock.radius_age);
        let is_held = adaptive && h > self.longest();
        if age < every && !(is_held && age > 0 && every == RADIUS_EVERY) {
            return Ok(());
        }
        let mut growth = self.growth_at_start();
        if self.judge.changes(&self.problem) {
            let h = h.min(self.longest());
            let limits = self.limits_now(every as f64 * h, h)?;
            (self.clock.radius, self.clock.radius_age) = (limits.radius, 0);
            growth = [limits.growth, limits.growing_radius];
        }
        if adaptive {
            self.clock.radius_age = 0;
            self.watch_growth(growth)?;
        }
        Ok(())
    }

    /// A step by stages; an adaptive one also moves the clock, or proposes a smaller step.
    fn stabilised(&mut self, h: f64, end: f64, whole: bool) -> Result<Step, Error> {
        let adaptive = matches!(self.options.steps, Steps::Adaptive(_));
        self.update_radius(h)?;
        let t = self.clock.t;
        if !self.has_rhs {
            self.backend.sweep(t, Slot::Now, &RHS, Slot::Rhs)?;
            self.clock.counts.sweeps += 1;
        }
        let method = self.options.method;
        let mut h = if adaptive && whole { exact_step(t, h) } else { h };
        if adaptive && h > self.longest() {
            h = exact_step(t, self.longest()).min(h);
        }
        let mut stages = method.stages(h, self.clock.radius);
        if let Steps::Adaptive(tolerance) = &self.options.steps {
            // Rounding errors of the stages stay below the tolerance (SSV).
            let most = (tolerance.rtol / (10.0 * T::EPSILON)).sqrt().round().max(2.0) as u32;
            if stages > most.min(Method::MOST_STAGES) {
                stages = most.min(Method::MOST_STAGES);
                h = exact_step(t, method.reach(stages) / (self.clock.radius * MARGIN)).min(h);
            }
        }
        if adaptive && t + h == t {
            // The next attempt says so.
            self.clock.next_step = h;
            return Ok(Step::Taken(StepsTaken { steps: 0, non_finite: None }));
        }
        let Simulation { backend, is_stopped, .. } = self;
        let mut pause = Pause::new(is_stopped);
        stages::step(backend.as_mut(), method, stages, (t, h), &mut pause.after_sweep())?;
        self.clock.counts.sweeps += pause.sweeps.saturating_sub(1);
        if pause.stopped {
            // Its F is still that of the state.
            self.has_rhs = true;
            return Ok(Step::Stopped);
        }
        match self.options.steps.clone() {
            Steps::Fixed(_) | Steps::Fraction(_) => {
                self.clock.radius_age += 1;
                self.has_rhs = false;
                self.take_over(h)
            }
            Steps::Adaptive(tolerance) => {
                let reached = !whole && t + h >= end;
                // F at the time that the clock will have: a run that is taken up there computes it again.
                let then = if reached { end } else { t + h };
                self.backend.sweep(then, Slot::Next, &RHS, Slot::Older)?;
                self.clock.counts.sweeps += 1;
                let error = self.backend.rkc_error(&tolerance, h)?;
                if error.is_nan() {
                    self.non_finite = Some(h);
                }
                self.settle(h, (then, reached), error);
                Ok(Step::Taken(StepsTaken { steps: 0, non_finite: None }))
            }
        }
    }

    /// Accepts or rejects an adaptive step of size `h` to time `then`, which may be that asked for, by its error.
    fn settle(&mut self, h: f64, (then, reached): (f64, bool), error: f64) {
        let (accepted, factor) = self.control.judge(h, error);
        self.clock.non_finite = error.is_nan();
        self.has_rhs = true;
        if !accepted {
            self.clock.counts.rejected += 1;
            self.clock.next_step = shorter_step(self.clock.t, h, h * factor);
            self.clock.radius_age = OUTDATED;
            self.count_held(h, false);
            return;
        }
        self.clock.t = then;
        // A step cut short says little against the one proposed before the cut.
        let proposed = if reached { self.clock.next_step } else { 0.0 };
        self.clock.next_step = no_shorter_step(then, h, h * factor).max(proposed);
        self.count_held(h, true);
        self.clock.counts.steps += 1;
        self.clock.radius_age += 1;
        self.backend.swap(Slot::Now, Slot::Next);
        self.backend.swap(Slot::Rhs, Slot::Older);
    }
}
