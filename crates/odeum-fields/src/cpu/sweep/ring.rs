//! Planes of a stage that a tile keeps for the next.

use super::gather::Place;
use crate::field::memory::{LINE, Lined};
use crate::plan::Plan;
use odeum_core::Scalar;
use std::ops::Range;

/// Planes of a stage that are kept; three are read while a fourth is written, and a power of two is
/// quick to find.
pub(super) const PLANES: usize = 4;

/// What a tile keeps of a stage.
pub(super) struct Ring<T> {
    pub(super) values: Lined<T>,
    pub(super) place: Place,
}

impl<T: Scalar> Ring<T> {
    /// Of no rows yet.
    pub(super) fn new() -> Ring<T> {
        let place = Place { row: 0, plane: 0, volume: 0, first: 0, planes: 0, whole: false };
        Ring { values: Lined::new(T::from_f64(0.0), 0), place }
    }

    /// Makes this the place of so many species or potentials in these rows. What it held has no
    /// meaning any more; new memory is taken where it is too small.
    pub(super) fn lay(&mut self, plan: &Plan<T>, count: usize, rows: &Range<isize>) {
        let row = plan.layout.row;
        let plane = row * rows.len() + LINE / size_of::<T>();
        let volume = PLANES * plane;
        if self.values.len() < count * volume {
            self.values = Lined::new(T::from_f64(0.0), count * volume);
        }
        let (first, planes) = (rows.start, PLANES - 1);
        self.place = Place { row, plane, volume, first, planes, whole: false };
    }

    /// Where so many rows of the first species begin, and from a species to the next; there is room
    /// for whole cache lines.
    pub(super) fn rows(
        &mut self,
        plan: &Plan<T>,
        (y, z): (isize, isize),
        rows: usize,
    ) -> (*mut T, usize) {
        let Ring { values, place } = self;
        let first = place.row_at(0, y, z);
        let len = (rows - 1) * place.row + plan.layout.wide::<T>();
        assert!(first + len <= place.volume);
        (values[first..first + len].as_mut_ptr(), place.volume)
    }
}
