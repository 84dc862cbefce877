//! Which slopes a Runge–Kutta kernel stores, and in which groups components come.

use odeum_core::graph::{Isomorphic, Node};
use odeum_core::{Graph, emit};

/// Lanes that may share a system: those of a warp.
const MOST_GROUPS: usize = 32;

/// Components of a system in the order of the kernel.
///
/// A *slot* is a component j whose slope is stored. Its paired component, if it has one, is a component i
/// with xᵢ' = yⱼ exactly: the slope of i is a stage state of j and need not be stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slots {
    /// Component of each slot.
    pub(crate) component: Vec<usize>,
    /// Paired component of each slot.
    pub(crate) paired: Vec<Option<usize>>,
    /// First slot of each group, and the number of slots.
    pub(crate) group_first: Vec<usize>,
    /// True when a stage needs the states of components with stored slopes.
    pub(crate) full_stages: bool,
    /// The slopes of a group, where all groups are one function of other states and constants.
    pub(crate) isomorphic: Option<Isomorphic>,
}

impl Slots {
    /// Every component a slot, in order, in one group.
    pub(crate) fn plain(dim: usize) -> Self {
        Slots {
            component: (0..dim).collect(),
            paired: vec![None; dim],
            group_first: vec![0, dim],
            full_stages: true,
            isomorphic: None,
        }
    }

    /// Paired components found, slots in groups that are isomorphic if there are such. `graph` is a right-hand side.
    pub(crate) fn find(graph: &Graph, fsal: bool) -> Self {
        let dim = graph.outputs().len();
        let mut paired_of = vec![None; dim];
        let mut is_paired = vec![false; dim];
        for i in 0..dim {
            if let Some(j) = graph.output_is_state(i)
                && j != i
                && paired_of[i].is_none()
                && paired_of[j].is_none()
                && !is_paired[j]
            {
                paired_of[j] = Some(i);
                is_paired[i] = true;
            }
        }
        let stored: Vec<usize> = (0..dim).filter(|&i| !is_paired[i]).collect();
        let (groups, isomorphic) = groups(graph, &stored);
        let component = groups.concat();
        let mut group_first = vec![0];
        for group in &groups {
            group_first.push(group_first[group_first.len() - 1] + group.len());
        }
        let slopes = graph.subset(&component);
        let reads_paired = slopes
            .nodes()
            .iter()
            .any(|node| matches!(node, Node::State(j) if paired_of[*j as usize].is_some()));
        let paired: Vec<_> = component.iter().map(|&j| paired_of[j]).collect();
        let full_stages = fsal || reads_paired || paired.iter().any(Option::is_none);
        // Lanes run one code: all of their slots have paired components, or none.
        let even = paired.iter().all(Option::is_some) || paired.iter().all(Option::is_none);
        Slots {
            component,
            paired,
            group_first,
            full_stages,
            isomorphic: isomorphic.filter(|_| even),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.component.len()
    }

    pub(crate) fn has_paired(&self) -> bool {
        self.paired.iter().any(Option::is_some)
    }

    /// Component of each slot, as numbers of a table.
    pub(crate) fn component_text(&self) -> Vec<String> {
        self.component.iter().map(usize::to_string).collect()
    }

    /// Paired component of each slot, or -1.
    pub(crate) fn paired_text(&self) -> Vec<String> {
        let number = |paired: &Option<usize>| paired.map_or("-1".to_owned(), |i| i.to_string());
        self.paired.iter().map(number).collect()
    }

    /// Number of groups.
    pub(crate) fn n_groups(&self) -> usize {
        self.group_first.len() - 1
    }
}

/// The groups that are isomorphic and make each of them cheapest, with their function; one group
/// when none are.
fn groups(graph: &Graph, stored: &[usize]) -> (Vec<Vec<usize>>, Option<Isomorphic>) {
    let slopes = graph.fused().subset(stored);
    // Every slot costs stage arithmetic besides its right-hand side.
    let cost = |function: &Graph| {
        let counts = function.counts();
        counts.flops + 8 * counts.roots + 20 * counts.functions + 20 * function.outputs().len()
    };
    let mut best: Option<(Vec<Vec<usize>>, Isomorphic)> = None;
    for n_groups in (2..=MOST_GROUPS.min(stored.len())).filter(|&n| stored.len().is_multiple_of(n))
    {
        let groups = emit::partition(&slopes, n_groups);
        let Some(isomorphic) = slopes.isomorphic(&groups) else { continue };
        // Tables of lanes hold numbers that compilers take as they are.
        if !isomorphic.constants.iter().flatten().all(|&x| emit::single_has(x)) {
            continue;
        }
        if best.as_ref().is_none_or(|(_, known)| cost(&isomorphic.function) < cost(&known.function))
        {
            best = Some((groups, isomorphic));
        }
    }
    match best {
        Some((groups, isomorphic)) => {
            let named = |group: Vec<usize>| group.into_iter().map(|k| stored[k]).collect();
            (groups.into_iter().map(named).collect(), Some(isomorphic))
        }
        None => (vec![stored.to_vec()], None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_paired_of_velocities() {
        let oscillator = Graph::record(2, 1, |_, y, p| vec![y[1], -p[0] * y[0]]);
        let slots = Slots::find(&oscillator, false);
        assert_eq!((slots.component, slots.paired), (vec![1], vec![Some(0)]));
        assert!(!slots.full_stages);
        let damped = Graph::record(2, 1, |_, y, p| vec![y[1], -p[0] * y[0] - y[1]]);
        assert!(Slots::find(&damped, false).full_stages);
        assert!(Slots::find(&oscillator, true).full_stages);
    }

    #[test]
    fn oscillators_in_a_ring_are_alike() {
        let ring = Graph::record(8, 0, |_, y, _| {
            let pull = |i: usize| y[4 + (i + 1) % 4] + y[4 + (i + 3) % 4] - y[4 + i] * y[4 + i];
            (0..8).map(|i| if i < 4 { y[4 + i] } else { pull(i - 4) }).collect()
        });
        let slots = Slots::find(&ring, false);
        assert_eq!((slots.n_groups(), slots.len(), slots.has_paired()), (4, 4, true));
        assert_eq!(slots.isomorphic.map(|isomorphic| isomorphic.states.len()), Some(4));
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
