//! Values that nothing in the equations explains.
//!
//! Between two judgements a field may pass through states for which its steps are not stable, and within a step too: neither judgement sees these, but
//! what they have made of a disturbance is in the field. So what has become of values is held against what the equations can have made of
//! them since the last judgement: growth, rates, what comes in through boundaries and by sources.

use crate::analysis::sample::{State, Values};
use crate::problem::boundaries::Ghost;
use crate::problem::{PointSource, Problem};
use crate::time::places::Care;
use crate::time::stability::{Judge, within};
use odeum_ode::Error;

/// How many times as large values may be as what is explained.
const UNEXPLAINED: f64 = 1e3;

/// Times since the last judgement at which rates, sources and what is given at boundaries are evaluated; where these explain too
/// little two for each step, but no more than so many.
const TIMES: usize = 17;
const MOST_TIMES: usize = 8193;

/// By what values are multiplied at which rates are evaluated: rates may be large between two judgements alone.
const SCALES: [f64; 11] = [0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0, 2.0, 4.0];

/// What powers of values derivatives are taken to change with, at least and at most.
const POWERS: [f64; 2] = [2.0, 8.0];

/// Changes of a derivative that are taken for such, as a part of it.
const CHANGED: f64 = 1e-9;

/// By how much more than growth makes of them values become larger before it is looked at why.
const LARGER: f64 = 2.0;

/// A value that is as small beside all others has no sign.
const SMALL: f64 = 1e-3;

/// A field as it was judged.
pub(crate) struct Seen {
    t: f64,
    growth: f64,
    radius: f64,
    states: Vec<State>,
    /// The largest value of all species, which share one scale: one that was zero has none of its own.
    largest: f64,
    /// The same as far as it is explained.
    explained: f64,
}

impl Seen {
    /// What grows does so by `growth`; `radius` is the spectral radius [1/time].
    pub(crate) fn new(t: f64, [growth, radius]: [f64; 2], states: Vec<State>) -> Seen {
        let values = states.iter().flat_map(|state| &state.values);
        let sizes = values.map(|value| value.abs()).filter(|value| value.is_finite());
        let largest = sizes.fold(0.0, f64::max);
        Seen { t, growth, radius, states, largest, explained: largest }
    }

    /// By what values grow by themselves up to a later time.
    fn grown_to(&self, later: &Seen) -> f64 {
        ((later.t - self.t) * self.growth.max(later.growth)).exp()
    }

    /// The field of a later time, where growth and radius are taken to be those of this one.
    pub(crate) fn later(&self, t: f64, states: Vec<State>) -> Seen {
        Seen::new(t, [self.growth, self.radius], states)
    }

    /// The same, of which no more is explained than a value of this size.
    pub(crate) fn up_to(self, explained: f64) -> Seen {
        Seen { explained: self.explained.min(explained), ..self }
    }

    /// The largest value as far as it is explained.
    pub(crate) fn explained(&self) -> f64 {
        self.explained
    }

    /// Whether all of it is.
    pub(crate) fn is_explained(&self) -> bool {
        self.explained >= self.largest
    }

    /// Whether values are far beyond what is explained.
    pub(crate) fn is_beyond(&self) -> bool {
        self.largest > UNEXPLAINED * self.explained
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

impl Judge {
    /// Whether limits depend on the values of the field.
    pub(crate) fn reads_values(&self) -> bool {
        self.linear.reads.values
    }

    /// The states by which steps from a time on are judged.
    pub(crate) fn look_now(
        &self,
        problem: &Problem,
        values: &dyn Values,
        t: f64,
    ) -> Result<Vec<State>, Error> {
        self.places.look((problem, &self.boundaries, &self.linear), values, &[t], Care::Brief)
    }

    /// Finds how large values can have become by the equations since they were seen before, in steps of size `h`.
    pub(crate) fn explain(
        &self,
        problem: &Problem,
        before: &Seen,
        now: &mut Seen,
        h: f64,
    ) -> Result<(), Error> {
        let dt = now.t - before.t;
        let usual = LARGER * before.grown_to(now) * before.explained;
        if now.largest <= usual || usual.is_nan() {
            return Ok(());
        }
        // Times are rounded, and whole steps between them not quite whole.
        let of_steps = ((2.0 * dt / h).round() as usize).saturating_add(1);
        for count in [TIMES, of_steps.clamp(TIMES, MOST_TIMES)] {
            let times = within((before.t, now.t), count);
            now.explained = now.largest.min(self.made(problem, (before, now), &times)?);
            if !now.is_beyond() {
                break;
            }
        }
        Ok(())
    }

    /// How large values can have become by what is at these times.
    fn made(
        &self,
        problem: &Problem,
        (before, now): (&Seen, &Seen),
        times: &[f64],
    ) -> Result<f64, Error> {
        let dt = now.t - before.t;
        let beyond = self.beyond(times);
        let size = before.explained.max(beyond);
        // Values that have grown say nothing about what has made them grow.
        let clip = |values: &[f64], most: f64| -> Vec<f64> {
            values.iter().map(|value| value.clamp(-most, most)).collect()
        };
        let symbols = self.waves_at_rest(problem, [0.0, 1.0].into_iter());
        let fastest = symbols[1].laplacian.iter().fold(0.0_f64, |most, s| most.max(s.abs()));
        let clipped = |state: &State| State {
            cell: state.cell,
            values: clip(&state.values, size),
            laplacians: clip(&state.laplacians, size * fastest),
            beyond: clip(&state.beyond, size * fastest.max(1.0).powi(2)),
        };
        let states: Vec<State> = before.states.iter().chain(&now.states).map(clipped).collect();
        let is_signed = before.states.iter().flat_map(|state| &state.values).any(|x| *x < 0.0);
        let signs: &[f64] = if is_signed { &[1.0, -1.0] } else { &[1.0] };

        let (rhs, _) = problem.model.bound();
        let of_rates = if rhs.uses_time() { times } else { &times[..1] };
        let (mut rates, mut exchange) = (vec![0.0_f64; of_rates.len()], 0.0_f64);
        let mut y = Vec::new();
        for state in &states {
            let place = [0, 1, 2].map(|axis| problem.grid.centre(axis, state.cell[axis]));
            for scale in signs.iter().flat_map(|sign| SCALES.map(|scale| sign * scale)) {
                y.clear();
                y.extend(state.values.iter().chain(&state.laplacians).map(|x| scale * x));
                y.extend(place);
                y.extend(state.beyond.iter().map(|x| scale * x));
                for (t, rate) in of_rates.iter().zip(&mut rates) {
                    for (value, own) in y.iter().zip(rhs.eval(*t, &y, &[])) {
                        // What takes a value back to zero makes it no larger.
                        let own = if value.abs() > SMALL * size {
                            own * value.signum()
                        } else {
                            own.abs()
                        };
                        *rate = if own.is_finite() { rate.max(own) } else { *rate };
                    }
                }
            }
            for parts in self.linear.at(problem, state, now.t) {
                exchange = exchange.max(parts.exchange(&symbols[0], &symbols[1]));
            }
        }
        if let Some(speeds) = self.speeds(problem, times) {
            exchange += 2.0 * speeds.iter().sum::<f64>();
        }
        if beyond > 0.0 {
            exchange += before.radius;
        }
        let rate = mean(&rates) + self.sources(problem, times)?;
        Ok(before.grown_to(now) * (size * (1.0 + exchange * dt) + rate * dt))
    }

    /// The largest value that is given at boundaries at some times.
    fn beyond(&self, times: &[f64]) -> f64 {
        let ghosts = |t: &f64| -> Vec<Ghost<f64>> {
            self.boundaries.iter().flat_map(|b| b.at::<f64>(*t).into_iter().flatten()).collect()
        };
        let shift = |ghost: Ghost<f64>| match ghost {
            Ghost::Affine { shift, .. } => shift.abs(),
            _ => 0.0,
        };
        times.iter().flat_map(ghosts).map(shift).filter(|x| x.is_finite()).fold(0.0, f64::max)
    }

    /// What sources in single cells add, all of them together, as a mean over some times [1/time].
    fn sources(&self, problem: &Problem, times: &[f64]) -> Result<f64, Error> {
        let mut sum = 0.0;
        for source in &problem.sources {
            let name = PointSource::argument(&source.species, "rate");
            let rate = source.rate.bind(problem.model.params(), name)?;
            let rates = times.iter().map(|t| rate.at(*t).abs());
            let rates: Vec<f64> = rates.map(|x| if x.is_finite() { x } else { 0.0 }).collect();
            sum += mean(&rates);
        }
        Ok(sum)
    }

    /// With what power of the values derivatives of F change, where all become larger together: 2 of u³, and at least that.
    pub(crate) fn power(&self, problem: &Problem, seen: &Seen) -> f64 {
        // Of each derivative, over all states: its size, and by how much it changes from one scale to the next.
        let mut sums: Vec<[f64; 3]> = Vec::new();
        for state in &seen.states {
            let of = |scale: f64| -> Vec<f64> {
                let scaled = |values: &[f64]| values.iter().map(|x| scale * x).collect();
                let state = State {
                    cell: state.cell,
                    values: scaled(&state.values),
                    laplacians: scaled(&state.laplacians),
                    beyond: scaled(&state.beyond),
                };
                let [(derivatives, _), _] = self.places.derivatives(problem, &state, &[seen.t]);
                derivatives
            };
            // From below: functions that saturate have lost their power above.
            let [half, one, two] = [0.5, 1.0, 2.0].map(of);
            sums.resize(one.len(), [0.0; 3]);
            for (j, sums) in sums.iter_mut().enumerate() {
                let own = [one[j].abs(), (one[j] - half[j]).abs(), (two[j] - one[j]).abs()];
                if own.iter().all(|x| x.is_finite()) {
                    sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                }
            }
        }
        // A change that rounding can have made has no power.
        let changed = sums.iter().filter(|[size, near, _]| *near > CHANGED * size);
        let power = changed.map(|[_, near, far]| (far / near).log2()).fold(0.0, f64::max);
        // Whole numbers: what is added to a power does not count.
        let [least, most] = POWERS;
        (power + 0.25).floor().clamp(least, most)
    }
}
