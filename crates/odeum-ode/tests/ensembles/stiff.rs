//! Stiff methods on stiff problems, against references; and their faults on purpose.

use crate::event::{places, solve};
use odeum_core::{Pattern, Tape};
use odeum_ode::method::exponential::{self, Action};
use odeum_ode::problems::{self, Problem};
use odeum_ode::{
    Controller, Device, DynSystem, Ensemble, Error, Exponential, FirstStep, JacobianSource, Method,
    Options, Radau, Real, Rosenbrock, Solution, Solver, Status, System, Tolerance,
};

fn integrate(
    system: &DynSystem,
    ensemble: &Ensemble<f64>,
    method: &Method,
    options: &Options,
) -> Result<Solution<f64>, Error> {
    Solver::new(system, method, &Device::cpu(), options)?.solve(ensemble)
}

fn traced(system: &impl System) -> DynSystem {
    Tape::trace(system).into()
}

fn stiff_methods() -> Vec<Method> {
    Method::all().into_iter().filter(|m| m.jacobian_source().is_some()).collect()
}

/// Exponential methods by Krylov subspaces.
fn krylov_methods() -> Vec<Method> {
    let of = |tableau: &&'static _| {
        let action = Action::Krylov { max_dimension: 60 };
        Method::Exponential(Exponential { action, ..Exponential::new(tableau) })
    };
    exponential::ALL.iter().map(of).collect()
}

/// Problems with an absolute tolerance that fits their smallest components, relative to rtol. Of E5, which ends with 1e-22, it asks
/// for the size.
const PROBLEMS: [(&str, f64); 8] = [
    ("robertson", 1e-5),
    ("hires", 1e-3),
    ("oregonator", 1e-3),
    ("e5", 1e-16),
    ("pollu", 1e-4),
    ("van_der_pol_stiff", 1e-3),
    ("van_der_pol_ring", 1e-3),
    ("brusselator_1d", 1e-2),
];

/// The largest error of a component in units of atol/rtol + |y|.
fn error(problem: &Problem, found: &[f64], floor: f64) -> f64 {
    let reference = problem.reference().unwrap().y;
    let ratio = |(a, b): (&f64, &f64)| (a - b).abs() / (floor + b.abs());
    found.iter().zip(reference).map(ratio).fold(0.0, f64::max)
}

#[test]
fn references_are_reached_at_every_tolerance() {
    for (name, floor) in PROBLEMS {
        let problem = problems::find(name).unwrap();
        let system = DynSystem::from(&problem);
        let ensemble = problem.ensemble::<f64>(1).unwrap();
        for method in stiff_methods().into_iter().chain(krylov_methods()) {
            for exponent in [-4, -6, -8] {
                if method.order() == 3 && exponent < -6 {
                    continue;
                }
                let rtol = 10_f64.powi(exponent);
                let options = Options::new(Tolerance::new(rtol, rtol * floor));
                let begun = std::time::Instant::now();
                let solution = integrate(&system, &ensemble, &method, &options).unwrap();
                let error = error(&problem, &solution.y(0), floor);
                let (status, stats) = (solution.status[0], solution.stats[0]);
                println!(
                    "{name:18} {:9} {rtol:.0e}: {error:8.1e} {stats:?} {:?}",
                    method.name(),
                    begun.elapsed()
                );
                assert!(status.is_success(), "{name} {}: {status}", method.name());
                let bound = if name == "e5" { 1e-3 } else { 1e3 * rtol };
                assert!(error < bound, "{name} {} at {rtol:e}: {error:e}", method.name());
            }
        }
    }
}

/// E5 ends with 9e-23, differences of what was 1e-5, which hold because the sum y2 − y3 − y4 is conserved to rounding.
#[test]
fn differences_far_below_their_terms_are_reached() {
    let problem = problems::find("e5").unwrap();
    let system = DynSystem::from(&problem);
    let ensemble = problem.ensemble::<f64>(1).unwrap();
    let exact = problem.reference().unwrap().y;
    for (rtol, most) in [(1e-4, 1e-2), (1e-7, 1e-3)] {
        let options = Options::new(Tolerance::new(rtol, 1e-24));
        let solution = integrate(&system, &ensemble, &Method::radau(), &options).unwrap();
        assert!(solution.all_succeeded());
        for i in [1, 2] {
            let ratio = solution.y(0)[i] / exact[i];
            assert!((ratio - 1.0).abs() < most, "{rtol:e}, y{}: {ratio}", i + 1);
        }
    }
}

/// What the Jacobian of [`Own`] is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Right,
    /// NaN beyond t = 1/2.
    TurnsNan,
    /// Off the diagonal, and beyond any 1/h.
    Huge,
    /// Of the wrong sign.
    Wrong,
}

/// x' = −1000 (x − cos t), z' = x − z, with a Jacobian of its own.
#[derive(Clone)]
struct Own(Kind, Pattern);

impl Own {
    fn new(kind: Kind) -> Own {
        let rows = if kind == Kind::Huge { [vec![1], vec![0]] } else { [vec![0], vec![0, 1]] };
        Own(kind, Pattern::from_rows(2, &rows))
    }
}

impl System for Own {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(-1000.0) * (y[0] - t.cos());
        dydt[1] = y[0] - y[1];
    }
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(&self.1)
    }
    #[inline(always)]
    fn jacobian_in<R: Real>(
        &self,
        t: R,
        _y: &[R],
        _p: &[R],
        jacobian: &mut [R],
        dfdt: &mut [R],
        _work: &mut [R],
    ) {
        let nan = R::select(t.gt(R::lit(0.5)), R::lit(-1.0).sqrt(), R::lit(0.0));
        let values = match self.0 {
            Kind::Right => [-1000.0, 1.0, -1.0].map(R::lit),
            Kind::TurnsNan => [-1000.0, 1.0, -1.0].map(|x| R::lit(x) + nan),
            Kind::Huge => [1e300; 3].map(R::lit),
            Kind::Wrong => [1000.0, 1.0, -1.0].map(R::lit),
        };
        for (entry, value) in jacobian.iter_mut().zip(values) {
            *entry = value;
        }
        dfdt[0] = R::lit(-1000.0) * t.sin();
        dfdt[1] = R::lit(0.0);
    }
}

/// From zeros to t = 1.
fn start(rtol: f64) -> (Ensemble<f64>, Options) {
    let ensemble = Ensemble::new(2, vec![0.0, 0.0], (0.0, 1.0)).unwrap();
    (ensemble, Options::new(Tolerance::new(rtol, rtol)))
}

fn run(own: &Own, method: &Method, rtol: f64) -> Solution<f64> {
    let (ensemble, options) = start(rtol);
    integrate(&DynSystem::new(own.clone()), &ensemble, method, &options).unwrap()
}

/// The solution of [`Own`] at t = 1, from SciPy 1.17 (Radau, rtol 1e-12, atol 1e-14).
const OWN_AT_1: [f64; 2] = [0.541_143_235_709_726_7, 0.506_912_694_210_797_9];

#[test]
fn own_jacobians_and_difference_quotients_give_the_same_answer() {
    let own = Own::new(Kind::Right);
    let (ensemble, options) = start(1e-6);
    for method in stiff_methods() {
        let quotients = by_differences(&method);
        let derived = integrate(&traced(&own), &ensemble, &method, &options).unwrap();
        let runs = [run(&own, &method, 1e-6), derived, run(&own, &quotients, 1e-6)];
        for solution in &runs {
            assert!(solution.all_succeeded());
            for i in 0..2 {
                let error = (solution.y(0)[i] - OWN_AT_1[i]).abs();
                assert!(error < 1e-5, "{}: {error:e}", method.name());
            }
        }
        assert_eq!(runs[0].stats[0].steps, runs[1].stats[0].steps);
        // Two groups of columns and ∂f/∂t, for each Jacobian.
        let (exact, by_differences) = (runs[0].stats[0], runs[2].stats[0]);
        assert!(by_differences.nfev >= exact.nfev / 2 + 3 * by_differences.njev);
    }
}

fn by_differences(method: &Method) -> Method {
    match method.clone() {
        Method::Rosenbrock(rosenbrock) => Method::Rosenbrock(Rosenbrock {
            jacobian: JacobianSource::FiniteDifferences,
            ..rosenbrock
        }),
        Method::Radau(radau) => {
            Method::Radau(Radau { jacobian: JacobianSource::FiniteDifferences, ..radau })
        }
        Method::Exponential(exponential) => Method::Exponential(Exponential {
            jacobian: JacobianSource::FiniteDifferences,
            ..exponential
        }),
        other => other,
    }
}

#[test]
fn faults_of_the_jacobian_have_their_status() {
    for method in stiff_methods() {
        let spoiled = run(&Own::new(Kind::TurnsNan), &method, 1e-5);
        if method == Method::radau() && spoiled.all_succeeded() {
            // It kept the Jacobian of the start all the way.
            assert!((spoiled.y(0)[1] - OWN_AT_1[1]).abs() < 1e-4);
        } else {
            assert_eq!(spoiled.status[0], Status::NonFinite, "{}", method.name());
            assert!(spoiled.t[0] < 1.0 && spoiled.y(0).iter().all(|y| y.is_finite()));
        }
        // Not from t = 0, where there is no smallest step.
        let ensemble = Ensemble::new(2, vec![0.0, 0.0], (1.0, 2.0)).unwrap();
        let options = Options::new(Tolerance::new(1e-5, 1e-5));
        let own = DynSystem::new(Own::new(Kind::Huge));
        let huge = integrate(&own, &ensemble, &method, &options).unwrap();
        assert_eq!(huge.status[0], Status::SingularMatrix, "{}", method.name());
        assert_eq!(huge.t[0], 1.0);
    }
    // A W-method, and Radau, reach the right end with a wrong Jacobian, at a price.
    for method in [Method::ros34pw2(), Method::radau()] {
        let (wrong, right) = (
            run(&Own::new(Kind::Wrong), &method, 1e-5),
            run(&Own::new(Kind::Right), &method, 1e-5),
        );
        assert!(wrong.all_succeeded(), "{}: {}", method.name(), wrong.status[0]);
        assert!((wrong.y(0)[1] - OWN_AT_1[1]).abs() < 1e-4);
        assert!(wrong.stats[0].nfev > 3 * right.stats[0].nfev);
    }
}

/// A slope that points to y = 1 from both sides, so steeply that no step has a solution there.
struct Jump;

impl System for Jump {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        let steep = R::lit(1e17);
        dydt[0] = R::select(y[0].gt(R::lit(1.0)), -steep, steep);
        dydt[1] = R::lit(0.0);
    }
}

#[test]
fn newton_that_never_converges_has_its_status() {
    let ensemble = Ensemble::new(2, vec![2.0, 0.0], (1.0, 2.0)).unwrap();
    let options = Options::new(Tolerance::new(1e-6, 1e-6)).first_step(FirstStep::Size(0.1));
    let solution = integrate(&traced(&Jump), &ensemble, &Method::radau(), &options).unwrap();
    assert_eq!(solution.status[0], Status::NewtonDiverged);
}

/// y' = −exp(s (t − 5)) (y − cos t).
struct Stiffening;

impl System for Stiffening {
    fn dim(&self) -> usize {
        1
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = -(p[0] * (t - R::lit(5.0))).exp() * (y[0] - t.cos());
    }
}

/// Where Newton's iteration fails for its Jacobian being old no shorter step follows.
#[test]
fn steps_of_a_given_size_have_the_jacobian_of_their_start() {
    let ensemble = Ensemble::repeated(&[1.0], 2, (0.0, 10.0)).unwrap();
    let ensemble = ensemble.with_params(vec![3.0, 5.0]).unwrap();
    let options = Options::new(Tolerance::new(1e-3, 1e-4));
    let method = Method::radau().with_controller(Controller::fixed(0.02));
    for place in places() {
        let found = solve(place, &DynSystem::new(Stiffening), &ensemble, &method, &options);
        assert!(found.all_succeeded(), "{place:?}: {:?} at {:?}", found.status, found.t);
        for s in 0..2 {
            let y = found.y(s)[0];
            assert!((y - 10_f64.cos()).abs() < 1e-3, "{place:?}: {y}");
        }
    }
}

#[test]
fn a_pattern_of_another_size_is_refused() {
    let wrong = Own(Kind::Right, Pattern::dense(3, 3));
    let (ensemble, options) = start(1e-6);
    let error = integrate(&DynSystem::new(wrong), &ensemble, &Method::rodas4(), &options);
    assert!(error.unwrap_err().to_string().contains("2 × 2"));
}
