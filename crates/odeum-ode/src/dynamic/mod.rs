//! Systems whose type is not known when a program is compiled: read from text, recorded, chosen by name,
//! or made of a mechanism.
//!
//! A [`System`] is generic code, compiled into whoever calls it. A [`DynSystem`] hides its type behind a
//! pointer: [`Solver`](crate::Solver) owns one and calls methods that are compiled in this crate, so a
//! program that uses it holds no solver of its own. The answers are those of [`solve()`](crate::solve()), to
//! the bit; explicit methods on small compiled systems may be somewhat slower.

mod kinds;

use crate::cpu::OnLanes;
use crate::gpu::DeviceSystem;
use crate::method::Rkc;
use crate::method::rhs::Equations;
use crate::problems::{Problem, WithSystem};
use kinds::{Gas, Held, Taped};
use odeum_core::text::TextSystem;
use odeum_core::{Error, Graph, NotSquare, Pattern, System, Tape};
use odeum_kinetics::Reactor;
use std::fmt;
use std::sync::Arc;

/// A system of any type, which all its clones share.
///
/// ```
/// use odeum_core::{Graph, Tape};
/// use odeum_ode::{Device, DynSystem, Ensemble, Method, Options, Solver, Tolerance, problems};
///
/// // A damped oscillator, recorded at run time; and a built-in problem.
/// let graph = Graph::record(2, 1, |_t, y, p| vec![y[1], -y[0] - p[0] * y[1]]);
/// let oscillator = DynSystem::from(Tape::new(graph)?);
/// let lorenz = DynSystem::from(&problems::find("lorenz").expect("a built-in problem"));
/// assert_eq!((oscillator.dim(), lorenz.dim()), (2, 3));
///
/// let options = Options::new(Tolerance::new(1e-8, 1e-8));
/// let solver = Solver::new(&oscillator, &Method::dopri5(), &Device::cpu(), &options)?;
/// let ensemble = Ensemble::repeated(&[1.0, 0.0], 10, (0.0, 1.0))?.with_shared_params(vec![0.1])?;
/// assert!(solver.solve(&ensemble)?.all_succeeded());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DynSystem(Arc<Inner>);

struct Inner {
    facts: Facts,
    system: Box<dyn AnySystem>,
}

/// What a system says of itself, once.
struct Facts {
    dim: usize,
    n_params: usize,
    state_names: Vec<String>,
    param_names: Vec<String>,
    /// Of the Jacobian, where the system computes it itself.
    pattern: Option<Pattern>,
}

impl Facts {
    fn of(system: &impl System) -> Facts {
        let (dim, n_params) = (system.dim(), system.n_params());
        let all = |given: Vec<String>, letter: char, count: usize| {
            let name = |i: usize| given.get(i).cloned().unwrap_or_else(|| format!("{letter}{i}"));
            (0..count).map(name).collect()
        };
        Facts {
            dim,
            n_params,
            state_names: all(system.state_names(), 'y', dim),
            param_names: all(system.param_names(), 'p', n_params),
            pattern: system.jacobian_pattern().cloned(),
        }
    }

    fn with(self, system: Box<dyn AnySystem>) -> DynSystem {
        DynSystem(Arc::new(Inner { facts: self, system }))
    }
}

/// A system behind a pointer.
pub(crate) trait AnySystem: Send + Sync {
    /// Its right-hand side, recorded; `None` where it cannot be.
    fn trace(&self) -> Option<Graph>;

    /// The system as devices integrate it.
    fn on_device(&self) -> DeviceSystem;

    /// The system on lanes of double precision.
    fn in_f64(&self) -> Box<dyn OnLanes<f64> + '_>;

    /// The system on lanes of single precision, where there is such code.
    fn in_f32(&self) -> Option<Box<dyn OnLanes<f32> + '_>>;

    /// The system on single numbers.
    fn on_numbers(&self) -> Box<dyn Equations<f64> + '_>;

    /// Refuses a right-hand side whose slopes at this time, state and parameters depend on what `dydt` held before. That of tapes,
    /// problems and reactors is written here.
    fn check_slopes(&self, _t: f64, _y: &[f64], _p: &[f64]) -> Result<(), Error> {
        Ok(())
    }

    /// True of code that a caller has compiled: it may lack what makes lanes fast, of which a warning tells.
    fn is_callers(&self) -> bool {
        false
    }

    /// The reactor that it is, if it is one.
    fn reactor(&self) -> Option<&Arc<Reactor>> {
        None
    }
}

impl DynSystem {
    /// A system of any type. What this adds to a program is its right-hand side, and its Jacobian if it has
    /// one, for each kind of lanes. Tapes, problems and reactors come by [`From`]: of them all is compiled
    /// already.
    pub fn new(system: impl System + Send + 'static) -> DynSystem {
        let facts = Facts::of(&system);
        facts.with(Box::new(Held(system)))
    }

    /// The number of equations n.
    pub fn dim(&self) -> usize {
        self.0.facts.dim
    }

    /// The number of parameters m.
    pub fn n_params(&self) -> usize {
        self.0.facts.n_params
    }

    /// Names of the components \[n\].
    pub fn state_names(&self) -> &[String] {
        &self.0.facts.state_names
    }

    /// Names of the parameters \[m\].
    pub fn param_names(&self) -> &[String] {
        &self.0.facts.param_names
    }

    /// True of a system that is interpreted, not compiled.
    pub fn is_interpreted(&self) -> bool {
        self.0.system.in_f64().is_interpreted()
    }

    /// Its right-hand side, recorded; `None` where it cannot be: reactors are evaluated from tables.
    pub fn trace(&self) -> Option<Graph> {
        self.0.system.trace()
    }

    /// As [`Rkc::radius_at`].
    ///
    /// # Panics
    /// Unless there are n components and m parameters.
    pub fn radius_at(
        &self,
        rkc: &Rkc,
        (t, length): (f64, f64),
        y: &[f64],
        p: &[f64],
    ) -> Option<f64> {
        let sizes = (self.dim(), self.n_params());
        assert!((y.len(), p.len()) == sizes, "{} components and {} parameters", y.len(), p.len());
        rkc.radius_of(&*self.0.system.on_numbers(), (t, length), y, p)
    }

    /// The pattern of the Jacobian that the system computes itself.
    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        self.0.facts.pattern.as_ref()
    }

    pub(crate) fn any(&self) -> &dyn AnySystem {
        &*self.0.system
    }
}

impl fmt::Debug for DynSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts { dim, n_params, .. } = self.0.facts;
        f.debug_struct("DynSystem").field("dim", &dim).field("n_params", &n_params).finish()
    }
}

impl From<&DynSystem> for DynSystem {
    fn from(system: &DynSystem) -> DynSystem {
        system.clone()
    }
}

impl From<&DynSystem> for DeviceSystem {
    fn from(system: &DynSystem) -> DeviceSystem {
        system.any().on_device()
    }
}

impl From<Tape> for DynSystem {
    fn from(tape: Tape) -> DynSystem {
        Facts::of(&tape).with(Box::new(Taped(tape)))
    }
}

impl TryFrom<Graph> for DynSystem {
    type Error = NotSquare;

    fn try_from(graph: Graph) -> Result<DynSystem, NotSquare> {
        Tape::new(graph).map(DynSystem::from)
    }
}

impl From<&TextSystem> for DynSystem {
    fn from(text: &TextSystem) -> DynSystem {
        text.tape().into()
    }
}

impl From<&Problem> for DynSystem {
    /// Compiled code of the few (`pleiades`, `lorenz`, `van_der_pol`, `brusselator_1d`) that take solvers
    /// into the program, the tape of the others; the tape in single precision, which is asked for seldom, and
    /// on CPUs gains little.
    fn from(problem: &Problem) -> DynSystem {
        match kinds::native(problem) {
            Some(system) => problem.with_system(Describe).with(system),
            None => problem.with_system(Record).into(),
        }
    }
}

impl From<Problem> for DynSystem {
    fn from(problem: Problem) -> DynSystem {
        DynSystem::from(&problem)
    }
}

impl From<Arc<Reactor>> for DynSystem {
    /// On CPUs, in double precision.
    fn from(reactor: Arc<Reactor>) -> DynSystem {
        Facts::of(&*reactor).with(Box::new(Gas(reactor)))
    }
}

impl From<Reactor> for DynSystem {
    fn from(reactor: Reactor) -> DynSystem {
        Arc::new(reactor).into()
    }
}

struct Record;

impl WithSystem for Record {
    type Output = Tape;

    fn run<S: System>(self, system: &S) -> Tape {
        Tape::trace(system)
    }
}

struct Describe;

impl WithSystem for Describe {
    type Output = Facts;

    fn run<S: System>(self, system: &S) -> Facts {
        Facts::of(system)
    }
}
