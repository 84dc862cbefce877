//! Numbers below the least normal one: zero to sweeps, and untouched outside of them.

use crate::common::{methods, model};
use odeum_fields::{
    Combination, Engine, Field, Grid, Method, Options, Outcome, Precision, Problem, Simulation,
    Steps, noise,
};
use odeum_ode::Cpu;
use std::hint::black_box;
use std::ops::ControlFlow;

fn gray_scott(shape: [usize; 3]) -> Problem {
    let equations =
        [("u", "0.16*lap(u) - u*v^2 + 0.037*(1 - u)"), ("v", "0.08*lap(v) + u*v^2 - 0.097*v")];
    Problem::new(model(&equations), Grid::new(shape, 1.0).unwrap())
}

/// v is zero but in one cell; its skirts fall below everything.
fn drop<T: Precision>(grid: &Grid) -> Field<T> {
    let middle = grid.shape().map(|n| n as f64 / 2.0);
    let near = |at: [f64; 3]| (0..3).all(|axis| (at[axis] - middle[axis]).abs() < 1.0);
    Field::from_fn(grid, 2, |s, at| if (s == 0) != near(at) { 1.0 } else { 0.0 }).unwrap()
}

fn subnormals<T: Precision>(field: &Field<T>) -> usize {
    let all = (0..field.species()).flat_map(|s| field.to_values(s));
    let least = if T::NAME == "f32" { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    all.map(|x| x.to_f64().abs()).filter(|x| *x > 0.0 && *x < least).count()
}

/// Whether this thread keeps subnormal numbers, as results and as operands.
fn keeps() -> bool {
    let small = black_box(f32::MIN_POSITIVE) * black_box(0.5);
    let large = black_box(small) * black_box(1e30);
    small > 0.0 && large > 0.0
}

fn advanced<T: Precision>(problem: &Problem, options: &Options, threads: usize) -> Field<T> {
    let cpu = Cpu { threads: Some(threads), ..Cpu::default() };
    let mut simulation =
        Simulation::new(problem, drop::<T>(&problem.grid), 0.0, options, cpu).unwrap();
    let mut seen = 0;
    let outcome = simulation.run_every(40.0, 5, &mut |simulation| {
        assert!(keeps(), "whoever watches has its own numbers");
        seen += 1;
        assert_eq!(subnormals(&simulation.field().unwrap()), 0, "{:?} {threads}", options.method);
        ControlFlow::Continue(())
    });
    assert!(outcome.unwrap() == Outcome::Reached && seen > 0 && keeps());
    simulation.field().unwrap().into_owned()
}

#[test]
fn fields_have_none_after_a_step_of_any_method() {
    assert!(keeps());
    // Alone along a rod, alone, and by several threads; the last by code and interpreted.
    for shape in [[200, 1, 1], [60, 40, 1], [80, 60, 40]] {
        let problem = gray_scott(shape);
        for options in methods(0.5) {
            let (one, two) =
                (advanced::<f32>(&problem, &options, 1), advanced(&problem, &options, 2));
            assert!(one == two, "{shape:?} {:?}", options.method);
            let zeros = one.to_values(1).iter().filter(|v| **v == 0.0).count();
            assert!(zeros > 10 || shape[0] < 200, "far from the drop there is nothing");
        }
    }
}

#[test]
fn operands_count_as_zero() {
    for shape in [[64, 1, 1], [24, 18, 1]] {
        let problem = gray_scott(shape);
        let engine = Engine::<f32>::new(&problem, &Cpu::default()).unwrap();
        let tiny = |s: usize, _: [f64; 3]| if s == 0 { 1.0 } else { 1e-40 };
        let u = Field::<f32>::from_fn(&problem.grid, 2, tiny).unwrap();
        assert!(subnormals(&u) > 0);
        let mut out = engine.zeros().unwrap();
        let what = Combination { rhs: 0.5, own: None, terms: &[(1.0, &u)] };
        assert!(engine.sweep(0.0, &u, &what, &mut out));
        assert!(out.to_values(1).iter().all(|v| *v == 0.0));
        let sum = Combination { rhs: 0.0, own: None, terms: &[(1.0, &u), (1e30, &u)] };
        assert!(engine.sweep(0.0, &u, &sum, &mut out));
        assert!(out.to_values(1).iter().all(|v| *v == 0.0) && keeps());
    }
}

#[test]
fn threads_of_the_caller_stay_as_they_are() {
    let problem = gray_scott([40, 40, 40]);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for threads in [1, 2] {
        let cpu = Cpu { threads: Some(threads), ..Cpu::default() };
        let engine = Engine::<f64>::new(&problem, &cpu).unwrap();
        let u = Field::<f64>::from_fn(&problem.grid, 2, |s, at| {
            0.5 + 0.1 * noise(3, s, at[0] as usize)
        });
        let u = u.unwrap();
        pool.broadcast(|_| {
            let mut out = engine.zeros().unwrap();
            assert!(engine.rhs(0.0, &u, &mut out) && keeps());
        });
        let mut other = engine.zeros().unwrap();
        let small = Engine::<f64>::new(&gray_scott([8, 8, 1]), &cpu).unwrap();
        let wrong = std::panic::AssertUnwindSafe(|| small.rhs(0.0, &u, &mut other));
        assert!(std::panic::catch_unwind(wrong).is_err() && keeps(), "after a panic");
    }
}

#[test]
fn steps_below_the_least_normal_number_keep_the_field() {
    fn kept<T: Precision>(least: f64) {
        for shape in [[200, 1, 1], [60, 40, 1], [20, 16, 12]] {
            let problem = gray_scott(shape);
            let start = drop::<T>(&problem.grid);
            for step in [0.9 * least, 1e-5 * least] {
                for options in methods(step).into_iter().take(4) {
                    let cpu = Cpu::default();
                    let mut simulation =
                        Simulation::new(&problem, start.clone(), 0.0, &options, cpu).unwrap();
                    let outcome = simulation.advance_to(3.0 * step).unwrap();
                    assert_eq!(outcome, Outcome::Reached);
                    let end = simulation.field().unwrap();
                    for s in 0..2 {
                        for (a, b) in start.to_values(s).iter().zip(end.to_values(s)) {
                            let change = (a.to_f64() - b.to_f64()).abs();
                            assert!(change < 1e-5, "{shape:?} {step:e} {:?}", options.method);
                        }
                    }
                }
            }
        }
    }
    kept::<f32>(f64::from(f32::MIN_POSITIVE));
    kept::<f64>(f64::MIN_POSITIVE);
}

#[test]
fn fractions_above_one_are_forced_or_refused() {
    let problem = gray_scott([8, 8, 1]);
    for (fraction, force, is_taken) in
        [(1.0, false, true), (1.0 + 1e-9, false, false), (1.2, true, true), (1e20, false, false)]
    {
        let options = Options { force, ..Options::new(Method::Euler, Steps::Fraction(fraction)) };
        let start = drop::<f64>(&problem.grid);
        let begun = Simulation::new(&problem, start, 0.0, &options, Cpu::default()).map(|_| ());
        let said = begun.map_err(|error| error.to_string());
        assert_eq!(said.is_ok(), is_taken, "{said:?}");
        assert!(is_taken || said.unwrap_err().contains("at most 1"));
    }
}
