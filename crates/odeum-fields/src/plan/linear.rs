//! Equations that are linear in Laplacians with numbers as factors: f = r(u, x, t) + Σ kₙ Lₙ.
//!
//! Of those a sweep keeps one number for each species and cell while planes go by, and the
//! reaction is computed apart.

use odeum_core::{Graph, Real, Symbol};

/// A graph taken apart.
#[derive(Clone)]
pub(crate) struct Linear {
    /// r, whose states are u and x, y, z.
    pub(crate) local: Graph,
    /// k \[outputs × Laplacians\].
    pub(crate) parts: Vec<Vec<f64>>,
    /// Outputs of which r is more than zero.
    pub(crate) reacts: Vec<bool>,
}

impl Linear {
    /// Takes apart a graph without parameters, whose states are u \[S\], L \[S\], x, y, z and
    /// Laplacians of potentials; `None` where it has another form.
    pub(crate) fn new(graph: &Graph, species: usize) -> Option<Linear> {
        let beyond = graph.n_states() - 2 * species - 3;
        let (outputs, laplacians) = (graph.outputs().len(), species + beyond);
        let (entries, pattern) = graph.jacobian();
        let mut parts = vec![vec![0.0; laplacians]; outputs];
        for (k, (row, col)) in pattern.iter().enumerate() {
            let n = match col {
                _ if col < species => continue,
                _ if col < 2 * species => col - species,
                _ if col < 2 * species + 3 => continue,
                _ => col - species - 3,
            };
            parts[row][n] = entries.node(entries.outputs()[k]).constant()?;
        }
        let local = Graph::record(species + 3, 0, |t, y, _| {
            let rest = |row: usize| {
                // Zeros of the sign that makes their products vanish from sums.
                let zero = |n: usize| Symbol::lit(if parts[row][n] > 0.0 { -0.0 } else { 0.0 });
                let mut states = y[..species].to_vec();
                states.extend((0..species).map(zero));
                states.extend_from_slice(&y[species..]);
                states.extend((species..laplacians).map(zero));
                graph.subset(&[row]).eval(t, &states, &[])[0]
            };
            (0..outputs).map(rest).collect()
        });
        let constant = |id: &odeum_core::graph::NodeId| local.node(*id).constant();
        let reacts = local.outputs().iter().map(|id| constant(id) != Some(0.0)).collect();
        Some(Linear { local, parts, reacts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::Builtin;

    fn split(builtin: Builtin) -> (Linear, Option<Linear>) {
        let (rhs, potentials) = builtin.model().unwrap().bound();
        let species = builtin.model().unwrap().species().len();
        (Linear::new(&rhs, species).unwrap(), Linear::new(&potentials, species))
    }

    #[test]
    fn the_problems_of_the_paper_are_linear_in_laplacians() {
        let (diffusion, _) = split(Builtin::Diffusion);
        assert_eq!((diffusion.parts, diffusion.reacts), (vec![vec![1.0]], vec![false]));
        let (turing, _) = split(Builtin::Turing);
        assert_eq!(turing.parts, [[5e-5, 0.0], [0.0, 5e-3]]);
        assert_eq!(turing.reacts, [true, true]);
        let f = turing.local.eval(0.0, &[0.5, 0.25, 0.0, 0.0, 0.0], &[]);
        assert_eq!(f[0], 0.5 - 0.125 - 0.25);
        let (front, potentials) = split(Builtin::Front);
        assert_eq!(front.parts[2], [0.0, 0.0, 0.0, -1.0]);
        assert_eq!(potentials.unwrap().parts, [[0.0, 0.0, 1.0]]);
    }

    #[test]
    fn products_with_laplacians_are_not() {
        let graph = Graph::record(5, 0, |_, y, _| vec![y[0] * y[1]]);
        assert!(Linear::new(&graph, 1).is_none());
    }
}
