//! The solvers, compiled once for the built-in problems and for tapes.
//!
//! A solver is compiled anew for every system, lane pack and precision, which takes minutes. This
//! crate holds all that a program which reads its systems at run time can need, behind functions
//! that are not generic, so that changing such a program does not compile the solvers again.
//!
//! ```
//! use odeum_ode::{Device, Method, Monitor, Options, Tolerance, problems};
//! use odeum_compiled::Rhs;
//!
//! let problem = problems::find("lorenz").expect("a built-in problem");
//! let options = Options::new(Tolerance::new(1e-8, 1e-8));
//! let solution = Rhs::of_problem(&problem).integrate(
//!     &problem.ensemble::<f64>(10)?,
//!     &Method::dopri5(),
//!     &Device::cpu(),
//!     &options,
//!     &Monitor::new(),
//! )?;
//! assert!(solution.all_succeeded());
//! # Ok::<(), odeum_ode::Error>(())
//! ```

use odeum_core::{Graph, Tape};
use odeum_kinetics::Reactor;
use odeum_ode::problems::{Problem, WithSystem};
use odeum_ode::{Device, Ensemble, Error, Method, Monitor, Options, Rkc, Scalar, Solution, System};
use std::sync::Arc;

/// A right-hand side whose type is not known when the program is compiled.
#[derive(Clone, Debug)]
pub struct Rhs(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// One the solvers are compiled for in double precision, and its tape.
    Problem(Box<Problem>, Box<Tape>),
    Tape(Box<Tape>),
    Reactor(Arc<Reactor>),
}

/// A precision the solvers are compiled for: `f64` and `f32`.
pub trait Compiled: Scalar {
    /// As [`Rhs::integrate`].
    ///
    /// # Errors
    /// As [`odeum_ode::solve`].
    fn integrate(rhs: &Rhs, run: Run<'_, Self>) -> Result<Solution<Self>, Error>;
}

/// What to do with a system.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a, T> {
    /// Initial states, parameters and spans.
    pub ensemble: &'a Ensemble<T>,
    /// The method.
    pub method: &'a Method,
    /// Where.
    pub device: &'a Device,
    /// How accurately, and what to keep.
    pub options: &'a Options,
    /// The window on the run.
    pub monitor: &'a Monitor,
}

impl Rhs {
    /// Of a built-in problem.
    pub fn of_problem(problem: &Problem) -> Rhs {
        let tape = Box::new(problem.with_system(ToTape));
        Rhs(if problem.with_compiled(Nothing).is_ok() {
            Kind::Problem(Box::new(problem.clone()), tape)
        } else {
            Kind::Tape(tape)
        })
    }

    /// Of a system that was traced or read.
    pub fn of_tape(tape: Tape) -> Rhs {
        Rhs(Kind::Tape(Box::new(tape)))
    }

    /// Of a gas that reacts: on the processor, in double precision.
    pub fn of_reactor(reactor: Arc<Reactor>) -> Rhs {
        Rhs(Kind::Reactor(reactor))
    }

    /// As [`odeum_ode::solve_monitored`].
    ///
    /// # Errors
    /// As [`odeum_ode::solve`].
    pub fn integrate<T: Compiled>(
        &self,
        ensemble: &Ensemble<T>,
        method: &Method,
        device: &Device,
        options: &Options,
        monitor: &Monitor,
    ) -> Result<Solution<T>, Error> {
        T::integrate(self, Run { ensemble, method, device, options, monitor })
    }

    /// As [`Rkc::radius_at`].
    pub fn radius_at(&self, rkc: &Rkc, at: (f64, f64), y: &[f64], p: &[f64]) -> Option<f64> {
        match &self.0 {
            Kind::Problem(_, tape) | Kind::Tape(tape) => rkc.radius_at(tape.as_ref(), at, y, p),
            Kind::Reactor(reactor) => rkc.radius_at(reactor.as_ref(), at, y, p),
        }
    }
}

impl Compiled for f64 {
    fn integrate(rhs: &Rhs, run: Run<'_, f64>) -> Result<Solution<f64>, Error> {
        match &rhs.0 {
            Kind::Tape(tape) => run.run(tape.as_ref()),
            Kind::Reactor(reactor) => match run.device {
                Device::Cpu(_) => run.run(reactor.as_ref()),
                other => Err(Error::input("device", other, "mechanisms run on cpu so far")),
            },
            Kind::Problem(problem, tape) => match problem.with_compiled(run) {
                Ok(solution) => solution,
                Err(run) => run.run(tape.as_ref()),
            },
        }
    }
}

/// Single precision runs from the tape: it is asked for seldom, and on CPUs gains little.
impl Compiled for f32 {
    fn integrate(rhs: &Rhs, run: Run<'_, f32>) -> Result<Solution<f32>, Error> {
        match &rhs.0 {
            Kind::Tape(tape) | Kind::Problem(_, tape) => run.run(tape.as_ref()),
            Kind::Reactor(_) => {
                Err(Error::input("precision", "f32", "mechanisms are integrated in f64"))
            }
        }
    }
}

impl<T: Scalar> WithSystem for Run<'_, T> {
    type Output = Result<Solution<T>, Error>;
    fn run<S: System>(self, system: &S) -> Self::Output {
        let Run { ensemble, method, device, options, monitor } = self;
        odeum_ode::solve_monitored(system, ensemble, method, device, options, monitor)
    }
}

struct Nothing;

impl WithSystem for Nothing {
    type Output = ();
    fn run<S: System>(self, _system: &S) {}
}

struct ToTape;

impl WithSystem for ToTape {
    type Output = Tape;
    fn run<S: System>(self, system: &S) -> Tape {
        match Tape::new(Graph::trace(system)) {
            Ok(tape) => tape,
            // `Graph::trace` lends the right-hand side n components of dy/dt and makes these n
            // the outputs, so a traced system has one per state.
            Err(not_square) => unreachable!("{not_square}"),
        }
    }
}
