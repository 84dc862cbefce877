//! The tableaus judged by the order conditions of Butcher, tree by tree.
//!
//! A method has order p when Φ(t) = 1/γ(t) for every rooted tree t of at most p vertices, where
//! Φ is the elementary weight and γ the density of the tree: Hairer, Nørsett & Wanner, *Solving
//! ODEs I*, sec. II.2, definitions 2.9 and 2.10, theorem 2.13.

use super::{ALL, CASH_KARP, Tableau};

/// What all conditions of one tree need: its density and, stage by stage, the weight of the
/// forest that is left when the root is cut off.
struct Tree {
    gamma: f64,
    stages: Vec<f64>,
}

/// All rooted trees by their number of vertices: `trees[n - 1]` has those with n.
fn rooted_trees(largest: usize, tableau: &Tableau) -> Vec<Vec<Tree>> {
    let mut trees: Vec<Vec<Tree>> = Vec::new();
    for n in 1..=largest {
        let root = Tree { gamma: n as f64, stages: vec![1.0; tableau.stages()] };
        let mut found = Vec::new();
        join_subtrees(&trees, tableau, n - 1, (n.saturating_sub(1), 0), root, &mut found);
        trees.push(found);
    }
    trees
}

/// Hangs subtrees of `left` vertices in all on the root of `tree`, in every way. Each multiset
/// of subtrees is built once: sizes do not rise and, within a size, indices do not fall; `from`
/// is the largest size and the least index still allowed.
fn join_subtrees(
    trees: &[Vec<Tree>],
    tableau: &Tableau,
    left: usize,
    from: (usize, usize),
    tree: Tree,
    found: &mut Vec<Tree>,
) {
    if left == 0 {
        found.push(tree);
        return;
    }
    for size in (1..=from.0.min(left)).rev() {
        let first = if size == from.0 { from.1 } else { 0 };
        for (i, subtree) in trees[size - 1].iter().enumerate().skip(first) {
            let weights = tableau.a.iter().map(|row| weighted(row, &subtree.stages));
            let joined = Tree {
                gamma: tree.gamma * subtree.gamma,
                stages: tree.stages.iter().zip(weights).map(|(g, w)| g * w).collect(),
            };
            join_subtrees(trees, tableau, left - size, (size, i), joined, found);
        }
    }
}

fn weighted(weights: &[f64], values: &[f64]) -> f64 {
    weights.iter().zip(values).map(|(w, v)| w * v).sum()
}

/// Largest |γΦ − 1| of the weights `b` over all trees of each number of vertices.
fn residuals(tableau: &Tableau, b: &[f64], largest: usize) -> Vec<f64> {
    rooted_trees(largest, tableau)
        .iter()
        .map(|trees| {
            trees.iter().map(|t| (t.gamma * weighted(b, &t.stages) - 1.0).abs()).fold(0.0, f64::max)
        })
        .collect()
}

/// Residuals below this are rounding: the entries of Verner's table reach 187.
const ROUNDING: f64 = 5e-11;

fn assert_order(tableau: &Tableau, what: &str, b: &[f64], order: u32) {
    let residuals = residuals(tableau, b, order as usize + 1);
    let (next, all) = residuals.split_last().unwrap();
    for (i, residual) in all.iter().enumerate() {
        assert!(
            *residual < ROUNDING,
            "{} {what}: order {} off by {residual:e}",
            tableau.name,
            i + 1
        );
    }
    assert!(*next > 1e-5, "{} {what}: order above {order} ({next:e})", tableau.name);
}

#[test]
fn number_of_rooted_trees() {
    // Hairer, Nørsett & Wanner I, table II.2.2.
    let counts: Vec<_> = rooted_trees(8, &CASH_KARP).iter().map(Vec::len).collect();
    assert_eq!(counts, [1, 1, 2, 4, 9, 20, 48, 115]);
}

#[test]
fn tables_have_one_shape() {
    for tableau in ALL {
        let s = tableau.stages();
        assert_eq!((tableau.a.len(), tableau.b.len(), tableau.e.len()), (s, s, s));
        for (i, row) in tableau.a.iter().enumerate() {
            assert_eq!(row.len(), i, "{} row {i}", tableau.name);
        }
    }
}

#[test]
fn rows_sum_to_the_stage_times() {
    for tableau in ALL {
        for (row, c) in tableau.a.iter().zip(tableau.c) {
            let largest = row.iter().fold(1.0, |m: f64, a| m.max(a.abs()));
            let error = (row.iter().sum::<f64>() - c).abs();
            assert!(error <= 4.0 * f64::EPSILON * largest, "{}: {error:e}", tableau.name);
        }
        let (b, e) = (tableau.b.iter().sum::<f64>(), tableau.e.iter().sum::<f64>());
        assert!((b - 1.0).abs() < 1e-15, "{}: {b}", tableau.name);
        assert!(e.abs() < 1e-15, "{}: {e:e}", tableau.name);
    }
}

#[test]
fn solutions_have_exactly_the_stated_order() {
    for tableau in ALL {
        assert_order(tableau, "solution", tableau.b, tableau.order);
    }
}

#[test]
fn embedded_solutions_have_exactly_the_stated_order() {
    for tableau in ALL {
        let embedded: Vec<_> = tableau.b.iter().zip(tableau.e).map(|(b, e)| b - e).collect();
        assert_order(tableau, "embedded", &embedded, tableau.embedded_order);
    }
}
