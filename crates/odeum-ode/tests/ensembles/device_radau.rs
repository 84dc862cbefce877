//! Radau IIA on devices against the CPU: the same steps, rejections and counts, the same ends.

use crate::host;
use odeum_core::{Real, Tape};
use odeum_kinetics::{Kinetics, Reactor, read};
use odeum_ode::controller::Law;
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::problems::{self, Problem, WithSystem};
use odeum_ode::{
    Controller, Cpu, Device, DynSystem, Ensemble, FirstStep, Isa, Method, Monitor, Options, Radau,
    Solution, Solver, Status, System, Tolerance,
};
use std::path::Path;
use std::sync::Arc;

/// Threads of a system: one, a warp, a block of several.
const WIDTHS: [usize; 3] = [1, 32, 128];

fn on_device(
    system: &DynSystem,
    ensemble: &Ensemble<f64>,
    method: &Method,
    options: &Options,
    width: usize,
) -> Solution<f64> {
    let devices = Devices::new(vec![host::setup().device()]).threads_at_least(width);
    devices.solve_any(system, ensemble, method, options, &Monitor::new()).unwrap()
}

fn on_processor(
    system: &DynSystem,
    ensemble: &Ensemble<f64>,
    method: &Method,
    options: &Options,
) -> Solution<f64> {
    let cpu = Device::Cpu(Cpu { threads: Some(1), isa: Isa::Scalar });
    Solver::new(system, method, &cpu, options).unwrap().solve(ensemble).unwrap()
}

/// Both must end equally, near each other and with counts that differ by no more than one in `part`: products are
/// fused differently, and step sizes agree to six digits.
fn assert_same_work(found: &Solution<f64>, wanted: &Solution<f64>, part: u32, what: &str) {
    assert_eq!(found.status, wanted.status, "{what}");
    for (found, wanted) in found.stats.iter().zip(&wanted.stats) {
        let counts = |stats: &odeum_ode::Stats| {
            [stats.steps, stats.rejected, stats.nfev, stats.njev, stats.nlu, stats.guarded]
        };
        for (a, b) in counts(found).into_iter().zip(counts(wanted)) {
            assert!(a.abs_diff(b) <= b / part, "{what}: {found:?}\ninstead of {wanted:?}");
        }
    }
}

struct Recorded;

impl WithSystem for Recorded {
    type Output = DynSystem;
    fn run<S: System>(self, system: &S) -> DynSystem {
        Tape::trace(system).into()
    }
}

fn compared(problem: &Problem, method: &Method, options: &Options, widths: &[usize]) {
    let system = problem.with_system(Recorded);
    let ensemble = problem.ensemble(1).unwrap();
    let wanted = on_processor(&system, &ensemble, method, options);
    assert!(wanted.all_succeeded(), "{}: {}", problem.name, wanted.status[0]);
    for &width in widths {
        let what = format!("{} by {width} threads", problem.name);
        let found = on_device(&system, &ensemble, method, options, width);
        assert_same_work(&found, &wanted, 50, &what);
        for (a, b) in found.y(0).into_iter().zip(wanted.y(0)) {
            assert!(
                (a - b).abs() <= 1e-3 * options.tolerance.rtol * b.abs(),
                "{what}: {a:e} {b:e}"
            );
        }
    }
}

fn tight(atol: f64) -> Options {
    Options::new(Tolerance::new(1e-6, atol)).max_steps(10_000)
}

#[test]
fn published_problems_take_the_same_steps() {
    if !host::is_available() {
        return;
    }
    let problem = |name| problems::find(name).unwrap();
    for (name, atol) in [("robertson", 1e-10), ("van_der_pol", 1e-8), ("hires", 1e-8)] {
        compared(&problem(name), &Method::radau(), &tight(atol), &WIDTHS);
    }
    compared(&problem("pollu"), &Method::radau(), &tight(1e-8), &[1, 128]);
    compared(&problem("brusselator_1d"), &Method::radau(), &tight(1e-8), &[32]);
}

#[test]
fn options_mean_the_same() {
    if !host::is_available() {
        return;
    }
    let radau = Radau::default();
    let hires = problems::find("hires").unwrap();
    let each = Tolerance::per_component(1e-6, (0..8).map(|i| 1e-8 / f64::from(1 + i)).collect());
    let pi = Controller { law: Law::Pi, ..radau.controller };
    for (radau, tolerance) in [
        (Radau { max_iterations: 4, ..radau.clone() }, Tolerance::new(1e-6, 1e-8)),
        (Radau { controller: pi, ..radau.clone() }, Tolerance::new(1e-6, 1e-8)),
        (radau, each),
    ] {
        let options = Options::new(tolerance).segments(2);
        compared(&hires, &Method::Radau(radau), &options, &[1, 32]);
    }
    let relative = Options::new(Tolerance::state_and_rate(1e-6));
    compared(&problems::find("van_der_pol").unwrap(), &Method::radau(), &relative, &[1, 32]);
}

/// Relaxation towards the mean of all components, each at its own rate: a dense Jacobian.
struct Mean(usize);

impl System for Mean {
    fn dim(&self) -> usize {
        self.0
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        let n = self.0;
        let sum = y[1..].iter().fold(y[0], |sum, &y| sum + y);
        let mean = sum * R::lit(1.0 / n as f64);
        for i in 0..n {
            let rate = R::lit(-10.0 * (1 + i) as f64);
            dydt[i] = rate * (y[i] - R::lit(0.5) * mean * mean) + t.cos();
        }
    }
}

/// Of a warp, and of a block, whose matrices are in global memory.
#[test]
fn dense_systems_take_the_same_steps() {
    if !host::is_available() {
        return;
    }
    for n in [40, 150] {
        let system = DynSystem::from(Tape::trace(&Mean(n)));
        let start = (0..n).map(|i| 1.0 + (i as f64).sin()).collect();
        let ensemble = Ensemble::new(n, start, (0.0, 1.0)).unwrap();
        let options = tight(1e-8);
        let wanted = on_processor(&system, &ensemble, &Method::radau(), &options);
        assert!(wanted.all_succeeded());
        let found = on_device(&system, &ensemble, &Method::radau(), &options, 1);
        assert_same_work(&found, &wanted, 20, &format!("{n} equations"));
    }
}

fn hydrogen() -> Reactor {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("mechanisms/hydrogen-burke-2012.yaml");
    let mechanism = read::from_path(&file, None, None).unwrap().mechanism;
    Reactor::constant_pressure(Arc::new(Kinetics::new(&mechanism).unwrap()))
}

/// Entries of matrices are of double precision at the one tolerance and of single precision at the other.
#[test]
fn ignitions_take_the_same_steps() {
    if !host::is_available() {
        return;
    }
    let reactor = hydrogen();
    let kinetics = reactor.kinetics();
    let fuel = kinetics.composition(&[("H2", 1.0)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)]).unwrap();
    let mixture = kinetics.at_equivalence_ratio(1.0, &fuel, &air).unwrap();
    let (start, params) = reactor.state(1200.0, 101_325.0, &mixture).unwrap();
    let ensemble = Ensemble::new(start.len(), start.clone(), (0.0, 1e-3)).unwrap();
    let ensemble = ensemble.with_params(params.to_vec()).unwrap();
    let system = DynSystem::from(reactor);
    for (rtol, part) in [(1e-9, 50), (1e-6, 10)] {
        let options = Options::new(Tolerance::new(rtol, 1e-15));
        let wanted = on_processor(&system, &ensemble, &Method::radau(), &options);
        let found = on_device(&system, &ensemble, &Method::radau(), &options, 1);
        assert!(found.y(0)[0] > start[0] + 400.0);
        assert_same_work(&found, &wanted, part, &format!("rtol {rtol:e}"));
        let error = (found.y(0)[0] / wanted.y(0)[0] - 1.0).abs();
        assert!(error < rtol, "{error:e}");
    }
}

/// What keeps a step from being taken, by the parameter.
struct Troubles;

const JUMP: f64 = 0.0;
const SINGULAR: f64 = 1.0;
const NAN: f64 = 2.0;
const TURNS_NAN: f64 = 3.0;

impl System for Troubles {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let zero = R::lit(0.0);
        let is = |kind: f64| p[0].eq(R::lit(kind));
        let steep = R::lit(1e17);
        let jump = R::select(y[0].gt(R::lit(1.0)), -steep, steep);
        // Beyond what is added to the diagonal, of two equations that are one.
        let huge = R::lit(1e200) * (y[0] - y[1]);
        let none = (R::lit(-1.0) - y[0] * y[0]).sqrt();
        let late = R::select(t.gt(R::lit(1.5)), none, y[1] - y[0]);
        let of_late = R::select(is(TURNS_NAN), late, zero);
        let others = R::select(is(NAN), none, of_late);
        dydt[0] = R::select(is(JUMP), jump, R::select(is(SINGULAR), huge, others));
        dydt[1] = R::select(is(SINGULAR), huge, others);
    }
}

#[test]
fn troubles_have_the_same_status() {
    if !host::is_available() {
        return;
    }
    let kinds = [JUMP, SINGULAR, NAN, TURNS_NAN];
    let system = DynSystem::from(Tape::trace(&Troubles));
    // Not from t = 0, where there is no smallest step.
    let ensemble = Ensemble::repeated(&[2.0, 2.0], kinds.len(), (1.0, 2.0)).unwrap();
    let ensemble = ensemble.with_params(kinds.to_vec()).unwrap();
    for first in [FirstStep::Size(0.1), FirstStep::Automatic] {
        let options = Options::new(Tolerance::new(1e-6, 1e-6)).first_step(first);
        let wanted = on_processor(&system, &ensemble, &Method::radau(), &options);
        let [diverged, singular, non_finite] =
            [Status::NewtonDiverged, Status::SingularMatrix, Status::NonFinite];
        assert_eq!(wanted.status, [diverged, singular, non_finite, non_finite]);
        for width in [1, 32] {
            let found = on_device(&system, &ensemble, &Method::radau(), &options, width);
            assert_same_work(&found, &wanted, 50, &format!("{width} threads"));
        }
    }
}
