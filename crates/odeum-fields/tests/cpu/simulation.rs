//! Simulations through time: orders, conservation, limits, interruptions, failures.

use crate::common::model;
use odeum_fields::problems::Builtin;
use odeum_fields::{
    Advection, Boundaries, Boundary, Checkpoint, Engine, Face, Failure, Field, Grid, Method,
    Options, Outcome, PointSource, Precision, Problem, Quantity, Simulation, Stencil, Steps,
    Velocity, noise, stability,
};
use odeum_ode::{Cpu, Isa, Status, Tolerance};
use std::f64::consts::PI;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn cpu(threads: usize) -> Cpu {
    Cpu { threads: Some(threads), isa: Isa::best() }
}

/// Simulations to `end` without watching.
fn run<T: Precision>(problem: &Problem, u: Field<T>, options: &Options, end: f64) -> Field<T> {
    let mut simulation = Simulation::new(problem, u, 0.0, options, cpu(1)).unwrap();
    let outcome = simulation.advance_to(end).unwrap();
    assert_eq!(outcome, Outcome::Reached);
    simulation.field().unwrap().into_owned()
}

/// The error at a time that all steps divide, of a product of cosines in the unit cube.
fn cosine_error(n: usize, ratio: f64) -> f64 {
    let h = 1.0 / n as f64;
    let grid = Grid::new([n, n, n], h).unwrap();
    let problem = Problem::new(model(&[("c", "0.1*lap(c)")]), grid);
    let wave = |at: [f64; 3]| (PI * at[0]).cos() * (2.0 * PI * at[1]).cos() * (PI * at[2]).cos();
    let u = Field::<f64>::from_fn(&grid, 1, |_, at| wave(at)).unwrap();
    let end = 0.234375;
    let steps = (end / (ratio * h * h / 0.1)).round();
    let options = Options::euler(end / steps);
    let u = run(&problem, u, &options, end);
    let decay = (-0.1 * 6.0 * PI * PI * end).exp();
    let mut worst: f64 = 0.0;
    for index in 0..grid.cells() {
        let cell = grid.cell(index);
        let at = [0, 1, 2].map(|axis| grid.centre(axis, cell[axis]));
        worst = worst.max((u.get(0, cell) - decay * wave(at)).abs());
    }
    worst
}

/// Counts of steps end where their type does, which no run reaches.
#[test]
fn times_and_counts_beyond_all_steps_are_gone_towards() {
    let grid = Grid::new([9, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "lap(u)")]), grid);
    let u = Field::<f64>::from_fn(&grid, 1, |_, [x, _, _]| x).unwrap();
    let step = Options::euler(0.1);
    for steps in [Steps::Fixed(0.1), Steps::Fraction(0.5)] {
        let options = Options { steps, ..step.clone() };
        let mut simulation = Simulation::new(&problem, u.clone(), 0.0, &options, cpu(1)).unwrap();
        let mut stop = |simulation: &Simulation<f64>| match simulation.counts().steps {
            0..8 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        assert_eq!(simulation.run_every(1e300, 4, &mut stop).unwrap(), Outcome::Stopped);
        assert_eq!(simulation.counts().steps, 8);
    }
    let mut simulation = Simulation::new(&problem, u, 0.0, &step, cpu(1)).unwrap();
    for (steps, all) in [(1, 1), (u64::MAX, 4)] {
        let mut stop = |simulation: &Simulation<f64>| match simulation.counts().steps {
            0..4 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        simulation.run_steps(steps, 4, &mut stop).unwrap();
        assert_eq!(simulation.counts().steps, all);
    }
}

#[test]
fn a_norm_that_fields_do_not_have_is_refused() {
    let grid = Grid::new([9, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "lap(u)")]), grid);
    let u = Field::<f64>::zeros(&grid, 1).unwrap();
    let steps = Steps::Adaptive(Tolerance::state_and_rate(1e-4));
    let options = Options::new(Method::Rkc { stages: None }, steps);
    let error = Simulation::new(&problem, u, 0.0, &options, cpu(1)).map(drop).unwrap_err();
    assert!(error.to_string().contains("norm: found state-and-rate"), "{error}");
}

#[test]
fn second_order_in_space_and_fourth_where_errors_cancel() {
    let order = |ratio: f64| (cosine_error(16, ratio) / cosine_error(32, ratio)).log2();
    let (plain, sweet) = (order(0.02), order(1.0 / 6.0));
    assert!((plain - 2.0).abs() < 0.1, "{plain}");
    assert!((sweet - 4.0).abs() < 0.1, "{sweet}");
    assert!(cosine_error(32, 1.0 / 6.0) < cosine_error(32, 0.02) / 50.0);
}

#[test]
fn the_amplitude_of_an_eigenvector_follows_its_factor_exactly() {
    let builtin = Builtin::Diffusion;
    let problem = builtin.problem([20, 14, 11]).unwrap();
    let theta = [PI * 3.0 / 20.0, PI / 14.0, PI * 10.0 / 11.0];
    let wave = |at: [f64; 3]| (0..3).map(|k| (theta[k] * at[k]).cos()).product::<f64>();
    let u = Field::<f64>::from_fn(&problem.grid, 1, |_, at| wave(at)).unwrap();
    let steps = 500;
    let end = run(&problem, u.clone(), &Options::euler(0.02), 0.02 * f64::from(steps));
    let factor = 1.0 + 0.02 * Stencil::Isotropic.symbol(&problem.grid, theta);
    let expected = factor.powi(steps);
    for (a, b) in u.to_values(0).into_iter().zip(end.to_values(0)) {
        assert!((b - expected * a).abs() < 1e-13, "{b} {}", expected * a);
    }
}

#[test]
fn closed_boxes_keep_their_mass_and_second_moments_grow_by_the_rule() {
    let builtin = Builtin::Diffusion;
    for stencil in [Stencil::Isotropic, Stencil::Star] {
        let problem = builtin.problem([32, 30, 34]).unwrap().stencil(stencil);
        let grid = problem.grid;
        // A small ball far from the boundaries; and random values up to them.
        let ball = Field::<f64>::from_fn(&grid, 1, |_, at| {
            let square: f64 = (0..3).map(|k| (at[k] - 16.0).powi(2)).sum();
            if square < 9.0 { 1.0 } else { 0.0 }
        })
        .unwrap();
        let moment = |u: &Field<f64>| {
            let (mut mass, mut moment) = (0.0, 0.0);
            for index in 0..grid.cells() {
                let cell = grid.cell(index);
                let square: f64 = (0..3).map(|k| (grid.centre(k, cell[k]) - 16.0).powi(2)).sum();
                mass += u.get(0, cell);
                moment += square * u.get(0, cell);
            }
            (mass, moment)
        };
        let (mass, before) = moment(&ball);
        let (same, after) = moment(&run(&problem, ball, &Options::euler(0.1), 1.0));
        assert!((same - mass).abs() < 1e-12 * mass);
        // Six times D t times the mass; what reaches the boundaries in ten steps is nothing.
        assert!((after - before - 6.0 * mass).abs() < 1e-10 * after, "{}", after - before);

        let mut cell = 0;
        let random = Field::<f64>::from_fn(&grid, 1, |_, _| {
            cell += 1;
            noise(5, 0, cell)
        })
        .unwrap();
        let engine = Engine::new(&problem, &cpu(1)).unwrap();
        let mut f = engine.zeros().unwrap();
        engine.rhs(0.0, &random, &mut f);
        let sum = engine.summaries(&f)[0].sum;
        assert!(sum.abs() < 1e-10, "{sum}");
    }
}

#[test]
fn a_ball_in_free_space_spreads_as_the_solution_says() {
    // The error function by its series and continued fraction is not at hand: the solution at
    // the centre is erf(a/s) − (2a/(s√π)) e^(−a²/s²), s = 2√(Dt), from a series of its own.
    let (a, t) = (5.0, 4.0);
    let s = 2.0 * f64::sqrt(t);
    let x: f64 = a / s;
    let (mut term, mut erf) = (x, x);
    for k in 1..60 {
        term *= -x * x / f64::from(k);
        erf += term / f64::from(2 * k + 1);
    }
    erf *= 2.0 / PI.sqrt();
    let exact = erf - 2.0 * x / PI.sqrt() * (-x * x).exp();
    let error = |refine: usize| {
        let n = 40 * refine + 1;
        let h = 1.0 / refine as f64;
        let grid = Grid::new([n, n, n], h).unwrap();
        let centre = n as f64 * h / 2.0;
        let ball = Field::<f64>::from_fn(&grid, 1, |_, at| {
            // The part of each cell that is inside, from points of it: a jump has no order.
            let mut inside = 0;
            for k in 0..512 {
                let shift = |k: usize| (k as f64 - 3.5) / 8.0 * h;
                let at = [at[0] + shift(k % 8), at[1] + shift(k / 8 % 8), at[2] + shift(k / 64)];
                let square: f64 = at.iter().map(|x| (x - centre).powi(2)).sum();
                inside += i32::from(square <= a * a);
            }
            f64::from(inside) / 512.0
        })
        .unwrap();
        let problem = Problem::new(model(&[("c", "lap(c)")]), grid);
        let u = run(&problem, ball, &Options::euler(h * h / 6.4), t);
        (u.get(0, [n / 2; 3]) - exact).abs()
    };
    let errors = [error(1), error(2)];
    assert!(errors[0] < 5e-3 && errors[1] < errors[0] / 2.5, "{errors:?}");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    for (builtin, shape) in [
        (Builtin::Turing, [37, 23, 29]),
        (Builtin::Front, [40, 13, 17]),
        (Builtin::Plume, [20, 31, 1]),
        (Builtin::Diffusion, [200, 1, 9]),
    ] {
        let problem = builtin.problem(shape).unwrap();
        let mut ends = Vec::new();
        for threads in [1, 2, 3, 8] {
            let u = builtin.initial::<f32>(&problem.grid, 7).unwrap();
            let options = Options::euler(builtin.step());
            let mut simulation = Simulation::new(&problem, u, 0.0, &options, cpu(threads)).unwrap();
            simulation.run_steps(10, 0, &mut |_| ControlFlow::Continue(())).unwrap();
            ends.push((simulation.field().unwrap().into_owned(), simulation.summaries().unwrap()));
        }
        assert!(ends.iter().all(|end| end == &ends[0]), "{builtin:?}");
    }
}

#[test]
fn interruptions_change_no_bit() {
    let problem = Builtin::Turing.problem([24, 10, 9]).unwrap();
    let adaptive = Steps::Adaptive(Tolerance::new(1e-4, 1e-6));
    for options in [
        Options::euler(5e-4),
        Options::new(Method::Rkc { stages: None }, adaptive),
        Options::new(Method::Rkl2 { stages: None }, Steps::Fixed(0.02)),
        Options::new(Method::Ssprk3, Steps::Fixed(7e-4)),
    ] {
        let u = Builtin::Turing.initial::<f64>(&problem.grid, 1).unwrap();
        let mut simulation = Simulation::new(&problem, u, 0.0, &options, cpu(1)).unwrap();
        let mut written = Vec::new();
        let end = 1.2345;
        let outcome = simulation.run_every(end, 7, &mut |simulation| {
            if simulation.counts().steps == 21 {
                simulation.checkpoint().unwrap().write(&mut written).unwrap();
            }
            ControlFlow::Continue(())
        });
        assert_eq!(outcome.unwrap(), Outcome::Reached);
        assert!((simulation.t() - end).abs() < 1e-9 && simulation.counts().steps > 21);
        let checkpoint =
            Checkpoint::<f64>::read(&problem.grid, 2, &mut written.as_slice()).unwrap();
        let mut resumed = Simulation::resume(&problem, checkpoint, &options, cpu(2)).unwrap();
        resumed.advance_to(end).unwrap();
        assert_eq!(simulation.field().unwrap(), resumed.field().unwrap(), "{:?}", options.method);
        assert_eq!(simulation.counts().steps, resumed.counts().steps);
    }
    let refused = Checkpoint::<f32>::read(&problem.grid, 2, &mut &[0_u8; 400][..]);
    assert!(refused.unwrap_err().to_string().contains("no checkpoint"));
}

/// F at the end of a step that was cut is that of the time asked for, which t + h may miss by a rounding.
#[test]
fn interruptions_at_times_asked_for_change_no_bit() {
    let grid = Grid::new([8, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "0.1*lap(u) - u + sin(400*t)")]), grid);
    let start = Field::<f64>::from_fn(&grid, 1, |_, [x, _, _]| (0.3 * x).cos()).unwrap();
    // Of a step that crosses zero.
    let adaptive = Steps::Adaptive(Tolerance::new(0.5, 100.0));
    let options = Options::new(Method::Rkc { stages: None }, adaptive);
    for n in 1..200 {
        let end = 0.0007 * f64::from(n);
        let mut simulation =
            Simulation::new(&problem, start.clone(), -0.4, &options, cpu(1)).unwrap();
        simulation.advance_to(end).unwrap();
        let checkpoint = simulation.checkpoint().unwrap();
        let mut resumed = Simulation::resume(&problem, checkpoint, &options, cpu(1)).unwrap();
        for simulation in [&mut simulation, &mut resumed] {
            assert_eq!(simulation.advance_to(end + 0.3).unwrap(), Outcome::Reached);
        }
        assert_eq!(simulation.field().unwrap(), resumed.field().unwrap(), "{end}");
    }
}

/// Of late times a rounding is more than a part of a step: a step of one was taken, to a time that is told as the same.
#[test]
fn late_times_asked_for_are_met_within_rounding() {
    let grid = Grid::new([4, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "0.1*lap(u)")]), grid);
    let start = Field::<f64>::from_fn(&grid, 1, |_, [x, _, _]| x).unwrap();
    for (late, h) in [(1e6_f64, 0.1), (-1e6, 0.1), (1e9, 1e-3), (0.0, 0.1)] {
        let end = late + 3.0 * h;
        for end in [end.next_down(), end, end.next_up()] {
            let options = Options::euler(h);
            let mut simulation =
                Simulation::new(&problem, start.clone(), late, &options, cpu(1)).unwrap();
            assert_eq!(simulation.advance_to(end).unwrap(), Outcome::Reached);
            assert_eq!(simulation.counts().steps, 3, "{late} {end}");
        }
    }
    // What is left out stays a small part of a step.
    let h = 4.0 * f64::EPSILON * 1e6;
    let mut simulation = Simulation::new(&problem, start, 1e6, &Options::euler(h), cpu(1)).unwrap();
    assert_eq!(simulation.advance_to(1e6 + 0.5 * h).unwrap(), Outcome::Reached);
    assert_eq!(simulation.counts().steps, 1);
}

#[test]
fn methods_by_stages_have_their_orders() {
    let grid = Grid::new([12, 10, 1], 0.5).unwrap();
    let problem = Problem::new(model(&[("u", "lap(u) + u - u^3 + sin(t)")]), grid);
    let start = Field::<f64>::from_fn(&grid, 1, |_, [x, y, _]| 0.3 * x.cos() * y.sin()).unwrap();
    let end = |method: Method, steps: f64| {
        run(&problem, start.clone(), &Options::new(method, Steps::Fixed(1.0 / steps)), 1.0)
    };
    let exact = end(Method::Rkc { stages: Some(5) }, 2560.0).to_values(0);
    let methods = [
        (Method::Rkc { stages: Some(9) }, 2.0),
        (Method::Rkl2 { stages: Some(9) }, 2.0),
        (Method::Ssprk3, 3.0),
    ];
    for (method, expected) in methods {
        let errors = [10.0, 20.0, 40.0].map(|steps| {
            let values = end(method, steps).to_values(0);
            let pairs = values.iter().zip(&exact);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        });
        let order = (errors[1] / errors[2]).log2();
        assert!((order - expected).abs() < 0.2, "{method:?}: {errors:?}");
    }
}

#[test]
fn adaptive_errors_follow_the_tolerance() {
    let problem = Builtin::Turing.problem([16, 12, 1]).unwrap();
    let start = || {
        Field::<f64>::from_fn(&problem.grid, 2, |_, [x, y, _]| 1.0 + (60.0 * x).cos() * y).unwrap()
    };
    let end = |rtol: f64| {
        let steps = Steps::Adaptive(Tolerance::new(rtol, rtol));
        let options = Options::new(Method::Rkc { stages: None }, steps);
        run(&problem, start(), &options, 0.5).to_values(0)
    };
    let exact = end(1e-10);
    let error = |rtol: f64| {
        let pairs = end(rtol).into_iter().zip(&exact);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let errors = [1e-3, 1e-5, 1e-7].map(error);
    for (error, rtol) in errors.iter().zip([1e-3, 1e-5, 1e-7]) {
        assert!(*error < 50.0 * rtol, "{errors:?}");
    }
    assert!(errors[2] < errors[0] / 100.0, "{errors:?}");
}

/// What depends on no time is the same far from zero, where times are coarse.
#[test]
fn clocks_of_adaptive_steps_do_not_drift() {
    let problem = Problem::new(model(&[("u", "-u")]), Grid::new([3, 2, 1], 1.0).unwrap());
    let steps = Steps::Adaptive(Tolerance::new(1e-9, 1e-9));
    let options = Options::new(Method::Rkc { stages: None }, steps);
    let end = |t: f64| {
        let u = Field::<f64>::from_fn(&problem.grid, 1, |_, _| 1.0).unwrap();
        let mut simulation = Simulation::new(&problem, u, t, &options, cpu(1)).unwrap();
        let outcome = simulation.advance_to(t + 1.0).unwrap();
        assert_eq!(outcome, Outcome::Reached);
        simulation.field().unwrap().to_values(0)[0]
    };
    // Of the times from the second on, 2⁻¹⁶ apart.
    let (near, far) = (end(0.0), end(1.25 * 2.0_f64.powi(36)));
    assert!((near - far).abs() < 1e-7, "{near} {far}");
}

/// Steps however long end at the times that are asked for.
#[test]
fn spans_much_shorter_than_a_step_are_integrated() {
    let problem =
        Problem::new(model(&[("u", "1e-15*lap(u) + 1")]), Grid::new([3, 2, 1], 1.0).unwrap());
    for steps in [Steps::Fraction(1.0), Steps::Fixed(1e10), Steps::Fixed(1e13)] {
        for method in [Method::Euler, Method::Ssprk3, Method::Rkc { stages: Some(5) }] {
            let options = Options { force: true, ..Options::new(method, steps.clone()) };
            let u = Field::<f64>::zeros(&problem.grid, 1).unwrap();
            let mut simulation = Simulation::new(&problem, u, 2.0, &options, cpu(1)).unwrap();
            for end in [7.0, 7.0 + 1e-9, 40.0] {
                assert_eq!(simulation.advance_to(end).unwrap(), Outcome::Reached);
                assert_eq!(simulation.t(), end, "{method:?}, {steps:?}");
                let u = simulation.field().unwrap().to_values(0)[0];
                assert!((u - (end - 2.0)).abs() < 1e-12, "{method:?}, {steps:?}: {u} at {end}");
            }
            assert!(simulation.advance_to(40.0 - 1e-9).is_err());
        }
    }
}

/// Near a pole adaptive steps become too small soon: none is attempted over and over.
#[test]
fn poles_end_adaptive_steps() {
    let problem = Problem::new(model(&[("u", "u^2")]), Grid::new([3, 2, 1], 1.0).unwrap());
    for rtol in [1e-3, 1e-4, 1e-5, 1e-6] {
        let steps = Steps::Adaptive(Tolerance::new(rtol, rtol));
        let options = Options::new(Method::Rkc { stages: None }, steps);
        let u = Field::<f64>::from_fn(&problem.grid, 1, |_, _| 1.0).unwrap();
        let mut simulation = Simulation::new(&problem, u, 0.0, &options, cpu(1)).unwrap();
        let outcome = simulation.advance_to(2.0).unwrap();
        let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
        assert_eq!(failure.status, Status::StepTooSmall, "{rtol}: {failure:?}");
        let counts = simulation.counts();
        assert!((failure.t - 1.0).abs() < 0.01, "{rtol}: {failure:?}");
        assert!(counts.rejected <= 2 * counts.steps + 100, "{rtol}: {counts:?}");
    }
}

/// At t = 0 no rounding of the time ends steps that become ever shorter.
#[test]
fn steps_that_nothing_is_left_of_end_the_simulation() {
    let grid = Grid::new([8, 2, 1], 1.0).unwrap();
    let warm = Boundary::Dirichlet(Quantity::from("1/t"));
    let low = Boundaries::default().face(Face { axis: 0, high: false }, warm);
    for problem in [
        Problem::new(model(&[("u", "lap(u) + sqrt(u - 10)")]), grid),
        Problem::new(model(&[("u", "lap(u)")]), grid).boundaries(low),
    ] {
        let steps = Steps::Adaptive(Tolerance::new(1e-4, 1e-6));
        let options =
            Options { max_steps: 5000, ..Options::new(Method::Rkc { stages: None }, steps) };
        let u = Field::<f64>::from_fn(&grid, 1, |_, _| 1.0).unwrap();
        let mut simulation = Simulation::new(&problem, u, 0.0, &options, cpu(1)).unwrap();
        let outcome = simulation.advance_to(1.0).unwrap();
        let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
        assert_eq!(failure.status, Status::NonFinite, "{failure:?}");
        assert!(failure.place.is_some() && failure.t == 0.0, "{failure:?}");
    }
}

/// An error of zero counts nothing, though what weighs it is zero, too.
#[test]
fn zeros_need_no_absolute_tolerance() {
    let problem =
        Problem::new(model(&[("u", "lap(u)"), ("v", "-v")]), Grid::new([9, 2, 1], 1.0).unwrap());
    let steps = Steps::Adaptive(Tolerance::new(1e-4, 0.0));
    let options = Options { max_steps: 5000, ..Options::new(Method::Rkc { stages: None }, steps) };
    let u = Field::<f64>::from_fn(&problem.grid, 2, |s, [x, ..]| match s {
        0 => 2.0 + x.cos(),
        _ => 0.0,
    });
    let mut simulation = Simulation::new(&problem, u.unwrap(), 0.0, &options, cpu(1)).unwrap();
    assert_eq!(simulation.advance_to(1.0).unwrap(), Outcome::Reached);
}

/// Euler is stable just below the limit and blows up just above, with noise as the start.
#[test]
fn step_limits_are_tight() {
    for (builtin, expected) in
        [(Builtin::Diffusion, 0.375), (Builtin::Turing, 2.83e-3), (Builtin::Front, 0.0511)]
    {
        let shape = [16, 16, 16];
        let problem = Problem {
            boundaries: odeum_fields::Boundaries::all(odeum_fields::Boundary::Periodic),
            ..builtin.problem(shape).unwrap()
        };
        let steady: &[f64] = match builtin {
            Builtin::Turing => &[0.174671, 0.169342],
            Builtin::Front => &[0.0, 0.0, -1.0],
            _ => &[0.0],
        };
        let mut n = 0;
        let start = Field::<f64>::from_fn(&problem.grid, steady.len(), |s, _| {
            n += 1;
            // The front's a and b stay zero: its limit is that of the order parameter.
            let noisy = builtin != Builtin::Front || s == 2;
            steady[s] + if noisy { 1e-6 * noise(1, s, n) } else { 0.0 }
        })
        .unwrap();
        let limit = stability(&problem, &start, (0.0, 1.0)).unwrap().euler;
        assert!((limit / expected - 1.0).abs() < 5e-3, "{builtin:?}: {limit}");
        let largest = |factor: f64| {
            let options = Options { force: true, ..Options::euler(factor * limit) };
            let mut simulation =
                Simulation::new(&problem, start.clone(), 0.0, &options, cpu(1)).unwrap();
            let outcome =
                simulation.run_steps(1500, 0, &mut |_| ControlFlow::Continue(())).unwrap();
            if outcome != Outcome::Reached {
                return f64::INFINITY;
            }
            let s = steady.len() - 1;
            let all = simulation.summaries().unwrap()[s];
            (all.max - steady[s]).abs().max((all.min - steady[s]).abs())
        };
        assert!(largest(0.99) < 1e-5, "{builtin:?} just below: {}", largest(0.99));
        assert!(largest(1.02) > 1e-3, "{builtin:?} just above: {}", largest(1.02));
        let refused = Options::euler(1.02 * limit);
        let mut simulation =
            Simulation::new(&problem, start.clone(), 0.0, &refused, cpu(1)).unwrap();
        let error = simulation.run_steps(1, 0, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(error.to_string().contains("here; take less, or force it"), "{error}");
    }
}

/// A velocity that grows: what is stable at first is not at the end.
#[test]
fn steps_are_judged_over_the_span_that_is_given() {
    let grid = Grid::new([16, 1, 1], 1.0).unwrap();
    let velocity = Velocity::Uniform(["0.1 + 10 * t", "0", "0"].map(Quantity::from));
    let problem =
        Problem::new(model(&[("c", "0.1 * lap(c)")]), grid).velocity(velocity, Advection::Upwind);
    let start = Field::<f64>::from_fn(&grid, 1, |_, [x, ..]| x).unwrap();
    let simulation =
        || Simulation::new(&problem, start.clone(), 0.0, &Options::euler(0.5), cpu(1)).unwrap();
    let go = |simulation: &mut Simulation<f64>, end| simulation.advance_to(end);
    // Judged call by call, the second is refused; over the whole span, the first is.
    let mut by_call = simulation();
    assert_eq!(go(&mut by_call, 0.01).unwrap(), Outcome::Reached);
    let early = by_call.stability().unwrap().clone();
    assert!(go(&mut by_call, 1.0).unwrap_err().to_string().contains("stable up to"));
    assert!(by_call.stability().unwrap().euler < early.euler / 5.0);
    let mut whole = simulation();
    let limits = stability(&problem, &start, (0.0, 1.0)).unwrap();
    whole.set_stability(limits.clone(), 1.0);
    assert!(go(&mut whole, 0.01).unwrap_err().to_string().contains("stable up to"));
    // Within the span nothing is judged again, beyond it all is.
    let mut small =
        Simulation::new(&problem, start.clone(), 0.0, &Options::euler(0.01), cpu(1)).unwrap();
    small.set_stability(limits.clone(), 1.0);
    for (end, same) in [(0.5, true), (1.0, true), (2.0, false)] {
        assert_eq!(go(&mut small, end).unwrap(), Outcome::Reached);
        assert_eq!(small.stability() == Some(&limits), same, "{end}");
    }
}

/// Waves that forward Euler makes grow may do so by a tenth in the whole time: the longer that becomes, the shorter are the steps.
#[test]
fn steps_become_shorter_where_the_end_is_put_off() {
    let grid = Grid::new([64, 1, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "v"), ("v", "lap(u)")]), grid);
    let wave = |x: f64| (PI * x * 60.0 / 64.0).cos();
    let start =
        Field::<f64>::from_fn(&grid, 2, |s, [x, ..]| if s == 0 { wave(x) } else { 0.0 }).unwrap();
    let begin = |options: &Options| Simulation::new(&problem, start.clone(), 0.0, options, cpu(1));
    let frequency = 2.0 * (PI * 30.0 / 64.0).sin();
    let error = |simulation: &Simulation<f64>| {
        let field = simulation.field().unwrap();
        let wanted = |x: usize| wave(x as f64 + 0.5) * (frequency * simulation.t()).cos();
        (0..64).map(|x| (field.get(0, [x, 0, 0]) - wanted(x)).abs()).fold(0.0, f64::max)
    };
    let stable = Options::new(Method::Euler, Steps::Fraction(0.8));
    let mut whole = begin(&stable).unwrap();
    assert_eq!(whole.advance_to(20.0).unwrap(), Outcome::Reached);
    let mut short_first = begin(&stable).unwrap();
    assert_eq!(short_first.advance_to(1e-3).unwrap(), Outcome::Reached);
    let clock = short_first.clock();
    let field = short_first.field().unwrap().into_owned();
    let mut resumed =
        Simulation::resume(&problem, Checkpoint { field, clock }, &stable, cpu(1)).unwrap();
    for simulation in [&mut short_first, &mut resumed] {
        assert_eq!(simulation.advance_to(20.0).unwrap(), Outcome::Reached);
        assert!(simulation.counts().steps.abs_diff(whole.counts().steps) < 3);
        assert!((error(simulation) - error(&whole)).abs() < 1e-2, "{}", error(simulation));
    }
    let mut often = begin(&stable).unwrap();
    for end in 1..=20 {
        assert_eq!(often.advance_to(f64::from(end)).unwrap(), Outcome::Reached);
    }
    // By 0.8 · 0.1 · (1 + 1/2 + … + 1/20) at most.
    assert!(error(&often) < 0.35, "{}", error(&often));
    // Steps of a size are refused as at the start, also after a checkpoint.
    let fixed = Options::euler(0.02);
    assert!(begin(&fixed).unwrap().advance_to(20.0).is_err());
    let mut short_first = begin(&fixed).unwrap();
    assert_eq!(short_first.advance_to(0.06).unwrap(), Outcome::Reached);
    let checkpoint = short_first.checkpoint().unwrap();
    let mut resumed = Simulation::resume(&problem, checkpoint, &fixed, cpu(1)).unwrap();
    assert_eq!(resumed.advance_to(0.06).unwrap(), Outcome::Reached);
    for simulation in [&mut short_first, &mut resumed] {
        let error = simulation.advance_to(20.0).unwrap_err().to_string();
        assert!(error.contains("stable up to 2.500000e-3 here"), "{error}");
    }
}

/// What is to come is seen from wherever the simulation stands.
#[test]
fn a_gust_beyond_a_short_first_span_limits_steps() {
    let grid = Grid::new([64, 1, 1], 1.0).unwrap();
    let gust = "select(t > 1.5 && t < 1.6, 500, 0)";
    let problem = Problem::new(model(&[("u", "0.001 * lap(u)")]), grid)
        .velocity(Velocity::Uniform([gust, "0", "0"].map(Quantity::from)), Advection::Upwind);
    let start = Field::<f64>::from_fn(&grid, 1, |_, [x, ..]| (7.0 * x).sin()).unwrap();
    let stable = Options::new(Method::Euler, Steps::Fraction(0.8));
    let steps = |first: f64| {
        let mut simulation =
            Simulation::new(&problem, start.clone(), 0.0, &stable, cpu(1)).unwrap();
        for end in [first, 3.0] {
            assert_eq!(simulation.advance_to(end).unwrap(), Outcome::Reached);
        }
        simulation.counts().steps
    };
    assert!(steps(1e-3).abs_diff(steps(3.0)) < 100, "{} {}", steps(1e-3), steps(3.0));
}

#[test]
fn the_limits_of_the_plume_are_those_of_the_audit() {
    let problem = Builtin::Plume.problem([16, 16, 16]).unwrap();
    let start = Builtin::Plume.initial::<f64>(&problem.grid, 0).unwrap();
    let limits = stability(&problem, &start, (0.0, 4000.0)).unwrap();
    assert!((limits.euler - 7.69).abs() < 0.01, "{limits:?}");
    assert!((limits.positive.unwrap() - 6.67).abs() < 0.01, "{limits:?}");
}

#[test]
fn a_non_finite_value_is_placed() {
    let grid = Grid::new([20, 5, 6], 1.0).unwrap();
    // Only cell [13, 2, 4] is above 0.9, where the reaction has a pole.
    let problem = Problem::new(model(&[("c", "0"), ("d", "select(c > 0.9, 1/(t - t), d)")]), grid);
    let start = Field::<f64>::from_fn(&grid, 2, |s, [x, y, z]| {
        f64::from(s == 0 && (x, y, z) == (13.5, 2.5, 4.5))
    });
    let options = Options { force: true, ..Options::euler(0.1) };
    let mut simulation = Simulation::new(&problem, start.unwrap(), 0.0, &options, cpu(1)).unwrap();
    let outcome = simulation.advance_to(1.0).unwrap();
    let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
    assert_eq!(failure.status, Status::NonFinite);
    assert_eq!(failure.place, Some(("d".to_owned(), [13, 2, 4])));
    assert_eq!((failure.t, failure.steps), (0.0, 0));
    assert!(simulation.summaries().unwrap()[1].sum.is_finite());
}

/// What is given at boundaries, as a velocity or by a source is named where it is no number: neither the step nor the equations are at fault.
#[test]
fn what_is_given_and_not_finite_is_named() {
    let low = Face { axis: 0, high: false };
    let grid = Grid::new([8, 8, 1], 1.0).unwrap();
    let problem = || Problem::new(model(&[("c", "0.1*lap(c)")]), grid);
    let value = |text: &str| Boundary::Dirichlet(Quantity::from(text));
    let own = Boundaries::default().species(low, "c", value("ln(0.05 - t)"));
    let all = Boundaries::default().face(low, value("ln(0.05 - t)"));
    let still = || Quantity::from(0.0);
    let velocity = Velocity::Uniform([still(), Quantity::from("sqrt(0.05 - t)"), still()]);
    let rate = Quantity::from("1 / (0.06 - t)");
    let source = PointSource { species: "c".to_owned(), cell: [1, 1, 0], rate };
    for (problem, name) in [
        (problem().boundaries(own), "boundary.x_low.c"),
        (problem().boundaries(all), "boundary.x_low"),
        (problem().velocity(velocity, Advection::Upwind), "velocity"),
        (problem().source(source), "sources"),
    ] {
        let of = [Method::Euler, Method::Ssprk3, Method::Rkl2 { stages: Some(3) }];
        for method in of {
            let options = Options { force: true, ..Options::new(method, Steps::Fixed(0.02)) };
            let start = Field::<f64>::from_fn(&grid, 1, |_, _| 1.0).unwrap();
            let mut simulation = Simulation::new(&problem, start, 0.0, &options, cpu(1)).unwrap();
            let outcome = simulation.advance_to(1.0).unwrap();
            let Outcome::Failed(Failure { given: Some((given, t, x)), .. }) = outcome else {
                panic!("{name} {method:?}: {outcome:?}")
            };
            assert!(given.to_string().starts_with(name), "{given}");
            assert!(!x.is_finite() && (0.04..0.0801).contains(&t), "{name} {method:?}: {x} at {t}");
        }
    }
    let found = problem().boundaries(Boundaries::default().face(low, value("ln(-1)"))).check();
    assert!(found.unwrap_err().to_string().contains("must be finite"));
}

/// Limits of equations that are not linear in Laplacians are those of what is given at boundaries too, and of potentials as they are.
#[test]
fn limits_count_what_laplacians_are_made_of() {
    let rod = Grid::new([32, 1, 1], 1.0).unwrap();
    let hot = || Boundary::Dirichlet(Quantity::from(1000.0));
    let low = Face { axis: 0, high: false };
    let steep = || Problem::new(model(&[("c", "lap(c) + 0.1*lap(c)*abs(lap(c))")]), rod);
    let potential = model(&[("c", "0.05*lap(c + c^3) + 2*lap(c + c^3)^3/(1 + lap(c + c^3)^2)")]);
    let zero = |_: usize, _: [f64; 3]| 0.0;
    let block = |_: usize, [x, ..]: [f64; 3]| f64::from((10.0..20.0).contains(&x));
    // Half a cell before the value, and between two of them: (1 + 0.2 |lap c|) times what waves have at most.
    let across = 4.0 * 1.0 + 4.0;
    for (problem, start, expected) in [
        (
            steep().boundaries(Boundaries::default().face(low, hot())),
            Field::<f64>::from_fn(&rod, 1, zero),
            2.0 / (401.0 * 4.0),
        ),
        (
            steep().boundaries(Boundaries::default().axis(1, hot())).stencil(Stencil::Star),
            Field::<f64>::from_fn(&rod, 1, zero),
            2.0 / (801.0 * across),
        ),
        // The slope is 0.05 + 2 (3 m² + m⁴)/(1 + m²)² with m = −2, that of the potential 4.
        (
            Problem::new(potential, rod),
            Field::<f64>::from_fn(&rod, 1, block),
            2.0 / ((0.05 + 2.0 * 28.0 / 25.0) * 4.0 * 4.0),
        ),
    ] {
        let found = stability(&problem, &start.unwrap(), (0.0, 1.0)).unwrap().euler;
        assert!((found / expected - 1.0).abs() < 0.02, "{found} for {expected}");
    }
}

#[test]
fn an_observer_stops_a_simulation() {
    let problem = Builtin::Diffusion.problem([8, 8, 8]).unwrap();
    let start = Builtin::Diffusion.initial::<f32>(&problem.grid, 0).unwrap();
    let mut simulation =
        Simulation::new(&problem, start, 0.0, &Options::euler(0.1), cpu(1)).unwrap();
    let mut seen = Vec::new();
    let outcome = simulation.run_every(10.0, 4, &mut |simulation| {
        seen.push(simulation.counts().steps);
        if simulation.t() > 1.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(outcome.unwrap(), Outcome::Stopped);
    assert_eq!(seen, [4, 8, 12]);
}

/// Between any two sweeps of a step: the simulation stands where the step began, and goes on with the bits of one that nobody stopped.
#[test]
fn a_step_is_left_between_its_stages() {
    let problem = Builtin::Turing.problem([12, 10, 8]).unwrap();
    let start = Builtin::Turing.initial::<f64>(&problem.grid, 7).unwrap();
    let fixed = |method| Options { method, ..Options::euler(0.002) };
    let steps = Steps::Adaptive(Tolerance::new(1e-4, 1e-6));
    let adaptive = Options { steps, ..fixed(Method::Rkc { stages: None }) };
    for options in [
        fixed(Method::Ssprk3),
        fixed(Method::Rkc { stages: Some(5) }),
        fixed(Method::Rkl2 { stages: Some(3) }),
        adaptive,
    ] {
        let begin = || Simulation::new(&problem, start.clone(), 0.0, &options, cpu(1)).unwrap();
        let mut whole = begin();
        assert_eq!(whole.advance_to(0.02).unwrap(), Outcome::Reached);
        for after in 1..5 {
            let mut simulation = begin();
            let asked = Arc::new(AtomicUsize::new(0));
            let counter = Arc::clone(&asked);
            simulation.stop_when(move || counter.fetch_add(1, Ordering::Relaxed) + 1 == after);
            assert_eq!(simulation.advance_to(0.02).unwrap(), Outcome::Stopped);
            assert_eq!(asked.load(Ordering::Relaxed), after);
            if simulation.counts().steps == 0 {
                assert_eq!(simulation.t(), 0.0);
                assert_eq!(simulation.field().unwrap().get(0, [1, 2, 3]), start.get(0, [1, 2, 3]));
            }
            assert_eq!(simulation.advance_to(0.02).unwrap(), Outcome::Reached);
            assert_eq!(simulation.counts().steps, whole.counts().steps);
            let (found, wanted) = (simulation.field().unwrap(), whole.field().unwrap());
            for index in 0..problem.grid.cells() {
                let cell = problem.grid.cell(index);
                for s in 0..2 {
                    assert_eq!(found.get(s, cell).to_bits(), wanted.get(s, cell).to_bits());
                }
            }
        }
    }
}

/// What a step met before it was left says nothing about a shorter one that is taken then.
#[test]
fn a_step_that_is_left_after_overflow_leaves_nothing() {
    let problem =
        Problem::new(model(&[("u", "1 + exp(1e4 * (u - 0.5))")]), Grid::new([4; 3], 1.0).unwrap());
    let steps = Steps::Adaptive(Tolerance::new(1e-4, 1e-6));
    let options = Options::new(Method::Rkc { stages: None }, steps);
    for after in 1..3 {
        let start = Field::<f64>::zeros(&problem.grid, 1).unwrap();
        let mut simulation = Simulation::new(&problem, start, 0.0, &options, cpu(1)).unwrap();
        let asked = AtomicUsize::new(0);
        simulation.stop_when(move || asked.fetch_add(1, Ordering::Relaxed) + 1 == after);
        assert_eq!(simulation.advance_to(100.0).unwrap(), Outcome::Stopped);
        assert_eq!(simulation.advance_to(1e-3).unwrap(), Outcome::Reached);
        assert_eq!(simulation.counts().rejected, 0, "{after}");
    }
}

/// Fields that caches do not keep take two steps in a pass: the bits, the failing step and the
/// last finite field are those of single steps.
#[test]
fn steps_in_pairs_are_single_steps() {
    let grid = Grid::new([256, 256, 26], 1.0).unwrap();
    // After t = 0.045 there is no root: the sixth step fails.
    let boundary = Boundary::Dirichlet(Quantity::from("sqrt(0.045 - t)"));
    let problem =
        Problem::new(model(&[("c", "lap(c)")]), grid).boundaries(Boundaries::all(boundary));
    let mut cell = 0;
    let start = Field::<f64>::from_fn(&grid, 1, |_, _| {
        cell += 1;
        noise(5, 0, cell)
    })
    .unwrap();
    let mut simulation =
        Simulation::new(&problem, start.clone(), 0.0, &Options::euler(0.01), cpu(2)).unwrap();
    let outcome = simulation.run_steps(8, 0, &mut |_| ControlFlow::Continue(())).unwrap();
    let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
    assert_eq!((failure.status, failure.steps), (Status::NonFinite, 5));
    assert_eq!(failure.place, Some(("c".to_owned(), [0, 0, 0])));
    let engine = Engine::<f64>::new(&problem, &cpu(1)).unwrap();
    let (mut now, mut next) = (start, engine.zeros().unwrap());
    for n in 0..5 {
        let what = odeum_fields::Combination { rhs: 0.01, own: None, terms: &[(1.0, &now)] };
        assert!(engine.sweep(f64::from(n) * 0.01, &now, &what, &mut next));
        std::mem::swap(&mut now, &mut next);
    }
    assert!(*simulation.field().unwrap() == now);
}
