//! Which outputs go together when several threads share one system.

use crate::graph::{Class, Graph, Node};

/// Divides the outputs of a graph among `n_groups` threads so that the costliest group is cheap.
///
/// A group costs what all expressions behind its outputs cost, shared ones once. So outputs that
/// share expressions attract each other: in an n-body problem the accelerations of one body end
/// up together. Outputs are merged two groups at a time, always the pair whose union is the
/// cheapest, then moved one by one as long as the costliest group gains. Outputs that cost
/// nothing, such as x' = v, go where there is least to do. Groups list their outputs in
/// ascending order; some are empty when there are more groups than outputs.
pub fn partition(graph: &Graph, n_groups: usize) -> Vec<Vec<usize>> {
    let cones = Cones::new(&graph.expand_powers());
    let n_groups = n_groups.max(1);
    let (costly, free): (Vec<usize>, Vec<usize>) =
        (0..graph.outputs().len()).partition(|&output| cones.cost(&cones.sets[output]) > 0);
    let mut groups = cones.merge(costly, n_groups);
    cones.improve(&mut groups);
    groups.resize_with(n_groups, Group::default);
    for output in free {
        let least = groups.iter_mut().min_by_key(|group| group.cost + group.outputs.len() as u64);
        if let Some(group) = least {
            group.outputs.push(output);
        }
    }
    let mut outputs: Vec<Vec<usize>> = groups.into_iter().map(|group| group.outputs).collect();
    outputs.iter_mut().for_each(|group| group.sort_unstable());
    outputs.sort_by_key(|group| group.first().copied().unwrap_or(usize::MAX));
    outputs
}

/// A set of operations, one bit each.
type Set = Vec<u64>;

/// Outputs and all operations behind them.
#[derive(Clone, Debug, Default)]
struct Group {
    outputs: Vec<usize>,
    set: Set,
    cost: u64,
}

/// The operations behind every output.
struct Cones {
    sets: Vec<Set>,
    /// Cost of each operation of a word; a word holds operations of one class only.
    weights: Vec<u64>,
}

impl Cones {
    fn new(graph: &Graph) -> Cones {
        let mut bits = vec![None; graph.nodes().len()];
        let mut weights = Vec::new();
        for class in [Class::Arithmetic, Class::Condition, Class::Root, Class::Function] {
            let members =
                graph.nodes().iter().enumerate().filter(
                    |(_, node)| matches!(node, Node::Op(op, _) if op.info().class == class),
                );
            let first = weights.len() * 64;
            let mut count = 0;
            for (index, _) in members {
                bits[index] = Some(first + count);
                count += 1;
            }
            weights.resize(weights.len() + count.div_ceil(64), class.cost());
        }
        let sets = graph
            .outputs()
            .iter()
            .map(|&output| {
                let mut set = vec![0_u64; weights.len()];
                let mut stack = vec![output];
                while let Some(id) = stack.pop() {
                    let Some(bit) = bits[id.index()] else { continue };
                    if set[bit / 64] >> (bit % 64) & 1 == 0 {
                        set[bit / 64] |= 1 << (bit % 64);
                        stack.extend(graph.node(id).args());
                    }
                }
                set
            })
            .collect();
        Cones { sets, weights }
    }

    fn cost(&self, set: &[u64]) -> u64 {
        set.iter()
            .zip(&self.weights)
            .map(|(word, weight)| u64::from(word.count_ones()) * weight)
            .sum()
    }

    fn union_cost(&self, a: &[u64], b: &[u64]) -> u64 {
        let words = a.iter().zip(b).zip(&self.weights);
        words.map(|((a, b), weight)| u64::from((a | b).count_ones()) * weight).sum()
    }

    fn group(&self, outputs: Vec<usize>) -> Group {
        let mut set = vec![0; self.weights.len()];
        for &output in &outputs {
            set.iter_mut().zip(&self.sets[output]).for_each(|(word, more)| *word |= more);
        }
        let cost = self.cost(&set);
        Group { outputs, set, cost }
    }

    /// Merges single outputs until at most `n_groups` groups are left.
    fn merge(&self, outputs: Vec<usize>, n_groups: usize) -> Vec<Group> {
        let mut groups: Vec<Group> =
            outputs.into_iter().map(|output| self.group(vec![output])).collect();
        // Union costs of the pairs (i, j), j < i.
        let mut unions: Vec<Vec<u64>> = (0..groups.len())
            .map(|i| (0..i).map(|j| self.union_cost(&groups[i].set, &groups[j].set)).collect())
            .collect();
        while groups.len() > n_groups {
            let pairs = (0..groups.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
            let Some((i, j)) = pairs.min_by_key(|&(i, j)| unions[i][j]) else { break };
            let gone = groups.remove(i);
            unions.remove(i);
            unions.iter_mut().skip(i).for_each(|row| {
                row.remove(i);
            });
            let mut outputs = std::mem::take(&mut groups[j].outputs);
            outputs.extend(gone.outputs);
            groups[j] = self.group(outputs);
            for k in (0..groups.len()).filter(|&k| k != j) {
                unions[k.max(j)][k.min(j)] = self.union_cost(&groups[k].set, &groups[j].set);
            }
        }
        groups
    }

    /// Moves outputs out of the costliest group while that makes the costlier of the two groups
    /// cheaper.
    fn improve(&self, groups: &mut [Group]) {
        // Every move lowers a cost; the bound is for time, not for an end.
        for _ in 0..4 * self.sets.len() {
            let Some(from) = (0..groups.len()).max_by_key(|&k| groups[k].cost) else { return };
            let mut best: Option<(u64, usize, Group, Group)> = None;
            for &output in &groups[from].outputs {
                let rest = groups[from].outputs.iter().copied().filter(|&other| other != output);
                let left = self.group(rest.collect());
                for to in (0..groups.len()).filter(|&to| to != from) {
                    let cost = self.union_cost(&groups[to].set, &self.sets[output]).max(left.cost);
                    if cost < best.as_ref().map_or(groups[from].cost, |(cost, ..)| *cost) {
                        let mut outputs = groups[to].outputs.clone();
                        outputs.push(output);
                        best = Some((cost, to, left.clone(), self.group(outputs)));
                    }
                }
            }
            let Some((_, to, left, joined)) = best else { return };
            groups[from] = left;
            groups[to] = joined;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, Real, Symbol};

    /// Accelerations of `n` bodies on a line and across it, and their velocities.
    fn bodies(n: usize) -> Graph {
        Graph::record(4 * n, 0, |_, y, _| {
            let zero = Symbol::lit(0.0);
            let mut f = vec![zero; 4 * n];
            f[..2 * n].copy_from_slice(&y[2 * n..]);
            for i in 0..n {
                for j in 0..i {
                    let (dx, dy) = (y[j] - y[i], y[n + j] - y[n + i]);
                    let w = (dx * dx + dy * dy).rsqrt().powi(3);
                    f[2 * n + i] = f[2 * n + i] + w * dx;
                    f[2 * n + j] = f[2 * n + j] - w * dx;
                    f[3 * n + i] = f[3 * n + i] + w * dy;
                    f[3 * n + j] = f[3 * n + j] - w * dy;
                }
            }
            f
        })
    }

    #[test]
    fn accelerations_of_a_body_stay_together() {
        let groups = partition(&bodies(7), 7);
        for body in 0..7 {
            let home = groups.iter().find(|group| group.contains(&(14 + body)));
            assert!(home.is_some_and(|group| group.contains(&(21 + body))), "{groups:?}");
        }
        assert!(groups.iter().all(|group| group.len() == 4), "{groups:?}");
    }

    #[test]
    fn independent_outputs_are_balanced() {
        let graph = Graph::record(8, 0, |_, y, _| y.iter().map(|x| x.exp()).collect());
        for n in [1, 2, 3, 8, 11] {
            let groups = partition(&graph, n);
            assert_eq!(groups.len(), n);
            let mut all: Vec<usize> = groups.concat();
            all.sort_unstable();
            assert_eq!(all, (0..8).collect::<Vec<_>>());
            assert_eq!(groups.iter().map(Vec::len).max(), Some(8_usize.div_ceil(n)));
        }
    }
}
