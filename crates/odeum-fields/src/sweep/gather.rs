//! The rows around a row, ghosts included.

use super::row;
use crate::field::Layout;
use crate::walls::Ghosts;
use odeum_core::{Lanes, Scalar};
use std::slice::ChunksExactMut;

/// One species of a field, or another array with the same layout, and what lies beyond its walls.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a, T> {
    /// Values of the species.
    pub(crate) values: &'a [T],
    pub(crate) layout: &'a Layout,
    pub(crate) ghosts: &'a Ghosts<T>,
}

/// Rows to compute ghosts in, each as long as a row of cells.
pub(crate) type Spare<'a, T> = ChunksExactMut<'a, T>;

impl<'a, T: Scalar> Around<'a, T> {
    /// A row of cells.
    #[inline(always)]
    pub(crate) fn row(&self, y: usize, z: usize) -> &'a [T] {
        let at = self.layout.row_at(0, y, z);
        &self.values[at..at + self.layout.shape[0]]
    }

    /// A row that may lie up to two cells beyond the walls. Ghosts of ghosts are those of the
    /// rule along y, then along z.
    #[inline(always)]
    pub(crate) fn neighbour<L: Lanes<Scalar = T>>(
        &self,
        y: isize,
        z: isize,
        spare: &mut Spare<'a, T>,
    ) -> &'a [T] {
        let [_, ny, nz] = self.layout.shape;
        let (j, along_y) = row::source(y, ny, &self.ghosts[1]);
        let (k, along_z) = row::source(z, nz, &self.ghosts[2]);
        let found = self.row(j, k);
        let rule = match (along_y, along_z) {
            (None, None) => return found,
            (Some(rule), None) | (None, Some(rule)) => rule,
            (Some((a, b)), Some((c, d))) => (c + d * a, d * b),
        };
        match spare.next() {
            Some(ghost) => {
                row::affine::<L>(found, rule, ghost);
                ghost
            }
            // There are as many spare rows as neighbours.
            None => found,
        }
    }

    /// The nine rows around row (y, z), itself in the middle; y fastest.
    #[inline(always)]
    pub(crate) fn nine<L: Lanes<Scalar = T>>(
        &self,
        y: usize,
        z: usize,
        spare: &mut Spare<'a, T>,
    ) -> [&'a [T]; 9] {
        let [nx, ny, nz] = self.layout.shape;
        let mut rows = [&self.values[..0]; 9];
        if y > 0 && y + 1 < ny && z > 0 && z + 1 < nz {
            let first = self.layout.row_at(0, y - 1, z - 1);
            for k in 0..9 {
                let at = first + (k / 3) * self.layout.plane + (k % 3) * self.layout.row;
                rows[k] = &self.values[at..at + nx];
            }
            return rows;
        }
        for k in 0..9 {
            let (dy, dz) = ((k % 3) as isize - 1, (k / 3) as isize - 1);
            rows[k] = self.neighbour::<L>(y as isize + dy, z as isize + dz, spare);
        }
        rows
    }
}
