//! The rows around a row, ghosts included.

use super::{Frame, row};
use crate::field::Layout;
use crate::plan::flat::Rules;
use crate::problem::boundaries::{self, Ghost, Ghosts};
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
    /// Whether all rows and planes are there. Where they are not, those beyond a boundary where the
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

/// One species of a field, or another array with the same rows, and what lies beyond its boundaries.
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
    pub(crate) rules: Rules,
}

/// Rows to compute ghosts in, each as wide as a row of cells.
pub(crate) type Spare<'a, T> = ChunksExactMut<'a, T>;

impl<'a, T: Scalar> Around<'a, T> {
    /// All rows of a species, whose values these are.
    pub(crate) fn whole(values: &'a [T], layout: &Layout, ghosts: &'a Ghosts<T>) -> Around<'a, T> {
        let (place, shape) = (Place::of(layout), layout.shape);
        let wide = layout.wide::<T>();
        Around { values, place, shape, wide, ghosts, rules: Rules::PLAIN }
    }

    /// A row of cells.
    #[inline(always)]
    pub(crate) fn row(&self, y: isize, z: isize) -> &'a [T] {
        let at = self.place.row_at(0, y, z);
        &self.values[at..at + self.wide]
    }

    /// So many rows one after the other as one.
    #[inline(always)]
    pub(crate) fn rows(&self, at: At) -> &'a [T] {
        let first = self.place.row_at(0, at.y, at.z);
        &self.values[first..first + (at.rows - 1) * self.place.row + self.wide]
    }

    /// Whether rows or planes beyond the box are there, numbered on.
    #[inline(always)]
    fn goes_on(&self, axis: usize) -> bool {
        !self.place.whole && self.ghosts[axis][0] == Ghost::Wrap
    }

    /// Whether an axis has one cell, which its ghosts repeat.
    #[inline(always)]
    fn repeats(&self, axis: usize) -> bool {
        let given = |ghost: &Ghost<T>| matches!(ghost, Ghost::Affine { .. });
        self.shape[axis] == 1 && !self.ghosts[axis].iter().any(given)
    }

    /// Where row or plane `i` along an axis is found, and the rule if it is a ghost.
    #[inline(always)]
    pub(crate) fn source(&self, axis: usize, i: isize) -> (isize, Option<(T, T)>) {
        if self.goes_on(axis) {
            return (i, None);
        }
        let (at, rule) = boundaries::source(i, self.shape[axis], &self.ghosts[axis]);
        (at as isize, rule)
    }

    /// A row that may lie up to two cells beyond the boundaries. Ghosts of ghosts are those of one rule after the other.
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
            (Some(of_y), Some(of_z)) => match self.rules.has_first(1, 2) {
                true => after(of_z, of_y),
                false => after(of_y, of_z),
            },
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

    /// Finds the nine rows around rows, themselves in the middle; y fastest. Several rows have no
    /// neighbour along y that is a ghost, nor one along z that is not another row
    /// ([`At::cut`]).
    #[inline(always)]
    pub(crate) fn nine<L: Lanes<Scalar = T>>(
        &self,
        at: At,
        spare: &mut Spare<'a, T>,
        rows: &mut [&'a [T]; 9],
    ) {
        if self.repeats(2) && (at.rows == 1 || self.repeats(1)) {
            let here = self.rows(at);
            let beside = |y: isize, spare: &mut Spare<'a, T>| match self.repeats(1) {
                true => here,
                false => self.neighbour::<L>(y, at.z, spare),
            };
            let (before, behind) = (beside(at.y - 1, spare), beside(at.y + 1, spare));
            *rows = [before, here, behind, before, here, behind, before, here, behind];
            return;
        }
        let [_, ny, nz] = self.shape.map(|n| n as isize);
        let along_y = at.y > 0 && at.y + (at.rows as isize) < ny || self.goes_on(1);
        if along_y && (at.rows > 1 || at.z > 0 && at.z + 1 < nz) {
            let (row, wide) = (self.place.row, (at.rows - 1) * self.place.row + self.wide);
            for dz in 0..3 {
                let (z, _) = self.source(2, at.z + dz as isize - 1);
                let first = self.place.row_at(0, at.y - 1, z);
                let three = &self.values[first..first + 2 * row + wide];
                for dy in 0..3 {
                    // SAFETY: the three rows are as long as that.
                    let found = unsafe { three.get_unchecked(dy * row..dy * row + wide) };
                    rows[3 * dz + dy] = found;
                }
            }
            return;
        }
        for k in 0..9 {
            let (dy, dz) = ((k % 3) as isize - 1, (k / 3) as isize - 1);
            rows[k] = self.neighbour::<L>(at.y + dy, at.z + dz, spare);
        }
    }

    /// What ghosts at the ends of the four nearest rows lack, where the rule along x is not the last; `None` where
    /// it is.
    #[inline(always)]
    pub(crate) fn corners(&self, at: At) -> Option<Corners<T>> {
        if self.rules == Rules::PLAIN {
            return None;
        }
        let (above, behind) = (at.z + 1, at.y + at.rows as isize);
        let nearest = [(2, at.z - 1), (1, at.y - 1), (1, behind), (2, above)];
        Some(nearest.map(|(axis, place)| {
            let rule = self.source(axis, place).1.filter(|_| self.rules.has_first(0, axis));
            self.ghosts[0].map(|ghost| match (rule, ghost) {
                (Some(rule), Ghost::Affine { shift, scale }) => apart(rule, (shift, scale)),
                _ => T::from_f64(0.0),
            })
        }))
    }
}

/// Numbers at both ends of the rows below, before, behind and above.
pub(crate) type Corners<T> = [[T; 2]; 4];

/// The rule shift + scale · u of one boundary, applied to what another gives.
#[inline(always)]
fn after<T: Scalar>((c, d): (T, T), (a, b): (T, T)) -> (T, T) {
    (c + d * a, d * b)
}

/// What one rule after another gives less the same in the other order, which is the same for all values; zero where it is
/// rounding.
fn apart<T: Scalar>(last: (T, T), first: (T, T)) -> T {
    let [(a, b), (c, d)] = [last, first].map(|(shift, scale)| (shift.to_f64(), scale.to_f64()));
    let (own, other) = (a - a * d, c - b * c);
    let rounding = 8.0 * T::EPSILON * (a.abs() + c.abs());
    T::from_f64(if (own - other).abs() <= rounding { 0.0 } else { own - other })
}

/// Rows that are computed together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) y: isize,
    pub(crate) z: isize,
    pub(crate) rows: usize,
}

impl At {
    /// The next of the rows from `y` to before `end`: at most as many as a sweep computes
    /// together, and one alone at a boundary, where ghosts are computed row by row.
    #[inline(always)]
    pub(crate) fn cut<T: Scalar>(frame: &Frame<'_, T>, (y, z): (isize, isize), end: isize) -> At {
        let [_, ny, nz] = frame.plan.layout.shape.map(|n| n as isize);
        let inside = (end.min(ny - 1) - y).max(1) as usize;
        let alone = y < 1 || frame.boundaries_in_z && (z < 1 || z + 1 >= nz);
        let rows = if alone { 1 } else { frame.together.min(inside) };
        At { y, z, rows }
    }
}
