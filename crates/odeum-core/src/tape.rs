//! Tapes: a graph as a list of instructions, run over any scalar.

mod assignments;
mod compile;
mod program;
mod rows;

pub use assignments::{Assignment, Value};
pub use program::Program;

use crate::graph::Graph;
use crate::real::{Outlined, Real};
use crate::system::System;
use std::fmt;

/// A graph of a system, compiled to instructions; itself a [`System`].
///
/// This is how systems that are read as text or traced run on the CPU. One pass over the
/// instructions serves a whole pack of lanes, so wide packs (32 lanes) make the cost of stepping
/// from instruction to instruction small: Pleiades (28 equations, 246 instructions) runs at 0.4
/// of the speed of the compiled right-hand side under AVX-512, a system with an exponential in
/// four equations at 0.9 (`examples/tape_speed.rs`).
///
/// Products that are used once are fused with the sum or difference that uses them. Over a
/// scalar whose [`mul_add`](Real::mul_add) rounds once, results therefore differ from the
/// separate operations by rounding; over `f64` and `f32`, whose `mul_add` rounds twice, they are
/// bit for bit those of [`Graph::eval`].
///
/// ```
/// use odeum_core::{Graph, Real, System, Tape};
///
/// let graph = Graph::record(2, 1, |_t, y, p| vec![y[1], -p[0] * y[0].sin()]);
/// let pendulum = Tape::new(graph)?;
/// let mut dydt = [0.0; 2];
/// let mut work = vec![0.0; pendulum.workspace()];
/// pendulum.rhs_in(0.0, &[0.5, 0.1], &[9.81], &mut dydt, &mut work);
/// assert_eq!(dydt, [0.1, -9.81 * 0.5_f64.sin()]);
/// # Ok::<(), odeum_core::NotSquare>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tape {
    graph: Graph,
    rhs: Program,
    spectral_radius: Option<Program>,
}

/// A graph that is no system: it has not as many outputs as states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSquare {
    /// Number of states.
    pub states: usize,
    /// Number of outputs.
    pub outputs: usize,
}

impl fmt::Display for NotSquare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotSquare { states, outputs } = self;
        write!(f, "a system needs one derivative per state; here are {outputs} for {states}")
    }
}

impl std::error::Error for NotSquare {}

impl Tape {
    /// Compiles the graph of a system.
    ///
    /// # Errors
    /// Not one output for each state.
    pub fn new(graph: Graph) -> Result<Tape, NotSquare> {
        let (states, outputs) = (graph.n_states(), graph.outputs().len());
        if states != outputs {
            return Err(NotSquare { states, outputs });
        }
        Ok(Tape::compile(graph))
    }

    /// Traces a system and compiles its graph.
    pub fn trace(system: &impl System) -> Tape {
        Tape::compile(Graph::trace(system))
    }

    /// Compiles a graph that is known to be that of a system.
    pub(crate) fn compile(graph: Graph) -> Tape {
        let rhs = Program::new(&graph);
        let spectral_radius = graph.spectral_radius().map(Program::new);
        Tape { graph, rhs, spectral_radius }
    }

    /// The graph the tape was compiled from.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The instructions of the right-hand side.
    pub fn program(&self) -> &Program {
        &self.rhs
    }
}

impl System for Tape {
    const INTERPRETED: bool = true;

    fn dim(&self) -> usize {
        self.graph.n_states()
    }

    fn n_params(&self) -> usize {
        self.graph.n_params()
    }

    /// Allocates when the tape needs more than 32 values of workspace;
    /// [`rhs_in`](System::rhs_in) never does.
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        R::outline(Interpretation { program: &self.rhs, t, y, p, out: dydt, work: None });
    }

    /// Allocates when the expression needs more than 32 values of workspace;
    /// [`spectral_radius_in`](System::spectral_radius_in) never does.
    #[inline(always)]
    fn spectral_radius<R: Real>(&self, t: R, y: &[R], p: &[R]) -> Option<R> {
        let program = self.spectral_radius.as_ref()?;
        let mut radius = [t];
        R::outline(Interpretation { program, t, y, p, out: &mut radius, work: None });
        Some(radius[0])
    }

    #[inline(always)]
    fn spectral_radius_in<R: Real>(&self, t: R, y: &[R], p: &[R], work: &mut [R]) -> Option<R> {
        let program = self.spectral_radius.as_ref()?;
        let mut radius = [t];
        R::outline(Interpretation { program, t, y, p, out: &mut radius, work: Some(work) });
        Some(radius[0])
    }

    fn workspace(&self) -> usize {
        let radius = self.spectral_radius.as_ref().map_or(0, Program::workspace);
        self.rhs.workspace().max(radius)
    }

    #[inline(always)]
    fn rhs_in<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R], work: &mut [R]) {
        R::outline(Interpretation { program: &self.rhs, t, y, p, out: dydt, work: Some(work) });
    }

    fn state_names(&self) -> Vec<String> {
        self.graph.state_names().to_vec()
    }

    fn param_names(&self) -> Vec<String> {
        self.graph.param_names().to_vec()
    }
}

/// One run of a program, kept out of line: an interpreter is long, and a solver evaluates the
/// right-hand side in many places.
struct Interpretation<'a, R> {
    program: &'a Program,
    t: R,
    y: &'a [R],
    p: &'a [R],
    out: &'a mut [R],
    work: Option<&'a mut [R]>,
}

impl<R: Real> Outlined for Interpretation<'_, R> {
    #[inline(always)]
    fn run(self) {
        let Interpretation { program, t, y, p, out, work } = self;
        match work {
            Some(work) => program.run(t, y, p, out, work),
            None => program.run_alone(t, y, p, out),
        }
    }
}
