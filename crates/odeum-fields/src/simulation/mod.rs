//! From one time to another, watched.

pub(crate) mod checkpoint;

mod advance;
mod growth;
mod identity;
mod watch;

use crate::analysis::reduce::{Summary, check_start};
use crate::backend::{Backend, Snapshot};
use crate::cpu::engine::Engine;
use crate::cpu::host::Host;
use crate::cpu::sweep::Precision;
use crate::field::Field;
use crate::gpu;
use crate::problem::Problem;
use crate::simulation::checkpoint::{Checkpoint, Clock, Counts, UNCHANGED};
use crate::simulation::watch::Present;
use crate::tiling::Tiling;
use crate::time::growth_bound::Magnitudes;
use crate::time::method::{Method, Steps};
use crate::time::stability::{Judge, Stability};
use odeum_core::Argument;
use odeum_ode::controller::{Controller, ControllerState};
use odeum_ode::{Device, Error, Status};
use std::borrow::Cow;

/// Options of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The method.
    pub method: Method,
    /// How large steps are.
    pub steps: Steps,
    /// Take steps that are larger than the method is stable for.
    pub force: bool,
    /// Step attempts after which a simulation ends with [`Status::MaxSteps`].
    pub max_steps: u64,
}

impl Options {
    /// Forward Euler with this step \[time\].
    pub fn euler(step: f64) -> Options {
        Options::new(Method::Euler, Steps::Fixed(step))
    }

    /// A method and how large its steps are.
    pub fn new(method: Method, steps: Steps) -> Options {
        Options { method, steps, force: false, max_steps: u64::MAX }
    }

    /// Whether the size of steps, or the number of their stages, follows what is stable on the way.
    pub(crate) fn follows_limits(&self) -> bool {
        match self.steps {
            Steps::Fixed(_) => self.method.chooses_stages(),
            Steps::Fraction(_) => true,
            Steps::Adaptive(_) => false,
        }
    }

    /// A clock that goes on to another end, on which the growth that is allowed depends, and with it steps of a fraction that weakly
    /// damped waves limit; what does not is kept. The other steps are judged anew: how far ahead they were judged depends on the end.
    pub fn to_another_end(&self, clock: Clock) -> Clock {
        match self.follows_limits() {
            true => Clock { allowed_growth: 0.0, ..clock },
            false => {
                Clock { largest: 0.0, allowed_growth: 0.0, judged_every: 0, judged_in: 0, ..clock }
            }
        }
    }
}

/// How a simulation ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The time or number of steps asked for was reached.
    Reached,
    /// The observer asked to stop.
    Stopped,
    /// It could not go on; the field is that of the last step that succeeded.
    Failed(Failure),
    /// The field has become one that steps of this size are not stable for.
    Unstable(Unstable),
}

/// Steps that are not stable any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Unstable {
    /// The time reached \[time\]; the field may be non-finite already.
    pub t: f64,
    /// Steps up to there.
    pub steps: u64,
    /// Their size \[time\].
    pub step: f64,
    /// The largest that is stable for the field of that time \[time\]: not less than the steps where these were not stable on the
    /// way, as values show that nothing in the equations explains.
    pub largest: f64,
}

/// Why a simulation could not go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// [`Status::NonFinite`], [`Status::StepTooSmall`] or [`Status::MaxSteps`].
    pub status: Status,
    /// The time up to which the field is finite \[time\].
    pub t: f64,
    /// Steps up to there.
    pub steps: u64,
    /// The first value that is NaN or infinite: its species, and its cell \[i, j, k\].
    pub place: Option<(String, [usize; 3])>,
    /// What is given at boundaries, as a velocity or by a source and is not finite where that value arose: its name in errors,
    /// the time, and what it is then.
    pub given: Option<(Argument, f64, f64)>,
}

/// A field on its way through time, in memory or on GPUs, which share its planes along z.
pub struct Simulation<T: Precision> {
    problem: Problem,
    /// For each species, whether nothing changes it.
    still: Vec<bool>,
    backend: Box<dyn Backend<T>>,
    options: Options,
    clock: Clock,
    control: ControllerState<f64>,
    /// Whether [`Slot::Rhs`](crate::backend::Slot::Rhs) is F at the present state.
    has_rhs: bool,
    /// The size of the last adaptive step that met NaN or infinity.
    non_finite: Option<f64>,
    judge: Judge,
    judged: Option<Judgement>,
    /// The field of the last judgement, or that from which it goes on.
    baseline: Option<Magnitudes>,
    /// Whether it goes on from a checkpoint: its steps were judged where it began.
    taken_up: bool,
    /// What batches had taken on a device when it was last told to go on \[s\].
    device_time: f64,
    /// Asked between the sweeps of a step.
    is_stopped: Box<dyn Fn() -> bool + Send>,
}

/// Limits of the steps, and the time up to which they hold \[time\]; infinite where they do not
/// depend on it.
#[derive(Clone, Debug)]
struct Judgement {
    limits: Stability,
    until: f64,
}

impl<T: Precision> Simulation<T> {
    /// Begins at time `t` with the values of a field.
    ///
    /// # Errors
    /// As [`resume`](Simulation::resume).
    pub fn new(
        problem: &Problem,
        field: Field<T>,
        t: f64,
        options: &Options,
        device: impl Into<Device>,
    ) -> Result<Simulation<T>, Error> {
        Simulation::resume(problem, Checkpoint { field, clock: Clock::at(t) }, options, device)
    }

    /// Goes on from a checkpoint: with the same problem, method, steps and kind of device the result
    /// has the same bits as without the interruption; with another kind it agrees to rounding.
    ///
    /// With another problem, another method or other steps (also where these are forced or not any more) it begins anew with the field
    /// and the time of the checkpoint, as [`new`](Simulation::new) does: its steps are judged as at a start, and counted from zero.
    ///
    /// # Errors
    /// A problem, options, a field or a clock that are not valid; a GPU that is not there, too little memory
    /// on it, or fewer planes along z than several GPUs can share.
    pub fn resume(
        problem: &Problem,
        checkpoint: Checkpoint<T>,
        options: &Options,
        device: impl Into<Device>,
    ) -> Result<Simulation<T>, Error> {
        let Checkpoint { field, clock } = checkpoint;
        let (clock, control, judge) = check(problem, &field, clock, options)?;
        let backend: Box<dyn Backend<T>> = match device.into() {
            Device::Cpu(cpu) => {
                let engine = Engine::new(problem, &cpu)?;
                engine.check(&field)?;
                Box::new(Host::new(engine, field, options.method.fields())?)
            }
            Device::Cuda(gpu) => gpu::open(problem, &field, options.method, &gpu)?,
        };
        Ok(Simulation::on(problem, backend, options, clock, (control, judge)))
    }

    fn on(
        problem: &Problem,
        backend: Box<dyn Backend<T>>,
        options: &Options,
        clock: Clock,
        (control, judge): (ControllerState<f64>, Judge),
    ) -> Simulation<T> {
        Simulation {
            problem: problem.clone(),
            still: problem.still(),
            backend,
            options: options.clone(),
            clock,
            control,
            has_rhs: false,
            non_finite: None,
            judge,
            judged: None,
            baseline: None,
            taken_up: clock.counts.steps > 0,
            device_time: 0.0,
            is_stopped: Box::new(|| false),
        }
    }

    /// Asks between the sweeps of a step, too, whether to stop: a step of hundreds of stages is then left, and the simulation stands where
    /// it began ([`Outcome::Stopped`]).
    pub fn stop_when(&mut self, asked: impl Fn() -> bool + Send + 'static) {
        self.is_stopped = Box::new(asked);
    }

    /// Begins on a device that is none of those that [`Device`] names.
    ///
    /// # Errors
    /// As [`resume`](Simulation::resume).
    #[doc(hidden)]
    pub fn on_device(
        problem: &Problem,
        checkpoint: Checkpoint<T>,
        options: &Options,
        device: impl odeum_cuda::Device,
    ) -> Result<Simulation<T>, Error> {
        Simulation::on_devices(problem, checkpoint, options, vec![device])
    }

    /// The same on several devices.
    ///
    /// # Errors
    /// As [`resume`](Simulation::resume).
    #[doc(hidden)]
    pub fn on_devices(
        problem: &Problem,
        checkpoint: Checkpoint<T>,
        options: &Options,
        devices: Vec<impl odeum_cuda::Device>,
    ) -> Result<Simulation<T>, Error> {
        let Checkpoint { field, clock } = checkpoint;
        let (clock, control, judge) = check(problem, &field, clock, options)?;
        let backend = gpu::on(problem, &field, options.method, devices)?;
        Ok(Simulation::on(problem, backend, options, clock, (control, judge)))
    }

    /// Where the state lies, unless that is lost.
    fn whole(&self) -> Result<&dyn Backend<T>, Error> {
        if !self.backend.is_lost() {
            return Ok(&*self.backend);
        }
        Err(Error::Device {
            device: "simulation".to_owned(),
            reason: format!("its state was lost at t = {}, where the device failed", self.clock.t),
            remedy: "begin again from a checkpoint, or from a state of before".to_owned(),
        })
    }

    /// The time reached \[time\].
    pub fn t(&self) -> f64 {
        self.clock.t
    }

    /// The field there; from a GPU it is brought into memory.
    ///
    /// # Errors
    /// Too little memory, or a driver that fails.
    pub fn field(&self) -> Result<Cow<'_, Field<T>>, Error> {
        self.whole()?.field()
    }

    /// The field there, if it lies in memory: not that of a GPU.
    pub fn in_memory(&self) -> Option<&Field<T>> {
        self.backend.in_memory()
    }

    /// Gives the values of a species \[nz × ny × nx\] to `take`, x fastest, some at a time: from a GPU
    /// without a field in memory.
    ///
    /// # Errors
    /// A species that there is not, or a driver that fails.
    pub fn values(&self, species: usize, take: &mut dyn FnMut(&[T])) -> Result<(), Error> {
        let all = self.problem.model.species().len();
        if species >= all {
            return Err(Error::input("species", species, format!("there are {all}")));
        }
        self.whole()?.values(species, take)
    }

    /// A copy of the field, which another thread can bring into memory while the simulation goes on.
    ///
    /// # Errors
    /// As [`field`](Simulation::field).
    pub fn snapshot(&self) -> Result<Snapshot<T>, Error> {
        self.whole()?.snapshot()
    }

    /// The values of all species in some cells \[cells × S\].
    ///
    /// # Errors
    /// A cell that the grid does not have, or a driver that fails.
    pub fn pick(&self, cells: &[[usize; 3]]) -> Result<Vec<T>, Error> {
        let shape = self.problem.grid.shape();
        if let Some(cell) = cells.iter().find(|cell| (0..3).any(|axis| cell[axis] >= shape[axis])) {
            let remedy = format!("the grid has {shape:?} cells");
            return Err(Error::input("cell", format!("{cell:?}"), remedy));
        }
        self.whole()?.pick(cells)
    }

    /// What has been done since the simulation began, interruptions included.
    pub fn counts(&self) -> Counts {
        self.clock.counts
    }

    /// Sum, mass, mean and extremes of every species.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn summaries(&self) -> Result<Vec<Summary>, Error> {
        self.whole()?.summaries()
    }

    /// Limits of the steps, as they were judged last for all times up to an end; `None` before the first step.
    pub fn stability(&self) -> Option<&Stability> {
        self.judged.as_ref().map(|judged| &judged.limits)
    }

    /// The limits of steps from here to `until` about the present field; waves that do not decay may grow by a tenth in all the time
    /// from the start to there.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn limits_to(&self, until: f64) -> Result<Stability, Error> {
        let span = (self.clock.t, until);
        let allowed = self.allowed_growth_to(until);
        self.judge.limits(&self.problem, &Present(self.whole()?), span, allowed)
    }

    /// Judges the steps for all times up to `until`, as [`run_every`](Simulation::run_every) does for those up to its end: one judgement of a
    /// whole span instead of one for each call within it.
    ///
    /// # Errors
    /// Steps that are too large, or a driver that fails.
    pub fn judge_to(&mut self, until: f64) -> Result<(), Error> {
        self.judge_stability(until)
    }

    /// Takes over limits that [`stability`](crate::time::stability::stability()) has found for times from the start up to `until`: as
    /// [`judge_to`](Simulation::judge_to).
    pub fn set_stability(&mut self, limits: Stability, until: f64) {
        let by_waves = !matches!(self.options.steps, Steps::Adaptive(_))
            && limits.depends_on_span(self.options.method);
        let depends = self.problem.changes_with_time() || by_waves;
        let until = if depends { until } else { f64::INFINITY };
        // Of a simulation that is taken up from a checkpoint it is known, of times beyond those judged it is not.
        if self.clock.radius == 0.0 || self.judged.is_some() {
            self.clock.radius = limits.radius;
        }
        self.judged = Some(Judgement { limits, until });
    }

    /// Time, and memory of the method: with the field all that [`Simulation::resume`] needs.
    pub fn clock(&self) -> Clock {
        Clock { control: self.control.memory(), ..self.clock }
    }

    /// The same for a checkpoint, which knows how much of the values the equations explain; `None` where values lie far beyond that, as
    /// steps were not stable on the way: the next judgement will say so, and nothing may go on from there.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn clock_to_keep(&self) -> Result<Option<Clock>, Error> {
        let clock = self.clock();
        Ok(match self.explained()? {
            Some(now) if now.is_beyond() => None,
            Some(now) => Some(Clock { explained: now.explained_fraction(), ..clock }),
            None => Some(clock),
        })
    }

    /// All that [`Simulation::resume`] needs.
    ///
    /// # Errors
    /// Values far beyond what the equations explain, and as [`field`](Simulation::field).
    pub fn checkpoint(&self) -> Result<Checkpoint<T>, Error> {
        let clock = self.clock_to_keep()?.ok_or_else(|| {
            let remedy = "was not stable on the way, as values show that the equations do not explain: go on \
                          from an earlier checkpoint, by smaller steps";
            Error::input("step", self.size().unwrap_or(self.clock.next_step), remedy)
        })?;
        Ok(Checkpoint { field: self.field()?.into_owned(), clock })
    }

    /// Time that steps of forward Euler took on a GPU since the simulation was last told to go on, without
    /// what was compiled \[s\].
    #[doc(hidden)]
    pub fn device_time(&self) -> Option<f64> {
        self.backend.device_time().map(|all| all - self.device_time)
    }

    /// How cells are dealt to threads of a GPU.
    #[doc(hidden)]
    pub fn tiling(&self) -> Option<Tiling> {
        self.backend.tiling()
    }

    /// Deals cells to threads of a GPU in another way from here on; `None` for that of single steps.
    ///
    /// # Errors
    /// A tiling that cannot be.
    #[doc(hidden)]
    pub fn retile(&mut self, tiling: Option<Tiling>) -> Result<(), Error> {
        self.backend.retile(tiling)
    }
}

/// The clock that a simulation begins with: that of its checkpoint, where this is of the same problem, method and steps, else a new one.
fn clock_of(problem: &Problem, options: &Options, clock: Clock) -> Result<Clock, Error> {
    let identity = identity::of(problem, options);
    if !clock.t.is_finite() {
        return Err(Error::input("t", clock.t, "must be finite"));
    }
    if clock.identity != identity {
        return Ok(Clock { identity, ..Clock::at(clock.t) });
    }
    clock.check()?;
    let h = match options.steps {
        Steps::Fixed(h) => h,
        Steps::Fraction(_) => clock.next_step,
        Steps::Adaptive(_) => return Ok(clock),
    };
    let then = clock.origin + clock.since_origin as f64 * h;
    if then != clock.t {
        let Clock { t, origin, since_origin, .. } = clock;
        let found = format!("t = {t}, and {since_origin} steps of {h} from {origin} to {then}");
        return Err(Error::input("clock", found, UNCHANGED));
    }
    Ok(clock)
}

/// Refuses what cannot be gone on from; gives the clock, the controller as it was left, and who judges steps.
fn check<T: Precision>(
    problem: &Problem,
    field: &Field<T>,
    clock: Clock,
    options: &Options,
) -> Result<(Clock, ControllerState<f64>, Judge), Error> {
    let judge = Judge::new(problem)?;
    options.method.check(&options.steps)?;
    if options.max_steps == 0 {
        return Err(Error::input("max_steps", 0, "must be at least 1"));
    }
    match &options.steps {
        Steps::Adaptive(tolerance) => {
            let (given, species) = (tolerance.atol_of(field.species()).len(), field.species());
            if given != species {
                let remedy = format!("give one value, or one for each of the {species} species");
                return Err(Error::input("atol", format!("{given} values"), remedy));
            }
            tolerance.check::<T>(species)?;
        }
        Steps::Fraction(fraction) if *fraction > 1.0 && !options.force => {
            return Err(Error::input("fraction", fraction, "must be at most 1; or force it"));
        }
        _ => {}
    }
    let clock = clock_of(problem, options, clock)?;
    check_start(problem, field)?;
    let mut control = ControllerState::new(Controller::predictive(), 2);
    control.restore(clock.control);
    Ok((clock, control, judge))
}
