//! Which slopes a Runge–Kutta kernel stores, and in which groups components come.

use odeum_core::graph::Node;
use odeum_core::{Graph, emit};

/// Warps a team may have: one for each scheduler of a multiprocessor. More only wait for each
/// other: seven warps for the seven stars of the Pleiades take 0.34 ms where four take 0.30 (H200).
const MOST_GROUPS: usize = 4;

/// Components of a system in the order of the kernel.
///
/// A *slot* is a component j whose slope is stored. Its *twin*, if it has one, is a component i
/// with xᵢ' = yⱼ exactly: the slope of i is a stage state of j and need not be stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slots {
    /// Component of each slot.
    pub(crate) component: Vec<usize>,
    /// Twin of each slot.
    pub(crate) twin: Vec<Option<usize>>,
    /// First slot of each group, and the number of slots.
    pub(crate) group_first: Vec<usize>,
    /// True when a stage needs the states of components with stored slopes.
    pub(crate) full_stages: bool,
}

impl Slots {
    /// Every component a slot, in order, in one group.
    pub(crate) fn plain(dim: usize) -> Self {
        Slots {
            component: (0..dim).collect(),
            twin: vec![None; dim],
            group_first: vec![0, dim],
            full_stages: true,
        }
    }

    /// Twins found, slots in groups of about equal cost. `graph` is a right-hand side.
    pub(crate) fn find(graph: &Graph, fsal: bool) -> Self {
        let dim = graph.outputs().len();
        let mut twin_of = vec![None; dim];
        let mut is_twin = vec![false; dim];
        for i in 0..dim {
            if let Some(j) = graph.output_is_state(i)
                && j != i
                && twin_of[i].is_none()
                && twin_of[j].is_none()
                && !is_twin[j]
            {
                twin_of[j] = Some(i);
                is_twin[i] = true;
            }
        }
        let stored: Vec<usize> = (0..dim).filter(|&i| !is_twin[i]).collect();
        let groups = groups(graph, &stored);
        let component = groups.concat();
        let mut group_first = vec![0];
        for group in &groups {
            group_first.push(group_first[group_first.len() - 1] + group.len());
        }
        let slopes = graph.subset(&component);
        let reads_paired = slopes
            .nodes()
            .iter()
            .any(|node| matches!(node, Node::State(j) if twin_of[*j as usize].is_some()));
        let twin: Vec<_> = component.iter().map(|&j| twin_of[j]).collect();
        let full_stages = fsal || reads_paired || twin.iter().any(Option::is_none);
        Slots { component, twin, group_first, full_stages }
    }

    pub(crate) fn len(&self) -> usize {
        self.component.len()
    }

    pub(crate) fn has_twins(&self) -> bool {
        self.twin.iter().any(Option::is_some)
    }

    /// Number of groups, one per warp of a team.
    pub(crate) fn n_groups(&self) -> usize {
        self.group_first.len() - 1
    }

    /// Slots of the largest group.
    pub(crate) fn largest_group(&self) -> usize {
        self.group_first.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0)
    }
}

/// The number of groups, and the groups, that make the costliest one cheapest.
fn groups(graph: &Graph, stored: &[usize]) -> Vec<Vec<usize>> {
    let slopes = graph.subset(stored);
    let cost = |group: &Vec<usize>| {
        let counts = slopes.subset(group).counts();
        // Every slot costs stage arithmetic besides its right-hand side.
        counts.flops + 8 * counts.roots + 20 * counts.functions + 20 * group.len()
    };
    let mut best = vec![(0..stored.len()).collect::<Vec<_>>()];
    let mut least = cost(&best[0]);
    for n_groups in 2..=MOST_GROUPS.min(stored.len()) {
        let candidate = emit::partition(&slopes, n_groups);
        let candidate: Vec<_> = candidate.into_iter().filter(|group| !group.is_empty()).collect();
        let costliest = candidate.iter().map(cost).max().unwrap_or(usize::MAX);
        // A larger team must be worth its barriers.
        if costliest * 20 < least * 19 {
            (best, least) = (candidate, costliest);
        }
    }
    best.into_iter().map(|group| group.into_iter().map(|k| stored[k]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_twins_of_velocities() {
        let oscillator = Graph::record(2, 1, |_, y, p| vec![y[1], -p[0] * y[0]]);
        let slots = Slots::find(&oscillator, false);
        assert_eq!((slots.component, slots.twin), (vec![1], vec![Some(0)]));
        assert!(!slots.full_stages);
        let damped = Graph::record(2, 1, |_, y, p| vec![y[1], -p[0] * y[0] - y[1]]);
        assert!(Slots::find(&damped, false).full_stages);
        assert!(Slots::find(&oscillator, true).full_stages);
    }

    #[test]
    fn chains_and_shared_velocities_fold_once() {
        // y0' = y1, y1' = y2, y2' = −y0; then two components that follow the same third.
        let chain = Graph::record(3, 0, |_, y, _| vec![y[1], y[2], -y[0]]);
        let slots = Slots::find(&chain, false);
        assert_eq!(slots.len(), 2);
        let shared = Graph::record(3, 0, |_, y, _| vec![y[2], y[2], -y[0]]);
        assert_eq!(Slots::find(&shared, false).len(), 2);
        let itself = Graph::record(1, 0, |_, y, _| vec![y[0]]);
        assert_eq!(Slots::find(&itself, false), Slots::plain(1));
    }
}
