//! Results that stay in the memory of a device.

use crate::device_rounds::setup;
use crate::extremes::everywhere;
use crate::host;
use odeum_cuda::host::Host;
use odeum_ode::gpu::SolutionOnGpu;
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::problems::{self, Lorenz};
use odeum_ode::{
    Cuda, Device, DynSystem, Ensemble, Inputs, Method, Monitor, Options, Solution, Solver, Stats,
    Status, Tolerance,
};

/// Lorenz systems with spans, parameters and first steps of their own; one does not start from numbers.
fn ensemble(count: usize) -> Ensemble<f64> {
    let lorenz = Lorenz::problem();
    let start = |k: usize| lorenz.y0[k / count] + 1e-2 * (k % count % 61) as f64;
    let mut states: Vec<f64> = (0..3 * count).map(start).collect();
    states[count + 5] = f64::NAN;
    let params =
        (0..3 * count).map(|k| lorenz.params[k / count] * (1.0 + (k % count) as f64 / 1e4));
    Ensemble::with_invalid_starts(3, states, (0.0, 1.0))
        .and_then(|ensemble| ensemble.with_params(params.collect()))
        .and_then(|ensemble| {
            ensemble.with_spans((0..count).map(|s| (0.0, 0.15 + 0.05 * (s % 6) as f64)).collect())
        })
        .and_then(|ensemble| {
            ensemble.with_first_steps((0..count).map(|s| 1e-3 * (s % 5) as f64).collect())
        })
        .unwrap()
}

/// Levels that some systems reach, and times that some do not.
fn options(count: usize) -> Options {
    let levels = (0..count).map(|s| 3.0 + (s % 40) as f64).collect();
    Options::new(Tolerance::new(1e-5, 1e-7)).end_when_rises(2, levels).save_at(vec![0.05, 0.14])
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// Numbers where they lie: memory of a host device is that of the CPU.
fn lying_at(address: u64, count: usize, _owner: &SolutionOnGpu<f64, Host>) -> &[f64] {
    // SAFETY: so many numbers, which the owner keeps and nobody writes.
    unsafe { std::slice::from_raw_parts(address as *const f64, count) }
}

fn assert_same(found: &SolutionOnGpu<f64, Host>, wanted: &Solution<f64>) {
    let (count, copy) = (found.len(), found.to_host().unwrap());
    assert_eq!((count, found.dim()), (wanted.len(), 3));
    assert_eq!(bits(&copy.states), bits(&wanted.states));
    assert_eq!(bits(lying_at(found.states_address(), 3 * count, found)), bits(&wanted.states));
    assert_eq!(bits(&copy.saved), bits(&wanted.saved));
    let saved = lying_at(found.saved_address(), wanted.saved.len(), found);
    assert_eq!(bits(saved), bits(&wanted.saved));
    assert_eq!((copy.status, copy.stats), (wanted.status.clone(), wanted.stats.clone()));
    assert_eq!((copy.t, copy.n_saved), (wanted.t.clone(), wanted.n_saved.clone()));
    assert_eq!(copy.save_times, wanted.save_times);
    assert_eq!(bits(&copy.next_steps), bits(&wanted.next_steps));
}

/// Threads of a system, and systems: of a block of several warps the matrices are in global memory.
#[test]
fn results_that_stay_are_those_that_come_back() {
    if !host::is_available() {
        return;
    }
    for (method, width, count) in [
        (Method::tsit5(), 1, 300),
        (Method::rodas4(), 1, 300),
        (Method::rodas4(), 32, 70),
        (Method::radau(), 128, 40),
    ] {
        let device = setup(&method, width).multiprocessors(1).device();
        let devices = Devices::new(vec![device]).threads_at_least(width);
        let (ensemble, options) = (ensemble(count), options(count));
        let wanted = devices.solve(&Lorenz, &ensemble, &method, &options, &Monitor::new()).unwrap();
        for status in [Status::Success, Status::TerminalEvent, Status::InvalidStart] {
            assert!(wanted.status.contains(&status), "{status:?}");
        }
        let monitor = Monitor::new();
        // The memory of the first is that of the second.
        for _ in 0..2 {
            let found = devices.solve_there(&Lorenz, &ensemble, &method, &options, &monitor);
            assert_same(&found.unwrap(), &wanted);
        }
        assert_eq!(monitor.finished(), 2 * count);
    }
}

/// What is no number is felt late, or never.
#[test]
fn invalid_starts_are_results_as_on_the_processor() {
    let system = DynSystem::from(&problems::find("lorenz").unwrap());
    let count = 64;
    let options = Options::new(Tolerance::new(1e-5, 1e-7)).save_at(vec![0.0, 0.1]);
    let mut params = [10.0, 28.0, 2.0].map(|p| vec![p; count]).concat();
    params[2 * count + 7] = f64::NAN;
    let mut states = vec![1.0; 3 * count];
    states[count + 5] = f64::NAN;
    let ensemble = Ensemble::with_invalid_starts(3, states, (0.0, 0.2))
        .and_then(|ensemble| ensemble.with_params(params))
        .unwrap();
    for method in [Method::tsit5(), Method::rodas4()] {
        let mut found = everywhere(&system, &ensemble, &method, &options);
        let (_, processor) = found.remove(0);
        let invalid: Vec<usize> =
            (0..count).filter(|s| processor.status[*s] == Status::InvalidStart).collect();
        assert_eq!(invalid.len(), 2);
        for (place, found) in found {
            assert_eq!(found.status, processor.status, "{place}");
            for &s in &invalid {
                let of = |solution: &Solution<f64>| {
                    let saved: Vec<f64> =
                        solution.saved.iter().skip(s).step_by(count).copied().collect();
                    (bits(&solution.y(s)), bits(&saved), solution.t[s], solution.n_saved[s])
                };
                assert_eq!(of(&found), of(&processor), "{place}, {s}");
                assert_eq!(found.stats[s], Stats::default(), "{place}, {s}");
            }
        }
    }
}

#[test]
fn who_is_stopped_keeps_the_states() {
    if !host::is_available() {
        return;
    }
    let devices = Devices::new(vec![host::setup().device()]);
    let (method, count) = (Method::rodas4(), 64);
    let (ensemble, options) = (ensemble(count), options(count));
    // Numbers of an earlier run lie where those of this one will.
    drop(devices.solve_there(&Lorenz, &ensemble, &method, &options, &Monitor::new()).unwrap());
    let stopped = Monitor::new();
    stopped.stop();
    let found = devices.solve_there(&Lorenz, &ensemble, &method, &options, &stopped).unwrap();
    assert_eq!(stopped.finished(), 0);
    let copy = found.to_host().unwrap();
    assert_eq!(bits(&copy.states), bits(ensemble.states()));
    assert!(copy.saved.iter().all(|y| y.is_nan()));
    let left = |s: &usize| copy.status[*s] == Status::NotRun && copy.stats[*s] == Stats::default();
    assert_eq!((0..count).filter(left).count(), count - 1, "all but the one with an invalid start");
    assert!(copy.t.iter().all(|t| *t == 0.0) && copy.n_saved.iter().all(|n| *n == 0));
    assert!(copy.next_steps.iter().all(|h| *h == 0.0));
}

#[test]
fn a_solver_for_another_place_is_refused() {
    let system = DynSystem::from(&problems::find("lorenz").unwrap());
    let options = Options::new(Tolerance::new(1e-6, 1e-6));
    let two = Device::Cuda(Cuda { ordinals: vec![0, 1] });
    for (device, found) in [(Device::cpu(), "cpu"), (two, "2 GPUs")] {
        let solver = Solver::new(system.clone(), &Method::tsit5(), &device, &options).unwrap();
        let ensemble = Ensemble::repeated(&[1.0_f64; 3], 4, (0.0, 1.0)).unwrap();
        let ensemble = ensemble.with_shared_params(vec![10.0, 28.0, 2.0]).unwrap();
        let error = solver.solve_on_gpu(&Inputs::from(&ensemble), &Monitor::new()).err().unwrap();
        assert!(error.to_string().contains(found), "{error}");
    }
}
