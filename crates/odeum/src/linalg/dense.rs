//! The dense tail: LU in place, row by row, pivots from the diagonal.

use super::Entry;
use odeum_core::Lanes;

/// Pivots that are eliminated together, so that an entry is read and written once for all of them.
const PANEL: usize = 4;

/// Rows that are solved together.
const ROWS: usize = 4;

/// Factors the m × m matrix in `a`: L with unit diagonal below, U above, the reciprocals of the
/// pivots on the diagonal.
#[inline(always)]
pub(super) fn factor<L: Lanes, E: Entry<L>>(a: &mut [E], m: usize) {
    let mut k = 0;
    while k + PANEL < m {
        panel(a, m, k, PANEL);
        update(a, m, k);
        k += PANEL;
    }
    panel(a, m, k, m - k);
}

/// Eliminates `width` pivots from `first` on in their own columns and in their own rows.
#[inline(always)]
fn panel<L: Lanes, E: Entry<L>>(a: &mut [E], m: usize, first: usize, width: usize) {
    let end = first + width;
    for k in first..end {
        let inverse = a[k * m + k].recip();
        a[k * m + k] = inverse;
        let (above, below) = a.split_at_mut((k + 1) * m);
        let pivot_row = &above[k * m..];
        for i in k + 1..m {
            let row = &mut below[(i - k - 1) * m..(i - k) * m];
            let l = row[k].mul(inverse);
            row[k] = l;
            // Rows of the panel are finished over their whole length, the others later.
            let last = if i < end { m } else { end };
            for j in k + 1..last {
                row[j] = row[j].minus_product(l, pivot_row[j]);
            }
        }
    }
}

/// Subtracts the products of the panel at `first` from all that is right of and below it.
#[inline(always)]
fn update<L: Lanes, E: Entry<L>>(a: &mut [E], m: usize, first: usize) {
    let end = first + PANEL;
    let (above, below) = a.split_at_mut(end * m);
    let u: [&[E]; PANEL] = [
        &above[first * m..(first + 1) * m],
        &above[(first + 1) * m..(first + 2) * m],
        &above[(first + 2) * m..(first + 3) * m],
        &above[(first + 3) * m..(first + 4) * m],
    ];
    let mut rest = below;
    while rest.len() >= 2 * m {
        let (pair, next) = rest.split_at_mut(2 * m);
        let (one, two) = pair.split_at_mut(m);
        let l1 = [one[first], one[first + 1], one[first + 2], one[first + 3]];
        let l2 = [two[first], two[first + 1], two[first + 2], two[first + 3]];
        for j in end..m {
            let (mut x, mut y) = (one[j], two[j]);
            for p in 0..PANEL {
                let u = u[p][j];
                x = x.minus_product(l1[p], u);
                y = y.minus_product(l2[p], u);
            }
            one[j] = x;
            two[j] = y;
        }
        rest = next;
    }
    if rest.len() == m {
        let l = [rest[first], rest[first + 1], rest[first + 2], rest[first + 3]];
        for j in end..m {
            let mut x = rest[j];
            for p in 0..PANEL {
                x = x.minus_product(l[p], u[p][j]);
            }
            rest[j] = x;
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
