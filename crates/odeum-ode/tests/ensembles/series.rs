//! Parts of a series, integrated without a wait between them.

use crate::refill::Rotor;
use odeum_ode::{
    Cpu, Device, DynSystem, Ensemble, Error, Isa, Method, Monitor, Options, Part, Series, Solution,
    Solver, Status, Tolerance,
};
use std::ops::Range;

/// These rotors from an ensemble of any length.
fn rotors(systems: Range<usize>, frequency: impl Fn(usize) -> f64) -> Ensemble<f64> {
    let mut states: Vec<f64> = systems.clone().map(|s| 1.0 + s as f64 * 1e-3).collect();
    states.extend(vec![0.0; systems.len()]);
    Ensemble::new(2, states, (0.0, 3.0))
        .unwrap()
        .with_params(systems.map(frequency).collect())
        .unwrap()
}

/// One in nine costs twenty times as much as the others.
fn uneven(s: usize) -> f64 {
    if s % 9 == 4 { 60.0 } else { 3.0 + (s % 7) as f64 / 10.0 }
}

fn solver(method: &Method, threads: usize, options: &Options) -> Solver {
    let device = Device::Cpu(Cpu { threads: Some(threads), isa: Isa::best() });
    solver_on(&device, method, options)
}

fn solver_on(device: &Device, method: &Method, options: &Options) -> Solver {
    Solver::new(DynSystem::new(Rotor), method, device, options).unwrap()
}

fn options() -> Options {
    Options::new(Tolerance::new(1e-6, 1e-8))
}

/// Parts that are there, and what became of them in the order in which they ended.
#[derive(Default)]
struct Listed {
    coming: Vec<Part<f64>>,
    ended: Vec<(usize, Solution<f64>)>,
    /// Fails after the last part.
    fails: bool,
}

impl Listed {
    fn new(parts: impl IntoIterator<Item = Part<f64>>) -> Listed {
        let mut coming: Vec<_> = parts.into_iter().collect();
        coming.reverse();
        Listed { coming, ..Listed::default() }
    }

    fn in_order(mut self) -> Vec<Solution<f64>> {
        self.ended.sort_by_key(|(number, _)| *number);
        self.ended.into_iter().map(|(_, solution)| solution).collect()
    }
}

impl Series<f64> for Listed {
    fn systems(&self) -> usize {
        self.coming.iter().map(|part| part.ensemble.len()).sum()
    }

    fn next(&mut self) -> Result<Option<Part<f64>>, Error> {
        match self.coming.pop() {
            None if self.fails => Err(Error::input("part", "nothing", "there is no more")),
            part => Ok(part),
        }
    }

    fn ended(&mut self, number: usize, solution: Solution<f64>) {
        self.ended.push((number, solution));
    }
}

fn ends_as_one_ensemble(solver: &Solver) {
    const SIZES: [usize; 7] = [1, 700, 64, 3, 1, 1, 330];
    let name = solver.method().name();
    let all = SIZES.iter().sum();
    let whole = solver.solve(&rotors(0..all, uneven)).unwrap();
    assert!(whole.all_succeeded());
    let starts = (0..SIZES.len()).map(|k| SIZES[..k].iter().sum::<usize>());
    let ranges: Vec<_> = starts.zip(SIZES).map(|(first, size)| first..first + size).collect();
    let mut series = Listed::new(ranges.iter().map(|range| rotors(range.clone(), uneven).into()));
    let monitor = Monitor::new();
    solver.solve_series(&mut series, &monitor).unwrap();
    assert_eq!(monitor.finished(), all);
    let parts = series.in_order();
    assert_eq!(parts.len(), SIZES.len());
    for (part, range) in parts.iter().zip(ranges) {
        for (at, s) in range.enumerate() {
            assert_eq!(part.y(at), whole.y(s), "{name}");
            assert_eq!((part.stats[at], part.status[at]), (whole.stats[s], whole.status[s]));
            for k in 0..2 {
                assert_eq!(part.y_at(k, at), whole.y_at(k, s), "{name}");
            }
        }
    }
}

#[test]
fn systems_end_as_in_one_ensemble() {
    for method in [Method::dopri5(), Method::rodas4(), Method::radau(), Method::rkc()] {
        for threads in [1, 2, 5] {
            ends_as_one_ensemble(&solver(&method, threads, &options().save_at(vec![1.0, 2.5])));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn systems_end_as_in_one_ensemble_on_a_gpu() {
    for method in [Method::dopri5(), Method::rodas4(), Method::radau(), Method::rkc()] {
        let options = options().save_at(vec![1.0, 2.5]);
        ends_as_one_ensemble(&solver_on(&Device::cuda(0), &method, &options));
    }
}

#[test]
fn nobody_waits_for_the_last_system_of_a_part() {
    // The first part has a system that takes longer than all others together.
    let slow = |s: usize| if s == 0 { 3e4 } else { 3.0 };
    let parts = (0..20).map(|k| rotors(100 * k..100 * (k + 1), slow).into());
    let mut series = Listed::new(parts);
    let solver = solver(&Method::dopri5(), 1, &options().max_steps(10_000_000));
    solver.solve_series(&mut series, &Monitor::new()).unwrap();
    let order: Vec<usize> = series.ended.iter().map(|(number, _)| *number).collect();
    let scalar = Isa::best() == Isa::Scalar;
    let expected = if scalar { (0..20).collect() } else { [(1..20).collect(), vec![0]].concat() };
    assert_eq!(order, expected);
    assert!(series.ended.iter().all(|(_, solution)| solution.all_succeeded()));
}

#[test]
fn each_part_has_its_levels() {
    let options = options().end_when_falls(0, Vec::new());
    let parts = (0..3).map(|k| {
        let ensemble = rotors(50 * k..50 * (k + 1), |_| 1.0);
        let levels = (50 * k..50 * (k + 1)).map(|s| 0.1 + s as f64 * 1e-3).collect();
        Part { ensemble, levels: Some(levels) }
    });
    let mut series = Listed::new(parts);
    solver(&Method::vern7(), 2, &options).solve_series(&mut series, &Monitor::new()).unwrap();
    for (k, part) in series.in_order().iter().enumerate() {
        for s in 0..50 {
            let system = (50 * k + s) as f64 * 1e-3;
            assert_eq!(part.status[s], Status::TerminalEvent);
            assert!((part.y(s)[0] - (0.1 + system)).abs() < 1e-6);
            assert!((part.t[s] - ((0.1 + system) / (1.0 + system)).acos()).abs() < 1e-5);
        }
    }
}

#[test]
fn what_was_integrated_before_a_failure_is_given() {
    let listed = |fails: bool, parts: Vec<Part<f64>>| Listed { fails, ..Listed::new(parts) };
    let part = |k: usize| Part::from(rotors(40 * k..40 * (k + 1), uneven));
    let foreign = Ensemble::new(3, vec![1.0_f64; 6], (0.0, 1.0)).unwrap().into();
    let unlevelled = Part { levels: Some(vec![0.0; 3]), ..part(1) };
    let event = options().end_when_falls(0, Vec::new());
    for (options, mut series, ended, argument) in [
        (options(), listed(true, vec![part(0), part(1)]), 2, "part"),
        (options(), listed(true, vec![]), 0, "part"),
        (options(), listed(false, vec![part(0), foreign, part(2)]), 1, "states"),
        (event.clone(), listed(false, vec![unlevelled, part(2)]), 0, "terminal_event"),
        (event, listed(false, vec![part(0)]), 0, "terminal_event"),
    ] {
        let solver = solver(&Method::tsit5(), 2, &options);
        let error = solver.solve_series(&mut series, &Monitor::new()).unwrap_err();
        assert!(error.to_string().contains(argument), "{error}");
        assert_eq!(series.ended.len(), ended);
        assert!(series.ended.iter().all(|(_, solution)| solution.all_succeeded()));
    }
}

/// A series that panics when its second part is asked for.
struct Panicking {
    made: bool,
}

impl Series<f64> for Panicking {
    fn systems(&self) -> usize {
        100
    }

    fn next(&mut self) -> Result<Option<Part<f64>>, Error> {
        assert!(!std::mem::replace(&mut self.made, true), "no second part");
        Ok(Some(rotors(0..50, uneven).into()))
    }

    fn ended(&mut self, _: usize, _: Solution<f64>) {}
}

#[test]
#[should_panic = "no second part"]
fn a_panic_of_whoever_makes_parts_is_passed_on() {
    let solver = solver(&Method::dopri5(), 2, &options());
    let _ = solver.solve_series(&mut Panicking { made: false }, &Monitor::new());
}

#[test]
fn a_series_that_is_stopped_gives_what_has_ended() {
    // More than one pack has room for, behind some that end.
    let forever = |s: usize| if s % 100 < 50 { 1.0 } else { 1e9 };
    let parts = (0..3).map(|k| rotors(100 * k..100 * (k + 1), forever).into());
    let (mut series, monitor) = (Listed::new(parts), Monitor::new());
    let options = options().max_steps(u32::MAX);
    std::thread::scope(|scope| {
        let series = &mut series;
        let monitor = &monitor;
        scope.spawn(move || {
            solver(&Method::tsit5(), 2, &options).solve_series(series, monitor).unwrap();
        });
        while monitor.finished() < 20 {
            std::thread::yield_now();
        }
        monitor.stop();
    });
    let ended: usize = series.ended.iter().map(|(_, part)| succeeded(part)).sum();
    assert_eq!(ended, monitor.finished());
    let not_run =
        |part: &Solution<f64>| part.status.iter().filter(|s| **s == Status::NotRun).count();
    assert!(series.ended.iter().all(|(_, part)| not_run(part) + succeeded(part) == 100));
}

fn succeeded(part: &Solution<f64>) -> usize {
    part.status.iter().filter(|status| status.is_success()).count()
}
