//! The order that stiffness leaves: the problem of Prothero & Robinson, Math. Comp. 28 (1974).
//!
//! y' = λ (y − φ(t)) + φ'(t) with y(0) = φ(0) has the smooth solution φ however large −λ is. With
//! z = hλ → −∞ and h → 0 the errors of a method go as h^k/z, with a k that has little to do with
//! its classical order (Hairer & Wanner II, sec. IV.15). At a fixed λ that is order k − 1 in h.

use odeum_ode::{
    Controller, Device, DynSystem, Ensemble, Method, Options, Real, Solver, System, Tolerance,
};

/// φ = sin; the parameter is −λ.
struct Prothero;

impl System for Prothero {
    fn dim(&self) -> usize {
        1
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = t.cos() - p[0] * (y[0] - t.sin());
    }
}

/// Error at t = 2 after `steps` equal steps.
fn error(method: &Method, steps: u32, stiffness: f64) -> f64 {
    let method = method.clone().with_controller(Controller::fixed(2.0 / f64::from(steps)));
    let ensemble = Ensemble::new(1, vec![0.0], (0.0, 2.0)).unwrap();
    let ensemble = ensemble.with_shared_params(vec![stiffness]).unwrap();
    // The tolerance of fixed steps is that of Newton's iteration.
    let tight = Options::new(Tolerance::new(1e-12, 1e-14));
    let system = DynSystem::new(Prothero);
    let solver = Solver::new(system, &method, &Device::cpu(), &tight).unwrap();
    let solution = solver.solve(&ensemble).unwrap();
    assert!(solution.all_succeeded(), "{:?}", solution.status);
    (solution.y(0)[0] - 2.0_f64.sin()).abs()
}

/// The error goes as h^k/z: order k − 1 in h, and inversely with λ.
fn goes_as(method: &Method, k: i32) {
    let errors = [20, 40].map(|steps| error(method, steps, 1e6));
    let observed = (errors[0] / errors[1]).log2();
    assert!((observed - f64::from(k - 1)).abs() < 0.2, "order {observed:.2} from {errors:?}");
    let softer = error(method, 20, 1e5);
    assert!((softer / errors[0] / 10.0 - 1.0).abs() < 0.1, "{softer:e}, {:e}", errors[0]);
}

#[test]
fn rodas3_keeps_two_of_its_orders() {
    goes_as(&Method::rodas3(), 2);
}

#[test]
fn rodas4_keeps_two_of_its_orders() {
    goes_as(&Method::rodas4(), 2);
}

/// Its coefficients meet conditions for this problem: Steinebach, BIT Numer. Math. 63 (2023) 27.
#[test]
fn rodas5p_keeps_four_of_its_orders() {
    goes_as(&Method::rodas5p(), 4);
}

/// As ROS34PW2 was made for: Rang & Angermann, BIT Numer. Math. 45 (2005) 761.
#[test]
fn ros34pw2_keeps_its_order() {
    goes_as(&Method::ros34pw2(), 3);
}

/// As its stages do: U₂ and U₃ are right to second order alone when φ drives them.
#[test]
fn exprb43_keeps_its_orders() {
    goes_as(&Method::exprb43(), 4);
}

/// Radau IIA of s stages has k = s + 1: Hairer & Wanner II, table IV.15.1.
#[test]
fn radau_keeps_four_of_its_orders() {
    goes_as(&Method::radau(), 4);
}
