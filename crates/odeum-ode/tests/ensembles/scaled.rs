//! States whose squares are beyond the range of numbers, as number densities in single precision.

use crate::event::{Oscillator, places, solve};
use crate::host;
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::{
    Compiled, Controller, Device, DynSystem, Ensemble, Method, Monitor, Options, Real, Solution,
    Solver, Status, System, Tolerance,
};

/// A chain of three in units of s: y₀' = −k y₀ + 0.3 r, y₁' = k y₀ − r, y₂' = 0.7 r − y₂/2 + s/10, where r = y₁ y₂ / s.
struct Chain;

impl System for Chain {
    fn dim(&self) -> usize {
        3
    }
    fn n_params(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let (k, s) = (p[0], p[1]);
        let rate = y[1] * (y[2] / s);
        dydt[0] = R::lit(0.3) * rate - k * y[0];
        dydt[1] = k * y[0] - rate;
        dydt[2] = R::lit(0.7) * rate - R::lit(0.5) * y[2] + R::lit(0.1) * s;
    }
}

type Solve<'a, T> = &'a dyn Fn(&Ensemble<T>, &Method, &Options) -> Solution<T>;

/// What is found in units of 2 to this power.
fn found<T: Compiled>(exponent: i32, method: &Method, by: Solve<'_, T>) -> Solution<T> {
    let unit = 2.0_f64.powi(exponent);
    let slopes = [20.0, 40.0, 80.0].map(T::from_f64);
    let start = [1.0, 0.25, 0.5].map(|y| T::from_f64(y * unit));
    let params = slopes.into_iter().chain([T::from_f64(unit); 3]).collect();
    let ensemble = Ensemble::repeated(&start, 3, (0.0, 1.0)).unwrap().with_params(params).unwrap();
    by(&ensemble, method, &Options::new(Tolerance::new(1e-4, 1e-6 * unit)))
}

/// The unit is a power of two, and changes nothing but the exponents of numbers.
fn unit_does_not_matter<T: Compiled>(exponent: i32, name: &str, by: Solve<'_, T>) {
    for method in Method::all() {
        let wanted = found(0, &method, by);
        assert_eq!(wanted.status, [Status::Success; 3], "{}", method.name());
        for exponent in [exponent, -exponent] {
            let found = found(exponent, &method, by);
            let what = format!("{} in {}, {name}, 2^{exponent}", method.name(), T::NAME);
            assert_eq!(found.status, wanted.status, "{what}");
            let unit = 2.0_f64.powi(-exponent);
            let ends = found.states.iter().map(|y| y.to_f64() * unit);
            assert!(ends.eq(wanted.states.iter().map(|y| y.to_f64())), "{what}");
            assert_eq!(found.stats, wanted.stats, "{what}");
        }
    }
}

fn everywhere<T: Compiled>(exponent: i32) {
    let system = DynSystem::new(Chain);
    for place in places() {
        unit_does_not_matter::<T>(exponent, &format!("{place:?}"), &|ensemble, method, options| {
            solve(place, &system, ensemble, method, options)
        });
    }
    if host::is_available() {
        unit_does_not_matter::<T>(exponent, "groups", &|ensemble, method, options| {
            let devices = Devices::new(vec![host::setup().device()]).threads_at_least(2);
            devices.solve_any(&system, ensemble, method, options, &Monitor::new()).unwrap()
        });
    }
}

/// A rise above a level within a step, and back below it.
fn excursions_are_found<T: Compiled>(exponent: i32) {
    let system = DynSystem::new(Oscillator);
    let found = |place, method: &Method, exponent: i32| {
        let unit = 2.0_f64.powi(exponent);
        let start = [0.0, unit].map(T::from_f64);
        let ensemble = Ensemble::repeated(&start, 1, (0.0, 2.4)).unwrap();
        let options = Options::new(Tolerance::new(1e-4, 1e-6 * unit));
        solve(place, &system, &ensemble, method, &options.end_when_rises(0, vec![0.97 * unit]))
    };
    for place in places() {
        for method in [Method::dopri5(), Method::rodas5p()] {
            let method = method.with_controller(Controller::fixed(1.2));
            let wanted = found(place, &method, 0);
            assert_eq!(wanted.status, [Status::TerminalEvent], "{} {place:?}", method.name());
            for exponent in [exponent, -exponent] {
                let found = found(place, &method, exponent);
                let what = format!("{} in {}, {place:?}, 2^{exponent}", method.name(), T::NAME);
                assert_eq!(
                    (found.status, found.t),
                    (wanted.status.clone(), wanted.t.clone()),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn squares_beyond_single_precision_do_not_matter() {
    everywhere::<f32>(83);
}

#[test]
fn squares_beyond_double_precision_do_not_matter() {
    everywhere::<f64>(600);
}

#[test]
fn large_and_small_rises_within_a_step_are_found() {
    excursions_are_found::<f32>(83);
    excursions_are_found::<f64>(600);
}

#[test]
#[ignore = "needs a GPU"]
fn squares_do_not_matter_on_a_gpu() {
    fn on_gpu<T: Compiled>(exponent: i32) {
        let system = DynSystem::new(Chain);
        unit_does_not_matter::<T>(exponent, "GPU", &|ensemble, method, options| {
            let solver = Solver::new(&system, method, &Device::cuda(0), options).unwrap();
            solver.solve(ensemble).unwrap()
        });
    }
    on_gpu::<f32>(83);
    on_gpu::<f64>(600);
}
