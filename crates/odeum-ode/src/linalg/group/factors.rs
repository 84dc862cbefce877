//! Which entries the factors have, and where they stand.
//!
//! Rows and columns are counted in the order of elimination. In memory come the pivots of the head, L of all rows row
//! by row, U of the head row by row, three places with meanings of their own, and the tail column by column.

use super::sets::{self, Pivot};
use super::tail::{self, Tail};
use odeum_core::Pattern;
use std::ops::Range;

/// Rows of the tail begin at multiples of this in the vector of unknowns, and the tail in the matrix: 16 bytes of
/// the smallest entries, which a thread loads at once.
const ALIGNMENT: usize = 4;

/// The pattern of L and U.
pub(super) struct Factors {
    /// Row of each unknown \[n\].
    pub(super) number: Vec<u32>,
    /// Rows of the head that are pivots together.
    pub(super) levels: Vec<Range<u32>>,
    /// Columns of L in each row \[n\], of the head alone, ascending.
    pub(super) lower: Vec<Vec<u32>>,
    /// Columns right of the diagonal in each row of the head, ascending.
    pub(super) upper: Vec<Vec<u32>>,
    /// Place of the first entry of each row of L, and behind the last [n + 1].
    pub(super) lower_starts: Vec<u32>,
    /// The same of U [head + 1].
    pub(super) upper_starts: Vec<u32>,
    pub(super) tail: Tail,
    /// Place of the first entry of the tail.
    pub(super) tail_at: u32,
    /// Number of places.
    pub(super) len: u32,
}

impl Factors {
    /// Of the Jacobian pattern of a system, for groups of `width` threads and entries of so many bytes.
    ///
    /// # Panics
    ///
    /// When there are 2³¹ entries or more.
    pub(super) fn new(jacobian: &Pattern, width: usize, entry: usize) -> Factors {
        let n = jacobian.rows();
        let all = sets::levels(&jacobian.with_diagonal());
        let head = tail::head(&all, n, width, entry);
        let (mut levels, mut pivots) = (Vec::new(), Vec::<&Pivot>::new());
        for level in &all {
            let first = pivots.len();
            pivots.extend(level.iter().take(head - first));
            if pivots.len() > first {
                levels.push(first as u32..pivots.len() as u32);
            }
        }
        let mut number = vec![u32::MAX; n];
        for (k, pivot) in pivots.iter().enumerate() {
            number[pivot.unknown] = k as u32;
        }
        let rest = number.iter_mut().filter(|number| **number == u32::MAX);
        rest.zip(head as u32..).for_each(|(number, k)| *number = k);

        let mut lower = vec![Vec::new(); n];
        let mut upper = Vec::with_capacity(head);
        for (k, pivot) in pivots.iter().enumerate() {
            for &i in &pivot.lower {
                lower[number[i] as usize].push(k as u32);
            }
            let mut columns: Vec<u32> = pivot.upper.iter().map(|&j| number[j]).collect();
            columns.sort_unstable();
            upper.push(columns);
        }
        let lower_starts = starts(head, &lower);
        let upper_starts = starts(lower_starts[n] as usize, &upper);
        let own = upper_starts[head] as usize + OWN;
        let tail = Tail::new(n - head, width);
        let tail_at = own.next_multiple_of(ALIGNMENT);
        let len = tail_at + tail.len(width, entry);
        assert!(i32::try_from(len).is_ok(), "factors have fewer than 2^31 entries");
        let (tail_at, len) = (tail_at as u32, len as u32);
        Factors { number, levels, lower, upper, lower_starts, upper_starts, tail, tail_at, len }
    }

    pub(super) fn dim(&self) -> usize {
        self.number.len()
    }

    /// Number of pivots before the tail.
    pub(super) fn head(&self) -> usize {
        self.upper.len()
    }

    /// A place whose value is zero.
    pub(super) fn zero(&self) -> u32 {
        self.upper_starts[self.head()]
    }

    /// A place whose value is one once the matrix is factored.
    pub(super) fn one(&self) -> u32 {
        self.zero() + 1
    }

    /// A place that nobody reads for its value.
    pub(super) fn unused(&self) -> u32 {
        self.zero() + 2
    }

    /// Place of an entry; `None` where the factors have none.
    pub(super) fn place(&self, i: u32, j: u32) -> Option<u32> {
        let head = self.head() as u32;
        if i >= head && j >= head {
            return Some(self.tail_at + (j - head) * self.tail.leading() as u32 + i - head);
        }
        if i == j {
            return Some(i);
        }
        let (start, columns) = if j < i {
            (self.lower_starts[i as usize], &self.lower[i as usize])
        } else {
            (self.upper_starts[i as usize], &self.upper[i as usize])
        };
        columns.binary_search(&j).ok().map(|at| start + at as u32)
    }

    /// Columns and places of the entries of a row right of the diagonal, or of L in it.
    pub(super) fn entries<'a>(
        columns: &'a [u32],
        start: u32,
    ) -> impl Iterator<Item = (u32, u32)> + 'a {
        columns.iter().zip(start..).map(|(&column, place)| (column, place))
    }

    /// Where the right-hand side of the first row of the tail stands in the vector of unknowns. That of a row of the
    /// head stands at its number, where its solution comes to stand, too; the solutions of the tail come after all
    /// right-hand sides.
    pub(super) fn x_tail(&self) -> u32 {
        self.head().next_multiple_of(ALIGNMENT) as u32
    }

    /// Place of the right-hand side of a row.
    pub(super) fn rhs(&self, row: u32) -> u32 {
        let head = self.head() as u32;
        if row < head { row } else { self.x_tail() + row - head }
    }

    /// Place of the solution of a row.
    pub(super) fn solution(&self, row: u32) -> u32 {
        let moved = if (row as usize) < self.head() { 0 } else { self.tail.size as u32 };
        self.rhs(row) + moved
    }

    /// A place of the vector that nobody reads for its value, behind all others.
    pub(super) fn x_unused(&self) -> u32 {
        self.x_tail() + 2 * self.tail.size as u32
    }
}

/// Places with meanings of their own: zero, one, unused.
const OWN: usize = 3;

/// Where lists begin that stand one after the other from `first` on, and where the last one ends.
fn starts(first: usize, lists: &[Vec<u32>]) -> Vec<u32> {
    let mut end = first as u32;
    let mut starts = vec![end];
    for list in lists {
        end += list.len() as u32;
        starts.push(end);
    }
    starts
}
