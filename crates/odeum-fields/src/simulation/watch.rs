//! The stability of steps, judged at the start and again while the field changes.
//!
//! A judgement costs a pass over all cells (half a sweep) and some eigenvalues. It comes so seldom that
//! all of them are less than a fiftieth of the sweeps, where these are not over in no time, and the sooner the faster the limit has
//! changed, or what grows may change it. The first comes after one step, or after as many as take as long as its eigenvalues.

use super::advance::RADIUS_EVERY;
use super::{Judgement, Outcome, Simulation, Unstable};
use crate::analysis::sample::{Cell, State, Values};
use crate::backend::Backend;
use crate::cpu::sweep::Precision;
use crate::simulation::checkpoint::{Clock, Counts};
use crate::time::growth_bound::Magnitudes;
use crate::time::method::{Method, Steps};
use crate::time::stability::{STEPS_AHEAD, Stability, allowed_growth_over};
use crate::time::within_step::{Ahead, steps_within_bounds};
use odeum_ode::Error;

/// Sweeps for each that judgements cost.
const SELDOM: f64 = 50.0;

/// Steps from one judgement to the next, at least where nothing changes, and at most but for costly ones.
const EVERY: [f64; 2] = [32.0, 2048.0];

/// Eigenvalues that are not costly however small the field is, in updates of a species in a cell: some milliseconds.
const LITTLE: f64 = 1e7;

/// By how much a limit may change from one judgement to the next: ln of the factor. Less counts as
/// [`STILL`].
const CHANGE: f64 = 0.1;
const STILL: f64 = 1e-6;

/// By how much a spectral radius that stages are chosen by may change meanwhile, and what counts as less: one that has grown
/// by more than the [margin](crate::time::method::MARGIN) leaves steps unstable.
const WIDER: f64 = 0.02;
const STILL_IN_STAGES: f64 = 1e-2;

/// Steps of a fraction are kept while they lie within these parts of what they should be.
const KEPT: [f64; 2] = [0.8, 1.05];

/// By how much they become longer at once: a field that changes passes moments that no step would be
/// too long for.
const LONGER: f64 = 1.1;

/// What steps of a fraction may have made of a disturbance before they were seen to be too large: ln of
/// the factor.
const DISTURBED: f64 = 5.0;

impl<T: Precision> Simulation<T> {
    /// The size of steps that are no matter of a tolerance.
    pub(super) fn size(&self) -> Option<f64> {
        match &self.options.steps {
            Steps::Fixed(h) => Some(*h),
            Steps::Fraction(_) => Some(self.clock.next_step),
            Steps::Adaptive(_) => None,
        }
    }

    /// How fast waves that do not decay may be made to grow up to a time [1/time]: by a tenth in all the time from the start, however
    /// often the simulation goes on to a later end.
    pub(super) fn allowed_growth_to(&self, end: f64) -> f64 {
        let own = allowed_growth_over((end - self.clock.start).max(0.0));
        let before = self.clock.allowed_growth;
        if before > 0.0 { own.min(before) } else { own }
    }

    /// Computes the limits of the steps, and refuses larger ones.
    pub(super) fn judge_stability(&mut self, end: f64) -> Result<(), Error> {
        if self.judged.as_ref().is_none_or(|judged| end > judged.until) {
            let limits = self.limits_to(end)?;
            self.set_stability(limits, end);
        }
        let Some(Judgement { limits, until }) = &self.judged else { return Ok(()) };
        let (method, before) = (self.options.method, self.clock.allowed_growth);
        let allowed = limits.allowed_growth.min(self.allowed_growth_to(end));
        // Whether this end lies beyond all to which steps were judged, and that matters.
        let is_later = !(before > 0.0 && allowed >= before);
        let anew = is_later && until.is_finite();
        let largest = match &self.options.steps {
            Steps::Adaptive(_) => return Ok(()),
            Steps::Fixed(h) => {
                let largest = limits.largest_step(method);
                let was_allowed = self.taken_up && !anew;
                if *h > largest * (1.0 + 1e-9) && !self.options.force && !was_allowed {
                    let or = limits.remedy(method).unwrap_or(match method.stages_asked() {
                        Some(Some(_)) => "take less, or more stages".to_owned(),
                        _ => "take less".to_owned(),
                    });
                    let remedy = format!("stable up to {largest:.6e} here; {or}, or force it");
                    return Err(Error::input("step", h, remedy));
                }
                limits.largest_of_moment(method)
            }
            Steps::Fraction(fraction) => {
                let (usual, own) = (limits.usual_step(method), self.clock.next_step);
                if own == 0.0 || anew {
                    let step = if own > 0.0 { own.min(fraction * usual) } else { fraction * usual };
                    if !(step > 0.0 && step.is_finite()) {
                        let remedy = limits.remedy(method);
                        let or = "nothing limits the step here: give its size".to_owned();
                        return Err(Error::input("fraction", fraction, remedy.unwrap_or(or)));
                    }
                    if step != own {
                        self.begin_steps_of(step);
                    }
                }
                usual
            }
        };
        if is_later {
            self.clock.allowed_growth = allowed;
        }
        if self.clock.judged_every == 0 {
            let chooses = method.chooses_stages();
            if chooses && self.problem.changes_with_time() {
                // What is to come later says nothing about the stages of the first step.
                let ahead = LONGER * self.size().unwrap_or(0.0);
                self.clock.radius = self.limits_now(ahead, self.size().unwrap_or(0.0))?.radius;
            }
            self.clock.largest = if chooses { method.reach_of(self.clock.radius) } else { largest };
            let first = self.worth().max(1.0) as u32;
            (self.clock.judged_every, self.clock.judged_in) = (first, first);
        }
        if self.baseline.is_none() && self.is_watched() && self.judge.reads_values() {
            let values = Present(&*self.backend);
            let states = self.judge.sample_now(&self.problem, &values, self.clock.t)?;
            let explained = std::mem::replace(&mut self.clock.explained, 1.0);
            self.baseline = self.judged.as_ref().map(|Judgement { limits, .. }| {
                self.judge.magnitudes(self.clock.t, limits, states).with_explained(explained)
            });
        }
        Ok(())
    }

    /// The present field, as far as the equations explain it since the last judgement; `None` where no judgement asks for that.
    pub(super) fn explained(&self) -> Result<Option<Magnitudes>, Error> {
        let (Some(before), false) = (&self.baseline, self.is_forced()) else { return Ok(None) };
        self.whole()?;
        let h = self.size().unwrap_or(0.0);
        let values = Present(&*self.backend);
        let states = self.judge.sample_now(&self.problem, &values, self.clock.t)?;
        let mut now = self.judge.magnitudes_later(before, self.clock.t, states);
        self.judge.explain(&self.problem, before, &mut now, h)?;
        if !now.is_explained() {
            // By growth that has begun since, which costs eigenvalues.
            let (limits, states) = self.limits_ahead(0.0, h)?;
            now = self.judge.magnitudes(self.clock.t, &limits, states);
            self.judge.explain(&self.problem, before, &mut now, h)?;
        }
        Ok(Some(now))
    }

    /// Whether steps are taken whatever becomes of the field.
    fn is_forced(&self) -> bool {
        self.options.force && matches!(self.options.steps, Steps::Fixed(_))
    }

    /// Whether steps may become unstable while the field, or the time, goes on.
    fn is_watched(&self) -> bool {
        let sized = match &self.options.steps {
            Steps::Fixed(_) => !self.options.force || self.options.method.chooses_stages(),
            Steps::Fraction(_) => true,
            Steps::Adaptive(_) => false,
        };
        sized && self.judge.changes(&self.problem)
    }

    /// Steps until the next judgement is due.
    pub(super) fn unjudged(&self) -> u64 {
        if self.is_watched() { u64::from(self.clock.judged_in.max(1)) } else { u64::MAX }
    }

    /// Judges the steps by the present field where that is due, or, of the last field, where any has
    /// been taken since; a simulation whose steps are too large does not go on.
    pub(super) fn judge_again(&mut self, end: f64, last: bool) -> Result<Option<Outcome>, Error> {
        let since = self.clock.judged_every.saturating_sub(self.clock.judged_in);
        let Some(h) = self.size() else { return Ok(None) };
        if since == 0 || !(last || self.clock.judged_in == 0) || !self.is_watched() {
            return Ok(None);
        }
        let method = self.options.method;
        let sized = !self.options.follows_limits();
        let forced = self.is_forced();
        // Up to the next judgement, by steps that become longer too. Steps and stages that follow their limits do so beyond `end`.
        let ahead = LONGER * self.at_most(since) * h;
        let ahead = if sized { ahead.min(end - self.clock.t).max(0.0) } else { ahead };
        let (limits, states) = self.limits_ahead(ahead, h)?;
        let moment = limits.largest_of_moment(method);
        let mut largest = match sized {
            true => (h > moment * (1.0 + 1e-9)).then_some(moment),
            false => self.disturbed(since, h, &limits),
        };
        if !sized && largest.is_some() && self.problem.changes_with_time() {
            // Steps that were taken are not judged by a limit to come.
            let now = self.limits_now(0.0, h)?;
            largest = self.disturbed(since, h, &now);
        }
        let mut magnitudes = self.judge.magnitudes(self.clock.t, &limits, states);
        if let Some(before) = &self.baseline
            && !forced
            && largest.is_none()
        {
            self.judge.explain(&self.problem, before, &mut magnitudes, h)?;
            largest = magnitudes.is_beyond().then_some(moment);
        }
        if let Some(largest) = largest.filter(|_| !forced) {
            let (t, steps) = (self.clock.t, self.clock.counts.steps);
            return Ok(Some(Outcome::Unstable(Unstable { t, steps, step: h, largest })));
        }
        if last {
            // Steps go on beyond `end` as if nothing had been judged there.
            return Ok(None);
        }
        let largest = match self.options.steps {
            Steps::Fraction(fraction) => {
                let usual = limits.usual_step(method);
                self.resize(fraction * usual);
                match self.clock.next_step / fraction {
                    // Steps that coefficients had made shorter become longer as soon as they can.
                    own if self.judge.has_coefficients_of_time() && own < KEPT[0] * usual => own,
                    _ => usual,
                }
            }
            _ => moment,
        };
        self.schedule(since, largest, (&limits, &magnitudes));
        self.baseline = Some(magnitudes);
        Ok(None)
    }

    /// The largest step for the present field, of which these are the limits, where the steps since the last judgement may have made
    /// too much of a disturbance. The spectral radius is taken to have grown evenly since then.
    fn disturbed(&self, since: u32, h: f64, limits: &Stability) -> Option<f64> {
        let method = self.options.method;
        let taken = method.of_stages(method.stages(h, self.clock.radius));
        let largest = limits.largest_of_moment(taken);
        let before = match method.chooses_stages() {
            true => taken.reach_of(self.clock.radius),
            false => self.clock.largest,
        };
        // A limit that was endless, or far away, has not fallen evenly: what has grown is its inverse.
        let passed = (1.0 / h - 1.0 / before) / (1.0 / largest - 1.0 / before);
        let after = if before > h { 1.0 - passed.min(1.0) } else { 1.0 };
        let growth = limits.growth_by(taken, h).max(h / largest - 1.0);
        let is_disturbed = h > largest && f64::from(since) * after * growth > DISTURBED;
        is_disturbed.then_some(largest)
    }

    /// The limits for the present field, and for so long a time from here, in steps of size `h`.
    pub(super) fn limits_now(&self, ahead: f64, h: f64) -> Result<Stability, Error> {
        let (limits, _) = self.limits_ahead(ahead, h)?;
        Ok(limits)
    }

    /// The same, with the states that they are those of.
    fn limits_ahead(&self, ahead: f64, h: f64) -> Result<(Stability, Vec<State>), Error> {
        let allowed = self.clock.allowed_growth;
        let steps = if h > 0.0 { ahead / h } else { 0.0 };
        let span = ((self.clock.t, self.clock.t + ahead), steps);
        self.judge.running_limits(&self.problem, &Present(&*self.backend), span, allowed)
    }

    /// Judges the steps up to the next judgement by what their stages make of waves whose coefficients change within a step, where a
    /// judgement has been, and where a sequence of steps ends or has begun. Those that may not be taken come after the next judgement; where
    /// the next step is one, steps of a fraction become shorter, and others end.
    pub(super) fn judge_stages(&mut self, end: f64) -> Result<Option<Unstable>, Error> {
        let Some(h) = self.size() else { return Ok(None) };
        let (method, left) = (self.options.method, end - self.clock.t);
        let is_cut = !self.ends_within(1, end);
        let Clock { judged_every, judged_in, since_origin, .. } = self.clock;
        let is_due = judged_every == judged_in || since_origin == 0 || is_cut;
        let forced = self.is_forced();
        let has_stages = method != Method::Euler && self.judge.has_coefficients_of_time();
        if forced || !has_stages || !is_due || left <= self.near(end) {
            return Ok(None);
        }
        let (h, most) = if is_cut { (left, 1) } else { (h, judged_in.max(1) as usize) };
        let ahead =
            Ahead { method, stages: method.stages(h, self.clock.radius), t: self.clock.t, h };
        let values = Present(&*self.backend);
        let states = self.judge.states_ahead(&self.problem, &values, &ahead, most)?;
        let growths = self.judge.growths(&self.problem, &states, &ahead, most);
        let holds = match self.options.steps {
            Steps::Fixed(_) => steps_within_bounds(&growths, &mut self.clock.grown),
            _ => growths.iter().take_while(|growth| **growth <= STILL).count(),
        };
        if holds > 0 {
            if !is_cut {
                let beyond = judged_in.saturating_sub(holds as u32);
                self.clock.judged_in -= beyond;
                self.clock.judged_every -= beyond;
            }
            return Ok(None);
        }
        let largest = self.judge.shorter(&self.problem, &states, &ahead);
        let Steps::Fraction(fraction) = self.options.steps else {
            let Counts { steps, .. } = self.clock.counts;
            return Ok(Some(Unstable { t: self.clock.t, steps, step: h, largest }));
        };
        self.begin_steps_of(largest);
        self.clock.largest = largest / fraction;
        self.clock.judged_every -= judged_in.saturating_sub(1);
        self.clock.judged_in = 1;
        Ok(None)
    }

    /// Takes steps of another size from here on, where those taken are not about as large.
    fn resize(&mut self, wanted: f64) {
        let (kept, own) = (KEPT[0] * wanted..=KEPT[1] * wanted, self.clock.next_step);
        if wanted > 0.0 && !kept.contains(&own) {
            self.begin_steps_of(wanted.min(LONGER * own));
        }
    }

    /// Begins a sequence of equal steps here.
    fn begin_steps_of(&mut self, size: f64) {
        self.clock.next_step = size;
        (self.clock.origin, self.clock.since_origin) = (self.clock.t, 0);
    }

    /// Says when steps are judged next. Values change a limit as they did, or as what grows makes them: by its square, or a higher
    /// power where derivatives do.
    fn schedule(
        &mut self,
        since: u32,
        largest: f64,
        (limits, magnitudes): (&Stability, &Magnitudes),
    ) {
        let method = self.options.method;
        let chooses = method.chooses_stages();
        // Where stages are as many as the radius asks for, that alone counts.
        let (largest, still, scale) = match chooses {
            true => (method.reach_of(limits.radius), STILL_IN_STAGES, CHANGE / WIDER),
            false => (largest, STILL, 1.0),
        };
        let fallen = self.clock.largest / largest;
        let change = scale * fallen.ln().abs();
        let change = if change.is_nan() { still } else { change.max(still) };
        let power =
            if limits.growth > 0.0 { self.judge.power(&self.problem, magnitudes) } else { 0.0 };
        let growth = power * limits.growth * self.size().unwrap_or(0.0);
        let by_change = f64::from(since) * CHANGE / change;
        let by_growth = (CHANGE / change).ln() / growth;
        let every = self.at_most(since).min(by_change).min(by_growth).max(1.0) as u32;
        if chooses {
            // A radius that grows is taken to go on so.
            let wider = fallen.max(1.0).powf(f64::from(every) / f64::from(since));
            self.clock.radius = limits.radius * if wider.is_finite() { wider } else { 1.0 };
            self.clock.radius_age = 0;
        }
        self.clock.largest = largest;
        self.clock.judged_every = every;
        self.clock.judged_in = every;
    }

    /// Steps to the next judgement at most: twice as many as since the last one.
    fn at_most(&self, since: u32) -> f64 {
        let seldom = match self.options.method.chooses_stages() {
            true => self.seldom().min(self.radius_every() as f64),
            false => self.seldom(),
        };
        let most = match self.judge.has_coefficients_of_time() {
            true => STEPS_AHEAD / (2.0 * LONGER),
            false => f64::from(u32::MAX),
        };
        seldom.min(2.0 * f64::from(since)).min(most)
    }

    /// Steps between judgements, by what they cost.
    fn seldom(&self) -> f64 {
        let species = self.problem.model.species().len();
        let updates = (self.problem.cells() * species) as f64;
        let sweeps = self.judge.sampling_cost(&self.problem)
            + self.judge.eigenvalue_cost(&self.problem) / updates;
        let steps = SELDOM * sweeps / self.sweeps_of_a_step();
        steps.clamp(EVERY[0], EVERY[1]).max(SELDOM * self.worth())
    }

    /// Steps that take as long as the eigenvalues of a judgement, where these are costly; else none.
    fn worth(&self) -> f64 {
        let species = self.problem.model.species().len();
        let costly = (self.judge.eigenvalue_cost(&self.problem) - LITTLE).max(0.0);
        costly / (self.problem.cells() * species) as f64 / self.sweeps_of_a_step()
    }

    /// Steps after which the spectral radius is computed anew.
    pub(super) fn radius_every(&self) -> u64 {
        RADIUS_EVERY.max(self.worth() as u64)
    }

    fn sweeps_of_a_step(&self) -> f64 {
        let sweeps = match self.options.method {
            Method::Euler => 1,
            Method::Ssprk3 => 3,
            method => method.stages(self.size().unwrap_or(self.clock.next_step), self.clock.radius),
        };
        f64::from(sweeps.max(1))
    }
}

/// The state of a backend.
pub(super) struct Present<'a, T>(pub(super) &'a dyn Backend<T>);

impl<T: Precision> Values for Present<'_, T> {
    fn extremes(&self) -> Result<Vec<Cell>, Error> {
        self.0.extreme_cells()
    }

    fn pick(&self, cells: &[Cell]) -> Result<Vec<f64>, Error> {
        Ok(self.0.pick(cells)?.into_iter().map(|value| value.to_f64()).collect())
    }
}
