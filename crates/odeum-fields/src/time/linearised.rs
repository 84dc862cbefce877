//! The equations linearised about the values of one cell, and what they make of a wave.

use crate::analysis::sample::State;
use crate::problem::Problem;
use crate::time::eigen::{Complex, balance};
use odeum_core::graph::Node;
use odeum_core::{Graph, Pattern};

/// A wave: the symbol of the Laplacian, that of the star stencil for diffusion in fluxes, that of
/// the upwind difference and, of Koren's scheme where nothing is limited, that of its third order.
pub(super) struct Wave {
    /// Of each species, and of potentials.
    pub(super) laplacian: Vec<f64>,
    pub(super) star: Vec<f64>,
    pub(super) velocity: Complex,
    pub(super) third: Option<Complex>,
}

/// The derivatives of a problem's F and potentials.
pub(super) struct Linear {
    /// Of F, by the values and Laplacians of all species, the place and the Laplacians of the potentials.
    pub(super) rhs: Graph,
    pub(super) rhs_pattern: Pattern,
    /// Of potentials, by the same but the last.
    pub(super) potentials: Graph,
    pub(super) potentials_pattern: Pattern,
    /// F and the potentials themselves.
    values_of_rhs: Graph,
    pub(super) values_of_potentials: Graph,
    pub(super) reads: Reads,
    advected: Vec<bool>,
    /// Of each species the number of its field of coefficients, and the largest of these.
    diffusion: Vec<(Option<usize>, f64)>,
}

/// What derivatives depend on.
pub(super) struct Reads {
    /// Values of a cell, or Laplacians; those of species, and those of potentials.
    pub(super) values: bool,
    pub(super) laplacians: bool,
    pub(super) beyond: bool,
    pub(super) coordinates: [bool; 3],
    pub(super) time: bool,
}

/// The parts of the matrix at one cell; S × S, S × K and K × S, row by row.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) species: usize,
    potentials: usize,
    state: Vec<f64>,
    pub(super) laplacian: Vec<f64>,
    beyond: Vec<f64>,
    potential_state: Vec<f64>,
    potential_laplacian: Vec<f64>,
    advected: Vec<bool>,
    diffusion: Vec<f64>,
}

impl Linear {
    pub(super) fn new(problem: &Problem) -> Linear {
        let (values_of_rhs, values_of_potentials) = problem.model.bound();
        let (rhs, rhs_pattern) = values_of_rhs.jacobian();
        let (potentials, potentials_pattern) = values_of_potentials.jacobian();
        let given = |name: &String| {
            let at = problem.diffusion.iter().position(|(other, _)| other == name);
            let largest = |at: usize| problem.largest_of_domain(&problem.diffusion[at].1);
            (at, at.map_or(0.0, largest))
        };
        let s = problem.model.species().len();
        let graphs = [&rhs, &potentials];
        let reads = |which: &dyn Fn(usize) -> bool| {
            let is_read = |node: &Node| matches!(node, Node::State(i) if which(*i as usize));
            graphs.iter().any(|graph| graph.nodes().iter().any(is_read))
        };
        let reads = Reads {
            values: reads(&|i| !(2 * s..2 * s + 3).contains(&i)),
            laplacians: reads(&|i| (s..2 * s).contains(&i)),
            beyond: reads(&|i| i >= 2 * s + 3),
            coordinates: [0, 1, 2].map(|axis| reads(&|i| i == 2 * s + axis)),
            time: graphs.iter().any(|graph| graph.uses_time()),
        };
        Linear {
            diffusion: problem.model.species().iter().map(given).collect(),
            advected: problem.advected(),
            rhs,
            rhs_pattern,
            potentials,
            potentials_pattern,
            values_of_rhs,
            values_of_potentials,
            reads,
        }
    }

    /// Whether derivatives differ from cell to cell.
    pub(super) fn by_cell(&self) -> bool {
        self.reads.values || self.reads.coordinates.contains(&true)
    }

    /// The largest D of fluxes.
    pub(super) fn largest_diffusion(&self) -> f64 {
        self.diffusion.iter().map(|(_, largest)| *largest).fold(0.0, f64::max)
    }

    /// Whether F, or a potential, is not finite about a state because values are so large: it would be about values of at most one.
    pub(super) fn overflows(&self, problem: &Problem, state: &State, t: f64) -> bool {
        let State { cell, values, laplacians, beyond } = state;
        let place = [0, 1, 2].map(|axis| problem.grid.centre(axis, cell[axis]));
        let inputs = 2 * values.len() + 3;
        let is_finite = |most: f64| {
            let within = |all: &[f64]| all.iter().map(|x| x.clamp(-most, most)).collect::<Vec<_>>();
            let y = [within(values), within(laplacians), place.to_vec(), within(beyond)].concat();
            let rates = self.values_of_rhs.eval(t, &y, &[]);
            let potentials = self.values_of_potentials.eval(t, &y[..inputs], &[]);
            rates.iter().chain(&potentials).all(|x| x.is_finite())
        };
        !is_finite(f64::INFINITY) && is_finite(1.0)
    }

    /// The matrices about a state: with D of its cell and, in case a neighbour's counts, with the largest.
    pub(super) fn at(&self, problem: &Problem, state: &State, t: f64) -> Vec<Parts> {
        let State { cell, values, laplacians, beyond } = state;
        let (s, k) = (values.len(), beyond.len());
        let place = [0, 1, 2].map(|axis| problem.grid.centre(axis, cell[axis]));
        let y = [&values[..], laplacians, &place, beyond].concat();
        let mut parts = Parts {
            species: s,
            potentials: k,
            state: vec![0.0; s * s],
            laplacian: vec![0.0; s * s],
            beyond: vec![0.0; s * k],
            potential_state: vec![0.0; k * s],
            potential_laplacian: vec![0.0; k * s],
            advected: self.advected.clone(),
            diffusion: self.diffusion.iter().map(|(_, largest)| *largest).collect(),
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
        if problem.diffusion.is_empty() {
            return vec![parts];
        }
        let at = problem.grid.index(*cell);
        let own =
            |(field, _): &(Option<usize>, f64)| field.map_or(0.0, |n| problem.diffusion[n].1[at]);
        let own = Parts { diffusion: self.diffusion.iter().map(own).collect(), ..parts.clone() };
        vec![parts, own]
    }
}

impl Parts {
    /// The matrix of a wave, of which this is the symbol of the velocity, for some species.
    pub(super) fn matrix(&self, species: &[usize], wave: &Wave, velocity: Complex) -> Vec<Complex> {
        let (n, k) = (self.species, self.potentials);
        let beyond = wave.laplacian[n];
        let mut matrix = Vec::with_capacity(species.len().pow(2));
        for &row in species {
            for &col in species {
                let symbol = wave.laplacian[col];
                let mut value = self.state[row * n + col] + symbol * self.laplacian[row * n + col];
                for p in 0..k {
                    let inner = self.potential_state[p * n + col]
                        + symbol * self.potential_laplacian[p * n + col];
                    value += beyond * self.beyond[row * k + p] * inner;
                }
                let mut value = Complex::new(value, 0.0);
                if row == col {
                    value.re += self.diffusion[row] * wave.star[row];
                    if self.advected[row] {
                        value = value.add(velocity);
                    }
                }
                matrix.push(value);
            }
        }
        matrix
    }

    /// The least D of the species that a velocity carries, infinite where it carries none.
    pub(super) fn least_carried(&self) -> f64 {
        let (n, k) = (self.species, self.potentials);
        let of = |s: usize| {
            let through = |p: usize| self.beyond[s * k + p] * self.potential_state[p * n + s];
            self.laplacian[s * n + s] + self.diffusion[s] + (0..k).map(through).sum::<f64>()
        };
        (0..n).filter(|s| self.advected[*s]).map(of).fold(f64::INFINITY, f64::min)
    }

    /// What the size of the eigenvalues of a wave is at most, and their real part: by sums of rows, or of columns where these are
    /// less, in units in which both are alike (Gershgorin).
    pub(super) fn bounds(&self, wave: &Wave) -> [f64; 2] {
        let n = self.species;
        let all: Vec<usize> = (0..n).collect();
        let mut matrix = self.matrix(&all, wave, wave.velocity);
        balance(&mut matrix, n, |_, _| {});
        let [mut rows, mut columns] = [0, 1].map(|_| vec![[0.0; 2]; n]);
        for (at, value) in matrix.iter().enumerate() {
            let (row, col) = (at / n, at % n);
            let real = if row == col { value.re } else { value.abs() };
            for [size, growth] in [&mut rows[row], &mut columns[col]] {
                *size += value.abs();
                *growth += real;
            }
        }
        let largest = |sums: &[[f64; 2]], which: usize| {
            sums.iter().map(|sum| sum[which]).fold(f64::NEG_INFINITY, f64::max)
        };
        [0, 1].map(|which| largest(&rows, which).min(largest(&columns, which)))
    }

    /// How fast some species gain by the Laplacians of others of them at most, with the slowest and the fastest wave: what these have
    /// is not bounded by what they had.
    pub(super) fn exchange(&self, species: &[usize], slowest: &Wave, fastest: &Wave) -> f64 {
        let n = species.len();
        let [slow, fast] =
            [slowest, fastest].map(|wave| self.matrix(species, wave, Complex::default()));
        let gain = |row: usize| -> f64 {
            let others = (0..n).filter(|col| *col != row).map(|col| row * n + col);
            others
                .map(|at| fast[at].add(slow[at].scale(-1.0)).abs())
                .filter(|x| x.is_finite())
                .sum()
        };
        (0..n).map(gain).fold(0.0, f64::max)
    }

    fn numbers(&self) -> impl Iterator<Item = &f64> {
        let Parts { state, laplacian, beyond, potential_state, .. } = self;
        let numbers =
            [state, laplacian, beyond, potential_state, &self.potential_laplacian, &self.diffusion];
        numbers.into_iter().flatten()
    }

    /// The bits of all numbers: matrices with the same have the same eigenvalues.
    pub(super) fn bits(&self) -> Vec<u64> {
        self.numbers().map(|x| x.to_bits()).collect()
    }

    pub(super) fn is_finite(&self) -> bool {
        self.numbers().all(|x| x.is_finite())
    }
}
