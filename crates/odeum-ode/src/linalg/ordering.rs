//! The order of elimination.
//!
//! Every pivot comes from the diagonal, the one with the smallest Markowitz count (r − 1)(c − 1),
//! where r and c are the numbers of entries of its row and column in what is left: an upper bound
//! of the fill it makes. (H. M. Markowitz, Management Science 3 (1957) 255–269; Duff, Erisman &
//! Reid, *Direct Methods for Sparse Matrices*, 2nd ed., sec. 7.2.)

use odeum_core::Pattern;
use std::collections::BTreeSet;

/// Fraction of entries from which what is left counts as dense: a loop without index tables then
/// costs less than the few operations that the zeros would save.
const DENSE: f64 = 0.8;

/// Pivots in the order of elimination, and the pattern after it.
pub(super) struct Elimination {
    /// Equation, and unknown, of each pivot \[n\].
    pub(super) order: Vec<usize>,
    /// Pivots before what is left counts as dense.
    pub(super) head: usize,
    /// Of each pivot of the head, the unknowns right of it in its row of U, ascending.
    pub(super) upper: Vec<Vec<usize>>,
    /// Of each pivot of the head, the equations below it in its column of L, ascending.
    pub(super) lower: Vec<Vec<usize>>,
}

impl Elimination {
    /// Of a square pattern with a full diagonal.
    pub(super) fn new(pattern: &Pattern) -> Elimination {
        let n = pattern.rows();
        let mut rows = vec![BTreeSet::new(); n];
        let mut columns = vec![BTreeSet::new(); n];
        for (i, j) in pattern.iter() {
            rows[i].insert(j);
            columns[j].insert(i);
        }
        let mut left: BTreeSet<usize> = (0..n).collect();
        let mut entries = pattern.nnz();
        let mut elimination =
            Elimination { order: Vec::new(), head: n, upper: Vec::new(), lower: Vec::new() };
        while !left.is_empty() {
            let m = left.len();
            if entries as f64 >= DENSE * (m * m) as f64 {
                break;
            }
            let cost = |k: usize| (rows[k].len() - 1) * (columns[k].len() - 1);
            let Some(pivot) = left.iter().copied().min_by_key(|&k| (cost(k), k)) else { break };
            left.remove(&pivot);
            let mut upper = std::mem::take(&mut rows[pivot]);
            let mut lower = std::mem::take(&mut columns[pivot]);
            upper.remove(&pivot);
            lower.remove(&pivot);
            entries -= upper.len() + lower.len() + 1;
            for &j in &upper {
                columns[j].remove(&pivot);
            }
            for &i in &lower {
                rows[i].remove(&pivot);
                for &j in &upper {
                    if rows[i].insert(j) {
                        columns[j].insert(i);
                        entries += 1;
                    }
                }
            }
            elimination.order.push(pivot);
            elimination.upper.push(upper.into_iter().collect());
            elimination.lower.push(lower.into_iter().collect());
        }
        elimination.head = elimination.order.len();
        elimination.order.extend(left);
        elimination
    }
}
