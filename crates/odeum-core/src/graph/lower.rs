//! Graph to graph: the forms that tapes and C text start from.

use super::{Builder, Graph, Node, NodeId, Op};

impl Graph {
    /// Integer powers written out as the multiplications of [`Real::powi`](crate::Real::powi),
    /// in the same order; powers of one base share their squares.
    pub(crate) fn expand_powers(&self) -> Graph {
        self.rewrite(|builder, node| match node {
            Node::Powi(base, exponent) => expand_power(builder, base, exponent),
            other => builder.intern(other),
        })
    }

    /// Products that are used once, by a sum or difference, fused with it into one operation.
    pub(crate) fn fuse_products(&self) -> Graph {
        let uses = self.use_counts();
        let product = |old: NodeId| match self.node(old) {
            Node::Op(Op::Mul, [a, b, _]) if uses[old.index()] == 1 => Some((a, b)),
            _ => None,
        };
        let mut builder = Builder::default();
        let mut place: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let fused = match *node {
                Node::Op(Op::Add, [a, b, _]) => match (product(b), product(a)) {
                    (Some((x, y)), _) => Some((Op::MulAdd, [x, y, a])),
                    (None, Some((x, y))) => Some((Op::MulAdd, [x, y, b])),
                    _ => None,
                },
                Node::Op(Op::Sub, [a, b, _]) => match (product(b), product(a)) {
                    (Some((x, y)), _) => Some((Op::NegMulAdd, [x, y, a])),
                    (None, Some((x, y))) => Some((Op::MulSub, [x, y, b])),
                    _ => None,
                },
                _ => None,
            };
            let node = fused.map_or(*node, |(op, args)| Node::Op(op, args));
            place.push(builder.intern(node.map(|id| place[id.index()])));
        }
        let outputs: Vec<NodeId> = self.outputs.iter().map(|id| place[id.index()]).collect();
        self.reassemble(&builder, &outputs)
    }

    /// How many operations and outputs read each node.
    pub(crate) fn use_counts(&self) -> Vec<u32> {
        let mut uses = vec![0; self.nodes.len()];
        let operands = self.nodes.iter().flat_map(|node| node.args());
        operands.chain(&self.outputs).for_each(|id| uses[id.index()] += 1);
        uses
    }

    /// Rebuilds the graph node by node; `make` gets each node with its new operands.
    fn rewrite(&self, make: impl Fn(&mut Builder, Node) -> NodeId) -> Graph {
        let mut builder = Builder::default();
        let mut place: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let id = make(&mut builder, node.map(|id| place[id.index()]));
            place.push(id);
        }
        let outputs: Vec<NodeId> = self.outputs.iter().map(|id| place[id.index()]).collect();
        self.reassemble(&builder, &outputs)
    }
}

/// The order of [`Real::powi`](crate::Real::powi), recorded.
fn expand_power(builder: &mut Builder, base: NodeId, exponent: i32) -> NodeId {
    let mut left = exponent.unsigned_abs();
    let mut square = base;
    let mut product = None;
    while left > 0 {
        if left & 1 == 1 {
            product = Some(match product {
                Some(p) => builder.apply(Op::Mul, &[p, square]),
                None => square,
            });
        }
        left >>= 1;
        if left > 0 {
            square = builder.apply(Op::Mul, &[square, square]);
        }
    }
    let power = product.unwrap_or_else(|| builder.constant(1.0));
    if exponent < 0 { builder.apply(Op::Recip, &[power]) } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;

    #[test]
    fn powers_keep_their_bits_and_share_squares() {
        let graph = Graph::record(1, 0, |_, y, _| {
            vec![y[0].powi(12), y[0].powi(4), y[0].powi(-7), y[0].powi(2)]
        });
        let expanded = graph.expand_powers();
        let y = [1.1_f64];
        assert_eq!(graph.eval(0.0, &y, &[]), expanded.eval(0.0, &y, &[]));
        assert!(!expanded.nodes().iter().any(|node| matches!(node, Node::Powi(..))));
        // y², y⁴, y⁸, y¹², y³, y⁷ and the reciprocal.
        assert_eq!(expanded.nodes().len(), 1 + 7);
    }

    #[test]
    fn only_products_used_once_fuse() {
        let graph = Graph::record(3, 0, |_, y, _| {
            let shared = y[0] * y[1];
            vec![shared + y[2], shared - y[2], y[2] - y[1] * y[2], y[0] * y[2] - y[1]]
        });
        let fused = graph.fuse_products();
        let count = |op| {
            fused.nodes().iter().filter(|n| matches!(n, Node::Op(found, _) if *found == op)).count()
        };
        assert_eq!((count(Op::Mul), count(Op::NegMulAdd), count(Op::MulSub)), (1, 1, 1));
        let y = [1.5, -2.25, 0.75];
        assert_eq!(graph.eval(0.0, &y, &[]), fused.eval(0.0, &y, &[]));
    }
}
