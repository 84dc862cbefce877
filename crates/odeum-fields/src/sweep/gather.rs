//! The rows around a row, ghosts included.

use super::row;
use crate::field::Layout;
use crate::walls::{Ghost, Ghosts};
use odeum_core::{Lanes, Scalar};
use std::slice::ChunksExactMut;

/// Where rows lie: those of a whole field, or of some rows and the newest planes of a tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Values from a row to the next, and from a plane to the next.
    pub(crate) row: usize,
    pub(crate) plane: usize,
    /// From a species to the next.
    pub(crate) volume: usize,
    /// The row that lies first.
    pub(crate) first: isize,
    /// Plane z lies at z & planes.
    pub(crate) planes: usize,
    /// Whether all rows and planes are there. Where they are not, those beyond a wall where the
    /// box continues are numbered on and on.
    pub(crate) whole: bool,
}

impl Place {
    pub(crate) fn of(layout: &Layout) -> Place {
        let Layout { row, plane, volume, .. } = *layout;
        Place { row, plane, volume, first: 0, planes: usize::MAX, whole: true }
    }

    /// Index of the first value of a row.
    #[inline(always)]
    pub(crate) fn row_at(&self, species: usize, y: isize, z: isize) -> usize {
        let plane = (z as usize & self.planes) * self.plane;
        species * self.volume + plane + (y - self.first) as usize * self.row
    }
}

/// One species of a field, or another array with the same rows, and what lies beyond its walls.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a, T> {
    /// Values of the species.
    pub(crate) values: &'a [T],
    pub(crate) place: Place,
    /// Cells along x, y and z.
    pub(crate) shape: [usize; 3],
    /// Values of a row, whole cache lines: those beyond the cells mean nothing.
    pub(crate) wide: usize,
    pub(crate) ghosts: &'a Ghosts<T>,
}

/// Rows to compute ghosts in, each as wide as a row of cells.
pub(crate) type Spare<'a, T> = ChunksExactMut<'a, T>;

impl<'a, T: Scalar> Around<'a, T> {
    /// All rows of a species, whose values these are.
    pub(crate) fn whole(values: &'a [T], layout: &Layout, ghosts: &'a Ghosts<T>) -> Around<'a, T> {
        let (place, shape) = (Place::of(layout), layout.shape);
        Around { values, place, shape, wide: layout.wide::<T>(), ghosts }
    }

    /// A row of cells.
    #[inline(always)]
    pub(crate) fn row(&self, y: isize, z: isize) -> &'a [T] {
        let at = self.place.row_at(0, y, z);
        &self.values[at..at + self.wide]
    }

    /// Where row or plane `i` along an axis is found, and the rule if it is a ghost.
    #[inline(always)]
    pub(crate) fn source(&self, axis: usize, i: isize) -> (isize, Option<(T, T)>) {
        let ends = &self.ghosts[axis];
        if !self.place.whole && ends[0] == Ghost::Wrap {
            return (i, None);
        }
        let (at, rule) = row::source(i, self.shape[axis], ends);
        (at as isize, rule)
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
        let (j, along_y) = self.source(1, y);
        let (k, along_z) = self.source(2, z);
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
        y: isize,
        z: isize,
        spare: &mut Spare<'a, T>,
    ) -> [&'a [T]; 9] {
        let [_, ny, nz] = self.shape.map(|n| n as isize);
        let mut rows = [&self.values[..0]; 9];
        if y > 0 && y + 1 < ny && z > 0 && z + 1 < nz {
            for k in 0..9 {
                rows[k] = self.row(y + (k % 3) as isize - 1, z + (k / 3) as isize - 1);
            }
            return rows;
        }
        for k in 0..9 {
            let (dy, dz) = ((k % 3) as isize - 1, (k / 3) as isize - 1);
            rows[k] = self.neighbour::<L>(y + dy, z + dz, spare);
        }
        rows
    }
}
