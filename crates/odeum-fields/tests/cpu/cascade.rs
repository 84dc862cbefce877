//! Several steps in one pass against single steps, bit for bit.

use crate::common::{mixed_boundaries, model};
use odeum_fields::{
    Advection, Boundaries, Boundary, Combination, Engine, Field, Grid, PointSource, Precision,
    Problem, Quantity, Stencil, Velocity, noise,
};
use odeum_ode::{Cpu, Isa};

fn problem(shape: [usize; 3], equations: &[(&'static str, &'static str)]) -> Problem {
    Problem::new(model(equations), Grid::new(shape, 0.8).unwrap())
}

/// Compares 1 to 5 steps at once with as many single ones by one thread.
fn check<T: Precision>(problem: &Problem, isa: Isa) {
    let one = Engine::<T>::new(problem, &Cpu { threads: Some(1), isa }).unwrap();
    let species = problem.model.species().len();
    let mut cell = 0;
    let start = Field::<T>::from_fn(&problem.grid, species, |s, _| {
        cell += 1;
        0.5 + 0.3 * noise(3, s, cell)
    })
    .unwrap();
    let (h, t) = (0.01, 0.4);
    let mut wanted = start.clone();
    let mut times = Vec::new();
    for steps in 1..=5 {
        times.push(t + (steps - 1) as f64 * h);
        let mut next = one.zeros().unwrap();
        let what = Combination { rhs: h, own: None, terms: &[(1.0, &wanted)] };
        assert!(one.sweep(times[steps - 1], &wanted, &what, &mut next));
        wanted = next;
        for threads in [1, 2, 5] {
            let engine = Engine::<T>::new(problem, &Cpu { threads: Some(threads), isa }).unwrap();
            assert!(engine.most_steps() >= 5);
            let mut found = engine.zeros().unwrap();
            assert!(engine.steps(&times, h, &start, &mut found));
            let shape = problem.grid.shape();
            assert!(found == wanted, "{shape:?} {} {isa} {steps} steps, {threads}", T::NAME);
        }
    }
}

const SHAPES: [[usize; 3]; 8] = [
    [37, 19, 5],
    [64, 9, 30],
    [5, 40, 3],
    [130, 2, 7],
    [129, 1, 1],
    [70, 33, 1],
    [3, 1, 21],
    [1, 6, 1],
];

#[test]
fn diffusion_and_programs_between_boundaries_of_all_kinds() {
    let turing = [("u", "0.3*lap(u) + u - u^3 - v"), ("v", "0.5*lap(v) + 2*(u - 0.5*v*x*y*z - t)")];
    let front = [
        ("a", "0.3*lap(a) - 0.2*a*c"),
        (
            "c",
            "0.2*a*c - 0.1*lap(c - c^3 + t*y + 0.2*lap(c)) + 0.05*lap(c*a + 0.3*lap(a) + lap(c))",
        ),
    ];
    for shape in SHAPES {
        for equations in [&[("c", "lap(c)")][..], &turing[..], &front[..]] {
            let plain = problem(shape, equations);
            let round =
                Boundaries::default().axis(1, Boundary::Periodic).axis(2, Boundary::Periodic);
            for boundaries in [
                Boundaries::default(),
                mixed_boundaries(),
                round,
                Boundaries::all(Boundary::Periodic),
            ] {
                let problem = plain.clone().boundaries(boundaries);
                check::<f32>(&problem, Isa::best());
                check::<f64>(&problem, Isa::best());
            }
            for isa in Isa::available() {
                check::<f32>(&plain.clone().stencil(Stencil::Star), isa);
            }
        }
    }
}

#[test]
fn velocities_and_sources_that_change() {
    let velocity = ["0.4", "-0.2", "0.3*cos(9*t)"].map(Quantity::from);
    for boundaries in [Boundaries::default(), Boundaries::all(Boundary::Periodic)] {
        let source =
            PointSource { species: "c".to_owned(), cell: [3, 0, 4], rate: Quantity::from("1 + t") };
        let problem = problem([37, 19, 5], &[("c", "lap(c)")])
            .boundaries(boundaries)
            .velocity(Velocity::Uniform(velocity.clone()), Advection::Upwind)
            .source(source);
        check::<f32>(&problem, Isa::best());
        check::<f64>(&problem, Isa::best());
    }
}

#[test]
fn what_is_not_finite_on_the_way_is_seen() {
    let problem = problem([20, 6, 6], &[("c", "lap(c) + 1/(c - 1)")]);
    let engine = Engine::<f64>::new(&problem, &Cpu { threads: Some(2), isa: Isa::best() }).unwrap();
    let mut u = Field::<f64>::from_fn(&problem.grid, 1, |_, _| 0.5).unwrap();
    let mut out = engine.zeros().unwrap();
    assert!(engine.steps(&[0.0, 0.1], 0.1, &u, &mut out));
    u.set(0, [7, 3, 5], 1.0);
    assert!(!engine.steps(&[0.0, 0.1], 0.1, &u, &mut out));
}

#[test]
fn what_reads_further_away_is_stepped_singly() {
    let cpu = Cpu { threads: Some(1), isa: Isa::best() };
    let velocity = Velocity::Uniform(["1", "0", "0"].map(Quantity::from));
    let koren = problem([8, 8, 8], &[("c", "lap(c)")]).velocity(velocity, Advection::Koren);
    assert_eq!(Engine::<f64>::new(&koren, &cpu).unwrap().most_steps(), 1);
}
