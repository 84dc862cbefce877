//! Jacobians by finite differences on devices against the CPU: increments and groups of columns are the same, so counts of
//! evaluations are, and ends agree as far as the differences do.

use crate::host;
use odeum_core::{Real, Tape};
use odeum_kinetics::{Kinetics, Reactor, read};
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::method::JacobianSource;
use odeum_ode::problems::{self, WithSystem};
use odeum_ode::{
    Cpu, Device, DynSystem, Ensemble, Isa, Method, Monitor, Options, Solver, System, Tolerance,
};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn by_differences(mut method: Method) -> Method {
    match &mut method {
        Method::Rosenbrock(rosenbrock) => rosenbrock.jacobian = JacobianSource::FiniteDifferences,
        Method::Radau(radau) => radau.jacobian = JacobianSource::FiniteDifferences,
        Method::Exponential(exponential) => {
            exponential.jacobian = JacobianSource::FiniteDifferences
        }
        _ => unreachable!("an explicit method has no Jacobian"),
    }
    method
}

/// Evaluations that a Jacobian takes, on the CPU and by `width` threads on a device, and the end states, which must
/// agree within `part` of the tolerance.
#[track_caller]
fn compared(
    system: &DynSystem,
    ensemble: &Ensemble<f64>,
    method: Method,
    width: usize,
    part: f64,
) -> [u32; 2] {
    let method = by_differences(method);
    let options = Options::new(Tolerance::new(1e-6, 1e-10)).max_steps(2000);
    let cpu = Device::Cpu(Cpu { threads: Some(1), isa: Isa::Scalar });
    let wanted = Solver::new(system, &method, &cpu, &options).unwrap().solve(ensemble).unwrap();
    let devices = Devices::new(vec![host::setup().device()]).threads_at_least(width);
    let monitor = Monitor::new();
    let found = devices.solve_any(system, ensemble, &method, &options, &monitor).unwrap();
    assert!(wanted.all_succeeded() && found.all_succeeded(), "{:?}", found.status);
    for (i, (a, b)) in found.states.iter().zip(&wanted.states).enumerate() {
        let tolerance = 1e-10 + 1e-6 * b.abs();
        assert!((a - b).abs() <= part * tolerance, "{} threads, {i}: {a:e} {b:e}", width);
    }
    // An attempt of a Rosenbrock method evaluates f but for once, which comes with the Jacobian.
    [&wanted.stats[0], &found.stats[0]].map(|stats| {
        let attempts = stats.steps + stats.rejected;
        let Method::Rosenbrock(method) = &method else { return 0 };
        let of_attempt = method.tableau.evaluations() as u32 - 1;
        (stats.nfev - of_attempt * attempts) / stats.njev
    })
}

struct Recorded;

impl WithSystem for Recorded {
    type Output = DynSystem;
    fn run<S: System>(self, system: &S) -> DynSystem {
        Tape::trace(system).into()
    }
}

#[test]
fn problems_have_the_jacobians_of_the_processor() {
    if !host::is_available() {
        return;
    }
    // Three columns that share rows; a band, whose columns make groups.
    for (name, groups, widths, part) in
        [("robertson", 3, &[1, 32, 128][..], 1.0), ("brusselator_1d", 4, &[32, 128], 0.1)]
    {
        let problem = problems::find(name).unwrap();
        let (system, ensemble) = (problem.with_system(Recorded), problem.ensemble(1).unwrap());
        let (start, end) = ensemble.span(0);
        let ensemble = ensemble.with_spans(vec![(start, start + part * (end - start))]).unwrap();
        for &width in widths {
            for method in [Method::rodas4(), Method::radau(), Method::exprb43()] {
                let is_rosenbrock = matches!(method, Method::Rosenbrock(_));
                let evaluations = compared(&system, &ensemble, method, width, 1.0);
                let wanted = if is_rosenbrock { 1 + groups } else { 0 };
                assert_eq!(evaluations, [wanted; 2], "{name}, {width}");
            }
        }
    }
}

/// Two components that the time drives, and one that never changes.
struct Driven;

impl System for Driven {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = y[1];
        dydt[1] = R::lit(-100.0) * (y[1] - t.cos() * y[2]) - y[0] * y[0] * y[0];
        dydt[2] = R::lit(0.0);
    }
}

#[test]
fn the_time_is_moved_too() {
    if !host::is_available() {
        return;
    }
    let system = DynSystem::from(Tape::trace(&Driven));
    let ensemble = Ensemble::new(3, vec![1.0, 0.0, 2.0], (0.5, 3.0)).unwrap();
    for width in [1, 32] {
        // f, the time, and columns, without that of what never changes.
        let evaluations = compared(&system, &ensemble, Method::rodas4(), width, 1.0);
        assert_eq!(evaluations, [4, 4], "{width}");
    }
}

/// y' = −10⁴ (y − 10⁻⁶ sin t), as a difference of two that are near 10⁴: it hides what changes y by little.
struct NearZero;

impl System for NearZero {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        let (one, rate) = (R::lit(1.0), R::lit(1e4));
        dydt[0] = rate * (R::lit(1e-6) * t.sin() + one) - rate * (y[0] + one);
    }
}

#[test]
fn what_is_near_zero_is_moved_by_enough() {
    if !host::is_available() {
        return;
    }
    let system = DynSystem::from(Tape::trace(&NearZero));
    let ensemble = Ensemble::new(1, vec![0.0], (0.0, 3.0)).unwrap();
    for method in [Method::rodas4(), Method::radau(), Method::exprb43()] {
        for width in [1, 32] {
            compared(&system, &ensemble, method.clone(), width, 1.0);
        }
    }
}

#[test]
fn ignitions_take_differences_too() {
    if !host::is_available() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("mechanisms/hydrogen-burke-2012.yaml");
    let mechanism = read::from_path(&file, None, None).unwrap().mechanism;
    let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
    let place = |name: &str| kinetics.species_names().iter().position(|n| n == name).unwrap();
    let mut y = vec![0.0; kinetics.n_species()];
    for (name, part) in [("H2", 0.028), ("O2", 0.226), ("N2", 0.745), ("OH", 0.001)] {
        y[place(name)] = part;
    }
    let reactor = Reactor::constant_pressure(kinetics);
    let (start, [pressure]) = reactor.state(1400.0, 101_325.0, &y).unwrap();
    let ensemble = Ensemble::new(start.len(), start, (0.0, 2e-5)).unwrap();
    let ensemble = ensemble.with_shared_params(vec![pressure]).unwrap();
    let system = DynSystem::from(reactor);
    for width in [1, 32] {
        compared(&system, &ensemble, Method::rodas4(), width, 20.0);
        compared(&system, &ensemble, Method::radau(), width, 20.0);
    }
}
