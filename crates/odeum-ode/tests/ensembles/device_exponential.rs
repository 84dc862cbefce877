//! Exponential methods by groups of threads against lanes of the CPU.

use crate::host;
use odeum_core::{Real, System, Tape};
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::method::exponential::Action;
use odeum_ode::problems::{self, Problem, WithSystem};
use odeum_ode::{
    Device, DynSystem, Ensemble, Method, Monitor, Options, Solution, Solver, Stats, Status,
    Tolerance,
};

/// By the kernels on the host device, and by the CPU.
fn both<S: System>(
    system: &S,
    ensemble: &Ensemble<f64>,
    method: &Method,
    options: &Options,
) -> [Solution<f64>; 2] {
    let devices = Devices::new(vec![host::setup().device()]);
    let found = devices.solve(system, ensemble, method, options, &Monitor::new()).unwrap();
    let system = DynSystem::from(Tape::trace(system));
    let solver = Solver::new(system, method, &Device::cpu(), options).unwrap();
    [found, solver.solve(ensemble).unwrap()]
}

fn methods() -> Vec<Method> {
    let krylov = |method: Method, max_dimension: u32| {
        let Method::Exponential(mut method) = method else { return method };
        method.action = Action::Krylov { max_dimension };
        Method::Exponential(method)
    };
    vec![
        Method::exprb43(),
        Method::exp4(),
        krylov(Method::exprb43(), 40),
        krylov(Method::exp4(), 12),
    ]
}

struct Compared<'a>(&'a Problem, Method);

impl WithSystem for Compared<'_> {
    type Output = ();
    fn run<S: System>(self, system: &S) {
        let Compared(problem, method) = self;
        let ensemble = problem.ensemble::<f64>(1).unwrap();
        let tolerance = Tolerance::new(1e-4, 1e-8);
        let options = Options::new(tolerance).max_steps(10_000);
        let [found, wanted] = both(system, &ensemble, &method, &options);
        let what = format!("{} {method:?}", problem.name);
        assert_eq!(found.status, wanted.status, "{what}");
        assert_eq!(found.status[0], Status::Success, "{what}");
        let (there, here) = (found.stats[0], wanted.stats[0]);
        // Each attempt has its factors and the slopes of its later stages, each step its Jacobian and slope.
        for stats in [there, here] {
            assert_eq!(stats.njev, stats.steps, "{what}");
            assert_eq!(stats.nlu, stats.attempts(), "{what}");
            assert_eq!(stats.nfev, stats.steps + 2 * stats.attempts(), "{what}");
        }
        // Roundings and logarithms of single precision may move a step across a limit.
        let near = |a: u32, b: u32| a.abs_diff(b) <= 1 + b / 50;
        assert!(near(there.steps, here.steps), "{what}: {there:?}, {here:?}");
        assert!(near(there.rejected, here.rejected), "{what}: {there:?}, {here:?}");
        for (found, wanted) in found.y(0).iter().zip(wanted.y(0)) {
            let size = 1e-8 / 1e-4 + wanted.abs();
            assert!((found - wanted).abs() < 1e-5 * size, "{what}: {found} {wanted}");
        }
    }
}

#[test]
fn steps_are_those_of_the_processor() {
    if !host::is_available() {
        return;
    }
    for name in ["robertson", "hires", "pollu", "van_der_pol_ring", "brusselator_1d"] {
        let problem = problems::find(name).unwrap();
        for method in methods() {
            problem.with_system(Compared(&problem, method));
        }
    }
}

/// y' = −1.
struct Ramp;

impl System for Ramp {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, _y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(-1.0);
    }
}

/// What comes to zero at the end of the span is nothing, which no tolerance makes out.
#[test]
fn ramps_end_at_zero() {
    if !host::is_available() {
        return;
    }
    let ensemble = Ensemble::new(1, vec![1.0, 0.3], (0.0, 1.0)).unwrap();
    let ensemble = ensemble.with_spans(vec![(0.0, 1.0), (0.1, 0.4)]).unwrap();
    for method in methods() {
        for tolerance in [Tolerance::new(1e-6, 0.0), Tolerance::state_and_rate(1e-6)] {
            let options = Options::new(tolerance).max_steps(500);
            for solution in both(&Ramp, &ensemble, &method, &options) {
                assert!(solution.all_succeeded(), "{method:?}: {:?}", solution.status);
                assert!((0..2).all(|s| solution.y(s)[0].abs() < 1e-8), "{:?}", solution.y(0));
            }
        }
    }
}

/// y' = k² z, z' = k² y: from zeros nothing moves, but the Jacobian can have any size.
struct Coupled;

impl System for Coupled {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = p[0] * p[0] * y[1];
        dydt[1] = p[0] * p[0] * y[0];
    }
}

/// Derivatives of any size, and such that are no numbers.
#[test]
fn failures_are_those_of_the_processor() {
    if !host::is_available() {
        return;
    }
    // The second system comes to its end in no number of steps.
    let options = Options::new(Tolerance::new(1e-6, 1e-6)).max_steps(1000);
    let ensemble = Ensemble::new(2, vec![0.0; 6], (0.0, 1.0)).unwrap();
    let ensemble = ensemble.with_params(vec![0.7, 1e150, 1e200]).unwrap();
    for method in methods() {
        let [found, wanted] = both(&Coupled, &ensemble, &method, &options);
        assert_eq!(found.status, wanted.status, "{method:?}");
        assert_eq!([found.status[0], found.status[2]], [Status::Success, Status::NonFinite]);
        for (found, wanted) in found.stats.iter().zip(&wanted.stats) {
            let counts = |s: &Stats| [s.steps, s.rejected, s.njev, s.nlu];
            assert_eq!(counts(found), counts(wanted), "{method:?}");
        }
    }
}
