//! The driver of GPUs on host devices: batches, several devices, sessions, and what goes wrong.

use crate::host;
use odeum_core::{Real, System};
use odeum_cuda::host::{Host, Setup};
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::problems::Lorenz;
use odeum_ode::{
    Controller, Ensemble, Error, FirstStep, Method, Monitor, Options, Scalar, Solution, Stats,
    Status, Tolerance,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// Lorenz systems that start each a little elsewhere, with parameters of their own.
fn ensemble(count: usize, end: f64) -> Ensemble<f64> {
    let lorenz = Lorenz::problem();
    let at = |k: usize| (k / count, k % count);
    let states = (0..3 * count).map(at).map(|(i, s)| lorenz.y0[i] + 1e-3 * (s % 61) as f64);
    let params = (0..3 * count).map(at).map(|(j, s)| lorenz.params[j] * (1.0 + s as f64 / 1e5));
    let ensemble = Ensemble::new(3, states.collect(), (0.0, end)).unwrap();
    ensemble.with_params(params.collect()).unwrap()
}

fn options() -> Options {
    Options::new(Tolerance::new(1e-6, 1e-8)).save_at(vec![0.05, 0.1])
}

fn solve(devices: &Devices<Host>, ensemble: &Ensemble<f64>) -> Result<Solution<f64>, Error> {
    devices.solve(&Lorenz, ensemble, &Method::dopri5(), &options(), &Monitor::new())
}

/// One device with more memory than it needs.
fn alone(ensemble: &Ensemble<f64>) -> Solution<f64> {
    solve(&Devices::new(vec![host::setup().device()]), ensemble).unwrap()
}

fn batches(solution: &Solution<f64>) -> usize {
    solution.gpu_times.unwrap().batches
}

fn assert_same<T: Scalar>(found: &Solution<T>, wanted: &Solution<T>) {
    let bits = |values: &[T]| -> Vec<u64> { values.iter().map(|x| x.to_f64().to_bits()).collect() };
    assert_eq!(bits(&found.states), bits(&wanted.states));
    assert_eq!(bits(&found.saved), bits(&wanted.saved));
    assert_eq!((&found.status, &found.stats), (&wanted.status, &wanted.stats));
    assert_eq!((&found.t, &found.n_saved), (&wanted.t, &wanted.n_saved));
}

/// Bytes in which batches of 512 such systems fit, or as many batches of 32 as a device has workers.
const SMALL: usize = 112 << 10;

#[test]
fn ensembles_beyond_the_memory_go_in_batches() {
    if !host::is_available() {
        return;
    }
    let ensemble = ensemble(3001, 0.15);
    let wanted = alone(&ensemble);
    assert!(wanted.all_succeeded());
    assert_eq!(batches(&wanted), 1);
    let device = host::setup().memory(SMALL).device();
    let devices = Devices::new(vec![device.clone()]);
    let found = solve(&devices, &ensemble).unwrap();
    assert_same(&found, &wanted);
    assert!(batches(&found) > 4, "{}", batches(&found));
    assert_eq!(device.launched().len(), batches(&found));
    // Lanes stay for the next run, which compiles nothing.
    let (idle, compilations) = (devices.idle_lanes(), device.compilations());
    assert!(idle > 0);
    assert_same(&solve(&devices, &ensemble).unwrap(), &wanted);
    assert_eq!((devices.idle_lanes(), device.compilations()), (idle, compilations));
}

#[test]
fn memory_that_is_too_small_for_any_batch_is_an_error() {
    if !host::is_available() {
        return;
    }
    let ensemble = ensemble(1000, 0.1);
    let with = |bytes: usize| Devices::new(vec![host::setup().memory(bytes).device()]);
    // Few systems fit, in one batch at a time.
    assert_same(&solve(&with(4 << 10), &ensemble).unwrap(), &alone(&ensemble));
    match solve(&with(1 << 10), &ensemble).map(drop) {
        Err(Error::Device { device, reason, .. }) => {
            assert_eq!(device, "host:0");
            assert!(reason.contains("not enough memory"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

/// Of several runs at once each takes for free what all see before any reserves: they failed.
#[test]
fn memory_that_other_runs_take_meanwhile_makes_batches_smaller() {
    if !host::is_available() {
        return;
    }
    let ensemble = ensemble(3001, 0.15);
    let wanted = alone(&ensemble);
    // Of a batch, one in several pieces, or of some workers.
    for bytes in [9 << 10, 20 << 10, 40 << 10] {
        let setup = host::setup().memory(bytes).taken(SMALL);
        assert_same(&solve(&Devices::new(vec![setup.device()]), &ensemble).unwrap(), &wanted);
    }
    let setup = host::setup().memory(1 << 10).taken(SMALL);
    let error = solve(&Devices::new(vec![setup.device()]), &ensemble).map(drop).unwrap_err();
    let told = error.to_string();
    for part in ["host:0: not enough memory", "bytes are wanted", "are free", "device = \"cpu\""] {
        assert!(told.contains(part), "{told}");
    }
}

/// Before anything is reserved: it was told as a driver that fails, without a device and what is free.
#[test]
fn a_session_beyond_the_memory_names_systems_and_bytes() {
    if !host::is_available() {
        return;
    }
    let ensemble = ensemble(3001, 0.1);
    let options = Options::new(Tolerance::new(1e-6, 1e-8));
    for warm_start in [false, true] {
        let options = Options { warm_start, ..options.clone() };
        let begin = |bytes: usize| {
            let devices = Devices::new(vec![host::setup().memory(bytes).device()]);
            devices.session(&Lorenz, &ensemble, &Method::rodas4(), &options).map(drop)
        };
        let told = begin(20_000).unwrap_err().to_string();
        let told = told.strip_prefix("host:0: not enough memory: 3001 systems need ").unwrap();
        let (need, rest) = told.split_once(" bytes, 20000 are free").unwrap();
        assert!(rest.contains("fewer systems"), "{rest}");
        // What it needs is enough, and no less is.
        let need: usize = need.parse().unwrap();
        begin(need).unwrap();
        assert!(begin(need - 1).is_err());
    }
}

/// Whoever takes a batch, and however copies and kernels of several streams fall: the same bits.
#[test]
fn several_devices_fraction_the_batches() {
    if !host::is_available() {
        return;
    }
    let ensemble = ensemble(4000, 0.15);
    let wanted = alone(&ensemble);
    for seed in 0..4 {
        let setup = |bytes: usize| host::setup().seed(seed).memory(bytes);
        let hosts = Setup::together(vec![setup(SMALL), setup(1 << 30)]);
        let found = solve(&Devices::new(hosts.clone()), &ensemble).unwrap();
        assert_same(&found, &wanted);
        // The smaller memory decides on the batches.
        assert!(batches(&found) > 4);
        let launched: usize = hosts.iter().map(|host| host.launched().len()).sum();
        assert_eq!(launched, batches(&found));
    }
}

/// A run cut in pieces of equal length, on the device and on this side.
#[test]
fn sessions_advance_as_one_run_in_pieces() {
    if !host::is_available() {
        return;
    }
    const PIECES: u32 = 5;
    // Of the second ensemble some systems wait for others: the costly ones begin first.
    for (count, sorts) in [(70, 0), (2500, PIECES as usize - 1)] {
        let host = host::setup().multiprocessors(1).device();
        sessions_advance(&ensemble(count, 1.0), &Devices::new(vec![host.clone()]), PIECES);
        let launched = host.launched();
        let of_sorts = launched.iter().filter(|name| *name == "od_place_systems").count();
        // Of two sessions; one of them advances once more.
        assert_eq!(of_sorts, sorts.min(1) + 2 * sorts, "{count} systems");
    }
}

fn sessions_advance(ensemble: &Ensemble<f64>, devices: &Devices<Host>, pieces: u32) {
    let cold = Options::new(Tolerance::new(1e-6, 1e-8)).first_step(FirstStep::Fraction(0.25));
    // Controllers with a memory forget it from one advance to the next.
    let method = Method::rkck().with_controller(Controller::integral());
    for options in [cold.clone(), cold.warm_start()] {
        let whole = options.clone().segments(pieces);
        let monitor = Monitor::new();
        let wanted = devices.solve(&Lorenz, ensemble, &method, &whole, &monitor).unwrap();
        let mut session = devices.session(&Lorenz, ensemble, &method, &options).unwrap();
        // Its memory is that of the run before.
        assert!(session.statuses().unwrap().iter().all(|&status| status == Status::NotRun));
        assert!(session.stats().unwrap().iter().all(|&stats| stats == Stats::default()));
        let mut steps = vec![0; ensemble.len()];
        for piece in 0..pieces {
            let at = |piece: u32| f64::from(piece) / f64::from(pieces);
            session.advance((at(piece), at(piece + 1))).unwrap();
            assert!(session.statuses().unwrap().iter().all(|status| status.is_success()));
            for (sum, stats) in steps.iter_mut().zip(session.stats().unwrap()) {
                *sum += stats.steps;
            }
        }
        let found = session.states().unwrap();
        let bits = |y: &[f64]| -> Vec<u64> { y.iter().map(|y| y.to_bits()).collect() };
        assert_eq!(bits(&found), bits(&wanted.states), "warm start {}", options.warm_start);
        assert!(wanted.stats.iter().map(|stats| stats.steps).eq(steps));
        if !options.warm_start {
            // From the start again, to where its first advance ended.
            let once = devices.session(&Lorenz, ensemble, &method, &options);
            let mut once = once.unwrap();
            let span = (0.0, 1.0 / f64::from(pieces));
            once.advance(span).unwrap();
            session.set_states(ensemble.states()).unwrap();
            session.advance(span).unwrap();
            assert_eq!(bits(&session.states().unwrap()), bits(&once.states().unwrap()));
            assert!(session.set_states(&[1.0]).unwrap_err().to_string().contains("states"));
        }
        drop(session);
        assert!(devices.idle_lanes() > 0);
    }
}

/// Of an advance that is stopped every system stands where it was, or where it was to go; the next one goes as if there had been none.
#[test]
fn an_advance_can_be_stopped() {
    if !host::is_available() {
        return;
    }
    const SYSTEMS: usize = 600;
    let (span, method) = ((0.0, 1.0), Method::rodas4());
    let options = Options::new(Tolerance::new(1e-6, 1e-8)).warm_start();
    let ensemble = ensemble(SYSTEMS, 1.0);
    let device = host::setup().multiprocessors(1).device();
    let devices = Devices::new(vec![device]);
    let begin = || devices.session(&Lorenz, &ensemble, &method, &options).unwrap();
    let bits = |y: &[f64]| -> Vec<u64> { y.iter().map(|y| y.to_bits()).collect() };
    let mut wanted = begin();
    assert!(wanted.advance_monitored(span, &Monitor::new()).unwrap());
    assert!(wanted.statuses().unwrap().iter().all(|status| status.is_success()));
    let (ends, steps) = (wanted.states().unwrap(), wanted.step_sizes().unwrap());
    let mut session = begin();
    for early in [true, false] {
        let monitor = Monitor::new();
        if early {
            monitor.stop();
        }
        let whole = std::thread::scope(|scope| {
            scope.spawn(|| monitor.stop());
            session.advance_monitored(span, &monitor).unwrap()
        });
        assert!(!(early && whole));
        let (states, statuses) = (session.states().unwrap(), session.statuses().unwrap());
        for (s, status) in statuses.into_iter().enumerate() {
            assert!(status.is_success() || status == Status::NotRun, "{status:?}");
            assert!(!early || status == Status::NotRun);
            let from = if status.is_success() { &ends } else { ensemble.states() };
            for i in (s..3 * SYSTEMS).step_by(SYSTEMS) {
                assert_eq!(states[i].to_bits(), from[i].to_bits(), "system {s}");
            }
        }
        if !whole {
            assert!(session.step_sizes().unwrap().iter().all(|&size| size == 0.0));
        }
        session.set_states(ensemble.states()).unwrap();
        session.set_step_sizes(&[0.0; SYSTEMS]).unwrap();
    }
    assert!(session.advance_monitored(span, &Monitor::new()).unwrap());
    assert_eq!(bits(&session.states().unwrap()), bits(&ends));
    assert_eq!(bits(&session.step_sizes().unwrap()), bits(&steps));
}

/// A run that is stopped keeps what has ended; the rest says that it never ran.
#[test]
fn a_run_can_be_stopped() {
    if !host::is_available() {
        return;
    }
    let ensemble = ensemble(6000, 4.0);
    let devices = Devices::new(vec![host::setup().memory(SMALL).device()]);
    let (monitor, ended) = (Monitor::new(), AtomicBool::new(false));
    let solution = std::thread::scope(|scope| {
        scope.spawn(|| {
            // A run that fails finishes nothing.
            while monitor.finished() == 0 && !ended.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            monitor.stop();
        });
        let run = devices.solve(&Lorenz, &ensemble, &Method::dopri5(), &options(), &monitor);
        ended.store(true, Ordering::Relaxed);
        run
    })
    .unwrap();
    let count = |wanted: Status| solution.status.iter().filter(|&&s| s == wanted).count();
    assert_eq!(count(Status::Success), monitor.finished());
    assert!(count(Status::NotRun) > 0);
    assert_eq!(count(Status::Success) + count(Status::NotRun), ensemble.len());
}

/// An error of one of two devices ends the run, and names the device.
#[test]
fn an_error_of_one_device_is_reported() {
    if !host::is_available() {
        return;
    }
    let ensemble = ensemble(2000, 0.15);
    let batches = {
        let setup = || host::setup().memory(SMALL);
        batches(&solve(&Devices::new(Setup::together(vec![setup(), setup()])), &ensemble).unwrap())
    };
    // One does nothing, the other one batch too few: one of them fails, whoever comes first.
    let setup = |launches: usize| host::setup().memory(SMALL).launches(launches);
    let devices = Devices::new(Setup::together(vec![setup(batches - 1), setup(0)]));
    match solve(&devices, &ensemble).map(drop) {
        Err(Error::Cuda { doing, reason }) => {
            assert!(doing.contains("od_erk on host:"), "{doing}");
            assert_eq!(reason, "no more launches");
        }
        other => panic!("{other:?}"),
    }
}

/// A folder that cannot be is a compiler that refuses.
#[test]
fn a_kernel_that_does_not_compile_is_reported() {
    if !host::is_available() {
        return;
    }
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/none\0/none");
    let devices = Devices::new(vec![Setup::new(folder).device()]);
    // No other test has this step, which stands in the text.
    let method = Method::rkck().with_controller(Controller::fixed(0.015625));
    let ensemble = ensemble(100, 0.15);
    let refused = devices.solve(&Lorenz, &ensemble, &method, &options(), &Monitor::new());
    match refused.map(drop) {
        Err(Error::Compile { kernel, .. }) => assert_eq!(kernel, "od_erk"),
        other => panic!("{other:?}"),
    }
}

/// Nothing in it moves, as in a gas without reactions.
struct AtRest;

impl System for AtRest {
    fn dim(&self) -> usize {
        3
    }
    fn rhs<R: Real>(&self, _t: R, _y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt.fill(R::lit(0.0));
    }
}

#[test]
fn a_system_at_rest_stays_where_it_is() {
    if !host::is_available() {
        return;
    }
    let ensemble = Ensemble::repeated(&[1.0, 0.0, -2.0], 5, (0.0, 10.0)).unwrap();
    let devices = Devices::new(vec![host::setup().device()]);
    let options = Options::new(Tolerance::new(1e-6, 1e-9));
    for method in [Method::dopri5(), Method::rodas4(), Method::radau(), Method::exprb43()] {
        let found = devices.solve(&AtRest, &ensemble, &method, &options, &Monitor::new()).unwrap();
        assert!(found.all_succeeded(), "{}", method.name());
        assert_eq!(found.states, ensemble.states(), "{}", method.name());
    }
}
