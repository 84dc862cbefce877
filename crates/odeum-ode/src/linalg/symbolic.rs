//! What is known of an LU factorisation before its numbers.
//!
//! One pattern serves every system of an ensemble, every step and every lane: the order of
//! elimination, the places of all entries and the index program of the numeric elimination are
//! found once.
//!
//! Rows and columns are counted in the order of elimination. The values lie in the order in which
//! a solution reads them: L of the head row by row, U of the head row by row, its pivots, and the
//! dense tail row by row.

use super::ordering::Elimination;
use odeum_core::Pattern;
use std::ops::Range;

/// The plan of an LU factorisation of σI − J over one pattern.
#[derive(Clone, Debug)]
pub(crate) struct Symbolic {
    /// Equation, and unknown, of each row and column \[n\].
    pub(super) order: Vec<u32>,
    /// Columns of L in each row \[n\], of the head alone, ascending.
    pub(super) lower: Lists,
    /// Columns right of the diagonal in each row of the head, ascending.
    pub(super) upper: Lists,
    /// For each pivot of the head, the places of its column of L.
    pub(super) below: Lists,
    /// For each pivot, for each entry of L, for each entry of U: the place their product goes to.
    pub(super) targets: Vec<u32>,
    /// Offsets of U and of the pivots of the head, and of the tail.
    pub(super) regions: [usize; 3],
    /// Place of each entry of J \[nnz\].
    pub(super) entries: Vec<u32>,
    /// First entry of each equation of J [n + 1].
    pub(super) rows: Vec<u32>,
    /// Place of the diagonal entry of each equation \[n\].
    pub(super) diagonal: Vec<u32>,
    /// Offsets to which no entry of J goes.
    pub(super) fill: Vec<u32>,
}

/// Lists of numbers, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(lists: &[Vec<u32>]) -> Lists {
        let mut all = Lists { starts: vec![0], items: lists.concat() };
        let mut end = 0;
        for list in lists {
            end += list.len() as u32;
            all.starts.push(end);
        }
        all
    }

    /// Where a list stands among all.
    #[inline(always)]
    pub(super) fn range(&self, list: usize) -> Range<usize> {
        self.starts[list] as usize..self.starts[list + 1] as usize
    }

    #[inline(always)]
    pub(super) fn of(&self, list: usize) -> &[u32] {
        &self.items[self.range(list)]
    }
}

impl Symbolic {
    /// Of the Jacobian pattern of a system.
    ///
    /// # Panics
    ///
    /// When the factors have 2³² entries or more.
    pub(crate) fn new(jacobian: &Pattern) -> Symbolic {
        let n = jacobian.rows();
        let Elimination { order, head, upper, lower } = Elimination::new(&jacobian.with_diagonal());
        let mut number = vec![0_u32; n];
        for (k, &equation) in order.iter().enumerate() {
            number[equation] = k as u32;
        }
        let numbers = |list: &Vec<usize>| -> Vec<u32> {
            let mut sorted: Vec<u32> = list.iter().map(|&i| number[i]).collect();
            sorted.sort_unstable();
            sorted
        };
        let right: Vec<Vec<u32>> = upper.iter().map(numbers).collect();
        let down: Vec<Vec<u32>> = lower.iter().map(numbers).collect();
        let mut left = vec![Vec::new(); n];
        for (k, rows) in down.iter().enumerate() {
            for &row in rows {
                left[row as usize].push(k as u32);
            }
        }
        let (lower, upper) = (Lists::new(&left), Lists::new(&right));
        let first_upper = lower.items.len();
        let pivots = first_upper + upper.items.len();
        let (tail, m) = (pivots + head, n - head);
        let len = tail + m * m;
        assert!(u32::try_from(len).is_ok(), "factors have fewer than 2^32 entries");
        let place = |row: u32, column: u32| -> u32 {
            let (i, j) = (row as usize, column as usize);
            if i >= head && j >= head {
                return (tail + (i - head) * m + j - head) as u32;
            }
            if i == j {
                return (pivots + i) as u32;
            }
            let (first, found) = if j < i {
                (lower.range(i).start, lower.of(i).binary_search(&column))
            } else {
                (first_upper + upper.range(i).start, upper.of(i).binary_search(&column))
            };
            // Asked for are the entries of J and of the diagonal, which the elimination starts
            // from, and the products of a column below a pivot with the row right of it, which it
            // has put into the pattern: all have places.
            (first + found.unwrap_or_else(|_| unreachable!("({i}, {j}) has no place"))) as u32
        };
        let (mut below, mut targets) = (Vec::new(), Vec::new());
        for (k, rows) in down.iter().enumerate() {
            below.push(rows.iter().map(|&i| place(i, k as u32)).collect());
            for &i in rows {
                targets.extend(right[k].iter().map(|&j| place(i, j)));
            }
        }
        let entries: Vec<u32> = jacobian.iter().map(|(i, j)| place(number[i], number[j])).collect();
        let mut rows: Vec<u32> = (0..n).map(|i| jacobian.row_start(i) as u32).collect();
        rows.push(jacobian.nnz() as u32);
        let mut filled = vec![true; len];
        for &entry in &entries {
            filled[entry as usize] = false;
        }
        Symbolic {
            below: Lists::new(&below),
            targets,
            regions: [first_upper, pivots, tail],
            rows,
            diagonal: number.iter().map(|&i| place(i, i)).collect(),
            fill: (0..len as u32).filter(|&at| filled[at as usize]).collect(),
            entries,
            order: order.iter().map(|&i| i as u32).collect(),
            lower,
            upper,
        }
    }

    /// Number of equations n.
    pub(crate) fn dim(&self) -> usize {
        self.order.len()
    }

    /// Pivots before what is left counts as dense.
    pub(super) fn head(&self) -> usize {
        let [_, pivots, tail] = self.regions;
        tail - pivots
    }

    /// Entries of L and U together, the zeros of the dense tail among them.
    pub(crate) fn len(&self) -> usize {
        let (m, [.., tail]) = (self.dim() - self.head(), self.regions);
        tail + m * m
    }
}
