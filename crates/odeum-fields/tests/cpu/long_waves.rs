//! What grows in waves far longer than cells, and far below the tolerance.

use crate::common::{model, one_thread};
use odeum_fields::{
    Advection, Boundaries, Boundary, Field, Grid, Method, Options, Outcome, Problem, Quantity,
    Simulation, Steps, Velocity, noise, stability,
};
use odeum_ode::Tolerance;

/// Schnakenberg: a wave grows though what is the same everywhere decays.
const TURING: [(&str, &str); 2] =
    [("u", "lap(u) + 0.1 - u + u^2*v"), ("v", "20*lap(v) + 0.9 - u^2*v")];
const SWIFT_HOHENBERG: [(&str, &str); 1] = [("u", "-0.7*u - 2*lap(u) - lap(lap(u)) - u^3")];
const CAHN_HILLIARD: [(&str, &str); 1] = [("u", "lap(u^3 - u - lap(u))")];

/// The state at rest, of u and v.
fn at_rest(equations: &[(&str, &str)]) -> [f64; 2] {
    if equations.len() == 2 { [1.0, 0.9] } else { [0.0; 2] }
}

fn periodic(equations: &[(&str, &str)], shape: [usize; 3], spacing: f64) -> Problem {
    let grid = Grid::new(shape, spacing).unwrap();
    Problem::new(model(equations), grid).boundaries(Boundaries::all(Boundary::Periodic))
}

fn growth(problem: &Problem, equations: &[(&str, &str)]) -> f64 {
    let of = |s: usize, _| at_rest(equations)[s];
    let field = Field::<f64>::from_fn(&problem.grid, equations.len(), of).unwrap();
    stability(problem, &field, (0.0, 1.0)).unwrap().growth
}

fn uniform(parts: [&str; 3]) -> Velocity {
    Velocity::Uniform(parts.map(Quantity::from))
}

/// The first waves that were looked at were a part of the shortest: on fine grids nothing grew.
#[test]
fn growth_does_not_depend_on_the_grid() {
    let models: [(&[(&str, &str)], f64); 3] =
        [(&TURING, 0.263_46), (&SWIFT_HOHENBERG, 0.3), (&CAHN_HILLIARD, 0.25)];
    for (equations, wanted) in models {
        for per_length in [1, 2, 3, 4, 8, 20] {
            let problem = periodic(equations, [64 * per_length, 1, 1], 1.0 / per_length as f64);
            let found = growth(&problem, equations);
            let name = format!("{} {per_length}: {found}", equations[0].1);
            assert!((found / wanted - 1.0).abs() < 0.01, "{name}");
            if per_length < 3 {
                continue;
            }
            // The velocity carries waves, and Koren's scheme lets long ones be.
            let carried = problem.velocity(uniform(["0.5", "0", "0"]), Advection::Koren);
            let found = growth(&carried, equations);
            assert!((found / wanted - 1.0).abs() < 0.02, "{name} carried: {found}");
        }
        // Across a velocity upwinding damps nothing.
        let plane = periodic(equations, [128, 96, 1], 0.25);
        for velocity in [["3", "0", "0"], ["0", "cos(t)", "0"]] {
            let carried = plane.clone().velocity(uniform(velocity), Advection::Upwind);
            let found = growth(&carried, equations);
            assert!(
                (found / wanted - 1.0).abs() < 0.01,
                "{} {velocity:?}: {found}",
                equations[0].1
            );
        }
    }
    // Where a velocity carries one of two species alone, across it nothing changes.
    let grid = Grid::new([128, 128, 1], 0.25).unwrap();
    let boundaries = Boundaries::all(Boundary::Periodic);
    let mut oblique = Problem::new(model(&TURING), grid)
        .boundaries(boundaries)
        .velocity(uniform(["40", "30", "0"]), Advection::Koren);
    oblique.advected = Some(vec!["u".to_owned()]);
    let found = growth(&oblique, &TURING);
    assert!(found > 0.26, "{found}");
}

/// Steps over which a wave grows by more than e² were taken on the finer grid.
#[test]
fn steps_see_the_growth_of_long_waves() {
    for (n, spacing) in [(64, 1.0), (256, 0.25)] {
        let problem = periodic(&SWIFT_HOHENBERG, [n, 1, 1], spacing);
        let field = Field::<f64>::from_fn(&problem.grid, 1, |_, _| 0.0).unwrap();
        let limits = stability(&problem, &field, (0.0, 30.0)).unwrap();
        let largest = limits.largest_step(Method::Rkl2 { stages: None });
        assert!((largest * 0.3 / 2.0 - 1.0).abs() < 0.01, "{spacing}: {largest}");
    }
}

/// How far u lies from its mean, and the steps.
fn spread(problem: &Problem, steps: Steps, method: Method, end: f64) -> (f64, u64) {
    let mut cell = 0;
    let field = Field::<f64>::from_fn(&problem.grid, 2, |s, _| {
        cell += 1;
        at_rest(&TURING)[s] + 1e-9 * noise(1, 0, cell)
    });
    let options = Options::new(method, steps);
    let mut simulation =
        Simulation::new(problem, field.unwrap(), 0.0, &options, one_thread()).unwrap();
    assert_eq!(simulation.advance_to(end).unwrap(), Outcome::Reached);
    let u = simulation.field().unwrap().to_values(0);
    let mean = u.iter().sum::<f64>() / u.len() as f64;
    let square = u.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / u.len() as f64;
    (square.sqrt(), simulation.counts().steps)
}

/// A pattern that grows from far below the tolerance: by 33 steps it was a tenth of what it is.
#[test]
fn patterns_on_fine_grids_grow_in_time() {
    let problem = periodic(&TURING, [256, 1, 1], 0.25);
    let small = Steps::Fixed(0.05);
    let (wanted, _) = spread(&problem, small, Method::Rkl2 { stages: None }, 90.0);
    let adaptive = Steps::Adaptive(Tolerance::new(1e-4, 1e-4));
    let (found, steps) = spread(&problem, adaptive, Method::Rkc { stages: None }, 90.0);
    assert!((found / wanted - 1.0).abs() < 0.2 && steps < 1000, "{found} {wanted} {steps}");
}

/// The mean of each species after adaptive steps of the same everywhere, and the steps.
fn alike(
    equations: &[(&str, &str)],
    start: [f64; 2],
    (from, end): (f64, f64),
    tolerance: Tolerance,
) -> (Vec<f64>, u64) {
    let grid = Grid::new([16, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(equations), grid);
    let field = Field::<f64>::from_fn(&grid, equations.len(), |s, _| start[s]).unwrap();
    let options = Options::new(Method::Rkc { stages: None }, Steps::Adaptive(tolerance));
    let mut simulation = Simulation::new(&problem, field, from, &options, one_thread()).unwrap();
    let outcome = simulation.advance_to(end).unwrap();
    assert_eq!(outcome, Outcome::Reached, "{equations:?} from {from}");
    let means = simulation.summaries().unwrap().iter().map(|species| species.mean).collect();
    (means, simulation.counts().steps)
}

/// Steps that are short beside the growth of an oscillation, and not beside its turns, made too much of it: 1 for 5e-5.
#[test]
fn oscillations_grow_unseen_as_fast_as_they_do() {
    for (rate, turn, end) in [(0.5, 5.0, 40.0), (1.0, 10.0, 20.0), (1.0, 1.0, 20.0)] {
        let u = format!("lap(u) + {rate}*u - {turn}*v - {rate}*(u^2 + v^2)*u");
        let v = format!("lap(v) + {turn}*u + {rate}*v - {rate}*(u^2 + v^2)*v");
        let equations = [("u", &u[..]), ("v", &v[..])];
        let tolerance = Tolerance::new(1e-4, 1e-6);
        let (found, steps) = alike(&equations, [1e-13, 0.0], (0.0, end), tolerance);
        let size = found[0].hypot(found[1]);
        let wanted = 1e-13 * (rate * end).exp();
        let wanted = wanted / (1.0 + wanted * wanted).sqrt();
        assert!((size / wanted - 1.0).abs() < 0.05, "{turn}: {size} {wanted}, {steps} steps");
    }
}

/// Growth by e³⁰ below the tolerance lost a tenth by any.
#[test]
fn unseen_growth_is_as_accurate_as_asked_for() {
    let wanted = 1.0 / (1.0 + (1e13 - 1.0) * (-30.0_f64).exp());
    for (tolerance, most) in [(1e-2, 0.12), (1e-4, 0.012), (1e-8, 0.01)] {
        let equations = [("u", "lap(u) + u*(1 - u)")];
        let both = Tolerance::new(tolerance, tolerance);
        let (found, steps) = alike(&equations, [1e-13, 0.0], (0.0, 30.0), both);
        let error: f64 = found[0] / wanted - 1.0;
        assert!(error.abs() < most, "{tolerance}: {error}, {steps} steps");
    }
}

/// Cells that differ by as much as they hold were left to the error as soon as they came to `atol`: a quarter of them was lost by any
/// tolerance.
#[test]
fn growth_from_uneven_seeds_is_not_lost_near_the_tolerance() {
    let grid = Grid::new([64, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "0.01*lap(u) + u*(1 - u)")]), grid);
    for tolerance in [Tolerance::new(1e-4, 1e-6), Tolerance::new(1e-6, 1e-8)] {
        let wave = |x: f64| 1e-10 * (1.0 + 0.5 * (std::f64::consts::PI * x / 64.0).cos());
        let field = Field::<f64>::from_fn(&grid, 1, |_, [x, ..]| wave(x)).unwrap();
        let options = Options::new(Method::Rkc { stages: None }, Steps::Adaptive(tolerance));
        let mut simulation = Simulation::new(&problem, field, 0.0, &options, one_thread()).unwrap();
        assert_eq!(simulation.advance_to(20.0).unwrap(), Outcome::Reached);
        // By SciPy's DOP853.
        let u = simulation.summaries().unwrap()[0];
        assert!((u.max / 0.0678 - 1.0).abs() < 0.025, "{u:?}");
    }
}

/// A rate that differs from cell to cell, as a species that nothing changes, switched the guard off: three steps made 1e-7 of it.
#[test]
fn coefficients_that_nothing_changes_leave_growth_guarded() {
    let grid = Grid::new([64, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "lap(u) + r*u*(1 - u)"), ("r", "0")]), grid);
    let field = Field::<f64>::from_fn(&grid, 2, |s, [x, ..]| match s {
        0 => 1e-13,
        _ => 1.0 + 0.1 * (std::f64::consts::TAU * x / 64.0).sin(),
    });
    let options =
        Options::new(Method::Rkc { stages: None }, Steps::Adaptive(Tolerance::new(1e-4, 1e-4)));
    let mut simulation =
        Simulation::new(&problem, field.unwrap(), 0.0, &options, one_thread()).unwrap();
    assert_eq!(simulation.advance_to(30.0).unwrap(), Outcome::Reached);
    // By SciPy's LSODA from 0.080 to 0.939.
    let u = simulation.summaries().unwrap()[0];
    assert!((0.05..0.08).contains(&u.min) && (0.9..0.95).contains(&u.max), "{u:?}");
}

/// What is zero and would grow within the rounding of the time ended the run: its step was too small.
#[test]
fn zeros_of_fast_growth_do_not_end_late_runs() {
    for (t, rate) in [(1.0_f64, 1e16), (1e6, 1e12), (-1e6, 1e15)] {
        let equation = format!("lap(u) + {rate:?}*u*(1 - u)");
        let span = (t, t + 1e-11 * t.abs());
        let (found, _) = alike(&[("u", &equation)], [0.0; 2], span, Tolerance::new(1e-4, 1e-4));
        assert_eq!(found, [0.0], "{rate} at {t}");
    }
}
