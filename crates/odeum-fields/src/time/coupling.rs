//! Which species are coupled.
//!
//! A species is coupled to those that its equation reads, also through potentials and conditions, and to those that read it. What one
//! group of coupled species does says nothing about another: each is judged as if the others were not there.

use crate::problem::Problem;
use odeum_core::Graph;
use odeum_core::graph::Node;

/// The groups of coupled species of a problem.
pub(super) struct Coupling {
    /// The species of each.
    pub(super) groups: Vec<Vec<usize>>,
    /// The group of each potential.
    pub(super) of_potential: Vec<usize>,
}

/// Sets that are joined, of numbers each of which points to another of its set, or to itself.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut k: usize) -> usize {
        while self.0[k] != k {
            self.0[k] = self.0[self.0[k]];
            k = self.0[k];
        }
        k
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

impl Coupling {
    pub(super) fn new(problem: &Problem) -> Coupling {
        let (rhs, potentials) = problem.model.bound();
        let (s, k) = (problem.model.species().len(), potentials.outputs().len());
        // Species, then potentials.
        let mut sets = Sets((0..s + k).collect());
        join(&mut sets, &rhs, s, 0);
        join(&mut sets, &potentials, s, s);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut group_of = vec![None; s + k];
        for species in 0..s {
            let group = *group_of[sets.find(species)].get_or_insert(groups.len());
            groups.resize(groups.len().max(group + 1), Vec::new());
            groups[group].push(species);
        }
        // What no species reads counts for none.
        let of_potential = (s..s + k).map(|p| group_of[sets.find(p)].unwrap_or(0)).collect();
        Coupling { groups, of_potential }
    }

    /// The group of each species.
    pub(super) fn of_species(&self) -> Vec<usize> {
        let mut of_species = vec![0; self.groups.iter().map(Vec::len).sum()];
        for (group, species) in self.groups.iter().enumerate() {
            species.iter().for_each(|s| of_species[*s] = group);
        }
        of_species
    }
}

/// Joins what each output of a graph, of which the first has this number, reads: values and Laplacians of `s` species, and
/// Laplacians of potentials.
fn join(sets: &mut Sets, graph: &Graph, s: usize, first_output: usize) {
    let first_node = sets.0.len();
    sets.0.extend(first_node..first_node + graph.nodes().len());
    // Nodes that read any: place and time couple nothing.
    let mut reads = Vec::with_capacity(graph.nodes().len());
    for (n, node) in graph.nodes().iter().enumerate() {
        let read: Vec<usize> = match *node {
            Node::State(i) => match i as usize {
                i if i < 2 * s => vec![i % s],
                i if i < 2 * s + 3 => Vec::new(),
                i => vec![i - s - 3],
            },
            _ => {
                let args = node.args().iter().map(|id| id.index());
                args.filter(|arg| reads[*arg]).map(|arg| first_node + arg).collect()
            }
        };
        reads.push(!read.is_empty());
        read.into_iter().for_each(|other| sets.join(first_node + n, other));
    }
    for (k, id) in graph.outputs().iter().enumerate() {
        if reads[id.index()] {
            sets.join(first_node + id.index(), first_output + k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::grid::Grid;
    use crate::problem::model::ModelText;

    fn groups(equations: &[(&str, &str)]) -> Vec<Vec<usize>> {
        let text = ModelText {
            species: equations.iter().map(|(name, _)| *name).collect(),
            equations: equations.to_vec(),
            ..ModelText::default()
        };
        let grid = Grid::new([4, 1, 1], 1.0).unwrap();
        Coupling::new(&Problem::new(text.read().unwrap().0, grid)).groups
    }

    #[test]
    fn species_are_coupled_by_what_their_equations_read() {
        let apart = [("u", "lap(u) + sin(t) + x"), ("v", "sin(t) * x - v"), ("w", "0")];
        assert_eq!(groups(&apart), [[0], [1], [2]]);
        // The first with the last, and by conditions too, of which no derivative knows.
        assert_eq!(groups(&[("u", "w"), ("v", "v"), ("w", "1")]), [vec![0, 2], vec![1]]);
        let condition = [("u", "1"), ("v", "lap(v)"), ("w", "select(u > 0.5, 1, 0) * w")];
        assert_eq!(groups(&condition), [vec![0, 2], vec![1]]);
        // In a chain, by Laplacians, and by those of potentials.
        assert_eq!(groups(&[("u", "v"), ("v", "lap(w)"), ("w", "1")]), [vec![0, 1, 2]]);
        let potentials = [("u", "lap(u^3 - lap(v))"), ("v", "1"), ("w", "lap(w^2 + t)")];
        assert_eq!(groups(&potentials), [vec![0, 1], vec![2]]);
    }
}
