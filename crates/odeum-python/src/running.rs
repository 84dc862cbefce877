//! A simulation of a field in either precision.

use odeum_case::field_npz::{self, End};
use odeum_case::{FieldCase, FieldPlan, Prepared};
use odeum_core::Error;
use odeum_fields::{
    Checkpoint, Clock, Counts, Field, Options, Outcome, Precision, Simulation, Snapshot, Steps,
    Summary,
};
use odeum_io::cells::Numbers;
use odeum_io::file::write_whole;
use odeum_io::zarr::Zarr;
use odeum_io::{Finding, vti};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Time between two looks at the signals, where steps are shorter.
const PACE: Duration = Duration::from_millis(30);

/// What other threads say and see while a simulation goes on.
#[derive(Default)]
pub(crate) struct Signals {
    stop: AtomicBool,
    t: AtomicU64,
}

impl Signals {
    /// Ends what goes on, after the step being taken.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The time reached.
    pub(crate) fn t(&self) -> f64 {
        f64::from_bits(self.t.load(Ordering::Relaxed))
    }

    fn reached(&self, t: f64) {
        self.t.store(t.to_bits(), Ordering::Relaxed);
    }
}

/// Why there is no simulation, or no file.
pub(crate) enum Trouble {
    /// What the case says cannot be done.
    Case(Finding),
    /// What the library refuses, or could not do.
    Library(Error),
}

impl From<Finding> for Trouble {
    fn from(finding: Finding) -> Trouble {
        Trouble::Case(finding)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Library(error)
    }
}

/// Limits of the steps: the largest stable step of the method and of forward Euler, the spectral radius, the
/// fastest growth, the largest step that keeps values positive, and what to do.
pub(crate) type Limits = (f64, f64, f64, f64, Option<f64>, Option<String>);

/// A simulation, whatever its precision.
pub(crate) trait Running {
    /// Goes on to a time; steps are judged for all times up to `horizon`, where there is one. Where this is no call of its own but
    /// `goes_on` from one before, what was said to stop since then ends it.
    fn advance(&mut self, end: f64, horizon: Option<f64>, goes_on: bool) -> Result<Outcome, Error>;
    /// Goes back to the last state that steps were stable for.
    fn go_back(&mut self) -> Result<(), Error>;
    /// What was done, and in what time \[s\].
    fn counts(&self) -> (Counts, f64);
    /// The values of a species [nz × ny × nx], x fastest.
    fn values(&self, species: usize) -> Result<Numbers, Error>;
    /// The values of all species in some cells [cells × S].
    fn pick(&self, cells: &[[usize; 3]]) -> Result<Vec<f64>, Error>;
    /// What sums up each species, and its mass at the start.
    fn summaries(&self) -> Result<(Vec<Summary>, Vec<f64>), Error>;
    /// Limits of the steps over times up to `until`, or as far as they were judged for.
    fn limits(&self, until: Option<f64>) -> Result<Limits, Error>;
    /// Writes the present state in the format of a name.
    fn save(&self, path: &Path, format: &str, t: f64) -> Result<(), Trouble>;
}

/// Makes the simulation of a case, and tells what is hardly meant.
pub(crate) fn make(
    case: Arc<FieldCase>,
    signals: Arc<Signals>,
    warnings: &Sender<Finding>,
) -> Result<Box<dyn Running>, Trouble> {
    Ok(match case.precision {
        odeum_case::Precision::F64 => Box::new(Run::<f64>::new(case, signals, warnings)?),
        odeum_case::Precision::F32 => Box::new(Run::<f32>::new(case, signals, warnings)?),
    })
}

/// Numbers that have a case of [`Numbers`].
trait Real: Precision {
    fn numbers(all: Vec<Self>) -> Numbers;
}

impl Real for f64 {
    fn numbers(all: Vec<f64>) -> Numbers {
        Numbers::Double(all)
    }
}

impl Real for f32 {
    fn numbers(all: Vec<f32>) -> Numbers {
        Numbers::Single(all)
    }
}

fn stop_when_signalled<T: Precision>(simulation: &mut Simulation<T>, signals: &Arc<Signals>) {
    let signals = Arc::clone(signals);
    simulation.stop_when(move || signals.stop.load(Ordering::Relaxed));
}

struct Run<T: Precision> {
    case: Arc<FieldCase>,
    signals: Arc<Signals>,
    options: Options,
    simulation: Simulation<T>,
    /// The last state whose steps were judged, where they may become unstable: that at the beginning of a call, or of one before.
    stable: Option<Kept<T>>,
    /// Whether a call was left on its way, so that steps were taken since the last judgement.
    is_left: bool,
    /// Up to when steps are judged \[time\].
    judged: f64,
    /// Masses at the start.
    masses: Vec<f64>,
    elapsed: Duration,
}

impl<T: Real> Run<T> {
    fn new(
        case: Arc<FieldCase>,
        signals: Arc<Signals>,
        warnings: &Sender<Finding>,
    ) -> Result<Run<T>, Trouble> {
        let plan = FieldPlan { case: &case, device: case.device.clone() };
        plan.check_gpu()?;
        let Prepared { field, options, warnings: own, .. } = plan.prepare::<T>()?;
        for warning in own {
            // Who makes a simulation hears them, or has gone.
            let _ = warnings.send(warning);
        }
        let start = case.time.start;
        let mut simulation = Simulation::new(&case.problem, field, start, &options, &plan.device)?;
        stop_when_signalled(&mut simulation, &signals);
        signals.reached(start);
        let masses = simulation.summaries()?.iter().map(|summary| summary.mass).collect();
        Ok(Run {
            case,
            signals,
            options,
            simulation,
            stable: None,
            is_left: false,
            judged: f64::NEG_INFINITY,
            masses,
            elapsed: Duration::ZERO,
        })
    }

    /// Whether steps may become unstable on the way.
    fn is_watched(&self) -> bool {
        !self.options.force && !matches!(self.options.steps, Steps::Adaptive(_))
    }

    /// Keeps the present state: steps are judged at the end of every call that is not left on its way, so that it is one they
    /// were stable for.
    fn keep(&mut self) -> Result<(), Error> {
        if self.is_left && self.stable.is_some() {
            return Ok(());
        }
        let before = self.stable.take();
        if !self.is_watched() {
            return Ok(());
        }
        let clock = self.simulation.clock_to_keep()?.unwrap_or_else(|| self.simulation.clock());
        self.stable = Some(match self.simulation.in_memory() {
            Some(now) => {
                let mut copy = match before {
                    Some(Kept::InMemory(_, copy)) => copy,
                    _ => Field::zeros(&self.case.problem.grid, now.species())?,
                };
                copy.fill_rows(|(s, y, z), row| row.copy_from_slice(now.row(s, y, z)));
                Kept::InMemory(clock, copy)
            }
            None => {
                // Its memory on the GPU is that of the next.
                drop(before);
                Kept::Elsewhere(clock, self.simulation.snapshot()?)
            }
        });
        Ok(())
    }
}

/// A copy of a state.
enum Kept<T> {
    InMemory(Clock, Field<T>),
    /// On a GPU.
    Elsewhere(Clock, Snapshot<T>),
}

impl<T: Real> Running for Run<T> {
    fn advance(&mut self, end: f64, horizon: Option<f64>, goes_on: bool) -> Result<Outcome, Error> {
        let begun = Instant::now();
        if goes_on && self.signals.stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Stopped);
        }
        self.signals.stop.store(false, Ordering::Relaxed);
        if let Some(until) = horizon {
            self.simulation.judge_to(until)?;
            self.judged = self.judged.max(until);
        }
        self.keep()?;
        self.is_left = true;
        let signals = &self.signals;
        let (mut last, mut looked, mut pace) =
            (self.simulation.counts().steps, Instant::now(), 1_u64);
        let outcome = self.simulation.run(end, &mut |simulation| {
            let steps = simulation.counts().steps;
            let part = PACE.as_secs_f64() / looked.elapsed().as_secs_f64().max(1e-9);
            if steps != last {
                pace = ((steps.saturating_sub(last) as f64 * part) as u64).clamp(1, 4 * pace);
                (last, looked) = (steps, Instant::now());
            }
            signals.reached(simulation.t());
            match signals.stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(pace),
            }
        });
        self.signals.reached(self.simulation.t());
        self.elapsed += begun.elapsed();
        self.is_left = !matches!(outcome, Ok(Outcome::Reached));
        outcome
    }

    fn go_back(&mut self) -> Result<(), Error> {
        let stable = match self.stable.take() {
            None => return Ok(()),
            Some(Kept::InMemory(clock, field)) => Checkpoint { field, clock },
            Some(Kept::Elsewhere(clock, copy)) => Checkpoint { field: copy.field()?, clock },
        };
        let (problem, device) = (&self.case.problem, &self.case.device);
        self.simulation = Simulation::resume(problem, stable, &self.options, device)?;
        self.is_left = false;
        stop_when_signalled(&mut self.simulation, &self.signals);
        self.signals.reached(self.simulation.t());
        Ok(())
    }

    fn counts(&self) -> (Counts, f64) {
        (self.simulation.counts(), self.elapsed.as_secs_f64())
    }

    fn values(&self, species: usize) -> Result<Numbers, Error> {
        let mut all = Vec::with_capacity(self.case.problem.grid.cells());
        self.simulation.values(species, &mut |part| all.extend_from_slice(part))?;
        Ok(T::numbers(all))
    }

    fn pick(&self, cells: &[[usize; 3]]) -> Result<Vec<f64>, Error> {
        Ok(self.simulation.pick(cells)?.into_iter().map(|value| value.to_f64()).collect())
    }

    fn summaries(&self) -> Result<(Vec<Summary>, Vec<f64>), Error> {
        Ok((self.simulation.summaries()?, self.masses.clone()))
    }

    fn limits(&self, until: Option<f64>) -> Result<Limits, Error> {
        let (t, method) = (self.simulation.t(), self.options.method);
        let until = until.unwrap_or(self.judged).max(t.next_up());
        let limits = self.simulation.limits_to(until)?;
        let largest = limits.largest_step(method);
        let remedy = limits.remedy(method).or_else(|| limits.oscillation_warning(method, largest));
        Ok((largest, limits.euler, limits.radius, limits.growth, limits.positive, remedy))
    }

    fn save(&self, path: &Path, format: &str, t: f64) -> Result<(), Trouble> {
        let problem = &self.case.problem;
        let names = problem.model.species();
        let threads = odeum_case::device::threads_of(&self.case.device);
        match format {
            "npz" => {
                let summaries = self.simulation.summaries()?;
                let steps = self.simulation.counts().steps;
                let end =
                    End { t, steps, start: &self.masses, end: &summaries, files: &[], last: None };
                field_npz::stage(path, None, threads, &self.case, &self.simulation, end)?.put()?;
            }
            "vti" => {
                let field = self.simulation.field()?;
                let cells = (&problem.grid, problem.mask.as_ref());
                write_whole(path, |file| vti::write(file, cells, names, &field))?;
            }
            _ => {
                let field = self.simulation.field()?;
                let cells = (problem.grid, problem.mask.clone());
                let (path, names) = (path.to_owned(), names.to_vec());
                Zarr::new(path, cells, names, Vec::new(), threads).append(t, &field)?;
            }
        }
        Ok(())
    }
}
