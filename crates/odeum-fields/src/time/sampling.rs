//! The cells by which steps are judged: those where derivatives of the equations are least and largest.
//!
//! Limits follow from derivatives, which may depend on the place, on the values and their Laplacians, and on the time; a limit that
//! a few cells have and the others do not holds for all. So derivatives are evaluated
//! - in every cell, along the axes whose coordinates they read, with made-up values;
//! - in cells spread over the domain, with the values of the field;
//!
//! and the cells with the least and the largest of each are sampled, beside those with the extreme values of each species. What is
//! sampled depends on nothing but the problem and the present field: a simulation that is taken up judges its steps as before.

use crate::analysis::sample::{Cell, State, Values, spread};
use crate::problem::Problem;
use crate::problem::boundaries::{Ghost, Ghosts, SpeciesBoundaries, source};
use crate::time::eigen::{Complex, balance, blocks};
use crate::time::linearised::Linear;
use odeum_core::lanes::LaneWork;
use odeum_core::tape::Program;
use odeum_core::{Isa, Lanes, Pattern};
use odeum_ode::Error;
use rayon::prelude::*;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

/// How closely a field is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// At the start.
    Initial,
    /// On the way.
    Running,
}

impl Sampling {
    /// Cells in which derivatives are evaluated with the values of the field.
    fn lattice(self) -> usize {
        if self == Sampling::Initial { 1 << 16 } else { 1 << 11 }
    }

    /// The same as a part of all cells.
    pub(super) fn part(self, problem: &Problem) -> f64 {
        (self.lattice() as f64 / problem.cells() as f64).min(1.0)
    }

    /// Cells that are sampled whatever the derivatives are there.
    fn spread(self) -> usize {
        if self == Sampling::Initial { 32 } else { 4 }
    }
}

/// Cells that a scan gives at most.
const MOST: usize = 24;

/// Levels of a field of diffusion coefficients, from the least to the largest, whose cells are sampled.
const LEVELS: usize = 9;

/// Points by which units are balanced.
const SAMPLE: usize = 16;

/// Points that are evaluated at once.
const CHUNK: usize = 1 << 12;

/// The cells in which derivatives are evaluated, and the programs of these.
pub(super) struct SampleCells {
    programs: [Program; 2],
    /// Of each derivative of F, and of potentials, the numbers that it relates: those of species, and then of potentials.
    relates: [Vec<[usize; 2]>; 2],
    /// What each derivative of F contributes to the fastest wave, and those of potentials alike; zero between those that do not act on
    /// each other.
    weights: [Vec<f64>; 2],
    /// Cells by their coefficients of diffusion, and by their places where no time matters to these.
    by_diffusion: OnceLock<Vec<Cell>>,
    by_place: OnceLock<Vec<Cell>>,
    /// Cells spread over the domain, at the start and on the way.
    lattices: [OnceLock<Vec<Cell>>; 2],
}

/// Gives the values, Laplacians and coordinates of a point, and the Laplacians of its potentials; false where there is none.
type Fill<'a> = &'a (dyn Fn(usize, &mut [f64]) -> bool + Sync);

impl SampleCells {
    /// `fastest` is the symbol of the fastest wave.
    pub(super) fn new(linear: &Linear, species: usize, fastest: f64) -> SampleCells {
        let weight = |(_, col): (usize, usize)| match col {
            _ if col < species => 1.0,
            _ if (2 * species..2 * species + 3).contains(&col) => 0.0,
            _ => fastest.abs(),
        };
        let number = |row: usize, col: usize| match col {
            _ if col < 2 * species => col % species,
            _ if col < 2 * species + 3 => row,
            _ => col - species - 3,
        };
        let patterns = [&linear.rhs_pattern, &linear.potentials_pattern];
        let of = |(pattern, first): (&Pattern, usize)| -> Vec<[usize; 2]> {
            let rows = pattern.iter().map(|(row, col)| (row + first, col));
            rows.map(|(row, col)| [row, number(row, col)]).collect()
        };
        let relates = [of((patterns[0], 0)), of((patterns[1], species))];
        let mut weights = [patterns[0].iter().map(weight).collect(), vec![1.0; relates[1].len()]];
        let n = species + linear.potentials_pattern.rows();
        let mut acts = vec![false; n * n];
        relates.iter().flatten().for_each(|[row, col]| acts[row * n + col] = true);
        let blocks = blocks(acts, n);
        for ([row, col], weight) in relates.iter().flatten().zip(weights.iter_mut().flatten()) {
            if !blocks.iter().any(|block| block.contains(row) && block.contains(col)) {
                *weight = 0.0;
            }
        }
        SampleCells {
            programs: [&linear.rhs, &linear.potentials].map(Program::new),
            relates,
            weights,
            by_diffusion: OnceLock::new(),
            by_place: OnceLock::new(),
            lattices: [OnceLock::new(), OnceLock::new()],
        }
    }

    /// The states by which steps are judged that are taken at these times.
    pub(super) fn sample(
        &self,
        (problem, boundaries, linear): (&Problem, &[SpeciesBoundaries], &Linear),
        values: &dyn Values,
        times: &[f64],
        sampling: Sampling,
    ) -> Result<Vec<State>, Error> {
        let (shape, mask) = (problem.grid.shape(), problem.mask.as_ref());
        let s = problem.model.species().len();
        let reads = &linear.reads;
        let mut cells = spread(shape, mask, sampling.spread());
        cells.extend(self.by_diffusion.get_or_init(|| by_diffusion(problem)));
        if reads.time {
            cells.extend(times.iter().flat_map(|t| self.by_place(problem, linear, *t)));
        } else {
            cells.extend(self.by_place.get_or_init(|| self.by_place(problem, linear, 0.0)));
        }
        // What is given at boundaries is that of the field's time.
        let now = Now { problem, linear, values, boundaries, t: times[0] };
        let k = linear.potentials_pattern.rows();
        let state_of = |cells: &[Cell]| -> Result<[Vec<f64>; 3], Error> {
            let own = values.pick(cells)?;
            let laplacians = match reads.laplacians {
                true => now.laplacians(cells, &own)?,
                false => vec![0.0; own.len()],
            };
            let beyond = match reads.beyond {
                true => now.laplacians_of_potentials(cells)?,
                false => vec![0.0; k * cells.len()],
            };
            Ok([own, laplacians, beyond])
        };
        if reads.values {
            let lattice = self.lattices[usize::from(sampling == Sampling::Running)]
                .get_or_init(|| spread(shape, mask, sampling.lattice()));
            let [own, laplacians, beyond] = state_of(lattice)?;
            let fill = |n: usize, y: &mut [f64]| {
                y[..s].copy_from_slice(&own[n * s..(n + 1) * s]);
                y[s..2 * s].copy_from_slice(&laplacians[n * s..(n + 1) * s]);
                for axis in 0..3 {
                    y[2 * s + axis] = problem.grid.centre(axis, lattice[n][axis]);
                }
                y[2 * s + 3..].copy_from_slice(&beyond[n * k..(n + 1) * k]);
                true
            };
            for t in times {
                let found = self.scan(*t, lattice.len(), 2 * s + 3 + k, &fill);
                cells.extend(found.into_iter().map(|n| lattice[n]));
            }
            cells.extend(values.extremes()?);
        }
        cells.sort_unstable();
        cells.dedup();
        let [own, laplacians, beyond] = match reads.values {
            true => state_of(&cells)?,
            false => [s, s, k].map(|each| vec![0.0; cells.len() * each]),
        };
        let state = |(n, cell): (usize, &Cell)| State {
            cell: *cell,
            values: own[n * s..(n + 1) * s].to_vec(),
            laplacians: laplacians[n * s..(n + 1) * s].to_vec(),
            beyond: beyond[n * k..(n + 1) * k].to_vec(),
        };
        Ok(cells.iter().enumerate().map(state).collect())
    }

    /// How many matrices a running sample may have, where its cells all differ.
    pub(super) fn most_matrices(&self, problem: &Problem, linear: &Linear) -> usize {
        let (reads, species) = (&linear.reads, problem.model.species().len());
        // Both ends of the times ahead, and those at which derivatives are extreme.
        let (scans, times) = if reads.time { (2, 4) } else { (1, 1) };
        let by_place = if reads.coordinates == [false; 3] { 0 } else { MOST * scans };
        let by_values = if reads.values { MOST * scans + 2 * species } else { 0 };
        let levels = problem.diffusion.len() * (LEVELS + 2);
        let differ = by_place + by_values + levels > 0;
        let cells =
            if differ { Sampling::Running.spread() + by_place + by_values + levels } else { 1 };
        // With D of fluxes of a cell, and with the largest.
        let each = if problem.diffusion.is_empty() { 1 } else { 2 };
        (cells * each).min(problem.cells() * each) * times
    }

    /// The times at which derivatives of F, and those of potentials, are least and largest in some states.
    pub(super) fn extreme_times(
        &self,
        problem: &Problem,
        states: &[State],
        times: &[f64],
    ) -> Vec<f64> {
        let states: Vec<Vec<f64>> = states.iter().map(|state| inputs(problem, state)).collect();
        let last = times.len().saturating_sub(1);
        let some = times.first().into_iter().chain(times.get(last / 2)).chain(times.get(last));
        let weights = self.balanced(&states, &some.copied().collect::<Vec<f64>>());
        let of = |(program, weights): (&Program, &[f64])| {
            Isa::best().dispatch(Through { program, weights, states: &states, times })
        };
        let programs = self.programs.iter().zip(weights.iter().map(|weights| &weights[..]));
        let read = programs.into_iter().filter(|(program, _)| program.n_outputs() > 0);
        read.flat_map(of).map(|end| times[end.point]).collect()
    }

    /// The derivatives of F in a state \[times × derivatives\] with what each contributes to the fastest wave in balanced
    /// units, and those of potentials.
    pub(super) fn derivatives(
        &self,
        problem: &Problem,
        state: &State,
        times: &[f64],
    ) -> [(Vec<f64>, Vec<f64>); 2] {
        let inputs = inputs(problem, state);
        let values = self.along(&inputs, times);
        let [rhs, potentials] = self.weights_for(&values);
        let [of_rhs, of_potentials] = values;
        [(of_rhs, rhs), (of_potentials, potentials)]
    }

    /// All derivatives at times, in a state.
    fn along(&self, state: &[f64], times: &[f64]) -> [Vec<f64>; 2] {
        self.programs
            .each_ref()
            .map(|program| Isa::best().dispatch(Along { program, state, times }))
    }

    /// The weights of derivatives in units in which what species, and potentials, make of each other is alike in some states at some
    /// times: beside a number of 10²⁵ that relates a density to a temperature all others would count for nothing.
    fn balanced(&self, states: &[Vec<f64>], times: &[f64]) -> [Vec<f64>; 2] {
        let mut all = [Vec::new(), Vec::new()];
        for state in states {
            all.iter_mut().zip(self.along(state, times)).for_each(|(all, own)| all.extend(own));
        }
        self.weights_for(&all)
    }

    /// The same for some values of all derivatives.
    fn weights_for(&self, values: &[Vec<f64>; 2]) -> [Vec<f64>; 2] {
        let n = 1 + self.relates.iter().flatten().flatten().copied().fold(0, usize::max);
        let mut sizes = vec![Complex::default(); n * n];
        for ((relates, weights), values) in self.relates.iter().zip(&self.weights).zip(values) {
            let of_one = relates.iter().zip(weights).cycle();
            for (([row, col], weight), value) in of_one.zip(values) {
                let (size, own) = (&mut sizes[row * n + col].re, (weight * value).abs());
                *size = if own.is_finite() { size.max(own) } else { *size };
            }
        }
        let mut units = vec![1.0; n];
        balance(&mut sizes, n, |number, by| units[number] *= by);
        let mut weights = self.weights.clone();
        for (relates, weights) in self.relates.iter().zip(&mut weights) {
            for ([row, col], weight) in relates.iter().zip(weights) {
                *weight *= units[*col] / units[*row];
            }
        }
        weights
    }

    /// Cells at whose coordinates derivatives are extreme, with values that are made up.
    fn by_place(&self, problem: &Problem, linear: &Linear, t: f64) -> Vec<Cell> {
        let reads = &linear.reads;
        if reads.coordinates == [false; 3] {
            return Vec::new();
        }
        let (grid, mask) = (&problem.grid, problem.mask.as_ref());
        // Where all cells are open, those of the axes that are read stand for the others.
        let [nx, ny, nz] = [0, 1, 2].map(|axis| {
            if mask.is_some() || reads.coordinates[axis] { grid.shape()[axis] } else { 1 }
        });
        let cell = |k: usize| [k % nx, k / nx % ny, k / (nx * ny)];
        let s = problem.model.species().len();
        let made_up: &[fn(usize) -> [f64; 2]] = match reads.values {
            true => &[
                |_| [1.0, 0.0],
                |s| [(0.618 * (s + 1) as f64).fract(), 1.0],
                |s| [-(0.618 * (s + 1) as f64).fract(), -1.0],
            ],
            false => &[|_| [0.0, 0.0]],
        };
        let of_values = |of: &fn(usize) -> [f64; 2]| {
            let fill = |k: usize, y: &mut [f64]| {
                let cell = cell(k);
                for n in 0..s {
                    [y[n], y[s + n]] = of(n);
                }
                for n in 2 * s + 3..y.len() {
                    y[n] = of(n)[1];
                }
                for axis in 0..3 {
                    y[2 * s + axis] = grid.centre(axis, cell[axis]);
                }
                mask.is_none_or(|mask| mask.contains(cell))
            };
            let inputs = 2 * s + 3 + linear.potentials_pattern.rows();
            self.scan(t, nx * ny * nz, inputs, &fill)
        };
        made_up.iter().flat_map(of_values).map(cell).collect()
    }

    /// The points at which derivatives are extreme: first where their weighted sum is.
    fn scan(&self, t: f64, points: usize, inputs: usize, fill: Fill<'_>) -> Vec<usize> {
        let sample = (0..points).step_by(points.div_ceil(SAMPLE).max(1)).filter_map(|point| {
            let mut own = vec![0.0; inputs];
            fill(point, &mut own).then_some(own)
        });
        let [weights, _] = self.balanced(&sample.collect::<Vec<_>>(), &[t]);
        let chunks = 0..points.div_ceil(CHUNK);
        let of_chunk = |chunk: usize| {
            let points = chunk * CHUNK..points.min((chunk + 1) * CHUNK);
            let of = |program: &Program, weights: &[f64]| {
                let points = points.clone();
                Isa::best().dispatch(Scan { program, weights, t, points, inputs, fill })
            };
            let [rhs, potentials] = &self.programs;
            let mut ends = of(rhs, &weights);
            if potentials.n_outputs() > 0 {
                ends.extend(of(potentials, &[]));
            }
            ends
        };
        // For one the pool of threads would take longer than the scan.
        let ends: Vec<Vec<[End; 2]>> = match chunks.len() {
            0 | 1 => chunks.map(of_chunk).collect(),
            _ => chunks.into_par_iter().map(of_chunk).collect(),
        };
        let further = |mut all: Vec<[End; 2]>, next: Vec<[End; 2]>| {
            for ([low, high], [other_low, other_high]) in all.iter_mut().zip(next) {
                if other_low.value < low.value {
                    *low = other_low;
                }
                if other_high.value > high.value {
                    *high = other_high;
                }
            }
            all
        };
        let Some(ends) = ends.into_iter().reduce(further) else { return Vec::new() };
        // What is the same at all points distinguishes none.
        let differs = |[low, high]: &[End; 2]| low.value < high.value;
        let mut found: Vec<usize> = ends
            .iter()
            .filter(|ends| differs(ends))
            .flat_map(|[low, high]| [high.point, low.point])
            .collect();
        let mut seen = HashSet::new();
        found.retain(|point| seen.insert(*point));
        found.truncate(MOST);
        found
    }
}

/// The least or the largest value of something, and where it is.
#[derive(Clone, Copy)]
struct End {
    value: f64,
    point: usize,
}

/// The ends of the weighted sum of all outputs, and of each output, over some points.
struct Scan<'a> {
    program: &'a Program,
    weights: &'a [f64],
    t: f64,
    points: Range<usize>,
    /// Numbers of a point, of which the program reads the first.
    inputs: usize,
    fill: Fill<'a>,
}

impl LaneWork<f64> for Scan<'_> {
    type Output = Vec<[End; 2]>;

    #[inline(always)]
    fn run<L: Lanes<Scalar = f64>>(self) -> Vec<[End; 2]> {
        let Scan { program, weights, t, points, inputs, fill } = self;
        let n = program.n_outputs();
        let start = [f64::INFINITY, f64::NEG_INFINITY].map(|value| End { value, point: 0 });
        let mut ends = vec![start; n + 1];
        let zero = L::lit(0.0);
        let mut y = vec![zero; program.n_states()];
        let (mut out, mut work) = (vec![zero; n + 1], vec![zero; program.workspace()]);
        let mut own = vec![0.0; inputs];
        let mut first = points.start;
        while first < points.end {
            let count = L::WIDTH.min(points.end - first);
            let mut is_point = 0_u64;
            for l in 0..count {
                if !fill(first + l, &mut own) {
                    continue;
                }
                is_point |= 1 << l;
                for (y, own) in y.iter_mut().zip(&own) {
                    y.set_lane(l, *own);
                }
            }
            program.run(L::lit(t), &y, &[], &mut out[1..], &mut work);
            let mut sum = zero;
            for (j, weight) in weights.iter().enumerate() {
                sum = sum + out[j + 1].abs() * L::lit(*weight);
            }
            out[0] = sum;
            for (ends, values) in ends.iter_mut().zip(&out) {
                for l in 0..count {
                    let (value, point) = (values.lane(l), first + l);
                    // A derivative that is not finite says nothing about the size of a step.
                    if is_point >> l & 1 == 0 || !value.is_finite() {
                        continue;
                    }
                    if value < ends[0].value {
                        ends[0] = End { value, point };
                    }
                    if value > ends[1].value {
                        ends[1] = End { value, point };
                    }
                }
            }
            first += count;
        }
        ends
    }
}

/// The least and the largest weighted sum of all outputs over times, in any state.
struct Through<'a> {
    program: &'a Program,
    weights: &'a [f64],
    /// Numbers of a state, of which the program reads the first.
    states: &'a [Vec<f64>],
    times: &'a [f64],
}

impl LaneWork<f64> for Through<'_> {
    type Output = [End; 2];

    #[inline(always)]
    fn run<L: Lanes<Scalar = f64>>(self) -> [End; 2] {
        let Through { program, weights, states, times } = self;
        let mut ends = [f64::INFINITY, f64::NEG_INFINITY].map(|value| End { value, point: 0 });
        let zero = L::lit(0.0);
        let (mut out, mut work) =
            (vec![zero; program.n_outputs()], vec![zero; program.workspace()]);
        for state in states {
            let y: Vec<L> = state[..program.n_states()].iter().map(|y| L::lit(*y)).collect();
            for (chunk, some) in times.chunks(L::WIDTH).enumerate() {
                let mut t = L::lit(some[0]);
                some.iter().enumerate().for_each(|(l, own)| t.set_lane(l, *own));
                program.run(t, &y, &[], &mut out, &mut work);
                let mut sum = zero;
                for (out, weight) in out.iter().zip(weights) {
                    sum = sum + out.abs() * L::lit(*weight);
                }
                for l in 0..some.len() {
                    let (value, point) = (sum.lane(l), chunk * L::WIDTH + l);
                    // As of a scan.
                    if value.is_finite() && value < ends[0].value {
                        ends[0] = End { value, point };
                    }
                    if value.is_finite() && value > ends[1].value {
                        ends[1] = End { value, point };
                    }
                }
            }
        }
        ends
    }
}

/// All outputs at times, in a state.
struct Along<'a> {
    program: &'a Program,
    state: &'a [f64],
    times: &'a [f64],
}

impl LaneWork<f64> for Along<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<L: Lanes<Scalar = f64>>(self) -> Vec<f64> {
        let Along { program, state, times } = self;
        if program.n_outputs() == 0 {
            return Vec::new();
        }
        let zero = L::lit(0.0);
        let y: Vec<L> = state[..program.n_states()].iter().map(|y| L::lit(*y)).collect();
        let (mut out, mut work) =
            (vec![zero; program.n_outputs()], vec![zero; program.workspace()]);
        let mut all = Vec::with_capacity(times.len() * out.len());
        for some in times.chunks(L::WIDTH) {
            let mut t = L::lit(some[0]);
            some.iter().enumerate().for_each(|(l, own)| t.set_lane(l, *own));
            program.run(t, &y, &[], &mut out, &mut work);
            (0..some.len()).for_each(|l| all.extend(out.iter().map(|out| out.lane(l))));
        }
        all
    }
}

/// What programs read of a state.
fn inputs(problem: &Problem, State { cell, values, laplacians, beyond }: &State) -> Vec<f64> {
    let place = [0, 1, 2].map(|axis| problem.grid.centre(axis, cell[axis]));
    [&values[..], laplacians, &place, beyond].concat()
}

/// Cells with the least, the largest and some coefficients of diffusion between, of each species that has a field of them.
fn by_diffusion(problem: &Problem) -> Vec<Cell> {
    let (grid, mask) = (&problem.grid, problem.mask.as_ref());
    let lattice = spread(grid.shape(), mask, Sampling::Initial.lattice());
    let of_field = |(_, coefficients): &(String, Vec<f64>)| -> Vec<Cell> {
        let at = |cell: &Cell| coefficients[grid.index(*cell)];
        let mut cells = lattice.clone();
        cells.sort_by(|a, b| at(a).total_cmp(&at(b)));
        let last = cells.len().saturating_sub(1);
        let mut levels: Vec<Cell> =
            (0..LEVELS).filter_map(|n| cells.get(n * last / (LEVELS - 1)).copied()).collect();
        let is_open = |n: &usize| mask.is_none_or(|mask| mask.contains(grid.cell(*n)));
        let open = || (0..grid.cells()).filter(is_open);
        let by = |a: &usize, b: &usize| coefficients[*a].total_cmp(&coefficients[*b]);
        levels.extend(
            [open().min_by(by), open().max_by(by)].into_iter().flatten().map(|n| grid.cell(n)),
        );
        levels
    };
    problem.diffusion.iter().flat_map(of_field).collect()
}

/// What cells have, several numbers each.
type AtCells<'a> = dyn Fn(&[Cell]) -> Result<Vec<f64>, Error> + 'a;

/// A field at a time, of which Laplacians are asked in some cells: those of the star stencil.
struct Now<'a> {
    problem: &'a Problem,
    linear: &'a Linear,
    values: &'a dyn Values,
    boundaries: &'a [SpeciesBoundaries],
    t: f64,
}

impl Now<'_> {
    /// The Laplacians \[cells × S\] of species that have these values in cells.
    fn laplacians(&self, cells: &[Cell], own: &[f64]) -> Result<Vec<f64>, Error> {
        let ghosts: Vec<_> = self.boundaries.iter().map(|b| b.at(self.t)).collect();
        self.sums(&ghosts, (cells, own), &|cells| self.values.pick(cells))
    }

    /// The Laplacians \[cells × K\] of the potentials in cells; nothing passes the boundaries of these.
    fn laplacians_of_potentials(&self, cells: &[Cell]) -> Result<Vec<f64>, Error> {
        let end = |axis: usize| match self.boundaries[0].wraps(axis) {
            true => [Ghost::Wrap; 2],
            false => [Ghost::Mirror; 2],
        };
        let ghosts = vec![[0, 1, 2].map(end); self.linear.potentials_pattern.rows()];
        let own = self.potentials(cells)?;
        self.sums(&ghosts, (cells, &own), &|cells| self.potentials(cells))
    }

    /// The potentials \[cells × K\] in cells.
    fn potentials(&self, cells: &[Cell]) -> Result<Vec<f64>, Error> {
        let s = self.boundaries.len();
        let own = self.values.pick(cells)?;
        let laplacians = self.laplacians(cells, &own)?;
        let graph = &self.linear.values_of_potentials;
        let (mut y, mut nodes) = (vec![0.0; 2 * s + 3], Vec::new());
        let mut potentials = Vec::with_capacity(cells.len() * graph.outputs().len());
        for (n, cell) in cells.iter().enumerate() {
            y[..s].copy_from_slice(&own[n * s..(n + 1) * s]);
            y[s..2 * s].copy_from_slice(&laplacians[n * s..(n + 1) * s]);
            for axis in 0..3 {
                y[2 * s + axis] = self.problem.grid.centre(axis, cell[axis]);
            }
            graph.eval_nodes(self.t, &y, &[], &mut nodes);
            potentials.extend(graph.outputs().iter().map(|output| nodes[output.index()]));
        }
        Ok(potentials)
    }

    /// The sums \[cells × ghosts\] of what neighbours have more than cells, over the squares of their distances.
    fn sums(
        &self,
        ghosts: &[Ghosts<f64>],
        (cells, own): (&[Cell], &[f64]),
        of: &AtCells<'_>,
    ) -> Result<Vec<f64>, Error> {
        let (grid, mask) = (&self.problem.grid, self.problem.mask.as_ref());
        let each = ghosts.len();
        let mut sum = vec![0.0; own.len()];
        let given = |ghost: &Ghost<f64>| matches!(ghost, Ghost::Affine { .. });
        let counts = |axis: &usize| {
            grid.shape()[*axis] > 1 || ghosts.iter().any(|ghosts| ghosts[*axis].iter().any(given))
        };
        for axis in (0..3).filter(counts) {
            let (n, h) = (grid.shape()[axis], grid.spacing()[axis]);
            for up in [false, true] {
                let place = |cell: &Cell| cell[axis] as isize + if up { 1 } else { -1 };
                let beside = |cell: &Cell| {
                    let mut beside = *cell;
                    // One axis is periodic for all.
                    beside[axis] = source(place(cell), n, &ghosts[0][axis]).0;
                    if mask.is_none_or(|mask| mask.contains(beside)) { beside } else { *cell }
                };
                let neighbours: Vec<Cell> = cells.iter().map(beside).collect();
                let others = of(&neighbours)?;
                for (k, cell) in cells.iter().enumerate() {
                    for (s, ghosts) in ghosts.iter().enumerate() {
                        let at = k * each + s;
                        let other = match source(place(cell), n, &ghosts[axis]).1 {
                            Some((shift, scale)) => shift + scale * others[at],
                            None => others[at],
                        };
                        sum[at] += (other - own[at]) / (h * h);
                    }
                }
            }
        }
        Ok(sum)
    }
}
