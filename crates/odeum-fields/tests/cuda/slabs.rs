//! Simulations on several devices, each of which has a slab of the box: the bits are those of one.

use crate::common::{model, some};
use crate::host;
use odeum_fields::gpu::Tiling;
use odeum_fields::problems::Builtin;
use odeum_fields::{
    Advection, Boundaries, Boundary, Checkpoint, Clock, Field, Grid, Mask, Method, ModelText,
    Options, Outcome, PointSource, Precision, Problem, Quantity, Simulation, Stencil, Steps,
    Velocity, noise, rough,
};
use odeum_ode::{Status, Tolerance};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

const PARTS: [usize; 3] = [1, 2, 3];

/// What decides which queue goes ahead: another for each simulation.
static SEED: AtomicU64 = AtomicU64::new(0);

/// Two species, with time and place in their equations. Of 17 planes the middle one of three parts
/// has six: edges at both sides and some between them.
fn problem() -> Problem {
    let model = model(&[
        ("u", "0.2 * lap(u) + u - u^3 - v + 0.1 * x * sin(t) + 0.05 * z"),
        ("v", "0.1 * lap(v) + 0.3 * (u - v) + 0.02 * y - 0.03 * z * cos(t)"),
    ]);
    Problem::new(model, Grid::new([21, 5, 17], 0.9).unwrap().at([0.1, 0.2, 0.3]).unwrap())
}

/// The same in a part of the box, with solid cells on both sides of where slabs meet.
fn porous(problem: Problem) -> Problem {
    let open = |[x, y, z]: [f64; 3]| (1.3 * x).sin() + (2.1 * y).cos() + (0.9 * z).sin() > -0.3;
    let mask = Mask::from_fn(&problem.grid, open).unwrap();
    problem.mask(mask)
}

fn begin<T: Precision>(problem: &Problem, options: &Options, parts: usize) -> Simulation<T> {
    let field = rough(&problem.grid, problem.model.species().len()).unwrap();
    from(problem, options, parts, field)
}

fn from<T: Precision>(
    problem: &Problem,
    options: &Options,
    parts: usize,
    field: Field<T>,
) -> Simulation<T> {
    let start = Checkpoint { field, clock: Clock::at(0.4) };
    let devices = host::several(&vec![1 << 40; parts], SEED.fetch_add(1, Ordering::Relaxed));
    let options = Options { force: true, ..options.clone() };
    Simulation::on_devices(problem, start, &options, devices).unwrap()
}

fn go_on(_: &Simulation<impl Precision>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Some steps by so many parts, by so many of them in a pass.
fn steps<T: Precision>(problem: &Problem, h: f64, parts: usize, depth: usize) -> Field<T> {
    let mut simulation = begin::<T>(problem, &Options::euler(h), parts);
    if depth > 1 {
        let own = Tiling::of(problem.model.species().len(), 0, size_of::<T>());
        let (pack, rows, block) = (8 / size_of::<T>(), 2, [32, 4]);
        simulation.retile(Some(Tiling { depth, pack, rows, block, ..own })).unwrap();
    } else {
        simulation.retile(None).unwrap();
    }
    assert_eq!(simulation.run_steps(5, 0, &mut go_on).unwrap(), Outcome::Reached);
    simulation.field().unwrap().into_owned()
}

/// Whether the box goes on above the last part with the first.
fn goes_on(problem: &Problem) -> bool {
    let along_z = Boundaries::default().axis(2, Boundary::Periodic);
    [Boundaries::all(Boundary::Periodic), along_z].contains(&problem.boundaries)
}

/// Parts change no bit of steps of forward Euler.
fn agrees<T: Precision>(name: &str, problem: &Problem, h: f64, depths: &[usize]) {
    if !host::is_available() {
        return;
    }
    for &depth in depths {
        let alone = steps::<T>(problem, h, 1, depth);
        let start = rough::<T>(&problem.grid, problem.model.species().len()).unwrap();
        assert!(alone != start, "{name}: nothing happens");
        // One part is what all are compared with. Three have all that two have, but that where the box goes on, one is the other's
        // neighbour on both sides.
        for parts in some(PARTS, if goes_on(problem) { &[1, 2] } else { &[2] }) {
            let found = steps::<T>(problem, h, parts, depth);
            assert!(found == alone, "{name}, {} depth {depth}, {parts} parts", T::NAME);
        }
    }
}

/// Tilings were those of the first device, for which others may have too little memory.
#[test]
fn devices_of_different_shared_memory_run_in_any_order() {
    if !host::is_available() {
        return;
    }
    let names: Vec<String> = (0..12).map(|n| format!("u{n}")).collect();
    let equations: Vec<(String, String)> =
        names.iter().map(|u| (u.clone(), format!("0.1 * lap({u}) + {u} - {u}^3"))).collect();
    let equations: Vec<(&str, &str)> =
        equations.iter().map(|(name, equation)| (&**name, &**equation)).collect();
    let problem = Problem::new(model(&equations), Grid::new([40, 12, 16], 1.0).unwrap());
    let end = |shared: &[usize]| {
        let start =
            Checkpoint { field: rough::<f32>(&problem.grid, 12).unwrap(), clock: Clock::at(0.0) };
        let options = Options::euler(0.01);
        let devices = host::unequal(shared);
        let mut simulation = Simulation::on_devices(&problem, start, &options, devices).unwrap();
        assert_eq!(simulation.run_steps(2, 0, &mut go_on).unwrap(), Outcome::Reached, "{shared:?}");
        simulation.field().unwrap().into_owned()
    };
    let (much, little) = (227 << 10, 48 << 10);
    assert!(end(&[much, little]) == end(&[little, much]));
}

fn dirichlet(text: &str) -> Boundary {
    Boundary::Dirichlet(Quantity::from(text))
}

#[test]
fn boundaries_of_all_kinds() {
    let robin = Boundary::Robin { value: 0.7, gradient: 1.3, amount: Quantity::from("0.2 * t") };
    for (n, (boundaries, depths)) in [
        (Boundaries::default(), &[1, 2][..]),
        (Boundaries::all(dirichlet("1 + cos(t)")), &[2]),
        (Boundaries::all(robin), &[1]),
        (Boundaries::default().axis(2, Boundary::Periodic), &[2]),
        (Boundaries::all(Boundary::Periodic), &[1]),
    ]
    .into_iter()
    .enumerate()
    {
        agrees::<f64>(&format!("boundaries {n}"), &problem().boundaries(boundaries), 0.02, depths);
    }
}

#[test]
fn problems_of_the_paper() {
    for builtin in [Builtin::Diffusion, Builtin::Turing, Builtin::MendedFront, Builtin::Plume] {
        let problem = builtin.problem([40, 6, 9]).unwrap();
        let deep = problem.model.potentials().outputs().is_empty();
        agrees::<f32>(builtin.name(), &problem, builtin.step(), if deep { &[1, 2] } else { &[1] });
        let round = problem.boundaries(Boundaries::default().axis(2, Boundary::Periodic));
        agrees::<f64>(builtin.name(), &round, builtin.step(), &[1]);
    }
}

/// Potentials that depend on the place.
fn potential() -> Problem {
    let text = ModelText {
        species: vec!["c"],
        definitions: vec![("mu", "c^3 - c - 0.3 * lap(c) + 0.1 * z^2 * c")],
        equations: vec![("c", "0.2 * lap(mu) + 0.01 * z * c")],
        ..ModelText::default()
    };
    Problem { model: text.read().unwrap().0, ..problem() }
}

#[test]
fn potentials_know_their_place() {
    let problem = potential();
    agrees::<f64>("potential", &problem, 0.01, &[1]);
    let round = problem.boundaries(Boundaries::default().axis(2, Boundary::Periodic));
    agrees::<f64>("potential, round", &round, 0.01, &[1]);
}

/// Velocities from either side, and sources on both sides of where slabs meet.
#[test]
fn velocities_and_sources() {
    for side in [-1.0, 1.0] {
        let velocity = [0.3, -0.2, 0.5 * side].map(Quantity::from);
        let mut problem = problem().velocity(Velocity::Uniform(velocity), Advection::Upwind);
        for z in [0, 4, 5, 7, 8, 9, 10, 11, 16] {
            let (species, rate) = ("v".to_owned(), Quantity::from("3 + t"));
            problem = problem.source(PointSource { species, cell: [7, 2, z], rate });
        }
        let (one, two) = if side > 0.0 { (1, 2) } else { (2, 1) };
        let all = [
            (Boundaries::default(), 1),
            (Boundaries::all(Boundary::Open), one),
            (Boundaries::all(dirichlet("1 + t")), 1),
            (Boundaries::all(Boundary::Periodic), two),
        ];
        let few = if side > 0.0 { [2, 3] } else { [0, 1] };
        for (n, (boundaries, depth)) in some(all.into_iter().enumerate(), &few) {
            let name = format!("velocity {side}, boundaries {n}");
            agrees::<f64>(&name, &problem.clone().boundaries(boundaries), 0.02, &[depth]);
        }
    }
    // It turns on the way.
    let velocity = [Quantity::from(0.1), Quantity::from(0.2), Quantity::from("0.45 - t")];
    let open = Boundaries::all(Boundary::Open);
    let turning =
        problem().boundaries(open).velocity(Velocity::Uniform(velocity), Advection::Upwind);
    agrees::<f64>("turning velocity", &turning, 0.02, &[1, 2]);
}

/// Velocities, schemes and coefficients that take a second sweep.
fn advected() -> Problem {
    let problem = problem();
    let values = |seed: u64, least: f64| -> Vec<f64> {
        (0..problem.grid.cells()).map(|cell| noise(seed, 0, cell).max(least)).collect()
    };
    let velocity = Velocity::Cells([1, 2, 3].map(|seed| values(seed, -1.0)));
    let coefficients = values(4, 0.0);
    problem.clone().velocity(velocity, Advection::Koren).diffusion("v", coefficients)
}

#[test]
fn what_differs_from_cell_to_cell() {
    let all = [
        Boundaries::default(),
        Boundaries::all(dirichlet("1 + t")),
        Boundaries::all(Boundary::Periodic),
    ];
    let velocity = Velocity::Uniform([0.3, -0.2, -0.4].map(Quantity::from));
    let koren = problem().velocity(velocity, Advection::Koren);
    for boundaries in some(all.clone(), &[0, 2]) {
        agrees::<f64>("cells", &advected().boundaries(boundaries), 0.02, &[1]);
    }
    for boundaries in some(all, &[1, 2]) {
        agrees::<f64>("Koren", &koren.clone().boundaries(boundaries), 0.02, &[1]);
    }
}

#[test]
fn domains_that_are_a_part_of_the_box() {
    let round = || Boundaries::default().axis(2, Boundary::Periodic);
    agrees::<f64>(
        "porous",
        &porous(problem()).boundaries(Boundaries::all(dirichlet("1 + t"))),
        0.02,
        &[1],
    );
    agrees::<f32>("porous, round", &porous(problem()).boundaries(round()), 0.02, &[1]);
    let star = porous(problem().stencil(Stencil::Star));
    let source = |z| PointSource { species: "v".to_owned(), cell: [7, 2, z], rate: 3.0.into() };
    let open = |z: &usize| star.mask.as_ref().unwrap().contains([7, 2, *z]);
    let sources: Vec<usize> = (0..17).filter(open).collect();
    assert!(sources.len() > 5);
    let star = sources.into_iter().fold(star.clone(), |problem, z| problem.source(source(z)));
    agrees::<f64>("star", &star, 0.02, &[1]);
    agrees::<f64>("porous potential", &porous(potential()), 0.01, &[1]);
    agrees::<f64>("porous potential, round", &porous(potential()).boundaries(round()), 0.01, &[1]);
    agrees::<f64>("porous cells", &porous(advected()), 0.02, &[1]);
    let velocity = Velocity::Uniform([0.3, -0.2, -0.4].map(Quantity::from));
    let koren = porous(problem()).velocity(velocity, Advection::Koren).boundaries(round());
    agrees::<f64>("porous Koren", &koren, 0.02, &[1]);
}

#[test]
fn stages() {
    stages_of(&problem());
}

#[test]
fn stages_where_the_box_goes_on() {
    stages_of(&problem().boundaries(Boundaries::default().axis(2, Boundary::Periodic)));
}

#[test]
fn stages_of_what_differs_from_cell_to_cell() {
    stages_of(&advected());
}

#[test]
fn stages_in_a_part_of_the_box() {
    stages_of(&porous(problem()));
    stages_of(&porous(advected()));
}

fn stages_of(problem: &Problem) {
    if !host::is_available() {
        return;
    }
    let adaptive = Steps::Adaptive(Tolerance::new(1e-4, 1e-6));
    for options in [
        Options::new(Method::Ssprk3, Steps::Fixed(0.03)),
        Options::new(Method::Rkc { stages: Some(4) }, Steps::Fixed(0.05)),
        Options::new(Method::Rkl2 { stages: Some(5) }, Steps::Fixed(0.06)),
        Options::new(Method::Rkc { stages: None }, adaptive),
    ] {
        // Of three parts one has neighbours on both sides.
        let end = |parts| {
            let mut simulation = begin::<f64>(problem, &options, parts);
            assert_eq!(simulation.advance_to(0.52).unwrap(), Outcome::Reached);
            (simulation.field().unwrap().into_owned(), simulation.counts())
        };
        let ends: Vec<_> = some(PARTS, &[0, 2]).into_iter().map(end).collect();
        // The error norm is a sum, whose order parts change: steps agree to rounding then.
        let exact = matches!(options.steps, Steps::Fixed(_));
        for end in &ends[1..] {
            assert_eq!(end.1, ends[0].1);
            let (a, b) = (end.0.to_values(0), ends[0].0.to_values(0));
            let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(if exact { end.0 == ends[0].0 } else { worst < 1e-12 }, "{options:?}");
        }
    }
}

/// Sums, extremes, picked values and copies are those of the whole box.
#[test]
fn sums_picks_and_copies() {
    if !host::is_available() {
        return;
    }
    sums_of(problem());
    sums_of(porous(problem()));
}

fn sums_of(problem: Problem) {
    let cells: Vec<_> = (0..problem.grid.cells()).rev().map(|at| problem.grid.cell(at)).collect();
    let simulations = PARTS.map(|parts| {
        let mut simulation = begin::<f64>(&problem, &Options::euler(0.02), parts);
        simulation.run_steps(3, 0, &mut go_on).unwrap();
        simulation
    });
    let [alone, others @ ..] = &simulations;
    for simulation in others {
        for (a, b) in simulation.summaries().unwrap().iter().zip(alone.summaries().unwrap()) {
            assert_eq!((a.min, a.max), (b.min, b.max));
            assert!((a.sum - b.sum).abs() < 1e-12 * b.sum.abs().max(1.0));
            assert!((a.mass - b.mass).abs() < 1e-12 * b.mass.abs().max(1.0));
        }
        assert_eq!(simulation.pick(&cells).unwrap(), alone.pick(&cells).unwrap());
        assert_eq!(simulation.stability(), alone.stability());
        let copy = simulation.snapshot().unwrap();
        assert!(copy.field().unwrap() == *alone.field().unwrap());
    }
    // A copy is that of its time, and a checkpoint goes on with any number of parts.
    let [mut one, mut two, _] = simulations;
    let (copy, before) = (two.snapshot().unwrap(), two.field().unwrap().into_owned());
    let checkpoint = two.checkpoint().unwrap();
    two.run_steps(4, 0, &mut go_on).unwrap();
    one.run_steps(4, 0, &mut go_on).unwrap();
    assert!(copy.field().unwrap() == before);
    let devices = host::several(&[1 << 40; 3], 7);
    let options = Options { force: true, ..Options::euler(0.02) };
    let mut three = Simulation::on_devices(&problem, checkpoint, &options, devices).unwrap();
    three.run_steps(4, 0, &mut go_on).unwrap();
    assert!(*three.field().unwrap() == *one.field().unwrap());
    assert!(*two.field().unwrap() == *one.field().unwrap());
}

/// What spoils in the second slab is found where it is, and the state before it is kept; where two
/// slabs spoil at once the first place of the box counts.
#[test]
fn failures_are_placed() {
    if !host::is_available() {
        return;
    }
    let grid = Grid::new([20, 5, 9], 1.0).unwrap();
    for (cells, stop) in [(&[[13, 2, 6]][..], 0), (&[[13, 2, 6], [3, 1, 1], [5, 0, 1]], 5)] {
        let rate = "select(c > 0.9, select(t > 0.465, 1/(t - t), 1), d)";
        let problem = Problem::new(model(&[("c", "0.001*lap(d)"), ("d", rate)]), grid);
        let mut field = Field::<f64>::zeros(&grid, 2).unwrap();
        cells.iter().for_each(|cell| field.set(0, *cell, 1.0));
        let ends = PARTS.map(|parts| {
            let mut simulation = from(&problem, &Options::euler(0.01), parts, field.clone());
            let Outcome::Failed(failure) = simulation.run_every(1.3, stop, &mut go_on).unwrap()
            else {
                panic!("{parts}")
            };
            (failure, simulation.clock(), simulation.field().unwrap().into_owned())
        });
        let first = if cells.len() > 1 { [5, 0, 1] } else { cells[0] };
        let failure = &ends[0].0;
        assert_eq!((failure.status, failure.steps), (Status::NonFinite, 7));
        assert_eq!(failure.place, Some(("d".to_owned(), first)));
        assert!(ends.iter().all(|end| *end == ends[0]));
    }
}

#[test]
fn what_cannot_be_shared_is_refused() {
    if !host::is_available() {
        return;
    }
    let problem = problem();
    let begin = |devices: Vec<host::Host>| {
        let start =
            Checkpoint { field: rough::<f64>(&problem.grid, 2).unwrap(), clock: Clock::at(0.4) };
        Simulation::on_devices(&problem, start, &Options::euler(0.02), devices)
    };
    let Err(error) = begin(host::several(&[1 << 40; 9], 0)) else { panic!() };
    let text = error.to_string();
    assert!(text.contains("17 planes along z on 9 GPUs") && text.contains("at least 18"), "{text}");
    // Rows of 21 numbers are two lines of 128 bytes. Of 17 planes the second has nine, and two of
    // its neighbour's.
    let field = 2 * 128 * (2 * 5 * 11 + 32);
    let of = |bytes| host::several(&[1 << 40, bytes], 0);
    let Err(error) = begin(of(3 * field - 1)) else { panic!() };
    let (text, need) = (error.to_string(), 3 * field);
    let said = [format!("{need} bytes"), format!("host:1 has {} bytes free", need - 1)];
    assert!(said.iter().all(|part| text.contains(part)), "{text}");
    let mut simulation = begin(of(3 * field + (1 << 20))).ok().unwrap();
    let own = Tiling::of(2, 0, 8);
    let boxes = Tiling { depth: 3, boxes: Some([2 * own.rows, 2]), ..own };
    let Err(error) = simulation.retile(Some(boxes)) else { panic!() };
    assert!(error.to_string().contains("several GPUs"), "{error}");
}

#[test]
fn values_come_in_order_from_any_number_of_parts() {
    let problem = problem();
    let [nx, ny, nz] = problem.grid.shape();
    for parts in PARTS {
        let simulation = begin::<f32>(&problem, &Options::euler(0.01), parts);
        let field = simulation.field().unwrap();
        assert!(simulation.in_memory().is_none());
        for s in 0..2 {
            let mut values = Vec::new();
            simulation.values(s, &mut |part| values.extend_from_slice(part)).unwrap();
            assert_eq!(values.len(), nx * ny * nz);
            assert_eq!(values, field.to_values(s), "{parts} parts, species {s}");
        }
        assert!(simulation.values(2, &mut |_| ()).is_err());
    }
}
