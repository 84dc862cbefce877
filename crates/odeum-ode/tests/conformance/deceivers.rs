//! Systems made to deceive: each tempts a method to report success with a wrong answer. A method
//! passes when its answer is right, or its status says that there is none.

use crate::suite::{Precision, Subject};
use odeum_ode::{
    Controller, Ensemble, FirstStep, Options, Real, Solution, Status, System, Tolerance,
};
use std::f64::consts::PI;

const FIRST: [FirstStep; 2] = [FirstStep::Automatic, FirstStep::Fraction(1.0)];

fn tolerance<T: Precision>(tol: f64, fraction: f64) -> Tolerance {
    let tol = tol.max(40.0 * T::EPSILON);
    Tolerance::new(tol, tol * fraction)
}

/// y' = 1 + y²: tan t, which has a pole wherever it begins. Rational methods can be exact for it,
/// and so continue it beyond.
struct Tangent;

impl System for Tangent {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = y[0].mul_add(y[0], R::lit(1.0));
    }
}

/// A product that makes both of its factors: a pole that no component has alone.
struct Explosion;

impl System for Explosion {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        let product = y[0] * y[1];
        dydt[0] = product + R::lit(1.0) - y[0];
        dydt[1] = product + R::lit(0.5);
    }
}

/// No tolerance takes a method through a pole. (At a tenth and a hundredth a first step over the
/// whole span may: such tolerances do not notice the pole.)
pub(crate) fn poles_are_not_passed<T: Precision>(subject: &Subject) {
    for exponent in subject.digits::<T>() {
        for first in if exponent > 2 { &FIRST[..] } else { &FIRST[..1] } {
            let options = Options::new(tolerance::<T>(10f64.powi(-exponent), 1e-2))
                .max_steps(3000)
                .first_step(*first);
            let not_passed = |solution: &Solution<T>, what: &str| {
                for (s, status) in solution.status.iter().enumerate() {
                    let reached = (solution.t[s], solution.y(s));
                    assert!(
                        !status.is_success(),
                        "{what} at 1e-{exponent}, {first:?}: {reached:?}"
                    );
                    // Steps too long by a tenth each time become too small to move the time in 350 attempts.
                    let stats = solution.stats[s];
                    assert!(
                        stats.rejected <= 2 * stats.steps + 400,
                        "{what} at 1e-{exponent}, {first:?}: {status:?} after {stats:?}"
                    );
                }
            };
            // From tan(−1.47), tan(−π/4), 0 and tan 0.29: past the pole, to a period later and more.
            let starts: Vec<T> = [-10.0, -1.0, 0.0, 0.3].map(T::from_f64).to_vec();
            for &end in if subject.is_short() { &[5.2][..] } else { &[4.5, 5.2, 6.0] } {
                let ensemble = Ensemble::new(1, starts.clone(), (0.0, end)).unwrap();
                not_passed(
                    &subject.solve_recorded(&Tangent, &ensemble, &subject.method, &options),
                    "tan",
                );
            }
            let starts: Vec<T> = [0.0, 0.5, 2.0, 0.0, 0.5, 2.0].map(T::from_f64).to_vec();
            let ensemble = Ensemble::new(2, starts, (0.0, 10.0)).unwrap();
            let solution = subject.solve_recorded(&Explosion, &ensemble, &subject.method, &options);
            not_passed(&solution, "explosion");
        }
    }
}

/// Implicit methods with steps of one size end with a status where a pole is too fast for them.
/// (Explicit ones go up with it, as polynomials do, until they overflow or the span ends.)
pub(crate) fn fixed_steps_do_not_pass_poles<T: Precision>(subject: &Subject) {
    if subject.method.jacobian_source().is_none() {
        return;
    }
    for count in [7.0, 40.0, 333.0, 2000.0] {
        let method = subject.method.clone().with_controller(Controller::fixed(3.3 / count));
        let options = Options::new(tolerance::<T>(1e-6, 1.0)).max_steps(3000);
        let ensemble = Ensemble::new(1, vec![T::from_f64(0.0)], (0.0, 3.3)).unwrap();
        let solution = subject.solve_recorded(&Tangent, &ensemble, &method, &options);
        let (status, y) = (solution.status[0], solution.y(0));
        assert!(!status.is_success(), "{count} steps: {y:?} at {}", solution.t[0]);
    }
}

/// y' = 1 − √(y + ε), and with the fourth root: what fills a tank that leaks. At zero ∂f/∂y is huge, and infinite without ε; it
/// falls by orders of magnitude as soon as there is anything. Beside them a component that iterations converge for.
struct Tanks;

impl System for Tanks {
    fn dim(&self) -> usize {
        3
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(1.0) - (y[0] + p[0]).sqrt();
        dydt[1] = R::lit(1.0) - (y[1] + p[0]).sqrt().sqrt();
        dydt[2] = R::lit(10.0) * (R::lit(1.0) - y[2] * y[2] * y[2]);
    }
}

/// Both at t = 1 where ε is small. With s for the root, t = 2 (−s − ln(1 − s)) of the first one, and
/// 4 (−s³/3 − s²/2 − s − ln(1 − s)) of the second.
fn full_tanks() -> [f64; 2] {
    let root = |time: &dyn Fn(f64) -> f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            *(if time(middle) < 1.0 { &mut low } else { &mut high }) = middle;
        }
        low
    };
    let square = root(&|s| 2.0 * (-s - (1.0 - s).ln()));
    let fourth = root(&|s| 4.0 * (-s * (1.0 + s * (0.5 + s / 3.0)) - (1.0 - s).ln()));
    [square.powi(2), fourth.powi(4)]
}

/// A Jacobian that holds for no step, or is not finite, makes every change small: what it shows is not taken for convergence,
/// nor for a small error.
pub(crate) fn tanks_are_filled<T: Precision>(subject: &Subject) {
    let double = T::EPSILON < 1e-10;
    let shifts: &[f64] = if double {
        &[0.0, 1e-300, 1e-100, 1e-40, 1e-30, 1e-20, 1e-10]
    } else {
        &[0.0, 1e-36, 1e-30, 1e-20, 1e-10]
    };
    let params: Vec<T> = shifts.iter().map(|&x| T::from_f64(x)).collect();
    let ensemble = Ensemble::new(3, vec![T::from_f64(0.0); 3 * shifts.len()], (0.0, 1.0))
        .unwrap()
        .with_params(params)
        .unwrap();
    for tol in [1e-3, 1e-5, 1e-8] {
        let options = Options::new(tolerance::<T>(tol, 1e-2)).max_steps(20_000);
        let solution = subject.solve_recorded(&Tanks, &ensemble, &subject.method, &options);
        for (s, &shift) in shifts.iter().enumerate() {
            let what = format!("shift {shift:e} at {tol:e}: {:?}", solution.y(s));
            if solution.status[s].is_success() {
                for (y, exact) in solution.y(s).iter().zip(full_tanks()) {
                    let bound = 30.0 * tol.max(40.0 * T::EPSILON) + 2e-5;
                    assert!((y.to_f64() / exact - 1.0).abs() < bound, "{what} with success");
                }
            } else if double && shift >= 1e-10 && subject.method.name() != "rkc" {
                panic!("{what}: {}", solution.status[s]);
            }
        }
    }
}

/// y' = k (y + ε)(1 − y): lies still for ln(1/ε)/k, then jumps to 1; beside it a stiff decay.
struct Ignition;

impl System for Ignition {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = p[0] * (y[0] + p[1]) * (R::lit(1.0) - y[0]);
        dydt[1] = R::lit(-50.0) * (y[1] - y[0]);
    }
}

/// What grows from far below the tolerance is not slept through.
pub(crate) fn ignitions_are_not_missed<T: Precision>(subject: &Subject) {
    // Growth and seed: induction of ln(1/ε)/k.
    let double = T::EPSILON < 1e-10;
    let least = if double { 1e-100 } else { 1e-30 };
    let cases = [(10.0, 1e-12), (50.0, 1e-20), (100.0, least)];
    // What is that far below the tolerance only a Jacobian shows.
    let seen = if subject.method.jacobian_source().is_some() { 3 } else { 1 };
    for tol in [1e-2, 1e-4, 1e-6] {
        for first in FIRST {
            for (k, seed) in cases.into_iter().take(seen) {
                let params = vec![T::from_f64(k), T::from_f64(seed)];
                let induction = -seed.ln() / k;
                let ensemble = Ensemble::new(2, vec![T::from_f64(0.0); 2], (0.0, 3.0 * induction))
                    .unwrap()
                    .with_shared_params(params)
                    .unwrap();
                let options =
                    Options::new(tolerance::<T>(tol, 1e-3)).max_steps(20_000).first_step(first);
                let solution =
                    subject.solve_recorded(&Ignition, &ensemble, &subject.method, &options);
                let (status, y) = (solution.status[0], solution.y(0)[0].to_f64());
                let right = (y - 1.0).abs() < 0.05;
                let what = format!("k = {k}, seed {seed:e}, {tol:e}, {first:?}");
                assert!(!status.is_success() || right, "{what}: {y} with success");
                let suits = subject.method.name() != "rkc";
                assert!(status == Status::Success || !suits, "{what}: {status}");
            }
        }
    }
}

/// Far from zero times are coarse. States go on as far as they do, and what depends on no time is the same from any start.
pub(crate) fn clocks_do_not_drift<T: Precision>(subject: &Subject) {
    // Of the times from `far` on; steps of so many that nearly half of one is rounded away each time.
    let unit = 0.5_f64.powi(16);
    let (far, largest) = (1.25 * unit / T::EPSILON, 655.45 * unit);
    let options = Options::new(tolerance::<T>(1e-6, 1.0)).largest_step(largest);
    let ends = [0.0, far].map(|start| {
        let ensemble = Ensemble::new(2, vec![T::from_f64(0.0); 2], (start, start + 1.0))
            .unwrap()
            .with_shared_params([2.0, 0.5].map(T::from_f64).to_vec())
            .unwrap();
        let solution = subject.solve_recorded(&Ignition, &ensemble, &subject.method, &options);
        assert_eq!(solution.status[0], Status::Success, "from {start}");
        [solution.y(0)[0].to_f64(), solution.y(0)[1].to_f64()]
    });
    for i in 0..2 {
        let drift = (ends[1][i] - ends[0][i]).abs();
        assert!(
            drift < 5e-5,
            "component {i} is {} from 0, but {} from {far}",
            ends[0][i],
            ends[1][i]
        );
    }
}

/// A saddle: x decays at a thousand times the rate at which a small y leaves; a pair of unknowns
/// grows at two rates, another spirals out.
struct Saddles;

impl Saddles {
    const SEED: f64 = 1e-12;
    const END: f64 = 3.0;

    /// Each that leaves, at the end.
    fn exact() -> [f64; 3] {
        [10.0, 11.0, 8.0].map(|rate: f64| Self::SEED * (rate * Self::END).exp())
    }
}

impl System for Saddles {
    fn dim(&self) -> usize {
        6
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(-200.0) * y[0];
        dydt[1] = R::lit(10.0) * y[1];
        dydt[2] = R::lit(10.0) * y[2];
        dydt[3] = R::lit(11.0) * y[3];
        dydt[4] = R::lit(8.0) * y[4] - R::lit(3.0) * y[5];
        dydt[5] = R::lit(8.0) * y[5] + R::lit(3.0) * y[4];
    }
}

/// Equilibria are left by one unknown, by two at once, and in spirals.
pub(crate) fn saddles_are_left<T: Precision>(subject: &Subject) {
    let seed = T::from_f64(Saddles::SEED);
    let start = vec![T::from_f64(1.0), seed, seed, seed, seed, T::from_f64(0.0)];
    let ensemble = Ensemble::new(6, start, (0.0, Saddles::END)).unwrap();
    for tol in [1e-3, 1e-5, 1e-7] {
        for first in FIRST {
            let tolerance = tolerance::<T>(tol, 1e-2);
            let options = Options::new(tolerance).max_steps(20_000).first_step(first);
            let solution = subject.solve_recorded(&Saddles, &ensemble, &subject.method, &options);
            if !solution.status[0].is_success() {
                continue;
            }
            let y: Vec<f64> = solution.y(0).iter().map(|y| y.to_f64()).collect();
            let found = [y[1], y[3], y[4].hypot(y[5])];
            for (found, exact) in found.into_iter().zip(Saddles::exact()) {
                // Below the absolute tolerance errors are free, but what leaves must leave in time:
                // its exponent is right within a fifth.
                let exponents = [found, exact].map(|y| (y / Saddles::SEED).abs().ln());
                let late = (exponents[0] / exponents[1] - 1.0).abs();
                assert!(late < 0.2, "{tol:e}, {first:?}: {found:e} for {exact:e}");
            }
        }
    }
}

/// A chain of decays, and what is eliminated at a rate that saturates.
struct Decays;

impl Decays {
    const START: [f64; 3] = [1.0, 0.5, 1.0];

    /// From the start, at t.
    fn exact(t: f64) -> [f64; 3] {
        let [a, b] = [1.0, 0.5].map(|rate: f64| (-rate * t).exp());
        // c + ln c = 1 − t.
        let c = (0..60).fold((1.0 - t).exp(), |c: f64, _| (1.0 - t - c).exp());
        [a, 2.5 * b - 2.0 * a, c]
    }
}

impl System for Decays {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = -y[0];
        dydt[1] = y[0] - R::lit(0.5) * y[1];
        dydt[2] = -y[2] / (R::lit(1.0) + y[2]);
    }
}

/// What decays far below what it was, and below the others, keeps its relative accuracy down to the absolute tolerance, though
/// equations that are linear, or nearly so, show no error of their own to methods that are exact for them.
pub(crate) fn decays_are_followed<T: Precision>(subject: &Subject) {
    let method = &subject.method;
    let power = (f64::from(method.order()) / f64::from(method.error_order() + 1)).min(1.0);
    for tol in [1e-4, 1e-6] {
        let tol = tolerance::<T>(tol, 1.0).rtol;
        let least = if T::EPSILON < 1e-10 { 1e-60 } else { 1e-34 };
        let options = Options::new(Tolerance::new(tol, least)).max_steps(50_000);
        for end in [20.0, 60.0] {
            let start = Decays::START.map(T::from_f64).to_vec();
            let ensemble = Ensemble::new(3, start, (0.0, end)).unwrap();
            let solution = subject.solve_recorded(&Decays, &ensemble, method, &options);
            assert!(solution.all_succeeded(), "{:?}", solution.status);
            for (y, exact) in solution.y(0).into_iter().zip(Decays::exact(end)) {
                let error = (y.to_f64() / exact - 1.0).abs();
                let most = 300.0 * tol.powf(power);
                assert!(error < most, "{y} for {exact:e} at {end}, {tol:e}: {error:e}");
            }
        }
    }
}

/// y' = y with y = 0: nothing grows, however fast it would.
struct Nothing;

impl System for Nothing {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(1e4) * y[0];
        dydt[1] = -y[1];
    }
}

/// An unstable equilibrium that nothing disturbs costs a bounded number of steps.
pub(crate) fn undisturbed_equilibria_end<T: Precision>(subject: &Subject) {
    // In single precision rounding limits the steps before the guard does.
    if subject.method.jacobian_source().is_none() || T::EPSILON > 1e-10 {
        return;
    }
    let ensemble =
        Ensemble::new(2, vec![T::from_f64(0.0), T::from_f64(1.0)], (0.0, 100.0)).unwrap();
    // 828 until 0.0745, and as many for each of the 7.2 factors of e after that.
    let options = Options::new(tolerance::<T>(1e-5, 1e-3)).max_steps(8000);
    let solution = subject.solve_recorded(&Nothing, &ensemble, &subject.method, &options);
    assert_eq!(solution.status[0], Status::Success, "{:?}", solution.stats[0]);
}

/// Logistic growth from zero, which stays there, and a thousand times slower from 1e-14.
struct Inert;

impl System for Inert {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(10.0) * y[0] * (R::lit(1.0) - y[0]);
        dydt[1] = R::lit(0.01) * y[1] * (R::lit(1.0) - y[1]);
    }
}

/// What does not grow because it is zero hides no slower growth.
pub(crate) fn inert_unknowns_hide_no_growth<T: Precision>(subject: &Subject) {
    if subject.method.jacobian_source().is_none() || T::EPSILON > 1e-10 {
        return;
    }
    let start = vec![T::from_f64(0.0), T::from_f64(1e-14)];
    let ensemble = Ensemble::new(2, start, (0.0, 5000.0)).unwrap();
    for tol in [1e-4, 1e-6] {
        let options = Options::new(tolerance::<T>(tol, 1e-2)).max_steps(20_000);
        let solution = subject.solve_recorded(&Inert, &ensemble, &subject.method, &options);
        let (status, y) = (solution.status[0], solution.y(0)[1].to_f64());
        assert_eq!(status, Status::Success, "{tol:e}: {:?}", solution.stats[0]);
        assert!((y - 1.0).abs() < 1e-3, "{tol:e}: {y:e} with success");
    }
}

/// Decay that turns into growth at t = 10, about an amount far below the tolerance.
struct Season;

impl System for Season {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        // tanh(t − 10).
        let rate =
            R::lit(1.0) - R::lit(2.0) / ((R::lit(2.0) * t - R::lit(20.0)).exp() + R::lit(1.0));
        dydt[0] = R::lit(50.0) * rate * y[0] * (R::lit(1.0) - y[0]) + R::lit(1e-12);
    }
}

/// A method that keeps its Jacobian learns in time that what decayed now grows.
pub(crate) fn growth_that_begins_later_is_seen<T: Precision>(subject: &Subject) {
    if subject.method.jacobian_source().is_none() || T::EPSILON > 1e-10 {
        return;
    }
    let ensemble = Ensemble::new(1, vec![T::from_f64(0.0)], (0.0, 400.0)).unwrap();
    for tol in [1e-3, 1e-5] {
        let options = Options::new(tolerance::<T>(tol, 1e-2)).max_steps(20_000);
        let solution = subject.solve_recorded(&Season, &ensemble, &subject.method, &options);
        let (status, y) = (solution.status[0], solution.y(0)[0].to_f64());
        assert!(!status.is_success() || (y - 1.0).abs() < 0.01, "{tol:e}: {y:e} with success");
    }
}

/// A right-hand side that jumps at t = 1/3 and has a pulse of the width 0.01 about t = 2.
struct Jumps;

impl System for Jumps {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        let early = t.lt(R::lit(1.0 / 3.0));
        dydt[0] = R::select(early, R::lit(1.0), R::lit(-2.0));
        let x = (t - R::lit(2.0)) * R::lit(100.0);
        let pulse = (-(x * x)).exp() * R::lit(100.0 / PI.sqrt());
        dydt[1] = pulse - R::lit(0.1) * y[1];
    }
}

/// Jumps are resolved to some hundred tolerances (an error estimate knows nothing of where in the
/// step a jump lies); a pulse is not stepped over when no step is longer.
pub(crate) fn jumps_and_pulses_are_resolved<T: Precision>(subject: &Subject) {
    let ensemble = Ensemble::new(2, vec![T::from_f64(0.0); 2], (0.0, 3.0)).unwrap();
    for tol in [1e-3, 1e-5] {
        let options = Options::new(tolerance::<T>(tol, 1.0)).max_steps(50_000).largest_step(0.02);
        let solution = subject.solve_recorded(&Jumps, &ensemble, &subject.method, &options);
        let y: Vec<f64> = solution.y(0).iter().map(|y| y.to_f64()).collect();
        assert!(solution.all_succeeded(), "{:?}", solution.status);
        assert!((y[0] + 5.0).abs() < 200.0 * tol, "jump at {tol:e}: {}", y[0]);
        let decayed = (-0.1_f64).exp() * (0.0025_f64 * 0.01 * 0.1).exp();
        assert!((y[1] - decayed).abs() < 200.0 * tol, "pulse at {tol:e}: {} {decayed}", y[1]);
    }
}

/// A slope that jumps from −1 to 1 at t = p₀.
struct Turn;

impl System for Turn {
    fn dim(&self) -> usize {
        1
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, _y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = R::select(t.lt(p[0]), R::lit(-1.0), R::lit(1.0));
    }
}

/// A step to a saved time ends at that time, which t + h may miss by a rounding: where the slope jumps there, that of the next step is
/// the new one. A first step goes to the jump, a second from it to the end, so that each depends on its first slope.
pub(crate) fn steps_end_at_saved_times<T: Precision>(subject: &Subject) {
    let (start, end) = (0.1, 3.0);
    let tolerance = tolerance::<T>(1e-3, 1.0);
    for k in 0..60 {
        let time = T::from_f64(0.25 + 0.043 * f64::from(k)).to_f64();
        let ensemble = Ensemble::new(1, vec![T::from_f64(0.0)], (start, end))
            .and_then(|ensemble| ensemble.with_params(vec![T::from_f64(time)]))
            .unwrap();
        let options = Options::new(tolerance.clone())
            .save_at(vec![time])
            .first_step(FirstStep::Fraction(1.0));
        let solution = subject.solve_recorded(&Turn, &ensemble, &subject.method, &options);
        assert!(solution.all_succeeded(), "{:?}", solution.status);
        let exact = start + end - 2.0 * time;
        let error = (solution.y(0)[0].to_f64() - exact).abs();
        let allowed = tolerance.rtol * (1.0 + exact.abs().max(time - start));
        assert!(error < 15.0 * allowed, "{time}: {error:e}");
    }
}

/// A slope that jumps from a to less, b, where the state comes to c; p = (c, a, b).
struct Threshold;

impl System for Threshold {
    fn dim(&self) -> usize {
        1
    }
    fn n_params(&self) -> usize {
        3
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = R::select(y[0].lt(p[0]), p[1], p[2]);
    }
}

/// Thresholds of the state are resolved as jumps in time are, wherever in a step they lie.
pub(crate) fn thresholds_are_resolved<T: Precision>(subject: &Subject) {
    if subject.method.name() == "rkc" {
        // A power method across the jump finds no spectral radius.
        return;
    }
    // Of the same thresholds fewer where a test is short.
    let (stride, end) = (if subject.is_short() { 5 } else { 1 }, 2.0);
    let systems: Vec<[f64; 3]> = (0..200)
        .step_by(stride)
        .map(|i| {
            let i = f64::from(i);
            let a = 0.5 + 1.5 * (0.618034 * i).fract();
            [0.2 + 0.003 * i, a, a * (0.3 + 0.65 * (0.754878 * i).fract())]
        })
        .collect();
    let p = (0..3).flat_map(|k| systems.iter().map(move |p| T::from_f64(p[k]))).collect();
    let ensemble = Ensemble::repeated(&[T::from_f64(0.0)], systems.len(), (0.0, end))
        .and_then(|ensemble| ensemble.with_params(p))
        .unwrap();
    for tol in [1e-3, 1e-5, 1e-7] {
        let tolerance = tolerance::<T>(tol, 1.0);
        let (most, options) = (300.0 * tolerance.rtol, Options::new(tolerance));
        let solution = subject.solve_recorded(&Threshold, &ensemble, &subject.method, &options);
        assert!(solution.all_succeeded(), "{:?}", solution.status);
        for (s, [c, a, b]) in systems.iter().enumerate() {
            let error = solution.y(s)[0].to_f64() - (c + b * (end - c / a));
            assert!(error.abs() < most, "{c}, {a} to {b} at {tol:e}: {error:e}");
        }
    }
}

/// A rod of eight cells at 300 that conducts fast and is heated slowly, at the rate p₀: it stays uniform.
struct HeatedRod;

impl HeatedRod {
    const CELLS: usize = 8;
    const BACKGROUND: f64 = 300.0;
}

impl System for HeatedRod {
    fn dim(&self) -> usize {
        Self::CELLS
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        for i in 0..Self::CELLS {
            let (left, right) = (y[i.max(1) - 1], y[(i + 1).min(Self::CELLS - 1)]);
            dydt[i] = R::lit(25.0) * ((right - y[i]) - (y[i] - left)) + p[0];
        }
    }
}

/// Slow changes of a large state are not lost in its roundings, which many stages, or many steps, may add up: a step that is just stable
/// changes the state by a few units in the last place of single precision.
pub(crate) fn slow_changes_are_not_rounded_away<T: Precision>(subject: &Subject) {
    let (rates, end) = ([0.001, 0.002, -0.002], 200.0);
    let start = [T::from_f64(HeatedRod::BACKGROUND); HeatedRod::CELLS];
    let ensemble = Ensemble::repeated(&start, rates.len(), (0.0, end))
        .and_then(|ensemble| ensemble.with_params(rates.map(T::from_f64).to_vec()))
        .unwrap();
    for tol in [1e-3, 1e-4] {
        let options = Options::new(tolerance::<T>(tol, 1.0)).max_steps(20_000);
        let solution = subject.solve_recorded(&HeatedRod, &ensemble, &subject.method, &options);
        assert!(solution.all_succeeded(), "{:?}", solution.status);
        for (s, rate) in rates.into_iter().enumerate() {
            for y in solution.y(s) {
                let change = y.to_f64() - HeatedRod::BACKGROUND;
                let error = (change / (rate * end) - 1.0).abs();
                assert!(error < 0.02, "{change} for {} at {tol:e}", rate * end);
            }
        }
    }
}

/// x'' = −x, to be ended where x falls to a level near its least value, or its largest.
struct Oscillation;

impl System for Oscillation {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = y[1];
        dydt[1] = -y[0];
    }
}

/// A level that is passed and passed again within one step is seen, the first time; so is one that is left and met
/// again, by a system that starts beyond it.
pub(crate) fn excursions_are_seen<T: Precision>(subject: &Subject) {
    let levels: Vec<f64> = (1..20).map(|i| -1.0 + 0.005 * f64::from(i * i)).collect();
    let count = levels.len();
    let (p, q) = (subject.method.order(), subject.method.error_order());
    for (tol, start) in [1e-2, 1e-3, 1e-4, 1e-6].into_iter().flat_map(|t| [(t, 1.0), (t, -1.0)]) {
        let from = [start, 0.0].map(T::from_f64);
        let ensemble = Ensemble::repeated(&from, count, (0.0, 6.0)).unwrap();
        let tolerance = tolerance::<T>(tol, 1.0);
        // What the method gets wrong on the way to π may hide the level or move it.
        let reach = 40.0 * tolerance.rtol.powf((f64::from(p) / f64::from(q + 1)).min(1.0));
        let options = Options::new(tolerance)
            .max_steps(20_000)
            .end_when_falls(0, levels.iter().map(|x| start * x.max(-1.0 + 2.0 * reach)).collect());
        let solution = subject.solve_recorded(&Oscillation, &ensemble, &subject.method, &options);
        for (s, level) in levels.iter().enumerate() {
            let level = level.max(-1.0 + 2.0 * reach);
            if level > 0.5 {
                continue;
            }
            let exact = if start > 0.0 { level.acos() } else { 2.0 * PI - level.acos() };
            let (status, reached) = (solution.status[s], (solution.t[s], solution.y(s)));
            assert_eq!(status, Status::TerminalEvent, "{level} at {tol:e}: {reached:?}");
            let close = reach / (1.0 - level * level).sqrt();
            assert!((solution.t[s] - exact).abs() < close, "{level} at {tol:e}: {}", solution.t[s]);
        }
    }
}

/// However stiff a system, the evaluations stay within what is allowed and one attempt.
pub(crate) fn work_is_bounded<T: Precision>(subject: &Subject) {
    let ensemble =
        Ensemble::new(2, vec![T::from_f64(1.0), T::from_f64(0.5)], (0.0, 100.0)).unwrap();
    let options = Options::new(tolerance::<T>(1e-5, 1.0)).max_evaluations(500);
    let solution = subject.solve_recorded(&Oscillation, &ensemble, &subject.method, &options);
    let (status, nfev) = (solution.status[0], solution.stats[0].nfev);
    if status == Status::Success {
        assert!(nfev < 500, "{nfev}");
    } else {
        assert_eq!(status, Status::MaxEvaluations);
        assert!((500..600).contains(&nfev), "{nfev}");
        assert!(solution.t[0] < 100.0);
    }
}
