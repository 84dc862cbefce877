//! The spectral radius of RKC is found wherever it hides: with fixed steps an unseen one is a blow-up.

use crate::extremes::{ensemble, everywhere};
use odeum_ode::{
    Compiled, Controller, DynSystem, Method, Options, Real, Solution, Status, System, Tolerance,
};

/// The stiff component is moved by nothing but itself.
#[derive(Clone, Copy)]
enum Stiff {
    /// x' = λ (5 − x), y' = x − y.
    Rising,
    /// x' = −λ (x − cos t), y' = sin t − y.
    Following,
    /// x' = −λ (x − cos t), y' = −exp(min(t, 12)) (y − sin t): y becomes the stiffer one.
    Overtaken,
    /// T' = (300 − T)/10, c' = 2 − λ c / (c + 10⁻⁶): the rate of a small amount, beside a temperature.
    Saturated,
    /// a' = −a/10, c' = 1 − λ c².
    Quadratic,
}

impl System for Stiff {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        match self {
            Stiff::Rising => {
                dydt[0] = p[0] * (R::lit(5.0) - y[0]);
                dydt[1] = y[0] - y[1];
            }
            Stiff::Following => {
                dydt[0] = -p[0] * (y[0] - t.cos());
                dydt[1] = t.sin() - y[1];
            }
            Stiff::Overtaken => {
                dydt[0] = -p[0] * (y[0] - t.cos());
                dydt[1] = -t.min(R::lit(12.0)).exp() * (y[1] - t.sin());
            }
            Stiff::Saturated => {
                dydt[0] = R::lit(0.1) * (R::lit(300.0) - y[0]);
                dydt[1] = R::lit(2.0) - p[0] * y[1] / (y[1] + R::lit(1e-6));
            }
            Stiff::Quadratic => {
                dydt[0] = -R::lit(0.1) * y[0];
                dydt[1] = R::lit(1.0) - p[0] * y[1] * y[1];
            }
        }
    }
}

fn end<T: Compiled>(
    system: Stiff,
    (start, rate, end): ([f64; 2], f64, f64),
    method: &Method,
    tolerance: (f64, f64),
) -> Vec<(String, Solution<T>)> {
    let options = Options::new(Tolerance::new(tolerance.0, tolerance.1)).max_steps(5000);
    let ensemble = ensemble::<T>(&start, 3, &[rate; 3], (0.0, end));
    everywhere(&DynSystem::new(system), &ensemble, method, &options)
}

fn near<T: Compiled>(found: &[(String, Solution<T>)], wanted: [f64; 2], within: f64) {
    for (place, solution) in found {
        for s in 0..solution.len() {
            let y: Vec<f64> = solution.y(s).iter().map(|y| y.to_f64()).collect();
            let what = format!("{place}: {:?}, {y:?} for {wanted:?}", solution.status[s]);
            assert_eq!(solution.status[s], Status::Success, "{what}");
            assert!(y.iter().zip(wanted).all(|(y, wanted)| (y - wanted).abs() < within), "{what}");
        }
    }
}

fn fixed(h: f64) -> Method {
    Method::rkc().with_controller(Controller::fixed(h))
}

#[test]
fn a_start_from_zero_hides_no_stiffness() {
    // Fixed steps damp x as slowly as they may, but towards 5.
    for h in [0.01, 0.02] {
        let of = ([0.0; 2], 1e3, 0.1);
        let double = end::<f64>(Stiff::Rising, of, &fixed(h), (1e-6, 1e-9));
        let single = end::<f32>(Stiff::Rising, of, &fixed(h), (1e-4, 1e-6));
        near(&double, [2.5, 0.25], 2.6);
        near(&single, [2.5, 0.25], 2.6);
    }
    let of = ([0.0; 2], 1e6, 10.0);
    let wanted = [5.0, 5.0 * (1.0 - (-10.0_f64).exp())];
    near(&end::<f64>(Stiff::Rising, of, &Method::rkc(), (1e-6, 1e-9)), wanted, 1e-4);
}

#[test]
fn a_component_at_rest_hides_no_stiffness() {
    let wanted = [1.0_f64.cos(), (-1.0_f64).exp() * 1.5 + 0.5 * (1.0_f64.sin() - 1.0_f64.cos())];
    let of = ([1.0, 1.0], 1e3, 1.0);
    near(&end::<f64>(Stiff::Following, of, &fixed(0.005), (1e-6, 1e-9)), wanted, 2e-3);
}

#[test]
fn stiffness_that_moves_to_another_component_is_found() {
    let of = ([1.001, 1.0], 1e3, 8.0);
    let wanted = [8.0_f64.cos(), 8.0_f64.sin()];
    near(&end::<f64>(Stiff::Overtaken, of, &fixed(0.005), (1e-6, 1e-9)), wanted, 1e-2);
}

/// Far beyond 10⁻⁶ the rate of c does not change.
#[test]
fn a_large_component_hides_no_stiffness_of_a_small_one() {
    let of = ([1000.0, 0.0], 50.0, 0.2);
    let wanted = [300.0 + 700.0 * (-0.02_f64).exp(), 0.0];
    near(&end::<f64>(Stiff::Saturated, of, &fixed(0.01), (1e-6, 1e-9)), wanted, 1e-2);
    near(&end::<f64>(Stiff::Saturated, of, &Method::rkc(), (1e-6, 1e-6)), wanted, 1e-2);
}

/// On the two sides of c, as far apart as a part of a, the rates differ.
#[test]
fn an_estimate_settles_where_f_is_curved() {
    let of = ([1.0, 0.01], 1e4, 1.0);
    let wanted = [(-0.1_f64).exp(), 0.01];
    near(&end::<f32>(Stiff::Quadratic, of, &Method::rkc(), (1e-4, 1e-7)), wanted, 1e-3);
}

/// h' = 1 − h √h: a basin that fills over a weir. Below zero there is no rate.
struct Basin;

impl System for Basin {
    fn dim(&self) -> usize {
        1
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = p[0] - y[0] * y[0].sqrt();
    }
}

#[test]
fn the_estimate_stays_where_there_is_a_rate() {
    let options = Options::new(Tolerance::new(1e-6, 1e-9));
    let ensemble = ensemble::<f64>(&[0.0], 3, &[1.0; 3], (0.0, 10.0));
    for (place, found) in everywhere(&DynSystem::new(Basin), &ensemble, &Method::rkc(), &options) {
        assert_eq!(found.status[0], Status::Success, "{place}");
        assert!((found.y(0)[0] - 0.999_999_45).abs() < 1e-5, "{place}: {:?}", found.y(0));
        assert!(found.stats[0].nfev < 2000, "{place}: {:?}", found.stats[0]);
    }
}

/// y' = −p y.
struct Decay;

impl System for Decay {
    fn dim(&self) -> usize {
        1
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = -p[0] * y[0];
    }
}

#[test]
fn what_has_decayed_to_nothing_ends() {
    let options = Options::new(Tolerance::new(1e-4, 1e-6));
    let ensemble = ensemble::<f32>(&[1.0], 3, &[1.0; 3], (0.0, 1e4));
    for (place, found) in everywhere(&DynSystem::new(Decay), &ensemble, &Method::rkc(), &options) {
        assert_eq!(found.status[0], Status::Success, "{place}, t = {}", found.t[0]);
        assert!(found.y(0)[0].abs() < 1e-5, "{place}: {:?}", found.y(0));
    }
}
