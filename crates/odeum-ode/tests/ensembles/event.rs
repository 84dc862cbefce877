//! Systems that end where a component crosses its level.

use crate::host;
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::{
    Compiled, Controller, Device, DynSystem, Ensemble, Method, Monitor, Options, Real, Solution,
    Solver, Status, System, Tolerance,
};

/// x' = v, v' = −x: x = sin t, v = cos t.
pub(crate) struct Oscillator;

impl System for Oscillator {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = y[1];
        dydt[1] = -y[0];
    }
}

const END: f64 = 6.0;

/// Where systems are integrated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    Cpu,
    /// The kernels of GPUs on the host device.
    Host,
}

/// The places where this can be done.
pub(crate) fn places() -> Vec<Place> {
    [Place::Cpu, Place::Host]
        .into_iter()
        .filter(|&place| place == Place::Cpu || host::is_available())
        .collect()
}

fn run(place: Place, method: &Method, systems: usize, options: &Options) -> Solution<f64> {
    let ensemble = Ensemble::repeated(&[0.0, 1.0], systems, (0.0, END)).unwrap();
    solve(place, &DynSystem::new(Oscillator), &ensemble, method, options)
}

pub(crate) fn solve<T: Compiled>(
    place: Place,
    system: &DynSystem,
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
) -> Solution<T> {
    match place {
        Place::Cpu => {
            let solver = Solver::new(system, method, &Device::cpu(), options).unwrap();
            solver.solve(ensemble).unwrap()
        }
        Place::Host => {
            let devices = Devices::new(vec![host::setup().device()]);
            devices.solve_any(system, ensemble, method, options, &Monitor::new()).unwrap()
        }
    }
}

#[test]
fn events_are_found_to_the_tolerance() {
    for place in places() {
        for method in Method::all() {
            let rtol = if method.order() > 3 { 1e-8 } else { 1e-6 };
            let options = Options::new(Tolerance::new(rtol, rtol));
            let levels: Vec<f64> = (0..40).map(|s| 0.024 * f64::from(s) + 0.02).collect();
            let each = options.clone().end_when_rises(0, levels.clone());
            let rising = run(place, &method, 40, &each);
            for (s, level) in levels.iter().enumerate() {
                let name = format!("{} on the {place:?}, {level}", method.name());
                assert_eq!(rising.status[s], Status::TerminalEvent, "{name}");
                let late = (rising.t[s] - level.asin()).abs();
                assert!(late < 3e3 * rtol, "{name}: {}", rising.t[s]);
                let beyond = rising.y(s)[0] - level;
                assert!((0.0..rtol).contains(&beyond), "{name}: {:?}", rising.y(s));
            }
            // What goes on from there comes to its level a period later.
            let onward = Ensemble::new(2, rising.states.clone(), (0.0, 7.0)).unwrap();
            let again = solve(place, &DynSystem::new(Oscillator), &onward, &method, &each);
            for (s, level) in levels.iter().enumerate() {
                let late = (again.t[s] - std::f64::consts::TAU).abs();
                let name = format!("{} on the {place:?}, {level} again", method.name());
                assert!(late < 3e4 * rtol, "{name}: {:?} at {}", again.status[s], again.t[s]);
            }
            // Alone, a system does the same to the bit.
            let own = options.clone().end_when_rises(0, vec![levels[17]]);
            let alone = run(place, &method, 1, &own);
            assert_eq!((alone.y(0), alone.t[0]), (rising.y(17), rising.t[17]));
            assert_eq!(alone.stats[0], rising.stats[17]);
        }
    }
}

#[test]
fn falling_and_absent_events() {
    for place in places() {
        for method in [Method::dopri5(), Method::rodas5p(), Method::radau()] {
            let options = Options::new(Tolerance::new(1e-8, 1e-8));
            // v falls through 0 at π/2; x begins at its level and comes back to it at π, from above.
            let v = run(place, &method, 1, &options.clone().end_when_falls(1, vec![0.0]));
            assert!((v.t[0] - std::f64::consts::FRAC_PI_2).abs() < 1e-6, "{}", v.t[0]);
            let x = run(place, &method, 1, &options.clone().end_when_falls(0, vec![0.0]));
            assert!((x.t[0] - std::f64::consts::PI).abs() < 1e-6, "{}", x.t[0]);
            let never = run(place, &method, 1, &options.clone().end_when_rises(0, vec![2.0]));
            assert_eq!((never.status[0], never.t[0]), (Status::Success, END));
            let plain = run(place, &method, 1, &options);
            assert_eq!(never.y(0), plain.y(0));
        }
    }
}

/// In single precision a system that starts at its level is at it, though the level is rounded.
#[test]
fn levels_are_rounded_as_states_are() {
    let oscillator = DynSystem::new(Oscillator);
    for place in places() {
        for level in [0.1, 0.3, 0.7, 0.9] {
            let start = Ensemble::<f32>::new(2, vec![level as f32, 1.0], (0.0, 10.0)).unwrap();
            let options = Options::new(Tolerance::new(1e-5, 1e-6)).end_when_rises(0, vec![level]);
            let found = solve(place, &oscillator, &start, &Method::tsit5(), &options);
            let late = (found.t[0] - std::f64::consts::TAU).abs();
            assert!(late < 1e-3, "{level} on the {place:?}: {}", found.t[0]);
        }
    }
}

/// Far from zero, systems that start next to their extremum, where their level is, come to it within few roundings of
/// the time, or not at all.
#[test]
fn levels_within_roundings_of_the_time() {
    let oscillator = DynSystem::new(Oscillator);
    let phases: Vec<f64> = (0..200).map(|s| 1e-7 * f64::from(s) - 1e-5).collect();
    let states: Vec<f64> =
        phases.iter().map(|p| p.cos()).chain(phases.iter().map(|p| -p.sin())).collect();
    for place in places() {
        for start in [0.0, 1e9, 1.7e9] {
            let span = (start, start + END);
            let ensemble = Ensemble::new(2, states.clone(), span).unwrap();
            for method in [Method::tsit5(), Method::rodas5p(), Method::exp4()] {
                let options = Options::new(Tolerance::new(1e-6, 1e-9)).end_when_rises(0, vec![1.0]);
                let found = solve(place, &oscillator, &ensemble, &method, &options);
                let name = format!("{} on the {place:?} from {start}", method.name());
                for (s, status) in found.status.iter().enumerate() {
                    assert!(status.is_success(), "{name}: {status:?} of system {s}");
                }
            }
        }
    }
}

/// What is cut for a stop or a level, and how long the first step of an earlier call was, changes no other step.
#[test]
fn steps_of_one_size_keep_it() {
    let oscillator = DynSystem::new(Oscillator);
    let tolerance = Tolerance::new(1e-3, 1e-6);
    for place in places() {
        for method in Method::all() {
            let method = method.with_controller(Controller::fixed(0.125));
            let name = format!("{} on the {place:?}", method.name());
            let options = Options::new(tolerance.clone());
            let ensemble = Ensemble::new(2, vec![0.0, 1.0], (0.0, 20.0)).unwrap();
            let ensemble = ensemble.with_first_steps(vec![0.01]).unwrap();
            let plain = solve(place, &oscillator, &ensemble, &method, &options);
            assert_eq!((plain.stats[0].steps, plain.next_steps[0]), (160, 0.125), "{name}");
            // The level is next to the extrema, and never reached; `exp4` takes shorter steps there.
            let watched = options.end_when_rises(0, vec![1.01]);
            let watched = solve(place, &oscillator, &ensemble, &method, &watched);
            let (status, steps) = (watched.status[0], watched.stats[0].steps);
            assert!(status.is_success() && steps < 300, "{name}: {status:?}, {steps} steps");
        }
    }
}

/// x' = 1.
#[derive(Clone, Copy)]
pub(crate) struct Clock;

impl System for Clock {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, _y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(1.0);
    }
}

/// Whatever rounding makes of an event at a save time, what is saved is what has been reached.
#[test]
fn events_at_save_times() {
    let times = vec![0.5, 1.0, 1.5];
    for place in places() {
        for method in Method::all() {
            let options = Options::new(Tolerance::new(1e-6, 1e-10))
                .save_at(times.clone())
                .end_when_rises(0, vec![1.0]);
            let ensemble = Ensemble::new(1, vec![0.0], (0.0, 2.0)).unwrap();
            let found = solve(place, &DynSystem::new(Clock), &ensemble, &method, &options);
            let t = found.t[0];
            let reached = times.iter().filter(|&&time| time <= t).count();
            let name = format!("{} on the {place:?}, at {t}", method.name());
            assert_eq!(found.status[0], Status::TerminalEvent, "{name}");
            assert_eq!(found.n_saved[0] as usize, reached, "{name}");
        }
    }
}

/// y' = 10⁶ y (1 − y).
struct Logistic;

impl System for Logistic {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(1e6) * y[0] * (R::lit(1.0) - y[0]);
    }
}

/// A long step goes past a level at a time at which shorter ones, with smaller errors, have not come to it: among so many
/// levels there are such, and such as lie between two times that follow each other.
#[test]
fn levels_that_longer_steps_reach_too_early() {
    for place in places() {
        // Compilers of kernels take long.
        let (methods, count) = match place {
            Place::Cpu => (Method::all(), 20_000),
            Place::Host => (vec![Method::rkc(), Method::radau()], 2_000),
        };
        for method in methods {
            for tol in [1e-1, 1e-2] {
                // At a tenth an explicit method may stay a tenth below where y goes.
                let most =
                    if tol > 0.05 && method.jacobian_source().is_none() { 0.8 } else { 0.99 };
                let fraction = |s: usize| (s as f64 + 0.5) / count as f64;
                let levels: Vec<f64> = (0..count).map(|s| 0.002 + most * fraction(s)).collect();
                let tolerance = Tolerance::new(tol, 1e-3 * tol);
                let options = Options::new(tolerance).max_steps(2_000).end_when_rises(0, levels);
                let ensemble = Ensemble::repeated(&[1e-3], count, (0.0, 1.0)).unwrap();
                let logistic = DynSystem::new(Logistic);
                let found = solve(place, &logistic, &ensemble, &method, &options);
                let ended = |&status: &Status| status == Status::TerminalEvent;
                let missed = found.status.iter().position(|status| !ended(status));
                let what = missed.map(|s| (found.status[s], found.y(s), found.stats[s]));
                assert_eq!(missed, None, "{} at {tol} on the {place:?}: {what:?}", method.name());
            }
        }
    }
}

/// x' = −1000 (x − p), y' = 1 − y: x comes to p from above and never falls below.
struct Relaxing;

impl System for Relaxing {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = R::lit(-1e3) * (y[0] - p[0]);
        dydt[1] = R::lit(1.0) - y[1];
    }
}

/// What is far below the tolerance, or a rounding of the level, is no crossing that a step may hide.
#[test]
fn a_component_that_relaxes_to_its_level_takes_few_steps() {
    let methods = Method::all().into_iter().filter(|method| method.jacobian_source().is_some());
    for place in places() {
        for method in methods.clone() {
            let ensemble = Ensemble::repeated(&[2.0, 0.0], 2, (0.0, 50.0)).unwrap();
            let ensemble = ensemble.with_params(vec![1.0, 0.0]).unwrap();
            let tolerance = Tolerance::new(1e-6, 1e-9);
            let options = Options::new(tolerance).end_when_falls(0, vec![1.0, 0.0]);
            let found = solve(place, &DynSystem::new(Relaxing), &ensemble, &method, &options);
            let attempts: Vec<_> = found.stats.iter().map(|s| s.steps + s.rejected).collect();
            let ends = found.status.iter().all(|status| status.is_success());
            let name = method.name();
            assert!(
                ends && attempts.iter().all(|&n| n < 1_000),
                "{name} on the {place:?}: {attempts:?}"
            );
        }
    }
}

/// x' = −k (x − sin φ) + ω cos φ with φ = ωt + p: x = sin φ, however stiff.
struct Forced;

impl System for Forced {
    fn dim(&self) -> usize {
        1
    }
    fn n_params(&self) -> usize {
        3
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let phase = p[1] * t + p[2];
        dydt[0] = p[1] * phase.cos() - p[0] * (y[0] - phase.sin());
    }
}

/// Stiffness divides the error estimate, so steps pass the test that are longer than periods.
#[test]
fn levels_that_a_forced_component_passes_in_every_period() {
    let methods = Method::all().into_iter().filter(|method| method.jacobian_source().is_some());
    for place in places() {
        let count = if place == Place::Cpu { 500 } else { 60 };
        let part = |s: usize, turn: f64| (s as f64 * turn).fract();
        let frequency = |s: usize| 0.5 + 2.5 * part(s, 0.618_033_988_7);
        let phase = |s: usize| 1.9 * part(s, 0.414_213_562_4) - 0.4;
        for method in methods.clone() {
            for (stiffness, tol) in
                [(1e4, 1e-3), (1e6, 1e-3), (1e6, 1e-4), (1e6, 1e-5), (1e6, 1e-6)]
            {
                let systems = 0..count;
                let states = systems.clone().map(|s| phase(s).sin()).collect();
                let params = (systems.clone().map(|_| stiffness))
                    .chain(systems.clone().map(frequency))
                    .chain(systems.clone().map(phase));
                let ensemble = Ensemble::new(1, states, (0.0, 20.0)).unwrap();
                let ensemble = ensemble.with_params(params.collect()).unwrap();
                let options =
                    Options::new(Tolerance::new(tol, 1e-3 * tol)).end_when_falls(0, vec![-0.5]);
                let found = solve(place, &DynSystem::new(Forced), &ensemble, &method, &options);
                let right = |s: usize| {
                    let time = (std::f64::consts::PI + 0.5_f64.asin() - phase(s)) / frequency(s);
                    found.status[s] == Status::TerminalEvent && (found.t[s] - time).abs() < 0.05
                };
                let missed = systems.filter(|&s| !right(s)).count();
                let name = method.name();
                assert_eq!(missed, 0, "{name} at {tol}, {stiffness} on the {place:?}, of {count}");
            }
        }
    }
}

/// x' = −1 until p, from there on 1, with p of the time or of y, and y' = 1: x falls and turns at once.
struct Turn;

impl System for Turn {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let one = R::lit(1.0);
        let clock = R::select(p[1].gt(R::lit(0.0)), y[1], t);
        dydt[0] = R::select(clock.lt(p[0]), -one, one);
        dydt[1] = one;
    }
}

/// Where f jumps within a step the error test may not see it, and a cubic makes the turn half as deep as it is.
#[test]
fn levels_just_above_a_turn_at_once() {
    for place in places() {
        let count = if place == Place::Cpu { 1_000 } else { 100 };
        // Of RKC the error estimate vanishes where the turn is half-way.
        for method in Method::all().into_iter().filter(|method| *method != Method::rkc()) {
            for tol in [1e-3, 1e-6] {
                let part = |s: usize, turn: f64| (s as f64 * turn).fract();
                let turn = |s: usize| 0.7 + 0.6 * part(s, 0.618_033_988_7);
                let depth = |s: usize| 2.0 * tol * (0.15 / tol).powf(part(s, 0.414_213_562_4));
                let systems = 0..count;
                let starts = systems.clone().map(|s| turn(s) - depth(s));
                let states = starts.chain(systems.clone().map(|_| 0.0)).collect();
                let params = systems.clone().map(turn);
                let params = params.chain(systems.clone().map(|s| (s % 2) as f64)).collect();
                let ensemble = Ensemble::new(2, states, (0.0, 3.0)).unwrap();
                let ensemble = ensemble.with_params(params).unwrap();
                let options = Options::new(Tolerance::new(tol, tol)).end_when_falls(0, vec![0.0]);
                let found = solve(place, &DynSystem::new(Turn), &ensemble, &method, &options);
                let right = |s: usize| {
                    let late = (found.t[s] - turn(s) + depth(s)).abs();
                    found.status[s] == Status::TerminalEvent && late < 10.0 * tol
                };
                let missed: Vec<_> =
                    systems.filter(|&s| !right(s)).map(|s| (depth(s), found.t[s])).collect();
                let name = method.name();
                assert!(missed.is_empty(), "{name} at {tol} on the {place:?}: {missed:?}");
            }
        }
    }
}

#[test]
fn levels_that_do_not_fit_are_refused() {
    let ensemble = Ensemble::repeated(&[0.0, 1.0], 3, (0.0, END)).unwrap();
    let options = Options::new(Tolerance::new(1e-8, 1e-8));
    for (options, word) in [
        (options.clone().end_when_rises(2, vec![1.0]), "component"),
        (options.clone().end_when_rises(0, vec![1.0; 2]), "3 systems"),
        (options.clone().end_when_rises(0, vec![f64::NAN]), "finite"),
    ] {
        for device in [Device::cpu(), Device::cuda(0)] {
            let oscillator = DynSystem::new(Oscillator);
            let solver = Solver::new(oscillator, &Method::rkck(), &device, &options).unwrap();
            assert!(solver.solve(&ensemble).unwrap_err().to_string().contains(word));
        }
    }
}
