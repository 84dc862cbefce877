//! Going on from a checkpoint by other steps, with another problem, or with a clock that was changed; and fields that fit no problem.

use crate::common::{model, one_thread};
use odeum_fields::{
    Checkpoint, Clock, Counts, Face, Field, Grid, Method, ModelText, Options, Outcome, Problem,
    Simulation, Steps, stability,
};
use odeum_ode::Tolerance;
use std::ops::ControlFlow;

fn decay() -> (Problem, Field<f64>) {
    let grid = Grid::new([1, 1, 1], 1.0).unwrap();
    (Problem::new(model(&[("u", "-u")]), grid), Field::from_fn(&grid, 1, |_, _| 1.0).unwrap())
}

fn begin(problem: &Problem, start: &Field<f64>, options: &Options) -> Simulation<f64> {
    Simulation::new(problem, start.clone(), 0.0, options, one_thread()).unwrap()
}

fn go_on(
    problem: &Problem,
    from: &Simulation<f64>,
    options: &Options,
) -> Result<Simulation<f64>, odeum_ode::Error> {
    Simulation::resume(problem, from.checkpoint().unwrap(), options, one_thread())
}

/// The time was that of the origin and the steps since then, in steps of the new size.
#[test]
fn other_steps_begin_at_the_time_of_the_checkpoint() {
    let (problem, start) = decay();
    let adaptive = Steps::Adaptive(Tolerance::new(1e-6, 1e-8));
    let all = [
        Options::euler(0.01),
        Options::euler(0.02),
        Options::new(Method::Euler, Steps::Fraction(0.01)),
        Options::new(Method::Ssprk3, Steps::Fixed(0.1)),
        Options::new(Method::Rkc { stages: None }, Steps::Fixed(0.05)),
        Options::new(Method::Rkc { stages: None }, adaptive),
    ];
    for before in &all {
        for after in &all {
            let mut first = begin(&problem, &start, before);
            first.advance_to(0.5).unwrap();
            let mut second = go_on(&problem, &first, after).unwrap();
            assert_eq!(second.t(), 0.5);
            assert_eq!(second.advance_to(1.0).unwrap(), Outcome::Reached);
            let u = second.field().unwrap().get(0, [0, 0, 0]);
            let steps = second.counts().steps;
            assert!(
                (u - (-1.0_f64).exp()).abs() < 5e-3,
                "{before:?} {after:?}: {u}, {steps} steps"
            );
            assert_eq!(second.t(), 1.0);
            assert_eq!(second.clock().start, if before == after { 0.0 } else { 0.5 });
        }
    }
}

/// Where steps have become unstable a run can go on by smaller ones: time went back.
#[test]
fn smaller_steps_go_on_after_unstable_ones() {
    let grid = Grid::new([4, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "u^2")]), grid);
    let start = Field::from_fn(&grid, 1, |_, _| 1.0).unwrap();
    let mut large = begin(&problem, &start, &Options::euler(0.05));
    let Outcome::Unstable(unstable) = large.advance_to(6.0).unwrap() else { panic!("stable") };
    let mut small = go_on(&problem, &large, &Options::euler(1e-3)).unwrap();
    assert_eq!(small.advance_to(unstable.t + 0.004).unwrap(), Outcome::Reached);
    assert_eq!((small.t(), small.counts().steps), (unstable.t + 0.004, 4));
}

/// Its steps count as judged where the simulation began, which was with another problem.
#[test]
fn steps_of_another_problem_are_judged() {
    let grid = Grid::new([32, 1, 1], 1.0).unwrap();
    let text = ModelText {
        species: vec!["u"],
        params: vec![("D", 1.0)],
        equations: vec![("u", "D * lap(u)")],
        ..ModelText::default()
    };
    let slow = text.read().unwrap().0;
    let fast = Problem::new(slow.clone().with_param("D", 10.0).unwrap(), grid);
    let slow = Problem::new(slow, grid);
    let start = Field::from_fn(&grid, 1, |_, [x, ..]| if x < 16.0 { 1.0 } else { 0.0 }).unwrap();
    for (method, h) in [
        (Method::Euler, 0.4),
        (Method::Ssprk3, 0.5),
        (Method::Rkc { stages: Some(4) }, 2.0),
        (Method::Rkl2 { stages: Some(5) }, 2.0),
    ] {
        let fixed = Options::new(method, Steps::Fixed(h));
        let mut simulation = begin(&slow, &start, &fixed);
        simulation.advance_to(4.0).unwrap();
        let error = go_on(&fast, &simulation, &fixed).unwrap().advance_to(40.0).unwrap_err();
        assert!(error.to_string().contains("stable up to"), "{error}");
        let stable = Options::new(method, Steps::Fraction(0.8));
        let mut simulation = begin(&slow, &start, &stable);
        simulation.advance_to(4.0).unwrap();
        let mut faster = go_on(&fast, &simulation, &stable).unwrap();
        assert_eq!(faster.advance_to(40.0).unwrap(), Outcome::Reached);
        let largest = faster.summaries().unwrap()[0].max;
        assert!(largest <= 1.0, "{method:?}: {largest}");
    }
}

/// Arrays of a problem tell it apart too.
#[test]
fn other_coefficients_are_another_problem() {
    let grid = Grid::new([8, 1, 1], 1.0).unwrap();
    let of = |last: f64| {
        let mut coefficients = vec![0.1; 8];
        coefficients[7] = last;
        Problem::new(model(&[("u", "0")]), grid).diffusion("u", coefficients)
    };
    let start = Field::from_fn(&grid, 1, |_, [x, ..]| x).unwrap();
    let options = Options::euler(0.01);
    let mut simulation = begin(&of(0.1), &start, &options);
    simulation.advance_to(0.1).unwrap();
    let counts = |problem: &Problem| go_on(problem, &simulation, &options).unwrap().counts().steps;
    assert_eq!((counts(&of(0.1)), counts(&of(0.2))), (10, 0));
}

#[test]
fn clocks_that_were_changed_are_refused() {
    let (problem, start) = decay();
    let fraction = Options::new(Method::Euler, Steps::Fraction(0.01));
    let adaptive = Steps::Adaptive(Tolerance::new(1e-6, 1e-8));
    let adaptive = Options::new(Method::Rkc { stages: None }, adaptive);
    for options in [&Options::euler(0.01), &fraction] {
        let mut simulation = begin(&problem, &start, options);
        simulation.advance_to(0.505).unwrap();
        let clock = simulation.clock();
        let resume = |clock: Clock| {
            let field = simulation.field().unwrap().into_owned();
            let resumed =
                Simulation::resume(&problem, Checkpoint { field, clock }, options, one_thread());
            resumed.map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(resume(clock), Ok(()));
        let changed = resume(Clock { since_origin: clock.since_origin + 5, ..clock }).unwrap_err();
        assert!(changed.contains("Clock::at"), "{changed}");
        assert!(resume(Clock { origin: clock.origin + 0.25, ..clock }).is_err());
        assert!(resume(Clock { t: clock.t + 0.25, ..clock }).is_err());
        for bad in [f64::NAN, f64::INFINITY] {
            let error = resume(Clock { origin: bad, ..clock }).unwrap_err();
            assert!(error.contains("clock.origin"), "{error}");
            assert!(resume(Clock { start: bad, ..clock }).is_err());
            assert!(resume(Clock { next_step: bad, ..clock }).is_err());
        }
        for bad in [f64::NAN, -1.0] {
            assert!(resume(Clock { radius: bad, ..clock }).is_err());
            assert!(resume(Clock { largest: bad, ..clock }).is_err());
            assert!(resume(Clock { allowed_growth: bad, ..clock }).is_err());
            assert!(resume(Clock { grown: bad, ..clock }).is_err());
            assert!(resume(Clock { next_step: bad, ..clock }).is_err());
        }
    }
    let mut simulation = begin(&problem, &start, &adaptive);
    simulation.advance_to(0.5).unwrap();
    // Counts whose sums are none.
    let clock = simulation.clock();
    for (name, counts) in [
        ("steps", Counts { steps: u64::MAX, ..clock.counts }),
        ("rejected", Counts { rejected: u64::MAX, ..clock.counts }),
        ("sweeps", Counts { sweeps: u64::MAX, ..clock.counts }),
    ] {
        let (field, clock) = (simulation.field().unwrap().into_owned(), Clock { counts, ..clock });
        let checkpoint = Checkpoint { field, clock };
        let error = Simulation::resume(&problem, checkpoint, &adaptive, one_thread()).map(drop);
        assert!(error.unwrap_err().to_string().contains(&format!("clock.counts.{name}")));
    }
    let Checkpoint { field, clock } = simulation.checkpoint().unwrap();
    let clock = Clock { control: [f64::NAN; 4], ..clock };
    let checkpoint = Checkpoint { field, clock };
    assert!(Simulation::resume(&problem, checkpoint, &adaptive, one_thread()).is_err());
}

/// A rejected step asks for another spectral radius, by the number of steps since the last.
#[test]
fn checkpoints_after_rejected_steps_are_gone_on_from() {
    let grid = Grid::new([1, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "1000 * sin(300 * t) - u")]), grid);
    let start = Field::from_fn(&grid, 1, |_, _| 1.0).unwrap();
    let adaptive = Steps::Adaptive(Tolerance::new(1e-4, 1e-6));
    let options = Options::new(Method::Rkc { stages: None }, adaptive);
    let mut whole = begin(&problem, &start, &options);
    assert_eq!(whole.advance_to(0.1).unwrap(), Outcome::Reached);
    let mut simulation = begin(&problem, &start, &options);
    let stopped = simulation.run(0.1, &mut |simulation| match simulation.counts().rejected {
        0 => ControlFlow::Continue(1),
        _ => ControlFlow::Break(()),
    });
    assert_eq!(stopped.unwrap(), Outcome::Stopped);
    let mut second = go_on(&problem, &simulation, &options).unwrap();
    assert_eq!(second.advance_to(0.1).unwrap(), Outcome::Reached);
    assert_eq!(second.field().unwrap(), whole.field().unwrap());
}

#[test]
fn refusals_say_what_was_given() {
    let (problem, start) = decay();
    let of = |options: &Options| {
        Simulation::new(&problem, start.clone(), 0.0, options, one_thread())
            .map_err(|error| error.to_string())
    };
    let steps = |options: &Options| {
        let mut simulation = of(options).unwrap();
        simulation.run_steps(3, 0, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string()
    };
    let rkc = |tolerance| Options::new(Method::Rkc { stages: None }, Steps::Adaptive(tolerance));
    let fraction = steps(&Options::new(Method::Euler, Steps::Fraction(0.5)));
    assert!(fraction.contains("a fraction of the largest"), "{fraction}");
    assert!(steps(&rkc(Tolerance::new(1e-4, 1e-6))).contains("adaptive"));
    let Err(atol) = of(&rkc(Tolerance::per_component(1e-4, vec![1e-6; 3]))) else { panic!() };
    assert!(atol.contains("3 values") && atol.contains("each of the 1 species"), "{atol}");
    let Err(none) = of(&Options { max_steps: 0, ..Options::euler(0.01) }) else { panic!() };
    assert!(none.contains("max_steps") && none.contains("at least 1"), "{none}");
}

/// Fields of other grids panicked; what is not finite had limits.
#[test]
fn limits_are_those_of_fields_that_fit() {
    let grid = Grid::new([16, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("c", "0.1 * lap(c)")]), grid);
    let other = Grid::new([3, 3, 3], 1.0).unwrap();
    let start = Field::<f64>::from_fn(&grid, 1, |_, [x, ..]| x).unwrap();
    let mut bad = start.clone();
    bad.set(0, [5, 0, 0], f64::NAN);
    for (field, span, words) in [
        (&Field::zeros(&other, 1).unwrap(), (0.0, 1.0), "field: found [3, 3, 3] cells"),
        (&Field::zeros(&grid, 2).unwrap(), (0.0, 1.0), "cells of 2 species"),
        (&bad, (0.0, 1.0), "initial.c: found NaN"),
        (&start, (f64::NAN, 1.0), "span: found NaN to 1"),
        (&start, (0.0, f64::NAN), "span: found 0 to NaN"),
    ] {
        let error = stability(&problem, field, span).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let face = Face { axis: 9, high: true };
    assert_eq!(face.name(), "axis 9 high");
    assert_eq!(face.argument().to_string(), "boundary.axis_9_high");
}
