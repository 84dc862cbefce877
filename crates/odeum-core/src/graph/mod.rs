//! Expression graphs: a right-hand side written down as data.
//!
//! A graph is an array of nodes, operands before their users, in which equal expressions are one
//! node. From it come the derivatives and the sparsity pattern ([`Graph::jacobian`]), the tape
//! that runs it over lanes ([`Tape`](crate::Tape)) and CUDA C ([`emit`](crate::emit)).

mod build;
mod isomorphic;
mod lower;
mod node;
mod op;
mod parts;
mod schedule;
mod switches;

pub use build::Builder;
pub use isomorphic::Isomorphic;
pub use node::{Counts, Node, NodeId};
pub use op::{Class, Op, OpInfo};
pub use parts::{Part, PartsError};
pub use switches::Switches;

pub(crate) use op::{Offsets, Operands, Rule};

use crate::real::Real;
use std::fmt;

/// Functions of time, states and parameters, as an expression graph.
///
/// ```
/// use odeum_core::{Graph, Real};
///
/// // y' = -p y and the square of y, of one state and one parameter.
/// let graph = Graph::record(1, 1, |_t, y, p| vec![-p[0] * y[0], y[0].powi(2)]);
/// assert_eq!(graph.eval(0.0, &[3.0], &[2.0]), [-6.0, 9.0]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    nodes: Vec<Node>,
    outputs: Vec<NodeId>,
    /// Nodes that differentiation goes through, ascending.
    intermediates: Vec<NodeId>,
    /// Whether all values and derivatives are finite, by the word of who recorded it.
    is_finite: bool,
    spectral_radius: Option<Box<Graph>>,
    state_names: Vec<String>,
    param_names: Vec<String>,
}

impl Graph {
    /// The part of a builder behind `outputs`, with the names of states and parameters.
    pub(crate) fn assemble(
        builder: &Builder,
        outputs: &[NodeId],
        (state_names, param_names): (Vec<String>, Vec<String>),
    ) -> Graph {
        let (nodes, outputs, intermediates) = builder.finish(outputs);
        let (is_finite, spectral_radius) = (false, None);
        Graph {
            nodes,
            outputs,
            intermediates,
            is_finite,
            spectral_radius,
            state_names,
            param_names,
        }
    }

    /// The same inputs with other outputs, taken from a builder.
    pub(crate) fn reassemble(&self, builder: &Builder, outputs: &[NodeId]) -> Graph {
        let names = (self.state_names.clone(), self.param_names.clone());
        Graph { is_finite: self.is_finite, ..Graph::assemble(builder, outputs, names) }
    }

    /// The same with names of states \[n\] and parameters \[m\], as far as there are any.
    pub fn named(self, states: Vec<String>, params: Vec<String>) -> Graph {
        fn instead(old: Vec<String>, new: Vec<String>) -> Vec<String> {
            let kept = old.iter().skip(new.len()).cloned();
            new.iter().take(old.len()).cloned().chain(kept).collect()
        }
        let state_names = instead(self.state_names, states);
        let param_names = instead(self.param_names, params);
        Graph { state_names, param_names, ..self }
    }

    pub(crate) fn with_spectral_radius(self, radius: Option<Graph>) -> Graph {
        Graph { spectral_radius: radius.map(Box::new), ..self }
    }

    /// Number of states n the graph is a function of.
    pub fn n_states(&self) -> usize {
        self.state_names.len()
    }

    /// Number of parameters m the graph is a function of.
    pub fn n_params(&self) -> usize {
        self.param_names.len()
    }

    /// Names of the n states, in order.
    pub fn state_names(&self) -> &[String] {
        &self.state_names
    }

    /// Names of the m parameters, in order.
    pub fn param_names(&self) -> &[String] {
        &self.param_names
    }

    /// The nodes, operands before users; every one is used.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node at a place.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// Where the outputs are; for a system, the components of dy/dt in order.
    pub fn outputs(&self) -> &[NodeId] {
        &self.outputs
    }

    /// Whether all values and derivatives are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.is_finite
    }

    /// The nodes that differentiation goes through, ascending.
    pub(crate) fn intermediates(&self) -> &[NodeId] {
        &self.intermediates
    }

    /// The bound of the spectral radius, a graph with one output, if the system gives one.
    pub fn spectral_radius(&self) -> Option<&Graph> {
        self.spectral_radius.as_deref()
    }

    /// True when an output depends on the time.
    pub fn uses_time(&self) -> bool {
        self.nodes.contains(&Node::Time)
    }

    /// The parameters some output depends on, ascending.
    pub fn used_params(&self) -> Vec<usize> {
        let mut used: Vec<usize> = self
            .nodes
            .iter()
            .filter_map(|node| if let Node::Param(j) = node { Some(*j as usize) } else { None })
            .collect();
        used.sort_unstable();
        used
    }

    /// The state j when output `i` is exactly `y[j]`, as in the first half of a second-order
    /// system.
    pub fn output_is_state(&self, i: usize) -> Option<usize> {
        match self.node(*self.outputs.get(i)?) {
            Node::State(j) => Some(j as usize),
            _ => None,
        }
    }

    /// How many operations the graph has.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { nodes: self.nodes.len(), ..Counts::default() };
        for node in &self.nodes {
            match node {
                Node::Op(Op::MulAdd | Op::MulSub | Op::NegMulAdd | Op::Add3 | Op::Mul3, _) => {
                    counts.flops += 2
                }
                Node::Op(op, _) => match op.info().class {
                    Class::Arithmetic | Class::Condition => counts.flops += 1,
                    Class::Root => counts.roots += 1,
                    Class::Function => counts.functions += 1,
                },
                Node::Powi(_, exponent) => {
                    counts.flops += node::powi_multiplications(*exponent);
                    counts.roots += usize::from(*exponent < 0);
                }
                _ => {}
            }
        }
        counts
    }

    /// The graph of some outputs, in the order given, without the spectral radius.
    ///
    /// # Panics
    ///
    /// When an index is not that of an output.
    pub fn subset(&self, outputs: &[usize]) -> Graph {
        let mut builder = Builder::default();
        let place = builder.load(self);
        let kept: Vec<NodeId> = outputs.iter().map(|&i| place[self.outputs[i].index()]).collect();
        self.reassemble(&builder, &kept)
    }

    /// The outputs at one point, node by node, every operation rounded by itself.
    ///
    /// The plain meaning of the graph; a [`Tape`](crate::Tape) is the fast way.
    ///
    /// # Panics
    ///
    /// When `y` or `p` is shorter than the states or parameters the graph uses.
    pub fn eval<R: Real>(&self, t: R, y: &[R], p: &[R]) -> Vec<R> {
        let mut values: Vec<R> = Vec::new();
        self.eval_nodes(t, y, p, &mut values);
        self.outputs.iter().map(|id| values[id.index()]).collect()
    }

    /// As [`eval`](Graph::eval), with the value of every node in a list that is used again: those of
    /// the outputs are found by their numbers.
    ///
    /// # Panics
    ///
    /// As [`eval`](Graph::eval).
    pub fn eval_nodes<R: Real>(&self, t: R, y: &[R], p: &[R], values: &mut Vec<R>) {
        values.clear();
        values.reserve(self.nodes.len());
        for node in &self.nodes {
            let value = match *node {
                Node::Const(bits) => R::lit(f64::from_bits(bits)),
                Node::Time => t,
                Node::State(i) => y[i as usize],
                Node::Param(j) => p[j as usize],
                Node::Powi(base, exponent) => values[base.index()].powi(exponent),
                Node::Op(op, args) => {
                    let arity = op.info().arity;
                    let x = args.map(|id| values[if id == NodeId::NONE { 0 } else { id.index() }]);
                    op.eval(&x[..arity])
                }
            };
            values.push(value);
        }
    }
}

/// The graph as text, one node a line: equal texts, equal functions of t, y and p. The names of
/// states and parameters are not part of it.
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "graph of {} states, {} params", self.n_states(), self.n_params())?;
        for (index, node) in self.nodes.iter().enumerate() {
            match node {
                Node::Const(bits) => writeln!(f, "v{index} = {:?}", f64::from_bits(*bits))?,
                Node::Time => writeln!(f, "v{index} = t")?,
                Node::State(i) => writeln!(f, "v{index} = y[{i}]")?,
                Node::Param(j) => writeln!(f, "v{index} = p[{j}]")?,
                Node::Powi(base, exponent) => {
                    writeln!(f, "v{index} = Powi v{} {exponent}", base.index())?;
                }
                Node::Op(op, _) => {
                    write!(f, "v{index} = {}", op.info().name)?;
                    node.args().iter().try_for_each(|id| write!(f, " v{}", id.index()))?;
                    writeln!(f)?;
                }
            }
        }
        for (i, id) in self.outputs.iter().enumerate() {
            writeln!(f, "out {i} = v{}", id.index())?;
        }
        match &self.spectral_radius {
            Some(radius) => write!(f, "spectral radius: {radius}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_stable() {
        let graph = Graph::record(2, 1, |_, y, p| vec![y[1], -p[0] * y[0] + y[1].powi(3)]);
        let expected = "graph of 2 states, 1 params\n\
            v0 = y[0]\nv1 = y[1]\nv2 = p[0]\nv3 = Neg v2\nv4 = Mul v0 v3\n\
            v5 = Powi v1 3\nv6 = Add v4 v5\nout 0 = v1\nout 1 = v6\n";
        assert_eq!(graph.to_string(), expected);
    }

    #[test]
    fn names_are_given_as_far_as_there_are_any() {
        let graph = Graph::record(2, 2, |_, y, _| y.to_vec());
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let named = graph.named(names(&["T"]), names(&["p", "q", "r"]));
        assert_eq!(
            (named.state_names(), named.param_names()),
            (&names(&["T", "y1"])[..], &names(&["p", "q"])[..])
        );
    }

    #[test]
    fn queries_see_only_what_is_used() {
        let graph = Graph::record(3, 3, |t, y, p| vec![y[2], y[0] * p[2].exp() / t, p[0]]);
        assert_eq!(graph.output_is_state(0), Some(2));
        assert_eq!(graph.output_is_state(1), None);
        assert_eq!(graph.output_is_state(9), None);
        assert_eq!(graph.used_params(), [0, 2]);
        assert!(graph.uses_time());
        let counts = graph.counts();
        assert_eq!((counts.flops, counts.roots, counts.functions), (1, 1, 1));
        let first = graph.subset(&[2, 0]);
        assert_eq!((first.nodes().len(), first.uses_time()), (2, false));
        assert_eq!(first.eval(0.0, &[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), [4.0, 3.0]);
    }
}
