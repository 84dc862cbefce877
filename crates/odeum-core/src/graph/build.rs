//! Building a graph: equal nodes are one node, and exact identities are applied on the way in.

use super::{Graph, Node, NodeId, Op};
use crate::real::Real;
use std::collections::HashMap;

/// A graph under construction. Operands always stand before the nodes that use them.
#[derive(Debug, Default)]
pub struct Builder {
    nodes: Vec<Node>,
    known: HashMap<Node, NodeId>,
    /// Nodes that differentiation goes through ([`Symbol::intermediate`](crate::Symbol::intermediate)).
    intermediates: Vec<NodeId>,
    /// Whether factors of one go and signs go out of products, so that sums become differences. Right-hand sides as
    /// they are written stay alike where they are alike but for numbers ([`Graph::isomorphic`]).
    lean: bool,
}

impl Builder {
    /// One that makes as few operations as it can.
    pub(crate) fn lean() -> Builder {
        Builder { lean: true, ..Builder::default() }
    }

    /// The node, new or known; no identity is applied.
    pub fn intern(&mut self, node: Node) -> NodeId {
        let nodes = &mut self.nodes;
        *self.known.entry(node).or_insert_with(|| {
            nodes.push(node);
            NodeId::new(nodes.len() - 1)
        })
    }

    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// The nodes so far, operands before users.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn constant(&mut self, x: f64) -> NodeId {
        let x = if x.is_nan() { f64::NAN } else { x };
        self.intern(Node::Const(x.to_bits()))
    }

    /// The number behind a node, if it is one.
    pub(crate) fn value(&self, id: NodeId) -> Option<f64> {
        self.node(id).constant()
    }

    /// Has differentiation go through a node.
    pub(crate) fn mark_intermediate(&mut self, id: NodeId) {
        self.intermediates.push(id);
    }

    /// The truth value behind a node, if it follows from numbers alone.
    fn truth(&self, id: NodeId) -> Option<bool> {
        let Node::Op(op, [a, b, _]) = self.node(id) else { return None };
        match op {
            Op::Lt | Op::Le | Op::Eq => Some(op.eval(&[self.value(a)?, self.value(b)?]) != 0.0),
            Op::And => Some(self.truth(a)? && self.truth(b)?),
            Op::Or => Some(self.truth(a)? || self.truth(b)?),
            Op::Not => Some(!self.truth(a)?),
            _ => None,
        }
    }

    /// The operands of a node, if it is the operation `op`.
    fn operands(&self, id: NodeId, op: Op) -> Option<[NodeId; 3]> {
        match self.node(id) {
            Node::Op(found, args) if found == op => Some(args),
            _ => None,
        }
    }

    /// The base to an integer power.
    pub(crate) fn powi(&mut self, base: NodeId, exponent: i32) -> NodeId {
        match (exponent, self.value(base)) {
            (0, _) => self.constant(1.0),
            (1, _) => base,
            (-1, _) => self.apply(Op::Recip, &[base]),
            (2, _) => self.apply(Op::Mul, &[base, base]),
            (_, Some(x)) if Real::powi(x, exponent).is_finite() => {
                self.constant(Real::powi(x, exponent))
            }
            _ => self.intern(Node::Powi(base, exponent)),
        }
    }

    /// An operation on existing nodes, as many as it has operands.
    pub fn apply(&mut self, op: Op, args: &[NodeId]) -> NodeId {
        if let Some(id) = self.identity(op, args) {
            return id;
        }
        let mut padded = [NodeId::NONE; 3];
        padded[..args.len()].copy_from_slice(args);
        if op.commutes() && padded[1] < padded[0] {
            padded.swap(0, 1);
        }
        self.intern(Node::Op(op, padded))
    }

    /// A simpler node with the same bits for every input (the sign of a NaN apart).
    ///
    /// So there is no x − x = 0 and no 0 x = 0, which NaN and infinity contradict, and no
    /// x + 0 = x, which −0 contradicts. Operations on constants are done in f64, except where
    /// the result is not finite: that is better seen at run time than hidden in a constant.
    fn identity(&mut self, op: Op, args: &[NodeId]) -> Option<NodeId> {
        use Op::*;
        let first = self.value(args[0]);
        let second = args.get(1).and_then(|&id| self.value(id));
        let third = args.get(2).and_then(|&id| self.value(id));
        if !matches!(op, Lt | Le | Eq | And | Or | Not | Select)
            && let Some(x) = args.iter().map(|&id| self.value(id)).collect::<Option<Vec<_>>>()
        {
            let value = op.eval(&x);
            return value.is_finite().then(|| self.constant(value));
        }
        let is = |value: Option<f64>, x: f64| value.map(f64::to_bits) == Some(x.to_bits());
        match op {
            Add if is(first, -0.0) => Some(args[1]),
            Add if is(second, -0.0) => Some(args[0]),
            Add => {
                if let Some([b, ..]) = self.operands(args[1], Neg) {
                    return Some(self.apply(Sub, &[args[0], b]));
                }
                let [a, ..] = self.operands(args[0], Neg)?;
                Some(self.apply(Sub, &[args[1], a]))
            }
            Sub if is(second, 0.0) => Some(args[0]),
            Sub => {
                let [b, ..] = self.operands(args[1], Neg)?;
                Some(self.apply(Add, &[args[0], b]))
            }
            Mul if is(first, 1.0) => Some(args[1]),
            Mul if is(second, 1.0) => Some(args[0]),
            Mul if is(first, -1.0) => Some(self.apply(Neg, &args[1..])),
            Mul if is(second, -1.0) => Some(self.apply(Neg, &args[..1])),
            Mul => match [args[0], args[1]].map(|id| self.operands(id, Neg)) {
                [Some([a, ..]), Some([b, ..])] => Some(self.apply(Mul, &[a, b])),
                [Some([a, ..]), None] if self.lean => Some(self.negated(a, args[1])),
                [None, Some([b, ..])] if self.lean => Some(self.negated(args[0], b)),
                _ => None,
            },
            MulAdd if is(third, -0.0) => Some(self.apply(Mul, &args[..2])),
            MulAdd if !self.lean => None,
            MulAdd if is(first, 1.0) => Some(self.apply(Add, &args[1..])),
            MulAdd if is(second, 1.0) => Some(self.apply(Add, &[args[0], args[2]])),
            MulAdd if is(first, -1.0) => Some(self.apply(Sub, &[args[2], args[1]])),
            MulAdd if is(second, -1.0) => Some(self.apply(Sub, &[args[2], args[0]])),
            Div if is(second, 1.0) => Some(args[0]),
            Div if is(first, 1.0) => Some(self.apply(Recip, &args[1..])),
            Powf if is(second, 1.0) => Some(args[0]),
            Neg => {
                if let Some([a, ..]) = self.operands(args[0], Neg) {
                    return Some(a);
                }
                let [a, b, _] = self.operands(args[0], Mul)?;
                let (factor, other) = match (self.value(a), self.value(b)) {
                    (Some(factor), _) => (factor, b),
                    (_, Some(factor)) => (factor, a),
                    _ => return None,
                };
                let factor = self.constant(-factor);
                Some(self.apply(Mul, &[factor, other]))
            }
            Abs => {
                if self.operands(args[0], Abs).is_some() {
                    return Some(args[0]);
                }
                let [a, ..] = self.operands(args[0], Neg)?;
                Some(self.apply(Abs, &[a]))
            }
            Not => self.operands(args[0], Not).map(|[a, ..]| a),
            Select if args[1] == args[2] => Some(args[1]),
            Select => self.truth(args[0]).map(|holds| if holds { args[1] } else { args[2] }),
            _ => None,
        }
    }

    /// −a b
    fn negated(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let product = self.apply(Op::Mul, &[a, b]);
        self.apply(Op::Neg, &[product])
    }

    /// Adds all nodes of a graph; where they went.
    pub(crate) fn load(&mut self, graph: &Graph) -> Vec<NodeId> {
        let mut place: Vec<NodeId> = Vec::with_capacity(graph.nodes.len());
        for node in &graph.nodes {
            let id = self.intern(node.map(|id| place[id.index()]));
            place.push(id);
        }
        self.intermediates.extend(graph.intermediates.iter().map(|id| place[id.index()]));
        place
    }

    /// The nodes behind `outputs`, in the order they were made, and the outputs and the intermediate nodes
    /// among them.
    pub(crate) fn finish(&self, outputs: &[NodeId]) -> (Vec<Node>, Vec<NodeId>, Vec<NodeId>) {
        let mut used = vec![false; self.nodes.len()];
        outputs.iter().for_each(|id| used[id.index()] = true);
        for index in (0..used.len()).rev() {
            if used[index] {
                self.nodes[index].args().iter().for_each(|id| used[id.index()] = true);
            }
        }
        let mut place = vec![NodeId::NONE; used.len()];
        let mut nodes = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if used[index] {
                place[index] = NodeId::new(nodes.len());
                nodes.push(node.map(|id| place[id.index()]));
            }
        }
        let mut intermediates: Vec<NodeId> =
            self.intermediates.iter().map(|id| place[id.index()]).collect();
        intermediates.retain(|id| *id != NodeId::NONE);
        intermediates.sort_unstable();
        intermediates.dedup();
        (nodes, outputs.iter().map(|id| place[id.index()]).collect(), intermediates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(builder: &mut Builder) -> (NodeId, NodeId) {
        (builder.intern(Node::State(0)), builder.intern(Node::State(1)))
    }

    #[test]
    fn equal_nodes_are_one_and_sums_commute() {
        let mut b = Builder::default();
        let (x, y) = leaves(&mut b);
        assert_eq!(b.apply(Op::Add, &[x, y]), b.apply(Op::Add, &[y, x]));
        assert_ne!(b.apply(Op::Sub, &[x, y]), b.apply(Op::Sub, &[y, x]));
        assert_ne!(b.constant(0.0), b.constant(-0.0));
    }

    #[test]
    fn identities_that_mask_nan_or_change_zero_are_not_applied() {
        let mut b = Builder::default();
        let (x, _) = leaves(&mut b);
        let (zero, minus_zero, one) = (b.constant(0.0), b.constant(-0.0), b.constant(1.0));
        for (op, args) in [(Op::Sub, [x, x]), (Op::Mul, [zero, x]), (Op::Add, [x, zero])] {
            assert!(matches!(b.apply(op, &args), id if !b.node(id).is_leaf()), "{op:?}");
        }
        for (op, args) in [
            (Op::Add, [x, minus_zero]),
            (Op::Sub, [x, zero]),
            (Op::Mul, [one, x]),
            (Op::Div, [x, one]),
        ] {
            assert_eq!(b.apply(op, &args), x, "{op:?}");
        }
    }

    #[test]
    fn constants_fold_but_not_into_infinity() {
        let mut b = Builder::default();
        let (zero, two, three) = (b.constant(0.0), b.constant(2.0), b.constant(3.0));
        let six = b.apply(Op::Mul, &[two, three]);
        assert_eq!(b.value(six), Some(6.0));
        let pole = b.apply(Op::Div, &[two, zero]);
        assert_eq!(b.value(pole), None);
    }

    #[test]
    fn factors_of_one_are_no_products() {
        let mut b = Builder::lean();
        let (x, y) = leaves(&mut b);
        let [one, minus_one, minus_zero, zero] = [1.0, -1.0, -0.0, 0.0].map(|x| b.constant(x));
        let (sum, difference) = (b.apply(Op::Add, &[x, y]), b.apply(Op::Sub, &[y, x]));
        let product = b.apply(Op::Mul, &[x, y]);
        for (args, expected) in [
            ([one, x, y], sum),
            ([x, one, y], sum),
            ([minus_one, x, y], difference),
            ([x, minus_one, y], difference),
            ([x, y, minus_zero], product),
        ] {
            assert_eq!(b.apply(Op::MulAdd, &args), expected, "{args:?}");
        }
        // 0 + x y would not be −0 where x y is.
        assert_ne!(b.apply(Op::MulAdd, &[x, y, zero]), product);

        // As it is written it is like others with other factors.
        let mut b = Builder::default();
        let (x, y) = leaves(&mut b);
        let one = b.constant(1.0);
        let sum = b.apply(Op::MulAdd, &[one, x, y]);
        assert!(matches!(b.node(sum), Node::Op(Op::MulAdd, _)));
    }

    #[test]
    fn choices_by_numbers_are_made() {
        let mut b = Builder::default();
        let (x, y) = leaves(&mut b);
        let (one, two, nan) = (b.constant(1.0), b.constant(2.0), b.constant(f64::NAN));
        let (less, more) = (b.apply(Op::Lt, &[one, two]), b.apply(Op::Lt, &[two, one]));
        let open = b.apply(Op::Lt, &[x, one]);
        let not = b.apply(Op::Not, &[less]);
        let (and, or) = (b.apply(Op::And, &[less, more]), b.apply(Op::Or, &[less, more]));
        let none = b.apply(Op::Le, &[nan, nan]);
        for (condition, expected) in [(less, x), (more, y), (not, y), (and, y), (or, x), (none, y)]
        {
            assert_eq!(b.apply(Op::Select, &[condition, x, y]), expected);
        }
        let choice = b.apply(Op::Select, &[open, x, y]);
        assert!(choice != x && choice != y);
    }

    #[test]
    fn signs_move_out_of_sums_and_products() {
        let mut b = Builder::default();
        let (x, y) = leaves(&mut b);
        let minus_y = b.apply(Op::Neg, &[y]);
        assert_eq!(b.apply(Op::Add, &[x, minus_y]), b.apply(Op::Sub, &[x, y]));
        assert_eq!(b.apply(Op::Sub, &[x, minus_y]), b.apply(Op::Add, &[x, y]));
        assert_eq!(b.apply(Op::Neg, &[minus_y]), y);
    }

    #[test]
    fn signs_stay_in_products_unless_asked() {
        let mut b = Builder::default();
        let (x, y) = leaves(&mut b);
        let (minus_x, minus_y) = (b.apply(Op::Neg, &[x]), b.apply(Op::Neg, &[y]));
        assert_eq!(b.apply(Op::Mul, &[minus_x, minus_y]), b.apply(Op::Mul, &[x, y]));
        let product = b.apply(Op::Mul, &[minus_y, x]);
        assert!(matches!(b.node(product), Node::Op(Op::Mul, _)));

        let mut b = Builder::lean();
        let (x, y) = leaves(&mut b);
        let minus_y = b.apply(Op::Neg, &[y]);
        let (left, right) = (b.apply(Op::Mul, &[minus_y, x]), b.apply(Op::Mul, &[x, minus_y]));
        let product = b.apply(Op::Mul, &[x, y]);
        assert_eq!((left, right), (b.apply(Op::Neg, &[product]), left));
        assert_eq!(b.apply(Op::Add, &[y, left]), b.apply(Op::Sub, &[y, product]));
    }
}
