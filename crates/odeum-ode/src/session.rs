//! An ensemble that stays on its device over many calls.

use crate::ensemble::{Ensemble, check_first_steps, check_new_states, check_span};
use crate::gpu;
use crate::lent::Inputs;
use crate::monitor::Monitor;
use crate::solution::Solution;
use crate::solve::{Compiled, Solver};
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::{Error, Scalar};
use odeum_kinetics::Reactor;
use odeum_kinetics::reactor::StateBounds;
use std::mem::swap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An ensemble whose states stay where they are integrated, in the memory of the CPU or of a GPU: for codes that split
/// operators and integrate the same cells over and over. Made by [`Solver::session`].
///
/// With [`Options::warm_start`](crate::Options::warm_start), or first steps that were given, every system begins an advance with
/// the size of step with which it ended the one before. A system that failed stands at its last accepted state and is advanced
/// from there like the others, with a first step anew: look at [`statuses`](Session::statuses) after each advance.
///
/// ```
/// use odeum_ode::{Device, DynSystem, Ensemble, Method, Options, Solver, Tolerance, problems};
///
/// let lorenz = DynSystem::from(&problems::find("lorenz").expect("a built-in problem"));
/// let options = Options::new(Tolerance::new(1e-6, 1e-6)).warm_start();
/// let solver = Solver::new(lorenz, &Method::tsit5(), &Device::cpu(), &options)?;
/// let start = Ensemble::repeated(&[1.0_f64, 0.0, 0.0], 100, (0.0, 1.0))?
///     .with_shared_params(vec![10.0, 28.0, 8.0 / 3.0])?;
/// let mut session = solver.session(&start)?;
/// for step in 0..10 {
///     session.advance((0.1 * f64::from(step), 0.1 * f64::from(step + 1)))?;
/// }
/// assert!(session.statuses()?.iter().all(|status| status.is_success()));
/// # Ok::<(), odeum_ode::Error>(())
/// ```
pub struct Session<T: Compiled> {
    on: On<T>,
    /// Of which its states are.
    gas: Option<Gas>,
}

/// What states of a reactor must be.
struct Gas {
    reactor: Arc<Reactor>,
    bounds: StateBounds,
    takes_invalid: bool,
    /// How many numbers all states are.
    numbers: usize,
}

impl Gas {
    /// That of a solver, if its systems are reactors.
    fn of<T: Compiled>(solver: &Solver, ensemble: &Ensemble<T>) -> Option<Gas> {
        let reactor = solver.system().any().reactor()?.clone();
        let atol = &solver.options().tolerance.atol;
        // The states are the temperature, then the species.
        let slack = (1..=reactor.kinetics().n_species()).map(|i| StateBounds::slack(atol.at(i)));
        let bounds = StateBounds::new(&reactor, slack);
        let takes_invalid = ensemble.takes_invalid();
        Some(Gas { reactor, bounds, takes_invalid, numbers: ensemble.states().len() })
    }

    /// Refuses a start that is that of no gas.
    fn check_start<T: Scalar>(&self, ensemble: &Ensemble<T>) -> Result<(), Error> {
        let doubles = |states: &[T]| -> Vec<f64> { states.iter().map(|x| x.to_f64()).collect() };
        self.reactor.check_states(&doubles(ensemble.states()), &self.bounds, self.takes_invalid)
    }

    /// Refuses states that are those of no gas, unless reactions took `before` as far.
    fn check<T: Scalar>(
        &self,
        states: &[T],
        before: impl FnOnce() -> Result<Vec<T>, Error>,
    ) -> Result<(), Error> {
        let Gas { reactor, bounds, takes_invalid, numbers } = self;
        if states.len() != *numbers {
            // That is told by who takes them.
            return Ok(());
        }
        let doubles = |states: &[T]| -> Vec<f64> { states.iter().map(|x| x.to_f64()).collect() };
        let states = doubles(states);
        if reactor.check_states(&states, bounds, *takes_invalid).is_ok() {
            return Ok(());
        }
        let reached = bounds.clone().with(&doubles(&before()?), reactor);
        reactor.check_states(&states, &reached, *takes_invalid)
    }
}

enum On<T> {
    Cpu(Box<Here<T>>),
    Gpu(Box<gpu::Session<T>>),
}

/// In the memory of the CPU.
struct Here<T> {
    solver: Solver,
    ensemble: Ensemble<T>,
    /// What the last advance gave; its states and sizes of steps are those of before.
    last: Solution<T>,
}

impl Solver {
    /// Brings an ensemble to the device of this solver, to stay there. The spans of the ensemble are not used:
    /// [`advance`](Session::advance) says where to go.
    ///
    /// # Errors
    /// Arguments that cannot be used (among them save times, as a session saves nothing, a terminal event, as an advance takes
    /// all systems over one span, and several GPUs), a device that is not there, or too little memory on it; a right-hand side that
    /// does not set all of `dydt`, as in [`solve()`](crate::solve()); a start of reactors that is that of no gas, as in
    /// [`set_states`](Session::set_states).
    pub fn session<T: Compiled>(&self, ensemble: &Ensemble<T>) -> Result<Session<T>, Error> {
        let sizes = (self.system().dim(), self.system().n_params());
        let fixed_step = self.method().controller().fixed_step();
        self.options().check_for_session(sizes, fixed_step, ensemble)?;
        self.check_slopes(&ensemble.inputs())?;
        let gas = Gas::of(self, ensemble);
        if let Some(gas) = &gas {
            gas.check_start(ensemble)?;
        }
        let Some((ordinal, system)) = self.on_one_gpu::<T>()? else {
            let (solver, mut ensemble) = (self.clone(), ensemble.clone());
            if self.options().warm_start {
                let len = ensemble.len();
                ensemble.first_steps_mut().get_or_insert_with(|| vec![T::default(); len]);
            }
            let last = Solution::of(&ensemble.inputs(), &[]);
            return Ok(Session { on: On::Cpu(Box::new(Here { solver, ensemble, last })), gas });
        };
        let (method, options) = (self.method(), self.options());
        let session = gpu::Session::of(system.clone(), ensemble, method, ordinal, options)?;
        Ok(Session { on: On::Gpu(Box::new(session)), gas })
    }
}

impl<T: Compiled> Session<T> {
    /// Integrates every system over `span`; gives the time that it took on the device.
    ///
    /// # Errors
    /// A span that cannot be used, or a device that fails.
    pub fn advance(&mut self, span: (f64, f64)) -> Result<Duration, Error> {
        match &mut self.on {
            On::Cpu(here) => {
                let begun = Instant::now();
                here.advance(span, &Monitor::new())?;
                Ok(begun.elapsed())
            }
            On::Gpu(session) => Ok(Duration::from_secs_f64(session.advance(span)? / 1e3)),
        }
    }

    /// The same unless it is stopped: then systems that did not end keep their states, with the status [`Status::NotRun`], and
    /// step sizes stay those of before for all. Gives whether it was not stopped.
    ///
    /// # Errors
    /// As [`advance`](Session::advance).
    pub fn advance_monitored(
        &mut self,
        span: (f64, f64),
        monitor: &Monitor,
    ) -> Result<bool, Error> {
        match &mut self.on {
            On::Cpu(here) => here.advance(span, monitor),
            On::Gpu(session) => session.advance_monitored(span, monitor),
        }
    }

    /// The states, component-major [n × M].
    ///
    /// # Errors
    /// When the device fails.
    pub fn states(&mut self) -> Result<Vec<T>, Error> {
        match &mut self.on {
            On::Cpu(here) => Ok(here.ensemble.states().to_vec()),
            On::Gpu(session) => session.states(),
        }
    }

    /// Where the states lie on a GPU, component-major \[n × M\]: its number, and the address in its memory, which is theirs as long
    /// as the session lives. Whoever writes there sets states; before the next advance
    /// [`wait_for_all`](Session::wait_for_all) says that it is done. `None` of a session on the CPU.
    pub fn place_on_gpu(&self) -> Option<(usize, u64)> {
        match &self.on {
            On::Cpu(_) => None,
            On::Gpu(session) => session.place(),
        }
    }

    /// Waits for all work that this process has given to the GPU, that of other libraries too.
    ///
    /// # Errors
    /// When the device fails.
    pub fn wait_for_all(&self) -> Result<(), Error> {
        match &self.on {
            On::Cpu(_) => Ok(()),
            On::Gpu(session) => session.wait_for_all(),
        }
    }

    /// Other states for all systems, component-major \[n × M\]; statuses, costs and step sizes stay.
    ///
    /// # Errors
    /// Another number of values; one that is not finite, unless the session began with an ensemble of
    /// [`with_invalid_starts`](Ensemble::with_invalid_starts); of reactors states of no gas
    /// ([`Reactor::check_states`](odeum_kinetics::Reactor::check_states)), as where mass fractions were changed and `m` was not,
    /// unless reactions took the states of before as far; a device that fails.
    pub fn set_states(&mut self, states: &[T]) -> Result<(), Error> {
        if let Some(gas) = self.gas.take() {
            let checked = gas.check(states, || self.states());
            self.gas = Some(gas);
            checked?;
        }
        match &mut self.on {
            On::Cpu(here) => {
                let ensemble = &mut here.ensemble;
                let sizes = (ensemble.dim(), ensemble.len());
                check_new_states(states, sizes, ensemble.takes_invalid())?;
                ensemble.states_mut().copy_from_slice(states);
                Ok(())
            }
            On::Gpu(session) => session.set_states(states),
        }
    }

    /// Sizes of the first steps of the next advance \[M\]; zero where there is none, or steps are not kept.
    ///
    /// # Errors
    /// When the device fails.
    pub fn step_sizes(&self) -> Result<Vec<T>, Error> {
        match &self.on {
            On::Cpu(here) => {
                let zeros = || vec![T::default(); here.ensemble.len()];
                Ok(here.ensemble.first_steps().map_or_else(zeros, <[T]>::to_vec))
            }
            On::Gpu(session) => session.step_sizes(),
        }
    }

    /// Sizes of the first steps of the next advance \[M\], zero where there is none. From here on steps are kept as with
    /// [`Options::warm_start`](crate::Options::warm_start).
    ///
    /// # Errors
    /// Sizes that are negative or no numbers, or not as many as systems; a device that fails.
    pub fn set_step_sizes(&mut self, sizes: &[T]) -> Result<(), Error> {
        match &mut self.on {
            On::Cpu(here) => {
                check_first_steps(sizes, here.ensemble.len())?;
                *here.ensemble.first_steps_mut() = Some(sizes.to_vec());
                here.last.next_steps.resize(sizes.len(), T::default());
                Ok(())
            }
            On::Gpu(session) => session.set_step_sizes(sizes),
        }
    }

    /// How each system ended the last advance \[M\].
    ///
    /// # Errors
    /// When the device fails.
    pub fn statuses(&mut self) -> Result<Vec<Status>, Error> {
        match &mut self.on {
            On::Cpu(here) => Ok(here.last.status.clone()),
            On::Gpu(session) => session.statuses(),
        }
    }

    /// What each system cost in the last advance \[M\].
    ///
    /// # Errors
    /// When the device fails.
    pub fn stats(&mut self) -> Result<Vec<Stats>, Error> {
        match &mut self.on {
            On::Cpu(here) => Ok(here.last.stats.clone()),
            On::Gpu(session) => session.stats(),
        }
    }

    /// Whether the last advance took systems outside the data of the model ([`Stats::outside`]). On a GPU, where counts of all
    /// systems stay until [`stats`](Session::stats) asks for them, it is told of states that lie there now; those that came back
    /// within the advance are not seen.
    ///
    /// # Errors
    /// When the device fails.
    pub fn came_outside(&mut self) -> Result<bool, Error> {
        match &mut self.on {
            On::Cpu(here) => Ok(here.last.stats.iter().any(|stats| stats.outside > 0)),
            On::Gpu(session) => session.is_outside(),
        }
    }

    /// States, times, statuses and costs of the last advance, and how busy lanes were where that is measured; without sizes of
    /// steps, and on a GPU without warnings.
    ///
    /// # Errors
    /// When the device fails.
    pub fn solution(&mut self) -> Result<Solution<T>, Error> {
        match &mut self.on {
            On::Cpu(here) => {
                let Here { ensemble, last, .. } = &**here;
                Ok(Solution {
                    t: last.t.clone(),
                    states: ensemble.states().to_vec(),
                    status: last.status.clone(),
                    stats: last.stats.clone(),
                    warnings: last.warnings.clone(),
                    busy_lanes: last.busy_lanes,
                    ..Solution::empty(0, last.dim, &[])
                })
            }
            On::Gpu(session) => session.solution(),
        }
    }
}

impl<T: Compiled> Here<T> {
    /// As [`Session::advance_monitored`].
    fn advance(&mut self, span: (f64, f64), monitor: &Monitor) -> Result<bool, Error> {
        check_span(span, "span")?;
        let Here { solver, ensemble, last } = self;
        let inputs = Inputs::from(&*ensemble).over(span);
        let remarks = solver.advance_into(&inputs, last.outputs(), monitor)?;
        (last.warnings, last.busy_lanes) = (remarks.warnings, remarks.busy_lanes);
        let whole = !monitor.is_stopped();
        if !whole {
            // Nothing was written of those.
            let left = last.status.iter().map(|status| *status == Status::NotRun);
            for (k, left) in left.cycle().take(last.states.len()).enumerate() {
                if left {
                    last.states[k] = ensemble.states()[k];
                }
            }
        }
        swap(ensemble.states_mut(), &mut last.states);
        if let (Some(steps), true) = (ensemble.first_steps_mut(), whole) {
            swap(steps, &mut last.next_steps);
        }
        Ok(whole)
    }
}
