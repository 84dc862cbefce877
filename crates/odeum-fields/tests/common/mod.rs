//! What several tests build their problems from.
#![allow(dead_code, reason = "each test takes what it needs")]

pub(crate) mod deceivers;

use odeum_fields::{
    Boundaries, Boundary, Face, Field, Grid, Method, Model, ModelText, Options, Outcome, Precision,
    Problem, Quantity, Simulation, Stencil, Steps,
};
use odeum_ode::{Cpu, Isa, Tolerance};
use std::f64::consts::PI;

/// Whether every variant of a check runs, which `ODEUM_THOROUGH=1` asks for: kernels of each are compiled.
pub(crate) fn is_thorough() -> bool {
    std::env::var_os("ODEUM_THOROUGH").is_some_and(|value| value == "1")
}

/// The variants at these places; all of them where the tests are [thorough](is_thorough).
pub(crate) fn some<V>(all: impl IntoIterator<Item = V>, places: &[usize]) -> Vec<V> {
    let taken = |n: usize| is_thorough() || places.contains(&n);
    all.into_iter().enumerate().filter(|(n, _)| taken(*n)).map(|(_, variant)| variant).collect()
}

/// A model of the species that these equations are of.
pub(crate) fn model(equations: &[(&str, &str)]) -> Model {
    let text = ModelText {
        species: equations.iter().map(|(name, _)| *name).collect(),
        equations: equations.to_vec(),
        ..ModelText::default()
    };
    text.read().unwrap().0
}

/// Boundaries of every kind but the periodic: two that warm, one that leaks, and no flux through the others.
pub(crate) fn mixed_boundaries() -> Boundaries {
    let warm = Boundary::Dirichlet(Quantity::from("0.3 + t"));
    let leak = Boundary::Robin { value: 1.0, gradient: 0.5, amount: Quantity::from(0.2) };
    Boundaries::default()
        .face(Face { axis: 2, high: false }, warm.clone())
        .face(Face { axis: 1, high: true }, leak)
        .face(Face { axis: 0, high: false }, warm)
}

/// One thread, with the widest lanes there are.
pub(crate) fn one_thread() -> Cpu {
    Cpu { threads: Some(1), isa: Isa::best() }
}

/// Advances to `end` from time 0 without watching, whatever the limits of the steps.
pub(crate) fn advanced<T: Precision>(
    problem: &Problem,
    u: Field<T>,
    options: &Options,
    end: f64,
) -> Field<T> {
    let options = Options { force: true, ..options.clone() };
    let mut simulation = Simulation::new(problem, u, 0.0, &options, one_thread()).unwrap();
    let outcome = simulation.advance_to(end).unwrap();
    assert_eq!(outcome, Outcome::Reached);
    simulation.field().unwrap().into_owned()
}

/// The centre of every cell, in plain order.
pub(crate) fn centres(grid: &Grid) -> impl Iterator<Item = [f64; 3]> + use<> {
    let grid = *grid;
    let centre = move |cell: [usize; 3]| [0, 1, 2].map(|axis| grid.centre(axis, cell[axis]));
    (0..grid.cells()).map(move |index| centre(grid.cell(index)))
}

/// Of zero a step of length 1 makes the place of each cell, and of the fourth species 1 in a box whose high faces go
/// through centres of cells.
pub(crate) fn placing(grid: Grid) -> Problem {
    let [x, y, z] = middle(&grid);
    let within = format!("select(x > {x:?}, 0, select(y > {y:?}, 0, select(z > {z:?}, 0, 1)))");
    let equations = [("a", "x"), ("b", "y"), ("c", "z"), ("n", within.as_str())];
    Problem { stencil: Stencil::Star, ..Problem::new(model(&equations), grid) }
}

/// Where the highest corner of the box is.
fn middle(grid: &Grid) -> [f64; 3] {
    [0, 1, 2].map(|axis| grid.centre(axis, grid.shape()[axis] / 2))
}

/// That the places of cells are those of the grid, rounded to the precision.
pub(crate) fn assert_placed<T: Precision>(field: &Field<T>, problem: &Problem, name: &str) {
    let Problem { grid, mask, .. } = problem;
    let is_open = |cell: [usize; 3]| mask.as_ref().is_none_or(|mask| mask.contains(cell));
    for cell in (0..grid.cells()).map(|at| grid.cell(at)).filter(|cell| is_open(*cell)) {
        let found = |s: usize| field.get(s, cell).to_f64();
        let place = |axis: usize| grid.centre(axis, cell[axis]);
        let rounded = |x: f64| T::from_f64(x).to_f64();
        for axis in 0..3 {
            let (found, place) = (found(axis), rounded(place(axis)));
            assert!(found == place, "{name} {} {cell:?} axis {axis}: {found:e} {place:e}", T::NAME);
        }
        let within = (0..3).all(|axis| cell[axis] <= grid.shape()[axis] / 2);
        assert!(found(3) == f64::from(u8::from(within)), "{name} {} {cell:?} box", T::NAME);
    }
}

/// Grids whose places round in all ways, with axes that are turned before a sweep.
pub(crate) fn grids_to_place() -> Vec<Grid> {
    let shapes = [[20, 4, 3], [3, 20, 4], [4, 3, 20], [70, 19, 5], [21, 1, 1], [1, 23, 1]];
    let at = |shape: &[usize; 3]| {
        let far = Grid::with_spacing(*shape, [0.1, 0.07, 0.3]).unwrap().at([-0.3, 1.0 / 3.0, 7.1]);
        [Grid::new(*shape, 0.1).unwrap(), far.unwrap()]
    };
    shapes.iter().flat_map(at).collect()
}

/// The error function, to a few roundings: its series, and beyond 3 the continued fraction of
/// its complement (Abramowitz & Stegun 7.1.6 and 7.1.14).
pub(crate) fn erf(x: f64) -> f64 {
    if x.abs() > 3.0 {
        let fraction = (1..60).rev().fold(x.abs(), |below, k| x.abs() + f64::from(k) / 2.0 / below);
        return x.signum() * (1.0 - (-x * x).exp() / (fraction * PI.sqrt()));
    }
    let (mut term, mut sum) = (x, x);
    for k in 1..100 {
        term *= 2.0 * x * x / f64::from(2 * k + 1);
        sum += term;
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}

/// Every method with steps of this size, and one that chooses its steps.
pub(crate) fn methods(h: f64) -> [Options; 5] {
    [
        Options::euler(h),
        Options::new(Method::Ssprk3, Steps::Fixed(h)),
        Options::new(Method::Rkc { stages: Some(4) }, Steps::Fixed(h)),
        Options::new(Method::Rkl2 { stages: Some(5) }, Steps::Fixed(h)),
        Options::new(Method::Rkc { stages: None }, Steps::Adaptive(Tolerance::new(1e-4, 1e-6))),
    ]
}
