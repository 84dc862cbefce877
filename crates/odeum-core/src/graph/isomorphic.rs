//! Groups of outputs that compute the same expressions from different operands.

use super::{Builder, Graph, Node, NodeId};
use std::collections::HashMap;

/// Groups of outputs as one function, to be evaluated by many threads at once, each for its own
/// group.
#[derive(Clone, Debug, PartialEq)]
pub struct Isomorphic {
    /// The function. Its outputs are those of a group, in order; its states are *places*, which
    /// stand for another state in each group; its parameters are those of the graph and, behind
    /// them, the constants that differ between groups.
    pub function: Graph,
    /// The state behind each place, group by group \[groups\]\[places\].
    pub states: Vec<Vec<usize>>,
    /// The constants that differ, group by group \[groups\]\[constants\].
    pub constants: Vec<Vec<f64>>,
}

impl Graph {
    /// The groups of outputs as one function; `None` unless every group computes the same
    /// operations, in the same order, from time, parameters and constants or states of its own.
    ///
    /// The function gives the same bits as the graph: operands are exchanged only where an
    /// operation commutes. In an n-body problem the accelerations of the bodies are isomorphic.
    ///
    /// ```
    /// use odeum_core::{Graph, Real, Symbol};
    ///
    /// let graph = Graph::record(2, 0, |_, y, _| {
    ///     vec![Symbol::lit(2.0) * y[1], y[0] * Symbol::lit(3.0)]
    /// });
    /// let isomorphic = graph.isomorphic(&[vec![0], vec![1]]).expect("both are products");
    /// assert_eq!(isomorphic.states, [[1], [0]]);
    /// assert_eq!(isomorphic.constants, [[2.0], [3.0]]);
    /// ```
    ///
    /// # Panics
    ///
    /// When a group names an output that does not exist.
    pub fn isomorphic(&self, groups: &[Vec<usize>]) -> Option<Isomorphic> {
        let (first, others) = groups.split_first()?;
        let mut matches = Vec::with_capacity(others.len());
        for group in others {
            if group.len() != first.len() {
                return None;
            }
            let mut matching = Matching { graph: self, operands: HashMap::new() };
            let mut pairs = first.iter().zip(group);
            if !pairs.all(|(&a, &b)| matching.pair(self.outputs[a], self.outputs[b])) {
                return None;
            }
            matches.push(matching);
        }
        let mut places = Offsets::default();
        let mut made: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        let mut builder = Builder::default();
        for (index, &node) in self.nodes.iter().enumerate() {
            let id = NodeId::new(index);
            if node.is_leaf() || !is_reached(self, first, &matches, id) {
                continue;
            }
            let mut operands = node.args().to_vec();
            for (k, operand) in operands.iter_mut().enumerate() {
                let of_others = matches.iter().map(|m| m.operands[&id].1[k]);
                let occurrence: Vec<NodeId> = std::iter::once(*operand).chain(of_others).collect();
                *operand = match made[operand.index()] {
                    Some(inner) => inner,
                    None => places.leaf(self, &mut builder, &occurrence),
                };
            }
            let mut next = operands.iter();
            let rebuilt = node.map(|old| next.next().copied().unwrap_or(old));
            made[index] = Some(builder.intern(rebuilt));
        }
        let outputs: Vec<NodeId> = (0..first.len())
            .map(|r| {
                let occurrence: Vec<NodeId> =
                    groups.iter().map(|group| self.outputs[group[r]]).collect();
                match made[occurrence[0].index()] {
                    Some(inner) => inner,
                    None => places.leaf(self, &mut builder, &occurrence),
                }
            })
            .collect();
        let n_groups = groups.len();
        let names = (0..places.states.len()).map(|k| format!("place {k}")).collect();
        let mut params = self.param_names.clone();
        params.extend((0..places.constants.len()).map(|k| format!("constant {k}")));
        let states =
            (0..n_groups).map(|g| places.states.iter().map(|place| place[g]).collect()).collect();
        let value = |bits: &Vec<u64>, g: usize| f64::from_bits(bits[g]);
        let constants = (0..n_groups)
            .map(|g| places.constants.iter().map(|bits| value(bits, g)).collect())
            .collect();
        let function = Graph::assemble(&builder, &outputs, (names, params));
        Some(Isomorphic { function, states, constants })
    }
}

/// True when the first group uses the node: with other groups, every used node has been matched.
fn is_reached(graph: &Graph, first: &[usize], matches: &[Matching<'_>], id: NodeId) -> bool {
    match matches.first() {
        Some(matching) => matching.operands.contains_key(&id),
        None => {
            let mut stack: Vec<NodeId> = first.iter().map(|&i| graph.outputs[i]).collect();
            while let Some(top) = stack.pop() {
                if top == id {
                    return true;
                }
                stack.extend(graph.node(top).args());
            }
            false
        }
    }
}

/// How the operations of one group correspond to those of the first.
struct Matching<'a> {
    graph: &'a Graph,
    /// For each operation of the first group, its counterpart and that one's operands, in the
    /// order of the first.
    operands: HashMap<NodeId, (NodeId, Vec<NodeId>)>,
}

impl Matching<'_> {
    /// Tries to match node `b` to node `a` of the first group.
    fn pair(&mut self, a: NodeId, b: NodeId) -> bool {
        if let Some((known, _)) = self.operands.get(&a) {
            return *known == b;
        }
        match (self.graph.node(a), self.graph.node(b)) {
            (Node::Op(op, _), Node::Op(other, _)) if op == other => {
                let mut operands = self.graph.node(b).args().to_vec();
                // Of operands that commute, those of one kind are tried on each other first.
                if op.commutes() && !self.alike_at_a_glance(a, &operands) {
                    operands.swap(0, 1);
                }
                self.operands_match(a, b, operands)
            }
            (Node::Powi(_, exponent), Node::Powi(base, other)) if exponent == other => {
                self.operands_match(a, b, vec![base])
            }
            (Node::State(_), Node::State(_)) | (Node::Const(_), Node::Const(_)) => true,
            (first, second) => first.is_leaf() && first == second,
        }
    }

    fn operands_match(&mut self, a: NodeId, b: NodeId, operands: Vec<NodeId>) -> bool {
        let wanted = self.graph.node(a).args().to_vec();
        if !wanted.iter().zip(&operands).all(|(&x, &y)| self.pair(x, y)) {
            return false;
        }
        self.operands.insert(a, (b, operands));
        true
    }

    /// Whether the first two operands of `a` are of the same kinds as these, in this order.
    fn alike_at_a_glance(&self, a: NodeId, operands: &[NodeId]) -> bool {
        let first = self.graph.node(a);
        first.args().iter().zip(operands).take(2).all(|(&x, &y)| {
            let (x, y) = (self.graph.node(x), self.graph.node(y));
            match (x, y) {
                (Node::Op(op, _), Node::Op(other, _)) => op == other,
                _ => std::mem::discriminant(&x) == std::mem::discriminant(&y),
            }
        })
    }
}

/// The leaves that differ between groups.
#[derive(Default)]
struct Offsets {
    /// State of each place in every group.
    states: Vec<Vec<usize>>,
    /// Bits of each differing constant in every group.
    constants: Vec<Vec<u64>>,
}

impl Offsets {
    /// The leaf for one occurrence of leaves, one node per group, all of one kind.
    fn leaf(&mut self, graph: &Graph, builder: &mut Builder, occurrence: &[NodeId]) -> NodeId {
        let leaf = match graph.node(occurrence[0]) {
            Node::State(_) => {
                // A state is matched to states alone.
                let states = occurrence.iter().filter_map(|&id| match graph.node(id) {
                    Node::State(i) => Some(i as usize),
                    _ => None,
                });
                Node::State(position(&mut self.states, states.collect()) as u32)
            }
            Node::Const(first) => {
                let bits: Vec<u64> = occurrence
                    .iter()
                    .map(|&id| graph.node(id).constant().map_or(first, f64::to_bits))
                    .collect();
                if bits.iter().all(|&b| b == first) {
                    Node::Const(first)
                } else {
                    let k = graph.n_params() + position(&mut self.constants, bits);
                    Node::Param(k as u32)
                }
            }
            same => same,
        };
        builder.intern(leaf)
    }
}

/// Where `row` stands in `rows`, added if it is new.
fn position<T: PartialEq>(rows: &mut Vec<T>, row: T) -> usize {
    rows.iter().position(|known| *known == row).unwrap_or_else(|| {
        rows.push(row);
        rows.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Real, Symbol};

    /// Accelerations on a line, by pairs: the pull on one body is the opposite of the other's.
    fn bodies(n: usize) -> Graph {
        Graph::record(n, 1, |_, y, p| {
            let mut a = vec![Symbol::lit(0.0); n];
            for i in 0..n {
                for j in i + 1..n {
                    let d = y[j] - y[i];
                    let pull = p[0] * d / (d * d + Symbol::lit(1.0)).powi(3);
                    a[i] = a[i] + Symbol::lit(j as f64 + 2.0) * pull;
                    a[j] = a[j] - Symbol::lit(i as f64 + 2.0) * pull;
                }
            }
            a
        })
    }

    #[test]
    fn bodies_are_alike_and_keep_their_bits() {
        let graph = bodies(5).fused();
        let groups: Vec<Vec<usize>> = (0..5).map(|i| vec![i]).collect();
        let isomorphic = graph.isomorphic(&groups).expect("bodies are alike");
        let y = [0.3, -1.7, 2.9, 0.11, 5.3];
        let expected = graph.eval(0.0, &y, &[0.7]);
        for g in 0..5 {
            let places: Vec<f64> = isomorphic.states[g].iter().map(|&i| y[i]).collect();
            let params: Vec<f64> =
                [0.7].into_iter().chain(isomorphic.constants[g].clone()).collect();
            assert_eq!(isomorphic.function.eval(0.0, &places, &params), [expected[g]], "body {g}");
        }
        assert_eq!(isomorphic.constants[0].len(), 4);
    }

    #[test]
    fn what_differs_in_shape_or_parameters_is_not_alike() {
        let graph = Graph::record(2, 2, |t, y, p| {
            vec![y[0] + p[0], y[1] + p[1], y[0] - p[0], y[1] + p[0], t + p[0], y[1].powi(3)]
        });
        let isomorphic = |a: usize, b: usize| graph.isomorphic(&[vec![a], vec![b]]).is_some();
        assert!(isomorphic(0, 3));
        assert!(!isomorphic(0, 1) && !isomorphic(0, 2) && !isomorphic(0, 4) && !isomorphic(0, 5));
        assert!(graph.isomorphic(&[vec![0, 1], vec![3]]).is_none());
        assert!(graph.isomorphic(&[]).is_none());
    }
}
