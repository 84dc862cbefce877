//! Steps whose coefficients change while they are taken.
//!
//! The stages of a step multiply a wave by a polynomial of hλ that is bounded where h is stable for λ. With another λ for each stage
//! the product is no such polynomial: where a coefficient becomes twenty times as large within a step of RKC, it is up to 26 though
//! the step is far within the limit of either. So such steps are judged by the product itself, with the coefficients that each stage
//! has at its own time.

use crate::analysis::sample::{InMemory, State, Values};
use crate::field::Field;
use crate::problem::Problem;
use crate::problem::quantity::TimeDependent;
use crate::time::coefficients::Amplification;
use crate::time::effort::Effort;
use crate::time::eigen::{Complex, eigenvalues};
use crate::time::linearised::{Parts, Wave};
use crate::time::method::Method;
use crate::time::sampling::Sampling;
use crate::time::spectrum::{ONE, RESOLVED};
use crate::time::stability::{Judge, Speeds, count_of};
use odeum_ode::{Error, Scalar};

/// By which part of themselves coefficients change, up and down, within a step that counts as steady: stages damp more.
const STEADY: f64 = 0.01;

/// Evaluations of stages that are looked at together, and steps among them that are not steady.
const EVALUATIONS: usize = 4096;
const UNSTEADY: usize = 32;

/// States with the largest coefficients by which such steps are judged, and as many with those that change most.
const FEW: usize = 4;

/// Operations that the products of a step may take.
const OPERATIONS: f64 = 2.5e7;

/// What steps of a given size may make of a wave that decays: ln of the factor.
const TWICE: f64 = std::f64::consts::LN_2;

/// From a step that is tried to the next.
const SHORTER: f64 = 0.8;

/// Steps that are looked at before a run.
const STEPS_BEFORE: usize = 1024;

/// Equal steps from a time on.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    pub(crate) method: Method,
    /// Of each.
    pub(crate) stages: u32,
    pub(crate) t: f64,
    pub(crate) h: f64,
}

/// How many of some steps, of which this is what each makes of waves (ln of the factor), leave `grown`, what all of a run have made
/// of one at most, within bounds.
pub(crate) fn steps_within_bounds(growths: &[f64], grown: &mut f64) -> usize {
    let holds = |growth: &&f64| {
        let next = (*grown + **growth).max(0.0);
        let holds = next <= TWICE;
        if holds {
            *grown = next;
        }
        holds
    };
    growths.iter().take_while(holds).count()
}

impl Judge {
    /// Whether coefficients change with time.
    pub(crate) fn has_coefficients_of_time(&self) -> bool {
        let is_uniform = matches!(self.velocity, Some(Speeds::Uniform(_)));
        self.linear.reads.time || is_uniform && self.velocity.as_ref().is_some_and(Speeds::varies)
    }

    /// The states by which so many steps are judged, or by which as many are as can be looked at together.
    pub(crate) fn states_ahead(
        &self,
        problem: &Problem,
        values: &dyn Values,
        ahead: &Ahead,
        steps: usize,
    ) -> Result<Vec<State>, Error> {
        let steps = steps.min((EVALUATIONS / ahead.stages as usize).max(1));
        let end = ahead.t + steps as f64 * ahead.h;
        let times = if self.linear.reads.time { vec![ahead.t, end] } else { vec![ahead.t] };
        let of = (problem, &self.boundaries[..], &self.linear);
        let mut states = self.sample_cells.sample(of, values, &times, Sampling::Running)?;
        if !self.linear.by_cell() && problem.diffusion.is_empty() {
            states.truncate(1);
        }
        Ok(states)
    }

    /// What each of up to `most` steps makes of a wave that decays, of that which it damps least: ln of the factor. There are fewer where no
    /// more can be looked at together.
    pub(crate) fn growths(
        &self,
        problem: &Problem,
        states: &[State],
        ahead: &Ahead,
        most: usize,
    ) -> Vec<f64> {
        let step = Amplification::new(ahead.method, ahead.stages);
        let parts: Vec<f64> = step.times().collect();
        let steps = most.min((EVALUATIONS / parts.len()).max(1));
        let starts: Vec<f64> = (0..steps).map(|k| ahead.t + k as f64 * ahead.h).collect();
        let times: Vec<f64> =
            starts.iter().flat_map(|t| parts.iter().map(move |part| t + part * ahead.h)).collect();
        let mut is_steady = vec![true; steps];
        let mut found: Vec<(&State, f64, f64)> = Vec::with_capacity(states.len());
        for state in states {
            let changes = self.changes_along(problem, state, &times, parts.len());
            let (mut largest, mut least_steady) = (0.0_f64, 0.0_f64);
            for (is_steady, [rate, change]) in is_steady.iter_mut().zip(changes) {
                largest = largest.max(rate);
                if change > STEADY * rate && ahead.h * rate > RESOLVED {
                    *is_steady = false;
                    least_steady = least_steady.max(change / rate);
                }
            }
            found.push((state, largest, least_steady));
        }
        let mut few: Vec<&State> = Vec::new();
        for by in [|f: &(&State, f64, f64)| f.1, |f: &(&State, f64, f64)| f.2] {
            found.sort_by(|a, b| by(b).total_cmp(&by(a)));
            few.extend(found.iter().take(FEW).map(|(state, ..)| *state));
        }
        few.sort_by_key(|state| state.cell);
        few.dedup_by_key(|state| state.cell);
        let (mut growths, mut of_steady, mut unsteady) = (Vec::with_capacity(steps), None, 0);
        for (t, is_steady) in starts.into_iter().zip(is_steady) {
            unsteady += usize::from(!is_steady);
            if unsteady > UNSTEADY {
                break;
            }
            let growth = || self.growth(problem, &few, (&step, ahead.h), t);
            growths.push(if is_steady { *of_steady.get_or_insert_with(growth) } else { growth() });
        }
        growths
    }

    /// How long steps from the same time are that make no wave grow that decays.
    pub(crate) fn shorter(&self, problem: &Problem, states: &[State], ahead: &Ahead) -> f64 {
        let mut ahead = *ahead;
        while self.growths(problem, states, &ahead, 1)[0] > ONE.ln() {
            ahead.h *= SHORTER;
        }
        ahead.h
    }

    /// What coefficients contribute to the fastest wave at most in each step, and by how much that changes within it, up and down.
    fn changes_along(
        &self,
        problem: &Problem,
        state: &State,
        times: &[f64],
        evaluations: usize,
    ) -> Vec<[f64; 2]> {
        let mut changes = vec![[0.0_f64; 2]; times.len() / evaluations];
        // Rates and changes of numbers \[times × numbers\] that count by their weights.
        let of_numbers = |numbers: &[f64], weights: &[f64]| -> Vec<[f64; 2]> {
            let of_step = |numbers: &[f64]| {
                let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
                    weights.iter().enumerate().map(|(j, weight)| weight * of(j).abs()).sum()
                };
                let rows: Vec<&[f64]> = numbers.chunks_exact(weights.len()).collect();
                let rate = rows.iter().map(|row| sum(&|j| row[j])).fold(0.0, f64::max);
                let change = rows.windows(2).map(|two| sum(&|j| two[1][j] - two[0][j])).sum();
                [rate, change]
            };
            numbers.chunks_exact(evaluations * weights.len()).map(of_step).collect()
        };
        let [rhs, potentials] = self.sample_cells.derivatives(problem, state, times);
        if !rhs.1.is_empty() {
            changes = of_numbers(&rhs.0, &rhs.1);
        }
        if let Some(Speeds::Uniform(_)) = &self.velocity {
            let speeds: Vec<f64> = times
                .iter()
                .flat_map(|t| self.velocity_at(problem, *t).unwrap_or_default())
                .collect();
            for (all, own) in changes.iter_mut().zip(of_numbers(&speeds, &[2.0; 3])) {
                *all = [all[0] + own[0], all[1] + own[1]];
            }
        }
        if !potentials.1.is_empty() {
            // What they are multiplied by is among the derivatives of F.
            for (all, own) in changes.iter_mut().zip(of_numbers(&potentials.0, &potentials.1)) {
                if own[0] > 0.0 {
                    all[1] += all[0] * own[1] / own[0];
                }
            }
        }
        changes
    }

    /// w/h along each axis at a time, or the largest of all cells.
    fn velocity_at(&self, problem: &Problem, t: f64) -> Option<[f64; 3]> {
        let spacing = problem.grid.spacing();
        Some(match self.velocity.as_ref()? {
            Speeds::Cells(speeds) => *speeds,
            Speeds::Uniform(parts) => [0, 1, 2].map(|axis| match &parts[axis] {
                TimeDependent::Constant(w) => w / spacing[axis],
                part => part.at(t) / spacing[axis],
            }),
        })
    }

    /// What a step from `t` makes of a wave that decays, of that which it damps least: ln of the factor. Waves that it resolves are a matter of
    /// accuracy, and others may grow as they do by themselves, or would with the coefficients of any of the stages.
    fn growth(
        &self,
        problem: &Problem,
        states: &[&State],
        (step, h): (&Amplification, f64),
        t: f64,
    ) -> f64 {
        let n = problem.model.species().len();
        let times: Vec<f64> = step.times().map(|part| t + part * h).collect();
        let set = Effort::new(n, Sampling::Running)
            .waves(2 * states.len() * times.len(), |set| count_of(problem, set));
        // Between waves that differ by so little no polynomial of so many stages has room for another extremum.
        let (all, least) = (4 * times.len() + 1, 9);
        let products = times.len() as f64 * (n as f64).powi(3) * states.len() as f64;
        let count = ((OPERATIONS / products) as usize).clamp(least, all);
        let parts = (0..count).map(|k| {
            let (sin, _) = (0.5 * std::f64::consts::PI * k as f64 / (count - 1) as f64).sin_cos();
            sin * sin
        });
        let without_velocity = self.waves_without_velocity(problem, parts);
        let waves_of = |t: f64| match self.velocity_at(problem, t) {
            Some(speed) => self.waves_of(problem, Some(speed), &set),
            None => Vec::new(),
        };
        let advected: Vec<Vec<Wave>> = match &self.velocity {
            Some(Speeds::Uniform(_)) => times.iter().map(|t| waves_of(*t)).collect(),
            _ => vec![waves_of(t)],
        };
        let count_advected = advected[0].len();
        let varies = self.velocity.as_ref().is_none_or(Speeds::varies);
        let rest = if varies { without_velocity.len() } else { 0 };
        let wave = |k: usize, at: usize| match k.checked_sub(count_advected) {
            Some(k) => &without_velocity[k],
            None => &advected[at.min(advected.len() - 1)][k],
        };
        let mut worst = f64::NEG_INFINITY;
        for state in states {
            let at: Vec<Vec<Parts>> =
                times.iter().map(|t| self.linear.at(problem, state, *t)).collect();
            for which in 0..at[0].len() {
                for k in 0..count_advected + rest {
                    let growth = |species: &Vec<usize>, symbol: fn(&Wave) -> Complex| {
                        let of = |(at, parts): (usize, &Vec<Parts>)| -> Vec<Complex> {
                            let wave = wave(k, at);
                            let matrix = parts[which].matrix(species, wave, symbol(wave));
                            matrix.into_iter().map(|value| value.scale(h)).collect()
                        };
                        let z: Vec<Vec<Complex>> = at.iter().enumerate().map(of).collect();
                        growth_of(step, &z, species.len())
                    };
                    for species in &self.coupling.groups {
                        worst = worst.max(growth(species, |wave| wave.velocity));
                        if wave(k, 0).third.is_some() {
                            worst =
                                worst.max(growth(species, |wave| wave.third.unwrap_or_default()));
                        }
                    }
                }
            }
        }
        worst
    }
}

/// The same of one wave, with the size of the step times its matrix at each evaluation.
fn growth_of(step: &Amplification, z: &[Vec<Complex>], n: usize) -> f64 {
    let size = |matrix: &Vec<Complex>| {
        let rows = matrix.chunks(n).map(|row| row.iter().map(|value| value.abs()).sum::<f64>());
        rows.fold(0.0, f64::max)
    };
    let most = z.iter().map(size).fold(0.0, f64::max);
    // What is not finite says nothing about the size of a step.
    if !(most > RESOLVED && z.iter().flatten().all(|value| value.abs().is_finite())) {
        return f64::NEG_INFINITY;
    }
    let mut product = step.product(z, n);
    if !product.iter().all(|value| value.abs().is_finite()) {
        return f64::INFINITY;
    }
    let largest = |values: Vec<Complex>| values.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let growth = largest(eigenvalues(&mut product, n)).ln();
    if growth <= ONE.ln() {
        return growth;
    }
    let own: Vec<Complex> = z.iter().flat_map(|z| eigenvalues(&mut z.clone(), n)).collect();
    if own.iter().all(|value| value.abs() <= RESOLVED) {
        return f64::NEG_INFINITY;
    }
    let by_itself = own.iter().map(|value| value.re.max(step.of(*value).ln()));
    growth - by_itself.fold(0.0, f64::max)
}

/// When steps of a given size first make waves grow, since coefficients change within a step, and how long a step from there may be: of
/// the first thousand steps, with the values of a field.
pub fn first_growing_step<T: Scalar>(
    problem: &Problem,
    field: &Field<T>,
    (start, end): (f64, f64),
    method: Method,
    h: f64,
) -> Result<Option<(f64, f64)>, Error> {
    let judge = Judge::new(problem)?;
    if method == Method::Euler || !judge.has_coefficients_of_time() {
        return Ok(None);
    }
    let values = InMemory(field, problem.mask.as_ref());
    let all = ((end - start) / h).ceil().clamp(1.0, STEPS_BEFORE as f64) as usize;
    let (mut taken, mut grown) = (0, 0.0);
    while taken < all {
        let t = start + taken as f64 * h;
        let some = (all - taken).min(25);
        let span = (t, t + some as f64 * h);
        let (limits, _) = judge.running_limits(problem, &values, (span, some as f64), 0.0)?;
        let h = h.min(end - t);
        let ahead = Ahead { method, stages: method.stages(h, limits.radius), t, h };
        let states = judge.states_ahead(problem, &values, &ahead, some)?;
        let growths = judge.growths(problem, &states, &ahead, some);
        match steps_within_bounds(&growths, &mut grown) {
            0 => return Ok(Some((t, judge.shorter(problem, &states, &ahead)))),
            holds => taken += holds,
        }
    }
    Ok(None)
}
