//! The order in which a graph's operations are carried out.

use super::{Graph, NodeId};
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
        let written: Vec<NodeId> =
            (0..self.nodes.len()).filter(|&k| !self.nodes[k].is_leaf()).map(NodeId::new).collect();
        let depth_first = self.depth_first();
        if self.peak(&depth_first) < self.peak(&written) { depth_first } else { written }
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

    /// Largest number of computed values alive at once. Outputs have places of their own.
    fn peak(&self, order: &[NodeId]) -> usize {
        let mut left = self.use_counts();
        let mut is_output = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|id| is_output[id.index()] = true);
        let (mut live, mut peak) = (0_usize, 0);
        for &id in order {
            for &operand in self.node(id).args() {
                left[operand.index()] -= 1;
                let index = operand.index();
                if left[index] == 0 && !self.nodes[index].is_leaf() && !is_output[index] {
                    live -= 1;
                }
            }
            if !is_output[id.index()] {
                live += 1;
                peak = peak.max(live);
            }
        }
        peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;

    #[test]
    fn operands_come_first_in_either_order() {
        let graph = Graph::record(3, 0, |_, y, _| {
            let a = (y[0] + y[1]) * (y[1] + y[2]);
            vec![a.exp() - a, a * y[2], (a + y[0]).sqrt()]
        });
        for order in [graph.schedule(), graph.narrow_schedule(), graph.depth_first()] {
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
        assert_eq!(graph.peak(&graph.narrow_schedule()), 2);
        assert!(graph.peak(&graph.schedule()) <= WINDOW);
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
