//! How large a step may be, from the symbol of the stencil and the Jacobian of the reaction.
//!
//! On a wave that changes by the angles θ from cell to cell, the equations linearised about the
//! values of one cell are a small matrix: ∂F/∂u + s ∂F/∂L + s ∂F/∂M (∂μ/∂u + s ∂μ/∂L) + a, with
//! s(θ) the symbol of the Laplacian and a(θ) that of the upwind difference. Its eigenvalues λ, over
//! waves, over a sample of cells and over the time of a run, limit the steps.
//!
//! Where the domain is a part of the box the limits are the box's: what solid cells leave out of
//! the Laplacian cannot raise its largest eigenvalue (docs/src/theory/fields.md, solid cells).

use crate::eigen::{Complex, eigenvalues};
use crate::field::Field;
use crate::mask::Mask;
use crate::method::{MOST_STAGES, Method};
use crate::problem::{Advection, Problem, Wind};
use crate::quantity::Course;
use crate::spectrum::Spectrum;
use odeum::{Error, Scalar};
use odeum_core::{Graph, Pattern};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Limits of explicit steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// The largest stable step of forward Euler \[time\]: for every damped eigenvalue
    /// −2 Re λ/|λ|²; infinite when nothing limits it. With a wind also no larger than keeps new
    /// extrema away where the scheme is Koren's.
    pub euler: f64,
    /// The largest |λ| [1/time].
    pub radius: f64,
    /// The largest step of forward Euler that keeps positive values positive, of problems where
    /// a wind blows and every cell gains from its neighbours only \[time\].
    pub positive: Option<f64>,
    /// What limits methods with stages beside the radius.
    pub(crate) turning: Spectrum,
}

impl Stability {
    /// The largest stable step of a method \[time\]; of the stabilised ones with the stages asked
    /// for, or with as many as there may be. A wind, or a reaction that swings, limits these
    /// beside the radius: their stages widen the stable range along the real axis alone.
    pub fn largest_step(&self, method: Method) -> f64 {
        let of_stages = |stages: u32| {
            let most = method.reach(stages) / self.radius;
            self.turning.largest_step(method, self.radius, most)
        };
        match method {
            Method::Euler => self.euler,
            Method::Ssprk3 => of_stages(3).max(self.euler),
            Method::Rkc { stages } | Method::Rkl2 { stages } => {
                of_stages(stages.unwrap_or(MOST_STAGES))
            }
        }
    }
}

/// Waves where only the Laplacian counts, and along an axis where a wind blows too, on grids of
/// one, two and three axes.
const WAVES: usize = 33;
const WAVES_PER_AXIS: [usize; 3] = [129, 17, 9];
/// How much faster than waves of third order what the limiter of Koren's scheme makes of them is
/// taken to be: without it steps by tenths larger than stable were found in the plane.
const LIMITED: f64 = 1.3;
/// Cells of the sample beside those with extreme values, and times of it.
const CELLS: usize = 32;
const TIMES: usize = 33;

/// Limits of the steps of a problem about the values of a field, over times from `span.0` to
/// `span.1`, over which wind and rates may change.
pub fn stability<T: Scalar>(
    problem: &Problem,
    field: &Field<T>,
    span: (f64, f64),
) -> Result<Stability, Error> {
    judge(problem, &sample(field, problem.mask.as_ref()), span)
}

/// The same about some states.
pub(crate) fn judge(
    problem: &Problem,
    states: &[State],
    span: (f64, f64),
) -> Result<Stability, Error> {
    problem.check()?;
    let linear = Linear::new(problem);
    let wind = speeds(problem, span)?;
    let waves = waves(problem, wind);
    let mut limits = Limits { euler: f64::INFINITY, radius: 0.0, turning: Spectrum::default() };
    let mut spread: f64 = linear.variable;
    for t in if linear.rhs.uses_time() { times(span) } else { vec![span.0] } {
        for state in states {
            let parts = linear.at(problem, state, t);
            for s in 0..parts.species {
                spread = spread.max(parts.laplacian[s * parts.species + s]);
            }
            for wave in &waves {
                parts.limit(wave, &mut limits);
            }
        }
    }
    let mut positive = None;
    if let Some(speed) = wind {
        let weights = problem.stencil.weights(&problem.grid);
        let sum = if weights.edges { 24.0 } else { 2.0 * weights.axes.iter().sum::<f64>() };
        let factor = match problem.advection {
            Advection::Upwind => 1.0,
            Advection::Koren => 2.0,
        };
        let rate = factor * speed.iter().sum::<f64>() + spread * sum * weights.scale;
        if rate > 0.0 && problem.model.potentials().outputs().is_empty() {
            positive = Some(1.0 / rate);
        }
        if problem.advection == Advection::Koren {
            limits.euler = limits.euler.min(1.0 / rate);
        }
    }
    let Limits { euler, radius, turning } = limits;
    Ok(Stability { euler, radius, positive, turning })
}

struct Limits {
    euler: f64,
    radius: f64,
    turning: Spectrum,
}

/// A wave: the symbol of the Laplacian, that of the star stencil for diffusion in fluxes, that of
/// the upwind difference and, of Koren's scheme where nothing is limited, that of its third order.
struct Wave {
    laplacian: f64,
    star: f64,
    wind: Complex,
    third: Option<Complex>,
}

/// |w|/h along each axis, the largest of the run; `None` without a wind.
fn speeds(problem: &Problem, span: (f64, f64)) -> Result<Option<[f64; 3]>, Error> {
    let spacing = problem.grid.spacing();
    let mut speed = [0.0; 3];
    match &problem.wind {
        None => return Ok(None),
        Some(Wind::Uniform(parts)) => {
            for axis in 0..3 {
                let part = parts[axis].bind(problem.model.params(), "wind")?;
                let times =
                    if matches!(part, Course::Constant(_)) { vec![span.0] } else { times(span) };
                let largest = times.iter().map(|&t| part.at(t).abs()).fold(0.0, f64::max);
                speed[axis] = largest / spacing[axis];
            }
        }
        Some(Wind::Cells(parts)) => {
            for axis in 0..3 {
                let largest = parts[axis].iter().map(|w| w.abs()).fold(0.0, f64::max);
                speed[axis] = largest / spacing[axis];
            }
        }
    }
    Ok(Some(speed))
}

fn times((from, to): (f64, f64)) -> Vec<f64> {
    let to = if to.is_finite() { to } else { from };
    (0..TIMES).map(|k| from + (to - from) * k as f64 / (TIMES - 1) as f64).collect()
}

fn waves(problem: &Problem, wind: Option<[f64; 3]>) -> Vec<Wave> {
    let Problem { grid, stencil, .. } = problem;
    let star = crate::Stencil::Star;
    let Some(speed) = wind else {
        // Only the size of the symbol counts: from 0 to the largest.
        let (laplacian, star) = (stencil.largest_eigenvalue(grid), star.largest_eigenvalue(grid));
        let part = |k: usize| k as f64 / (WAVES - 1) as f64;
        let wave = |k: usize| Wave {
            laplacian: -laplacian * part(k),
            star: -star * part(k),
            wind: Complex::default(),
            third: None,
        };
        return (0..WAVES).map(wave).collect();
    };
    let axes = grid.shape().iter().filter(|n| **n > 1).count();
    let per_axis = WAVES_PER_AXIS[axes.max(1) - 1];
    let angles = |axis: usize| if grid.shape()[axis] > 1 { per_axis } else { 1 };
    let [a, b, c] = [0, 1, 2].map(angles);
    let wave = |at: usize| {
        let place = [at % a, at / a % b, at / (a * b)];
        let theta = place.map(|k| k as f64 * PI / (per_axis - 1) as f64);
        let [mut wind, mut third] = [Complex::default(); 2];
        for axis in 0..3 {
            let (sin, cos) = theta[axis].sin_cos();
            wind = wind.add(Complex::new(cos - 1.0, -sin).scale(speed[axis]));
            // −(2 e^{iθ} + 3 − 6 e^{−iθ} + e^{−2iθ})/6
            let damped =
                Complex::new((1.0 - cos) * (cos - 1.0) / 3.0, (sin * cos - 4.0 * sin) / 3.0);
            third = third.add(damped.scale(LIMITED * speed[axis]));
        }
        let third = Some(third).filter(|_| problem.advection == Advection::Koren);
        Wave { laplacian: stencil.symbol(grid, theta), star: star.symbol(grid, theta), wind, third }
    };
    (0..a * b * c).map(wave).collect()
}

/// The values of all species in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) cell: [usize; 3],
    pub(crate) values: Vec<f64>,
}

/// Cells of the sample that do not depend on the values; in place of solid ones the next that
/// belong to the domain.
pub(crate) fn everywhere([nx, ny, nz]: [usize; 3], mask: Option<&Mask>) -> Vec<[usize; 3]> {
    let cells = nx * ny * nz;
    let count = CELLS.min(cells);
    let at = |index: usize| [index % nx, index / nx % ny, index / (nx * ny)];
    let mut next = 0;
    let mut places = Vec::with_capacity(count);
    for k in 0..count {
        next = next.max(k * cells / count);
        while next < cells && mask.is_some_and(|mask| !mask.contains(at(next))) {
            next += 1;
        }
        if next < cells {
            places.push(at(next));
        }
    }
    places
}

/// Rows that a thread looks through at once for extreme values.
const SAMPLED: usize = 256;

/// The least and the largest of some values, and their cells.
type Extremes<T> = [(T, [usize; 3]); 2];

/// Cells of the domain with the extreme values of every species, and some others.
pub(crate) fn sample<T: Scalar>(field: &Field<T>, mask: Option<&Mask>) -> Vec<State> {
    let [_, ny, nz] = field.shape();
    let mut sample = everywhere(field.shape(), mask);
    let first = sample.first().copied().unwrap_or_default();
    for s in 0..field.species() {
        let begun = [(field.get(s, first), first); 2];
        let join = |[low, high]: &mut Extremes<T>, [lower, higher]: Extremes<T>| {
            // Of equal values that of the first cell, in whatever blocks threads look.
            if lower.0 < low.0 {
                *low = lower;
            }
            if higher.0 > high.0 {
                *high = higher;
            }
        };
        let of_block = |rows: &[usize]| {
            let mut found = begun;
            for &row in rows {
                let (y, z) = (row % ny, row / ny);
                for (x, &value) in field.row(s, y, z).iter().enumerate() {
                    if mask.is_none_or(|mask| mask.contains([x, y, z])) {
                        join(&mut found, [(value, [x, y, z]); 2]);
                    }
                }
            }
            found
        };
        let rows: Vec<usize> = (0..ny * nz).collect();
        let blocks: Vec<_> = rows.par_chunks(SAMPLED).map(of_block).collect();
        let mut found = begun;
        blocks.into_iter().for_each(|block| join(&mut found, block));
        sample.extend(found.map(|(_, cell)| cell));
    }
    sample.sort_unstable();
    sample.dedup();
    let values = |cell| (0..field.species()).map(|s| field.get(s, cell).to_f64()).collect();
    sample.into_iter().map(|cell| State { cell, values: values(cell) }).collect()
}

/// The derivatives of a problem's F and potentials.
struct Linear {
    rhs: Graph,
    rhs_pattern: Pattern,
    potentials: Graph,
    potentials_pattern: Pattern,
    carried: Vec<bool>,
    /// Largest D of fluxes, of each species and of all.
    diffusion: Vec<f64>,
    variable: f64,
}

/// The parts of the matrix at one cell; S × S, S × K and K × S, row by row.
struct Parts {
    species: usize,
    potentials: usize,
    state: Vec<f64>,
    laplacian: Vec<f64>,
    beyond: Vec<f64>,
    potential_state: Vec<f64>,
    potential_laplacian: Vec<f64>,
    carried: Vec<bool>,
    diffusion: Vec<f64>,
}

impl Linear {
    fn new(problem: &Problem) -> Linear {
        let (rhs, potentials) = problem.model.bound();
        let (rhs, rhs_pattern) = rhs.jacobian();
        let (potentials, potentials_pattern) = potentials.jacobian();
        let largest = |name: &String| {
            let given = problem.diffusion.iter().find(|(other, _)| other == name);
            given.map_or(0.0, |(_, d)| d.iter().copied().fold(0.0, f64::max))
        };
        let diffusion: Vec<f64> = problem.model.species().iter().map(largest).collect();
        let variable = diffusion.iter().copied().fold(0.0, f64::max);
        let carried = problem.carried();
        Linear { rhs, rhs_pattern, potentials, potentials_pattern, carried, diffusion, variable }
    }

    fn at(&self, problem: &Problem, State { cell, values }: &State, t: f64) -> Parts {
        let s = values.len();
        let k = self.potentials_pattern.rows();
        // The Laplacians that the field has there are not known; zero stands for them.
        let mut y = vec![0.0; 2 * s + 3 + k];
        y[..s].copy_from_slice(values);
        for axis in 0..3 {
            y[2 * s + axis] = problem.grid.centre(axis, cell[axis]);
        }
        let mut parts = Parts {
            species: s,
            potentials: k,
            state: vec![0.0; s * s],
            laplacian: vec![0.0; s * s],
            beyond: vec![0.0; s * k],
            potential_state: vec![0.0; k * s],
            potential_laplacian: vec![0.0; k * s],
            carried: self.carried.clone(),
            diffusion: self.diffusion.clone(),
        };
        for ((row, col), value) in self.rhs_pattern.iter().zip(self.rhs.eval(t, &y, &[])) {
            match col {
                _ if col < s => parts.state[row * s + col] = value,
                _ if col < 2 * s => parts.laplacian[row * s + col - s] = value,
                _ if col < 2 * s + 3 => {}
                _ => parts.beyond[row * k + col - 2 * s - 3] = value,
            }
        }
        let y = &y[..2 * s + 3];
        for ((row, col), value) in
            self.potentials_pattern.iter().zip(self.potentials.eval(t, y, &[]))
        {
            match col {
                _ if col < s => parts.potential_state[row * s + col] = value,
                _ if col < 2 * s => parts.potential_laplacian[row * s + col - s] = value,
                _ => {}
            }
        }
        parts
    }
}

impl Parts {
    /// The matrix of a wave, of which this is the symbol of the wind.
    fn matrix(&self, wave: &Wave, wind: Complex) -> Vec<Complex> {
        let (n, k) = (self.species, self.potentials);
        let symbol = wave.laplacian;
        let mut matrix = vec![Complex::default(); n * n];
        for row in 0..n {
            for col in 0..n {
                let mut value = self.state[row * n + col] + symbol * self.laplacian[row * n + col];
                for p in 0..k {
                    let inner = self.potential_state[p * n + col]
                        + symbol * self.potential_laplacian[p * n + col];
                    value += symbol * self.beyond[row * k + p] * inner;
                }
                matrix[row * n + col] = Complex::new(value, 0.0);
            }
            let own = &mut matrix[row * n + row];
            own.re += self.diffusion[row] * wave.star;
            if self.carried[row] {
                *own = own.add(wind);
            }
        }
        matrix
    }

    /// Lowers the limits by the eigenvalues of a wave.
    fn limit(&self, wave: &Wave, limits: &mut Limits) {
        let n = self.species;
        let uniform = wave.laplacian == 0.0 && wave.star == 0.0 && wave.wind == Complex::default();
        for value in eigenvalues(&mut self.matrix(wave, wave.wind), n) {
            let size = value.abs();
            if !size.is_finite() {
                // A derivative that is not finite says nothing about the size of a step.
                continue;
            }
            limits.radius = limits.radius.max(size);
            // Waves that grow do so by themselves; a reaction that swings without space is a
            // matter of accuracy.
            if !uniform {
                limits.turning.add(value);
            }
            let limit = match value.re < 0.0 {
                true if uniform => 2.0 / size,
                true => -2.0 * value.re / (size * size),
                false => f64::INFINITY,
            };
            limits.euler = limits.euler.min(limit);
        }
        // Forward Euler is limited by new extrema instead, and the radius is that of upwind.
        if let Some(third) = wave.third
            && !uniform
        {
            for value in eigenvalues(&mut self.matrix(wave, third), n) {
                limits.turning.add(value);
            }
        }
    }
}
