//! Where the values of a field lie in the memory of a GPU.

use crate::field::Field;
use crate::grid::Grid;
use odeum::{Error, Scalar};

/// Bytes that a warp reads at once: rows begin at multiples of this.
const LINE: usize = 128;

/// Rows that threads may reach beyond a field, whose values do not matter.
const GUARD: usize = 16;

/// Counted from the first value. Before and after the values of a field lie [`Shape::guard`]
/// more, which threads at walls read but do not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) cells: [usize; 3],
    pub(super) species: usize,
    /// From a row to the next.
    pub(super) row: usize,
    /// From a plane to the next.
    pub(super) plane: usize,
    /// From a species to the next.
    pub(super) volume: usize,
}

impl Shape {
    pub(super) fn new<T>(grid: &Grid, species: usize) -> Result<Shape, Error> {
        let cells = grid.shape();
        let shape = || {
            let row = cells[0].checked_next_multiple_of(LINE / size_of::<T>())?;
            let plane = row.checked_mul(cells[1])?;
            let volume = plane.checked_mul(cells[2])?;
            let all = volume.checked_mul(species)?.checked_add(row.checked_mul(2 * GUARD)?)?;
            all.checked_mul(size_of::<T>())?;
            // Kernels count within a plane in 32 bits.
            let fits = plane < i32::MAX as usize / 2 && cells[2] < i32::MAX as usize / 2;
            fits.then_some(Shape { cells, species, row, plane, volume })
        };
        shape().ok_or_else(|| {
            let found = format!("{cells:?} cells of {species} species");
            Error::input("grid", found, "a plane has too many cells for a GPU")
        })
    }

    /// Values before a field, and after.
    pub(super) fn guard(&self) -> usize {
        GUARD * self.row
    }

    /// Values of a whole field, with those before and after.
    pub(super) fn len(&self) -> usize {
        self.volume * self.species + 2 * self.guard()
    }

    /// The values of a field in this order.
    pub(super) fn pack<T: Scalar>(&self, field: &Field<T>) -> Vec<T> {
        let mut values = vec![T::from_f64(0.0); self.len()];
        self.rows(|at, (s, y, z)| {
            values[at..at + self.cells[0]].copy_from_slice(field.row(s, y, z));
        });
        values
    }

    /// Takes them apart again.
    pub(super) fn unpack<T: Scalar>(&self, values: &[T], field: &mut Field<T>) {
        self.rows(|at, (s, y, z)| {
            field.row_mut(s, y, z).copy_from_slice(&values[at..at + self.cells[0]]);
        });
    }

    /// Every row: where it begins, and its species, y and z.
    fn rows(&self, mut f: impl FnMut(usize, (usize, usize, usize))) {
        let [_, ny, nz] = self.cells;
        for s in 0..self.species {
            for z in 0..nz {
                for y in 0..ny {
                    f(self.guard() + s * self.volume + z * self.plane + y * self.row, (s, y, z));
                }
            }
        }
    }
}
