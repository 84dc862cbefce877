//! A right-hand side that was not inlined is slow; the solution says so.

// A test that cannot go on fails.
#![allow(clippy::unwrap_used)]

use odeum_ode::{
    Device, DynSystem, Ensemble, Method, Options, Real, Solution, Solver, System, Tolerance,
};

const N: usize = 16;

#[inline(always)]
fn chain<R: Real>(y: &[R], dydt: &mut [R]) {
    for i in 0..N {
        let next = y[(i + 1) % N];
        dydt[i] = next * (y[i] - next) * R::lit(0.1) + (next - y[i]) * y[(i + 2) % N];
    }
}

struct Inlined;

impl System for Inlined {
    fn dim(&self) -> usize {
        N
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        chain(y, dydt);
    }
}

struct Forgotten;

impl System for Forgotten {
    fn dim(&self) -> usize {
        N
    }
    #[inline(never)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        chain(y, dydt);
    }
}

fn run(system: impl System + Send + 'static) -> Solution<f64> {
    let ensemble = Ensemble::repeated(&[0.5; N], 1000, (0.0, 0.1)).unwrap();
    let options = Options::new(Tolerance::new(1e-6, 1e-6));
    let system = DynSystem::new(system);
    let solver = Solver::new(system, &Method::rkck(), &Device::cpu(), &options).unwrap();
    solver.solve(&ensemble).unwrap()
}

#[test]
fn a_forgotten_inline_attribute_is_reported() {
    if odeum_ode::Isa::best() == odeum_ode::Isa::Scalar {
        eprintln!("skipped: this CPU has no lanes");
        return;
    }
    assert!(run(Inlined).warnings.is_empty());
    let warnings = run(Forgotten).warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("#[inline(always)]"), "{warnings:?}");
}
