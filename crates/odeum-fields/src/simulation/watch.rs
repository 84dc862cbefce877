//! The stability of steps, judged at the start and again while the field changes.
//!
//! A judgement costs a look at all cells (half a sweep) and some eigenvalues. It comes so seldom that
//! all of them are less than a fiftieth of the sweeps, and the sooner the faster the limit has changed,
//! or what grows may change it.

use super::advance::RADIUS_EVERY;
use super::{Outcome, Simulation, Unstable};
use crate::analysis::sample::{Cell, Values};
use crate::backend::Backend;
use crate::cpu::sweep::Precision;
use crate::time::method::{Method, Steps};
use crate::time::stability::{self, Stability};
use odeum_ode::Error;

/// The eigenvalues of a wave, over S², in updates of a cell.
const EIGENVALUES: f64 = 1000.0;

/// Sweeps for each that judgements cost.
const SELDOM: f64 = 50.0;

/// Steps from one judgement to the next, at least where nothing changes, and at most.
const EVERY: [f64; 2] = [32.0, 2048.0];

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

    /// Computes the limits of the steps, and refuses larger ones.
    pub(super) fn judge_stability(&mut self, end: f64) -> Result<(), Error> {
        if self.judged.as_ref().is_none_or(|judged| end > judged.until) {
            let span = (self.clock.t, end);
            let limits = self.judge.limits(&self.problem, &Present(&*self.backend), span)?;
            self.set_stability(limits, end);
        }
        let Some(limits) = self.stability() else { return Ok(()) };
        let (method, floor) = (self.options.method, limits.floor);
        let largest = match &self.options.steps {
            Steps::Adaptive(_) => return Ok(()),
            Steps::Fixed(h) => {
                let largest = limits.largest_step(method);
                if *h > largest * (1.0 + 1e-9) && !self.options.force && !self.taken_up {
                    let or = limits.remedy(method).unwrap_or("take less, more stages".to_owned());
                    let remedy = format!("stable up to {largest:.6e} here; {or}, or force it");
                    return Err(Error::input("step", h, remedy));
                }
                limits.largest_of_moment(method)
            }
            Steps::Fraction(fraction) => {
                let usual = limits.usual_step(method);
                if self.clock.next_step == 0.0 {
                    let step = fraction * usual;
                    if !(step > 0.0 && step.is_finite()) {
                        let remedy = limits.remedy(method);
                        let or = "nothing limits the step here: give its size".to_owned();
                        return Err(Error::input("fraction", fraction, remedy.unwrap_or(or)));
                    }
                    self.clock.next_step = step;
                }
                usual
            }
        };
        if self.clock.judged_every == 0 {
            self.clock.largest = largest;
            self.clock.floor = floor;
            (self.clock.judged_every, self.clock.judged_in) = (1, 1);
        }
        Ok(())
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
        let ahead = (f64::from(since) * h).min(end - self.clock.t).max(0.0);
        let limits = self.limits_now(ahead)?;
        let (method, moment) = (self.options.method, limits.largest_of_moment(self.options.method));
        let unstable = match &self.options.steps {
            // The limit is taken to have fallen evenly since the last judgement.
            Steps::Fraction(_) => {
                let fallen = (h - moment) / (self.clock.largest - moment);
                let after = if fallen > 0.0 { fallen.min(1.0) } else { 1.0 };
                f64::from(since) * after * (h / moment - 1.0) > DISTURBED
            }
            _ => !self.options.force && h > moment * (1.0 + 1e-9),
        };
        if unstable {
            let (t, steps) = (self.clock.t, self.clock.counts.steps);
            return Ok(Some(Outcome::Unstable(Unstable { t, steps, step: h, largest: moment })));
        }
        let largest = match self.options.steps {
            Steps::Fraction(fraction) => {
                let usual = limits.usual_step(method);
                self.resize(fraction * usual);
                usual
            }
            // Steps of a given size go on beyond `end` as if nothing had been judged there.
            _ if last => return Ok(None),
            _ => moment,
        };
        self.schedule(since, largest, &limits);
        Ok(None)
    }

    /// The limits for the present field, and for so long a time from here.
    pub(super) fn limits_now(&mut self, ahead: f64) -> Result<Stability, Error> {
        let floor = self.clock.floor;
        let span = (self.clock.t, self.clock.t + ahead);
        self.judge.limits_on_the_way(&self.problem, &Present(&*self.backend), span, floor)
    }

    /// Takes steps of another size from here on, where those taken are not about as large.
    fn resize(&mut self, wanted: f64) {
        let (kept, own) = (KEPT[0] * wanted..=KEPT[1] * wanted, self.clock.next_step);
        if wanted > 0.0 && !kept.contains(&own) {
            self.clock.next_step = wanted.min(LONGER * own);
            (self.clock.origin, self.clock.since_origin) = (self.clock.t, 0);
        }
    }

    /// Says when steps are judged next: at most twice as many later as the last time. Values change
    /// a limit as they did, or as what grows makes them.
    fn schedule(&mut self, since: u32, largest: f64, limits: &Stability) {
        let mut change = (largest / self.clock.largest).ln().abs();
        let (mut still, mut seldom) = (STILL, self.seldom());
        if self.options.method.chooses_stages() {
            let spread = (limits.radius / self.clock.radius).ln().abs();
            change = change.max(spread * CHANGE / WIDER);
            (still, seldom) = (STILL_IN_STAGES, seldom.min(RADIUS_EVERY as f64));
            (self.clock.radius, self.clock.radius_age) = (limits.radius, 0);
        }
        let change = if change.is_nan() { still } else { change.max(still) };
        let h = self.size().unwrap_or(0.0);
        let (by_change, by_growth) =
            (f64::from(since) * CHANGE / change, (CHANGE / change).ln() / (h * limits.growth));
        let every = (2.0 * f64::from(since)).min(by_change).min(by_growth).min(seldom);
        self.clock.largest = largest;
        self.clock.judged_every = every.max(1.0) as u32;
        self.clock.judged_in = self.clock.judged_every;
    }

    /// Steps between judgements, by what they cost.
    fn seldom(&self) -> f64 {
        let (cells, species) = (self.problem.cells(), self.problem.model.species().len());
        let sweeps = match self.options.method {
            Method::Euler => 1,
            Method::Ssprk3 => 3,
            method => method.stages(self.size().unwrap_or(0.0), self.clock.radius),
        };
        let waves = stability::waves_briefly(&self.problem);
        let eigenvalues = EIGENVALUES * (waves * species) as f64 / cells as f64;
        let look = self.judge.look(&self.problem);
        (SELDOM * (look + eigenvalues) / f64::from(sweeps)).clamp(EVERY[0], EVERY[1])
    }
}

/// The state of a backend.
struct Present<'a, T>(&'a dyn Backend<T>);

impl<T: Precision> Values for Present<'_, T> {
    fn extremes(&self) -> Result<Vec<Cell>, Error> {
        self.0.extreme_cells()
    }

    fn pick(&self, cells: &[Cell]) -> Result<Vec<f64>, Error> {
        Ok(self.0.pick(cells)?.into_iter().map(|value| value.to_f64()).collect())
    }
}
