//! An a posteriori bound on growth: values beyond it are such as nothing in the equations explains.
//!
//! Between two judgements a field may pass through states for which its steps are not stable, and within a step too: neither judgement sees these, but
//! what they have made of a disturbance is in the field. So what has become of values is held against what the equations can have made of
//! them since the last judgement: growth, rates, what comes in through boundaries and by sources. Coupled species have one scale.

use crate::analysis::sample::{State, Values};
use crate::problem::boundaries::{Ghost, SpeciesBoundaries};
use crate::problem::{PointSource, Problem};
use crate::time::sampling::Sampling;
use crate::time::stability::{Judge, Stability, within};
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

/// How large the values of a field are at a time, and how large the equations can have made them.
pub(crate) struct Magnitudes {
    t: f64,
    states: Vec<State>,
    groups: Vec<GroupMagnitude>,
}

/// Those of coupled species.
struct GroupMagnitude {
    /// How fast they grow, and their spectral radius [1/time].
    growth: f64,
    radius: f64,
    /// The largest value of all of them, which share one scale: one that was zero has none of its own.
    largest: f64,
    /// The same as far as it is explained.
    explained: f64,
}

impl GroupMagnitude {
    /// The fraction of the largest value that is explained.
    fn explained_fraction(&self) -> f64 {
        if self.explained >= self.largest { 1.0 } else { self.explained / self.largest }
    }
}

impl Magnitudes {
    /// The same, of which no more than this fraction is explained.
    pub(crate) fn with_explained(mut self, fraction: f64) -> Magnitudes {
        self.groups.iter_mut().for_each(|group| group.explained *= fraction.min(1.0));
        self
    }

    /// The fraction that is explained, of the coupled species of which it is least.
    pub(crate) fn explained_fraction(&self) -> f64 {
        self.groups.iter().map(GroupMagnitude::explained_fraction).fold(1.0, f64::min)
    }

    /// Whether all of it is.
    pub(crate) fn is_explained(&self) -> bool {
        self.groups.iter().all(|group| group.explained >= group.largest)
    }

    /// Whether values are far beyond what is explained.
    pub(crate) fn is_beyond(&self) -> bool {
        self.groups.iter().any(|group| group.largest > UNEXPLAINED * group.explained)
    }

    /// By what values of a group grow by themselves up to a later time.
    fn grown_to(&self, later: &Magnitudes, group: usize) -> f64 {
        let [before, now] = [self, later].map(|of| of.groups[group].growth);
        ((later.t - self.t) * before.max(now)).exp()
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

    /// Those of a field that has these limits.
    pub(crate) fn magnitudes(&self, t: f64, limits: &Stability, states: Vec<State>) -> Magnitudes {
        self.magnitudes_by(
            t,
            limits.groups.iter().map(|group| [group.growth, group.radius]),
            states,
        )
    }

    /// Those of a later time, where growth and radius are taken to be those of before.
    pub(crate) fn magnitudes_later(
        &self,
        before: &Magnitudes,
        t: f64,
        states: Vec<State>,
    ) -> Magnitudes {
        self.magnitudes_by(
            t,
            before.groups.iter().map(|group| [group.growth, group.radius]),
            states,
        )
    }

    fn magnitudes_by(
        &self,
        t: f64,
        rates: impl Iterator<Item = [f64; 2]>,
        states: Vec<State>,
    ) -> Magnitudes {
        let of_group = |(species, [growth, radius]): (&Vec<usize>, [f64; 2])| {
            let values = states.iter().flat_map(|it| species.iter().map(|s| it.values[*s]));
            let sizes = values.map(f64::abs).filter(|value| value.is_finite());
            let largest = sizes.fold(0.0, f64::max);
            GroupMagnitude { growth, radius, largest, explained: largest }
        };
        let groups = self.coupling.groups.iter().zip(rates).map(of_group).collect();
        Magnitudes { t, states, groups }
    }

    /// The states by which steps from a time on are judged.
    pub(crate) fn sample_now(
        &self,
        problem: &Problem,
        values: &dyn Values,
        t: f64,
    ) -> Result<Vec<State>, Error> {
        self.sample_cells.sample(
            (problem, &self.boundaries, &self.linear),
            values,
            &[t],
            Sampling::Running,
        )
    }

    /// Finds how large values can have become by the equations since `before`, in steps of size `h`.
    pub(crate) fn explain(
        &self,
        problem: &Problem,
        before: &Magnitudes,
        now: &mut Magnitudes,
        h: f64,
    ) -> Result<(), Error> {
        let dt = now.t - before.t;
        let is_unusual = |group: &usize| {
            let usual = LARGER * before.grown_to(now, *group) * before.groups[*group].explained;
            now.groups[*group].largest > usual
        };
        let unusual: Vec<usize> = (0..now.groups.len()).filter(is_unusual).collect();
        if unusual.is_empty() {
            return Ok(());
        }
        // Times are rounded, and whole steps between them not quite whole.
        let of_steps = ((2.0 * dt / h).round() as usize).saturating_add(1);
        for count in [TIMES, of_steps.clamp(TIMES, MOST_TIMES)] {
            let times = within((before.t, now.t), count);
            let made = self.made(problem, (before, now), &times)?;
            for group in &unusual {
                let own = &mut now.groups[*group];
                own.explained = own.largest.min(made[*group]);
            }
            if !now.is_beyond() {
                break;
            }
        }
        Ok(())
    }

    /// How large values of each group can have become by what is at these times.
    fn made(
        &self,
        problem: &Problem,
        (before, now): (&Magnitudes, &Magnitudes),
        times: &[f64],
    ) -> Result<Vec<f64>, Error> {
        let dt = now.t - before.t;
        let (coupling, of_species) = (&self.coupling, self.coupling.of_species());
        let most_of = |values: Vec<f64>| -> Vec<f64> {
            let of_group =
                |species: &Vec<usize>| species.iter().map(|s| values[*s]).fold(0.0, f64::max);
            coupling.groups.iter().map(of_group).collect()
        };
        let beyond = most_of(self.beyond(times));
        let sizes = before.groups.iter().zip(&beyond).map(|(group, x)| group.explained.max(*x));
        let sizes: Vec<f64> = sizes.collect();
        // Values that have grown say nothing about what has made them grow.
        let clip = |values: &[f64], groups: &[usize], factor: f64| -> Vec<f64> {
            let most = groups.iter().map(|group| factor * sizes[*group]);
            values.iter().zip(most).map(|(value, most)| value.clamp(-most, most)).collect()
        };
        let symbols = self.waves_without_velocity(problem, [0.0, 1.0].into_iter());
        let fastest = symbols[1].laplacian.iter().fold(0.0_f64, |most, s| most.max(s.abs()));
        let clipped = |state: &State| State {
            cell: state.cell,
            values: clip(&state.values, &of_species, 1.0),
            laplacians: clip(&state.laplacians, &of_species, fastest),
            beyond: clip(&state.beyond, &coupling.of_potential, fastest.max(1.0).powi(2)),
        };
        let states: Vec<State> = before.states.iter().chain(&now.states).map(clipped).collect();
        let is_signed = |species: &Vec<usize>| {
            before.states.iter().any(|state| species.iter().any(|s| state.values[*s] < 0.0))
        };
        let is_signed: Vec<bool> = coupling.groups.iter().map(is_signed).collect();
        let signs: &[f64] = if is_signed.contains(&true) { &[1.0, -1.0] } else { &[1.0] };

        let (rhs, _) = problem.model.bound();
        let of_rates = if rhs.uses_time() { times } else { &times[..1] };
        let mut rates = vec![vec![0.0_f64; of_rates.len()]; sizes.len()];
        let mut exchanges = vec![0.0_f64; sizes.len()];
        let mut y = Vec::new();
        for state in &states {
            let place = [0, 1, 2].map(|axis| problem.grid.centre(axis, state.cell[axis]));
            for scale in signs.iter().flat_map(|sign| SCALES.map(|scale| sign * scale)) {
                y.clear();
                y.extend(state.values.iter().chain(&state.laplacians).map(|x| scale * x));
                y.extend(place);
                y.extend(state.beyond.iter().map(|x| scale * x));
                for (k, t) in of_rates.iter().enumerate() {
                    let own = rhs.eval(*t, &y, &[]);
                    for ((value, own), group) in y.iter().zip(own).zip(&of_species) {
                        // What takes a value back to zero makes it no larger.
                        let own = if value.abs() > SMALL * sizes[*group] {
                            own * value.signum()
                        } else {
                            own.abs()
                        };
                        let rate = &mut rates[*group][k];
                        if own.is_finite() && (scale >= 0.0 || is_signed[*group]) {
                            *rate = rate.max(own);
                        }
                    }
                }
            }
            for parts in self.linear.at(problem, state, now.t) {
                for (exchange, species) in exchanges.iter_mut().zip(&coupling.groups) {
                    *exchange = exchange.max(parts.exchange(species, &symbols[0], &symbols[1]));
                }
            }
        }
        let speeds = self.speeds(problem, times);
        let by_velocity = speeds.map_or(0.0, |speeds| 2.0 * speeds.iter().sum::<f64>());
        let sources = self.sources(problem, times)?;
        let made = |group: usize| {
            let mut exchange = exchanges[group] + by_velocity;
            if beyond[group] > 0.0 {
                exchange += before.groups[group].radius;
            }
            let sources = coupling.groups[group].iter().map(|s| sources[*s]).sum::<f64>();
            let rate = mean(&rates[group]) + sources;
            before.grown_to(now, group) * (sizes[group] * (1.0 + exchange * dt) + rate * dt)
        };
        Ok((0..sizes.len()).map(made).collect())
    }

    /// The largest value that is given at boundaries at some times, for each species.
    fn beyond(&self, times: &[f64]) -> Vec<f64> {
        let shift = |ghost: Ghost<f64>| match ghost {
            Ghost::Affine { shift, .. } => shift.abs(),
            _ => 0.0,
        };
        let of_species = |boundaries: &SpeciesBoundaries| {
            let ghosts = times.iter().flat_map(|t| boundaries.at::<f64>(*t).into_iter().flatten());
            ghosts.map(shift).filter(|x| x.is_finite()).fold(0.0, f64::max)
        };
        self.boundaries.iter().map(of_species).collect()
    }

    /// What sources in single cells add to each species, all of them together, as a mean over some times [1/time].
    fn sources(&self, problem: &Problem, times: &[f64]) -> Result<Vec<f64>, Error> {
        let mut sums = vec![0.0; self.boundaries.len()];
        for source in &problem.sources {
            let name = PointSource::argument(&source.species, "rate");
            let rate = source.rate.bind(problem.model.params(), name)?;
            let rates = times.iter().map(|t| rate.at(*t).abs());
            let rates: Vec<f64> = rates.map(|x| if x.is_finite() { x } else { 0.0 }).collect();
            if let Some(s) = problem.model.species().iter().position(|s| *s == source.species) {
                sums[s] += mean(&rates);
            }
        }
        Ok(sums)
    }

    /// With what power of the values derivatives of F change, where all become larger together: 2 of u³, and at least that.
    pub(crate) fn power(&self, problem: &Problem, magnitudes: &Magnitudes) -> f64 {
        // Of each derivative, over all states: its size, and by how much it changes from one scale to the next.
        let mut sums: Vec<[f64; 3]> = Vec::new();
        for state in &magnitudes.states {
            let of = |scale: f64| -> Vec<f64> {
                let scaled = |values: &[f64]| values.iter().map(|x| scale * x).collect();
                let state = State {
                    cell: state.cell,
                    values: scaled(&state.values),
                    laplacians: scaled(&state.laplacians),
                    beyond: scaled(&state.beyond),
                };
                let [(derivatives, _), _] =
                    self.sample_cells.derivatives(problem, &state, &[magnitudes.t]);
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
