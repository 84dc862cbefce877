//! How far methods with stages may step where eigenvalues are not real.

use crate::common::model;
use odeum_fields::{
    Advection, Boundaries, Boundary, Face, Field, Grid, Method, Options, Outcome, Problem,
    Quantity, Simulation, Steps, Velocity, noise, stability,
};
use odeum_ode::{Cpu, Tolerance};
use std::f64::consts::PI;

const METHODS: [Method; 5] = [
    Method::Ssprk3,
    Method::Rkc { stages: None },
    Method::Rkl2 { stages: None },
    Method::Rkc { stages: Some(9) },
    Method::Rkl2 { stages: Some(8) },
];

fn rough(problem: &Problem) -> Field<f64> {
    let mut cell = 0;
    let next = |_, _| {
        cell += 1;
        noise(5, 0, cell) - 0.5
    };
    Field::from_fn(&problem.grid, problem.model.species().len(), next).unwrap()
}

/// The largest |u| after so many steps of size `h`, over that at the start.
fn growth(problem: &Problem, method: Method, h: f64, steps: u64) -> f64 {
    let start = rough(problem);
    let largest = |field: &Field<f64>| {
        let all = (0..field.species()).flat_map(|s| field.to_values(s));
        all.map(f64::abs).fold(0.0, f64::max)
    };
    let mut options = Options::new(method, Steps::Fixed(h));
    options.force = true;
    let cpu = Cpu { threads: Some(1), ..Cpu::default() };
    let mut simulation = Simulation::new(problem, start.clone(), 0.0, &options, cpu).unwrap();
    let outcome =
        simulation.run_steps(steps, 0, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    match outcome {
        Outcome::Reached => largest(&simulation.field().unwrap()) / largest(&start),
        _ => f64::INFINITY,
    }
}

/// Stable up to the limit, and not far beyond it.
fn is_tight(problem: &Problem, name: &str) {
    let limits = stability(problem, &rough(problem), (0.0, 1.0)).unwrap();
    for method in METHODS {
        let h = limits.largest_step(method);
        let calm = growth(problem, method, h, 300);
        assert!(calm <= 1.0, "{name} {method:?}: {calm} by steps of {h}");
        let wild = growth(problem, method, 2.0 * h, 300);
        assert!(wild > 10.0, "{name} {method:?}: {wild} by steps of twice {h}");
    }
}

#[test]
fn velocities_limit_steps_beside_the_spectral_radius() {
    for (shape, velocity) in [
        ([61, 1, 1], [1.0, 0.0, 0.0]),
        ([61, 1, 1], [0.2, 0.0, 0.0]),
        ([23, 19, 1], [4.0, -1.5, 0.0]),
        ([13, 11, 9], [0.5, 0.7, -0.3]),
    ] {
        let problem = Problem::new(model(&[("c", "lap(c)")]), Grid::new(shape, 1.0).unwrap())
            .boundaries(Boundaries::all(Boundary::Periodic))
            .velocity(Velocity::Uniform(velocity.map(Quantity::from)), Advection::Upwind);
        is_tight(&problem, &format!("{shape:?} {velocity:?}"));
    }
}

/// Of Koren's scheme the limiter bounds what would grow, so no step is wild.
#[test]
fn velocities_of_third_order_limit_steps() {
    for (shape, equation) in
        [([61, 1, 1], "0.02*lap(c)"), ([23, 19, 1], "0.3*lap(c)"), ([13, 11, 9], "0.1*lap(c)")]
    {
        let velocity = [1.0, 0.4, -0.6].map(Quantity::from);
        let problem = Problem::new(model(&[("c", equation)]), Grid::new(shape, 1.0).unwrap())
            .boundaries(Boundaries::all(Boundary::Periodic))
            .velocity(Velocity::Uniform(velocity), Advection::Koren);
        let limits = stability(&problem, &rough(&problem), (0.0, 1.0)).unwrap();
        for method in METHODS {
            let h = limits.largest_step(method);
            assert!(h > limits.euler, "{shape:?} {method:?}: {h}");
            for part in [1.0, 0.85, 0.7] {
                let calm = growth(&problem, method, part * h, 300);
                assert!(calm <= 1.0, "{shape:?} {method:?}: {calm} by steps of {part} times {h}");
            }
        }
    }
}

#[test]
fn reactions_that_oscillation_while_they_diffuse_limit_steps() {
    let oscillation = [("u", "lap(u) - u - 3*v"), ("v", "lap(v) + 3*u - v")];
    let problem = Problem::new(model(&oscillation), Grid::new([61, 1, 1], 1.0).unwrap())
        .boundaries(Boundaries::all(Boundary::Periodic));
    is_tight(&problem, "oscillate");
}

#[test]
fn real_eigenvalues_leave_the_whole_range() {
    let problem =
        Problem::new(model(&[("c", "lap(c) - 0.1*c")]), Grid::new([16, 16, 16], 1.0).unwrap());
    let limits = stability(&problem, &rough(&problem), (0.0, 1.0)).unwrap();
    let s = 9.0;
    let rkc = limits.largest_step(Method::Rkc { stages: Some(9) });
    assert!((rkc * limits.radius - (s * s - 1.0) / 1.54).abs() < 1e-9);
    let rkl2 = limits.largest_step(Method::Rkl2 { stages: Some(9) });
    assert!((rkl2 * limits.radius - (s * s + s - 2.0) / 2.0).abs() < 1e-9);
}

#[test]
fn larger_steps_are_refused() {
    let problem = Problem::new(model(&[("c", "0.1*lap(c)")]), Grid::new([64, 1, 1], 1.0).unwrap())
        .velocity(Velocity::Uniform([1.0, 0.0, 0.0].map(Quantity::from)), Advection::Upwind);
    let method = Method::Rkl2 { stages: None };
    let limits = stability(&problem, &rough(&problem), (0.0, 1.0)).unwrap();
    let h = limits.largest_step(method);
    let begin = |h: f64| {
        let options = Options::new(method, Steps::Fixed(h));
        let mut simulation =
            Simulation::new(&problem, rough(&problem), 0.0, &options, Cpu::default()).unwrap();
        simulation.run_steps(1, 0, &mut |_| std::ops::ControlFlow::Continue(()))
    };
    assert_eq!(begin(0.99 * h).unwrap(), Outcome::Reached);
    let error = begin(1.01 * h).unwrap_err().to_string();
    assert!(error.contains("stable up to") && error.contains("step"), "{error}");
}

/// Steps of a given size have as many stages as the field of the moment needs: here the coefficient of diffusion, a
/// species, becomes ten times as large within 25 steps. With the stages of the start u was 1e16, with success.
#[test]
fn stages_follow_a_radius_that_grows() {
    let equations = [("a", "0.5*a*(1 - a/20)"), ("u", "a*lap(u)")];
    let warm = Boundary::Dirichlet(Quantity::from(1.0));
    let boundaries = Boundaries::default().species(Face { axis: 0, high: false }, "u", warm);
    let grid = Grid::new([24, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&equations), grid).boundaries(boundaries);
    let start = Field::<f64>::from_fn(&grid, 2, |s, [x, _, _]| {
        if s == 0 { 1.0 } else { (0.13 * x).cos() + 1e-6 * (1e3 * x).sin() }
    });
    let start = start.unwrap();
    let end = |method: Method, h: f64, force: bool| {
        let options = Options { force, ..Options::new(method, Steps::Fixed(h)) };
        let cpu = Cpu { threads: Some(1), ..Cpu::default() };
        let mut simulation = Simulation::new(&problem, start.clone(), 0.0, &options, cpu).unwrap();
        assert_eq!(simulation.advance_to(12.0).unwrap(), Outcome::Reached, "{method:?}");
        simulation.field().unwrap().to_values(1)
    };
    let exact = end(Method::Ssprk3, 0.01, false);
    for method in [Method::Rkc { stages: None }, Method::Rkl2 { stages: None }] {
        for (h, force, within) in [(0.5, false, 0.01), (0.5, true, 0.01), (0.125, false, 6e-4)] {
            let pairs = end(method, h, force).into_iter().zip(&exact);
            let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < within, "{method:?}, steps of {h}: {error}");
        }
    }
}

/// Of single precision too: coefficients of stages that sum to one but for their roundings made 1e-6 of the mass in every step.
#[test]
fn stages_keep_the_mass_in_single_precision() {
    let grid = Grid::new([16, 16, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "lap(u)")]), grid);
    let start = Field::<f32>::from_fn(&grid, 1, |_, [x, y, _]| 0.5 + 0.1 * (x + 0.3 * y).sin());
    let start = start.unwrap();
    let methods = [
        (Method::Ssprk3, 0.2),
        (Method::Rkc { stages: Some(12) }, 10.0),
        (Method::Rkl2 { stages: Some(9) }, 4.0),
    ];
    for (method, h) in methods {
        let options = Options::new(method, Steps::Fixed(h));
        let cpu = Cpu { threads: Some(1), ..Cpu::default() };
        let mut simulation = Simulation::new(&problem, start.clone(), 0.0, &options, cpu).unwrap();
        let mass = simulation.summaries().unwrap()[0].mass;
        assert_eq!(simulation.advance_to(500.0 * h).unwrap(), Outcome::Reached, "{method:?}");
        let change = simulation.summaries().unwrap()[0].mass / mass - 1.0;
        assert!(change.abs() < 2e-5, "{method:?}: {change}");
    }
}

/// A limit that will fall is followed, of which the judgement before knows, since it looks ahead: such runs ended as unstable though
/// all of their steps were short enough.
#[test]
fn fractions_follow_a_limit_that_will_fall() {
    let grid = Grid::new([24, 1, 1], 1.0).unwrap();
    let equation = "(101 + 100*tanh(500*(t - 0.7)))*lap(u)";
    let problem = Problem::new(model(&[("u", equation)]), grid);
    let wave = |x: f64| (PI * x / 24.0).cos();
    let start = Field::<f64>::from_fn(&grid, 1, |_, [x, _, _]| wave(x)).unwrap();
    let options = Options::new(Method::Euler, Steps::Fraction(0.8));
    let cpu = Cpu { threads: Some(1), ..Cpu::default() };
    let mut simulation = Simulation::new(&problem, start, 0.0, &options, cpu).unwrap();
    assert_eq!(simulation.advance_to(1.0).unwrap(), Outcome::Reached);
    let end = simulation.field().unwrap();
    // 101 + 100 ln(cosh(150)/cosh(350))/500 of time and coefficient
    let rate = 2.0 * (1.0 - (PI / 24.0).cos());
    let left = (-rate * (101.0 - 40.0)).exp();
    for (n, u) in end.to_values(0).into_iter().enumerate() {
        assert!((u - left * wave(n as f64 + 0.5)).abs() < 0.02, "cell {n}: {u}");
    }
}

/// How noise in a plane ends, and how far its values are apart then, where the coefficient of diffusion is an expression of t.
fn noise_that_fades(coefficient: &str, method: Method, steps: Steps, end: f64) -> (Outcome, f64) {
    let equation = format!("({coefficient})*lap(u)");
    let problem = Problem::new(model(&[("u", &equation)]), Grid::new([12, 12, 1], 1.0).unwrap());
    let cpu = Cpu { threads: Some(1), ..Cpu::default() };
    let options = Options::new(method, steps);
    let mut simulation = Simulation::new(&problem, rough(&problem), 0.0, &options, cpu).unwrap();
    let outcome = simulation.advance_to(end).unwrap();
    (outcome, apart(&simulation.field().unwrap()))
}

/// How far the values of the first species are apart.
fn apart(field: &Field<f64>) -> f64 {
    let values = field.to_values(0);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most - values.into_iter().fold(f64::INFINITY, f64::min)
}

/// What is known of the times ahead reaches to the next judgement: where a coefficient became thirty times as large between the
/// end of what was looked at and that judgement, u was 1e45, with success.
#[test]
fn stages_follow_coefficients_that_jump() {
    let mut reached = 0;
    for method in [Method::Rkc { stages: None }, Method::Rkl2 { stages: None }] {
        for jump in [0.4, 9.3, 20.9, 29.03, 37.32, 46.9, 54.3, 57.6] {
            for (coefficient, h) in [
                (format!("select(t < {jump}, 1, 30)"), 0.3),
                (format!("select(t < {jump}, 1, 30)"), 3.0),
                (format!("1 + 40*exp(-(t - {jump})^2)"), 0.3),
                (format!("1 + 40*exp(-(t - {jump})^2)"), 1.0),
            ] {
                let (outcome, spread) =
                    noise_that_fades(&coefficient, method, Steps::Fixed(h), 66.0);
                // What changes within a step may end a run.
                reached += usize::from(outcome == Outcome::Reached);
                let is_known = matches!(outcome, Outcome::Unstable(_)) || spread < 0.5;
                assert!(is_known, "{coefficient} {method:?} {h}: {outcome:?}, {spread}");
            }
        }
    }
    println!("{reached} of 64 runs reached their ends");
}

/// How noise ends where the coefficient of diffusion is an expression of t, and the largest |u| on the way over that at the start.
fn largest_on_the_way(coefficient: &str, method: Method, steps: Steps) -> (Outcome, f64) {
    let equation = format!("({coefficient})*lap(u)");
    let problem = Problem::new(model(&[("u", &equation)]), Grid::new([32, 1, 1], 1.0).unwrap());
    let cpu = Cpu { threads: Some(1), ..Cpu::default() };
    let options = Options::new(method, steps);
    let start = rough(&problem);
    let largest =
        |field: &Field<f64>| field.to_values(0).into_iter().map(f64::abs).fold(0.0, f64::max);
    let (mut most, first) = (0.0_f64, largest(&start));
    let mut simulation = Simulation::new(&problem, start, 0.0, &options, cpu).unwrap();
    let outcome = simulation.run_every(20.0, 1, &mut |simulation| {
        most = most.max(largest(simulation.in_memory().unwrap()) / first);
        std::ops::ControlFlow::Continue(())
    });
    (outcome.unwrap(), most)
}

/// Where a coefficient changes within a step its stages multiply waves by no polynomial that is bounded: |u| was up to 1e84 times that at
/// the start, with success.
#[test]
fn coefficients_that_change_within_steps_make_nothing_grow() {
    for coefficient in [
        "select(sin(2*pi*t) > 0, 20, 1)",
        "select(sin(7.1*t) > 0.9, 100, 1)",
        "1 + 100*sin(pi*t)^2",
        "1 + 5*sin(pi*t)^2",
        "1 + 20*exp(-((t - floor(t) - 0.5)/0.1)^2)",
    ] {
        for stages in [3, 8, 20] {
            for method in [
                Method::Ssprk3,
                Method::Rkc { stages: Some(stages) },
                Method::Rkl2 { stages: Some(stages) },
            ] {
                for fraction in [0.8, 1.0] {
                    let (outcome, most) =
                        largest_on_the_way(coefficient, method, Steps::Fraction(fraction));
                    assert_eq!(outcome, Outcome::Reached, "{coefficient} {method:?}");
                    assert!(most < 1.01, "{coefficient} {method:?} {fraction}: {most}");
                }
            }
        }
        let mut reached = 0;
        for method in [Method::Rkc { stages: None }, Method::Rkl2 { stages: None }] {
            for h in [0.5, 0.25, 0.1, 0.05, 0.002] {
                let (outcome, most) = largest_on_the_way(coefficient, method, Steps::Fixed(h));
                reached += usize::from(outcome == Outcome::Reached);
                assert!(most < 1.2, "{coefficient} {method:?} {h}: {outcome:?}, {most}");
            }
        }
        assert!(reached > 0, "{coefficient}: no run reached its end");
    }
}

/// A pulse of a few steps far from the last judgement: 64 moments of thousands of steps ahead passed it by.
#[test]
fn pulses_between_judgements_are_seen() {
    let g = |x: f64| if (x as i64) % 2 == 0 { 1.0 } else { -1.0 };
    for (method, w) in
        [(Method::Ssprk3, 0.5), (Method::Ssprk3, 1.5), (Method::Euler, 0.4), (Method::Euler, 1.2)]
    {
        for c in [733.1, 857.9, 1057.3, 1391.6] {
            let u = format!("2*(1 + 10*exp(-((t - {c})/{w})^2))*lap(u) + g - 0.01*u");
            let equations = [("u", &*u), ("g", "0")];
            let problem = Problem::new(model(&equations), Grid::new([16, 1, 1], 1.0).unwrap())
                .boundaries(Boundaries::all(Boundary::Periodic));
            let start = |s, [x, _, _]: [f64; 3]| if s == 1 { g(x) } else { 0.0 };
            let start = Field::<f64>::from_fn(&problem.grid, 2, start).unwrap();
            let options = Options::new(method, Steps::Fraction(0.8));
            let cpu = Cpu { threads: Some(1), ..Cpu::default() };
            let mut simulation = Simulation::new(&problem, start, 0.0, &options, cpu).unwrap();
            assert_eq!(simulation.advance_to(c + 1.5).unwrap(), Outcome::Reached, "{method:?}");
            let spread = apart(&simulation.field().unwrap());
            assert!(spread < 0.5, "{method:?} {c} {w}: {spread}");
        }
    }
}

/// Steps of a fraction too, with any number of stages: they ended as unstable for a limit that they did not pass, or, with many
/// stages, with 1e84 and success.
#[test]
fn fractions_follow_coefficients_that_change() {
    let methods = [
        Method::Euler,
        Method::Ssprk3,
        Method::Rkl2 { stages: Some(5) },
        Method::Rkl2 { stages: Some(15) },
        Method::Rkl2 { stages: Some(40) },
    ];
    for method in methods {
        for coefficient in [
            "select(t < 144.1, 1, 10)",
            "select(t < 305.6, 1, 30)",
            "1 + 9*(0.5 + 0.5*tanh(t - 50))",
            "1 + 4*(1 + tanh((t - 200)/10))",
            "1 + 50*exp(-(t - 50)^2)",
            "1 + 20*max(0, sin(0.3*t))",
        ] {
            let (outcome, spread) =
                noise_that_fades(coefficient, method, Steps::Fraction(0.8), 400.0);
            assert_eq!(outcome, Outcome::Reached, "{coefficient} {method:?}");
            assert!(spread < 0.1, "{coefficient} {method:?}: {spread}");
        }
    }
}

/// A radius that grows much within a step, as where v grows and u diffuses by v², is no success with the stages of its
/// beginning, which made 1e22 of u.
#[test]
fn stages_that_were_too_few_end_a_run() {
    let mut reached = 0;
    for (rate, strength, h, v) in [
        (0.72, "77*v", 1.45, 1.4e-4),
        (1.9, "256*v^2", 0.765, 2.8e-6),
        (0.127, "112*v^2", 3.97, 4e-4),
        (0.132, "60*v^2", 7.14, 1.9e-3),
        (0.44, "160*v^4", 4.16, 8.1e-6),
        (0.117, "5*v^4", 15.14, 9.4e-3),
        (0.4, "20*v", 0.5, 1e-3),
        (0.4, "20*v^2", 0.5, 1e-3),
    ] {
        let u = format!("(1 + {strength})*lap(u)");
        let v_grows = format!("{rate}*v*(1 - v)");
        let equations = [("u", &*u), ("v", &*v_grows)];
        let problem = Problem::new(model(&equations), Grid::new([12, 12, 1], 1.0).unwrap());
        let mut start = rough(&problem);
        for y in 0..12 {
            start.row_mut(1, y, 0).fill(v);
        }
        for method in [Method::Rkc { stages: None }, Method::Rkl2 { stages: None }] {
            let cpu = Cpu { threads: Some(1), ..Cpu::default() };
            let options = Options::new(method, Steps::Fixed(h));
            let mut simulation =
                Simulation::new(&problem, start.clone(), 0.0, &options, cpu).unwrap();
            let outcome = simulation.advance_to(25.0 / rate).unwrap();
            let spread = apart(&simulation.field().unwrap());
            reached += usize::from(outcome == Outcome::Reached);
            let is_known = matches!(outcome, Outcome::Unstable(_)) || spread < 0.5;
            assert!(is_known, "{rate} {strength} {h} {method:?}: {outcome:?}, {spread}");
        }
    }
    assert!(reached >= 4, "{reached} of 16 runs reached their ends");
}

/// Where a limit falls with the square of what grows from noise, judgements come in time: of forty random starts some ended as unstable.
#[test]
fn phases_that_separate_are_followed() {
    let grid = Grid::new([48, 48, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("c", "lap(c^3 - c - 0.5*lap(c))")]), grid);
    for seed in 0..40 {
        let mut cell = 0;
        let start = Field::<f64>::from_fn(&grid, 1, |_, _| {
            cell += 1;
            0.01 * noise(seed, 0, cell)
        });
        let options = Options::new(Method::Euler, Steps::Fraction(0.8));
        let cpu = Cpu { threads: Some(1), ..Cpu::default() };
        let mut simulation = Simulation::new(&problem, start.unwrap(), 0.0, &options, cpu).unwrap();
        assert_eq!(simulation.advance_to(20.0).unwrap(), Outcome::Reached, "{seed}");
    }
}

/// Its derivatives are beyond all numbers where a step has led too far: no step is stable there. The limit was none.
#[test]
fn a_field_whose_derivatives_overflow_is_not_reached() {
    let grid = Grid::new([1, 1, 1], 1.0).unwrap();
    let brusselator = [("u", "3 + u^2 * v - 5.58 * u"), ("v", "4.58 * u - u^2 * v")];
    let cpu = || Cpu { threads: Some(1), ..Cpu::default() };
    let go = |equations: &[(&str, &str)], value: f64, steps: Steps, end: f64| {
        let problem = Problem::new(model(equations), grid);
        let start = Field::<f64>::from_fn(&grid, equations.len(), |_, _| value).unwrap();
        let options = Options::new(Method::Rkc { stages: Some(10) }, steps);
        Simulation::new(&problem, start, 0.0, &options, cpu()).unwrap().advance_to(end).unwrap()
    };
    for step in [12.0, 12.8] {
        let outcome = go(&brusselator, 1.0, Steps::Fixed(step), step);
        assert!(matches!(outcome, Outcome::Unstable(_)), "{outcome:?}");
    }
    // A slope that is infinite where the rate is finite says nothing about the size of a step.
    for equation in ["1 - sqrt(u)", "1 - sqrt(1e9 * u)"] {
        let limits = {
            let problem = Problem::new(model(&[("u", equation)]), grid);
            let start = Field::<f64>::from_fn(&grid, 1, |_, _| 0.0_f64).unwrap();
            stability(&problem, &start, (0.0, 1.0)).unwrap()
        };
        assert_eq!(limits.euler, f64::INFINITY, "{equation}");
    }
    // At the time that ends the run the rate is not finite, whatever the values are.
    let outcome = go(&[("u", "select(t < 1, -u, u / (t - t))")], 1.0, Steps::Fixed(0.01), 1.0);
    assert_eq!(outcome, Outcome::Reached);
}

/// What grows from far below the tolerance is no matter of the error: steps led past it, to the unstable state at the end.
#[test]
fn adaptive_steps_do_not_pass_over_growth() {
    let adaptive = Steps::Adaptive(Tolerance::new(1e-4, 1e-6));
    let options = Options::new(Method::Rkc { stages: None }, adaptive);
    let go = |shape, equation: &str, start: &dyn Fn(f64) -> f64, end: f64| {
        let grid = Grid::new(shape, 1.0).unwrap();
        let problem = Problem::new(model(&[("u", equation)]), grid);
        let start = Field::<f64>::from_fn(&grid, 1, |_, [x, ..]| start(x)).unwrap();
        let cpu = Cpu { threads: Some(1), ..Cpu::default() };
        let mut simulation = Simulation::new(&problem, start, 0.0, &options, cpu).unwrap();
        assert_eq!(simulation.advance_to(end).unwrap(), Outcome::Reached);
        (simulation.summaries().unwrap()[0].mean, simulation.counts())
    };
    let seed = |x: f64| 1e-13 * (1.0 + 0.1 * (PI * x / 32.0).cos());
    let (mean, counts) = go([64, 1, 1], "lap(u) + u * (1 - u)", &seed, 29.93);
    assert!((mean - 0.5).abs() < 0.05 && counts.steps < 600, "{mean} {counts:?}");
    // Equations whose derivatives are always the same.
    let (mean, counts) = go([64, 1, 1], "lap(u) + u", &seed, 30.0);
    assert!((mean / (1e-13 * 30.0_f64.exp()) - 1.0).abs() < 0.12, "{mean} {counts:?}");
    // What is exactly zero stays so, and does not cost steps for ever.
    let (mean, counts) = go([64, 1, 1], "lap(u) + u * (1 - u)", &|_| 0.0, 1e6);
    assert!(mean == 0.0 && counts.steps < 45_000, "{counts:?}");
    // A front at rest: cells between its states would grow by themselves, the front does not.
    let front = |x: f64| ((x - 32.0) / 2.0_f64.sqrt() / 4.0).tanh();
    let (_, counts) = go([64, 1, 1], "16 * lap(u) + u - u^3", &front, 1e4);
    assert!(counts.steps < 400, "{counts:?}");
}
