//! How fast a tape is, next to the same right-hand side compiled: evaluations per second on one
//! thread of Pleiades, of a small reaction with elementary functions, and of Lotka–Volterra.
//!
//! `cargo run --release -p odeum-core --example tape_speed`

use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Lanes, Real, System, Tape};
use std::hint::black_box;
use std::time::Instant;

#[path = "../tests/language/systems/mod.rs"]
#[allow(dead_code)]
mod systems;
use systems::Pleiades;

/// Ignition in miniature: an Arrhenius rate, heat release and a periodic inflow.
struct Mixed;

impl System for Mixed {
    fn dim(&self) -> usize {
        4
    }
    fn n_params(&self) -> usize {
        4
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let k = p[0] * (-(p[1] / y[3])).exp();
        let r = k * y[0] * y[1];
        dydt[0] = -r + (p[2] * t).sin();
        dydt[1] = -r;
        dydt[2] = r - R::lit(0.5) * y[2];
        dydt[3] = R::lit(3.0) * r - p[3] * (y[3] - R::lit(300.0));
    }
}

/// Lotka–Volterra: cheap enough to show the cost of the interpretation.
struct Cheap;

impl System for Cheap {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        4
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let meetings = y[0] * y[1];
        dydt[0] = p[0] * y[0] - p[1] * meetings;
        dydt[1] = p[3] * meetings - p[2] * y[1];
    }
}

/// Evaluations of one system per second, in the best of fifty runs.
struct Time<'a, S>(&'a S);

impl<S: System> LaneWork<f64> for Time<'_, S> {
    type Output = f64;
    #[inline(always)]
    fn run<L: Lanes<Scalar = f64>>(self) -> f64 {
        let (n, m) = (self.0.dim(), self.0.n_params());
        let y: Vec<L> = (0..n).map(|i| L::lit(1.0 + 0.37 * ((i * i) % 11) as f64)).collect();
        let p: Vec<L> = (0..m).map(|j| L::lit(0.5 + 0.1 * j as f64)).collect();
        let mut dydt = vec![L::lit(0.0); n];
        let mut work = vec![L::lit(0.0); self.0.workspace()];
        let mut best = f64::INFINITY;
        for _ in 0..50 {
            let start = Instant::now();
            for _ in 0..2000 {
                self.0.rhs_in(L::lit(0.3), black_box(&y), black_box(&p), &mut dydt, &mut work);
                black_box(&mut dydt);
            }
            best = best.min(start.elapsed().as_secs_f64() / 2000.0);
        }
        L::WIDTH as f64 / best
    }
}

#[allow(clippy::print_stdout)]
fn compare(name: &str, system: &impl System) {
    let tape = Tape::trace(system);
    let isa = Isa::best();
    let compiled = isa.dispatch(Time(system));
    let compiled_wide = isa.dispatch_wide(Time(system));
    let taped = isa.dispatch_wide(Time(&tape));
    println!(
        "{name:10} {:4} instructions {:3} workspace; compiled {compiled:.3e}/s, wide {compiled_wide:.3e}/s, tape {taped:.3e}/s: {:.2}",
        tape.program().len(),
        tape.workspace(),
        taped / compiled.max(compiled_wide)
    );
}

fn main() {
    compare("pleiades", &Pleiades);
    compare("mixed", &Mixed);
    compare("cheap", &Cheap);
}
