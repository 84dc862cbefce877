//! Mirrored and turned problems have mirrored and turned solutions.
//!
//! Along every axis the two neighbours of a cell are added to each other before anything else,
//! and fluxes are what they are from either side: mirror images have the same bits. Axes are
//! added one after the other, x before y before z: exchanged, they agree to rounding.

use crate::common::{advanced, model, one_thread};
use odeum_fields::{
    Advection, Boundaries, Boundary, Engine, Face, Field, Grid, Options, PointSource, Problem,
    Quantity, Stencil, Velocity, noise,
};

const SHAPES: [[usize; 3]; 4] = [[37, 11, 6], [16, 9, 10], [70, 12, 1], [41, 1, 1]];

/// A rearrangement of space: new axis k is old axis `axes[k]`, and those of `flips` run backward.
#[derive(Clone, Copy, Debug)]
struct Turn {
    axes: [usize; 3],
    flips: [bool; 3],
}

impl Turn {
    fn mirror(axis: usize) -> Turn {
        let mut flips = [false; 3];
        flips[axis] = true;
        Turn { axes: [0, 1, 2], flips }
    }

    fn exchange(a: usize, b: usize) -> Turn {
        let mut axes = [0, 1, 2];
        axes.swap(a, b);
        Turn { axes, flips: [false; 3] }
    }

    /// What belongs to the axes, in their new order.
    fn order<T: Clone>(self, old: &[T; 3]) -> [T; 3] {
        self.axes.map(|axis| old[axis].clone())
    }

    /// The new cell of an old one.
    fn cell(self, grid: &Grid, cell: [usize; 3]) -> [usize; 3] {
        let (cell, shape) = (self.order(&cell), self.order(&grid.shape()));
        [0, 1, 2].map(|k| if self.flips[k] { shape[k] - 1 - cell[k] } else { cell[k] })
    }

    fn field(self, grid: &Grid, old: &Field<f64>) -> Field<f64> {
        let mut new = Field::zeros(&self.grid(grid), old.species()).unwrap();
        for s in 0..old.species() {
            for index in 0..grid.cells() {
                let cell = grid.cell(index);
                new.set(s, self.cell(grid, cell), old.get(s, cell));
            }
        }
        new
    }

    fn grid(self, grid: &Grid) -> Grid {
        Grid::with_spacing(self.order(&grid.shape()), self.order(&grid.spacing())).unwrap()
    }
}

/// A problem before it is turned: what belongs to axes apart from what does not.
struct Plan {
    equations: Vec<(&'static str, &'static str)>,
    stencil: Stencil,
    /// For every axis the boundaries at its low and high end.
    boundaries: [[Boundary; 2]; 3],
    velocity: Option<([f64; 3], Advection)>,
    source: Option<[usize; 3]>,
}

impl Plan {
    fn new(equations: &[(&'static str, &'static str)], boundaries: [[Boundary; 2]; 3]) -> Plan {
        let equations = equations.to_vec();
        Plan { equations, stencil: Stencil::Isotropic, boundaries, velocity: None, source: None }
    }

    fn problem(&self, grid: &Grid, turn: Turn) -> Problem {
        let ends = turn.order(&self.boundaries);
        let mut boundaries = Boundaries::default();
        for (axis, ends) in ends.iter().enumerate() {
            let [low, high] = ends.clone();
            let [low, high] = if turn.flips[axis] { [high, low] } else { [low, high] };
            boundaries = boundaries
                .face(Face { axis, high: false }, low)
                .face(Face { axis, high: true }, high);
        }
        let mut problem = Problem::new(model(&self.equations), turn.grid(grid))
            .stencil(self.stencil)
            .boundaries(boundaries);
        if let Some((velocity, advection)) = &self.velocity {
            let velocity = turn.order(velocity);
            let parts = [0, 1, 2].map(|k| if turn.flips[k] { -velocity[k] } else { velocity[k] });
            problem = problem.velocity(Velocity::Uniform(parts.map(Quantity::from)), *advection);
        }
        if let Some(cell) = self.source {
            let cell = turn.cell(grid, cell);
            let rate = Quantity::from(1.3);
            problem =
                problem.source(PointSource { species: self.equations[0].0.to_owned(), cell, rate });
        }
        problem
    }
}

/// Boundaries of every kind. A value g and a leak meet at an edge, where a u + b ∂u/∂n is a g along the
/// one and what is given along the other: only where both are the same does it not matter which
/// axis is first.
fn boundaries() -> [[Boundary; 2]; 3] {
    let warm = Boundary::Dirichlet(Quantity::from("0.3 + t"));
    let leak = Boundary::Robin { value: 1.0, gradient: 0.5, amount: Quantity::from("0.3 + t") };
    [[warm, Boundary::NoFlux], [leak, Boundary::NoFlux], [Boundary::Periodic, Boundary::Periodic]]
}

fn rough(grid: &Grid, species: usize) -> Field<f64> {
    let mut cell = 0;
    let value = |s: usize, _: [f64; 3]| {
        cell += 1;
        0.5 + 0.3 * noise(21, s, cell)
    };
    Field::from_fn(grid, species, value).unwrap()
}

const H: f64 = 0.01;

/// Reactions, potentials, velocities and sources, of one and of several species.
fn plans() -> Vec<Plan> {
    let turing = [("u", "0.3*lap(u) + u - u^3 - v"), ("v", "0.5*lap(v) + 2*(u - 0.5*v)")];
    let front = [
        ("a", "0.3*lap(a) - 0.2*a*c"),
        ("c", "0.2*a*c - 0.1*lap(c - c^3 + 0.2*lap(c)) + 0.05*lap(c*a + 0.3*lap(a) + lap(c))"),
    ];
    let diffusion = [("c", "0.3*lap(c)")];
    let velocities = [0.4, -0.2, 0.3];
    let mut plans = Vec::new();
    for equations in [&turing[..], &front, &diffusion] {
        plans.push(Plan::new(equations, boundaries()));
        for advection in [Advection::Upwind, Advection::Koren] {
            let velocity = Some((velocities, advection));
            plans.push(Plan {
                velocity,
                source: Some([3, 0, 0]),
                ..Plan::new(equations, boundaries())
            });
        }
        plans.push(Plan { stencil: Stencil::Star, ..Plan::new(equations, boundaries()) });
    }
    plans
}

/// The largest difference between the turned solution and that of the turned problem, after ten
/// steps one by one; and after the most steps in a pass that there can be, up to four.
fn difference(plan: &Plan, shape: [usize; 3], turn: Turn) -> [f64; 2] {
    // The star stencil may have cells that are no cubes.
    let spacing = if plan.stencil == Stencil::Star { [0.8, 0.7, 0.9] } else { [0.8; 3] };
    let grid = Grid::with_spacing(shape, spacing).unwrap();
    let plain = Turn { axes: [0, 1, 2], flips: [false; 3] };
    let start = rough(&grid, plan.equations.len());
    let turned = turn.field(&grid, &start);
    let problems = [plan.problem(&grid, plain), plan.problem(&grid, turn)];
    let apart = |old: &Field<f64>, new: &Field<f64>| {
        let old = turn.field(&grid, old);
        let pairs = (0..old.species())
            .flat_map(|s| old.to_values(s).into_iter().zip(new.to_values(s)).collect::<Vec<_>>());
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let starts = [start, turned];
    let advanced =
        [0, 1].map(|n| advanced(&problems[n], starts[n].clone(), &Options::euler(H), 10.0 * H));
    let passed = [0, 1].map(|n| {
        let engine = Engine::<f64>::new(&problems[n], &one_thread()).unwrap();
        let times = [0.0, H, 2.0 * H, 3.0 * H];
        let mut out = engine.zeros().unwrap();
        let times = &times[..engine.most_steps().min(4)];
        assert!(engine.steps(times, H, &starts[n], &mut out));
        out
    });
    assert!(advanced[0] != starts[0]);
    [apart(&advanced[0], &advanced[1]), apart(&passed[0], &passed[1])]
}

#[test]
fn mirror_images_have_the_same_bits() {
    for (n, plan) in plans().iter().enumerate() {
        for shape in SHAPES {
            for axis in 0..3 {
                let found = difference(plan, shape, Turn::mirror(axis));
                assert_eq!(found, [0.0; 2], "plan {n}, {shape:?}, axis {axis}");
            }
        }
    }
}

#[test]
fn exchanged_axes_agree_to_rounding() {
    for (n, plan) in plans().iter().enumerate() {
        for shape in SHAPES {
            for (a, b) in [(0, 1), (1, 2), (0, 2)] {
                let found = difference(plan, shape, Turn::exchange(a, b));
                assert!(
                    found.iter().all(|x| *x < 1e-13),
                    "plan {n}, {shape:?}, {a} {b}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn an_axis_of_one_cell_may_be_any_to_the_bit() {
    // The others keep their order.
    let turns = [([70, 12, 1], [[2, 0, 1], [0, 2, 1]]), ([41, 1, 1], [[1, 0, 2], [1, 2, 0]])];
    for (n, plan) in plans().iter().enumerate() {
        for (shape, axes) in turns {
            for axes in axes {
                let found = difference(plan, shape, Turn { axes, flips: [false; 3] });
                assert_eq!(found, [0.0; 2], "plan {n}, {shape:?}, {axes:?}");
            }
        }
    }
}
