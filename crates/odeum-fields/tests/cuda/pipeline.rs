//! Two steps by groups of warps that hand planes on to each other, against single steps, whose bits
//! they have.

use crate::host;
use crate::kernels::steps;
use odeum_fields::gpu::Tiling;
use odeum_fields::problems::Builtin;
use odeum_fields::{
    Boundaries, Boundary, Checkpoint, Clock, Face, Field, Grid, Model, ModelText, Options, Problem,
    Quantity, Simulation, rough,
};

fn with_potential(equations: Vec<(&'static str, &'static str)>) -> Model {
    let species = equations.iter().map(|(name, _)| *name).collect();
    let definitions = vec![("mu", "c^3 - c - 0.4 * lap(c)"), ("rate", "0.2 * a * b * (1 + t)")];
    ModelText { species, definitions, equations, ..ModelText::default() }.read().unwrap().0
}

/// The front, and models that take what it does not: one species alone; three without a
/// potential, of which one stays where it is; a potential of the first of two, cross-diffusion.
fn models() -> Vec<(&'static str, Model)> {
    let alone = ModelText {
        species: vec!["c"],
        equations: vec![("c", "lap(c^3 - c - 0.5 * lap(c))")],
        ..ModelText::default()
    };
    let still = vec![("a", "lap(a) - rate"), ("b", "0.5 * lap(b) - rate"), ("c", "rate")];
    let still = ModelText {
        species: vec!["a", "b", "c"],
        definitions: vec![("rate", "0.2 * a * b * (1 + t)")],
        equations: still,
        ..ModelText::default()
    };
    vec![
        ("front", Builtin::MendedFront.model().unwrap()),
        ("alone", alone.read().unwrap().0),
        ("still", still.read().unwrap().0),
        (
            "crossed",
            with_potential(vec![
                ("c", "lap(mu) + 0.2 * lap(b) + rate"),
                ("b", "0.3 * lap(b) - rate"),
                ("a", "-rate"),
            ]),
        ),
    ]
}

/// Four steps, two at a time and one by one.
fn has_the_bits_of_single_steps(name: &str, problem: &Problem, planes: usize) {
    if !host::is_available() {
        return;
    }
    let species = problem.model.species().len();
    let potentials = problem.model.potentials().outputs().len();
    let field = rough::<f32>(&problem.grid, species).unwrap();
    let at = (0.4, 1e-3);
    let single = steps(problem, Tiling::of(species, potentials, 4), &field, at, 4);
    let pipeline = steps(problem, Tiling { planes, ..Tiling::pipeline() }, &field, at, 4);
    assert_ne!(single, field);
    for s in 0..species {
        let both = single.to_values(s).into_iter().zip(pipeline.to_values(s));
        for (at, (single, pipeline)) in both.enumerate() {
            let cell = problem.grid.cell(at);
            assert!(
                single == pipeline,
                "{name}: species {s} cell {cell:?}: {pipeline} for {single}"
            );
        }
    }
}

fn problem(model: &Model, shape: [usize; 3], boundaries: Boundaries) -> Problem {
    Problem::new(model.clone(), Grid::new(shape, 0.9).unwrap()).boundaries(boundaries)
}

#[test]
fn pipelines_change_no_bit_in_closed_and_periodic_boxes() {
    for (n, (name, model)) in models().iter().enumerate() {
        // Tiles that divide the box and that overlap, ghosts of one and of four rows.
        let shape = [[128, 64, 6], [100, 41, 5], [68, 36, 9], [72, 66, 4]][n];
        has_the_bits_of_single_steps(
            name,
            &problem(model, shape, Boundaries::default()),
            [0, 3][n % 2],
        );
        let mut boundaries = Boundaries::default();
        for axis in [&[0_usize][..], &[1, 2], &[0, 1, 2], &[2]][n] {
            boundaries = boundaries.axis(*axis, Boundary::Periodic);
        }
        let shape = [68, 37, 7];
        has_the_bits_of_single_steps(name, &problem(model, shape, boundaries), [2, 0][n % 2]);
    }
}

#[test]
fn pipelines_change_no_bit_beside_boundaries_that_shift() {
    let inlet = Boundary::Robin { value: 0.7, gradient: 1.3, amount: Quantity::from("1 + cos(t)") };
    let given = Boundary::Dirichlet(Quantity::from("2 + t"));
    let face = |high: bool| Face { axis: 0, high };
    for (name, model) in models() {
        if name == "alone" {
            continue;
        }
        let boundaries = Boundaries::default().species(face(false), "b", given.clone());
        let boundaries = boundaries.species(face(true), "b", inlet.clone());
        let both = if name == "crossed" {
            boundaries
        } else {
            boundaries.species(face(false), "a", inlet.clone())
        };
        let both =
            both.axis(2, if name == "still" { Boundary::Periodic } else { Boundary::NoFlux });
        has_the_bits_of_single_steps(name, &problem(&model, [100, 40, 5], both), 0);
    }
    let builtin = Builtin::Front.problem([68, 37, 6]).unwrap();
    has_the_bits_of_single_steps("the paper's front", &builtin, 4);
}

#[test]
fn what_pipelines_cannot_do_is_refused() {
    let refused = |problem: &Problem| {
        let species = problem.model.species().len();
        let field = Field::<f32>::zeros(&problem.grid, species).unwrap();
        let start = Checkpoint { field, clock: Clock::at(0.0) };
        let options = Options { force: true, ..Options::euler(1e-3) };
        let device = host::device();
        let mut simulation = Simulation::on_device(problem, start, &options, device).unwrap();
        simulation.retile(Some(Tiling::pipeline())).map_err(|error| error.to_string())
    };
    let front = Builtin::MendedFront.model().unwrap();
    let with =
        |shape: [usize; 3], boundaries: Boundaries| refused(&problem(&front, shape, boundaries));
    assert_eq!(with([68, 36, 1], Boundaries::default()), Ok(()));
    for (shape, boundaries, word) in [
        ([66, 36, 4], Boundaries::default(), "68 cells"),
        ([64, 36, 4], Boundaries::default(), "68 cells"),
        ([68, 35, 4], Boundaries::default(), "36 rows"),
        ([68, 36, 4], Boundaries::all(Boundary::Dirichlet(1.0.into())), "y and z"),
        (
            [68, 36, 4],
            Boundaries::default().species(
                Face { axis: 0, high: true },
                "c",
                Boundary::Dirichlet(1.0.into()),
            ),
            "potentials depend on",
        ),
    ] {
        let error = with(shape, boundaries).unwrap_err();
        assert!(error.contains(word), "{shape:?}: {error}");
    }
    let stencil = odeum_fields::Stencil::Star;
    let star = problem(&front, [68, 36, 4], Boundaries::default()).stencil(stencil);
    assert!(refused(&star).unwrap_err().contains("19-point"));
}
