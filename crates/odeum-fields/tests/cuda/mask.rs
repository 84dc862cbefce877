//! Domains that are a part of the box, by kernels executed on this machine through the host shim,
//! against the CPU's sweeps, which share no code with them.

use crate::common::{is_thorough, methods, model, some};
use crate::host;
use odeum_fields::gpu::Tiling;
use odeum_fields::{
    Advection, Boundaries, Boundary, Checkpoint, Clock, Face, Field, Grid, Mask, Method, Options,
    Outcome, PointSource, Precision, Problem, Quantity, Simulation, Stencil, Steps, Velocity,
    noise, rough,
};
use odeum_ode::{Cpu, Error, Status};

/// Two species, one with a slope that is no sum of Laplacians times numbers.
fn reacting(grid: Grid, linear: bool) -> Problem {
    let second = if linear { "0.1 * lap(v) + u" } else { "0.1 * v * lap(v) + 0.3 * (u - v)" };
    let equations = [("u", "0.2 * lap(u) + u - u^3 - v + 0.1 * x * sin(t)"), ("v", second)];
    Problem::new(model(&equations), grid)
}

fn separating(grid: Grid) -> Problem {
    let equations = [
        ("a", "0.3 * lap(a) - 0.2 * a * c"),
        ("c", "0.2 * a * c - 0.1 * lap(c - c^3 + 0.7 * lap(c))"),
    ];
    Problem::new(model(&equations), grid)
}

/// Solid cells of every kind of corner, at boundaries and amid; every second grain is open.
fn grains(grid: &Grid) -> Mask {
    let value = |at: usize| {
        let cell = grid.cell(at).map(|i| i / 3);
        noise(5, 0, grid.index(cell)) + 0.6 * noise(6, 0, at) + 0.3
    };
    let values: Vec<f64> = (0..grid.cells()).map(value).collect();
    Mask::from_values(grid, &values).unwrap()
}

fn start<T: Precision>(problem: &Problem) -> Checkpoint<T> {
    let mut field = rough::<T>(&problem.grid, problem.model.species().len()).unwrap();
    let mask = problem.mask.as_ref().unwrap();
    for cell in (0..problem.grid.cells()).map(|at| problem.grid.cell(at)) {
        for s in (0..field.species()).filter(|_| !mask.contains(cell)) {
            field.set(s, cell, T::from_f64(1e6 + cell[0] as f64));
        }
    }
    Checkpoint { field, clock: Clock::at(0.4) }
}

fn both<T: Precision>(problem: &Problem, options: &Options) -> [Simulation<T>; 2] {
    let options = Options { force: true, ..options.clone() };
    let cpu = Cpu { threads: Some(1), ..Cpu::default() };
    let kernels = Simulation::on_device(problem, start(problem), &options, host::device());
    [kernels.unwrap(), Simulation::resume(problem, start(problem), &options, cpu).unwrap()]
}

/// Some steps by kernels and by the CPU: all cells, sums, counts.
fn agree<T: Precision>(name: &str, problem: &Problem, options: &Options, tolerance: f64) {
    let simulations = both::<T>(problem, options);
    let [kernels, processor] = simulations.map(|mut simulation| {
        let end = match options.steps {
            Steps::Fixed(h) => 0.4 + 5.3 * h,
            Steps::Fraction(_) | Steps::Adaptive(_) => 0.6,
        };
        let outcome = simulation.advance_to(end).unwrap();
        assert_eq!(outcome, Outcome::Reached);
        simulation
    });
    let name = format!("{name} {} {:?}", T::NAME, options.method);
    assert_eq!(kernels.counts(), processor.counts(), "{name}");
    assert_eq!(kernels.stability(), processor.stability(), "{name}");
    let (a, b, before) =
        (kernels.field().unwrap(), processor.field().unwrap(), start::<T>(problem).field);
    let mask = problem.mask.as_ref().unwrap();
    for cell in (0..problem.grid.cells()).map(|at| problem.grid.cell(at)) {
        for s in 0..a.species() {
            let (x, y) = (a.get(s, cell).to_f64(), b.get(s, cell).to_f64());
            if mask.contains(cell) {
                let error = (x - y).abs() / y.abs().max(1.0);
                assert!(error <= tolerance, "{name}: {s} {cell:?}: {x} against {y}");
            } else {
                let was = before.get(s, cell).to_f64();
                assert_eq!((x, y), (was, was), "{name}: {s} {cell:?}");
            }
        }
    }
    for (x, y) in kernels.summaries().unwrap().iter().zip(processor.summaries().unwrap()) {
        let close = |x: f64, y: f64| (x - y).abs() <= 10.0 * tolerance * y.abs().max(1.0);
        assert!(close(x.sum, y.sum) && close(x.mean, y.mean) && close(x.mass, y.mass), "{name}");
        assert!(close(x.min, y.min) && close(x.max, y.max) && x.max < 1e5, "{name}");
    }
}

const SHAPES: [[usize; 3]; 6] =
    [[70, 7, 5], [33, 6, 4], [13, 9, 1], [67, 1, 1], [2, 9, 4], [5, 1, 6]];

#[test]
fn domains_of_all_shapes_agree() {
    if !host::is_available() {
        return;
    }
    for (n, shape) in SHAPES.into_iter().enumerate() {
        let grid = Grid::new(shape, 0.9).unwrap();
        let stencil = [Stencil::Isotropic, Stencil::Star][n % 2];
        let problem = reacting(grid, n % 3 != 0).stencil(stencil).mask(grains(&grid));
        let few = if n == 0 { &[0, 1, 2, 3, 4][..] } else { &[n % 5, (n + 2) % 5] };
        for options in some(methods(0.02), few) {
            agree::<f64>(&format!("{shape:?}"), &problem, &options, 1e-13);
        }
        if n < 2 {
            agree::<f32>(&format!("{shape:?}"), &problem, &methods(0.02)[0], 3e-6);
            agree::<f32>(&format!("{shape:?}"), &problem, &methods(0.02)[3], 3e-5);
        }
    }
}

#[test]
fn boundaries_at_solid_cells_agree() {
    if !host::is_available() {
        return;
    }
    let robin =
        |value: f64| Boundary::Robin { value, gradient: 0.8, amount: Quantity::from("0.2 * t") };
    let mut mixed = Boundaries::default();
    for (n, face) in Face::ALL.into_iter().enumerate() {
        mixed = mixed.species(face, "u", robin(0.2 + 0.3 * n as f64));
    }
    let dirichlet = Boundaries::all(Boundary::Dirichlet(Quantity::from("1 + t")));
    let grid = Grid::new([35, 6, 5], 0.9).unwrap();
    for (n, boundaries) in
        [mixed, dirichlet.clone().axis(1, Boundary::Periodic), Boundaries::all(Boundary::Periodic)]
            .into_iter()
            .enumerate()
    {
        let mut problem = reacting(grid, true).boundaries(boundaries).mask(grains(&grid));
        let mask = problem.mask.clone().unwrap();
        let cells = (0..grid.cells()).map(|at| grid.cell(at));
        for cell in cells.filter(|cell| mask.contains(*cell)).step_by(97) {
            let rate = Quantity::from("3 + t");
            problem = problem.source(PointSource { species: "v".to_owned(), cell, rate });
        }
        for options in &methods(0.02)[..3] {
            agree::<f64>(&format!("boundaries {n}"), &problem, options, 1e-13);
        }
    }
}

#[test]
fn potentials_beside_solid_cells_agree() {
    if !host::is_available() {
        return;
    }
    for (n, shape) in [[35, 6, 5], [13, 9, 1], [40, 1, 1]].into_iter().enumerate() {
        let grid = Grid::new(shape, 1.0).unwrap();
        let boundaries = [Boundaries::default(), Boundaries::default().axis(0, Boundary::Periodic)]
            [n % 2]
            .clone();
        let problem = separating(grid).boundaries(boundaries).mask(grains(&grid));
        for options in &methods(0.01)[..3] {
            agree::<f64>(&format!("{shape:?}"), &problem, options, 1e-13);
        }
    }
    // Most words are far from these: potentials are wanted of some that are not computed anew.
    let grid = Grid::new([70, 9, 11], 1.0).unwrap();
    let solid = [[33.0, 4.0, 5.0], [0.0, 8.0, 10.0]].map(|cell| cell.map(|i| i + 0.5));
    let mask = Mask::from_fn(&grid, |at| !solid.contains(&at)).unwrap();
    for boundaries in [Boundaries::default(), Boundaries::all(Boundary::Periodic)] {
        let problem = separating(grid).boundaries(boundaries).mask(mask.clone());
        agree::<f64>("spots", &problem, &methods(0.01)[0], 1e-13);
    }
}

#[test]
fn velocities_and_coefficients_beside_solid_cells_agree() {
    if !host::is_available() {
        return;
    }
    for (n, shape) in [[35, 9, 6], [34, 3, 2], [5, 1, 3], [21, 11, 1]].into_iter().enumerate() {
        let grid = Grid::with_spacing(shape, [0.9, 1.1, 1.3]).unwrap();
        let values = |seed: u64, least: f64| -> Vec<f64> {
            (0..grid.cells()).map(|cell| noise(seed, 0, cell).max(least)).collect()
        };
        let boundaries = [
            Boundaries::all(Boundary::Dirichlet(Quantity::from("1 + t"))),
            Boundaries::all(Boundary::Periodic),
            Boundaries::default().axis(1, Boundary::Periodic),
            Boundaries::default(),
        ];
        let cells = Velocity::Cells([1, 2, 3].map(|seed| values(seed, -1.0)));
        let uniform = Velocity::Uniform(["-0.4", "0.3 * sin(9 * t)", "0.2"].map(Quantity::from));
        let velocity = if n % 2 == 0 { uniform } else { cells };
        let scheme = if n < 2 { Advection::Koren } else { Advection::Upwind };
        let mut problem = reacting(grid, true)
            .stencil(Stencil::Star)
            .boundaries(boundaries[n].clone())
            .velocity(velocity, scheme)
            .mask(grains(&grid));
        if n != 2 {
            problem = problem.diffusion("v", values(4, 0.0));
        }
        if n == 1 {
            problem.advected = Some(vec!["v".to_owned()]);
        }
        let few = if n == 0 { &[0, 1, 2, 3, 4][..] } else { &[0, n] };
        for options in some(methods(0.02), few) {
            agree::<f64>(&format!("transport {n}"), &problem, &options, 1e-13);
        }
        // The kernel for fluxes does all that a velocity does here.
        let upwind = Problem { advection: Advection::Upwind, ..problem };
        if n % 2 == 0 || is_thorough() {
            agree::<f32>(&format!("transport {n}"), &upwind, &methods(0.02)[0], 3e-6);
        }
    }
}

/// NaN in the reaction of solid cells is none of the domain's; in the domain it is placed, in the
/// midst of many steps too.
#[test]
fn failures_are_those_of_the_domain() {
    if !host::is_available() {
        return;
    }
    let grid = Grid::new([20, 5, 6], 1.0).unwrap();
    let mask = Mask::from_fn(&grid, |at| at[0] > 3.0).unwrap();
    let equation = "0.1 * lap(c) - 0.1 * ln(5 - c) + select(t > 0.995 && x > 13, 1/(t - t), 0)";
    let problem = Problem::new(model(&[("c", equation)]), grid).mask(mask);
    let options = Options { force: true, ..Options::euler(0.01) };
    let ends = both::<f64>(&problem, &options).map(|mut simulation| {
        let Outcome::Failed(failure) = simulation.advance_to(9.0).unwrap() else { panic!() };
        let field = simulation.field().unwrap().into_owned();
        (failure, field)
    });
    assert_eq!(ends[0].0, ends[1].0);
    assert_eq!(ends[0].0.status, Status::NonFinite);
    assert_eq!((ends[0].0.steps, ends[0].0.place.clone().unwrap().1), (60, [13, 0, 0]));
    let values = ends.map(|(_, field): (_, Field<f64>)| field.to_values(0));
    assert!(values[0].iter().zip(&values[1]).all(|(a, b)| (a - b).abs() < 1e-13 * a.abs()));
}

#[test]
fn memory_is_counted_and_depth_refused() {
    if !host::is_available() {
        return;
    }
    let grid = Grid::new([16, 5, 3], 0.9).unwrap();
    let problem = reacting(grid, true).mask(Mask::from_fn(&grid, |at| at[0] > 3.0).unwrap());
    let begin = |bytes: usize, options: &Options| {
        Simulation::<f64>::on_device(&problem, start(&problem), options, host::with_memory(bytes))
    };
    // A field as without a mask; 15 rows of a word of 8 bytes, and as many words of 32 cells near
    // solid ones, each with its number and the codes of its cells.
    let (field, mask) = ((2 * 15 + 32) * 128, 15 * (8 + 4 + 32 * 4));
    let Err(error) = begin(3 * field + mask - 1, &Options::euler(0.02)) else { panic!() };
    assert!(matches!(&error, Error::Input { .. }), "{error}");
    assert!(error.to_string().contains(&format!("{} bytes", 3 * field + mask)), "{error}");
    // By stages what the output held is kept of these.
    let kept = 15 * 32 * 2 * 8;
    let rkl2 = Options::new(Method::Rkl2 { stages: None }, Steps::Fixed(0.02));
    let Err(error) = begin(4 * field + mask + kept - 1, &rkl2) else { panic!() };
    assert!(error.to_string().contains(&format!("{} bytes", 4 * field + mask + kept)), "{error}");
    let mut simulation = begin(1 << 30, &Options::euler(0.02)).unwrap();
    let twice = Tiling::twice(1, false, 8, [64; 3]);
    assert!(twice.is_some() && simulation.retile(twice).is_err());
}
