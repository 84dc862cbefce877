//! A field that is the same everywhere is a system of ordinary equations in every cell: by the
//! same method and the same steps both engines give the same answer.

use crate::common::advanced;
use odeum_core::text::TextSource;
use odeum_fields::{Boundaries, Boundary, Field, Grid, Method, ModelText, Options, Problem, Steps};
use odeum_ode::method::erk::Tableau;
use odeum_ode::{Controller, Device, DynSystem, Ensemble, Erk, Rkc, Solution, Solver, Tolerance};

/// The Brusselator with a push, and what diffuses beside it.
const REACTIONS: [(&str, &str); 2] =
    [("u", "A - (B + 1) * u + u^2 * v + 0.2 * sin(3 * t)"), ("v", "B * u - u^2 * v")];
const DIFFUSIONS: [&str; 2] = ["0.02 * lap(u)", "0.05 * lap(v)"];
const PARAMS: [(&str, f64); 2] = [("A", 1.1), ("B", 3.2)];
const START: [f64; 2] = [1.3, 2.7];

/// A power of two: all times are exact on both sides.
const H: f64 = 1.0 / 128.0;
const STEPS: u32 = 512;

/// Forward Euler.
static EULER: Tableau = Tableau {
    name: "euler",
    order: 1,
    embedded_order: 1,
    c: &[0.0],
    a: &[&[]],
    b: &[1.0],
    e: &[0.0],
    reference: "Euler 1768",
};

/// The answer of the ensemble.
fn solve(method: &odeum_ode::Method, options: &odeum_ode::Options) -> Solution<f64> {
    let text = TextSource {
        states: vec!["u", "v"],
        params: PARAMS.iter().map(|(name, _)| *name).collect(),
        equations: REACTIONS.to_vec(),
        ..TextSource::default()
    };
    let params = PARAMS.iter().map(|(_, value)| *value).collect();
    let span = (0.0, f64::from(STEPS) * H);
    let ensemble = Ensemble::new(2, START.to_vec(), span).unwrap().with_params(params).unwrap();
    let system = DynSystem::from(text.read().unwrap().tape());
    let solver = Solver::new(system, method, &Device::cpu(), options).unwrap();
    let solution = solver.solve(&ensemble).unwrap();
    assert!(solution.all_succeeded());
    solution
}

/// The same by steps of one size, and the evaluations of the right-hand side it took.
fn ensemble(method: &odeum_ode::Method) -> (Vec<f64>, u64) {
    let solution = solve(method, &odeum_ode::Options::new(Tolerance::new(1e-3, 1e-3)));
    let stats = solution.stats[0];
    assert_eq!((stats.steps, stats.rejected), (STEPS, 0));
    (solution.y(0), u64::from(stats.nfev))
}

/// Fields of several shapes between boundaries that let nothing pass and without boundaries: all cells have
/// the same bits, and differ from the answer of the ensemble by roundings.
fn check(options: &Options, method: &odeum_ode::Method) {
    let (wanted, _) = ensemble(method);
    let equations: Vec<String> =
        (0..2).map(|s| format!("{} + {}", DIFFUSIONS[s], REACTIONS[s].1)).collect();
    let text = ModelText {
        species: vec!["u", "v"],
        params: PARAMS.to_vec(),
        equations: vec![("u", &equations[0]), ("v", &equations[1])],
        ..ModelText::default()
    };
    let model = text.read().unwrap().0;
    for shape in [[11, 5, 4], [21, 9, 1], [33, 1, 1]] {
        for boundary in [Boundary::NoFlux, Boundary::Periodic] {
            let grid = Grid::new(shape, 0.3).unwrap();
            let problem =
                Problem::new(model.clone(), grid).boundaries(Boundaries::all(boundary.clone()));
            let start = Field::<f64>::from_fn(&grid, 2, |s, _| START[s]).unwrap();
            let end = advanced(&problem, start, options, f64::from(STEPS) * H);
            for (s, wanted) in wanted.iter().enumerate() {
                let values = end.to_values(s);
                assert!(values.iter().all(|value| *value == values[0]), "{shape:?} {boundary:?}");
                let error = (values[0] / wanted - 1.0).abs();
                assert!(error < 1e-13, "{shape:?} {boundary:?} {s}: {error:e}");
            }
        }
    }
}

#[test]
fn forward_euler_is_that_of_the_ensemble() {
    let method =
        odeum_ode::Method::Erk(Erk { controller: Controller::fixed(H), ..Erk::new(&EULER) });
    check(&Options::euler(H), &method);
}

#[test]
fn runge_kutta_chebyshev_is_that_of_the_ensemble() {
    let stages = 7_u32;
    // The ensemble takes 1 + ⌊√(1 + 1.54 h σ)⌋ stages.
    let bound = (f64::from(stages - 1).powi(2) + 1.0) / (1.54 * H);
    let method = odeum_ode::Method::Rkc(Rkc {
        radius_bound: Some(bound),
        controller: Controller::fixed(H),
        ..Rkc::default()
    });
    assert_eq!(ensemble(&method).1, 1 + u64::from(STEPS * stages));
    let options = Options::new(Method::Rkc { stages: Some(stages) }, Steps::Fixed(H));
    check(&options, &method);
}

/// By other methods and steps, to the tolerance.
#[test]
fn adaptive_steps_come_to_the_answer_of_another_method() {
    let text = ModelText {
        species: vec!["u", "v"],
        params: PARAMS.to_vec(),
        equations: REACTIONS.to_vec(),
        ..ModelText::default()
    };
    let grid = Grid::new([6, 5, 4], 1.0).unwrap();
    let problem = Problem::new(text.read().unwrap().0, grid);
    let start = Field::<f64>::from_fn(&grid, 2, |s, _| START[s]).unwrap();
    let steps = Steps::Adaptive(Tolerance::new(1e-9, 1e-11));
    let options = Options::new(Method::Rkc { stages: None }, steps);
    let end = advanced(&problem, start, &options, f64::from(STEPS) * H);
    let tight = odeum_ode::Options::new(Tolerance::new(1e-12, 1e-14));
    let solution = solve(&odeum_ode::Method::dopri5(), &tight);
    for (s, wanted) in solution.y(0).iter().enumerate() {
        let values = end.to_values(s);
        assert!(values.iter().all(|value| *value == values[0]));
        assert!((values[0] - wanted).abs() < 1e-6, "{} {wanted}", values[0]);
    }
}

/// The spectral radius becomes twenty times as large within 25 steps: steps of one size have the stages that it needs at the moment.
/// With those of the start u was 5e78, with success.
#[test]
fn ensembles_follow_a_radius_that_grows() {
    let text = TextSource {
        states: vec!["a", "u", "v"],
        equations: vec![("a", "0.5*a*(1 - a/20)"), ("u", "10*a*(v - u)"), ("v", "10*a*(u - v)")],
        ..TextSource::default()
    };
    let ensemble = Ensemble::new(3, vec![1.0, 1.0, 0.9], (0.0, 12.0)).unwrap();
    let system = DynSystem::from(text.read().unwrap().tape());
    let method =
        odeum_ode::Method::Rkc(Rkc { controller: Controller::fixed(0.25), ..Rkc::default() });
    let options = odeum_ode::Options::new(Tolerance::new(1e-4, 1e-8));
    let solver = Solver::new(system, &method, &Device::cpu(), &options).unwrap();
    let solution = solver.solve(&ensemble).unwrap();
    assert!(solution.all_succeeded());
    let end: Vec<f64> = solution.y(0);
    assert!((end[1] - 0.95).abs() < 1e-3 && (end[2] - 0.95).abs() < 1e-3, "{end:?}");
}
