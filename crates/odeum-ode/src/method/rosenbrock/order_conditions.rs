//! The tableaus satisfy the order conditions of their methods.
//!
//! With β = α + Γ the conditions of Rosenbrock methods are those of trees in which a vertex with
//! several branches uses α and one with a single branch uses β (Hairer & Wanner II, thm IV.7.6):
//! Σ bᵢ Φᵢ(t) = Π 1/γ(t). Those of W-methods ask for more: wherever β stands the sum with α alone
//! must hold, and all sums with Γ in its place must vanish (sec. IV.7, eq. 7.33 on).

use super::{ALL, Tableau};

type Matrix = Vec<Vec<f64>>;

/// α, Γ, b and b̂ of a method, from the transformed coefficients.
struct Plain {
    alpha: Matrix,
    gamma: Matrix,
    b: Vec<f64>,
    embedded: Vec<f64>,
}

fn plain(t: &Tableau) -> Plain {
    let s = t.stages();
    // Γ = (I/γ − C)⁻¹, column by column by forward substitution.
    let mut gamma = vec![vec![0.0; s]; s];
    for column in 0..s {
        for i in column..s {
            let unit = if i == column { 1.0 } else { 0.0 };
            let sum: f64 = (column..i).map(|j| t.c[i][j] * gamma[j][column]).sum();
            gamma[i][column] = t.gamma * (unit + sum);
        }
    }
    let times = |row: &[f64]| -> Vec<f64> {
        (0..s).map(|k| row.iter().zip(&gamma).map(|(a, g)| a * g[k]).sum()).collect()
    };
    let alpha = t.a.iter().map(|row| times(row)).collect();
    let embedded: Vec<f64> = t.m.iter().zip(t.e).map(|(m, e)| m - e).collect();
    Plain { alpha, b: times(t.m), embedded: times(&embedded), gamma }
}

/// A rooted tree by the trees that hang from its root.
#[derive(Clone, PartialEq, PartialOrd)]
struct Tree(Vec<Tree>);

impl Tree {
    fn order(&self) -> usize {
        1 + self.0.iter().map(Tree::order).sum::<usize>()
    }

    /// γ(t).
    fn density(&self) -> f64 {
        self.order() as f64 * self.0.iter().map(Tree::density).product::<f64>()
    }
}

/// All trees of this order.
fn trees(order: usize) -> Vec<Tree> {
    fn forests(order: usize, largest: usize) -> Vec<Vec<Tree>> {
        if order == 0 {
            return vec![Vec::new()];
        }
        let mut all: Vec<Vec<Tree>> = Vec::new();
        for first in (1..=order.min(largest)).rev() {
            for tree in trees(first) {
                for rest in forests(order - first, first) {
                    // Trees of one order come in one order only.
                    let sorted = rest.first().is_none_or(|next| {
                        next.order() < first
                            || trees(first).iter().position(|t| t == next)
                                <= trees(first).iter().position(|t| *t == tree)
                    });
                    if sorted {
                        all.push(std::iter::once(tree.clone()).chain(rest).collect());
                    }
                }
            }
        }
        all
    }
    forests(order - 1, order - 1).into_iter().map(Tree).collect()
}

fn product(matrix: &Matrix, x: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

fn dot(b: &[f64], x: &[f64]) -> f64 {
    b.iter().zip(x).map(|(b, x)| b * x).sum()
}

/// Φ(t) of a Rosenbrock method.
fn weight(p: &Plain, tree: &Tree) -> Vec<f64> {
    let s = p.b.len();
    let mut phi = vec![1.0; s];
    for branch in &tree.0 {
        let inner = weight(p, branch);
        let mut sum = product(&p.alpha, &inner);
        if tree.0.len() == 1 {
            for (x, y) in sum.iter_mut().zip(product(&p.gamma, &inner)) {
                *x += y;
            }
        }
        for (phi, x) in phi.iter_mut().zip(sum) {
            *phi *= x;
        }
    }
    phi
}

/// All Φ(t) of a W-method: each single branch with α, or with Γ, which must then vanish.
fn w_weights(p: &Plain, tree: &Tree) -> Vec<(Vec<f64>, bool)> {
    let mut all = vec![(vec![1.0; p.b.len()], true)];
    for branch in &tree.0 {
        let mut next = Vec::new();
        for (phi, exact) in &all {
            for (inner, inner_exact) in w_weights(p, branch) {
                let mut choices = vec![(product(&p.alpha, &inner), true)];
                if tree.0.len() == 1 {
                    choices.push((product(&p.gamma, &inner), false));
                }
                for (sum, with_alpha) in choices {
                    let phi = phi.iter().zip(sum).map(|(a, b)| a * b).collect();
                    next.push((phi, *exact && inner_exact && with_alpha));
                }
            }
        }
        all = next;
    }
    all
}

/// The largest defect of the conditions up to this order.
fn defect(p: &Plain, b: &[f64], order: usize) -> f64 {
    let conditions = (1..=order).flat_map(trees);
    conditions
        .map(|tree| (dot(b, &weight(p, &tree)) - 1.0 / tree.density()).abs())
        .fold(0.0, f64::max)
}

#[test]
fn there_are_as_many_trees_as_there_are() {
    let counts: Vec<usize> = (1..=6).map(|order| trees(order).len()).collect();
    assert_eq!(counts, [1, 1, 2, 4, 9, 20]);
}

#[test]
fn solutions_and_embedded_solutions_have_their_orders() {
    for t in ALL {
        let p = plain(t);
        for (b, order, what) in
            [(&p.b, t.order, "solution"), (&p.embedded, t.embedded_order, "embedded")]
        {
            let found = defect(&p, b, order as usize);
            assert!(found < 1e-11, "{} {what}: {found:e}", t.name);
            let next = defect(&p, b, order as usize + 1);
            assert!(next > 1e-4, "{} {what} is of higher order: {next:e}", t.name);
        }
    }
}

/// Slopes at both ends are derivatives of polynomials b(θ) with the conditions Σ bᵢ Φᵢ(t) = θ^q/γ(t). Where a component follows a
/// state that is given, k = β⁻¹ (its values at the stages, less that at the start): that of θ² has the slope 2θ.
#[test]
fn slopes_have_their_orders_and_those_of_stiff_components() {
    for (t, order) in ALL.into_iter().zip([2, 3, 4, 3]) {
        let p = plain(t);
        let mut stiff = vec![0.0; t.stages()];
        for i in 0..t.stages() {
            let sum: f64 = (0..i).map(|j| (p.alpha[i][j] + p.gamma[i][j]) * stiff[j]).sum();
            stiff[i] = (t.alpha[i] * t.alpha[i] - sum) / p.gamma[i][i];
        }
        for (theta, row) in [0.0_f64, 1.0].into_iter().zip(t.slopes) {
            let b: Vec<f64> = (0..t.stages())
                .map(|k| row.iter().zip(&p.gamma).map(|(a, g)| a * g[k]).sum())
                .collect();
            for tree in (1..=order).flat_map(trees) {
                let exact =
                    tree.order() as f64 * theta.powi(tree.order() as i32 - 1) / tree.density();
                let defect = dot(&b, &weight(&p, &tree)) - exact;
                assert!(defect.abs() < 1e-10, "{} at {theta}: {defect:e}", t.name);
            }
            let defect = dot(&b, &stiff) - 2.0 * theta;
            assert!(defect.abs() < 1e-10, "{} at {theta}, stiff: {defect:e}", t.name);
        }
    }
}

#[test]
fn w_methods_have_their_order_with_any_matrix() {
    for t in ALL {
        let p = plain(t);
        let mut worst = 0.0_f64;
        for tree in (1..=t.order as usize).flat_map(trees) {
            for (phi, exact) in w_weights(&p, &tree) {
                let expected = if exact { 1.0 / tree.density() } else { 0.0 };
                worst = worst.max((dot(&p.b, &phi) - expected).abs());
            }
        }
        assert_eq!(worst < 1e-11, t.is_w_method, "{}: {worst:e}", t.name);
    }
}

#[test]
fn sums_are_those_of_the_rows() {
    for t in ALL {
        let p = plain(t);
        for i in 0..t.stages() {
            let alpha: f64 = p.alpha[i].iter().sum();
            let gamma: f64 = p.gamma[i].iter().sum();
            assert!((alpha - t.alpha[i]).abs() < 1e-13, "{} α{i}: {alpha}", t.name);
            assert!((gamma - t.gamma_sums[i]).abs() < 1e-13, "{} γ{i}: {gamma}", t.name);
        }
    }
}

/// R(z) = 1 + z bᵀ(I − zβ)⁻¹1 at a large negative z (Hairer & Wanner II, eq. IV.7.14).
fn stability(p: &Plain, z: f64) -> f64 {
    let s = p.b.len();
    let mut x = vec![0.0; s];
    for i in 0..s {
        let sum: f64 = (0..i).map(|j| (p.alpha[i][j] + p.gamma[i][j]) * x[j]).sum();
        x[i] = (1.0 + z * sum) / (1.0 - z * p.gamma[i][i]);
    }
    1.0 + z * dot(&p.b, &x)
}

#[test]
fn methods_are_l_stable_and_stiffly_accurate() {
    for t in ALL {
        let p = plain(t);
        for exponent in -6..=12 {
            let z = -(10_f64.powi(exponent));
            assert!(stability(&p, z).abs() <= 1.0, "{} at {z:e}", t.name);
        }
        // The tables have 16 digits, which limits how small R becomes.
        assert!(stability(&p, -1e7).abs() < 1e-5, "{}", t.name);
        let last = t.stages() - 1;
        for j in 0..t.stages() {
            let stage = p.alpha[last][j] + p.gamma[last][j];
            assert!((p.b[j] - stage).abs() < 1e-12, "{} is not stiffly accurate", t.name);
        }
    }
}

#[test]
fn evaluations_are_counted() {
    let found: Vec<usize> = ALL.iter().map(|t| t.evaluations()).collect();
    assert_eq!(found, [3, 6, 8, 4]);
}
