//! Device code executed on the host device, against the CPU backend.

use crate::host;
use odeum_ode::problems::{Brusselator1d, Lorenz, Pleiades, VanDerPol};
use odeum_ode::{
    Compiled, Controller, Device, DynSystem, Ensemble, Error, FirstStep, Method, Options, Real,
    Rkc, Scalar, Solution, Solver, Status, System, Tolerance,
};

/// Systems that start near `state`, each a little elsewhere.
fn scattered<T: Scalar>(state: &[f64], count: usize, span: (f64, f64)) -> Ensemble<T> {
    let shift = |s: usize, i: usize| 1e-3 * ((s * 37 + i * 101) % 64) as f64 / 64.0;
    let states =
        (0..state.len()).flat_map(|i| (0..count).map(move |s| T::from_f64(state[i] + shift(s, i))));
    Ensemble::new(state.len(), states.collect(), span).unwrap()
}

fn published() -> Options {
    Options::new(Tolerance::state_and_rate(1e-10)).first_step(FirstStep::Fraction(0.5)).segments(4)
}

/// Same statuses, steps and evaluations as on the CPU, states within `tolerance`.
fn agrees<T: Compiled, S: System + Copy + Send + 'static>(
    kernel: &str,
    system: &S,
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
    tolerance: f64,
) {
    if !host::is_available() {
        return;
    }
    let found = host::solve(kernel, system, ensemble, method, options).unwrap();
    let solver = Solver::new(DynSystem::new(*system), method, &Device::cpu(), options).unwrap();
    let expected = solver.solve(ensemble).unwrap();
    assert_eq!(found.status, expected.status);
    assert_eq!(found.n_saved, expected.n_saved);
    for s in 0..ensemble.len() {
        // Times of many steps at once have fewer roundings.
        assert!((found.t[s] - expected.t[s]).abs() <= 1e-12 * expected.t[s].abs(), "system {s}");
        let (a, b) = (found.stats[s], expected.stats[s]);
        assert_eq!((a.steps, a.rejected, a.nfev), (b.steps, b.rejected, b.nfev), "system {s}");
        let size = expected.y(s).iter().map(|y| y.to_f64().abs()).fold(0.0, f64::max);
        for (y, z) in found.y(s).iter().zip(expected.y(s)) {
            let error = (y.to_f64() - z.to_f64()).abs() / size;
            assert!(error <= tolerance, "system {s}: {y} against {z}");
        }
        for k in 0..found.n_saved.get(s).map_or(0, |&n| n as usize) {
            for (y, z) in found.y_at(k, s).unwrap().iter().zip(expected.y_at(k, s).unwrap()) {
                assert!((y.to_f64() - z.to_f64()).abs() <= tolerance * size);
            }
        }
    }
}

/// The stars again, with positions that do not quite follow the velocities: nothing folds.
#[derive(Clone, Copy)]
struct Unfolded;

impl System for Unfolded {
    fn dim(&self) -> usize {
        28
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        Pleiades.rhs(t, y, p, dydt);
        for i in 0..14 {
            dydt[i] = dydt[i] * R::lit(1.0 - 1e-9);
        }
    }
}

#[test]
fn one_thread_per_system_agrees_with_the_processor() {
    let pleiades = Pleiades::problem();
    let ensemble = scattered::<f64>(&pleiades.y0, 5, (0.0, 0.4));
    agrees("od_erk", &Pleiades, &ensemble, &Method::rkck(), &published(), 1e-12);
    agrees("od_erk", &Unfolded, &ensemble, &Method::rkck(), &published(), 1e-12);
    let automatic = Options::new(Tolerance::new(1e-7, 1e-9)).save_at(vec![0.1, 0.25]);
    agrees("od_erk", &Pleiades, &ensemble, &Method::dopri5(), &automatic, 1e-9);
    agrees("od_erk", &Pleiades, &ensemble, &Method::vern7(), &automatic, 1e-9);
    let backward = scattered::<f64>(&pleiades.y0, 3, (0.4, 0.0));
    let options = Options::new(Tolerance::new(1e-7, 1e-9));
    agrees("od_erk", &Pleiades, &backward, &Method::rkck(), &options, 1e-9);
}

#[test]
fn small_systems_in_registers_agree_with_the_processor() {
    let lorenz = Lorenz::problem();
    let count = 7;
    let params = (0..3 * count).map(|k| {
        let (j, s) = (k / count, k % count);
        lorenz.params[j] * (0.5 + 0.05 * s as f64)
    });
    let spans: Vec<_> = (0..count).map(|s| (0.0, 0.5 + 0.1 * s as f64)).collect();
    let ensemble = scattered::<f64>(&lorenz.y0, count, (0.0, 1.0))
        .with_params(params.collect())
        .unwrap()
        .with_spans(spans)
        .unwrap();
    let options = Options::new(Tolerance::per_component(1e-6, vec![1e-6, 1e-7, 1e-8]));
    for controller in [Controller::pi(), Controller::pid(), Controller::predictive()] {
        let method = Method::tsit5().with_controller(controller);
        agrees("od_erk", &Lorenz, &ensemble, &method, &options, 1e-6);
    }
    let fixed = Method::rkck().with_controller(Controller::fixed(0.01));
    agrees("od_erk", &Lorenz, &ensemble, &fixed, &options, 1e-12);
    let problem = VanDerPol::problem();
    let ensemble = scattered::<f64>(&problem.y0, 4, (0.0, 1.5))
        .with_shared_params(problem.params.clone())
        .unwrap();
    agrees("od_erk", &VanDerPol, &ensemble, &Method::rkck(), &options_for(2), 1e-6);
}

/// Fixed steps are taken many at a time; where a system ends in between, it ends as on the
/// processor, to the step.
#[test]
fn fixed_steps_end_where_they_end_on_the_processor() {
    // y' = −√y from c² is (c − t/2)²: the step past its zero takes the root of a negative number.
    let starts: Vec<f64> = [0.151, 0.37, 0.65, 50.0].iter().map(|c| c * c).collect();
    let ensemble = Ensemble::new(1, starts, (0.0, 2.0)).unwrap();
    let loose = Options::new(Tolerance::new(1e-6, 1e-6));
    for method in [Method::rkck(), Method::dopri5(), Method::vern7()] {
        let fixed = method.with_controller(Controller::fixed(0.003));
        agrees("od_erk", &Drain, &ensemble, &fixed, &loose, 1e-9);
        let (short, saved) = (loose.clone().max_steps(407), loose.clone().save_at(vec![0.3, 1.1]));
        agrees("od_erk", &Drain, &ensemble, &fixed, &short, 1e-9);
        for most in [1, 700, 1000, 1003] {
            agrees("od_erk", &Drain, &ensemble, &fixed, &loose.clone().max_evaluations(most), 1e-9);
        }
        agrees("od_erk", &Drain, &ensemble, &fixed, &saved.segments(3), 1e-9);
    }
}

/// Steps of one size leave states at their times far from zero, one by one or many at once.
/// Numbers beyond those of single precision, in either direction.
#[derive(Clone, Copy)]
struct Extreme;

impl System for Extreme {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        0
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = -y[0] * y[0] / (y[0] + R::lit(1e-50)) + R::lit(-1e-46) * t;
        dydt[1] = y[0].min(R::lit(1e300)) - y[1].max(R::lit(-3.5e38));
    }
}

#[test]
fn numbers_that_single_precision_has_not_are_zero_or_infinite_there() {
    let options = Options::new(Tolerance::new(1e-4, 1e-4));
    for method in [Method::dopri5(), Method::rkc(), Method::rodas4()] {
        let kernel = match method.name() {
            "dopri5" => "od_erk",
            "rkc" => "od_rkc",
            _ => "od_rosenbrock",
        };
        let double = scattered::<f64>(&[1.0, 0.5], 40, (0.0, 1.0));
        agrees(kernel, &Extreme, &double, &method, &options, 1e-9);
        let single = scattered::<f32>(&[1.0, 0.5], 40, (0.0, 1.0));
        if !host::is_available() {
            return;
        }
        let found = host::solve(kernel, &Extreme, &single, &method, &options).unwrap();
        let solver =
            Solver::new(DynSystem::new(Extreme), &method, &Device::cpu(), &options).unwrap();
        let expected = solver.solve(&single).unwrap();
        assert_eq!(found.status, expected.status);
        for s in 0..single.len() {
            for (y, z) in found.y(s).iter().zip(expected.y(s)) {
                assert!((y - z).abs() <= 1e-3 * z.abs(), "{kernel}, system {s}: {y} against {z}");
            }
        }
    }
}

#[test]
fn fixed_steps_do_not_drift() {
    // Of the times from `far` on; steps of so many that nearly half of one is rounded away each time.
    let unit = 0.5_f64.powi(16);
    let (far, h) = (1.25 * unit / f64::EPSILON, 655.45 * unit);
    let ensemble = Ensemble::new(1, vec![1.0, 4.0], (far, far + 1.0)).unwrap();
    let options = Options::new(Tolerance::new(1e-6, 1e-6));
    for method in [Method::rkck(), Method::dopri5()] {
        let fixed = method.with_controller(Controller::fixed(h));
        let solver = Solver::new(DynSystem::new(Drain), &fixed, &Device::cpu(), &options).unwrap();
        let on_host = host::is_available()
            .then(|| host::solve("od_erk", &Drain, &ensemble, &fixed, &options).unwrap());
        for found in [Some(solver.solve(&ensemble).unwrap()), on_host].into_iter().flatten() {
            for (s, start) in [1.0_f64, 2.0].into_iter().enumerate() {
                let late = found.y(s)[0] - (start - 0.5).powi(2);
                assert!(
                    late.abs() < 1e-7,
                    "{} after {} steps",
                    found.y(s)[0],
                    found.stats[s].steps
                );
            }
        }
    }
}

/// y' = −√y.
#[derive(Clone, Copy)]
struct Drain;

impl System for Drain {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = -y[0].sqrt();
    }
}

fn options_for(dim: usize) -> Options {
    Options::new(Tolerance::per_component(1e-6, vec![1e-8; dim])).largest_step(0.2)
}

#[test]
fn large_systems_agree_with_the_processor() {
    let ensemble = scattered::<f64>(&vec![1.0; 80], 3, (0.0, 0.2));
    let options = Options::new(Tolerance::new(1e-7, 1e-9)).segments(2).warm_start();
    agrees("od_erk", &Ring, &ensemble, &Method::dopri5(), &options, 1e-9);
    agrees("od_rkc_groups", &Ring, &ensemble, &Method::rkc(), &options, 1e-7);
}

/// Eighty values that diffuse along a ring.
#[derive(Clone, Copy)]
struct Ring;

impl System for Ring {
    fn dim(&self) -> usize {
        80
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        for i in 0..80 {
            let neighbours = y[(i + 1) % 80] + y[(i + 79) % 80];
            dydt[i] = R::lit(30.0) * (neighbours - R::lit(2.0) * y[i]) - y[i] * y[i];
        }
    }
}

#[test]
fn rkc_agrees_with_the_processor() {
    let system = Brusselator1d::default();
    let problem = system.problem();
    let ensemble = scattered::<f64>(&problem.y0, 3, (0.0, 0.5))
        .with_shared_params(problem.params.clone())
        .unwrap();
    let options = Options::new(Tolerance::new(1e-4, 1e-5)).save_at(vec![0.2]);
    agrees("od_rkc_groups", &system, &ensemble, &Method::rkc(), &options, 1e-7);
    let bounded = Method::Rkc(Rkc { radius_bound: Some(3000.0), ..Rkc::default() });
    agrees("od_rkc_groups", &system, &ensemble, &bounded, &options, 1e-7);
    let few = Method::Rkc(Rkc { max_stages: Some(5), ..Rkc::default() });
    agrees("od_rkc_groups", &system, &ensemble, &few, &options, 1e-7);
    let problem = VanDerPol::problem();
    let ensemble = scattered::<f64>(&problem.y0, 4, (0.0, 0.5))
        .with_shared_params(problem.params.clone())
        .unwrap();
    agrees("od_rkc", &VanDerPol, &ensemble, &Method::rkc(), &options_for(2), 1e-6);
}

fn bits<T: Scalar>(solution: &Solution<T>) -> Vec<u64> {
    let all = solution.states.iter().chain(&solution.saved);
    all.map(|y| y.to_f64().to_bits()).collect()
}

/// The kernel that gives a system to several lanes and the one that gives it to a thread.
#[test]
fn lanes_give_the_bits_of_a_thread() {
    if !host::is_available() {
        return;
    }
    have_the_bits_of_a_thread(&Pleiades, true);
    have_the_bits_of_a_thread(&Unfolded, false);
}

fn have_the_bits_of_a_thread<S: System>(system: &S, paired: bool) {
    let y0 = Pleiades::problem().y0;
    let ensemble = scattered::<f64>(&y0, 3, (0.0, 0.3));
    let narrow = scattered::<f32>(&y0, 3, (0.0, 0.3));
    let automatic = Options::new(Tolerance::new(1e-5, 1e-6)).save_at(vec![0.1, 0.2]).segments(2);
    for method in [Method::rkck(), Method::dopri5(), Method::vern7()] {
        for options in [published(), automatic.clone()] {
            let run = |kernel| host::solve(kernel, system, &ensemble, &method, &options);
            let what = format!("{} twins {paired} {:?}", method.name(), options.tolerance.norm);
            let thread = run("od_erk").unwrap();
            let Some(lanes) = run("od_erk_lanes") else {
                // Ten stages of 28 slopes do not fit into shared memory.
                assert_eq!((method.name(), paired), ("vern7", false));
                continue;
            };
            assert!(thread.all_succeeded());
            assert_eq!(bits(&thread), bits(&lanes), "{what}");
            assert_eq!(thread.stats, lanes.stats, "{what}");
            assert_eq!(thread.n_saved, lanes.n_saved, "{what}");
        }
    }
    let run = |kernel| host::solve(kernel, system, &narrow, &Method::tsit5(), &automatic).unwrap();
    assert_eq!(bits(&run("od_erk")), bits(&run("od_erk_lanes")));
}

/// Stars that meet: the force is infinite, and only their own system knows.
#[test]
fn a_failing_system_changes_no_bit_of_its_neighbours() {
    if !host::is_available() {
        return;
    }
    let y0 = Pleiades::problem().y0;
    let healthy = scattered::<f64>(&y0, 6, (0.0, 0.2));
    let mut states = healthy.states().to_vec();
    for i in [0, 7] {
        // The first two stars of system 2 stand at one place.
        states[i * 6 + 2] = states[(i + 1) * 6 + 2];
    }
    let broken = Ensemble::new(28, states, (0.0, 0.2)).unwrap();
    let options = Options::new(Tolerance::new(1e-7, 1e-9)).max_steps(500);
    for kernel in ["od_erk", "od_erk_lanes"] {
        let run =
            |ensemble| host::solve(kernel, &Pleiades, ensemble, &Method::rkck(), &options).unwrap();
        let (with, without) = (run(&broken), run(&healthy));
        assert_eq!(with.status[2], Status::NonFinite, "{kernel}");
        assert!(with.y(2).iter().all(|y| y.is_finite()));
        for s in [0, 1, 3, 4, 5] {
            assert_eq!(with.y(s), without.y(s), "{kernel}: system {s}");
            assert_eq!(with.stats[s], without.stats[s]);
        }
    }
}

/// Without a driver, or without that many GPUs: an error that says so, and no panic.
#[test]
fn a_gpu_that_is_not_there_is_an_error() {
    let ensemble = scattered::<f64>(&Pleiades::problem().y0, 2, (0.0, 0.1));
    let device = Device::cuda(99);
    let solver = Solver::new(Pleiades::problem(), &Method::rkck(), &device, &published());
    match solver.and_then(|solver| solver.solve(&ensemble)) {
        Err(Error::Device { device, reason, remedy }) => {
            assert_eq!(device, "cuda:99");
            assert!(reason.contains("libcuda") || reason.contains("GPU"), "{reason}");
            assert!(!remedy.is_empty());
        }
        other => panic!("{other:?}"),
    }
}
