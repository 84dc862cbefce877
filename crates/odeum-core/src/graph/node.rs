//! Nodes of a graph.

use super::op::Op;

/// The place of a node in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// Fills the operand places an operation does not have.
    pub(crate) const NONE: NodeId = NodeId(u32::MAX);

    pub(crate) fn new(index: usize) -> NodeId {
        NodeId(index as u32)
    }

    /// Position in [`Graph::nodes`](super::Graph::nodes).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One value of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A number, by its bits: 0 and −0 differ, NaN equals itself.
    Const(u64),
    /// The time t.
    Time,
    /// Component i of the state.
    State(u32),
    /// Parameter j.
    Param(u32),
    /// An integer power, by repeated squaring as in [`Real::powi`](crate::Real::powi).
    Powi(NodeId, i32),
    /// An operation; places beyond its arity hold nothing. Read them with [`Node::args`].
    Op(Op, [NodeId; 3]),
}

impl Node {
    /// The operands, in order.
    pub fn args(&self) -> &[NodeId] {
        match self {
            Node::Op(op, args) => &args[..op.info().arity],
            Node::Powi(base, _) => std::slice::from_ref(base),
            _ => &[],
        }
    }

    /// The number, if the node is one.
    pub fn constant(&self) -> Option<f64> {
        match self {
            Node::Const(bits) => Some(f64::from_bits(*bits)),
            _ => None,
        }
    }

    /// True for constants, the time, states and parameters.
    pub fn is_leaf(&self) -> bool {
        self.args().is_empty()
    }

    /// The same node with every operand replaced.
    pub(crate) fn map(self, mut f: impl FnMut(NodeId) -> NodeId) -> Node {
        match self {
            Node::Powi(base, exponent) => Node::Powi(f(base), exponent),
            Node::Op(op, mut args) => {
                args[..op.info().arity].iter_mut().for_each(|a| *a = f(*a));
                Node::Op(op, args)
            }
            leaf => leaf,
        }
    }
}

/// What has a number of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Nodes, leaves included.
    pub nodes: usize,
    /// Additions and multiplications, a fused multiply-add as two; choices and comparisons as
    /// one.
    pub flops: usize,
    /// Divisions and square roots.
    pub roots: usize,
    /// Elementary functions.
    pub functions: usize,
}

/// Multiplications of an integer power by repeated squaring, without the reciprocal.
pub(crate) fn powi_multiplications(exponent: i32) -> usize {
    let n = exponent.unsigned_abs();
    if n == 0 { 0 } else { (n.ilog2() + n.count_ones() - 1) as usize }
}
