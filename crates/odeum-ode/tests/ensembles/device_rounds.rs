//! Ensembles in rounds and parts: batches by batches on a device, of which none waits for its most costly system.

use crate::host;
use odeum_cuda::host::{Host, Setup};
use odeum_cuda::{Limits, Pinned};
use odeum_ode::gpu::PageLocked;
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::problems::{self, Lorenz};
use odeum_ode::{
    ArrayMut, ArrayRef, Cuda, Device, DynSystem, Ensemble, Error, Inputs, Method, Monitor, Options,
    Outputs, SavedMut, Solution, Solver, Stats, Status, Tolerance,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// Threads of a system, and systems: of a block of several warps the matrices are in global memory ([`setup`]).
const WIDTHS: [(usize, usize); 3] = [(1, 500), (32, 70), (128, 40)];

/// A device whose shared memory holds all of a thread or a warp, and of a block of several warps nothing that may lie in global memory.
pub(crate) fn setup(method: &Method, width: usize) -> Setup {
    if width <= 32 {
        return host::setup();
    }
    let has_kernel = |bytes: usize| {
        let devices = vec![host::setup().shared_memory(bytes).device()];
        let devices = Devices::new(devices).threads_at_least(width);
        devices.solve(&Lorenz, &ensemble(1), method, &options(1), &Monitor::new()).is_ok()
    };
    let sizes: Vec<usize> = (0..=Limits::HOPPER.shared_per_block).step_by(16).collect();
    let least = sizes.partition_point(|&bytes| !has_kernel(bytes));
    host::setup().shared_memory(sizes[least])
}

/// What arrays hold that nobody has written.
const UNTOUCHED: f64 = -7.0;

/// Lorenz systems of which each has its own state, parameters, span and first step.
fn ensemble(count: usize) -> Ensemble<f64> {
    let lorenz = Lorenz::problem();
    let at = |k: usize| (k / count, k % count);
    let states = (0..3 * count).map(at).map(|(i, s)| lorenz.y0[i] + 1e-2 * (s % 61) as f64);
    let params = (0..3 * count).map(at).map(|(j, s)| lorenz.params[j] * (1.0 + s as f64 / 1e4));
    // One of many takes far more steps than the others.
    let span = |s: usize| (0.0, if s % 37 == 3 { 0.5 } else { 0.12 + 1e-4 * s as f64 });
    Ensemble::new(3, states.collect(), (0.0, 1.0))
        .and_then(|ensemble| ensemble.with_params(params.collect()))
        .and_then(|ensemble| ensemble.with_spans((0..count).map(span).collect()))
        .and_then(|ensemble| {
            ensemble.with_first_steps((0..count).map(|s| 1e-3 * (s % 5) as f64).collect())
        })
        .unwrap()
}

/// Levels that some systems reach.
fn options(count: usize) -> Options {
    let levels = (0..count).map(|s| 3.0 + (s % 40) as f64).collect();
    Options::new(Tolerance::new(1e-5, 1e-7)).end_when_rises(2, levels).save_at(vec![0.05, 0.1])
}

fn solve(devices: &Devices<Host>, count: usize) -> Solution<f64> {
    let (method, options) = (Method::rodas4(), options(count));
    devices.solve(&Lorenz, &ensemble(count), &method, &options, &Monitor::new()).unwrap()
}

fn assert_same(found: &Solution<f64>, wanted: &Solution<f64>) {
    let bits = |values: &[f64]| -> Vec<u64> { values.iter().map(|x| x.to_bits()).collect() };
    assert_eq!(bits(&found.states), bits(&wanted.states));
    assert_eq!(bits(&found.saved), bits(&wanted.saved));
    assert_eq!((&found.status, &found.stats), (&wanted.status, &wanted.stats));
    assert_eq!((&found.t, &found.n_saved), (&wanted.t, &wanted.n_saved));
    assert_eq!(bits(&found.next_steps), bits(&wanted.next_steps));
}

/// However copies and kernels of several streams fall, on one device or two, at once or in several rounds.
#[test]
fn bits_are_those_of_all_at_once() {
    if !host::is_available() {
        return;
    }
    for (width, count) in WIDTHS {
        let of = |hosts: Vec<Host>| Devices::new(hosts).threads_at_least(width);
        let wanted = solve(&of(vec![host::setup().device()]), count);
        assert_eq!(wanted.gpu_times.unwrap().batches, 1);
        let ended = wanted.status.iter().filter(|&&s| s == Status::TerminalEvent).count();
        assert!(0 < ended && ended < count, "{ended}");
        let like = setup(&Method::rodas4(), width);
        for seed in 0..2 {
            let setup = || like.clone().seed(seed).multiprocessors(1);
            // Room for two batches of 32.
            let little = || setup().memory(48 << 10);
            // The same, told to be for all: other runs take it before this one does.
            let short = || little().taken(4 << 20);
            for setups in [vec![setup()], vec![little()], vec![short()], vec![setup(), setup()]] {
                let hosts = Setup::together(setups);
                let devices = of(hosts.clone()).batches_up_to(32);
                assert_same(&solve(&devices, count), &wanted);
                let launched: usize = hosts.iter().map(|host| host.launched().len()).sum();
                assert!((hosts.len()..=count.div_ceil(32)).contains(&launched), "{launched}");
            }
        }
    }
}

fn numbers(memory: &mut odeum_cuda::host::Pinned) -> &mut [f64] {
    // SAFETY: all bits are numbers.
    unsafe { memory.values(0, memory.bytes() / 8) }
}

/// The same from and to page-locked arrays, whose rows of systems are longer than the ensemble; `like` takes the results.
fn solve_in_place(
    host: &Host,
    devices: &Devices<Host>,
    monitor: &Monitor,
    mut like: Solution<f64>,
) -> Solution<f64> {
    let (count, room) = (like.len(), like.len() + 5);
    let (ensemble, options) = (ensemble(count), options(count));
    let mut memories =
        [3, 3, 3, 6, 1].map(|rows| odeum_cuda::Device::pinned(host, 8 * rows * room).unwrap());
    let [states, params, end_states, saved, t] = memories.each_mut().map(numbers);
    let mut memory = odeum_cuda::Device::pinned(host, size_of::<Stats>() * count).unwrap();
    // SAFETY: all bits are counts.
    let stats = unsafe { memory.values::<Stats>(0, count) };
    let rows = |from: &[f64], to: &mut [f64]| {
        for (from, to) in from.chunks(count).zip(to.chunks_mut(room)) {
            to[..count].copy_from_slice(from);
        }
    };
    rows(ensemble.states(), states);
    rows(ensemble.params(), params);
    for values in [&mut *end_states, saved, t] {
        values.fill(UNTOUCHED);
    }
    let spans: Vec<(f64, f64)> = (0..count).map(|s| ensemble.span(s)).collect();
    let strided = |values| ArrayRef::strided(values, [count, 3], [1, room]).unwrap();
    let inputs = Inputs::new(strided(states), (0.0, 1.0))
        .and_then(|inputs| inputs.with_params(strided(params))?.with_spans(&spans))
        .and_then(|inputs| inputs.with_first_steps(ensemble.first_steps().unwrap()))
        .unwrap();
    let ends = ArrayMut::strided(end_states, [count, 3], [1, room]).unwrap();
    let room_of_saved = SavedMut::strided(saved, [2, count, 3], [3 * room, 1, room]).unwrap();
    let outputs = Outputs::new(ends, &mut t[..count], &mut like.status, stats)
        .and_then(|outputs| outputs.with_next_steps(&mut like.next_steps))
        .and_then(|outputs| outputs.with_saved(room_of_saved, &mut like.n_saved))
        .unwrap();
    let system = DynSystem::from(&problems::find("lorenz").unwrap());
    devices.solve_into(&system, &inputs, &Method::rodas4(), &options, outputs, monitor).unwrap();
    let gathered = |from: &[f64]| -> Vec<f64> {
        let rows = from.chunks(room);
        rows.flat_map(|row| {
            assert!(row[count..].iter().all(|value| *value == UNTOUCHED), "beyond the rows");
            &row[..count]
        })
        .copied()
        .collect()
    };
    (like.states, like.saved) = (gathered(end_states), gathered(saved));
    (like.t, like.stats) = (t[..count].to_vec(), stats.to_vec());
    like
}

#[test]
fn arrays_in_page_locked_memory_are_read_and_written_in_place() {
    if !host::is_available() {
        return;
    }
    for (width, count) in WIDTHS {
        let of = |host: &Host| Devices::new(vec![host.clone()]).threads_at_least(width);
        let host = setup(&Method::rodas4(), width).seed(3).multiprocessors(1).device();
        let wanted = solve(&of(&host), count);
        let devices = of(&host).batches_up_to(32);
        let found = solve_in_place(&host, &devices, &Monitor::new(), wanted.clone());
        assert_same(&found, &wanted);
        // Whoever did not run keeps what was there.
        let stopped = Monitor::new();
        stopped.stop();
        let kept = solve_in_place(&host, &devices, &stopped, wanted);
        assert!(kept.status.iter().all(|status| *status == Status::NotRun));
        assert!(kept.states.iter().all(|value| *value == UNTOUCHED));
        assert!(kept.t.iter().all(|t| *t == 0.0) && kept.saved.iter().all(|y| y.is_nan()));
    }
}

/// While the longest systems go on, results of all others come back; theirs follow.
#[test]
fn results_do_not_wait_for_the_longest_systems() {
    if !host::is_available() {
        return;
    }
    for (width, count, long) in [(1, 2000, 200.0), (32, 600, 20.0)] {
        let is_long = |s: usize| s == 5 || s + 7 == count;
        let lorenz = Lorenz::problem();
        let states = (0..3 * count).map(|k| lorenz.y0[k / count] + 1e-2 * (k % count % 61) as f64);
        let spans = (0..count).map(|s| (0.0, if is_long(s) { long } else { 0.02 })).collect();
        let ensemble = Ensemble::new(3, states.collect(), (0.0, 1.0))
            .and_then(|ensemble| ensemble.with_shared_params(lorenz.params)?.with_spans(spans))
            .and_then(|ensemble| ensemble.with_first_steps(vec![0.0; count]))
            .unwrap();
        let method = Method::rodas4();
        let ends = Options::new(Tolerance::new(1e-5, 1e-7));
        for options in [ends.clone().save_at(vec![0.01, 0.015]), ends] {
            let run = |devices: Devices<Host>| {
                let monitor = Monitor::new();
                let devices = devices.threads_at_least(width);
                let solution =
                    devices.solve(&Lorenz, &ensemble, &method, &options, &monitor).unwrap();
                assert_eq!(monitor.finished(), count);
                solution
            };
            let wanted = run(Devices::new(vec![host::setup().device()]));
            assert!(wanted.failed().is_empty());
            let host = host::setup().concurrent().device();
            let found = run(Devices::new(vec![host.clone()]).batches_up_to(64));
            assert_same(&found, &wanted);
            let gathers = host.launched().iter().filter(|name| *name == "od_gather_late").count();
            // With many cores all groups may have ended before results are looked at.
            assert!(gathers == 1 || (width > 1 && gathers == 0), "{width}: {gathers}");
        }
    }
}

/// Systems of which some probably cost far more begin in another order, in runs and in sessions: their numbers are the same.
#[test]
fn the_order_by_expected_costs_changes_no_bit() {
    if !host::is_available() {
        return;
    }
    let count = 90;
    let options = Options::new(Tolerance::new(1e-5, 1e-7));
    let lorenz = Lorenz::problem();
    // Of a few the start is far away.
    let far = |s: usize| if s % 30 == 7 { 1e3 } else { 1.0 };
    let states = (0..3 * count).map(|k| lorenz.y0[k / count] * far(k % count)).collect();
    let ensemble = Ensemble::new(3, states, (0.0, 0.02))
        .and_then(|ensemble| ensemble.with_shared_params(lorenz.params))
        .unwrap();
    let (method, monitor) = (Method::rodas4(), Monitor::new());
    let cpu = odeum_ode::solve(&Lorenz, &ensemble, &method, &Device::cpu(), &options).unwrap();
    let run = |devices: Devices<Host>| {
        devices.solve(&Lorenz, &ensemble, &method, &options, &monitor).unwrap()
    };
    for (width, _) in WIDTHS.into_iter().filter(|(width, _)| *width > 1) {
        let of = |host: &Host| Devices::new(vec![host.clone()]).threads_at_least(width);
        let wanted = run(of(&host::setup().device()));
        assert_eq!(wanted.status, cpu.status);
        let host = setup(&method, width).multiprocessors(1).device();
        assert_same(&run(of(&host).batches_up_to(32)), &wanted);
        let devices = of(&host);
        let mut session = devices.session(&Lorenz, &ensemble, &method, &options).unwrap();
        session.advance((0.0, 0.02)).unwrap();
        assert_eq!(session.states().unwrap(), wanted.states);
        let launched = host.launched();
        let launches = |name: &str| launched.iter().filter(|kernel| *kernel == name).count();
        assert_eq!(launches("od_expect_costs"), 2, "{launched:?}");
        assert_eq!(launches("od_place_systems"), 2);
    }
}

/// Who is stopped begins no more systems, and keeps those that have ended.
#[test]
fn a_stop_keeps_what_has_ended() {
    if !host::is_available() {
        return;
    }
    let count = 20_000;
    // Room for few of them.
    let devices = Devices::new(vec![host::setup().memory(256 << 10).device()]).batches_up_to(32);
    let (monitor, ended) = (Monitor::new(), AtomicBool::new(false));
    let solution = std::thread::scope(|scope| {
        scope.spawn(|| {
            // A run that fails finishes nothing.
            while monitor.finished() == 0 && !ended.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            monitor.stop();
        });
        let method = Method::rodas4();
        let run = devices.solve(&Lorenz, &ensemble(count), &method, &options(count), &monitor);
        ended.store(true, Ordering::Relaxed);
        run
    })
    .unwrap();
    let not_run = |s: &usize| solution.status[*s] == Status::NotRun;
    let left = (0..count).filter(not_run).count();
    assert_eq!(count - left, monitor.finished());
    assert!(0 < left && left < count, "{left} of {count} were left");
    for s in (0..count).filter(not_run) {
        assert_eq!((solution.t[s], solution.stats[s]), (0.0, Default::default()));
        assert!(solution.y(s).iter().all(|y| *y == 0.0));
    }
    for (s, status) in solution.status.iter().enumerate().filter(|(_, s)| **s != Status::NotRun) {
        assert!(status.is_success() || *status == Status::TerminalEvent, "{status:?}");
        assert!(solution.t[s] > 0.0);
    }
}

#[test]
fn an_error_ends_the_run() {
    if !host::is_available() {
        return;
    }
    for launches in [0, 1] {
        let device = host::setup().launches(launches).device();
        let devices = Devices::new(vec![device]).batches_up_to(32);
        let ensemble = ensemble(500);
        let run =
            devices.solve(&Lorenz, &ensemble, &Method::rodas4(), &options(500), &Monitor::new());
        match run.map(drop) {
            Err(Error::Cuda { doing, reason }) => {
                assert!(doing.contains("od_rosenbrock on host:0"), "{doing}");
                assert_eq!(reason, "no more launches");
            }
            other => panic!("{other:?}"),
        }
        // Memory comes back.
        assert!(devices.idle_lanes() > 0);
    }
}

/// From and to ordinary arrays and page-locked ones, on one GPU and on all; of some systems the start is far away.
#[test]
#[ignore = "needs a GPU"]
fn page_locked_arrays_take_the_same_bits_on_a_gpu() {
    let (count, span, lorenz) = (400_000, (0.0, 0.1), Lorenz::problem());
    let start = |k: usize| {
        let (i, s) = (k / count, k % count);
        lorenz.y0[i] * if s % 1009 == 7 { 1e3 } else { 1.0 + 1e-6 * s as f64 }
    };
    let ensemble = Ensemble::new(3, (0..3 * count).map(start).collect(), span)
        .and_then(|ensemble| ensemble.with_shared_params(lorenz.params))
        .unwrap();
    let system = DynSystem::from(&problems::find("lorenz").unwrap());
    let (method, options) = (Method::rodas4(), Options::new(Tolerance::new(1e-6, 1e-9)));
    let gpus = odeum_ode::gpu::devices().unwrap().len();
    let mut found = Vec::new();
    for ordinals in [vec![0], (0..gpus).collect()] {
        let device = Device::Cuda(Cuda { ordinals });
        let solver = Solver::new(&system, &method, &device, &options).unwrap();
        found.push(solver.solve(&ensemble).unwrap());
        let mut locked = [(); 2].map(|()| PageLocked::<f64>::zeros(0, 3 * count).unwrap());
        let [states, end_states] = &mut locked;
        states.copy_from_slice(ensemble.states());
        let mut t = PageLocked::<f64>::zeros(0, count).unwrap();
        let mut stats = PageLocked::<Stats>::zeros(0, count).unwrap();
        let mut solution = found[0].clone();
        let inputs = Inputs::new(ArrayRef::component_major(states, 3).unwrap(), span)
            .and_then(|inputs| inputs.with_shared_params(ensemble.params()))
            .unwrap();
        let ends = ArrayMut::component_major(end_states, 3).unwrap();
        let outputs = Outputs::new(ends, &mut t, &mut solution.status, &mut stats).unwrap();
        solver.solve_into(&inputs, outputs, &Monitor::new()).unwrap();
        (solution.states, solution.t) = (end_states.to_vec(), t.to_vec());
        solution.stats = stats.to_vec();
        found.push(solution);
    }
    assert!(found[0].all_succeeded());
    for solution in &found[1..] {
        assert!(solution.states == found[0].states && solution.t == found[0].t);
        assert!(solution.status == found[0].status && solution.stats == found[0].stats);
    }
}
