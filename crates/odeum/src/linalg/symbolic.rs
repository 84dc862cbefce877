//! What is known of an LU factorisation before its numbers.
//!
//! One pattern serves every system of an ensemble, every step and every lane: the order of
//! elimination, the places of all entries and the index program of the numeric elimination are
//! found once.

use super::ordering::Elimination;
use odeum_core::Pattern;

/// One pivot of the sparse head.
///
/// Its values lie together: the pivot, its row of U, its column of L.
#[derive(Clone, Debug)]
pub(super) struct Pivot {
    /// Place of the pivot.
    pub(super) start: usize,
    /// Entries of its row of U.
    pub(super) n_upper: usize,
    /// Entries of its column of L.
    pub(super) n_lower: usize,
}

/// The plan of an LU factorisation of σI − J over one pattern.
#[derive(Clone, Debug)]
pub(crate) struct Symbolic {
    pub(super) n: usize,
    /// Equation, and unknown, of each pivot \[n\].
    pub(super) order: Vec<u32>,
    /// Pivots of the head.
    pub(super) pivots: Vec<Pivot>,
    /// Of each value of the head, the number of the pivot of its unknown (U) or of its equation
    /// (L); of the pivots themselves, their own.
    pub(super) index: Vec<u32>,
    /// For each pivot, for each entry of L, for each entry of U: the place their product goes to.
    pub(super) targets: Vec<u32>,
    /// Place of the first value of the dense tail, which lies row by row.
    pub(super) tail: usize,
    /// Place of each entry of J \[nnz\].
    pub(super) entries: Vec<u32>,
    /// First entry of each row of J [n + 1].
    pub(super) rows: Vec<u32>,
    /// Place of the diagonal entry of each equation \[n\].
    pub(super) diagonal: Vec<u32>,
}

impl Symbolic {
    /// Of the Jacobian pattern of a system.
    ///
    /// # Panics
    ///
    /// When the factors have 2³² entries or more.
    pub(crate) fn new(jacobian: &Pattern) -> Symbolic {
        let n = jacobian.rows();
        let elimination = Elimination::new(&jacobian.with_diagonal());
        let Elimination { order, head, upper, lower } = &elimination;
        let mut number = vec![0; n];
        for (k, &equation) in order.iter().enumerate() {
            number[equation] = k;
        }
        let mut pivots = Vec::new();
        let mut index = Vec::new();
        for k in 0..*head {
            let start = index.len();
            pivots.push(Pivot { start, n_upper: upper[k].len(), n_lower: lower[k].len() });
            index.push(k as u32);
            index.extend(upper[k].iter().chain(&lower[k]).map(|&i| number[i] as u32));
        }
        let tail = index.len();
        let m = n - head;
        assert!(u32::try_from(tail + m * m).is_ok(), "factors have fewer than 2^32 entries");
        // Where the value of equation i and unknown j lies.
        let place = |i: usize, j: usize| -> u32 {
            let (row, column) = (number[i], number[j]);
            if row >= *head && column >= *head {
                return (tail + (row - head) * m + column - head) as u32;
            }
            let k = row.min(column);
            let start = pivots[k].start;
            let found = match row.cmp(&column) {
                std::cmp::Ordering::Equal => Ok(0),
                std::cmp::Ordering::Less => upper[k].binary_search(&j).map(|at| 1 + at),
                std::cmp::Ordering::Greater => {
                    lower[k].binary_search(&i).map(|at| 1 + upper[k].len() + at)
                }
            };
            // The elimination has made room for every entry and all fill.
            (start + found.unwrap_or_else(|_| unreachable!("({i}, {j}) has no place"))) as u32
        };
        let mut targets = Vec::new();
        for k in 0..*head {
            for &i in &lower[k] {
                targets.extend(upper[k].iter().map(|&j| place(i, j)));
            }
        }
        let entries = jacobian.iter().map(|(i, j)| place(i, j)).collect();
        let mut rows: Vec<u32> = (0..n).map(|i| jacobian.row_start(i) as u32).collect();
        rows.push(jacobian.nnz() as u32);
        let diagonal = (0..n).map(|i| place(i, i)).collect();
        let order = order.iter().map(|&i| i as u32).collect();
        Symbolic { n, order, pivots, index, targets, tail, entries, rows, diagonal }
    }

    /// Number of equations n.
    pub(crate) fn dim(&self) -> usize {
        self.n
    }

    /// Entries of L and U together, the zeros of the dense tail among them.
    pub(crate) fn len(&self) -> usize {
        self.tail + self.tail_size() * self.tail_size()
    }

    /// Pivots of the dense tail.
    pub(super) fn tail_size(&self) -> usize {
        self.n - self.pivots.len()
    }
}
