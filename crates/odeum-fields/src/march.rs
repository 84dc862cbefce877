//! From one time to another, watched.

use crate::checkpoint::{Checkpoint, Clock};
use crate::engine::Engine;
use crate::field::Field;
use crate::method::{MARGIN, MOST_STAGES, Method, Steps};
use crate::problem::Problem;
use crate::reduce::{Summary, first_spoiled};
use crate::stability::{Stability, stability};
use crate::stages::{self, Work};
use crate::sweep::{Combination, Precision};
use odeum::controller::{Control, Controller};
use odeum::{Cpu, Error, Status};
use std::ops::ControlFlow;

/// Options of a march.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The method.
    pub method: Method,
    /// How large steps are.
    pub steps: Steps,
    /// Take steps that are larger than the method is stable for.
    pub force: bool,
    /// Step attempts after which a march ends with [`Status::MaxSteps`].
    pub max_steps: u64,
}

impl Options {
    /// Forward Euler with this step \[time\].
    pub fn euler(step: f64) -> Options {
        Options::new(Method::Euler, Steps::Fixed(step))
    }

    /// A method and how large its steps are.
    pub fn new(method: Method, steps: Steps) -> Options {
        Options { method, steps, force: false, max_steps: u64::MAX }
    }
}

/// How a march ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The time or number of steps asked for was reached.
    Reached,
    /// The observer asked to stop.
    Stopped,
    /// It could not go on; the field is that of the last step that succeeded.
    Failed(Failure),
}

/// Why a march could not go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// [`Status::NonFinite`], [`Status::StepTooSmall`] or [`Status::MaxSteps`].
    pub status: Status,
    /// The time up to which the field is sound \[time\].
    pub t: f64,
    /// Steps up to there.
    pub steps: u64,
    /// The first value that is NaN or infinite: its species, and its cell \[i, j, k\].
    pub place: Option<(String, [usize; 3])>,
}

/// Counts of a march.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps that succeeded.
    pub steps: u64,
    /// Steps that were too inaccurate and taken again.
    pub rejected: u64,
    /// Evaluations of F over all cells.
    pub slopes: u64,
}

/// A field on its way through time.
pub struct March<T: Precision> {
    problem: Problem,
    engine: Engine<T>,
    options: Options,
    field: Field<T>,
    clock: Clock,
    control: Control<f64>,
    /// What the next step is written to; of the stabilised methods, all they work in.
    next: Option<Field<T>>,
    work: Option<Work<T>>,
    /// Whether `work.slope` is F at the present state.
    has_slope: bool,
    judged: Option<Judged>,
}

/// Limits of the steps, and the time up to which they hold \[time\]; infinite where nothing
/// changes with time.
#[derive(Clone, Copy, Debug)]
struct Judged {
    limits: Stability,
    until: f64,
}

/// Steps after which the spectral radius is computed anew.
const RADIUS_EVERY: u64 = 25;

/// Steps end this close to a time asked for, as a part of the step.
const NEAR: f64 = 1e-9;

/// Fields that a march needs at once.
pub fn fields_needed(method: Method) -> usize {
    match method {
        Method::Euler => 2,
        Method::Rkc { .. } | Method::Rkl2 { .. } => 4,
    }
}

impl<T: Precision> March<T> {
    /// Begins at time `t` with the values of a field.
    pub fn new(
        problem: &Problem,
        field: Field<T>,
        t: f64,
        options: &Options,
        cpu: &Cpu,
    ) -> Result<March<T>, Error> {
        March::resume(problem, Checkpoint { field, clock: Clock::at(t) }, options, cpu)
    }

    /// Goes on from a checkpoint: with the same problem and options the result has the same bits
    /// as without the interruption.
    pub fn resume(
        problem: &Problem,
        checkpoint: Checkpoint<T>,
        options: &Options,
        cpu: &Cpu,
    ) -> Result<March<T>, Error> {
        let engine = Engine::new(problem, cpu)?;
        let Checkpoint { field, clock } = checkpoint;
        engine.check(&field)?;
        options.method.check(&options.steps)?;
        if let Steps::Adaptive(tolerance) = &options.steps {
            tolerance.check::<T>(field.species())?;
        }
        if !clock.t.is_finite() {
            return Err(Error::input("t", clock.t, "must be finite"));
        }
        if let Some((s, cell)) = first_spoiled(&field) {
            let name = format!("{} in cell {cell:?}", problem.model.species()[s]);
            return Err(Error::input(name, field.get(s, cell), "must be finite"));
        }
        let mut control = Control::new(Controller::predictive(), 2);
        control.restore(clock.control);
        let (mut next, mut work) = (None, None);
        match options.method {
            Method::Euler => next = Some(engine.zeros()?),
            _ => {
                let (slope, newest) = (engine.zeros()?, engine.zeros()?);
                work = Some(Work { slope, newest, older: engine.zeros()? });
            }
        }
        Ok(March {
            problem: problem.clone(),
            engine,
            options: options.clone(),
            field,
            clock,
            control,
            next,
            work,
            has_slope: false,
            judged: None,
        })
    }

    /// The time reached \[time\].
    pub fn t(&self) -> f64 {
        self.clock.t
    }

    /// The field there.
    pub fn field(&self) -> &Field<T> {
        &self.field
    }

    /// What has been done since the march began, interruptions included.
    pub fn counts(&self) -> Counts {
        self.clock.counts
    }

    /// Sum, mass, mean and extremes of every species.
    pub fn summaries(&self) -> Vec<Summary> {
        self.engine.summaries(&self.field)
    }

    /// Limits of the steps, as they were judged last; `None` before the first step.
    pub fn stability(&self) -> Option<&Stability> {
        self.judged.as_ref().map(|judged| &judged.limits)
    }

    /// Takes over limits that [`stability`](crate::stability()) has found for times up to `until`:
    /// where wind or rates change with time, one judgement of a whole span instead of one for
    /// each call of [`until`](March::until) within it.
    pub fn set_stability(&mut self, limits: Stability, until: f64) {
        let until = if self.problem.changes_with_time() { until } else { f64::INFINITY };
        self.judged = Some(Judged { limits, until });
        if self.clock.radius == 0.0 {
            self.clock.radius = limits.radius;
        }
    }

    /// All that [`March::resume`] needs.
    pub fn checkpoint(&self) -> Checkpoint<T> {
        let clock = Clock { control: self.control.memory(), ..self.clock };
        Checkpoint { field: self.field.clone(), clock }
    }

    /// Takes a number of steps of fixed size; every `every` steps, and at the end, `watch` is
    /// called and may stop the march.
    pub fn steps(
        &mut self,
        steps: u64,
        every: u64,
        watch: &mut dyn FnMut(&March<T>) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        let Steps::Fixed(h) = self.options.steps else {
            return Err(Error::input("steps", "adaptive", "a number of steps wants a fixed size"));
        };
        let end = self.clock.origin + (self.clock.since_origin + steps) as f64 * h;
        self.until(end, every, watch)
    }

    /// Goes on to time `end`; every `every` steps, and at the end, `watch` is called and may stop
    /// the march. An error is said of what cannot be begun; what fails on the way is an
    /// [`Outcome`].
    ///
    /// The limits of the steps are judged once, by the field of that moment; anew where wind or
    /// rates change with time and `end` lies beyond the times that were judged.
    pub fn until(
        &mut self,
        end: f64,
        every: u64,
        watch: &mut dyn FnMut(&March<T>) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        if !(end.is_finite() && end >= self.clock.t - NEAR) {
            let remedy = format!("must be finite and not before {}", self.clock.t);
            return Err(Error::input("end", end, remedy));
        }
        self.judge_stability(end)?;
        let mut watched = None;
        while let Some(failed) = self.attempt(end)? {
            if let Some(failure) = failed {
                return Ok(Outcome::Failed(failure));
            }
            let steps = self.clock.counts.steps;
            if every > 0 && steps.is_multiple_of(every) && watched != Some(steps) {
                watched = Some(steps);
                if watch(self).is_break() {
                    return Ok(Outcome::Stopped);
                }
            }
        }
        if watched != Some(self.clock.counts.steps) && watch(self).is_break() {
            return Ok(Outcome::Stopped);
        }
        Ok(Outcome::Reached)
    }

    /// Computes the limits of the steps, and refuses larger ones.
    fn judge_stability(&mut self, end: f64) -> Result<(), Error> {
        if self.judged.is_none_or(|judged| end > judged.until) {
            let limits = stability(&self.problem, &self.field, (self.clock.t, end))?;
            self.set_stability(limits, end);
        }
        let (Steps::Fixed(h), Some(stability)) = (&self.options.steps, self.stability()) else {
            return Ok(());
        };
        let stages = match self.options.method {
            Method::Rkc { stages } | Method::Rkl2 { stages } => stages.unwrap_or(MOST_STAGES),
            Method::Euler => 1,
        };
        let largest = self.options.method.largest_stable_step(stability, stages);
        if *h > largest * (1.0 + 1e-9) && !self.options.force {
            let remedy =
                format!("stable up to {largest:.6e} here; take less, more stages, or force it");
            return Err(Error::input("step", h, remedy));
        }
        Ok(())
    }

    /// One attempt towards `end`: `None` where it is reached, else the failure, if it is one.
    fn attempt(&mut self, end: f64) -> Result<Option<Option<Failure>>, Error> {
        let (h, whole) = match &self.options.steps {
            Steps::Fixed(h) => {
                if end - self.clock.t <= NEAR * h {
                    return Ok(None);
                }
                let next = self.clock.origin + (self.clock.since_origin + 1) as f64 * h;
                if next <= end + NEAR * h { (*h, true) } else { (end - self.clock.t, false) }
            }
            Steps::Adaptive(_) => {
                let left = end - self.clock.t;
                if left <= 0.0 {
                    return Ok(None);
                }
                if self.clock.next_step == 0.0 {
                    let radius = self.clock.radius;
                    self.clock.next_step = if radius > 0.0 { 1.0 / radius } else { left };
                }
                let cut = self.clock.next_step >= left;
                (if cut { left } else { self.clock.next_step }, !cut)
            }
        };
        let attempts = self.clock.counts.steps + self.clock.counts.rejected;
        if attempts >= self.options.max_steps {
            return Ok(Some(Some(self.failure(Status::MaxSteps, None))));
        }
        if self.clock.t + h == self.clock.t {
            let status = if self.clock.spoiled { Status::NonFinite } else { Status::StepTooSmall };
            return Ok(Some(Some(self.failure(status, None))));
        }
        let failure = match self.options.method {
            Method::Euler => self.euler(h),
            _ => self.stabilised(h, end, whole)?,
        };
        if failure.is_none() && matches!(self.options.steps, Steps::Fixed(_)) {
            self.clock.counts.steps += 1;
            if whole {
                let Steps::Fixed(h) = self.options.steps else { return Ok(Some(None)) };
                self.clock.since_origin += 1;
                self.clock.t = self.clock.origin + self.clock.since_origin as f64 * h;
            } else {
                (self.clock.t, self.clock.origin, self.clock.since_origin) = (end, end, 0);
            }
        }
        Ok(Some(failure))
    }

    fn failure(&self, status: Status, spoiled: Option<&Field<T>>) -> Failure {
        let place = spoiled.and_then(first_spoiled);
        let place = place.map(|(s, cell)| (self.problem.model.species()[s].clone(), cell));
        Failure { status, t: self.clock.t, steps: self.clock.counts.steps, place }
    }

    fn euler(&mut self, h: f64) -> Option<Failure> {
        let mut next = self.next.take()?;
        let terms = [(1.0, &self.field)];
        let what = Combination { slope: h, own: None, terms: &terms };
        let sound = self.engine.sweep(self.clock.t, &self.field, &what, &mut next);
        self.clock.counts.slopes += 1;
        let failure = (!sound).then(|| self.failure(Status::NonFinite, Some(&next)));
        if sound {
            std::mem::swap(&mut self.field, &mut next);
        }
        self.next = Some(next);
        failure
    }

    /// A step by stages; an adaptive one also moves the clock, or proposes a smaller step.
    fn stabilised(&mut self, h: f64, end: f64, whole: bool) -> Result<Option<Failure>, Error> {
        if self.clock.radius_age >= RADIUS_EVERY {
            self.clock.radius = stability(&self.problem, &self.field, (self.clock.t, end))?.radius;
            self.clock.radius_age = 0;
        }
        let Some(mut work) = self.work.take() else { return Ok(None) };
        let t = self.clock.t;
        let mut sound = true;
        if !self.has_slope {
            sound &= self.engine.slope(t, &self.field, &mut work.slope);
            self.clock.counts.slopes += 1;
        }
        let method = self.options.method;
        let mut h = h;
        let mut stages = method.stages(h, self.clock.radius);
        if let Steps::Adaptive(tolerance) = &self.options.steps {
            // Rounding errors of the stages stay below the tolerance (SSV).
            let most = (tolerance.rtol / (10.0 * T::EPSILON)).sqrt().round().max(2.0) as u32;
            if stages > most.min(MOST_STAGES) {
                stages = most.min(MOST_STAGES);
                let radius = self.clock.radius * MARGIN;
                let radius = Stability { euler: 0.0, radius, positive: None };
                h = method.largest_stable_step(&radius, stages).min(h);
            }
        }
        sound &= stages::step(&self.engine, method, stages, (t, h), &self.field, &mut work);
        self.clock.counts.slopes += u64::from(stages) - 1;
        let failure = match self.options.steps.clone() {
            Steps::Fixed(_) => {
                self.clock.radius_age += 1;
                let failure = (!sound).then(|| self.failure(Status::NonFinite, Some(&work.newest)));
                if sound {
                    std::mem::swap(&mut self.field, &mut work.newest);
                }
                self.has_slope = false;
                failure
            }
            Steps::Adaptive(tolerance) => {
                sound &= self.engine.slope(t + h, &work.newest, &mut work.older);
                self.clock.counts.slopes += 1;
                let error = if sound {
                    let fields = [&self.field, &work.newest, &work.slope, &work.older];
                    self.engine.rkc_error(&tolerance, h, fields)
                } else {
                    f64::NAN
                };
                self.settle(h, (end, whole), error, &mut work);
                None
            }
        };
        self.work = Some(work);
        Ok(failure)
    }

    /// Accepts or rejects an adaptive step of size `h` by its error.
    fn settle(&mut self, h: f64, (end, whole): (f64, bool), error: f64, work: &mut Work<T>) {
        let (accepted, factor) = self.control.judge(h, error);
        self.clock.spoiled = error.is_nan();
        self.has_slope = true;
        if !accepted {
            self.clock.counts.rejected += 1;
            self.clock.next_step = h * factor;
            self.clock.radius_age = RADIUS_EVERY;
            return;
        }
        let reached = !whole && self.clock.t + h >= end;
        self.clock.t = if reached { end } else { self.clock.t + h };
        // A step cut short says little against the one proposed before the cut.
        let proposed = if reached { self.clock.next_step } else { 0.0 };
        self.clock.next_step = (h * factor).max(proposed);
        self.clock.counts.steps += 1;
        self.clock.radius_age += 1;
        std::mem::swap(&mut self.field, &mut work.newest);
        std::mem::swap(&mut work.slope, &mut work.older);
    }
}
