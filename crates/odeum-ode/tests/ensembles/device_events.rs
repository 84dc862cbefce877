//! Terminal events and ranges by the kernels of GPUs on the host device, against the CPU.

use crate::event::Clock;
use crate::host;
use odeum_core::{RangeKind, ValidRange};
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::problems::Pleiades;
use odeum_ode::{
    Compiled, Controller, Device, DynSystem, Ensemble, FirstStep, Method, Monitor, Options, Real,
    Scalar, Solution, Solver, Status, System, Tolerance,
};

/// x' = v, v' = −x: x = sin t, v = cos t from (0, 1). Nothing is known of x beyond these bounds, and v is never so
/// small.
#[derive(Clone, Copy)]
struct Oscillator;

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

/// The same on a ring of n: every component follows its neighbour, and the first the last. A component that depends
/// on the time is the last.
#[derive(Clone, Copy)]
struct Ring(usize);

impl System for Ring {
    fn dim(&self) -> usize {
        self.0
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        let last = self.0 - 1;
        for i in 0..last {
            let sign = R::lit(if i == 0 { -1.0 } else { 1.0 });
            dydt[i] = sign * (y[(i + last - 1) % last] - R::lit(0.1) * y[i]);
        }
        dydt[last] = t.cos() - R::lit(50.0) * (y[last] - t.sin());
    }
}

/// A system of which nothing is known beyond bounds.
#[derive(Clone, Copy)]
struct Bounded<S>(S, [ValidRange; 3]);

impl<S: System> System for Bounded<S> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        self.0.rhs(t, y, p, dydt);
    }
    fn ranges(&self) -> Vec<ValidRange> {
        self.1.to_vec()
    }
}

/// By kernels with at least so many threads for a system.
fn on_device<T: Scalar>(
    system: &DynSystem,
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
    width: usize,
) -> Solution<T> {
    // Several lanes for a system are planned wherever they can be.
    let devices = Devices::new(vec![host::setup().device()]).lanes_up_to(usize::MAX);
    let devices = devices.threads_at_least(width);
    devices.solve_any(system, ensemble, method, options, &Monitor::new()).unwrap()
}

/// What the device gives, after the check that it is what the CPU gives: statuses, steps, evaluations and
/// counts of ranges, and times and states within `tolerance`. `None` where no device code is executed.
fn agreed<T: Compiled, S: System + Copy + Send + 'static>(
    system: S,
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
    tolerance: f64,
) -> Option<Solution<T>> {
    if !host::is_available() {
        return None;
    }
    let system = DynSystem::new(system);
    let solver = Solver::new(&system, method, &Device::cpu(), options).unwrap();
    let wanted = solver.solve(ensemble).unwrap();
    let mut found = None;
    for width in [32, 1] {
        let by_width = on_device(&system, ensemble, method, options, width);
        let what = format!("{} with {width} threads", method.name());
        assert_agrees(&by_width, &wanted, tolerance, &what);
        found = Some(by_width);
    }
    found
}

fn assert_agrees<T: Scalar>(
    found: &Solution<T>,
    wanted: &Solution<T>,
    tolerance: f64,
    method: &str,
) {
    for s in 0..wanted.len() {
        let what = format!("{method}, system {s} of {}", wanted.len());
        assert_eq!(found.status[s], wanted.status[s], "{what}");
        let (a, b) = (found.stats[s], wanted.stats[s]);
        assert_eq!((a.steps, a.rejected, a.outside), (b.steps, b.rejected, b.outside), "{what}");
        // After a rejection the device linearises once more.
        // How fast Newton's iteration converges on a linear system rounding alone tells, hence when one more is made.
        let iterations = if method.starts_with("radau") { b.nfev / 10 } else { 0 };
        let differ = (a.nfev - a.njev).abs_diff(b.nfev - b.njev);
        assert!(differ <= iterations && a.nlu == b.nlu, "{what}: {a:?} not {b:?}");
        let near = |a: f64, b: f64| (a - b).abs() <= tolerance * b.abs().max(1.0);
        assert!(near(found.t[s], wanted.t[s]), "{what}: {} not {}", found.t[s], wanted.t[s]);
        let close = |a: Vec<T>, b: Vec<T>| {
            let all = a.iter().zip(&b).all(|(a, b)| near(a.to_f64(), b.to_f64()));
            assert!(all, "{what}: {a:?} not {b:?}");
        };
        close(found.y(s), wanted.y(s));
        assert_eq!(found.n_saved.get(s), wanted.n_saved.get(s), "{what}");
        for k in 0..found.n_saved.get(s).map_or(0, |&n| n as usize) {
            close(found.y_at(k, s).unwrap(), wanted.y_at(k, s).unwrap());
        }
    }
}

/// One of each kind of kernels.
fn methods() -> [Method; 6] {
    [
        Method::rkck(),
        Method::dopri5(),
        Method::rkc(),
        Method::rodas4(),
        Method::ros34pw2(),
        Method::radau(),
    ]
}

/// Oscillators that start with x = 0 and v = 1, or at the state that belongs to another time.
fn oscillators<T: Scalar>(count: usize, span: (f64, f64)) -> Ensemble<T> {
    let start = [span.0.sin(), span.0.cos()].map(T::from_f64);
    Ensemble::repeated(&start, count, span).unwrap()
}

fn tolerant(tol: f64) -> Options {
    Options::new(Tolerance::new(tol, tol))
}

/// Levels of each system from 0.02 on; the last is never reached.
fn levels() -> Vec<f64> {
    (0..9).map(|s| 0.02 + 0.12 * f64::from(s)).chain([1.5]).collect()
}

#[test]
fn rising_levels_of_each_system() {
    for method in methods() {
        let options = tolerant(1e-6).end_when_rises(0, levels());
        let Some(found) =
            agreed(Oscillator, &oscillators::<f64>(10, (0.0, 6.0)), &method, &options, 1e-6)
        else {
            return;
        };
        for (s, level) in levels().into_iter().enumerate() {
            let ended = if s < 9 { Status::TerminalEvent } else { Status::Success };
            assert_eq!(found.status[s], ended);
            let time = if s < 9 { level.asin() } else { 6.0 };
            assert!((found.t[s] - time).abs() < 1e-3, "{}: {} {time}", method.name(), found.t[s]);
        }
    }
}

#[test]
fn falling_levels_with_save_times_and_segments() {
    for method in methods() {
        let falls = tolerant(1e-6).end_when_falls(1, vec![-0.4]);
        let times = vec![0.0, 0.5, 1.0, 1.9, 2.5];
        let saved = falls.clone().save_at(times);
        let ensemble = oscillators::<f64>(2, (0.0, 6.0));
        for options in [
            saved.clone(),
            saved.clone().segments(5),
            saved.segments(5).warm_start(),
            falls.clone().segments(7).first_step(FirstStep::Fraction(0.5)),
        ] {
            let Some(found) = agreed(Oscillator, &ensemble, &method, &options, 1e-6) else {
                return;
            };
            assert_eq!(found.status[0], Status::TerminalEvent);
            assert!((found.t[0] - (-0.4_f64).acos()).abs() < 1e-3, "{}", found.t[0]);
            let before = options.save_times().iter().filter(|&&time| time < found.t[0]).count();
            assert_eq!(found.n_saved.first().map_or(0, |&n| n as usize), before);
        }
        // From another time back to one where v has been above.
        let backward = oscillators::<f64>(2, (3.0, -3.0));
        let options = tolerant(1e-6).end_when_rises(1, vec![-0.4, 0.9]).save_at(vec![2.5, 1.0]);
        let Some(found) = agreed(Oscillator, &backward, &method, &options, 1e-6) else { return };
        for (s, level) in [-0.4_f64, 0.9].into_iter().enumerate() {
            assert!((found.t[s] - level.acos()).abs() < 1e-3, "{}", found.t[s]);
        }
        assert_eq!(found.n_saved, [1, 2]);
    }
}

/// A level that a long step passes and comes back to, wherever in the step; and one that systems begin at or beyond.
#[test]
fn levels_passed_twice_within_a_step() {
    for method in [methods().to_vec(), vec![Method::vern7(), Method::rodas5p()]].concat() {
        let (tol, loose) = if method.order() > 2 { (1e-4, 1e-2) } else { (1e-4, 1e-3) };
        // From x = cos of a phase of each system, to levels a little above −1.
        let phases = (0..24).map(|s| 0.1 * f64::from(s));
        let states = phases.clone().map(f64::cos).chain(phases.clone().map(|phase| -phase.sin()));
        let ensemble = Ensemble::new(2, states.collect(), (0.0, 7.0)).unwrap();
        let levels: Vec<f64> = (0..24).map(|s| -0.99 + 0.012 * f64::from(s % 5)).collect();
        for tol in [tol, loose] {
            let options = tolerant(tol).end_when_falls(0, levels.clone());
            let found = agreed(Oscillator, &ensemble, &method, &options, 100.0 * tol);
            let Some(found) = found else { return };
            for (s, phase) in phases.clone().enumerate() {
                let (time, exact) = (found.t[s], levels[s].acos() - phase);
                let what = format!("{} at {tol}: {time} for {exact}", method.name());
                // At the loose tolerance the level may seem out of reach.
                let right = (time - exact).abs() < 0.05 && found.status[s] == Status::TerminalEvent;
                assert!(right || tol == loose, "{what}");
            }
        }
        let beyond = tolerant(tol).end_when_falls(0, vec![1.0, 2.0]);
        let ensemble = oscillators::<f64>(2, (0.5 * std::f64::consts::PI, 8.5));
        agreed(Oscillator, &ensemble, &method, &beyond, 100.0 * tol);
    }
}

/// x' = v, v' = −1: what is thrown up falls down. Methods of order 2 and more make no error.
#[derive(Clone, Copy)]
struct Throw;

impl System for Throw {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = y[1];
        dydt[1] = R::lit(-1.0);
    }
}

/// Steps of 0.7 pass the top and come back below a level just beneath it. The cubic is exact, and a top at the very
/// end of a step makes it little shorter.
#[test]
fn levels_just_below_the_top() {
    let speeds = (0..40).map(|s| 1.0 + 0.0337 * f64::from(s));
    let levels: Vec<f64> = speeds.clone().map(|v| 0.5 * v * v - 1e-6).collect();
    let states = [0.0; 40].into_iter().chain(speeds.clone()).collect();
    let ensemble = Ensemble::new(2, states, (0.0, 5.0)).unwrap();
    for method in [methods().to_vec(), vec![Method::vern7(), Method::rodas5p()]].concat() {
        let steps = tolerant(1e-8).first_step(FirstStep::Size(0.7)).largest_step(0.7);
        let options = steps.end_when_rises(0, levels.clone());
        let Some(found) = agreed(Throw, &ensemble, &method, &options, 1e-7) else { return };
        for (s, speed) in speeds.clone().enumerate() {
            assert_eq!(found.status[s], Status::TerminalEvent, "{}, system {s}", method.name());
            let time = speed - 2e-6_f64.sqrt();
            assert!((found.t[s] - time).abs() < 1e-6, "{}: {} {time}", method.name(), found.t[s]);
        }
    }
}

/// A system that ends at a time to be saved has it saved; what it ends with is the event, not the segment.
#[test]
fn levels_at_save_times() {
    for method in methods() {
        let ensemble = Ensemble::new(1, vec![0.0, 0.25], (0.0, 1.0)).unwrap();
        // Hit, within a fraction of the tolerance, by the step that is cut to end at 0.5.
        let options = tolerant(1e-6).end_when_rises(0, vec![0.5 - 4e-9]).segments(4);
        for options in [options.clone(), options.save_at(vec![0.125, 0.25, 0.5, 0.75])] {
            let Some(found) = agreed(Clock, &ensemble, &method, &options, 1e-7) else { return };
            assert_eq!(found.status, [Status::TerminalEvent; 2]);
            for (s, &saved) in found.n_saved.iter().enumerate() {
                let reached =
                    options.save_times().iter().filter(|&&time| time <= found.t[s]).count();
                assert_eq!(saved as usize, reached, "at {}", found.t[s]);
            }
        }
    }
}

/// However systems fall to batches, each has its own level.
#[test]
fn levels_of_systems_in_batches() {
    if !host::is_available() {
        return;
    }
    let count = 2500;
    let levels = (0..count).map(|s| 0.9 * (0.5 + s as f64) / count as f64).collect();
    let options = tolerant(1e-5).end_when_rises(0, levels);
    let ensemble = oscillators::<f64>(count, (0.0, 3.0));
    let run = |bytes: usize| {
        let devices = Devices::new(vec![host::setup().memory(bytes).device()]);
        let monitor = Monitor::new();
        devices.solve(&Oscillator, &ensemble, &Method::dopri5(), &options, &monitor).unwrap()
    };
    let (together, apart) = (run(1 << 30), run(64 << 10));
    let batches = |solution: &Solution<f64>| solution.gpu_times.unwrap().batches;
    assert!(batches(&together) < batches(&apart), "{} batches", batches(&apart));
    assert_eq!((together.states, together.t), (apart.states, apart.t));
}

#[test]
fn steps_of_one_size_and_single_precision() {
    for method in [Method::rkck(), Method::dopri5(), Method::rodas4()] {
        let fixed = method.clone().with_controller(Controller::fixed(0.01));
        let options = tolerant(1e-6).end_when_rises(0, levels());
        agreed(Oscillator, &oscillators::<f64>(10, (0.0, 6.0)), &fixed, &options, 1e-6);
        if !host::is_available() {
            return;
        }
        let narrow = oscillators::<f32>(10, (0.0, 6.0));
        let options = tolerant(1e-5).end_when_rises(0, levels());
        let found = on_device(&DynSystem::new(Oscillator), &narrow, &method, &options, 1);
        for (s, level) in levels().into_iter().enumerate().take(9) {
            assert_eq!(found.status[s], Status::TerminalEvent);
            assert!((found.t[s] - level.asin()).abs() < 1e-3, "{}: {}", method.name(), found.t[s]);
            assert!((f64::from(found.y(s)[0]) - level).abs() < 1e-5);
        }
    }
}

/// The evaluations of looks count like all others.
#[test]
fn evaluations_of_looks_are_bounded() {
    for method in methods() {
        for most in [40, 57, 90] {
            let options = tolerant(1e-8).end_when_rises(0, vec![2.0]).max_evaluations(most);
            let ensemble = oscillators::<f64>(1, (0.0, 60.0));
            let Some(found) = agreed(Oscillator, &ensemble, &method, &options, 1e-6) else {
                return;
            };
            assert_eq!(found.status[0], Status::MaxEvaluations);
        }
    }
}

/// Components in shared memory, in local memory, of other threads of a warp and of a block.
#[test]
fn components_wherever_they_are() {
    let stars = Pleiades::problem();
    let ensemble = Ensemble::repeated(&stars.y0, 2, (0.0, 0.5)).unwrap();
    for (component, levels) in
        [(0, [3.2, 3.4]), (8, [3.2, 3.5]), (14, [0.5, 1.0]), (27, [1.3, 1.5])]
    {
        // Levels between the start and what there is later, or never reached.
        for rises in [false, true] {
            let options = tolerant(1e-6);
            let options = match rises {
                true => options.end_when_rises(component, levels.to_vec()),
                false => options.end_when_falls(component, levels.to_vec()),
            };
            for method in [Method::rkck(), Method::dopri5()] {
                agreed(Pleiades, &ensemble, &method, &options, 1e-6);
            }
        }
    }
    let mut ended = 0;
    for (n, methods) in [
        (40, vec![Method::rodas4()]),
        (80, vec![Method::dopri5(), Method::rkc(), Method::rodas4()]),
        (140, vec![Method::rodas4(), Method::radau()]),
    ] {
        let start: Vec<f64> = (0..n).map(|i| (0.7 * i as f64).sin()).collect();
        let ensemble = Ensemble::repeated(&start, 2, (0.0, 1.0)).unwrap();
        for component in [0, 33, n - 2, n - 1] {
            let level = start[component] + 0.1;
            let options = tolerant(1e-5).end_when_rises(component, vec![level, level + 0.2]);
            for method in &methods {
                let Some(found) = agreed(Ring(n), &ensemble, method, &options, 1e-5) else {
                    return;
                };
                ended += found.status.iter().filter(|&&s| s == Status::TerminalEvent).count();
            }
        }
    }
    assert!(ended > 10, "{ended}");
}

fn range(component: usize, lower: f64, upper: f64, kind: RangeKind) -> ValidRange {
    ValidRange { component, lower, upper, kind }
}

/// Data of x from −0.4 to 0.7, of v above −0.9 only; v is physical from −0.5 on.
fn bounded() -> Bounded<Oscillator> {
    let infinity = f64::INFINITY;
    let ranges = [
        range(0, -0.4, 0.7, RangeKind::Data),
        range(1, -0.9, infinity, RangeKind::Data),
        range(1, -0.5, infinity, RangeKind::Physical),
    ];
    Bounded(Oscillator, ranges)
}

#[test]
fn steps_outside_the_data_are_counted() {
    // v at the end: −0.42, −0.9, −0.5 and a little less, −0.5 and 50 tolerances less.
    let ends = [2.0, 2.7, (-0.5_f64 - 2e-4).acos(), (-0.5_f64 - 5e-5).acos()];
    for method in methods() {
        let ensemble =
            oscillators::<f64>(4, (0.0, 1.0)).with_spans(ends.map(|end| (0.0, end)).to_vec());
        let Some(found) = agreed(bounded(), &ensemble.unwrap(), &method, &tolerant(1e-6), 1e-4)
        else {
            return;
        };
        let (good, bad) = (Status::Success, Status::OutsideBounds);
        // What RKC gets wrong on the way is more than a bound may be passed by.
        let near = if method == Method::rkc() { found.status[3] } else { good };
        assert_eq!(found.status, [good, bad, bad, near], "{}", method.name());
        for s in 0..4 {
            let Solution { stats, .. } = &found;
            assert!(stats[s].outside > 0 && stats[s].outside < stats[s].steps, "{:?}", stats[s]);
        }
    }
    for method in [Method::dopri5(), Method::rkc(), Method::rodas4()] {
        let ensemble = oscillators::<f32>(3, (0.0, 2.0));
        let spans = ends[..3].iter().map(|&end| (0.0, end)).collect();
        agreed(bounded(), &ensemble.with_spans(spans).unwrap(), &method, &tolerant(1e-4), 1e-3);
    }
    let fixed = Method::rkck().with_controller(Controller::fixed(1e-3));
    let ensemble = oscillators::<f64>(1, (0.0, 3.0));
    let Some(found) = agreed(bounded(), &ensemble, &fixed, &tolerant(1e-6), 1e-9) else { return };
    // x above 0.7, or v below −0.9.
    let time = std::f64::consts::PI - 2.0 * 0.7_f64.asin() + 3.0 - (-0.9_f64).acos();
    assert!((f64::from(found.stats[0].outside) - 1e3 * time).abs() < 3.0, "{:?}", found.stats[0]);
    // In local memory, and of several components of a thread.
    let ranges = [
        range(3, -0.1, 0.1, RangeKind::Data),
        range(79, -2.0, 0.5, RangeKind::Data),
        range(60, -1.0, 0.2, RangeKind::Physical),
    ];
    let start: Vec<f64> = (0..80).map(|i| (0.7 * i as f64).sin()).collect();
    let ensemble = Ensemble::repeated(&start, 2, (0.0, 1.0)).unwrap();
    for method in [Method::dopri5(), Method::rkc(), Method::rodas4()] {
        let options = tolerant(1e-5).segments(2);
        let Some(found) = agreed(Bounded(Ring(80), ranges), &ensemble, &method, &options, 1e-5)
        else {
            return;
        };
        assert!(found.stats[0].outside > 0);
    }
}

/// At a terminal event, too; and each component has its own tolerance.
#[test]
fn impossible_states_are_no_ends() {
    for method in methods() {
        let tolerance = Tolerance::per_component(1e-6, vec![1e-6, 1e-3]);
        let levels = vec![-0.45, -0.55, -0.65, 0.5];
        let options = Options::new(tolerance).end_when_falls(1, levels);
        let ensemble = oscillators::<f64>(4, (0.0, 3.0));
        let Some(found) = agreed(bounded(), &ensemble, &method, &options, 1e-4) else { return };
        let (good, bad) = (Status::TerminalEvent, Status::OutsideBounds);
        assert_eq!(found.status, [good, good, bad, good]);
        // A system that ends otherwise is no success anyway.
        let late = oscillators::<f64>(1, (2.5, 3.5));
        let Some(found) = agreed(bounded(), &late, &method, &tolerant(1e-6).max_steps(3), 1e-4)
        else {
            return;
        };
        assert_eq!(found.status[0], Status::MaxSteps);
    }
}

#[test]
fn sessions_refuse_levels() {
    if !host::is_available() {
        return;
    }
    let devices = Devices::new(vec![host::setup().device()]);
    let options = tolerant(1e-6).end_when_rises(0, vec![0.5]);
    let ensemble = oscillators::<f64>(2, (0.0, 1.0));
    let error = devices.session(&Oscillator, &ensemble, &Method::rkck(), &options).map(drop);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("terminal_event") && error.contains("session"), "{error}");
}

#[test]
fn sessions_tell_of_what_lies_outside_the_data() {
    let (method, options) = (Method::rodas4(), tolerant(1e-6));
    let ensemble = oscillators::<f64>(2, (0.0, 1.0));
    // x is above 0.7 from 0.78 to 2.37, v below −0.9 from 2.69 on.
    let spans = [(0.0, 0.5, false), (0.5, 1.0, true), (1.0, 2.5, false)];
    let solver = Solver::new(DynSystem::new(bounded()), &method, &Device::cpu(), &options).unwrap();
    let mut session = solver.session(&ensemble).unwrap();
    for (start, end, is_outside) in spans {
        session.advance((start, end)).unwrap();
        // Steps on the way count here.
        assert_eq!(session.came_outside().unwrap(), is_outside || end == 2.5, "{end}");
    }
    if !host::is_available() {
        return;
    }
    let devices = Devices::new(vec![host::setup().device()]);
    let mut session = devices.session(&bounded(), &ensemble, &method, &options).unwrap();
    for (start, end, is_outside) in spans {
        session.advance((start, end)).unwrap();
        assert_eq!(session.is_outside().unwrap(), is_outside, "{end}");
    }
}
