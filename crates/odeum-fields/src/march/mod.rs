//! From one time to another, watched.

mod advance;
mod watch;

use crate::backend::{Backend, Snapshot};
use crate::checkpoint::{Checkpoint, Clock, Counts};
use crate::cuda;
use crate::engine::Engine;
use crate::field::Field;
use crate::host::Host;
use crate::method::{Method, Steps};
use crate::problem::Problem;
use crate::reduce::{Summary, first_spoiled};
use crate::stability::{Judge, Stability};
use crate::sweep::Precision;
use crate::tiling::Tiling;
use odeum_core::Argument;
use odeum_ode::controller::{Control, Controller};
use odeum_ode::{Device, Error, Status};
use std::borrow::Cow;

/// Options of a march.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The method.
    pub method: Method,
    /// How large steps are.
    pub steps: Steps,
    /// Take steps that are larger than the method is stable for.
    pub force: bool,
    /// Step attempts after which a march ends with [`Status::MaxSteps`].
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
}

/// How a march ended.
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
    /// The time reached \[time\]; the field may be spoiled already.
    pub t: f64,
    /// Steps up to there.
    pub steps: u64,
    /// Their size \[time\].
    pub step: f64,
    /// The largest that is stable for the field of that time \[time\].
    pub largest: f64,
}

/// Why a march could not go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// [`Status::NonFinite`], [`Status::StepTooSmall`] or [`Status::MaxSteps`].
    pub status: Status,
    /// The time up to which the field is sound \[time\].
    pub t: f64,
    /// Steps up to there.
    pub steps: u64,
    /// The first value that is NaN or infinite: its species, and its cell \[i, j, k\].
    pub place: Option<(String, [usize; 3])>,
}

/// A field on its way through time, in memory or on GPUs, which share its planes along z.
pub struct March<T: Precision> {
    problem: Problem,
    backend: Box<dyn Backend<T>>,
    options: Options,
    clock: Clock,
    control: Control<f64>,
    /// Whether [`Slot::Slope`](crate::backend::Slot::Slope) is F at the present state.
    has_slope: bool,
    /// The size of the last adaptive step that met NaN or infinity.
    spoiled: Option<f64>,
    judge: Judge,
    judged: Option<Judged>,
    /// Whether it goes on from a checkpoint: its steps were judged where it began.
    taken_up: bool,
    /// What batches had taken on a device when it was last told to go on \[s\].
    device_time: f64,
}

/// Limits of the steps, and the time up to which they hold \[time\]; infinite where nothing
/// changes with time.
#[derive(Clone, Debug)]
struct Judged {
    limits: Stability,
    until: f64,
}

/// Fields that a march needs at once in memory.
pub fn fields_needed(method: Method) -> usize {
    match method {
        Method::Euler => 2,
        Method::Ssprk3 => 3,
        Method::Rkc { .. } | Method::Rkl2 { .. } => 4,
    }
}

impl<T: Precision> March<T> {
    /// Begins at time `t` with the values of a field.
    ///
    /// # Errors
    /// As [`resume`](March::resume).
    pub fn new(
        problem: &Problem,
        field: Field<T>,
        t: f64,
        options: &Options,
        device: impl Into<Device>,
    ) -> Result<March<T>, Error> {
        March::resume(problem, Checkpoint { field, clock: Clock::at(t) }, options, device)
    }

    /// Goes on from a checkpoint: with the same problem, options and kind of device the result
    /// has the same bits as without the interruption; with another kind it agrees to rounding.
    ///
    /// # Errors
    /// A problem, options or field that are not sound; a GPU that is not there, too little memory
    /// on it, or fewer planes along z than several GPUs can share.
    pub fn resume(
        problem: &Problem,
        checkpoint: Checkpoint<T>,
        options: &Options,
        device: impl Into<Device>,
    ) -> Result<March<T>, Error> {
        let Checkpoint { field, clock } = checkpoint;
        let (control, judge) = check(problem, &field, &clock, options)?;
        let backend: Box<dyn Backend<T>> = match device.into() {
            Device::Cpu(cpu) => {
                let engine = Engine::new(problem, &cpu)?;
                engine.check(&field)?;
                Box::new(Host::new(engine, field, fields_needed(options.method))?)
            }
            Device::Cuda(gpu) => cuda::open(problem, &field, options.method, &gpu)?,
        };
        Ok(March::on(problem, backend, options, clock, (control, judge)))
    }

    fn on(
        problem: &Problem,
        backend: Box<dyn Backend<T>>,
        options: &Options,
        clock: Clock,
        (control, judge): (Control<f64>, Judge),
    ) -> March<T> {
        March {
            problem: problem.clone(),
            backend,
            options: options.clone(),
            clock,
            control,
            has_slope: false,
            spoiled: None,
            judge,
            judged: None,
            taken_up: clock.counts.steps > 0,
            device_time: 0.0,
        }
    }

    /// Begins on a device that is none of those that [`Device`] names.
    ///
    /// # Errors
    /// As [`resume`](March::resume).
    #[doc(hidden)]
    pub fn on_device(
        problem: &Problem,
        checkpoint: Checkpoint<T>,
        options: &Options,
        device: impl odeum_cuda::Device,
    ) -> Result<March<T>, Error> {
        March::on_devices(problem, checkpoint, options, vec![device])
    }

    /// The same on several devices.
    ///
    /// # Errors
    /// As [`resume`](March::resume).
    #[doc(hidden)]
    pub fn on_devices(
        problem: &Problem,
        checkpoint: Checkpoint<T>,
        options: &Options,
        devices: Vec<impl odeum_cuda::Device>,
    ) -> Result<March<T>, Error> {
        let Checkpoint { field, clock } = checkpoint;
        let (control, judge) = check(problem, &field, &clock, options)?;
        let backend = cuda::on(problem, &field, options.method, devices)?;
        Ok(March::on(problem, backend, options, clock, (control, judge)))
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
        self.backend.field()
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
        self.backend.values(species, take)
    }

    /// A copy of the field, which another thread can bring into memory while the march goes on.
    ///
    /// # Errors
    /// As [`field`](March::field).
    pub fn snapshot(&self) -> Result<Snapshot<T>, Error> {
        self.backend.snapshot()
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
        self.backend.pick(cells)
    }

    /// What has been done since the march began, interruptions included.
    pub fn counts(&self) -> Counts {
        self.clock.counts
    }

    /// Sum, mass, mean and extremes of every species.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn summaries(&self) -> Result<Vec<Summary>, Error> {
        self.backend.summaries()
    }

    /// Limits of the steps, as they were judged at the start; `None` before the first step.
    pub fn stability(&self) -> Option<&Stability> {
        self.judged.as_ref().map(|judged| &judged.limits)
    }

    /// Takes over limits that [`stability`](crate::stability()) has found for times up to `until`:
    /// where wind or rates change with time, one judgement of a whole span instead of one for
    /// each call of [`until`](March::until) within it.
    pub fn set_stability(&mut self, limits: Stability, until: f64) {
        let until = if self.problem.changes_with_time() { until } else { f64::INFINITY };
        if self.clock.radius == 0.0 {
            self.clock.radius = limits.radius;
        }
        self.judged = Some(Judged { limits, until });
    }

    /// Time, and memory of the method: with the field all that [`March::resume`] needs.
    pub fn clock(&self) -> Clock {
        Clock { control: self.control.memory(), ..self.clock }
    }

    /// All that [`March::resume`] needs.
    ///
    /// # Errors
    /// As [`field`](March::field).
    pub fn checkpoint(&self) -> Result<Checkpoint<T>, Error> {
        Ok(Checkpoint { field: self.field()?.into_owned(), clock: self.clock() })
    }

    /// Time that steps of forward Euler took on a GPU since the march was last told to go on, without
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

/// Refuses what cannot be gone on from; gives the controller as it was left, and who judges steps.
fn check<T: Precision>(
    problem: &Problem,
    field: &Field<T>,
    clock: &Clock,
    options: &Options,
) -> Result<(Control<f64>, Judge), Error> {
    let judge = Judge::new(problem)?;
    options.method.check(&options.steps)?;
    if let Steps::Adaptive(tolerance) = &options.steps {
        tolerance.check::<T>(field.species())?;
    }
    if !clock.t.is_finite() {
        return Err(Error::input("t", clock.t, "must be finite"));
    }
    if let Some((s, cell)) = first_spoiled(field) {
        let name = problem.model.species().get(s).cloned().unwrap_or_default();
        let found = format!("{} in cell {cell:?}", field.get(s, cell));
        return Err(Error::input(Argument::new("initial").key(name), found, "must be finite"));
    }
    let mut control = Control::new(Controller::predictive(), 2);
    control.restore(clock.control);
    Ok((control, judge))
}
