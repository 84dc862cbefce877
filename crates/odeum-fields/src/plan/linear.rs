//! Equations that are linear in Laplacians with numbers as factors: f = r(u, x, t) + Σ kₙ Lₙ.
//!
//! Of those a sweep keeps one number for each species and cell while planes go by, and the
//! reaction is computed apart.

use odeum_core::graph::{Node, Op};
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
        if !is_rational_in(graph, |i| i >= species && !(2 * species..2 * species + 3).contains(&i))
        {
            return None;
        }
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

    /// Whether no output contains another Laplacian than its own.
    pub(crate) fn is_diagonal(&self) -> bool {
        let others = |(s, parts): (usize, &Vec<f64>)| {
            parts.iter().enumerate().any(|(n, part)| n != s && *part != 0.0)
        };
        !self.parts.iter().enumerate().any(others)
    }

    /// The numbers d when every output is fₛ = dₛ Lₛ and there are no potentials.
    pub(crate) fn diffusion_only(&self) -> Option<Vec<f64>> {
        let own = |s: usize| {
            let part = &self.parts[s];
            let others = part.iter().enumerate().any(|(n, k)| n != s && *k != 0.0);
            (part.len() == self.parts.len() && !others).then(|| part[s])
        };
        let reacts = self.reacts.contains(&true);
        (0..self.parts.len()).map(own).collect::<Option<_>>().filter(|_| !reacts)
    }
}

/// Whether the outputs are rational functions of some states, for all values of the others. Of such a function a
/// constant derivative is proof that it is linear. Of others it is not: comparisons and roundings have the derivative
/// zero, so that a Jacobian does not show what they read.
fn is_rational_in(graph: &Graph, state: impl Fn(usize) -> bool) -> bool {
    use Op::{Add, Add3, Div, Mul, Mul3, MulAdd, MulSub, Neg, NegMulAdd, Recip, Select, Sub};
    // Nodes that depend on these states.
    let mut reached: Vec<bool> = Vec::with_capacity(graph.nodes().len());
    for node in graph.nodes() {
        let of = |k: usize| node.args().get(k).is_some_and(|id| reached[id.index()]);
        let depends = match node {
            Node::State(i) => state(*i as usize),
            _ => (0..node.args().len()).any(of),
        };
        let rational = match node {
            Node::Op(Select, _) => !of(0),
            Node::Op(op, _) => matches!(
                op,
                Add | Add3 | Sub | Mul | Mul3 | MulAdd | MulSub | NegMulAdd | Neg | Div | Recip
            ),
            _ => true,
        };
        if depends && !rational {
            return false;
        }
        reached.push(depends);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::model::ModelText;
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

    fn of_text(equation: &str) -> Option<Linear> {
        let text = ModelText {
            species: vec!["u"],
            equations: vec![("u", equation)],
            ..ModelText::default()
        };
        let (rhs, potentials) = text.read().unwrap().0.bound();
        assert!(potentials.outputs().is_empty());
        Linear::new(&rhs, 1)
    }

    #[test]
    fn what_jumps_with_a_laplacian_is_not_linear_in_it() {
        for equation in [
            "select(lap(u) > -1, 0, 1)",
            "lap(u) + floor(lap(u) + 0.5)",
            "select(lap(u) > 1, lap(u) + 1, lap(u))",
            "max(lap(u), lap(u) - 1)",
            "lap(u) - floor(2 * lap(u))",
        ] {
            assert!(of_text(equation).is_none(), "{equation}");
        }
    }

    #[test]
    fn what_jumps_elsewhere_is_a_reaction() {
        for equation in [
            "0.5 * lap(u) + select(u > 0.25, 1, 0)",
            "0.5 * lap(u) + floor(x)",
            "0.5 * lap(u) + floor(u + 0.6)",
            "0.5 * lap(u) + select(x > 3, 1, 0)",
            "0.5 * lap(u) + select(t > 1, 2, 0)",
            "select(u > 1, 0.5 * lap(u), 0.5 * lap(u) + 1)",
        ] {
            let linear = of_text(equation).unwrap();
            assert_eq!((linear.parts[0][0], linear.reacts[0]), (0.5, true), "{equation}");
            assert!(linear.diffusion_only().is_none(), "{equation}");
        }
        for equation in ["0.5 * lap(u)", "lap(u) - lap(u) / 2", "lap(u) - 0.5 * lap(u) + 0"] {
            let linear = of_text(equation).unwrap();
            assert_eq!(linear.diffusion_only(), Some(vec![0.5]), "{equation}");
        }
    }
}
