//! Reacting gases through whole ignitions: all ignite, and what must stay, stays.

use crate::extremes::{everywhere, same_first_step};
use crate::host;
use odeum_cuda::host::Setup;
use odeum_kinetics::{Constraint, Energy, JacobianForm, Kinetics, Mechanism, Reactor, read};
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::{
    Controller, Cpu, Device, DynSystem, Ensemble, Isa, Method, Monitor, Options, Solution, Solver,
    Stats, Status, System, Tolerance,
};
use std::path::Path;
use std::sync::Arc;

/// Mass, elements and the amount of substance are linear invariants, which Runge–Kutta methods keep
/// at any tolerance, and Rosenbrock and exponential methods with exact Jacobians.
const KEPT: f64 = 1e-12;

fn hydrogen() -> Mechanism {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    read::from_path(&root.join("mechanisms/hydrogen-burke-2012.yaml"), None, None)
        .unwrap()
        .mechanism
}

fn methods() -> Vec<Method> {
    Method::all().into_iter().filter(|method| method.jacobian_source().is_some()).collect()
}

/// A reactor, from this temperature, pressure and these mass fractions on for a time.
fn one(
    reactor: Reactor,
    (temperature, pressure, y): (f64, f64, &[f64]),
    time: f64,
) -> (DynSystem, Ensemble<f64>) {
    let (state, params) = reactor.state(temperature, pressure, y).unwrap();
    let ensemble = Ensemble::new(reactor.dim(), state, (0.0, time))
        .and_then(|ensemble| ensemble.with_params(params.to_vec()))
        .unwrap();
    (reactor.into(), ensemble)
}

/// Asserts that a reactor ends with the mass, the elements and the amount of substance that it began with.
fn check_kept(mechanism: &Mechanism, weights: &[f64], start: &[f64], end: &[f64], what: &str) {
    let n = weights.len();
    let kept = |of: &dyn Fn(&[f64]) -> f64, name: &str| {
        let (before, after) = (of(start), of(end));
        let change = (after - before).abs() / before.abs();
        assert!(change <= KEPT, "{what} changed {name} by {change:e}");
    };
    kept(&|y| y[1..=n].iter().sum(), "the mass");
    for (e, element) in mechanism.elements.iter().enumerate() {
        let atoms = |k: usize| {
            let composition = &mechanism.species[k].composition;
            composition.iter().find(|(at, _)| *at == e).map_or(0.0, |(_, n)| *n)
        };
        let amount = |y: &[f64]| (0..n).map(|k| atoms(k) * y[1 + k] / weights[k]).sum();
        if amount(start) != 0.0 {
            kept(&amount, &element.name);
        }
    }
    let amount: f64 = (0..n).map(|k| end[1 + k] / weights[k]).sum();
    assert!((end[n + 1] - amount).abs() <= KEPT * amount, "{what}: {} {amount}", end[n + 1]);
}

#[test]
fn ignitions_keep_mass_elements_and_amounts() {
    let mechanism = hydrogen();
    let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
    let weights = kinetics.molecular_weights();
    let fuel = kinetics.composition(&[("H2", 1.0)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)]).unwrap();
    for reactor in
        [Reactor::constant_volume(kinetics.clone()), Reactor::constant_pressure(kinetics.clone())]
    {
        // As many mixtures as lanes and a few more.
        let starts: Vec<(Vec<f64>, [f64; 1])> = (0..19)
            .map(|s| {
                let phi = 0.4 + 0.1 * f64::from(s);
                let y = kinetics.at_equivalence_ratio(phi, &fuel, &air).unwrap();
                reactor.state(1100.0 + 10.0 * f64::from(s), 101_325.0, &y).unwrap()
            })
            .collect();
        let states = (0..reactor.dim()).flat_map(|i| starts.iter().map(move |(y, _)| y[i]));
        let ensemble = Ensemble::new(reactor.dim(), states.collect(), (0.0, 1e-3))
            .and_then(|e| e.with_params(starts.iter().map(|(_, p)| p[0]).collect()))
            .unwrap();
        let system = DynSystem::from(reactor);
        for method in methods() {
            // An absolute tolerance above the first radicals lets implicit methods step over
            // ignitions.
            let options = Options::new(Tolerance::new(1e-6, 1e-15));
            let solver = Solver::new(&system, &method, &Device::cpu(), &options).unwrap();
            let solution = solver.solve(&ensemble).unwrap();
            assert!(solution.all_succeeded(), "{}", method.name());
            for (s, (start, _)) in starts.iter().enumerate() {
                let end = solution.y(s);
                assert!(end[0] > start[0] + 400.0, "{}: {} K", method.name(), end[0]);
                check_kept(&mechanism, weights, start, &end, method.name());
            }
        }
    }
}

/// Large ensembles go over two packs at a time, and what is left of them over one: each reactor ends as it does among few.
#[test]
fn many_reactors_end_as_each_does_among_few() {
    let kinetics = Arc::new(Kinetics::new(&hydrogen()).unwrap());
    let fuel = kinetics.composition(&[("H2", 1.0)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)]).unwrap();
    let reactor = Reactor::constant_pressure(kinetics.clone());
    // Few are too few for two packs.
    const COUNT: usize = 150;
    const FEW: usize = 50;
    let starts: Vec<Vec<f64>> = (0..COUNT)
        .map(|s| {
            let y = kinetics.at_equivalence_ratio(0.3 + 0.01 * s as f64, &fuel, &air).unwrap();
            reactor.state(900.0 + 7.0 * s as f64, 101_325.0, &y).unwrap().0
        })
        .collect();
    let ensemble = |starts: &[Vec<f64>]| {
        let states = (0..reactor.dim()).flat_map(|i| starts.iter().map(move |y| y[i])).collect();
        Ensemble::new(reactor.dim(), states, (0.0, 3e-5))
            .and_then(|e| e.with_shared_params(vec![101_325.0]))
            .and_then(|e| e.with_first_steps(vec![0.0; starts.len()]))
            .unwrap()
    };
    let (together, system) = (ensemble(&starts), DynSystem::from(reactor.clone()));
    let options = Options::new(Tolerance::new(1e-5, 1e-12)).save_at(vec![1e-5, 2e-5]);
    let remembering = |method: Method| method.with_controller(Controller::pid());
    let few_attempts = options.clone().max_steps(40);
    for (method, options) in [
        (Method::rodas4(), &options),
        (remembering(Method::rodas5p()), &options),
        (Method::ros34pw2(), &few_attempts),
        (Method::dopri5(), &options),
        (remembering(Method::rkck()), &options),
    ] {
        for isa in Isa::available() {
            let device = Device::Cpu(Cpu { threads: Some(1), isa });
            let solver = Solver::new(&system, &method, &device, options).unwrap();
            let all = solver.solve(&together).unwrap();
            assert_eq!(all.all_succeeded(), options.max_steps > 40);
            for (first, few) in starts.chunks(FEW).enumerate() {
                let few = solver.solve(&ensemble(few)).unwrap();
                for k in 0..FEW {
                    let s = first * FEW + k;
                    let what = format!("{isa} {}: {s}", method.name());
                    assert_eq!((few.y(k), few.stats[k]), (all.y(s), all.stats[s]), "{what}");
                    assert_eq!((few.t[k], few.status[k]), (all.t[s], all.status[s]), "{what}");
                    assert_eq!(few.next_steps[k], all.next_steps[s], "{what}");
                    assert_eq!(few.y_at(1, k), all.y_at(1, s), "{what}");
                }
            }
        }
    }
}

/// The ignition delays of mixtures by the kernels of GPUs, against those of the CPU: a reactor that one thread
/// has, and one by a warp from tables.
#[test]
fn ignitions_on_devices_are_as_late() {
    if !host::is_available() {
        return;
    }
    let kinetics = Arc::new(Kinetics::new(&hydrogen()).unwrap());
    let fuel = kinetics.composition(&[("H2", 1.0)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)]).unwrap();
    let reactor = Reactor::constant_volume(kinetics.clone());
    // The last does not ignite.
    let starts: Vec<(Vec<f64>, [f64; 1])> =
        [(1.0, 1200.0), (0.5, 1050.0), (2.0, 1000.0), (1.0, 700.0)]
            .into_iter()
            .map(|(phi, temperature)| {
                let y = kinetics.at_equivalence_ratio(phi, &fuel, &air).unwrap();
                reactor.state(temperature, 101_325.0, &y).unwrap()
            })
            .collect();
    let states = (0..reactor.dim()).flat_map(|i| starts.iter().map(move |(y, _)| y[i]));
    let ensemble = Ensemble::new(reactor.dim(), states.collect(), (0.0, 2e-3))
        .and_then(|e| e.with_params(starts.iter().map(|(_, p)| p[0]).collect()))
        .unwrap();
    let system = DynSystem::from(reactor);
    let levels = starts.iter().map(|(y, _)| y[0] + 400.0).collect();
    let rtol = 1e-6;
    let options = Options::new(Tolerance::new(rtol, 1e-15)).end_when_rises(0, levels);
    for method in [Method::rodas4(), Method::rodas5p()] {
        let solver = Solver::new(&system, &method, &Device::cpu(), &options).unwrap();
        let wanted = solver.solve(&ensemble).unwrap();
        let ended =
            [Status::TerminalEvent, Status::TerminalEvent, Status::TerminalEvent, Status::Success];
        assert_eq!(wanted.status, ended);
        for width in [1, 32] {
            let devices = Devices::new(vec![host::setup().device()]).threads_at_least(width);
            let monitor = Monitor::new();
            let found = devices.solve_any(&system, &ensemble, &method, &options, &monitor).unwrap();
            assert_eq!(found.status, wanted.status, "{} {width}", method.name());
            for s in 0..starts.len() {
                let name = method.name();
                let what = format!("{name} with {width} threads, {s}: {:?}", found.stats[s]);
                let near = |a: f64, b: f64| (a - b).abs() <= rtol * b.abs();
                assert!(near(found.t[s], wanted.t[s]), "{what}: {} {}", found.t[s], wanted.t[s]);
                assert!(near(found.y(s)[0], wanted.y(s)[0]), "{what}");
                // Matrices of single precision leave other errors below the tolerance.
                let (steps, counted) = (found.stats[s].steps, wanted.stats[s].steps);
                assert!(steps.abs_diff(counted) <= counted / 20, "{what}: {counted}");
            }
        }
    }
}

/// Matrices of single precision change by themselves what must stay: some 1e-8 in an ignition.
#[test]
fn ignitions_on_devices_keep_mass_elements_and_amounts() {
    if !host::is_available() {
        return;
    }
    let mechanism = hydrogen();
    let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
    let fuel = kinetics.composition(&[("H2", 1.0)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)]).unwrap();
    let reactor = Reactor::constant_pressure(kinetics.clone());
    // The second has no oxygen, and nothing happens: the equations of its elements are singular.
    let starts: Vec<Vec<f64>> = [(0.8, 1200.0), (f64::INFINITY, 1200.0), (1.5, 1100.0)]
        .into_iter()
        .map(|(phi, temperature)| {
            let mixture = || kinetics.at_equivalence_ratio(phi, &fuel, &air).unwrap();
            let y = if phi.is_finite() { mixture() } else { fuel.clone() };
            reactor.state(temperature, 101_325.0, &y).unwrap().0
        })
        .collect();
    let states = (0..reactor.dim()).flat_map(|i| starts.iter().map(move |y| y[i]));
    let ensemble = Ensemble::new(reactor.dim(), states.collect(), (0.0, 1e-3))
        .and_then(|e| e.with_shared_params(vec![101_325.0]))
        .unwrap();
    let system = DynSystem::from(reactor);
    let options = Options::new(Tolerance::new(1e-6, 1e-15));
    for method in [Method::rodas4(), Method::radau(), Method::exp4()] {
        for width in [1, 32] {
            let devices = Devices::new(vec![host::setup().device()]).threads_at_least(width);
            let monitor = Monitor::new();
            let found = devices.solve_any(&system, &ensemble, &method, &options, &monitor).unwrap();
            assert!(found.all_succeeded(), "{}", method.name());
            for (s, start) in starts.iter().enumerate() {
                let (end, what) = (found.y(s), format!("{} by {width}, {s}", method.name()));
                assert_eq!(end[0] > start[0] + 400.0, s != 1, "{what}: {} K", end[0]);
                check_kept(&mechanism, kinetics.molecular_weights(), start, &end, &what);
            }
        }
    }
}

/// A lump whose formula is rounded, and one that is exact, from one species: carbon is no invariant, hydrogen is one. And pairs of
/// isomers with nearly equal formulas, whose carbon and hydrogen stay, each by a hair apart from the other.
fn rounded_formulas() -> Vec<(String, Mechanism)> {
    let read = |what: &str, species: &[[&str; 3]], reactions: &[&str]| {
        let mut text =
            "phases: [{name: gas, thermo: ideal-gas, kinetics: gas}]\nspecies:\n".to_owned();
        for [name, carbon, hydrogen] in species {
            text += &format!(
                "- {{name: {name}, composition: {{C: {carbon}, H: {hydrogen}}}, \
                 thermo: {{model: constant-cp, cp0: 1500 J/mol/K}}}}\n"
            );
        }
        text += "reactions:\n";
        for reaction in reactions {
            text +=
                &format!("- {{equation: {reaction}, rate-constant: {{A: 1e6, b: 0, Ea: 0}}}}\n");
        }
        (what.to_owned(), read::yaml("f.yaml", &text, None).unwrap().mechanism)
    };
    let paths = ["A => B", "A => C"];
    let mut all = vec![
        read("a lump", &[["A", "100", "50"], ["B", "100.009", "50"], ["C", "100", "50"]], &paths),
        read("two", &[["A", "100", "50"], ["B", "100.009", "50.001"], ["C", "100", "50"]], &paths),
    ];
    for hydrogen in ["2.001", "2.00001", "2.000001", "2.0000001", "2.000000001"] {
        let species = [
            ["A", "1", "2"],
            ["B", "1", "2"],
            ["C", "1", "2"],
            ["D", "1", hydrogen],
            ["E", "1", hydrogen],
            ["F", "1", hydrogen],
        ];
        let reactions = ["A => B", "A => C", "B <=> C", "D => E", "D => F", "E <=> F"];
        all.push(read(hydrogen, &species, &reactions));
    }
    all
}

/// What reactions do not conserve to rounding is not put back after steps.
#[test]
fn rounded_formulas_end_on_devices_as_on_the_processor() {
    if !host::is_available() {
        return;
    }
    for (what, mechanism) in rounded_formulas() {
        let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
        let reactor = Reactor::constant_volume(kinetics.clone());
        let mut y = vec![0.0; kinetics.n_species()];
        let starts = ["A", "D"].into_iter().filter_map(|name| kinetics.species_index(name));
        let starts: Vec<usize> = starts.collect();
        starts.iter().for_each(|&k| y[k] = 1.0 / starts.len() as f64);
        let (state, density) = reactor.state(1000.0, 101_325.0, &y).unwrap();
        let ensemble = Ensemble::repeated(&state, 1, (0.0, 1e-5))
            .and_then(|ensemble| ensemble.with_shared_params(density.to_vec()))
            .unwrap();
        let system = DynSystem::from(reactor);
        let (rtol, atol) = (1e-6, 1e-12);
        let options = Options::new(Tolerance::new(rtol, atol));
        for method in [Method::rodas4(), Method::radau()] {
            let solver = Solver::new(&system, &method, &Device::cpu(), &options).unwrap();
            let wanted = solver.solve(&ensemble).unwrap();
            for width in [1, 32] {
                let devices = Devices::new(vec![host::setup().device()]).threads_at_least(width);
                let monitor = Monitor::new();
                let found =
                    devices.solve_any(&system, &ensemble, &method, &options, &monitor).unwrap();
                let what = format!("{what}, {} by {width}", method.name());
                assert!(wanted.all_succeeded() && found.all_succeeded(), "{what}");
                for (a, b) in found.y(0).iter().zip(wanted.y(0)) {
                    let error = (a - b).abs() / (rtol * b.abs() + atol);
                    assert!(error <= 1.0, "{what}: {a:e} {b:e}: {error:.1} tolerances");
                }
            }
        }
    }
}

/// At tight tolerances the matrices of these methods are in double precision: with single precision their errors were beyond the
/// tolerance tenfold and more.
#[test]
fn tight_tolerances_hold_on_devices() {
    if !host::is_available() {
        return;
    }
    let kinetics = Arc::new(Kinetics::new(&hydrogen()).unwrap());
    let fuel = kinetics.composition(&[("H2", 1.0), ("H", 1e-3)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)]).unwrap();
    let y = kinetics.at_equivalence_ratio(1.0, &fuel, &air).unwrap();
    let reactor = Reactor::constant_pressure(kinetics);
    let (system, ensemble) = one(reactor, (1200.0, 101_325.0, &y), 1e-4);
    let (rtol, atol) = (1e-8, 1e-12);
    let options = Options::new(Tolerance::new(rtol, atol));
    for method in [Method::rodas5p(), Method::exp4(), Method::exprb43()] {
        let solver = Solver::new(&system, &method, &Device::cpu(), &options).unwrap();
        let wanted = solver.solve(&ensemble).unwrap();
        let devices = Devices::new(vec![host::setup().device()]).threads_at_least(32);
        let found =
            devices.solve_any(&system, &ensemble, &method, &options, &Monitor::new()).unwrap();
        assert!(wanted.all_succeeded() && found.all_succeeded(), "{}", method.name());
        for (a, b) in found.y(0).iter().zip(wanted.y(0)) {
            let error = (a - b).abs() / (rtol * b.abs() + atol);
            assert!(error <= 1.0, "{}: {error:.1} tolerances", method.name());
        }
    }
}

/// Explicit methods by a warp for each reactor, against those of the CPU: equal steps and counts, and what must stay
/// stays.
#[test]
fn explicit_methods_by_groups_take_the_same_steps() {
    if !host::is_available() {
        return;
    }
    let kinetics = Arc::new(Kinetics::new(&hydrogen()).unwrap());
    let n = kinetics.n_species();
    let fuel = kinetics.composition(&[("H2", 1.0), ("H", 0.01)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)]).unwrap();
    let reactor = Reactor::constant_volume(kinetics.clone());
    let starts: Vec<(Vec<f64>, [f64; 1])> = [(1.0, 1400.0), (1.5, 1400.0), (2.0, 900.0)]
        .into_iter()
        .map(|(phi, temperature)| {
            let y = kinetics.at_equivalence_ratio(phi, &fuel, &air).unwrap();
            reactor.state(temperature, 101_325.0, &y).unwrap()
        })
        .collect();
    let states = (0..reactor.dim()).flat_map(|i| starts.iter().map(move |(y, _)| y[i]));
    let ensemble = Ensemble::new(reactor.dim(), states.collect(), (0.0, 2e-6))
        .and_then(|e| e.with_params(starts.iter().map(|(_, p)| p[0]).collect()))
        .unwrap();
    let system = DynSystem::from(reactor);
    let options = Options::new(Tolerance::new(1e-6, 1e-10)).segments(2);
    for method in [Method::rkc(), Method::rkck(), Method::dopri5()] {
        let solver = Solver::new(&system, &method, &Device::cpu(), &options).unwrap();
        let wanted = solver.solve(&ensemble).unwrap();
        // The power method settles for the first two alone.
        let last = if method == Method::rkc() { Status::SpectralRadius } else { Status::Success };
        assert_eq!(wanted.status, [Status::Success, Status::Success, last]);
        let devices = Devices::new(vec![host::setup().device()]).threads_at_least(32);
        let monitor = Monitor::new();
        let found = devices.solve_any(&system, &ensemble, &method, &options, &monitor).unwrap();
        assert_eq!(found.status, wanted.status);
        for (s, (start, _)) in starts.iter().enumerate() {
            let what = format!("{}, reactor {s}: {:?}", method.name(), found.stats[s]);
            // Lanes go on with the stages of a step that has no radius.
            let more = if wanted.status[s].is_success() { 0 } else { 1000 };
            let (there, here) = (found.stats[s], wanted.stats[s]);
            assert!(here.nfev - there.nfev <= more, "{what}: {here:?}");
            assert_eq!(Stats { nfev: here.nfev, ..there }, here, "{what}");
            let (end, expected) = (found.y(s), wanted.y(s));
            for (a, b) in end.iter().zip(&expected) {
                assert!((a - b).abs() <= 1e-9 * b.abs() + 1e-14, "{what}: {a:e} {b:e}");
            }
            let mass = |y: &[f64]| y[1..=n].iter().sum::<f64>();
            assert!((mass(&end) - mass(start)).abs() <= KEPT, "{what}");
        }
    }
}

/// Reactors by which [`Method::rkc`] has a kernel of interleaved reactors, more of them than a block has lanes and each with a span of its own;
/// and options with segments, save times, terminal events, and too little of what they may do.
fn interleaved() -> (DynSystem, Ensemble<f64>, [Options; 5]) {
    const COUNT: usize = 40;
    let kinetics = Arc::new(Kinetics::new(&hydrogen()).unwrap());
    let fuel = kinetics.composition(&[("H2", 1.0), ("H", 0.01)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)]).unwrap();
    // Such a reactor is not recorded, as a larger mechanism's is not.
    let reactor = Reactor::new(
        kinetics.clone(),
        Constraint::ConstantVolume,
        Energy::Adiabatic,
        JacobianForm::Approximate,
    );
    let starts: Vec<(Vec<f64>, [f64; 1])> = (0..COUNT)
        .map(|s| {
            let y = kinetics.at_equivalence_ratio(0.8 + 0.02 * s as f64, &fuel, &air).unwrap();
            let temperature = if s == 7 { 900.0 } else { 1380.0 + s as f64 };
            reactor.state(temperature, 101_325.0, &y).unwrap()
        })
        .collect();
    let states = (0..reactor.dim()).flat_map(|i| starts.iter().map(move |(y, _)| y[i]));
    let ensemble = Ensemble::new(reactor.dim(), states.collect(), (0.0, 1e-6))
        .and_then(|e| e.with_params(starts.iter().map(|(_, p)| p[0]).collect()))
        .and_then(|e| e.with_spans((0..COUNT).map(|s| (0.0, 1e-6 + 2e-8 * s as f64)).collect()))
        .unwrap();
    let options = || Options::new(Tolerance::new(1e-6, 1e-10));
    let levels = starts.iter().map(|(y, _)| y[0] - 0.05).collect();
    let until = options().end_when_falls(0, levels);
    let saves = options().save_at(vec![0.0, 5e-7, 1e-6]);
    let (few_steps, few_evaluations) = (options().max_steps(3), options().max_evaluations(100));
    let all = [options().segments(2), saves, until, few_steps, few_evaluations];
    (DynSystem::from(reactor), ensemble, all)
}

/// Equal steps and counts, ends and saved states as on the CPU.
fn assert_same_steps(found: &Solution<f64>, wanted: &Solution<f64>) {
    assert_eq!(found.status, wanted.status);
    for s in 0..found.status.len() {
        let what = format!("reactor {s}: {:?}", found.stats[s]);
        // Lanes of the CPU go on with the stages of a step that has no radius.
        let more = if wanted.status[s] == Status::SpectralRadius { 1000 } else { 0 };
        let (there, here) = (found.stats[s], wanted.stats[s]);
        assert!(here.nfev - there.nfev <= more, "{what}: {here:?}");
        assert_eq!(Stats { nfev: here.nfev, ..there }, here, "{what}");
        // Sizes of steps follow from errors, which are differences: where it stops on its way, a system is as near as its tolerance.
        let stopped = [Status::MaxSteps, Status::MaxEvaluations].contains(&wanted.status[s]);
        let near = if stopped { 1e-6 } else { 1e-9 };
        let (t, there) = (found.t[s], wanted.t[s]);
        assert!((t - there).abs() <= near * there, "{what}: {t:e} {there:e}");
        let pairs = found.y(s).into_iter().zip(wanted.y(s));
        let saved = (0..found.save_times.len()).flat_map(|k| {
            let [found, wanted] = [&found, &wanted].map(|solution| solution.y_at(k, s));
            assert_eq!(found.is_some(), wanted.is_some(), "{what}");
            found.into_iter().flatten().zip(wanted.into_iter().flatten())
        });
        for (a, b) in pairs.chain(saved) {
            assert!((a - b).abs() <= near * b.abs() + 1e-14, "{what}: {a:e} {b:e}");
        }
    }
}

/// And the same bits in whichever batches.
#[test]
fn interleaved_reactors_take_the_same_steps() {
    if !host::is_available() {
        return;
    }
    let (system, ensemble, all) = interleaved();
    for options in &all {
        let method = Method::rkc();
        let solver = Solver::new(&system, &method, &Device::cpu(), options).unwrap();
        let wanted = solver.solve(&ensemble).unwrap();
        let host = host::setup().multiprocessors(1).device();
        let (devices, monitor) = (Devices::new(vec![host.clone()]), Monitor::new());
        let found = devices.solve_any(&system, &ensemble, &method, options, &monitor).unwrap();
        assert!(host.launched().iter().any(|kernel| kernel == "od_rkc_interleaved"));
        assert_same_steps(&found, &wanted);
        let few = devices.batches_up_to(32);
        let again = few.solve_any(&system, &ensemble, &method, options, &monitor).unwrap();
        assert_eq!((again.states, again.stats), (found.states, found.stats));
    }
}

/// Of a mixture that is nearly all inert: inert species, which one thread of a device does not integrate, count in it all the same.
#[test]
fn the_first_step_with_inert_species_is_the_same_everywhere() {
    let kinetics = Arc::new(Kinetics::new(&hydrogen()).unwrap());
    let reactor = Reactor::constant_pressure(kinetics.clone());
    let fuel = kinetics.composition(&[("H2", 1.0), ("H", 0.1)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 100.0)]).unwrap();
    let y = kinetics.at_equivalence_ratio(1.0, &fuel, &air).unwrap();
    let (system, ensemble) = one(reactor, (1400.0, 101_325.0, &y), 1e-3);
    // Against so small a tolerance radicals change fast: the size follows from those of state and slope.
    let options = Options::new(Tolerance::new(1e-6, 1e-14));
    for method in methods() {
        same_first_step(&system, &ensemble, &method, &options);
    }
}

/// J is within single precision, J f is not.
#[test]
fn very_fast_reactions_begin_on_devices() {
    if !host::is_available() {
        return;
    }
    let mut text = "phases: [{name: gas, thermo: ideal-gas, kinetics: gas}]\nspecies:\n".to_owned();
    for i in 0..4 {
        let thermo = "thermo: {model: constant-cp, h0: 0, cp0: 100 J/mol/K}";
        text += &format!("- {{name: S{i}, composition: {{C: 2, H: 6}}, {thermo}}}\n");
    }
    text += "reactions: [{equation: S0 + S1 => S2 + S3, rate-constant: {A: 4e23, b: 0, Ea: 0}}]";
    let kinetics =
        Arc::new(Kinetics::new(&read::yaml("f", &text, None).unwrap().mechanism).unwrap());
    let y = kinetics.composition(&[("S0", 0.6), ("S1", 0.3), ("S2", 0.1)]).unwrap();
    let reactor = Reactor::constant_volume(kinetics);
    let (system, ensemble) = one(reactor, (1000.0, 2e6, &y), 1e-3);
    let options = Options::new(Tolerance::new(1e-6, 1e-14));
    for method in methods() {
        for (place, found) in everywhere(&system, &ensemble, &method, &options) {
            assert!(found.all_succeeded(), "{place}: {:?} {:?}", found.status, found.stats);
            let (end, left) = (found.y(0), [0.3, 0.0, 0.4, 0.3]);
            let error = (0..4).map(|i| (end[1 + i] - left[i]).abs()).fold(0.0, f64::max);
            assert!(error <= 1e-6, "{place}: {end:?}");
        }
    }
}

/// An element whose sum has no inverse is there, as where a species diffuses into a gas without it.
#[test]
fn elements_in_subnormal_amounts_leave_devices_numbers() {
    if !host::is_available() {
        return;
    }
    let kinetics = Arc::new(Kinetics::new(&hydrogen()).unwrap());
    for trace in [1e-307, 1e-310, 1e-320] {
        let y = kinetics.composition(&[("H2", 0.3), ("N2", 0.7), ("O2", trace)]).unwrap();
        let reactor = Reactor::constant_pressure(kinetics.clone());
        let (system, ensemble) = one(reactor, (1500.0, 1e5, &y), 1e-5);
        let options = Options::new(Tolerance::new(1e-6, 1e-9));
        for method in [Method::rodas4(), Method::radau(), Method::exp4()] {
            let all = everywhere(&system, &ensemble, &method, &options);
            let wanted = all[0].1.y(0);
            for (place, found) in &all {
                assert!(found.all_succeeded(), "{place}: {:?}", found.status);
                let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * (b.abs() + 1e-3);
                let end = found.y(0);
                assert!(end.iter().zip(&wanted).all(close), "{place}, {trace:e}: {end:?}");
            }
        }
    }
}

/// Two devices, of which the second has not the shared memory for interleaved systems: its groups of threads write results as these do, and
/// nothing of them is read while they go on.
#[test]
fn devices_may_have_different_kernels() {
    if !host::is_available() {
        return;
    }
    const COUNT: usize = 400;
    let (system, few, _) = interleaved();
    let (dim, of_few) = (few.dim(), few.len());
    let states =
        (0..dim * COUNT).map(|k| few.states()[k / COUNT * of_few + k % COUNT % of_few]).collect();
    let params = (0..COUNT).map(|s| few.params()[s % of_few]).collect();
    // One of each device takes far longer than the others.
    let spans = (0..COUNT).map(|s| (0.0, if s == 5 || s == 37 { 1e-5 } else { 1e-8 })).collect();
    let ensemble = Ensemble::new(dim, states, (0.0, 1e-8))
        .and_then(|ensemble| ensemble.with_params(params)?.with_spans(spans))
        .unwrap();
    let (method, options) = (Method::rkc(), Options::new(Tolerance::new(1e-6, 1e-10)));
    let solver = Solver::new(&system, &method, &Device::cpu(), &options).unwrap();
    let wanted = solver.solve(&ensemble).unwrap();
    let large = || host::setup().multiprocessors(1).concurrent();
    let hosts = Setup::together(vec![large(), large().shared_memory(20_000)]);
    for order in [[0, 1], [1, 0]] {
        let devices = order.map(|n| hosts[n].clone()).to_vec();
        let devices = Devices::new(devices).batches_up_to(32);
        let found = devices.solve_any(&system, &ensemble, &method, &options, &Monitor::new());
        assert_same_steps(&found.unwrap(), &wanted);
    }
    let launched = |n: usize, name: &str| hosts[n].launched().iter().any(|kernel| kernel == name);
    assert!(launched(0, "od_rkc_interleaved") && launched(1, "od_rkc_groups"));
    // Costly ones first, where all do not begin at once.
    assert!(launched(0, "od_expect_costs") && launched(0, "od_place_systems"));
    assert!(!launched(0, "od_gather_late") && !launched(1, "od_gather_late"));
}

#[test]
#[ignore = "needs a GPU"]
fn interleaved_reactors_take_the_same_steps_on_a_gpu() {
    let (system, ensemble, all) = interleaved();
    for options in &all {
        let [wanted, found] = [Device::cpu(), Device::cuda(0)].map(|device| {
            let solver = Solver::new(&system, &Method::rkc(), &device, options).unwrap();
            solver.solve(&ensemble).unwrap()
        });
        assert_same_steps(&found, &wanted);
    }
}

/// Reactors of so many isomers that a block of several warps has one of them.
fn large() -> (DynSystem, Ensemble<f64>) {
    const N: usize = 150;
    let mut text = "phases: [{name: gas, thermo: ideal-gas, kinetics: gas}]\nspecies:\n".to_owned();
    for i in 0..N {
        let thermo = format!("thermo: {{model: constant-cp, h0: {i} kJ/mol, cp0: 100 J/mol/K}}");
        text += &format!("- {{name: S{i}, composition: {{C: 2, H: 6}}, {thermo}}}\n");
    }
    text += "reactions:\n";
    for i in 0..N {
        let (a, b) = ((7 * i + 1) % N, (13 * i + 2) % N);
        let k = "rate-constant: {A: 1e10, b: 0.5, Ea: 1e7}";
        text += &format!("- {{equation: S{i} <=> S{a}, {k}}}\n");
        text += &format!("- {{equation: 2 S{i} + M => S{a} + S{b} + M, {k}}}\n");
    }
    let mechanism = read::yaml("isomers", &text, None).unwrap().mechanism;
    let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
    let y = kinetics.composition(&[("S1", 0.5), ("S2", 0.3), ("S75", 0.2)]).unwrap();
    let reactor = Reactor::constant_pressure(kinetics);
    let (state, pressure) = reactor.state(1200.0, 101_325.0, &y).unwrap();
    let ensemble = Ensemble::repeated(&state, 2, (0.0, 1e-10))
        .and_then(|ensemble| ensemble.with_shared_params(pressure.to_vec()))
        .unwrap();
    (reactor.into(), ensemble)
}

fn compare_large(by: impl Fn(&DynSystem, &Ensemble<f64>, &Method, &Options) -> Solution<f64>) {
    let (system, ensemble) = large();
    let options = Options::new(Tolerance::new(1e-6, 1e-10));
    for method in [Method::rodas4(), Method::radau(), Method::exprb43()] {
        let solver = Solver::new(&system, &method, &Device::cpu(), &options).unwrap();
        let (wanted, name) = (solver.solve(&ensemble).unwrap(), method.name());
        let found = by(&system, &ensemble, &method, &options);
        assert!(wanted.all_succeeded() && found.all_succeeded(), "{name}: {:?}", found.status);
        let (there, here) = (found.stats[1], wanted.stats[1]);
        assert!(
            there.steps.abs_diff(here.steps) <= 1 + here.steps / 20,
            "{name}: {there:?} {here:?}"
        );
        for (a, b) in found.y(1).iter().zip(wanted.y(1)) {
            assert!((a - b).abs() <= 1e-6 * b.abs() + 1e-10, "{name}: {a:e} {b:e}");
        }
    }
}

#[test]
fn blocks_integrate_large_reactors() {
    if host::is_available() {
        let devices = Devices::new(vec![host::setup().device()]);
        compare_large(|system, ensemble, method, options| {
            devices.solve_any(system, ensemble, method, options, &Monitor::new()).unwrap()
        });
    }
}

#[test]
#[ignore = "needs a GPU"]
fn blocks_integrate_large_reactors_on_a_gpu() {
    compare_large(|system, ensemble, method, options| {
        Solver::new(system, method, &Device::cuda(0), options).unwrap().solve(ensemble).unwrap()
    });
}

/// A code that changed mass fractions and left `m` had another gas, with success.
#[test]
fn sessions_refuse_states_of_no_gas() {
    let kinetics = Arc::new(Kinetics::new(&hydrogen()).unwrap());
    let y = kinetics.at_equivalence_ratio(
        1.0,
        &kinetics.composition(&[("H2", 1.0)]).unwrap(),
        &kinetics.composition(&[("O2", 1.0), ("N2", 3.76)]).unwrap(),
    );
    let (system, start) =
        one(Reactor::constant_pressure(kinetics.clone()), (1200.0, 1e5, &y.unwrap()), 1e-6);
    let options = Options::new(Tolerance::new(1e-6, 1e-12));
    let solver = Solver::new(system, &Method::rodas5p(), &Device::cpu(), &options).unwrap();
    let mut session = solver.session(&start).unwrap();
    session.advance((0.0, 1e-6)).unwrap();
    let before = session.states().unwrap();
    let (hydrogen, oxygen) =
        (1 + kinetics.species_index("H2").unwrap(), 1 + kinetics.species_index("O2").unwrap());
    let changed = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut states = before.clone();
        change(&mut states);
        states
    };
    let m = before.len() - 1;
    let mixed = changed(&|y| {
        y[hydrogen] += 0.02;
        y[oxygen] -= 0.02;
    });
    let cases = [
        (mixed.clone(), "while its mass fractions give"),
        (changed(&|y| y[m] *= 1.1), "`m` is "),
        (changed(&|y| y[1..].iter_mut().for_each(|y| *y *= 1.3)), "sum to 1.3"),
        (changed(&|y| y[0] = 9000.0), "temperature 9000 K is more than 10 K outside"),
        (changed(&|y| y[hydrogen] = -0.1), "fraction -0.1 of H2"),
    ];
    for (states, words) in &cases {
        let set = session.set_states(states).unwrap_err().to_string();
        assert!(set.starts_with("states: found system 0: ") && set.contains(words), "{set}");
        let ensemble = Ensemble::new(start.dim(), states.clone(), (0.0, 1.0)).unwrap();
        let begun = solver.session(&ensemble.with_shared_params(vec![1e5]).unwrap());
        assert!(begun.map(drop).unwrap_err().to_string().contains(words));
    }
    assert_eq!(session.states().unwrap(), before);
    // As many numbers as another ensemble has are told as such.
    let short = session.set_states(&before[1..]).unwrap_err().to_string();
    assert!(short.contains(&format!("found {m} values")), "{short}");
    let mut consistent = mixed;
    consistent[m] =
        consistent[1..m].iter().zip(kinetics.molecular_weights()).map(|(y, w)| y / w).sum();
    session.set_states(&consistent).unwrap();
    session.advance((1e-6, 2e-6)).unwrap();
    assert!(session.statuses().unwrap()[0].is_success());
}
