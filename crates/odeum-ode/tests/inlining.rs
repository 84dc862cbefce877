//! A right-hand side that was not inlined is slow; the solution says so.

// A test that cannot go on fails.
#![allow(clippy::unwrap_used)]

use odeum_ode::{
    Cpu, Device, DynSystem, Ensemble, Method, Options, Real, Solution, Solver, System, Tolerance,
};

use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Evaluations of all [`Counted`] systems.
static EVALUATIONS: AtomicUsize = AtomicUsize::new(0);

/// A system of a caller, or one that says of itself that it is interpreted.
struct Counted<const INTERPRETED: bool>;

impl<const INTERPRETED: bool> System for Counted<INTERPRETED> {
    const INTERPRETED: bool = INTERPRETED;
    fn dim(&self) -> usize {
        N
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        EVALUATIONS.fetch_add(1, Ordering::Relaxed);
        chain(y, dydt);
    }
}

/// Evaluations in each of three calls of one solver.
fn evaluations(system: impl System + Send + 'static) -> [usize; 3] {
    let ensemble = Ensemble::repeated(&[0.5; N], 1000, (0.0, 0.1)).unwrap();
    let options = Options::new(Tolerance::new(1e-6, 1e-6));
    let device = Device::Cpu(Cpu { threads: Some(1), ..Cpu::default() });
    let solver = Solver::new(DynSystem::new(system), &Method::rkck(), &device, &options).unwrap();
    [(); 3].map(|()| {
        let before = EVALUATIONS.load(Ordering::Relaxed);
        solver.solve(&ensemble).unwrap();
        EVALUATIONS.load(Ordering::Relaxed) - before
    })
}

#[test]
fn a_solver_asks_once_and_never_of_what_is_interpreted() {
    if odeum_ode::Isa::best() == odeum_ode::Isa::Scalar {
        eprintln!("skipped: this CPU has no lanes");
        return;
    }
    let [first, second, third] = evaluations(Counted::<false>);
    assert!(first > second && second == third, "{first} {second} {third}");
    let [first, second, third] = evaluations(Counted::<true>);
    assert!(first == second && second == third, "{first} {second} {third}");
}
