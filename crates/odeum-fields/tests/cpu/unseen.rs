//! Steps that the field makes unstable where no judgement looks.

use crate::common::{model, one_thread};
use odeum_fields::{
    Boundaries, Boundary, Face, Field, Grid, Method, Options, Outcome, PointSource, Problem,
    Quantity, Simulation, Steps, Unstable, noise,
};
use std::ops::ControlFlow;

const RKL2: Method = Method::Rkl2 { stages: None };

/// How a row ends that begins with these values, plus or minus noise, and the values it then has.
fn run(
    equations: [(&str, &str); 2],
    (n, values): (usize, [[f64; 2]; 2]),
    (method, steps): (Method, Steps),
    end: f64,
) -> (Outcome, [Vec<f64>; 2]) {
    let problem = Problem::new(model(&equations), Grid::new([n, 1, 1], 1.0).unwrap());
    ended(&problem, values, &Options::new(method, steps), end)
}

fn ended(
    problem: &Problem,
    values: [[f64; 2]; 2],
    options: &Options,
    end: f64,
) -> (Outcome, [Vec<f64>; 2]) {
    let mut cell = 0;
    let field = Field::from_fn(&problem.grid, 2, |s, _| {
        cell += 1;
        values[s][0] + values[s][1] * (2.0 * noise(1, 0, cell) - 1.0)
    });
    let cpu = one_thread();
    let mut simulation = Simulation::new(problem, field.unwrap(), 0.0, options, cpu).unwrap();
    let outcome = simulation.advance_to(end).unwrap();
    let field = simulation.field().unwrap();
    (outcome, [0, 1].map(|s| field.to_values(s)))
}

fn is_unstable((outcome, [_, w]): &(Outcome, [Vec<f64>; 2])) -> bool {
    let is_bounded = w.iter().all(|w| w.abs() < 200.0);
    assert!(is_bounded || *outcome != Outcome::Reached, "{outcome:?} {w:?}");
    matches!(outcome, Outcome::Unstable(_))
}

/// A species that passes a threshold, at which another begins to burn: before, nothing limits the steps. w was 2e16, with success.
#[test]
fn thresholds_that_nothing_announces() {
    let warm = Boundary::Dirichlet(Quantity::from(1.0));
    let boundaries = Boundaries::default().species(Face { axis: 0, high: false }, "T", warm);
    let equations = [("T", "lap(T)"), ("w", "lap(w) - 500*select(T > 0.5, 1, 0)*w")];
    let front = Problem::new(model(&equations), Grid::new([100, 1, 1], 1.0).unwrap());
    let options = Options::new(RKL2, Steps::Fixed(0.05));
    let values = [[0.0, 0.0], [1.0, 0.0]];
    assert!(is_unstable(&ended(&front.boundaries(boundaries), values, &options, 1.0)));

    let equations = [("u", "lap(u) + 1"), ("w", "lap(w) + 3000*select(u > 0.5, 1, 0)*(1 - w)")];
    let values = [[0.0, 0.0], [0.5, 0.1]];
    assert!(is_unstable(&run(equations, (16, values), (RKL2, Steps::Fixed(0.02)), 0.7)));
}

/// What a window makes of a species that is not coupled to the largest: w was -3e7 beside an n of 1e25, with success.
#[test]
fn large_species_hide_no_others() {
    let window = "0.1*lap(w) + 10000*select(u > 0.5, select(u < 0.508, 1, 0), 0)*(1 - w)";
    let equations = [("u", "1"), ("w", window), ("n", "0.1*lap(n)")];
    let problem = Problem::new(model(&equations), Grid::new([32, 1, 1], 1.0).unwrap());
    let field = Field::<f64>::from_fn(&problem.grid, 3, |s, [x, ..]| match s {
        0 => 0.0,
        1 => 0.5 + 0.3 * (0.3 * x).cos(),
        _ => 1e25,
    });
    let options = Options::euler(0.001);
    let mut simulation =
        Simulation::new(&problem, field.unwrap(), 0.0, &options, one_thread()).unwrap();
    let outcome = simulation.advance_to(1.5).unwrap();
    assert!(matches!(outcome, Outcome::Unstable(_)), "{outcome:?}");
}

/// States that are passed between two judgements, or within a step: w stayed at 1e13 and 1e8, with success.
#[test]
fn windows_between_judgements() {
    let window = |u: &str, rate: f64| {
        let w = format!("lap(w) + {rate}*exp(0 - ((u - 0.5)/0.05)^2)*(1 - w)");
        [("u", u.to_owned()), ("w", w)]
    };
    let end = std::f64::consts::TAU;
    for (u, start, method, steps) in [
        ("0.25*sin(t)", 0.2, Method::Euler, Steps::Fraction(0.8)),
        ("0.3*sin(t)", 0.1, Method::Ssprk3, Steps::Fixed(0.4)),
    ] {
        let equations = window(u, 7000.0);
        let equations = [0, 1].map(|s| (equations[s].0, &equations[s].1[..]));
        let values = [[start, 0.0], [0.5, 0.3]];
        let ended = run(equations, (4, values), (method, steps), end);
        assert!(is_unstable(&ended), "{method:?}: {ended:?}");
        let Outcome::Unstable(Unstable { step, largest, .. }) = ended.0 else { unreachable!() };
        assert!(largest >= step, "of that time the field is harmless: {largest} {step}");
    }
    let equations =
        [("u", "15*(1 - u)"), ("w", "0.1*lap(w) + 2000*exp(0 - ((u - 0.5)/0.05)^2)*(0.5 - w)")];
    let values = [[0.0, 0.0], [0.5, 0.5]];
    let method = Method::Rkl2 { stages: Some(3) };
    let ended = run(equations, (16, values), (method, Steps::Fixed(0.25)), 1.0);
    assert!(is_unstable(&ended), "{ended:?}");
}

/// Between two judgements a checkpoint holds what no judgement has seen yet: a simulation that went on from it took that for its own,
/// and ended at 1e7 with success.
#[test]
fn checkpoints_between_judgements() {
    let window = "0.1*lap(w) + 10000*select(u > 0.5, select(u < 0.508, 1, 0), 0)*(1 - w)";
    let model = model(&[("u", "1"), ("w", window)]);
    let problem = Problem::new(model, Grid::new([32, 1, 1], 1.0).unwrap());
    let field = Field::<f64>::from_fn(&problem.grid, 2, |s, [x, ..]| match s {
        0 => 0.0,
        _ => 0.5 + 0.3 * (0.3 * x).cos(),
    });
    let field = field.unwrap();
    let options = Options::euler(0.001);
    let (mut kept, mut refused) = (0, 0);
    for last in 500..=511 {
        let mut simulation =
            Simulation::new(&problem, field.clone(), 0.0, &options, one_thread()).unwrap();
        let outcome = simulation.run_every(1.5, 1, &mut |it| match it.counts().steps {
            steps if steps == last => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        assert_eq!(outcome.unwrap(), Outcome::Stopped);
        match simulation.checkpoint() {
            Err(error) => {
                assert!(error.to_string().contains("an earlier checkpoint"), "{error}");
                assert!(simulation.clock_to_keep().unwrap().is_none());
                refused += 1;
            }
            Ok(checkpoint) => {
                let resumed = Simulation::resume(&problem, checkpoint, &options, one_thread());
                let outcome = resumed.unwrap().advance_to(1.5).unwrap();
                assert!(matches!(outcome, Outcome::Unstable(_)), "{last}: {outcome:?}");
                kept += 1;
            }
        }
    }
    assert!(kept >= 3 && refused >= 3, "{kept} {refused}");
}

/// What equations make of values is no sign of steps that are too large, whatever the units are.
#[test]
fn growth_that_equations_explain() {
    let of_euler = |h: f64| (Method::Euler, Steps::Fixed(h));
    for (equations, values, (method, steps), end) in [
        // From noise, and from almost nothing.
        (
            [("u", "lap(u) + u*(1 - u)"), ("w", "lap(w) + u*w - w^3")],
            [1e-13, 1e-20],
            of_euler(0.2),
            60.0,
        ),
        // What is made of others, in far smaller units: from the start, by a window, and around the phase of an oscillation.
        ([("u", "0.1*u*(1 - u)"), ("w", "lap(w) + 1e9*u^2")], [0.01, 0.0], of_euler(0.1), 80.0),
        (
            [("u", "0.1*(1 - u)"), ("w", "1e9*exp(0 - ((u - 0.5)/0.05)^2) - 0.01*w*u")],
            [0.0, 0.0],
            of_euler(0.1),
            80.0,
        ),
        (
            [("u", "cos(t)"), ("w", "1e9*max(0, u - 0.9)*u - 0.01*w*u^2")],
            [0.0, 0.0],
            of_euler(0.05),
            40.0,
        ),
        // By a velocity that is a species, and by what others have in their Laplacians.
        (
            [("u", "w"), ("w", "1e4*lap(u) - u^3")],
            [0.01, 0.0],
            (Method::Ssprk3, Steps::Fraction(0.8)),
            2.0,
        ),
        // An explosion.
        ([("u", "u*w"), ("w", "0 - u*w")], [1e-9, 20.0], of_euler(0.01), 4.0),
    ] {
        let values = values.map(|value| [value, 0.1 * value]);
        let (outcome, all) = run(equations, (16, values), (method, steps), end);
        assert_eq!(outcome, Outcome::Reached, "{equations:?}: {all:?}");
    }
    // A boundary and sources that nothing announces.
    let late = || Quantity::from("1e9*max(0, t - 5)");
    for boundary in
        [Boundary::Dirichlet(late()), Boundary::Robin { value: 0.0, gradient: 1.0, amount: late() }]
    {
        let face = Face { axis: 0, high: false };
        let boundaries = Boundaries::default().species(face, "w", boundary);
        let equations = [("u", "0.1*u*(1 - u)"), ("w", "lap(w) - 0.1*u*w")];
        let problem = Problem::new(model(&equations), Grid::new([16, 1, 1], 1.0).unwrap())
            .boundaries(boundaries);
        let options = Options::new(Method::Euler, Steps::Fraction(0.8));
        let (outcome, all) = ended(&problem, [[0.1, 0.0], [0.0, 0.0]], &options, 60.0);
        assert_eq!(outcome, Outcome::Reached, "{all:?}");
    }
}

/// A pulse that falls between a few times: right runs ended as not stable.
#[test]
fn fields_at_rest_are_stimulated_late() {
    let rod = Grid::new([64, 1, 1], 1.0).unwrap();
    let pulse = "exp(0 - ((t - 5)/0.02)^2)";
    let cooled = "lap(u) - 0.01*((1 + u)^4 - 1)";
    let heated = |extra: &str| Problem::new(model(&[("u", &format!("{cooled}{extra}"))]), rod);
    let rate = Quantity::from(format!("100*{pulse}").as_str());
    let source = PointSource { species: "u".to_owned(), cell: [5, 0, 0], rate };
    let warm = Boundary::Dirichlet(Quantity::from(pulse));
    let boundaries = Boundaries::default().species(Face { axis: 0, high: false }, "u", warm);
    for (problem, size) in [
        // By SciPy, but for the boundary, from which little stays.
        (heated("").source(source), 2.171962 / 64.0),
        (heated(&format!(" + 100*{pulse}")), 0.86359),
        (heated("").boundaries(boundaries), 1e-4),
    ] {
        let field = Field::<f64>::zeros(&rod, problem.model.species().len()).unwrap();
        let options = Options::new(Method::Ssprk3, Steps::Fixed(0.002));
        let mut simulation = Simulation::new(&problem, field, 0.0, &options, one_thread()).unwrap();
        assert_eq!(simulation.advance_to(10.0).unwrap(), Outcome::Reached, "{problem:?}");
        let mean = simulation.summaries().unwrap().last().unwrap().mean;
        assert!((0.5..2.0).contains(&(mean / size)), "{mean} for {size}");
    }
}

/// A source of a single step, between two judgements: where their distance came to a little more than a whole number of steps,
/// times fell beside those of the steps, and right runs ended as not stable.
#[test]
fn single_steps_are_looked_at() {
    let rod = Grid::new([16, 1, 1], 1.0).unwrap();
    let cooled = Problem::new(model(&[("u", "lap(u) - 0.01*((1 + u)^4 - 1)")]), rod);
    for h in [0.002, 0.003, 0.01] {
        for step in [550, 700, 925] {
            let rate =
                format!("select((t - {})^2 < {}, {}, 0)", step as f64 * h, 0.01 * h * h, 10.0 / h);
            let rate = Quantity::from(rate.as_str());
            let source = PointSource { species: "u".to_owned(), cell: [5, 0, 0], rate };
            let field = Field::<f64>::zeros(&rod, 1).unwrap();
            let (problem, options) = (cooled.clone().source(source), Options::euler(h));
            let mut simulation =
                Simulation::new(&problem, field, 0.0, &options, one_thread()).unwrap();
            let outcome = simulation.advance_to(1200.0 * h).unwrap();
            assert_eq!(outcome, Outcome::Reached, "step {step} of {h}");
            let sum = 16.0 * simulation.summaries().unwrap()[0].mean;
            assert!((1.0..10.0).contains(&sum), "{sum} by step {step} of {h}");
        }
    }
}

/// What begins late in a field at rest is of no size that explains another species: what unstable steps made of w was w = 210, with
/// success, for 1 at most.
#[test]
fn windows_in_fields_at_rest() {
    let window = "0.001*lap(w) + 3910.6*select(u > 0.0013246, select(u < 0.0014814, 1, 0), 0)*(1 - w) + 1e-12*x";
    let equations = [("u", "0.028088*select(t > 0.064611, 1, 0)"), ("w", window)];
    let ended = run(equations, (8, [[0.0; 2]; 2]), (Method::Euler, Steps::Fixed(0.001)), 0.3);
    assert!(is_unstable(&ended), "{ended:?}");
}

/// A limit that falls with the fourth power of what grows: the field was said to change too fast to be followed.
#[test]
fn limits_of_high_powers_are_followed() {
    let equations =
        [("u", "lap(u) + 0.01*u*(1 - u)"), ("w", "lap(w) + 10*u^4/(0.5^4 + u^4)*(0.5 - w)")];
    let values = [[0.001, 0.0], [0.5, 0.5]];
    for method in [Method::Euler, Method::Ssprk3] {
        let steps = (method, Steps::Fraction(0.8));
        let (outcome, [u, w]) = run(equations, (32, values), steps, 2000.0);
        assert_eq!(outcome, Outcome::Reached, "{method:?}");
        assert!(u.iter().all(|u| (u - 1.0).abs() < 1e-3), "{method:?}: {u:?}");
        assert!(w.iter().all(|w| (w - 0.5).abs() < 1e-3), "{method:?}: {w:?}");
    }
}
