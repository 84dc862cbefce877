//! The order in which a graph's operations are carried out.

use super::{Graph, Node, NodeId};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Operations a result should wait before it is used. On a tape a value goes through memory, and
/// the next operation would otherwise stand still until the store and the load are done: without
/// waiting, Pleiades takes 1.5 times as long.
const DISTANCE: usize = 6;

/// Operations among which one is looked for that need not wait. More would gain nothing and keep
/// more values alive.
const WINDOW: usize = 48;

impl Graph {
    /// All operations in an order for tapes: [`narrow_schedule`](Graph::narrow_schedule) with
    /// results moved away from their uses, by list scheduling in a window that slides along.
    pub(crate) fn schedule(&self) -> Vec<NodeId> {
        let order = self.narrow_schedule();
        self.spread(order, DISTANCE, WINDOW)
    }

    /// All operations, operands first, in an order that keeps few values alive at once.
    ///
    /// Two orders are tried and the better one taken: the order in which the
    /// graph was written down (good where several outputs accumulate side by side, as forces do
    /// in an n-body problem), and one output after the other, deepest operand first (good for
    /// expressions; Sethi & Ullman, J. ACM 17 (1970) 715, optimal for trees).
    pub(crate) fn narrow_schedule(&self) -> Vec<NodeId> {
        self.narrowest([self.written(), self.depth_first()], |_| false)
    }

    /// The same for text of a function and its Jacobian, which have much in common: the orders of
    /// [`narrow_schedule`](Graph::narrow_schedule) compute the function first, and keep what the
    /// Jacobian needs of it alive. One more order is tried, from the last operation to the first. What is
    /// free is read anew where it is wanted, and not kept alive.
    pub(crate) fn narrow_schedule_except(&self, is_free: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let orders = [self.written(), self.depth_first(), self.backward(&is_free)];
        self.narrowest(orders, is_free)
    }

    /// The first of the orders that keep fewest values alive at once.
    fn narrowest<const N: usize>(
        &self,
        orders: [Vec<NodeId>; N],
        is_free: impl Fn(NodeId) -> bool,
    ) -> Vec<NodeId> {
        let narrowest = orders.into_iter().min_by_key(|order| self.peak(order, &is_free));
        narrowest.unwrap_or_default()
    }

    /// The order in which the graph was written down.
    fn written(&self) -> Vec<NodeId> {
        self.operations().collect()
    }

    fn operations(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len()).map(NodeId::new).filter(|&id| !self.node(id).is_leaf())
    }

    /// From the last operation to the first: of those all of whose users stand, always the one that makes
    /// fewest values alive which were not; of equals the one that was wanted last.
    fn backward(&self, is_free: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        // Of each node those that are computed, each once.
        let computed = |node: &Node| {
            let mut operands = node.args().to_vec();
            operands.retain(|&operand| !self.node(operand).is_leaf());
            operands.sort_unstable();
            operands.dedup();
            operands
        };
        let operands: Vec<Vec<NodeId>> = self.nodes.iter().map(computed).collect();
        let mut users = vec![0_u32; self.nodes.len()];
        operands.iter().flatten().for_each(|operand| users[operand.index()] += 1);
        let mut ready: Vec<NodeId> =
            self.operations().filter(|id| users[id.index()] == 0).collect();
        // How many operations stood when a value was wanted last; zero where nobody has wanted it.
        let mut wanted = vec![0_usize; self.nodes.len()];
        let mut order = Vec::new();
        while !ready.is_empty() {
            let rank = |id: NodeId| {
                let counted = |id: &NodeId| !is_free(*id);
                let is_new = |id: &NodeId| wanted[id.index()] == 0;
                let begin = operands[id.index()].iter().filter(|id| counted(id) && is_new(id));
                let end = usize::from(counted(&id) && !is_new(&id));
                (begin.count() as isize - end as isize, Reverse(wanted[id.index()]), Reverse(id))
            };
            let best = (0..ready.len()).min_by_key(|&k| rank(ready[k]));
            let id = ready.remove(best.unwrap_or(0));
            order.push(id);
            for operand in &operands[id.index()] {
                wanted[operand.index()] = order.len();
                users[operand.index()] -= 1;
                if users[operand.index()] == 0 {
                    ready.push(*operand);
                }
            }
        }
        order.reverse();
        order
    }

    /// Moves operations forward over at most `window` others so that results are used `distance`
    /// operations after they are made, where there is other work to do meanwhile.
    fn spread(&self, order: Vec<NodeId>, distance: usize, window: usize) -> Vec<NodeId> {
        // Position from which on each value may be used without waiting; none is not yet made.
        let mut ready: Vec<Option<usize>> =
            self.nodes.iter().map(|node| node.is_leaf().then_some(0)).collect();
        let mut rest = order.into_iter();
        let mut waiting: VecDeque<NodeId> = rest.by_ref().take(window).collect();
        let mut spread = Vec::new();
        while !waiting.is_empty() {
            let now = spread.len();
            // When all operands of a candidate are ready; of equal candidates the first wins.
            let when = |id: &NodeId| {
                let node = self.nodes[id.index()];
                let operands = node.args().iter().map(|operand| ready[operand.index()]);
                operands.into_iter().try_fold(now, |latest, at| Some(latest.max(at?)))
            };
            let candidates = waiting.iter().enumerate();
            let best = candidates.filter_map(|(k, id)| Some((when(id)?, k))).min();
            // Operands come first in the order, so the first one that waits can always be done.
            let id = waiting.remove(best.map_or(0, |(_, k)| k));
            let Some(id) = id else { break };
            ready[id.index()] = Some(now + distance);
            spread.push(id);
            waiting.extend(rest.next());
        }
        spread
    }

    /// Operations behind each output in turn, the operand that needs most values first.
    fn depth_first(&self) -> Vec<NodeId> {
        let need = self.needs();
        let mut done: Vec<bool> = self.nodes.iter().map(|node| node.is_leaf()).collect();
        let mut order = Vec::new();
        // Explicit: an expression may be as deep as it is long.
        let mut stack: Vec<(NodeId, bool)> = Vec::new();
        for &output in &self.outputs {
            stack.push((output, false));
            while let Some((id, operands_done)) = stack.pop() {
                if done[id.index()] {
                    continue;
                }
                if operands_done {
                    done[id.index()] = true;
                    order.push(id);
                    continue;
                }
                stack.push((id, true));
                let mut operands: Vec<NodeId> = self.nodes[id.index()].args().to_vec();
                // The stack reverses, so the neediest goes on last.
                operands.sort_by_key(|operand| need[operand.index()]);
                stack.extend(operands.iter().map(|&operand| (operand, false)));
            }
        }
        order
    }

    /// Sethi–Ullman numbers: values alive while a node is computed, were the graph a tree.
    fn needs(&self) -> Vec<u32> {
        let mut need: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut operands: Vec<u32> = node.args().iter().map(|id| need[id.index()]).collect();
            operands.sort_unstable_by(|a, b| b.cmp(a));
            let most =
                operands.iter().zip(0..).map(|(need, k)| if *need > 0 { need + k } else { 0 });
            need.push(most.max().map_or(0, |most| most.max(1)));
        }
        need
    }

    /// Largest number of computed values alive at once. Outputs have places of their own, and so has
    /// what is free.
    fn peak(&self, order: &[NodeId], is_free: impl Fn(NodeId) -> bool) -> usize {
        let mut left = self.use_counts();
        let mut has_place = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|id| has_place[id.index()] = true);
        order.iter().filter(|id| is_free(**id)).for_each(|id| has_place[id.index()] = true);
        let (mut live, mut peak) = (0_usize, 0);
        for &id in order {
            for &operand in self.node(id).args() {
                left[operand.index()] -= 1;
                let index = operand.index();
                if left[index] == 0 && !self.nodes[index].is_leaf() && !has_place[index] {
                    live -= 1;
                }
            }
            if !has_place[id.index()] {
                live += 1;
                peak = peak.max(live);
            }
        }
        peak
    }
}

#[cfg(test)]
mod tests {
    use super::super::Op;
    use super::*;
    use crate::Real;

    #[test]
    fn operands_come_first_in_either_order() {
        let graph = Graph::record(3, 0, |_, y, _| {
            let a = (y[0] + y[1]) * (y[1] + y[2]);
            vec![a.exp() - a, a * y[2], (a + y[0]).sqrt()]
        });
        let orders = [graph.schedule(), graph.narrow_schedule(), graph.depth_first()];
        for order in orders.into_iter().chain([graph.backward(|_| false)]) {
            let place = |id: NodeId| order.iter().position(|&other| other == id);
            assert_eq!(order.len(), graph.nodes().iter().filter(|node| !node.is_leaf()).count());
            for &id in &order {
                for &operand in graph.node(id).args() {
                    assert!(graph.node(operand).is_leaf() || place(operand) < place(id));
                }
            }
        }
    }

    #[test]
    fn a_sum_of_fresh_terms_keeps_two_values_alive() {
        let graph = Graph::record(50, 0, |_, y, _| {
            let terms: Vec<_> = y.iter().map(|&x| x.exp()).collect();
            vec![terms[1..].iter().fold(terms[0], |sum, &term| sum + term)]
        });
        assert_eq!(graph.peak(&graph.narrow_schedule(), |_| false), 2);
        assert_eq!(graph.peak(&graph.backward(|_| false), |_| false), 2);
        assert!(graph.peak(&graph.schedule(), |_| false) <= WINDOW);
    }

    #[test]
    fn what_outputs_share_is_computed_where_it_is_wanted() {
        // All slopes, then all entries: each exponential would stay alive for its second use.
        let graph = Graph::record(40, 0, |_, y, _| {
            let terms: Vec<_> = y.iter().map(|y| y.exp()).collect();
            let slopes = terms.iter().zip(y).map(|(&term, &y)| term + y);
            let entries = terms.iter().zip(y).map(|(&term, y)| term * y.sin());
            slopes.chain(entries).collect()
        });
        assert!(graph.peak(&graph.narrow_schedule(), |_| false) > 39);
        assert!(graph.peak(&graph.narrow_schedule_except(|_| false), |_| false) <= 3);
        // What is free is not counted, wherever it stands.
        let is_exponential = |id: NodeId| matches!(graph.node(id), Node::Op(Op::Exp, _));
        assert!(graph.peak(&graph.narrow_schedule(), is_exponential) <= 2);
    }

    #[test]
    fn independent_chains_are_interleaved() {
        let graph = Graph::record(4, 0, |_, y, _| {
            y.iter().map(|&y| (0..10).fold(y, |x, _| x.exp())).collect()
        });
        let order = graph.schedule();
        let neighbours = order.windows(2);
        let waits = neighbours.filter(|pair| graph.node(pair[1]).args().contains(&pair[0])).count();
        assert_eq!(waits, 0);
    }
}
