//! Ensembles in the caller's arrays, into the caller's arrays.

use crate::host;
use odeum_cuda::host::Host;
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::problems;
use odeum_ode::{
    ArrayMut, ArrayRef, Compiled, Controller, Device, DynSystem, Ensemble, FirstStep, Inputs,
    Method, Monitor, Options, Outputs, Radau, SavedMut, Solution, Solver, Stats, Status, Tolerance,
};

const SYSTEMS: usize = 53;

/// States of Lorenz systems, component-major, and their parameters.
fn data() -> (Vec<f64>, Vec<f64>) {
    let value = |k: usize| 1.0 + 1e-2 * (k % 7) as f64 + (k / SYSTEMS) as f64;
    let params = [10.0, 28.0, 8.0 / 3.0];
    let params = params.iter().flat_map(|p| (0..SYSTEMS).map(move |s| p * (1.0 + 1e-3 * s as f64)));
    ((0..3 * SYSTEMS).map(value).collect(), params.collect())
}

/// Where Lorenz systems are integrated.
enum Place {
    Cpu(Solver),
    /// In several batches.
    Devices(Devices<Host>, DynSystem, Method, Options),
}

impl Place {
    fn all(method: &Method, options: &Options) -> [Place; 2] {
        let lorenz = DynSystem::from(&problems::find("lorenz").unwrap());
        let solver = Solver::new(&lorenz, method, &Device::cpu(), options).unwrap();
        let devices = Devices::new(vec![host::setup().device()]).batches_up_to(32);
        let on_devices = Place::Devices(devices, lorenz, method.clone(), options.clone());
        [Place::Cpu(solver), on_devices]
    }

    fn solve(&self, ensemble: &Ensemble<f64>) -> Solution<f64> {
        let solution = match self {
            Place::Cpu(solver) => solver.solve(ensemble),
            Place::Devices(devices, system, method, options) => {
                devices.solve_any(system, ensemble, method, options, &Monitor::new())
            }
        };
        solution.unwrap()
    }

    fn solve_into(&self, inputs: &Inputs<'_, f64>, outputs: Outputs<'_, f64>, monitor: &Monitor) {
        let remarks = match self {
            Place::Cpu(solver) => solver.solve_into(inputs, outputs, monitor),
            Place::Devices(devices, system, method, options) => {
                devices.solve_into(system, inputs, method, options, outputs, monitor)
            }
        };
        remarks.unwrap();
    }
}

#[test]
fn the_order_of_the_arrays_does_not_matter() {
    let (states, params) = data();
    let steps = vec![1e-3; SYSTEMS];
    let spans: Vec<(f64, f64)> = (0..SYSTEMS).map(|s| (0.0, 0.1 + 1e-3 * s as f64)).collect();
    let ensemble = Ensemble::new(3, states.clone(), (0.0, 1.0))
        .and_then(|e| e.with_params(params.clone()))
        .and_then(|e| e.with_spans(spans.clone()))
        .and_then(|e| e.with_first_steps(steps.clone()))
        .unwrap();
    let options = Options::new(Tolerance::new(1e-7, 1e-9));
    let methods = [Method::tsit5(), Method::rkc(), Method::rodas4()];
    for place in methods.iter().flat_map(|method| Place::all(method, &options)) {
        let expected = place.solve(&ensemble);
        // System-major states with a gap after each, parameters as they are.
        let mut gapped = vec![f64::NAN; 5 * SYSTEMS];
        for (k, y) in states.iter().enumerate() {
            gapped[5 * (k % SYSTEMS) + k / SYSTEMS] = *y;
        }
        let inputs = ArrayRef::strided(&gapped, [SYSTEMS, 3], [5, 1])
            .and_then(|states| Inputs::new(states, (0.0, 1.0)))
            .and_then(|inputs| inputs.with_params(ArrayRef::component_major(&params, 3)?))
            .and_then(|inputs| inputs.with_spans(&spans))
            .and_then(|inputs| inputs.with_first_steps(&steps))
            .unwrap();
        let (mut end, mut next) = (vec![-1.0; 4 * SYSTEMS], vec![0.0; SYSTEMS]);
        let mut t = vec![f64::NAN; SYSTEMS];
        let (mut status, mut stats) =
            (vec![Status::Success; SYSTEMS], vec![Stats::default(); SYSTEMS]);
        let states = ArrayMut::strided(&mut end, [SYSTEMS, 3], [4, 1]).unwrap();
        let outputs = Outputs::new(states, &mut t, &mut status, &mut stats)
            .and_then(|outputs| outputs.with_next_steps(&mut next))
            .unwrap();
        place.solve_into(&inputs, outputs, &Monitor::new());
        assert_eq!((&t, &status, &stats), (&expected.t, &expected.status, &expected.stats));
        assert_eq!(next, expected.next_steps);
        for s in 0..SYSTEMS {
            assert_eq!(end[4 * s..4 * s + 3], expected.y(s));
            assert_eq!(end[4 * s + 3], -1.0, "what is no component was written");
        }
    }
}

/// Saved states in whichever order, of systems that reach all, some or none of the times.
#[test]
fn saved_states_go_where_they_are_wanted() {
    let (states, params) = data();
    let times = vec![0.0, 0.02, 0.05, 0.07];
    let (k, n, m) = (times.len(), 3, SYSTEMS);
    let tight = Options::new(Tolerance::new(1e-7, 1e-9)).save_at(times);
    for (method, most_steps) in
        [(Method::tsit5(), 1000), (Method::tsit5(), 5), (Method::rodas4(), 9)]
    {
        let options = tight.clone().max_steps(most_steps);
        let inputs = Inputs::new(ArrayRef::component_major(&states, n).unwrap(), (0.0, 0.1))
            .and_then(|inputs| inputs.with_params(ArrayRef::component_major(&params, n)?))
            .unwrap();
        let ensemble = Ensemble::new(n, states.clone(), (0.0, 0.1))
            .and_then(|ensemble| ensemble.with_params(params.clone()))
            .unwrap();
        // From a time, a system and a component to the next: that of a solution, systems outermost, times before
        // systems, and with gaps.
        let orders = [[n * m, 1, m], [n, k * n, 1], [n * m, n, 1], [7 * m, 7, 2]];
        let places = Place::all(&method, &options);
        for (place, strides) in places.iter().flat_map(|place| orders.map(|order| (place, order))) {
            let expected = place.solve(&ensemble);
            assert_eq!(expected.all_succeeded(), most_steps == 1000);
            let mut saved = vec![-1.0; k * 7 * m];
            let (mut end, mut t) = (vec![0.0; n * m], vec![0.0; m]);
            let (mut status, mut stats) = (vec![Status::NotRun; m], vec![Stats::default(); m]);
            let mut n_saved = vec![9; m];
            let room = SavedMut::strided(&mut saved, [k, m, n], strides).unwrap();
            let outputs = Outputs::new(
                ArrayMut::component_major(&mut end, n).unwrap(),
                &mut t,
                &mut status,
                &mut stats,
            )
            .and_then(|outputs| outputs.with_saved(room, &mut n_saved))
            .unwrap();
            place.solve_into(&inputs, outputs, &Monitor::new());
            assert_eq!((&n_saved, &status), (&expected.n_saved, &expected.status));
            let mut written = 0;
            for (at, value) in expected.saved.iter().enumerate() {
                let (time, component, system) = (at / (n * m), at / m % n, at % m);
                let at = time * strides[0] + system * strides[1] + component * strides[2];
                assert_eq!(saved[at].to_bits(), value.to_bits(), "{strides:?}");
                written += 1;
            }
            let untouched = saved.iter().filter(|value| **value == -1.0).count();
            assert_eq!(untouched, saved.len() - written, "what is no place was written");
        }
    }
}

/// Steps are given for the next call, where these are asked for, whether or not this call was given some; and systems
/// that do not run keep their states.
#[test]
fn what_is_asked_for_is_given_and_what_does_not_run_stays() {
    let (states, params) = data();
    let options = Options::new(Tolerance::new(1e-7, 1e-9)).save_at(vec![0.05]);
    let methods = [Method::tsit5(), Method::rodas4()];
    for place in methods.iter().flat_map(|method| Place::all(method, &options)) {
        let inputs = Inputs::new(ArrayRef::component_major(&states, 3).unwrap(), (0.0, 0.1))
            .and_then(|inputs| inputs.with_params(ArrayRef::component_major(&params, 3)?))
            .unwrap();
        for stopped in [false, true] {
            let (mut end, mut next) = (vec![-1.0; 3 * SYSTEMS], vec![-1.0; SYSTEMS]);
            let (mut saved, mut n_saved) = (vec![-1.0; 3 * SYSTEMS], vec![9; SYSTEMS]);
            let mut t = vec![f64::NAN; SYSTEMS];
            let (mut status, mut stats) =
                (vec![Status::Success; SYSTEMS], vec![Stats::from_array([9; 8]); SYSTEMS]);
            let of_times = SavedMut::strided(&mut saved, [1, SYSTEMS, 3], [0, 3, 1]).unwrap();
            let room = ArrayMut::component_major(&mut end, 3).unwrap();
            let outputs = Outputs::new(room, &mut t, &mut status, &mut stats)
                .and_then(|outputs| outputs.with_next_steps(&mut next))
                .and_then(|outputs| outputs.with_saved(of_times, &mut n_saved))
                .unwrap();
            let monitor = Monitor::new();
            if stopped {
                monitor.stop();
            }
            place.solve_into(&inputs, outputs, &monitor);
            let wanted = if stopped { Status::NotRun } else { Status::Success };
            assert!(status.iter().all(|status| *status == wanted));
            assert!(next.iter().all(|step| if stopped { *step == 0.0 } else { *step > 1e-4 }));
            assert!(end.iter().all(|y| (*y == -1.0) == stopped));
            assert!(saved.iter().all(|y| y.is_nan() == stopped && *y != -1.0));
            let (time, reached) = if stopped { (0.0, 0) } else { (0.1, 1) };
            assert!(t == [time; SYSTEMS] && n_saved == [reached; SYSTEMS]);
            assert!(stats.iter().all(|stats| (*stats == Stats::default()) == stopped));
        }
    }
}

#[test]
fn rooms_for_saved_states_that_do_not_fit_are_refused() {
    let says = |error: odeum_ode::Error, word: &str| {
        assert!(error.to_string().contains(word), "{error}");
    };
    let mut values = vec![0.0; 24];
    // Two times, three systems, four components.
    for (shape, strides) in
        [([2, 3, 4], [12, 4, 2]), ([2, 3, 4], [13, 4, 1]), ([2, 3, 4], [8, 4, 1])]
    {
        says(SavedMut::strided(&mut values, shape, strides).unwrap_err(), "strides");
    }
    let outputs = |shape: [usize; 3], counts: usize| {
        let mut values = vec![0.0; 24];
        let (mut end, mut t) = ([0.0; 12], [0.0; 3]);
        let (mut status, mut stats) = ([Status::NotRun; 3], [Stats::default(); 3]);
        let states = ArrayMut::component_major(&mut end, 4)?;
        let strides = [shape[1] * shape[2], shape[2], 1];
        let saved = SavedMut::strided(&mut values, shape, strides)?;
        let mut n_saved = vec![0; counts];
        Outputs::new(states, &mut t, &mut status, &mut stats)?
            .with_saved(saved, &mut n_saved)
            .map(drop)
    };
    assert!(outputs([2, 3, 4], 3).is_ok());
    says(outputs([2, 4, 3], 3).unwrap_err(), "saved");
    says(outputs([2, 3, 4], 2).unwrap_err(), "n_saved");
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let (states, _) = data();
    let array = ArrayRef::component_major(&states, 3).unwrap();
    let inputs = Inputs::new(array, (0.0, 1.0)).unwrap();
    let says = |error: odeum_ode::Error, word: &str| {
        assert!(error.to_string().contains(word), "{error}");
    };
    says(inputs.with_first_steps(&[1.0]).unwrap_err(), "first_steps");
    says(inputs.with_first_steps(&[-1.0; SYSTEMS]).unwrap_err(), "positive");
    says(inputs.with_spans(&[(0.0, 1.0)]).unwrap_err(), "spans");
    says(inputs.with_params(ArrayRef::system_major(&[1.0], 1).unwrap()).unwrap_err(), "params");
    says(inputs.with_shared_params(&[f64::NAN]).unwrap_err(), "finite");
    let nan = [f64::NAN];
    says(Inputs::new(ArrayRef::system_major(&nan, 1).unwrap(), (0.0, 1.0)).unwrap_err(), "finite");

    let inputs = inputs.with_shared_params(&[10.0, 28.0, 8.0 / 3.0]).unwrap();
    let options = Options::new(Tolerance::new(1e-6, 1e-6));
    let (mut end, mut t) = (vec![0.0; 3 * SYSTEMS], vec![0.0; SYSTEMS]);
    let (mut status, mut stats) = (vec![Status::NotRun; SYSTEMS], vec![Stats::default(); SYSTEMS]);
    {
        let states = ArrayMut::component_major(&mut end, 3).unwrap();
        let short = Outputs::new(states, &mut t[1..], &mut status, &mut stats);
        says(short.unwrap_err(), "t");
    }
    let into = |end: &mut [f64], dim: usize, options: &Options| {
        let (mut t, mut status) = (vec![0.0; SYSTEMS], vec![Status::NotRun; SYSTEMS]);
        let mut stats = vec![Stats::default(); SYSTEMS];
        let states = ArrayMut::component_major(end, dim).unwrap();
        let outputs = Outputs::new(states, &mut t, &mut status, &mut stats).unwrap();
        let lorenz = DynSystem::from(&problems::find("lorenz").unwrap());
        let solver = Solver::new(lorenz, &Method::tsit5(), &Device::cpu(), options).unwrap();
        solver.solve_into(&inputs, outputs, &Monitor::new())
    };
    says(into(&mut end[..2 * SYSTEMS], 2, &options).unwrap_err(), "outputs");
    let saves = options.clone().save_at(vec![0.5]);
    says(into(&mut end, 3, &saves).unwrap_err(), "saved");
    assert!(into(&mut end, 3, &options).is_ok());
}

#[test]
fn more_numbers_than_there_can_be_are_refused() {
    let one = [1.0_f64];
    for [systems, components] in [[1 << 40, 1 << 40], [usize::MAX, 2], [3, usize::MAX]] {
        let error = ArrayRef::strided(&one, [systems, components], [0, 0]).unwrap_err();
        let field = format!("shape: found {systems} systems of {components} components");
        assert!(error.to_string().contains(&field), "{error}");
    }
    // One number for all of them is looked at once.
    let many = ArrayRef::strided(&one, [1 << 60, 1], [0, 1]).unwrap();
    assert_eq!(Inputs::new(many, (0.0, 1.0)).unwrap().len(), 1 << 60);
    let many = ArrayRef::strided(&[f64::NAN], [1 << 60, 1], [0, 1]).unwrap();
    let error = Inputs::new(many, (0.0, 1.0)).unwrap_err().to_string();
    assert!(error.contains("states[0][0]: found NaN"), "{error}");
    for count in [usize::MAX, usize::MAX / 2, 1 << 59] {
        let error = Ensemble::repeated(&[1.0, 0.0, 0.0], count, (0.0, 1.0)).unwrap_err();
        assert!(error.to_string().contains(&format!("count: found {count}")), "{error}");
    }
}

#[test]
fn ranges_without_systems_are_refused() {
    let ensemble = Ensemble::repeated(&[1.0, 0.0, 0.0], 5, (0.0, 1.0)).unwrap();
    for range in [2..2, 4..6, 9..9, 5..7] {
        let error = ensemble.slice(range.clone()).unwrap_err().to_string();
        let found = format!("range: found {}..{}", range.start, range.end);
        assert!(error.contains(&found) && error.contains("0..5"), "{error}");
    }
    assert_eq!(ensemble.slice(0..5).unwrap(), ensemble);
}

#[test]
fn steps_that_single_precision_makes_zero_are_refused() {
    fn solved<T: Compiled>(method: &Method, options: &Options) -> Result<(), String> {
        let one = T::from_f64(1.0);
        let ensemble = Ensemble::repeated(&[one; 3], 2, (0.0, 1e-3)).unwrap();
        let ensemble = ensemble.with_shared_params(vec![one; 3]).unwrap();
        let lorenz = DynSystem::from(&problems::find("lorenz").unwrap());
        let solver = Solver::new(lorenz, method, &Device::cpu(), options).unwrap();
        let said = |error: odeum_ode::Error| error.to_string();
        let session = solver.session(&ensemble);
        let into_session = session.and_then(|mut session| session.advance((0.0, 1e-3)).map(drop));
        assert_eq!(into_session.map_err(said), solver.solve(&ensemble).map(drop).map_err(said));
        solver.solve(&ensemble).map(drop).map_err(said)
    }
    let options = Options::new(Tolerance::new(1e-4, 1e-6)).max_steps(9);
    for method in [Method::tsit5(), Method::rkc(), Method::rodas5p(), Method::radau()] {
        let fixed = method.clone().with_controller(Controller::fixed(1e-60));
        for (method, options, field) in [
            (&fixed, options.clone(), "controller.step"),
            (&method, options.clone().first_step(FirstStep::Size(1e-60)), "first_step"),
            (&method, options.clone().first_step(FirstStep::Fraction(1e-60)), "fraction"),
            (&method, options.clone().largest_step(1e-60), "largest_step"),
        ] {
            assert_eq!(solved::<f64>(method, &options), Ok(()));
            let error = solved::<f32>(method, &options).unwrap_err();
            assert!(error.contains(field) && error.contains("found 1e-60"), "{error}");
        }
    }
}

#[test]
fn fixed_steps_are_not_cut_unasked() {
    let lorenz = DynSystem::from(&problems::find("lorenz").unwrap());
    let method = Method::tsit5().with_controller(Controller::fixed(0.5));
    let options = |largest| Options::new(Tolerance::new(1e-6, 1e-6)).largest_step(largest);
    let solver = |largest| Solver::new(&lorenz, &method, &Device::cpu(), &options(largest));
    let ensemble = Ensemble::repeated(&[1.0, 0.0, 0.0], 2, (0.0, 0.5)).unwrap();
    let ensemble = ensemble.with_shared_params(vec![10.0, 28.0, 8.0 / 3.0]).unwrap();
    let later = solver(0.5).unwrap().with_options(options(0.01)).solve(&ensemble);
    for refused in [solver(0.01).map(drop), later.map(drop)] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("largest_step") && error.contains("size 0.5"), "{error}");
    }
}

#[test]
fn iterations_without_number_are_refused() {
    let lorenz = DynSystem::from(&problems::find("lorenz").unwrap());
    let options = Options::new(Tolerance::new(1e-6, 1e-6));
    for (max_iterations, is_taken) in [(1, false), (2, true), (1000, true), (u32::MAX, false)] {
        let method = Method::Radau(Radau { max_iterations, ..Radau::default() });
        let solver = Solver::new(&lorenz, &method, &Device::cpu(), &options);
        assert_eq!(solver.is_ok(), is_taken, "{max_iterations}");
    }
}
