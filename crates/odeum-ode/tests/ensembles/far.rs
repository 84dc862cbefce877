//! Far from t = 0, where the times themselves are rounded by much.

use crate::event::{places, solve};
use odeum_ode::{DynSystem, Ensemble, FirstStep, Method, Options, Real, System, Tolerance};

/// y' = −a above 1/2, −0.3 a y − 0.05 below; z' = y.
struct Jumps;

impl System for Jumps {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let below = R::lit(-0.3) * p[0] * y[0] - R::lit(0.05);
        dydt[0] = R::select(R::lit(0.5).lt(y[0]), -p[0], below);
        dydt[1] = y[0];
    }
}

/// y after `time`.
fn exact(start: f64, a: f64, time: f64) -> f64 {
    let (since, rest) = (time - (start - 0.5) / a, 0.05 / (0.3 * a));
    (0.5 + rest) * (-0.3 * a * since).exp() - rest
}

const START: f64 = 1e8;
const SYSTEMS: usize = 200;

fn ensemble() -> Ensemble<f64> {
    let spread = |phase: f64| (0..SYSTEMS).map(move |s| (f64::from(s as u32) * phase).fract());
    let starts =
        spread(0.618_034).map(|u| 0.7 + 0.6 * u).chain((0..SYSTEMS).map(|_| 0.0)).collect();
    let slopes: Vec<f64> = spread(0.754_878).map(|u| 0.7 + 0.6 * u).collect();
    let ensemble = Ensemble::new(2, starts, (START, START + 3.0)).unwrap();
    ensemble.with_params(slopes).unwrap()
}

fn succeeds_with(options: &Options, name: &str) {
    let (system, ensemble) = (DynSystem::new(Jumps), ensemble());
    for place in places() {
        for method in Method::all() {
            let found = solve(place, &system, &ensemble, &method, options);
            let name = format!("{name} by {} on the {place:?}", method.name());
            for (s, status) in found.status.iter().enumerate() {
                assert!(status.is_success(), "{name}: {status:?} of system {s} at {}", found.t[s]);
                let exact = exact(ensemble.states()[s], ensemble.params()[s], 3.0);
                let error = (found.y(s)[0] - exact).abs();
                assert!(error < 1e-5, "{name}: {error:e} of system {s}");
            }
        }
    }
}

/// Steps of twenty roundings of the time pass the error test across the jump.
#[test]
fn jumps_of_the_state_are_passed() {
    succeeds_with(&Options::new(Tolerance::new(2e-7, 1e-9)), "jumps");
}

/// The rounding of the time is 1.5e-8.
#[test]
fn given_first_steps_move_the_time() {
    let options = Options::new(Tolerance::new(2e-7, 1e-9));
    succeeds_with(&options.clone().first_step(FirstStep::Size(1e-12)), "a size");
    succeeds_with(&options.first_step(FirstStep::Fraction(1e-12)), "a fraction");
}
