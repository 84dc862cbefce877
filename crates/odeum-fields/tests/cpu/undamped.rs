//! What lets weakly damped waves grow, and what does not.

use crate::common::{model, one_thread};
use odeum_fields::{Field, Grid, Method, Options, Outcome, Problem, Simulation, Steps, stability};

const METHODS: [Method; 4] = [
    Method::Euler,
    Method::Ssprk3,
    Method::Rkc { stages: Some(8) },
    Method::Rkl2 { stages: Some(6) },
];

/// A row of 50 cells of 0.4.
fn row(equations: &[(&str, &str)]) -> Problem {
    Problem::new(model(equations), Grid::new([50, 1, 1], 0.4).unwrap())
}

/// Kinks at rest: within them something grows by itself, though no oscillation does. Waves grew as fast, by forward Euler to
/// u = 2e6 for 2π, with success.
#[test]
fn kinks_stay() {
    let sine = ("lap(u) - sin(u)", (|x: f64| 4.0 * x.atan()) as fn(f64) -> f64);
    let quartic =
        ("lap(u) + u - u^3", (|x: f64| (x.ln() / 2.0_f64.sqrt()).tanh()) as fn(f64) -> f64);
    for (force, kink) in [sine, quartic] {
        let problem = row(&[("u", "v"), ("v", force)]);
        let at = |x: f64| kink((x - 10.0).exp());
        let start =
            Field::<f64>::from_fn(&problem.grid, 2, |s, [x, ..]| if s == 0 { at(x) } else { 0.0 });
        let start = start.unwrap();
        for method in METHODS {
            let options = Options::new(method, Steps::Fraction(0.8));
            let mut simulation =
                Simulation::new(&problem, start.clone(), 0.0, &options, one_thread()).unwrap();
            assert_eq!(simulation.advance_to(20.0).unwrap(), Outcome::Reached);
            let end = simulation.field().unwrap().to_values(0);
            let error = |(n, u): (usize, &f64)| (u - at(0.4 * (n as f64 + 0.5))).abs();
            let worst = end.iter().enumerate().map(error).fold(0.0, f64::max);
            assert!(worst < 0.1, "{force} {method:?}: {worst}");
            let limits = stability(&problem, &start, (0.0, 20.0)).unwrap();
            assert!(limits.growth > 0.5, "{limits:?}");
        }
    }
}

/// The limits of a wave are the same beside what it is not coupled to: something that grows made them a hundred times larger.
#[test]
fn what_is_not_coupled_excuses_nothing() {
    let waves = [("u", "v"), ("v", "lap(u)")];
    let others: [&[(&str, &str)]; 3] = [
        &[("w", "w")],
        &[("w", "3*p"), ("p", "2*p - 3*w")],
        &[("w", "0.1*lap(w) + select(t > 1, w, 0)")],
    ];
    let start = |problem: &Problem| {
        let field =
            Field::<f64>::from_fn(&problem.grid, problem.model.species().len(), |s, [x, ..]| {
                if s == 0 { (-(x - 10.0).powi(2)).exp() } else { 0.0 }
            });
        field.unwrap()
    };
    for other in others {
        let (alone, beside) = (row(&waves), row(&[&waves[..], other].concat()));
        let [alone, beside] =
            [alone, beside].map(|it| stability(&it, &start(&it), (0.0, 20.0)).unwrap());
        assert!(beside.growth > 0.9 && alone.growth < 1e-9, "{beside:?}");
        for method in METHODS {
            let [alone, beside] = [&alone, &beside].map(|it| it.largest_step(method));
            assert!((beside / alone - 1.0).abs() < 1e-9, "{other:?} {method:?}: {alone} {beside}");
        }
    }
}

/// Near a stable focus a part of a field that oscillates the more lets the rest do so: that is told. FitzHugh and Nagumo's
/// medium fired for ever by steps of forward Euler, where it comes to rest.
#[test]
fn oscillations_that_others_excuse_are_told() {
    let equations = [("u", "lap(u) + u - u^3/3 - v + 0.325"), ("v", "0.08*(u + 0.7 - 0.8*v)")];
    let problem = Problem::new(model(&equations), Grid::new([60, 1, 1], 1.0).unwrap());
    let touched = |by: f64| {
        let field = Field::<f64>::from_fn(&problem.grid, 2, |s, [x, ..]| match s {
            0 => -0.9723 + by * (-(x - 50.0).powi(2) / 20.0).exp(),
            _ => -0.3404,
        });
        stability(&problem, &field.unwrap(), (0.0, 600.0)).unwrap()
    };
    let text = |by: f64, method: Method, part: f64| {
        let limits = touched(by);
        limits.oscillation_warning(method, part * limits.largest_step(method))
    };
    let told = text(0.2, Method::Euler, 0.8);
    assert!(told.as_ref().is_some_and(|told| told.contains("ssprk3 takes steps to")), "{told:?}");
    assert_eq!(text(0.2, Method::Ssprk3, 0.8), None);
    // At rest steps are those at which it stays there.
    assert_eq!(text(0.0, Method::Euler, 1.0), None);
    assert!((0.1..0.2).contains(&touched(0.0).euler), "{:?}", touched(0.0));
}
