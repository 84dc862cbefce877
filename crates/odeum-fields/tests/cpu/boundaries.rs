//! Boundaries, each against a solution or an identity; diffusion that differs from cell to cell.

use crate::common::model;
use odeum_fields::{
    Advection, Boundaries, Boundary, Engine, Face, Field, Grid, Method, ModelText, Options,
    Outcome, Problem, Quantity, Simulation, Stencil, Steps, Velocity, noise,
};
use odeum_ode::{Cpu, Isa, Tolerance};
use std::f64::consts::PI;

fn cpu() -> Cpu {
    Cpu { threads: Some(1), isa: Isa::best() }
}

fn accurate(problem: &Problem, u: Field<f64>, end: f64) -> Field<f64> {
    let steps = Steps::Adaptive(Tolerance::new(1e-8, 1e-8));
    let options = Options::new(Method::Rkc { stages: None }, steps);
    let mut simulation = Simulation::new(problem, u, 0.0, &options, cpu()).unwrap();
    let outcome = simulation.advance_to(end).unwrap();
    assert_eq!(outcome, Outcome::Reached);
    simulation.field().unwrap().into_owned()
}

fn face(axis: usize, high: bool) -> Face {
    Face { axis, high }
}

/// The error at `end` against f(x along the axis, t), on `n` cells along each axis in turn.
fn worst(n: usize, boundaries: [Boundary; 2], end: f64, f: fn(f64, f64) -> f64) -> f64 {
    let mut worst: f64 = 0.0;
    for axis in 0..3 {
        let mut shape = [3; 3];
        shape[axis] = n;
        for stencil in [Stencil::Isotropic, Stencil::Star] {
            let grid = Grid::new(shape, 1.0 / n as f64).unwrap();
            let boundaries = Boundaries::default()
                .face(face(axis, false), boundaries[0].clone())
                .face(face(axis, true), boundaries[1].clone());
            let problem = Problem::new(model(&[("c", "lap(c)")]), grid)
                .stencil(stencil)
                .boundaries(boundaries);
            let u = Field::from_fn(&grid, 1, |_, at| f(at[axis], 0.0)).unwrap();
            let u = accurate(&problem, u, end);
            for index in 0..grid.cells() {
                let cell = grid.cell(index);
                let exact = f(grid.centre(axis, cell[axis]), end);
                worst = worst.max((u.get(0, cell) - exact).abs());
            }
        }
    }
    worst
}

/// Errors on twice the cells are a quarter.
fn second_order(boundaries: [Boundary; 2], end: f64, f: fn(f64, f64) -> f64) {
    let errors = [worst(16, boundaries.clone(), end, f), worst(32, boundaries, end, f)];
    let order = (errors[0] / errors[1]).log2();
    assert!(errors[0] < 5e-3 && order > 1.8, "{errors:?}");
}

#[test]
fn zero_at_both_boundaries() {
    let zero = || Boundary::Dirichlet(Quantity::from(0.0));
    let f = |x: f64, t: f64| (PI * x).sin() * (-PI * PI * t).exp();
    second_order([zero(), zero()], 0.1, f);
}

/// e^(x + t) solves the equation; the boundaries follow it in time.
#[test]
fn values_and_slopes_that_change_with_time() {
    let f = |x: f64, t: f64| 0.5 * (x + t).exp();
    let low = Boundary::Dirichlet(Quantity::from("0.5*exp(t)"));
    let slope =
        Boundary::Robin { value: 0.0, gradient: 1.0, amount: Quantity::from("0.5*exp(1 + t)") };
    second_order([low, slope], 0.1, f);
}

/// cos(k (x − 1)) with k tan k = 2: ∂c/∂n + 2 c = 0 at x = 0, closed at x = 1.
#[test]
fn loss_through_a_boundary() {
    let k = 1.0768739863118038;
    assert!((k * f64::tan(k) - 2.0).abs() < 1e-12);
    let f = |x: f64, t: f64| {
        let k = 1.0768739863118038;
        (k * (x - 1.0)).cos() * (-k * k * t).exp()
    };
    let robin = Boundary::Robin { value: 2.0, gradient: 1.0, amount: Quantity::from(0.0) };
    second_order([robin, Boundary::NoFlux], 0.1, f);
}

#[test]
fn closed_and_periodic_boxes() {
    second_order([Boundary::NoFlux, Boundary::NoFlux], 0.1, |x, t| {
        (PI * x).cos() * (-PI * PI * t).exp()
    });
    second_order([Boundary::Periodic, Boundary::Periodic], 0.02, |x, t| {
        (2.0 * PI * x + 0.3).cos() * (-4.0 * PI * PI * t).exp()
    });
}

/// Between two values the profile becomes straight, which the stencils reproduce exactly; along
/// every axis, with edges and corners of other boundaries.
#[test]
fn a_straight_profile_is_stationary() {
    for axis in 0..3 {
        let grid = Grid::new([7, 6, 5], 0.5).unwrap();
        let length = grid.shape()[axis] as f64 * 0.5;
        let boundaries = Boundaries::default()
            .face(face(axis, false), Boundary::Dirichlet(Quantity::from(1.0)))
            .face(face(axis, true), Boundary::Dirichlet(Quantity::from(3.0)));
        let problem = Problem::new(model(&[("c", "lap(c)")]), grid).boundaries(boundaries);
        let u = Field::<f64>::from_fn(&grid, 1, |_, at| 1.0 + 2.0 * at[axis] / length).unwrap();
        let engine = Engine::new(&problem, &cpu()).unwrap();
        let mut f = engine.zeros().unwrap();
        engine.rhs(0.0, &u, &mut f);
        assert!(f.to_values(0).iter().all(|x| x.abs() < 1e-12), "axis {axis}");
    }
}

/// Ghosts of two boundaries that meet in an edge are those of one rule after the other: a field that
/// is odd about the boundaries of all axes keeps its symmetry.
#[test]
fn edges_are_reflected_twice() {
    let n = 6;
    let zero = Boundary::Dirichlet(Quantity::from(0.0));
    let closed = Problem::new(model(&[("c", "lap(c)")]), Grid::new([n; 3], 1.0).unwrap())
        .boundaries(Boundaries::all(zero));
    // The same in a periodic box of twice the edges, continued as an odd function.
    let doubled = Problem::new(model(&[("c", "lap(c)")]), Grid::new([2 * n; 3], 1.0).unwrap())
        .boundaries(Boundaries::all(Boundary::Periodic));
    let value = |cell: [usize; 3]| {
        let inner = cell.map(|i| if i < n { i } else { 2 * n - 1 - i });
        let signs: f64 = cell.iter().map(|&i| if i < n { 1.0 } else { -1.0 }).product();
        signs * noise(9, 0, (inner[2] * n + inner[1]) * n + inner[0])
    };
    let slope = |problem: &Problem| {
        let engine = Engine::<f64>::new(problem, &cpu()).unwrap();
        let (mut u, mut f) = (engine.zeros().unwrap(), engine.zeros().unwrap());
        for index in 0..problem.grid.cells() {
            let cell = problem.grid.cell(index);
            u.set(0, cell, value(cell));
        }
        engine.rhs(0.0, &u, &mut f);
        f
    };
    let (inner, outer) = (slope(&closed), slope(&doubled));
    for index in 0..closed.grid.cells() {
        let cell = closed.grid.cell(index);
        assert!((inner.get(0, cell) - outer.get(0, cell)).abs() < 1e-13, "{cell:?}");
    }
}

/// A field of one coefficient is the star stencil; zeros let nothing pass.
#[test]
fn fluxes_with_coefficients_per_cell() {
    let grid = Grid::with_spacing([20, 7, 6], [0.5, 1.0, 0.7]).unwrap();
    let random = |index: usize| noise(2, 0, index);
    let values: Vec<f64> = (0..grid.cells()).map(random).collect();
    let u = Field::<f64>::from_values(&grid, 1, &values).unwrap();
    let star = Problem::new(model(&[("c", "2*lap(c)")]), grid).stencil(Stencil::Star);
    let still = Problem::new(model(&[("c", "0")]), grid).stencil(Stencil::Star);
    let slope = |problem: &Problem| {
        let engine = Engine::new(problem, &cpu()).unwrap();
        let mut f = engine.zeros().unwrap();
        engine.rhs(0.0, &u, &mut f);
        f.to_values(0)
    };
    let same = slope(&still.clone().diffusion("c", vec![2.0; grid.cells()]));
    for (a, b) in same.iter().zip(slope(&star)) {
        assert!((a - b).abs() < 1e-12);
    }
    // Zeros from x = 8 on and random numbers before: the sum of either part stays.
    let geometry: Vec<f64> = (0..grid.cells())
        .map(|index| if grid.cell(index)[0] < 8 { 1.5 + random(index + 77) } else { 0.0 })
        .collect();
    let f = slope(&still.diffusion("c", geometry));
    let inside: f64 = (0..grid.cells()).filter(|&k| grid.cell(k)[0] < 8).map(|k| f[k]).sum();
    assert!(inside.abs() < 1e-11, "{inside}");
    assert!((0..grid.cells()).all(|k| grid.cell(k)[0] < 8 || f[k] == 0.0));
    assert!(f.iter().any(|x| x.abs() > 0.1));
}

/// Coefficients of solids in SI units, in single precision: their products are below its numbers, and nothing diffused.
#[test]
fn fluxes_with_small_and_with_large_coefficients() {
    let slope = |scale: f64| {
        let grid = Grid::new([20, 7, 6], 1.0).unwrap();
        let values: Vec<f32> = (0..grid.cells()).map(|index| noise(2, 0, index) as f32).collect();
        let u = Field::<f32>::from_values(&grid, 1, &values).unwrap();
        let coefficients = (0..grid.cells()).map(|index| scale * (1.5 + noise(3, 0, index)));
        let problem =
            Problem::new(model(&[("c", "0")]), grid).diffusion("c", coefficients.collect());
        let engine = Engine::new(&problem, &cpu()).unwrap();
        let mut f = engine.zeros().unwrap();
        engine.rhs(0.0, &u, &mut f);
        f.to_values(0).into_iter().map(|f| f64::from(f) / scale).collect::<Vec<f64>>()
    };
    let usual = slope(1.0);
    for scale in [1e-20, 1e-30, 1e25] {
        for (a, b) in usual.iter().zip(slope(scale)) {
            assert!((a - b).abs() < 1e-5, "{scale}: {a} {b}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let grid = Grid::new([4, 3, 2], 1.0).unwrap();
    let problem = || Problem::new(model(&[("c", "lap(c)")]), grid);
    let refused = |problem: Problem, word: &str| {
        let error = problem.check().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    assert!(Grid::new([0, 1, 1], 1.0).unwrap_err().to_string().contains("at least one"));
    assert!(Grid::new([1, 1, 1], -1.0).is_err() && Grid::new([1, 1, 1], f64::NAN).is_err());
    assert!(Grid::new([1 << 40, 1 << 40, 1 << 40], 1.0).is_err());
    let vast = Grid::new([1 << 20, 1 << 20, 1 << 14], 1.0).unwrap();
    assert!(Field::<f64>::zeros(&vast, 3).unwrap_err().to_string().contains("memory"));
    let few = Field::<f64>::from_values(&grid, 1, &[1.0; 23]).unwrap_err().to_string();
    assert!(few.contains("23 values"), "{few}");
    let mut values = [1.0; 48];
    values[24 + 13] = f64::NAN;
    let non_finite = Field::from_values(&grid, 2, &values).unwrap_err().to_string();
    assert!(non_finite.contains("values[1]") && non_finite.contains("[1, 0, 1]"), "{non_finite}");

    let zero = || Boundary::Dirichlet(Quantity::from(0.0));
    let boundaries = |boundaries: Boundaries| problem().boundaries(boundaries);
    let low = face(0, false);
    refused(boundaries(Boundaries::default().face(low, zero()).face(low, zero())), "two");
    refused(boundaries(Boundaries::default().species(low, "d", zero())), "species are c");
    refused(boundaries(Boundaries::default().face(low, Boundary::Periodic)), "periodic");
    refused(boundaries(Boundaries::default().face(face(3, true), zero())), "axis");
    let text = Boundary::Dirichlet(Quantity::from("1 + tt"));
    refused(boundaries(Boundaries::default().face(low, text)), "column 5");
    let robin = Boundary::Robin { value: 2.0, gradient: -1.0, amount: Quantity::from(0.0) };
    refused(boundaries(Boundaries::default().face(low, robin)), "zero");
    refused(problem().diffusion("c", vec![1.0; 23]), "23 values");
    refused(problem().diffusion("c", vec![-1.0; 24]), "not negative");
    let start = Field::<f64>::zeros(&Grid::new([4, 3, 3], 1.0).unwrap(), 1).unwrap();
    let options = Options::euler(0.1);
    let Err(error) = Simulation::new(&problem(), start, 0.0, &options, cpu()) else { panic!() };
    assert!(error.to_string().contains("wants [4, 3, 2]"), "{error}");
    let adaptive = Steps::Adaptive(Tolerance::new(1e-3, 1e-3));
    let start = Field::<f64>::zeros(&grid, 1).unwrap();
    let options = Options::new(Method::Euler, adaptive);
    assert!(Simulation::new(&problem(), start, 0.0, &options, cpu()).is_err());
    let text = ModelText {
        species: vec!["u"],
        equations: vec![("u", "lap(lap(u*u)) + w")],
        ..ModelText::default()
    };
    let error = text.read().unwrap_err().to_string();
    assert!(error.contains("column 5") && error.contains("`w`"), "{error}");
}

/// The Laplacian of a sum has the boundaries of each species; that of an expression has closed ones,
/// and a value at a boundary that it would not know is refused.
#[test]
fn boundaries_of_expressions() {
    let grid = Grid::new([9, 5, 4], 0.5).unwrap();
    let warm = Boundaries::all(Boundary::Dirichlet(Quantity::from(0.3)));
    let given =
        |equation: &str| Problem::new(model(&[("c", equation)]), grid).boundaries(warm.clone());
    let field = Field::from_fn(&grid, 1, |_, [x, y, z]| (x + 2.0 * y).sin() + z).unwrap();
    let slope = |equation: &str| {
        let engine = Engine::<f64>::new(&given(equation), &cpu()).unwrap();
        let mut out = engine.zeros().unwrap();
        let what = odeum_fields::Combination { rhs: 1.0, own: None, terms: &[] };
        assert!(engine.sweep(0.0, &field, &what, &mut out));
        out.to_values(0)
    };
    assert_eq!(slope("lap(3*c - (0.3 - c))"), slope("3*lap(c) + lap(c)"));
    for equation in ["lap(c^2)", "lap(c) + 0.1*lap(x*c)"] {
        let error = Engine::<f64>::new(&given(equation), &cpu()).err().unwrap().to_string();
        assert!(error.contains("boundary.x_low.c") && error.contains("D*lap(u)"), "{error}");
    }
    let separating = "lap(c^3 - c - 0.5*lap(c))";
    assert!(Engine::<f64>::new(&given(separating), &cpu()).is_ok());
    let closed = Problem::new(model(&[("c", "lap(c^2)")]), grid);
    assert!(Engine::<f64>::new(&closed, &cpu()).is_ok());
}

/// What is given at a boundary of a species is refused where nothing would ask for it; what is given for all species where none
/// would.
#[test]
fn boundaries_that_nothing_asks_for() {
    let grid = Grid::new([6, 5, 4], 1.0).unwrap();
    let low = Face { axis: 0, high: false };
    let value = || Boundary::Dirichlet(Quantity::from(5.0));
    let of = |equations: &[(&'static str, &'static str)], boundaries: Boundaries| {
        Problem::new(model(equations), grid).boundaries(boundaries)
    };
    let moving = [("u", "lap(u) - u"), ("v", "u - v")];
    let of_all = || Boundaries::default().face(low, value());
    let of_v = || Boundaries::default().species(low, "v", value());
    for refused in [
        of(&[("v", "-v")], of_all()),
        of(&[("v", "-v")], of_v()),
        of(&[("v", "-v")], Boundaries::all(value())),
        of(&[("u", "lap(v^2)"), ("v", "-v")], Boundaries::default().species(low, "u", value())),
        of(&moving, of_v()),
        // Nothing is left of what is given for all.
        of(&moving, of_all().species(low, "u", Boundary::NoFlux)),
    ] {
        let error = refused.check().unwrap_err().to_string();
        assert!(error.contains("boundary.x_low") && error.contains("no effect"), "{error}");
    }
    assert!(of(&moving, of_all()).check().is_ok());
    assert!(of(&moving, of_v()).diffusion("v", vec![1.0; 120]).check().is_ok());
    assert!(of(&[("u", "lap(u^2 - lap(v))"), ("v", "-v")], of_v()).check().is_ok());
    let velocity = Velocity::Uniform([1.0, 0.0, 0.0].map(Quantity::from));
    let advected = of(&moving, of_v()).velocity(velocity, Advection::Upwind);
    assert!(advected.check().is_ok());
    assert!(Problem { advected: Some(vec!["u".to_owned()]), ..advected }.check().is_err());
}
