//! The dense tail: how large it is, and how threads share it.

use super::sets::Pivot;

/// Systems of so few equations are all tail: their solution is one product with the inverse.
const SMALL: usize = 32;

/// Solves for each factorisation: a Rosenbrock method's stages, or Newton iterations.
const SOLVES: f64 = 6.0;

/// Bytes of a thread's registers that the tail may fill: `OD_TAIL_REGISTERS`.
pub(super) const REGISTERS: usize = 512;

/// How much slower elimination in memory is.
const IN_MEMORY: f64 = 4.0;

/// Threads that share a row of the tail hold at least so many of its columns each.
const LEAST_COLUMNS: usize = 8;

/// How a group of threads shares a dense matrix of m rows.
///
/// A row belongs to one thread, and a thread has several rows when there are more rows than threads. Where there are
/// many more threads than rows, `parts` threads of different warps share a row: column j belongs to part j mod
/// `parts`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tail {
    /// m.
    pub(super) size: usize,
    /// Rows of a thread.
    pub(super) rows: usize,
    pub(super) parts: usize,
    /// Threads from the first of one part to the first of the next: whole warps.
    pub(super) row_threads: usize,
    /// Columns of a thread.
    pub(super) columns: usize,
}

impl Tail {
    pub(super) fn new(size: usize, width: usize) -> Tail {
        let row_threads = size.next_multiple_of(32);
        let parts = (width / row_threads).min(size / LEAST_COLUMNS).max(1);
        let (rows, columns) = (size.div_ceil(width), size.div_ceil(parts));
        Tail { size, rows, parts, row_threads, columns }
    }

    /// Distance between columns where it is stored: odd, so that the entries of a row lie in different banks.
    pub(super) fn leading(&self) -> usize {
        self.size | 1
    }

    /// Entries of a thread in a row that all others read, in whole loads of a thread.
    pub(super) fn stride(&self) -> usize {
        self.columns.next_multiple_of(4)
    }

    /// Whether it is inverted in registers, by the size of an entry \[bytes\].
    fn in_registers(&self, entry: usize) -> bool {
        self.rows * self.columns * entry <= REGISTERS
    }

    /// Entries that it takes in memory: the matrix, or what the threads tell each other meanwhile.
    pub(super) fn len(&self, width: usize, entry: usize) -> usize {
        let (m, parts) = (self.size, self.parts);
        let told = m * parts * self.stride() + if parts > 1 { 2 * m } else { 0 };
        // Behind a matrix that is too large for registers the reciprocals of its pivots, and later a number of each
        // thread.
        let own = m * self.leading() + if self.in_registers(entry) { 0 } else { m.max(width) };
        told.max(own).max(width)
    }
}

/// Number of pivots before the tail, by what a factorisation and its solves cost.
///
/// Costs are instructions of a warp: an estimate, good enough to weigh a level of few pivots against their rows in
/// the tail. A phase costs a barrier and the latency of the loads behind it.
pub(super) fn head(levels: &[Vec<Pivot>], n: usize, width: usize, entry: usize) -> usize {
    if n <= SMALL {
        return 0;
    }
    let phase = 40.0 + width as f64 / 8.0;
    let rounds = |count: usize| count.div_ceil(width) as f64;
    let tail = |m: usize| {
        let tail = Tail::new(m, width);
        let own = (tail.rows * tail.columns) as f64;
        let slower = if tail.in_registers(entry) { 1.0 } else { IN_MEMORY };
        let solve = phase + 2.5 * (tail.rows * m) as f64;
        m as f64 * (1.25 * slower * own + 30.0) + SOLVES * solve
    };
    let (mut taken, mut before) = (0, 0.0);
    let (mut best, mut least) = (0, tail(n));
    for level in levels {
        let (mut lower, mut products, mut terms) = (0, 0, 0);
        let mut cost = before;
        for pivot in level {
            taken += 1;
            lower += pivot.lower.len();
            terms += pivot.lower.len() + pivot.upper.len();
            products += pivot.lower.len() * pivot.upper.len();
            let factor = 2.0 * phase + 12.0 * rounds(lower) + 6.0 * rounds(products);
            let solve = 2.0 * phase + 6.0 * terms as f64 / width as f64;
            cost = before + factor + SOLVES * solve;
            if taken < n && cost + tail(n - taken) < least {
                (best, least) = (taken, cost + tail(n - taken));
            }
        }
        before = cost;
    }
    best
}
