//! Ensembles that stay on their device over many calls.

use crate::host;
use odeum_cuda::host::Host;
use odeum_ode::gpu::{self, inspect::Devices};
use odeum_ode::problems::Robertson;
use odeum_ode::{
    Cuda, Device, DynSystem, Ensemble, Error, FirstStep, Method, Monitor, Options, Session,
    Solution, Solver, Status, TerminalEvent, Tolerance,
};

const SYSTEMS: usize = 37;
const SPANS: [(f64, f64); 3] = [(0.0, 0.3), (0.3, 4.0), (4.0, 40.0)];

fn options() -> Options {
    Options::new(Tolerance::new(1e-6, 1e-10)).first_step(FirstStep::Size(1e-4))
}

/// Robertson's systems, each a little other than its neighbours.
fn start() -> Ensemble<f64> {
    let problem = Robertson::problem();
    let spread = |values: &[f64]| -> Vec<f64> {
        let of = |value: f64| (0..SYSTEMS).map(move |s| value * (1.0 + 1e-3 * s as f64));
        values.iter().flat_map(|&value| of(value)).collect()
    };
    let ensemble = Ensemble::new(3, spread(&problem.y0), (0.0, 1.0)).unwrap();
    ensemble.with_params(spread(&problem.params)).unwrap()
}

fn solver(options: &Options) -> Solver {
    Solver::new(DynSystem::new(Robertson), &Method::rodas4(), &Device::cpu(), options).unwrap()
}

/// A session on one device or the other.
enum Place {
    Cpu(Session<f64>),
    Gpu(Box<gpu::Session<f64, Host>>),
}

impl Place {
    fn all(ensemble: &Ensemble<f64>, options: &Options) -> Vec<Place> {
        let mut places = vec![Place::Cpu(solver(options).session(ensemble).unwrap())];
        if host::is_available() {
            let devices = Devices::new(vec![host::setup().device()]);
            let session = devices.session(&Robertson, ensemble, &Method::rodas4(), options);
            places.push(Place::Gpu(Box::new(session.unwrap())));
        }
        places
    }

    fn advance(&mut self, span: (f64, f64)) {
        match self {
            Place::Cpu(session) => session.advance(span).map(drop).unwrap(),
            Place::Gpu(session) => session.advance(span).map(drop).unwrap(),
        }
    }

    fn solution(&mut self) -> Solution<f64> {
        match self {
            Place::Cpu(session) => session.solution().unwrap(),
            Place::Gpu(session) => session.solution().unwrap(),
        }
    }

    fn step_sizes(&self) -> Vec<f64> {
        match self {
            Place::Cpu(session) => session.step_sizes().unwrap(),
            Place::Gpu(session) => session.step_sizes().unwrap(),
        }
    }

    /// The same in calls, each of which begins where the one before ended.
    fn call(&self, ensemble: &Ensemble<f64>, options: &Options) -> Solution<f64> {
        match self {
            Place::Cpu(_) => solver(options).solve(ensemble),
            Place::Gpu(_) => {
                let devices = Devices::new(vec![host::setup().device()]);
                devices.solve(&Robertson, ensemble, &Method::rodas4(), options, &Monitor::new())
            }
        }
        .unwrap()
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// The start again, with other states and sizes of steps.
fn onward(states: &[f64], steps: Option<Vec<f64>>, span: (f64, f64)) -> Ensemble<f64> {
    let ensemble = Ensemble::new(3, states.to_vec(), span).unwrap();
    let ensemble = ensemble.with_params(start().params().to_vec()).unwrap();
    match steps {
        Some(steps) => ensemble.with_first_steps(steps).unwrap(),
        None => ensemble,
    }
}

/// Without sizes of steps, with those that come up, and with some that were given.
#[test]
fn a_session_advances_as_calls_do() {
    let given: Vec<f64> = (0..SYSTEMS).map(|s| 1e-5 * s as f64).collect();
    let cold = (None, options());
    let warm = (Some(vec![0.0; SYSTEMS]), options().warm_start());
    for (steps, options) in [cold, warm, (Some(given), options())] {
        // A warm start alone says that steps are kept.
        let begin = steps.clone().filter(|_| !options.warm_start);
        for mut place in Place::all(&onward(start().states(), begin, (0.0, 1.0)), &options) {
            let (mut states, mut steps) = (start().states().to_vec(), steps.clone());
            for span in SPANS {
                place.advance(span);
                let wanted = place.call(&onward(&states, steps.clone(), span), &options);
                let found = place.solution();
                assert!(found.all_succeeded());
                assert_eq!(bits(&found.states), bits(&wanted.states));
                assert_eq!((&found.t, &found.stats), (&wanted.t, &wanted.stats));
                states = wanted.states;
                steps = steps.map(|_| wanted.next_steps);
                let kept = steps.clone().unwrap_or_else(|| vec![0.0; SYSTEMS]);
                assert_eq!(bits(&place.step_sizes()), bits(&kept));
            }
        }
    }
}

#[test]
fn states_and_steps_can_be_replaced() {
    let mut session = solver(&options()).session(&start()).unwrap();
    session.advance(SPANS[0]).unwrap();
    let once = session.states().unwrap();
    session.set_states(start().states()).unwrap();
    session.advance(SPANS[0]).unwrap();
    assert_eq!(bits(&session.states().unwrap()), bits(&once));
    assert!(session.step_sizes().unwrap().iter().all(|&size| size == 0.0));
    // From here on steps are kept.
    session.set_states(start().states()).unwrap();
    session.set_step_sizes(&[1e-3; SYSTEMS]).unwrap();
    session.advance(SPANS[0]).unwrap();
    assert!(session.step_sizes().unwrap().iter().all(|&size| size > 0.0));
    assert_ne!(bits(&session.states().unwrap()), bits(&once));
}

/// What a stopped advance did not end stands where it was, and its next advance goes as if there had been none.
#[test]
fn an_advance_on_the_processor_can_be_stopped() {
    let warm = solver(&options().warm_start());
    let mut wanted = warm.session(&start()).unwrap();
    wanted.advance(SPANS[0]).unwrap();
    let mut session = warm.session(&start()).unwrap();
    let monitor = Monitor::new();
    monitor.stop();
    assert!(!session.advance_monitored(SPANS[0], &monitor).unwrap());
    assert!(session.statuses().unwrap().iter().all(|status| *status == Status::NotRun));
    assert_eq!(bits(&session.states().unwrap()), bits(start().states()));
    assert!(session.step_sizes().unwrap().iter().all(|&size| size == 0.0));
    assert!(session.advance_monitored(SPANS[0], &Monitor::new()).unwrap());
    assert_eq!(bits(&session.states().unwrap()), bits(&wanted.states().unwrap()));
    assert_eq!(bits(&session.step_sizes().unwrap()), bits(&wanted.step_sizes().unwrap()));
    assert_eq!(session.stats().unwrap(), wanted.stats().unwrap());
}

/// A system that fails stands at its last accepted state, and is advanced from there.
#[test]
fn a_system_that_failed_goes_on_from_where_it_stands() {
    for mut place in Place::all(&start(), &options().max_steps(5)) {
        place.advance((0.0, 40.0));
        let first = place.solution();
        assert!(first.status.iter().all(|status| *status == Status::MaxSteps));
        place.advance((0.0, 40.0));
        let wanted = place.call(&onward(&first.states, None, (0.0, 40.0)), &options().max_steps(5));
        assert_eq!(bits(&place.solution().states), bits(&wanted.states));
    }
}

/// As states of an ensemble: those that are no numbers are refused, or are that system's failure alone.
#[test]
fn states_that_are_not_finite_are_refused_unless_the_ensemble_takes_them() {
    let taking = Ensemble::with_invalid_starts(3, start().states().to_vec(), (0.0, 1.0)).unwrap();
    let taking = taking.with_params(start().params().to_vec()).unwrap();
    for (ensemble, takes) in [(start(), false), (taking, true)] {
        for mut place in Place::all(&ensemble, &options()) {
            let mut states = start().states().to_vec();
            states[3] = f64::NAN;
            let set = match &mut place {
                Place::Cpu(session) => session.set_states(&states),
                Place::Gpu(session) => session.set_states(&states),
            };
            let refused = set.map_err(|error| error.to_string()).err();
            let wanted = "states[0][3]: found NaN; must be finite".to_owned();
            assert_eq!(refused, (!takes).then_some(wanted));
            place.advance(SPANS[0]);
            let status = place.solution().status;
            let failed = |&s: &usize| !status[s].is_success();
            let failed: Vec<usize> = (0..SYSTEMS).filter(failed).collect();
            assert_eq!(failed, if takes { vec![3] } else { vec![] });
        }
    }
}

#[test]
fn what_a_session_cannot_use_is_refused() {
    let begin = |options: Options, ensemble: &Ensemble<f64>| {
        solver(&options).session(ensemble).map(drop).map_err(|error| error.to_string())
    };
    let saving = options().save_at(vec![0.5]);
    assert!(begin(saving, &start()).unwrap_err().contains("save_at"));
    let event = TerminalEvent { component: 0, rises: false, levels: vec![0.5] };
    let until = Options { terminal_event: Some(event), ..options() };
    assert!(begin(until, &start()).unwrap_err().contains("terminal_event"));
    let pairs = Ensemble::new(2, vec![1.0; 4], (0.0, 1.0)).unwrap();
    assert!(begin(options(), &pairs).unwrap_err().contains("the system has 3 equations"));

    let two = Device::Cuda(Cuda { ordinals: vec![0, 1] });
    let solver = Solver::new(DynSystem::new(Robertson), &Method::rodas4(), &two, &options());
    let error = solver.unwrap().session(&start()).map(drop).unwrap_err();
    assert!(error.to_string().contains("systems stay on one GPU"), "{error}");

    let refused = |done: Result<(), Error>, word: &str| {
        let error = done.unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    let few = [1.0; SYSTEMS - 1];
    for place in Place::all(&start(), &options()) {
        match place {
            Place::Cpu(mut session) => {
                refused(session.advance((1.0, 1.0)).map(drop), "span");
                refused(session.set_states(&few), "states");
                refused(session.set_step_sizes(&few), "first_steps");
                refused(session.set_step_sizes(&[-1.0; SYSTEMS]), "first_steps");
            }
            Place::Gpu(mut session) => {
                refused(session.advance((1.0, 1.0)).map(drop), "span");
                refused(session.set_states(&few), "states");
                refused(session.set_step_sizes(&few), "first_steps");
                refused(session.set_step_sizes(&[-1.0; SYSTEMS]), "first_steps");
            }
        }
    }
}

/// What made a system fail may have made its steps as small as roundings: they are not those to go on with.
#[test]
fn a_system_that_failed_begins_its_steps_anew() {
    let options = Options { max_steps: 5, ..options().warm_start() };
    for mut place in Place::all(&start(), &options) {
        place.advance((0.0, 1e-4));
        assert!(place.solution().status.iter().all(|status| status.is_success()));
        assert!(place.step_sizes().iter().all(|h| *h > 0.0));
        place.advance((1e-4, 4e3));
        assert!(place.solution().status.iter().all(|status| *status == Status::MaxSteps));
        assert_eq!(place.step_sizes(), vec![0.0; SYSTEMS]);
    }
}
