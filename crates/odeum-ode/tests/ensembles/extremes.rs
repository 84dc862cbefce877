//! Stiff systems whose rates and states are far from one, most of them in single precision.

use crate::device_differences::by_differences;
use crate::event::{places, solve};
use crate::host;
use odeum_core::Tape;
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::{
    Compiled, Controller, DynSystem, Ensemble, Method, Monitor, Options, Real, Scalar, Solution,
    Status, System, Tolerance,
};

/// Solves wherever this can be done, by groups of threads too, and tells of each place.
pub(crate) fn everywhere<T: Compiled>(
    system: &DynSystem,
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
) -> Vec<(String, Solution<T>)> {
    let mut found = Vec::new();
    for place in places() {
        let name = format!("{place:?}, {}, {}", T::NAME, method.name());
        found.push((name, solve(place, system, ensemble, method, options)));
    }
    if host::is_available() {
        let devices = Devices::new(vec![host::setup().device()]).threads_at_least(2);
        let solution = devices.solve_any(system, ensemble, method, options, &Monitor::new());
        found.push((format!("groups, {}, {}", T::NAME, method.name()), solution.unwrap()));
    }
    found
}

/// Systems of one start \[n\] for some parameters each \[m × systems\].
pub(crate) fn ensemble<T: Scalar>(
    start: &[f64],
    count: usize,
    p: &[f64],
    span: (f64, f64),
) -> Ensemble<T> {
    let rounded = |values: &[f64]| values.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>();
    Ensemble::repeated(&rounded(start), count, span).unwrap().with_params(rounded(p)).unwrap()
}

/// y' = −λ (y − cos t), z' = −z.
struct Forced;

impl System for Forced {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = -p[0] * (y[0] - t.cos());
        dydt[1] = -y[1];
    }
}

/// x ⇌ z → w with the rates k, k and 1/10.
struct Reversible;

impl System for Reversible {
    fn dim(&self) -> usize {
        3
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let (forth, loss) = (p[0] * y[0] - p[0] * y[1], R::lit(0.1) * y[1]);
        dydt[0] = -forth;
        dydt[1] = forth - loss;
        dydt[2] = loss;
    }
}

/// What decays within far less than a step leaves nothing behind. The rates of `pairs` are such that a step's 1/h is seen
/// beside them.
fn decays_at_once<T: Compiled>(rtol: f64, forced: &[i32], pairs: &[i32]) {
    let [forced, pairs] = [forced, pairs]
        .map(|exponents| exponents.iter().map(|&e| 10.0_f64.powi(e)).collect::<Vec<f64>>());
    let options = Options::new(Tolerance::new(rtol, 1e-2 * rtol)).max_steps(5000);
    for method in [Method::exp4(), Method::exprb43()] {
        let of_forced = ensemble::<T>(&[1.0, 1.0], forced.len(), &forced, (0.0, 1.0));
        let of_pairs = ensemble::<T>(&[1.0, 0.0, 0.0], pairs.len(), &pairs, (0.0, 10.0));
        let cases: [(_, _, _, &[f64]); 2] = [
            (DynSystem::new(Forced), of_forced, &forced, &[1.0_f64.cos(), (-1.0_f64).exp()]),
            (DynSystem::new(Reversible), of_pairs, &pairs, &[0.5 * (-0.5_f64).exp(); 2]),
        ];
        for (system, ensemble, rates, wanted) in &cases {
            for (place, found) in everywhere(system, ensemble, &method, &options) {
                for (i, rate) in rates.iter().enumerate() {
                    let what = format!("{place}, {rate:e}: {:?}", found.status[i]);
                    assert_eq!(found.status[i], Status::Success, "{what}");
                    for (y, wanted) in found.y(i).iter().zip(*wanted) {
                        let error = (y.to_f64() - wanted).abs() / (rtol * wanted);
                        assert!(error < 20.0, "{what}, {y} for {wanted}: {error:.1} rtol");
                    }
                }
            }
        }
    }
}

#[test]
fn stiff_decay_leaves_nothing_in_single_precision() {
    decays_at_once::<f32>(1e-4, &[3, 6, 9, 12, 15, 18], &[3, 4, 5]);
}

#[test]
fn stiff_decay_leaves_nothing_in_double_precision() {
    decays_at_once::<f64>(1e-6, &[12, 15, 18, 21, 30], &[9, 11]);
}

/// a' = −k aᵐ, b' = k aᵐ.
struct Decay<const M: i32>;

impl<const M: i32> System for Decay<M> {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let rate = p[0] * if M == 1 { y[0] } else { y[0] * y[0] };
        dydt[0] = -rate;
        dydt[1] = rate;
    }
}

fn methods_with_jacobians() -> Vec<Method> {
    Method::all().into_iter().filter(|m| m.jacobian_source().is_some()).collect()
}

/// One of each family, whose others differ by coefficients alone.
fn families_with_jacobians() -> [Method; 3] {
    [Method::rodas4(), Method::radau(), Method::exprb43()]
}

/// The unit of time is not seen in the result, be its squares numbers or not.
fn decay_is_followed<T: Compiled>(rtol: f64, rates: &[f64]) {
    let options = Options::new(Tolerance::new(rtol, 1e-2 * rtol)).max_steps(5000);
    let system = DynSystem::new(Decay::<2>);
    for method in families_with_jacobians() {
        for &k in rates {
            let ensemble = ensemble::<T>(&[1.0, 0.0], 1, &[k], (0.0, 5.0 / k));
            for (place, found) in everywhere(&system, &ensemble, &method, &options) {
                let (stats, b) = (found.stats[0], found.states[1].to_f64());
                let what = format!("{place}, {k:e}: {:?}, {b} {stats:?}", found.status[0]);
                assert_eq!(found.status[0], Status::Success, "{what}");
                assert!((b - 5.0 / 6.0).abs() < 5.0 * rtol, "{what}");
                assert!(stats.rejected < 10, "{what}");
            }
        }
    }
}

#[test]
fn slow_and_fast_decay_is_followed_in_single_precision() {
    decay_is_followed::<f32>(1e-4, &[1e-30, 1e-25, 1e-22, 1e-19, 1.0, 1e17, 1e20, 1e25]);
}

/// At this tolerance matrices on devices are of double precision too.
#[test]
fn slow_and_fast_decay_is_followed_in_double_precision() {
    decay_is_followed::<f64>(1e-9, &[1e-290, 1e-165, 1.0, 1e165, 1e290]);
}

/// Of a product that comes from nothing, a step makes many times its tolerance.
#[test]
fn products_come_from_nothing_in_single_precision() {
    let system = DynSystem::new(Decay::<1>);
    for method in methods_with_jacobians() {
        for (a, k, atol) in [(1.0, 1e8, 1e-12), (1e6, 1e6, 1e-9), (1e12, 1e3, 1e-6)] {
            let options = Options::new(Tolerance::new(1e-4, atol)).max_steps(1000);
            let ensemble = ensemble::<f32>(&[a, 0.0], 1, &[k], (0.0, 5.0 / k));
            for (place, found) in everywhere(&system, &ensemble, &method, &options) {
                let b = found.states[1].to_f64() / a;
                let what = format!("{place}, {a:e} {k:e}: {:?}, {b}", found.status[0]);
                assert_eq!(found.status[0], Status::Success, "{what}");
                assert!((b - (1.0 - (-5.0_f64).exp())).abs() < 5e-4, "{what}");
            }
        }
    }
}

/// x' = p √c − x, v' = x − v, c' = 0: where c is zero, the derivative by c is infinite.
struct Constant;

impl System for Constant {
    fn dim(&self) -> usize {
        3
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = p[0] * y[2].sqrt() - y[0];
        dydt[1] = y[0] - y[1];
        dydt[2] = R::lit(0.0);
    }
}

/// Nothing is derived by what never changes, and it counts in the size of the first step everywhere.
#[test]
fn states_that_never_change_are_the_same_everywhere() {
    let system = DynSystem::from(Tape::trace(&Constant));
    let methods = methods_with_jacobians();
    let differences = methods.clone().into_iter().map(by_differences);
    for method in methods.iter().cloned().chain(differences) {
        for c in [0.0, 1.0] {
            let ensemble = ensemble::<f64>(&[1e-3, 0.0, c], 1, &[1.0], (0.0, 1.0));
            let options = Options::new(Tolerance::new(1e-6, 1e-9)).max_steps(1000);
            let x = c.sqrt() + (1e-3 - c.sqrt()) * (-1.0_f64).exp();
            for (place, found) in everywhere(&system, &ensemble, &method, &options) {
                let what = format!("{place}, {c}, {:?}", found.status[0]);
                assert_eq!(found.status[0], Status::Success, "{what}");
                assert!((found.states[0] - x).abs() < 1e-5 * x, "{what}: {}", found.states[0]);
                assert_eq!(found.states[2], c, "{what}");
            }
            same_first_step(&system, &ensemble, &method, &options);
        }
    }
}

/// The first step has the same size everywhere.
pub(crate) fn same_first_step(
    system: &DynSystem,
    ensemble: &Ensemble<f64>,
    method: &Method,
    options: &Options,
) {
    let options = options.clone().max_steps(1);
    let all = everywhere(system, ensemble, method, &options);
    let wanted = all[0].1.t[0];
    assert!(wanted > 0.0, "{}", method.name());
    for (place, found) in &all {
        let t = found.t[0];
        assert!((t - wanted).abs() <= 1e-9 * wanted, "{place}: {t:e} for {wanted:e}");
    }
}

/// a' = −10³ a (1 + a/N), b' = 10³ a (1 + a/N) − b/2, in numbers N of particles.
struct Numbers;

impl System for Numbers {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let rate = R::lit(1e3) * y[0] * (R::lit(1.0) + y[0] / p[0]);
        dydt[0] = -rate;
        dydt[1] = rate - R::lit(0.5) * y[1];
    }
}

/// y' = −100 (y − t/T)/T.
struct Late;

impl System for Late {
    fn dim(&self) -> usize {
        1
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(-100.0) * (y[0] - t / p[0]) / p[0];
    }
}

/// Differences change states of any size.
fn differences_are_taken_of_states<T: Compiled>(sizes: &[f64], rtol: f64) {
    let system = DynSystem::new(Numbers);
    for method in families_with_jacobians().into_iter().map(by_differences) {
        let mut wanted = None;
        for &n in sizes {
            let options = Options::new(Tolerance::new(rtol, 1e-2 * rtol * n)).max_steps(1000);
            let ensemble = ensemble::<T>(&[n, 0.5 * n], 1, &[n], (0.0, 5.0));
            for (place, found) in everywhere(&system, &ensemble, &method, &options) {
                let b = found.states[1].to_f64() / n;
                let wanted = *wanted.get_or_insert(b);
                let what = format!("{place}, {n:e}: {:?}, {b} {wanted}", found.status[0]);
                assert_eq!(found.status[0], Status::Success, "{what}");
                assert!((b - wanted).abs() < 20.0 * rtol * wanted, "{what}");
            }
        }
    }
}

#[test]
fn differences_are_taken_of_large_states() {
    differences_are_taken_of_states::<f32>(&[1.0, 3e7, 1e10, 1e16, 1e30], 1e-4);
    differences_are_taken_of_states::<f64>(&[1.0, 1e17, 1e19, 1e25, 1e120], 1e-6);
}

fn differences_are_taken_of_time<T: Compiled>(times: &[f64], rtol: f64) {
    let system = DynSystem::new(Late);
    for method in families_with_jacobians().into_iter().map(by_differences) {
        for &t in times {
            let options = Options::new(Tolerance::new(rtol, rtol)).max_steps(1000);
            let ensemble = ensemble::<T>(&[1.0], 1, &[t], (t, 2.0 * t));
            for (place, found) in everywhere(&system, &ensemble, &method, &options) {
                let y = found.states[0].to_f64();
                let what = format!("{place}, {t:e}: {:?}, {y}", found.status[0]);
                assert_eq!(found.status[0], Status::Success, "{what}");
                assert!((y - 1.99).abs() < 20.0 * rtol, "{what}");
            }
        }
    }
}

#[test]
fn differences_are_taken_of_late_times() {
    differences_are_taken_of_time::<f32>(&[1.0, 1e8, 1e20], 1e-4);
    differences_are_taken_of_time::<f64>(&[1.0, 1e17, 1e30], 1e-6);
}

/// A dose at t = 1, and y' = −y.
struct Dose;

impl System for Dose {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = R::select(t.lt(R::lit(1.0)), R::lit(0.0), p[0]);
        dydt[1] = -y[1];
    }
}

/// An error of a component that leaves zero without an absolute tolerance overflows when it is squared.
#[test]
fn a_step_of_given_size_is_taken_wherever_it_ends_at_numbers() {
    let options = Options::new(Tolerance::new(1e-6, 0.0));
    let ensemble = ensemble::<f64>(&[0.0, 1.0], 3, &[2.0; 3], (0.0, 2.0));
    for method in [Method::rkck(), Method::rodas4(), Method::rkc()] {
        let method = method.with_controller(Controller::fixed(0.125));
        for (place, found) in everywhere(&DynSystem::new(Dose), &ensemble, &method, &options) {
            let what = format!("{place}: {:?}, {:?}", found.status[0], found.y(0));
            assert_eq!(found.status[0], Status::Success, "{what}");
            assert_eq!(found.stats[0].rejected, 0, "{what}");
            assert!((found.y(0)[0] - 2.0).abs() < 0.3, "{what}");
        }
    }
}

/// First steps of 1e-150 have no 1/h in single precision, which matrices on devices may be of.
#[test]
fn first_steps_may_be_as_short_as_no_absolute_tolerance_makes_them() {
    let options = Options::new(Tolerance::new(1e-6, 0.0));
    let ensemble = ensemble::<f64>(&[1.0, 0.0, 0.0], 3, &[10.0; 3], (0.0, 10.0));
    for (place, found) in
        everywhere(&DynSystem::new(Reversible), &ensemble, &Method::rodas4(), &options)
    {
        let what = format!("{place}: {:?}, {:?}", found.status[0], found.y(0));
        assert_eq!(found.status[0], Status::Success, "{what}");
        assert!((found.y(0).iter().sum::<f64>() - 1.0).abs() < 1e-6, "{what}");
    }
}
