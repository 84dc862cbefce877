//! The dense tail: LU in place, pivots from the diagonal.
//!
//! Rows are taken in blocks, and a block meets the blocks above it one after the other: it stays
//! near, and an entry is read and written once for all pivots of a block.

use super::Entry;
use odeum_core::Lanes;

/// Rows of a block, pivots that are eliminated together, rows that are solved together.
const ROWS: usize = 4;

/// Factors the m × m matrix in `a`: L with unit diagonal below, U above, the reciprocals of the
/// pivots on the diagonal.
#[inline(always)]
pub(super) fn factor<L: Lanes, E: Entry<L>>(a: &mut [E], m: usize) {
    let blocks = m / ROWS * ROWS;
    let mut first = 0;
    while first < blocks {
        let (above, rest) = a.split_at_mut(first * m);
        let (one, rest) = rest.split_at_mut(m);
        let (two, rest) = rest.split_at_mut(m);
        let (three, rest) = rest.split_at_mut(m);
        let mut rows = [one, two, three, &mut rest[..m]];
        let mut pivot = 0;
        while pivot < first {
            eliminate(above, m, pivot, &mut rows);
            pivot += ROWS;
        }
        finish(m, first, &mut rows);
        first += ROWS;
    }
    for i in blocks..m {
        let (above, rest) = a.split_at_mut(i * m);
        let mut rows = [&mut rest[..m]];
        let mut pivot = 0;
        while pivot < blocks {
            eliminate(above, m, pivot, &mut rows);
            pivot += ROWS;
        }
        let [row] = rows;
        for k in blocks..i {
            let u = &above[k * m..(k + 1) * m];
            let l = row[k].mul(u[k]);
            row[k] = l;
            for j in k + 1..m {
                row[j] = row[j].minus_product(l, u[j]);
            }
        }
        row[i] = row[i].recip();
    }
}

/// Rids rows of the unknowns of the pivots `first..first + ROWS`, whose rows are finished.
#[inline(always)]
fn eliminate<L: Lanes, E: Entry<L>, const N: usize>(
    above: &[E],
    m: usize,
    first: usize,
    rows: &mut [&mut [E]; N],
) {
    let end = first + ROWS;
    let u: [&[E]; ROWS] = [
        &above[first * m..(first + 1) * m],
        &above[(first + 1) * m..(first + 2) * m],
        &above[(first + 2) * m..(first + 3) * m],
        &above[(first + 3) * m..(first + 4) * m],
    ];
    let mut l = [[u[0][0]; ROWS]; N];
    for i in 0..N {
        for k in 0..ROWS {
            let mut x = rows[i][first + k];
            for p in 0..k {
                x = x.minus_product(l[i][p], u[p][first + k]);
            }
            l[i][k] = x.mul(u[k][first + k]);
            rows[i][first + k] = l[i][k];
        }
    }
    for j in end..m {
        let u = [u[0][j], u[1][j], u[2][j], u[3][j]];
        for i in 0..N {
            let mut x = rows[i][j];
            for k in 0..ROWS {
                x = x.minus_product(l[i][k], u[k]);
            }
            rows[i][j] = x;
        }
    }
}

/// Eliminates the pivots of a block, from `first` on, in its own rows.
#[inline(always)]
fn finish<L: Lanes, E: Entry<L>>(m: usize, first: usize, rows: &mut [&mut [E]; ROWS]) {
    let end = first + ROWS;
    let mut square = [[rows[0][first]; ROWS]; ROWS];
    for i in 0..ROWS {
        square[i].copy_from_slice(&rows[i][first..end]);
    }
    for k in 0..ROWS {
        let inverse = square[k][k].recip();
        square[k][k] = inverse;
        for i in k + 1..ROWS {
            let l = square[i][k].mul(inverse);
            square[i][k] = l;
            for j in k + 1..ROWS {
                square[i][j] = square[i][j].minus_product(l, square[k][j]);
            }
        }
    }
    for i in 0..ROWS {
        rows[i][first..end].copy_from_slice(&square[i]);
    }
    for j in end..m {
        let mut x = [rows[0][j], rows[1][j], rows[2][j], rows[3][j]];
        for i in 1..ROWS {
            for k in 0..i {
                x[i] = x[i].minus_product(square[i][k], x[k]);
            }
            rows[i][j] = x[i];
        }
    }
}

/// Replaces b by the solution of L y = b.
#[inline(always)]
pub(super) fn forward<L: Lanes, E: Entry<L>>(a: &[E], m: usize, b: &mut [E]) {
    let b = &mut b[..m];
    let mut first = 0;
    while first + ROWS <= m {
        let mut x = reduced(a, m, first, (0, first), b);
        for i in 1..ROWS {
            let row = &a[(first + i) * m + first..(first + i) * m + first + ROWS];
            for j in 0..i {
                x[i] = x[i].minus_product(row[j], x[j]);
            }
        }
        b[first..first + ROWS].copy_from_slice(&x);
        first += ROWS;
    }
    for i in first..m {
        let row = &a[i * m..i * m + i];
        let mut x = b[i];
        for j in 0..i {
            x = x.minus_product(row[j], b[j]);
        }
        b[i] = x;
    }
}

/// Replaces b by the solution of U x = b.
#[inline(always)]
pub(super) fn backward<L: Lanes, E: Entry<L>>(a: &[E], m: usize, b: &mut [E]) {
    let b = &mut b[..m];
    let mut end = m;
    while end >= ROWS {
        let first = end - ROWS;
        let mut x = reduced(a, m, first, (end, m), b);
        for i in (0..ROWS).rev() {
            let row = &a[(first + i) * m + first..(first + i) * m + end];
            for j in i + 1..ROWS {
                x[i] = x[i].minus_product(row[j], x[j]);
            }
            x[i] = x[i].mul(row[i]);
        }
        b[first..end].copy_from_slice(&x);
        end = first;
    }
    for i in (0..end).rev() {
        let row = &a[i * m..(i + 1) * m];
        let mut x = b[i];
        for j in i + 1..m {
            x = x.minus_product(row[j], b[j]);
        }
        b[i] = x.mul(row[i]);
    }
}

/// What is left of the right-hand sides of rows `first..first + ROWS` after the unknowns of the
/// columns `from..to`: sums that do not wait for each other, where one alone would wait for every
/// product.
#[inline(always)]
fn reduced<L: Lanes, E: Entry<L>>(
    a: &[E],
    m: usize,
    first: usize,
    (from, to): (usize, usize),
    b: &[E],
) -> [E; ROWS] {
    let row = |i: usize| &a[(first + i) * m + from..(first + i) * m + to];
    let rows = [row(0), row(1), row(2), row(3)];
    let known = &b[from..to];
    let mut x = [b[first], b[first + 1], b[first + 2], b[first + 3]];
    for j in 0..known.len() {
        for i in 0..ROWS {
            x[i] = x[i].minus_product(rows[i][j], known[j]);
        }
    }
    x
}
