//! What every method must do on every backend in every precision.

use crate::host;
use crate::systems::{Copies, Fate, Fates, Smooth, Wakes};
use odeum_core::Tape;
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::method::exponential::Action;
use odeum_ode::{
    Compiled, Controller, Device, DynSystem, Ensemble, FirstStep, Method, Monitor, Options,
    Solution, Solver, Status, System, Tolerance, solve,
};

/// A precision, and whether methods are compiled for the suite's systems in it.
pub(crate) trait Precision: Compiled {
    fn inlined<S: System>(
        _system: &S,
        _ensemble: &Ensemble<Self>,
        _method: &Method,
        _device: &Device,
        _options: &Options,
    ) -> Solution<Self> {
        panic!("methods are compiled for the systems in double precision alone")
    }
}

impl Precision for f64 {
    fn inlined<S: System>(
        system: &S,
        ensemble: &Ensemble<f64>,
        method: &Method,
        device: &Device,
        options: &Options,
    ) -> Solution<f64> {
        solve(system, ensemble, method, device, options).unwrap()
    }
}

impl Precision for f32 {}

/// Whether slow instances run all of a test, which `ODEUM_THOROUGH` asks for.
fn is_thorough() -> bool {
    std::env::var_os("ODEUM_THOROUGH").is_some()
}

/// One instance of the suite.
pub(crate) struct Subject {
    pub(crate) method: Method,
    pub(crate) place: Place,
}

/// Where an instance of the suite runs.
pub(crate) enum Place {
    /// A device of the library.
    Device(Device),
    /// A device of the library, by methods that are compiled for the system (in double precision).
    Inlined(Device),
    /// The driver and the kernels of GPUs on the host device, with a thread for each system.
    Host,
    /// The same with so many threads for each system.
    Groups(usize),
    /// The same with several lanes of a warp for each system, which is several copies of what the suite has.
    Lanes,
}

impl Place {
    /// The host device, and threads for each system at least.
    fn on_host(&self) -> Option<usize> {
        match self {
            Place::Device(_) | Place::Inlined(_) => None,
            Place::Host => Some(1),
            Place::Groups(width) => Some(*width),
            Place::Lanes => Some(1),
        }
    }
}

impl Subject {
    /// On the host device groups of threads are slow, as are Krylov subspaces: there all of a test is for
    /// `ODEUM_THOROUGH`.
    pub(crate) fn is_short(&self) -> bool {
        let slow = match self.place {
            Place::Groups(_) | Place::Lanes => true,
            Place::Host => self.is_krylov(),
            Place::Device(_) | Place::Inlined(_) => false,
        };
        slow && !is_thorough()
    }

    fn is_krylov(&self) -> bool {
        matches!(&self.method, Method::Exponential(e) if e.action != Action::Resolvent)
    }

    /// Poles are approached at tolerances of ten to minus these. Beyond the last one single precision has no
    /// tighter: runs would be the same again. By Krylov subspaces tight ones are slow everywhere.
    pub(crate) fn digits<T: Precision>(&self) -> Vec<i32> {
        let short = self.is_short() || self.is_krylov() && !is_thorough();
        let finest = if T::EPSILON > 1e-10 { 6 } else { 12 };
        let finest = if short { 4 } else { finest };
        // Neighbours among the tight ones take the same ways.
        (1..=finest).filter(|e| is_thorough() || ![5, 7, 9, 11].contains(e)).collect()
    }

    /// False where this machine cannot run the instance.
    pub(crate) fn can_run(&self) -> bool {
        self.place.on_host().is_none() || host::is_available()
    }

    fn solve<T: Precision, S: System + Copy + Send + 'static>(
        &self,
        system: S,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
    ) -> Solution<T> {
        match &self.place {
            Place::Inlined(device) => T::inlined(&system, ensemble, method, device, options),
            Place::Device(device) => {
                erased(DynSystem::new(system), ensemble, method, device, options)
            }
            Place::Host | Place::Groups(_) | Place::Lanes => {
                self.on_host(&system, ensemble, method, options)
            }
        }
    }

    /// Integrates from the tape.
    pub(crate) fn solve_recorded<T: Precision>(
        &self,
        system: &impl System,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
    ) -> Solution<T> {
        match &self.place {
            Place::Device(device) | Place::Inlined(device) => {
                erased(Tape::trace(system).into(), ensemble, method, device, options)
            }
            Place::Host | Place::Groups(_) | Place::Lanes => {
                self.on_host(system, ensemble, method, options)
            }
        }
    }

    fn on_host<T: Precision>(
        &self,
        system: &impl System,
        ensemble: &Ensemble<T>,
        method: &Method,
        options: &Options,
    ) -> Solution<T> {
        let width = self.place.on_host().unwrap_or(1);
        let (device, monitor) = (host::setup().device(), Monitor::new());
        let devices = Devices::new(vec![device.clone()]).threads_at_least(width);
        if !matches!(self.place, Place::Lanes) {
            let devices = devices.lanes_up_to(0);
            return devices.solve(system, ensemble, method, options, &monitor).unwrap();
        }
        let (devices, copies) = (devices.lanes_up_to(usize::MAX), Copies(system));
        let ensemble = copies.ensemble(ensemble);
        let solution = devices.solve(&copies, &ensemble, method, options, &monitor).unwrap();
        // Lanes look for no terminal events.
        let kernel = if options.terminal_event.is_some() { "od_erk" } else { "od_erk_lanes" };
        assert!(device.launched().iter().all(|launched| launched == kernel));
        copies.first(solution)
    }

    fn smooth<T: Precision>(
        &self,
        method: &Method,
        span: (f64, f64),
        options: &Options,
    ) -> [f64; 2] {
        let start: Vec<T> = Smooth::exact(span.0).map(T::from_f64).to_vec();
        let ensemble = Ensemble::new(2, start, span).unwrap();
        let solution = self.solve(Smooth, &ensemble, method, options);
        assert!(solution.all_succeeded(), "{:?}", solution.status);
        assert_eq!(solution.t[0], T::from_f64(span.1).to_f64());
        [0, 1].map(|i| solution.y(0)[i].to_f64())
    }

    fn error<T: Precision>(&self, method: &Method, span: (f64, f64), options: &Options) -> f64 {
        let (found, exact) = (self.smooth::<T>(method, span, options), Smooth::exact(span.1));
        (0..2).map(|i| ((found[i] - exact[i]) / exact[i]).abs()).fold(0.0, f64::max)
    }

    fn fates<T: Precision>(&self, fates: &[Fate], options: &Options) -> Solution<T> {
        let count = fates.len();
        let mut states = vec![T::from_f64(1.0); count];
        states.extend(vec![T::from_f64(0.5); count]);
        let mut params: Vec<T> = fates.iter().map(|f| T::from_f64(f.param())).collect();
        params.extend((0..count).map(|s| T::from_f64(1.0 + (s % 7) as f64 / 3.0)));
        let ensemble = Ensemble::new(2, states, (0.0, 1.0)).unwrap().with_params(params).unwrap();
        self.solve(Fates, &ensemble, &self.method, options)
    }
}

fn erased<T: Precision>(
    system: DynSystem,
    ensemble: &Ensemble<T>,
    method: &Method,
    device: &Device,
    options: &Options,
) -> Solution<T> {
    Solver::new(system, method, device, options).unwrap().solve(ensemble).unwrap()
}

/// By the driver and the kernels of GPUs, with a thread for each system.
fn options<T: Precision>() -> Options {
    // RKC is of order 2: at 1e-6 it takes thousands of steps where the others take tens.
    let rtol = 1e-5_f64.max(40.0 * T::EPSILON);
    Options::new(Tolerance::new(rtol, rtol)).max_steps(2000)
}

/// R6: the observed order of fixed steps is the stated one within 0.2.
pub(crate) fn has_its_order(subject: &Subject) {
    let order = subject.method.order();
    let implicit = subject.method.jacobian_source().is_some();
    // Over a longer span the leading terms of some Rosenbrock methods cancel here.
    let span = (0.0, if implicit { 1.0 } else { 5.0 });
    // Small enough for the leading term to rule, errors still well above rounding.
    let steps = match order {
        7.. => [32, 64],
        5..7 if implicit => [32, 64],
        3..5 if implicit => [64, 128],
        5..7 => [256, 512],
        _ => [320, 640],
    };
    let errors = steps.map(|count| {
        let fixed = Controller::fixed(span.1 / f64::from(count));
        let method = subject.method.clone().with_controller(fixed);
        // The tolerance of fixed steps is that of Newton's iteration.
        let tight = Options::new(Tolerance::new(1e-12, 1e-12));
        subject.error::<f64>(&method, span, &tight)
    });
    let observed = (errors[0] / errors[1]).log2();
    assert!((observed - f64::from(order)).abs() < 0.2, "order {observed:.2} from {errors:?}");
}

/// R7: the error follows the tolerance. With a solution of order p and an error estimate of order
/// q the step is h ~ tol^(1/(q+1)), hence the global error tol^(p/(q+1)): slope 1 for pairs with
/// local extrapolation, 2/3 for RKC.
pub(crate) fn error_follows_tolerance<T: Precision>(subject: &Subject) {
    let (p, q) = (subject.method.order(), subject.method.error_order());
    let expected = f64::from(p) / f64::from(q + 1);
    let double = T::EPSILON < 1e-10;
    let finest = if double { if p > 2 { -10 } else { -8 } } else { -5 };
    let exponents: Vec<i32> = (finest..=-3).rev().collect();
    let digits: Vec<f64> = exponents
        .iter()
        .map(|&e| {
            let tol = 10f64.powi(e);
            let options = Options::new(Tolerance::new(tol, tol));
            -subject.error::<T>(&subject.method, (0.0, 3.0), &options).max(T::EPSILON).log10()
        })
        .collect();
    for (pair, e) in digits.windows(2).zip(&exponents) {
        assert!(pair[1] > pair[0] - 1.0, "digits fall from {pair:?} after 1e{e}");
    }
    let last = digits[digits.len() - 1];
    let slope = (last - digits[0]) / f64::from(exponents[0] - finest);
    if double {
        assert!((slope - expected).abs() < 0.3, "slope {slope:.2}, not {expected:.2}: {digits:?}");
    }
    assert!(last > -expected * f64::from(finest) - 1.5, "{last:.1} digits at 1e{finest}");
}

/// R1, R3, R4, R5: every fate has its status, no NaN is given as an answer, nothing hangs.
pub(crate) fn every_fate_has_its_status<T: Precision>(subject: &Subject) {
    let solution = subject.fates::<T>(&Fate::ALL, &options::<T>().max_steps(1000));
    for (s, fate) in Fate::ALL.into_iter().enumerate() {
        let status = solution.status[s];
        let good: &[Status] = match fate {
            Fate::Decays => &[Status::Success],
            Fate::TurnsNan | Fate::IsNan => &[Status::NonFinite],
            Fate::BlowsUp => &[
                Status::NonFinite,
                Status::StepTooSmall,
                Status::MaxSteps,
                Status::SpectralRadius,
                Status::NewtonDiverged,
                Status::SingularMatrix,
            ],
            Fate::Spins => &[Status::MaxSteps],
        };
        assert!(good.contains(&status), "{fate:?} ended with {status}");
        assert!(solution.y(s).iter().all(|y| y.is_finite()), "{fate:?}: {:?}", solution.y(s));
        let t = solution.t[s];
        match fate {
            Fate::Decays => assert_eq!(t, 1.0),
            Fate::TurnsNan | Fate::BlowsUp => assert!((0.4..=0.51).contains(&t), "{fate:?} at {t}"),
            Fate::Spins => assert!(t > 0.0 && t < 1.0),
            Fate::IsNan => assert_eq!(t, 0.0),
        }
        let stats = solution.stats[s];
        assert!(stats.attempts() <= 1000 && stats.nfev > 0, "{fate:?}: {stats:?}");
        assert!(stats.nfev >= stats.nfev_radius);
    }
    assert_eq!(solution.failed().len(), Fate::ALL.len() - 1);
}

/// R2: the same bits alone and in a crowd, in any place, in ensembles of any size.
pub(crate) fn neighbours_do_not_matter<T: Precision>(subject: &Subject) {
    // Rates repeat every seven systems, so a shift by a multiple of seven keeps the data.
    let all = [(0, 1), (7, 1), (14, 31), (35, 32), (7, 33), (28, 90)];
    let (size, parts) = if subject.is_short() { (21, &all[..2]) } else { (133, &all[..]) };
    let crowd: Vec<Fate> = (0..size).map(|s| Fate::ALL[s * s % 5]).collect();
    let options = options::<T>().max_steps(300).save_at(vec![0.25, 0.5]).segments(2);
    let together = subject.fates::<T>(&crowd, &options);
    let same = |a: &Solution<T>, i: usize, b: &Solution<T>, j: usize, what: &str| {
        let bits = |y: &[T]| -> Vec<u64> { y.iter().map(|y| y.to_f64().to_bits()).collect() };
        assert_eq!(bits(&a.y(i)), bits(&b.y(j)), "{what}: state of {i}");
        assert_eq!((a.status[i], a.stats[i]), (b.status[j], b.stats[j]), "{what}: cost of {i}");
        assert_eq!(a.n_saved[i], b.n_saved[j], "{what}: saved of {i}");
        for k in 0..a.n_saved[i] as usize {
            let saved = [a.y_at(k, i).unwrap(), b.y_at(k, j).unwrap()];
            assert_eq!(bits(&saved[0]), bits(&saved[1]), "{what}: saved state of {i}");
        }
    };
    for &(first, count) in parts {
        let part = subject.fates::<T>(&crowd[first..first + count], &options);
        for s in 0..count {
            same(&together, first + s, &part, s, &format!("{count} systems from {first}"));
        }
    }
    let healthy: Vec<Fate> = crowd.iter().map(|_| Fate::Decays).collect();
    let without = subject.fates::<T>(&healthy, &options);
    for s in (0..crowd.len()).filter(|&s| crowd[s] == Fate::Decays) {
        same(&together, s, &without, s, "without failing neighbours");
    }
}

/// Backward integration comes back to where it began.
pub(crate) fn goes_backward<T: Precision>(subject: &Subject) {
    let error = subject.error::<T>(&subject.method, (2.0, 0.0), &options::<T>());
    assert!(error < 2e-3, "{error:e}");
}

/// Saved states have the accuracy of the solution, and the end is unchanged where no step is cut.
pub(crate) fn saves_at_times<T: Precision>(subject: &Subject) {
    let times = vec![0.0, 0.1, 0.7, 1.3, 2.0];
    let start: Vec<T> = Smooth::exact(0.0).map(T::from_f64).to_vec();
    let ensemble = Ensemble::repeated(&start, 3, (0.0, 2.0)).unwrap();
    let with = options::<T>().save_at(times.clone());
    let solution = subject.solve(Smooth, &ensemble, &subject.method, &with);
    for s in 0..3 {
        assert_eq!(solution.n_saved[s] as usize, times.len());
        for (k, &t) in times.iter().enumerate() {
            let (found, exact) = (solution.y_at(k, s).unwrap(), Smooth::exact(t));
            for i in 0..2 {
                let error = (found[i].to_f64() - exact[i]).abs();
                assert!(error < 2e-3 * exact[i], "{error:e} at {t}");
            }
        }
        assert_eq!(solution.y_at(times.len() - 1, s).unwrap(), solution.y(s));
    }
}

/// A run with segments is, to the bit, the chain of runs over the segments.
pub(crate) fn segments_are_cold_starts<T: Precision>(subject: &Subject) {
    let mut state: Vec<T> = Smooth::exact(0.0).map(T::from_f64).to_vec();
    let options = options::<T>().first_step(FirstStep::Fraction(0.5));
    let ensemble = Ensemble::new(2, state.clone(), (0.0, 2.0)).unwrap();
    let run = |ensemble: &Ensemble<T>, options: &Options| {
        subject.solve(Smooth, ensemble, &subject.method, options)
    };
    let at_once = run(&ensemble, &options.clone().segments(4));
    let mut steps = 0;
    for piece in 0..4 {
        let span = (0.5 * f64::from(piece), 0.5 * f64::from(piece + 1));
        let solution = run(&Ensemble::new(2, state, span).unwrap(), &options);
        steps += solution.stats[0].steps;
        state = solution.y(0);
    }
    assert_eq!(at_once.y(0), state);
    assert_eq!(at_once.stats[0].steps, steps);
    let cautious = options.segments(4).first_step(FirstStep::Size(1e-5));
    let (cold, warm) = (run(&ensemble, &cautious), run(&ensemble, &cautious.clone().warm_start()));
    assert!(warm.all_succeeded() && warm.stats[0].steps + 3 <= cold.stats[0].steps);
}

/// A span that is cut in pieces, whose steps are kept, takes about the steps it takes at once; and a system
/// that begins with a kept step does the same beside systems that do not.
pub(crate) fn kept_steps_save_searches<T: Precision>(subject: &Subject) {
    const PIECES: u32 = 8;
    let end = 2.0;
    let cautious = options::<T>().first_step(FirstStep::Size(1e-5));
    let start: Vec<T> = Smooth::exact(0.0).map(T::from_f64).to_vec();
    let run = |state: Vec<T>, span: (f64, f64), steps: Option<Vec<T>>| {
        let ensemble = Ensemble::new(2, state, span).unwrap();
        let ensemble = match steps {
            Some(steps) => ensemble.with_first_steps(steps).unwrap(),
            None => ensemble,
        };
        let solution = subject.solve(Smooth, &ensemble, &subject.method, &cautious);
        assert!(solution.all_succeeded(), "{:?}", solution.status);
        solution
    };
    let at_once = run(start.clone(), (0.0, end), None);
    assert!(at_once.next_steps.is_empty());
    let in_pieces = |keep: bool| {
        let (mut state, mut steps, mut taken) = (start.clone(), vec![T::from_f64(0.0)], 0);
        for piece in 0..PIECES {
            let time = |piece: u32| end * f64::from(piece) / f64::from(PIECES);
            let solution =
                run(state, (time(piece), time(piece + 1)), keep.then_some(steps.clone()));
            taken += solution.stats[0].attempts();
            state = solution.y(0);
            if keep {
                assert!(solution.next_steps[0] > T::from_f64(1e-5));
                steps = solution.next_steps;
            }
        }
        let error = (state[1].to_f64() - Smooth::exact(end)[1]).abs();
        assert!(error < 2e-3, "{error:e}");
        taken
    };
    let (kept, cold, once) = (in_pieces(true), in_pieces(false), at_once.stats[0].attempts());
    assert!(kept <= once + 2 * PIECES, "{kept} steps in pieces, {once} at once");
    assert!(kept + PIECES <= cold, "{kept} steps that are kept, {cold} that are not");

    let crowd = |step: &dyn Fn(usize) -> f64, count: usize, first: usize| {
        let states: Vec<T> = start.iter().flat_map(|y| vec![*y; count]).collect();
        let steps = (first..first + count).map(|s| T::from_f64(step(s))).collect();
        let ensemble = Ensemble::new(2, states, (0.0, end)).unwrap();
        let ensemble = ensemble.with_first_steps(steps).unwrap();
        subject.solve(Smooth, &ensemble, &subject.method, &options::<T>())
    };
    let step = |s: usize| [0.0, 1e-3, 0.0, 0.25, 10.0][s % 5];
    let together = crowd(&step, 40, 0);
    for s in [0, 1, 2, 3, 4, 37] {
        let alone = crowd(&step, 1, s);
        assert_eq!(together.y(s), alone.y(0), "system {s}");
        assert_eq!(together.stats[s], alone.stats[0], "system {s}");
        assert_eq!(together.next_steps[s], alone.next_steps[0], "system {s}");
    }
}

/// A component that is zero where the absolute tolerance is next to nothing asks for a first step below any number, or
/// below the roundings of the time.
pub(crate) fn first_steps_move_the_time<T: Precision>(subject: &Subject) {
    // The iterations of these are judged by the state before the step.
    let iterates = matches!(subject.method, Method::Radau(_) | Method::Exponential(_));
    let least = match (T::EPSILON < 1e-10, iterates) {
        (true, false) => 1e-160,
        (true, true) => 1e-20,
        (false, false) => 1e-24,
        (false, true) => 1e-9,
    };
    let spans: Vec<(f64, f64)> =
        [0.0, 1.0, -64.0, 1024.0].map(|start| (start, start + 1.0)).to_vec();
    let start = [1.0, 0.0].map(T::from_f64);
    for atol in [least, 1e-6] {
        let ensemble = Ensemble::repeated(&start, spans.len(), (0.0, 1.0)).unwrap();
        let ensemble = ensemble.with_spans(spans.clone()).unwrap();
        let options = Options::new(Tolerance::new(1e-4, atol));
        let solution = subject.solve(Wakes, &ensemble, &subject.method, &options);
        assert!(solution.all_succeeded(), "atol {atol:e}: {:?}", solution.status);
        for s in 0..spans.len() {
            let error = solution.y(s)[1].to_f64() + (-1.0_f64).exp_m1();
            assert!(error.abs() < 2e-3, "{error:e} at atol {atol:e} from {:?}", spans[s]);
        }
    }
}

/// Each system may have its own span and parameters.
pub(crate) fn spans_and_parameters_are_per_system<T: Precision>(subject: &Subject) {
    let spans: Vec<(f64, f64)> = (0..40).map(|s| (0.0, 0.1 + 0.05 * f64::from(s))).collect();
    let start: Vec<T> = Smooth::exact(0.0).map(T::from_f64).to_vec();
    let ensemble =
        Ensemble::repeated(&start, 40, (0.0, 1.0)).unwrap().with_spans(spans.clone()).unwrap();
    let solution = subject.solve(Smooth, &ensemble, &subject.method, &options::<T>());
    for (s, (_, end)) in spans.into_iter().enumerate() {
        let exact = Smooth::exact(end);
        assert_eq!(solution.t[s], T::from_f64(end).to_f64());
        assert!((solution.y(s)[1].to_f64() - exact[1]).abs() < 2e-3);
    }
}
