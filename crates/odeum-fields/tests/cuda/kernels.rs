//! Kernels of fields executed on this machine through the host shim, against the CPU's
//! sweeps, which share no code with them.

use crate::common::some;
use crate::host;
use odeum_fields::gpu::Tiling;
use odeum_fields::problems::Builtin;
use odeum_fields::{
    Advection, Boundaries, Boundary, Checkpoint, Clock, Combination, Engine, Face, Field, Grid,
    ModelText, Options, Outcome, PointSource, Precision, Problem, Quantity, Simulation, Stencil,
    Velocity, noise, rough,
};
use odeum_ode::{Cpu, Scalar};
use std::ops::ControlFlow;

/// Steps of forward Euler by kernels.
pub(crate) fn steps<T: Precision>(
    problem: &Problem,
    tiling: Tiling,
    field: &Field<T>,
    (t, h): (f64, f64),
    count: u64,
) -> Field<T> {
    let options = Options { force: true, ..Options::euler(h) };
    let start = Checkpoint { field: field.clone(), clock: Clock::at(t) };
    let mut simulation = Simulation::on_device(problem, start, &options, host::device()).unwrap();
    simulation.retile(Some(tiling)).unwrap();
    let outcome = simulation.run_steps(count, 0, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(outcome, Outcome::Reached);
    simulation.field().unwrap().into_owned()
}

/// The kernels' steps against the CPU's, for several tilings; those of one depth give the
/// same bits.
fn agrees<T: Precision>(name: &str, problem: &Problem, tilings: &[Tiling], (t, h): (f64, f64)) {
    if !host::is_available() {
        return;
    }
    let species = problem.model.species().len();
    let field = rough::<T>(&problem.grid, species).unwrap();
    let engine = Engine::<T>::new(problem, &Cpu::default()).unwrap();
    let tolerance = if T::NAME == "f32" { 2e-6 } else { 1e-13 };
    let mut first: Option<(usize, Field<T>)> = None;
    for tiling in tilings {
        let (mut expected, mut next) = (field.clone(), engine.zeros().unwrap());
        for n in 0..tiling.depth {
            let terms = [(1.0, &expected)];
            let what = Combination { rhs: h, own: None, terms: &terms };
            engine.sweep(t + n as f64 * h, &expected, &what, &mut next);
            std::mem::swap(&mut expected, &mut next);
        }
        let found = steps(problem, *tiling, &field, (t, h), tiling.depth as u64);
        for s in 0..species {
            let (a, b) = (found.to_values(s), expected.to_values(s));
            for (at, (x, y)) in a.iter().zip(&b).enumerate() {
                let (x, y) = (x.to_f64(), y.to_f64());
                let cell = problem.grid.cell(at);
                assert!(
                    (x - y).abs() <= tolerance * y.abs().max(1.0),
                    "{name} {} {tiling:?}: species {s} cell {cell:?}: {x} against {y}",
                    T::NAME
                );
            }
        }
        if let Some((depth, first)) = &first
            && *depth == tiling.depth
        {
            assert!(*first == found, "{name} {tiling:?} has other bits");
        }
        first = Some((tiling.depth, found));
    }
}

fn tiling(pack: usize, rows: usize, block: [usize; 2], ahead: usize, planes: usize) -> Tiling {
    Tiling {
        depth: 1,
        pack,
        rows,
        block,
        ahead,
        blocks_per_sm: 1,
        planes,
        boxes: None,
        inner: pack > 1,
        pipeline: false,
    }
}

/// Packs that do and do not divide rows, blocks that hang over, thin slabs.
fn tilings<T: Scalar>() -> Vec<Tiling> {
    let pack = 16 / size_of::<T>();
    vec![
        tiling(pack, 2, [8, 2], 1, 0),
        tiling(pack, 4, [4, 1], 0, 2),
        tiling(2, 3, [4, 4], 2, 1),
        tiling(1, 1, [8, 8], 3, 0),
    ]
}

/// Several steps at once in shared memory, in boxes that do and do not divide the field.
fn boxed() -> Vec<Tiling> {
    let tiling = |depth: usize, pack: usize, rows: usize, boxes: [usize; 2]| Tiling {
        depth,
        pack,
        rows,
        boxes: Some(boxes),
        ..Tiling::of(2, 0, 8)
    };
    vec![
        tiling(2, 2, 2, [4, 2]),
        tiling(3, 1, 1, [3, 4]),
        tiling(3, 2, 3, [6, 1]),
        tiling(4, 2, 2, [2, 3]),
        tiling(2, 1, 1, [5, 3]),
    ]
}

/// Two steps at once that share the first.
fn paired() -> Vec<Tiling> {
    tiles().into_iter().map(|tiling| Tiling { depth: 2, ..tiling }).collect()
}

#[test]
fn several_steps_at_once_in_closed_boxes() {
    for (n, shape) in some(SHAPES.into_iter().enumerate(), &[0, 3, 5, 6]) {
        let problem = Problem::new(two_species(), Grid::new(shape, 0.9).unwrap());
        let few = [boxed()[n % 5], paired()[n % 4]];
        agrees::<f64>(&format!("{shape:?}"), &problem, &few, (0.4, 0.05));
    }
    let problem = Problem::new(two_species(), Grid::new([70, 19, 5], 0.9).unwrap());
    agrees::<f64>("wide", &problem, &boxed(), (0.4, 0.05));
    agrees::<f64>("wide", &problem, &paired(), (0.4, 0.05));
    agrees::<f32>("wide", &problem, &paired()[..2], (0.4, 0.05));
    let wide = |n: usize| Tiling { pack: 4, ..boxed()[n] };
    agrees::<f32>("wide", &problem, &[boxed()[4], wide(0), wide(3)], (0.4, 0.05));
}

/// One step, and several at once, have the same bits: with boundaries that shift and mirror and periodic
/// axes, rows and planes that boxes and threads do not divide, velocities and sources.
#[test]
fn depth_changes_no_bit() {
    if !host::is_available() {
        return;
    }
    let mut shifting = Boundaries::all(Boundary::Open);
    for (n, face) in Face::ALL.into_iter().enumerate() {
        let value = Quantity::from(format!("{n} - t").as_str());
        shifting = shifting.species(face, "v", Boundary::Dirichlet(value));
    }
    let mixed = Boundaries::all(Boundary::Dirichlet(Quantity::from("2 * t")));
    let mixed = mixed.axis(0, Boundary::Periodic).axis(2, Boundary::Periodic);
    let all = [Boundaries::default(), shifting, mixed, Boundaries::all(Boundary::Periodic)];
    for (n, boundaries) in all.into_iter().enumerate() {
        let grid = Grid::new([[37, 19, 5], [36, 7, 3]][n / 2], 0.9).unwrap();
        let mut problem = Problem::new(two_species(), grid).boundaries(boundaries);
        if n % 2 == 1 {
            let velocity = Velocity::Uniform([0.3, -0.2, -0.1].map(Quantity::from));
            let (species, rate) = ("u".to_owned(), Quantity::from("3 + t"));
            let source = PointSource { species, cell: [9, 6, 2], rate };
            problem = problem.velocity(velocity, Advection::Upwind).source(source);
            problem.advected = Some(vec!["u".to_owned()]);
        }
        let field = rough::<f64>(&problem.grid, 2).unwrap();
        let (t, h, count) = (0.4, 0.05, 7);
        let once = steps(&problem, tilings::<f64>()[n], &field, (t, h), count);
        // Each of the nine tilings with two of the four problems: with and without a velocity.
        let places = [&[0, 2, 4, 6, 8][..], &[1, 3, 5, 7]][(n + n / 2) % 2];
        for tiling in some(boxed().into_iter().chain(paired()), places) {
            let several = steps(&problem, tiling, &field, (t, h), count);
            assert!(several == once, "boundaries {n} {tiling:?}");
        }
    }
}

/// Tiles in shared memory that do and do not divide planes, for models with potentials.
fn tiles() -> Vec<Tiling> {
    let tiling = |pack: usize, rows: usize, block: [usize; 2], planes: usize| Tiling {
        depth: 1,
        pack,
        rows,
        block,
        ahead: 0,
        blocks_per_sm: 1,
        planes,
        boxes: None,
        inner: true,
        pipeline: false,
    };
    vec![
        tiling(1, 2, [32, 4], 0),
        tiling(2, 3, [32, 4], 2),
        tiling(2, 1, [16, 5], 1),
        tiling(2, 3, [16, 16], 3),
    ]
}

/// Two potentials of two species, and a third that does not matter for them; `nonlinear` in
/// Laplacians, or with coordinates.
fn two_potentials(nonlinear: bool) -> odeum_fields::Model {
    let second = match nonlinear {
        true => "c - 0.3 * lap(c) * lap(a) + 0.1 * x * cos(t)",
        false => "c - 0.3 * lap(c) + 0.1 * x * y - z * cos(t)",
    };
    ModelText {
        species: vec!["a", "b", "c"],
        params: vec![("k", 0.3)],
        definitions: vec![("first", "a^3 - a - 0.2 * lap(a) + 0.1 * c"), ("second", second)],
        equations: vec![
            ("a", "lap(first) + 0.3 * lap(second) - k * b"),
            ("b", "0.2 * lap(b) + 0.1 * x - k * a * b"),
            ("c", "0.1 * lap(c) + 0.5 * lap(second) + 0.02 * y * sin(t)"),
        ],
    }
    .read()
    .unwrap()
    .0
}

#[test]
fn tiles_with_all_that_may_be() {
    let shapes = [[37, 19, 5], [66, 26, 4], [9, 7, 1], [13, 1, 1], [1, 9, 4], [2, 2, 2]];
    let inlet = Boundary::Robin { value: 0.7, gradient: 1.3, amount: Quantity::from("1 + cos(t)") };
    for nonlinear in [false, true] {
        let model = two_potentials(nonlinear);
        // Every shape and every face, each with one of the models.
        let (places, faces) =
            [([0, 3, 5], [0, 3, 4]), ([1, 2, 4], [1, 2, 5])][usize::from(nonlinear)];
        for (n, shape) in some(shapes.into_iter().enumerate(), &places) {
            let name = format!("{nonlinear} {shape:?}");
            let open = Problem::new(model.clone(), Grid::new(shape, 0.9).unwrap());
            let few = |k: usize| [tiles()[(n + k) % 4], tiles()[(n + k + 1) % 4]];
            agrees::<f64>(&name, &open, &few(0), (0.4, 0.01));
            let axis = Boundaries::all(Boundary::Open).axis(n % 3, Boundary::Periodic);
            let sides = [[0.3, -0.2, -0.1], [-0.1, 0.3, 0.2]][n % 2].map(Quantity::from);
            let source = PointSource {
                species: "c".to_owned(),
                cell: shape.map(|n| n / 2),
                rate: Quantity::from("t"),
            };
            let velocity = Velocity::Uniform(sides);
            let advected =
                open.clone().boundaries(axis).velocity(velocity, Advection::Upwind).source(source);
            agrees::<f64>(&format!("{name}, velocity"), &advected, &few(2), (0.4, 0.01));
        }
        for (n, face) in some(Face::ALL.into_iter().enumerate(), &faces) {
            let boundaries = Boundaries::default().species(face, "a", inlet.clone());
            let boundaries =
                boundaries.species(Face::ALL[(n + 2) % 6], "b", Boundary::Dirichlet(2.0.into()));
            let grid = Grid::new([35, 14, 4], 0.9).unwrap();
            let problem = Problem::new(model.clone(), grid).boundaries(boundaries);
            let name = format!("{nonlinear} boundary {}", face.name());
            agrees::<f64>(&name, &problem, &tiles()[n % 4..=n % 4], (0.4, 0.01));
        }
    }
}

/// Cahn–Hilliard with a reaction: potentials, whose Laplacians reach two cells far.
#[test]
fn potentials_agree() {
    let front = |shape: [usize; 3]| {
        let problem = Builtin::MendedFront.problem(shape).unwrap();
        let species = problem.model.species().len();
        assert_eq!(species, 3);
        problem
    };
    let tilings = tiles();
    let shapes = [[70, 19, 5], [37, 7, 4], [9, 7, 1], [13, 1, 1], [1, 9, 4], [2, 2, 2]];
    for (n, shape) in shapes.into_iter().enumerate() {
        let few = some([tilings[n % 4], tilings[(n + 1) % 4]], &[0]);
        agrees::<f64>(&format!("front {shape:?}"), &front(shape), &few, (0.0, 0.02));
    }
    let few = some(tilings[1..].iter().copied(), &[0]);
    agrees::<f32>("front", &front([37, 19, 5]), &few, (0.0, 0.02));
    for (n, axes) in [&[0_usize][..], &[1, 2], &[0, 1, 2]].into_iter().enumerate() {
        let mut boundaries = Boundaries::default();
        for axis in axes {
            boundaries = boundaries.axis(*axis, Boundary::Periodic);
        }
        let problem = front([37, 7, 4]).boundaries(boundaries);
        let few = some(tilings.iter().copied(), &[n % 2, 2 + n % 2]);
        agrees::<f64>(&format!("front {axes:?}"), &problem, &few, (0.0, 0.02));
    }
}

fn two_species() -> odeum_fields::Model {
    ModelText {
        species: vec!["u", "v"],
        params: vec![("a", 0.3)],
        equations: vec![
            ("u", "0.2 * lap(u) + u - u^3 - v + 0.1 * x * sin(t)"),
            ("v", "0.1 * lap(v) + a * (u - v) + 0.02 * y - 0.03 * z"),
        ],
        ..ModelText::default()
    }
    .read()
    .unwrap()
    .0
}

const SHAPES: [[usize; 3]; 8] =
    [[37, 19, 5], [16, 8, 8], [9, 7, 1], [13, 1, 1], [1, 9, 4], [2, 2, 2], [1, 1, 1], [33, 3, 2]];

#[test]
fn closed_boxes_of_all_shapes() {
    for (n, shape) in SHAPES.into_iter().enumerate() {
        let problem = Problem::new(two_species(), Grid::new(shape, 0.9).unwrap());
        let few = [tilings::<f64>()[n % 4], tilings::<f64>()[(n + 1) % 4]];
        agrees::<f64>(&format!("{shape:?}"), &problem, &few, (0.4, 0.05));
    }
    let problem = Problem::new(two_species(), Grid::new([37, 19, 5], 0.9).unwrap());
    agrees::<f32>("closed", &problem, &tilings::<f32>(), (0.4, 0.05));
}

#[test]
fn every_boundary_on_every_face() {
    let kinds = [
        Boundary::Dirichlet(Quantity::from("1 + cos(t)")),
        Boundary::Robin { value: 0.7, gradient: 1.3, amount: Quantity::from("a * t") },
    ];
    let grid = Grid::new([11, 6, 3], 0.9).unwrap();
    for (m, face) in Face::ALL.into_iter().enumerate() {
        for (n, kind) in kinds.iter().enumerate() {
            let boundaries = Boundaries::default().species(face, "v", kind.clone());
            let problem = Problem::new(two_species(), grid).boundaries(boundaries);
            let name = format!("boundary {n} {}", face.name());
            agrees::<f64>(&name, &problem, &tilings::<f64>()[..1], (0.4, 0.05));
            // Each with two of the faces.
            let several = [boxed()[2 * n], boxed()[2 * n + 1], paired()[n]];
            agrees::<f64>(&name, &problem, &some(several, &[m % 3]), (0.4, 0.05));
        }
    }
}

/// At edges and corners of the box the rules of two and three boundaries meet.
#[test]
fn boundaries_meet_at_edges() {
    let dirichlet = |value: &str| Boundary::Dirichlet(Quantity::from(value));
    // No two rules commute.
    let robin = |value: f64| {
        let amount = Quantity::from(0.3 + value * value);
        Boundary::Robin { value, gradient: 0.8, amount }
    };
    let mut boundaries = Boundaries::default();
    for (n, face) in Face::ALL.into_iter().enumerate() {
        boundaries = boundaries.species(face, "u", robin(0.2 + 0.3 * n as f64));
        boundaries = boundaries.species(face, "v", dirichlet(&format!("{n} + 2 * t")));
    }
    for shape in [[37, 19, 5], [5, 1, 3]] {
        let grid = Grid::new(shape, 0.9).unwrap();
        for stencil in [Stencil::Isotropic, Stencil::Star] {
            let problem =
                Problem::new(two_species(), grid).stencil(stencil).boundaries(boundaries.clone());
            let name = format!("{shape:?} {stencil:?}");
            agrees::<f64>(&name, &problem, &tilings::<f64>()[1..3], (0.4, 0.05));
            agrees::<f64>(&name, &problem, &boxed()[1..4], (0.4, 0.05));
            agrees::<f64>(&name, &problem, &paired()[..1], (0.4, 0.05));
        }
        // What is periodic is so for every species, so nothing else is said of those axes.
        for axes in [&[0_usize][..], &[1, 2], &[0, 1, 2]] {
            let mut only = Boundaries::all(dirichlet("2 * t"));
            for axis in axes {
                only = only.axis(*axis, Boundary::Periodic);
            }
            let problem = Problem::new(two_species(), grid).boundaries(only);
            agrees::<f64>(
                &format!("{shape:?} {axes:?}"),
                &problem,
                &tilings::<f64>()[..2],
                (0.4, 0.05),
            );
        }
    }
}

#[test]
fn cells_with_unequal_edges() {
    let grid = Grid::with_spacing([21, 10, 6], [0.5, 0.8, 1.1]).unwrap().at([1.0, -2.0, 0.3]);
    let problem = Problem::new(two_species(), grid.unwrap()).stencil(Stencil::Star);
    agrees::<f64>("star", &problem, &tilings::<f64>(), (0.4, 0.01));
    agrees::<f32>("star", &problem, &tilings::<f32>(), (0.4, 0.01));
}

/// Velocities from all eight sides, and sources at a corner, at an edge and amid.
#[test]
fn velocities_and_sources() {
    let grid = Grid::new([13, 9, 6], 2.0).unwrap();
    // Of the first four any two axes have all pairs of sides.
    let all = [0, 3, 5, 6, 1, 2, 4, 7_u32].into_iter().enumerate();
    for (n, sides) in some(all, &[0, 1, 2, 3]) {
        let sign = |axis: u32| if sides >> axis & 1 == 1 { 1.0 } else { -1.0 };
        let velocity =
            [0, 1, 2].map(|axis| Quantity::from(sign(axis) * (0.3 + 0.2 * f64::from(axis))));
        let inflow = Boundary::Dirichlet(Quantity::from("1 + t"));
        let mut problem = Problem::new(two_species(), grid)
            .velocity(Velocity::Uniform(velocity), Advection::Upwind)
            .boundaries(Boundaries::all(inflow));
        for (species, cell) in [("u", [0, 0, 0]), ("v", [12, 8, 5]), ("v", [6, 5, 3])] {
            let rate = Quantity::from("3 + t");
            problem = problem.source(PointSource { species: species.to_owned(), cell, rate });
        }
        if sides == 3 {
            problem.advected = Some(vec!["v".to_owned()]);
        }
        let name = format!("velocity {sides}");
        let one = n % 3;
        agrees::<f64>(&name, &problem, &tilings::<f64>()[one..=one], (0.4, 0.05));
        // Several steps at once are those of velocities that meet no boundary but open ones.
        let open = problem.clone().boundaries(Boundaries::all(Boundary::Open));
        agrees::<f64>(&name, &open, &tilings::<f64>()[one..=one], (0.4, 0.05));
        agrees::<f64>(&name, &open, &paired()[one..=one], (0.4, 0.05));
        agrees::<f64>(&name, &open, &boxed()[one + 2..=one + 2], (0.4, 0.05));
        let round = Boundaries::all(Boundary::Periodic);
        let round = problem.boundaries(round);
        agrees::<f64>(&name, &round, &boxed()[one..=one], (0.4, 0.05));
        agrees::<f64>(&name, &round, &paired()[one + 1..one + 2], (0.4, 0.05));
    }
}

/// Velocities, schemes and coefficients that take a second sweep.
#[test]
fn what_differs_from_cell_to_cell() {
    let robin = Boundary::Robin { value: 0.7, gradient: 1.3, amount: Quantity::from("t") };
    let all = [
        Boundaries::all(Boundary::Dirichlet(Quantity::from("1 + t"))),
        Boundaries::all(Boundary::Periodic),
        Boundaries::all(robin).axis(1, Boundary::Periodic),
        Boundaries::default(),
    ];
    for (n, boundaries) in all.into_iter().enumerate() {
        let shape = [[13, 9, 6], [34, 3, 2], [5, 1, 3], [2, 11, 1]][n];
        let grid = Grid::with_spacing(shape, [0.9, 1.1, 1.3]).unwrap();
        let values = |seed: u64, least: f64| -> Vec<f64> {
            (0..grid.cells()).map(|cell| noise(seed, 0, cell).max(least)).collect()
        };
        let mut problem =
            Problem::new(two_species(), grid).stencil(Stencil::Star).boundaries(boundaries);
        let cells = Velocity::Cells([1, 2, 3].map(|seed| values(seed, -1.0)));
        let uniform = Velocity::Uniform([-0.4, 0.3, 0.2].map(Quantity::from));
        let scheme = if n % 2 == 0 { Advection::Koren } else { Advection::Upwind };
        let velocity = if n < 2 { cells } else { uniform };
        problem = problem.velocity(velocity, if n == 2 { Advection::Koren } else { scheme });
        if n != 1 {
            // Some coefficients are zero.
            problem = problem.diffusion("v", values(4, 0.0));
        }
        if n == 1 {
            problem.advected = Some(vec!["v".to_owned()]);
        }
        let name = format!("transport {n}");
        agrees::<f64>(&name, &problem, &tilings::<f64>()[1..2], (0.4, 0.05));
        if n == 0 {
            agrees::<f32>(&name, &problem, &tilings::<f32>()[..1], (0.4, 0.05));
        }
    }
}

/// The problems of the paper with the tilings that GPUs get.
#[test]
fn problems_of_the_paper() {
    for builtin in Builtin::ALL {
        let problem = builtin.problem([130, 20, 5]).unwrap();
        let species = problem.model.species().len();
        let potentials = problem.model.potentials().outputs().len();
        let name = builtin.name();
        agrees::<f64>(
            name,
            &problem,
            &[Tiling::of(species, potentials, 8)],
            (700.0, builtin.step()),
        );
        agrees::<f32>(
            name,
            &problem,
            &[Tiling::of(species, potentials, 4)],
            (700.0, builtin.step()),
        );
    }
}
