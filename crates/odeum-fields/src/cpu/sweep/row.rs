//! Rows of cells in packs of lanes.

use crate::problem::boundaries::Ghost;
use odeum_core::{Lanes, Scalar};

/// Cells before the first and after the last of a row in scratch memory.
pub(crate) const PAD: usize = 16;

/// The widest pack there can be.
const WIDEST: usize = 64;

/// Length of a row of `nx` cells in scratch memory: whole packs, and ghosts at both ends.
pub(crate) fn stride(nx: usize) -> usize {
    nx.next_multiple_of(WIDEST) + 2 * PAD
}

/// The pack at `x` of a row that is longer than the pack from there on.
///
/// # Safety
///
/// `x + L::WIDTH` must not be larger than the length of the row.
#[inline(always)]
pub(crate) unsafe fn within<L: Lanes>(row: &[L::Scalar], x: usize) -> L {
    debug_assert!(x + L::WIDTH <= row.len());
    // SAFETY: the caller's promise.
    L::load(unsafe { row.get_unchecked(x..x + L::WIDTH) })
}

/// As [`within`], to write.
///
/// # Safety
///
/// `x + L::WIDTH` must not be larger than the length of the row.
#[inline(always)]
pub(crate) unsafe fn put<L: Lanes>(row: &mut [L::Scalar], x: usize, value: L) {
    debug_assert!(x + L::WIDTH <= row.len());
    // SAFETY: the caller's promise.
    value.store(unsafe { row.get_unchecked_mut(x..x + L::WIDTH) });
}

/// Two ghosts at each end of a padded row of `nx` cells that begins at [`PAD`].
#[inline(always)]
pub(crate) fn fill_ends<T: Scalar>(row: &mut [T], nx: usize, ends: &[Ghost<T>; 2]) {
    for depth in 0..2.min(nx) {
        row[PAD - 1 - depth] = end(&row[PAD..PAD + nx], &ends[0], depth, nx - 1 - depth);
        row[PAD + nx + depth] = end(&row[PAD..PAD + nx], &ends[1], nx - 1 - depth, depth);
    }
    if nx == 1 {
        row[PAD - 2] = row[PAD - 1];
        row[PAD + 2] = row[PAD + 1];
    }
}

/// The ghost of an end, of a row's cells: where it is mirrored, and where the row goes on.
#[inline(always)]
pub(crate) fn end<T: Scalar>(row: &[T], ghost: &Ghost<T>, mirror: usize, wrap: usize) -> T {
    match ghost {
        Ghost::Mirror => row[mirror],
        Ghost::Wrap => row[wrap],
        Ghost::Affine { shift, scale } => *shift + *scale * row[mirror],
    }
}

/// shift + scale · row, into `to`; both are whole cache lines.
#[inline(always)]
pub(crate) fn affine<L: Lanes>(
    from: &[L::Scalar],
    (shift, scale): (L::Scalar, L::Scalar),
    to: &mut [L::Scalar],
) {
    let (shift, scale) = (L::splat(shift), L::splat(scale));
    let mut x = 0;
    while x < from.len() {
        let value = L::load(&from[x..x + L::WIDTH]);
        value.mul_add(scale, shift).store(&mut to[x..x + L::WIDTH]);
        x += L::WIDTH;
    }
}
