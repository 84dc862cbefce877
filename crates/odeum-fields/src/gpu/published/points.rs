//! Where values lie in the memory of a GPU: cells, and boundary points around them.

use crate::field::Field;
use crate::problem::grid::Grid;
use odeum_ode::{Error, Scalar};

/// Rows are multiples of this many points long, as the paper's are: tiles then begin where memory
/// is read at once.
pub(super) const ROW: usize = 32;

/// Counted from the first boundary point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points {
    /// Cells along x, y and z.
    pub(super) cells: [usize; 3],
    pub(super) species: usize,
    /// From a row to the next.
    pub(super) row: usize,
    /// From a plane to the next.
    pub(super) plane: usize,
    /// From an array to the next.
    pub(super) volume: usize,
}

impl Points {
    pub(super) fn new<T>(grid: &Grid, species: usize) -> Result<Points, Error> {
        let cells = grid.shape();
        let shape = || {
            let [width, height, depth] = [0, 1, 2].map(|axis| cells[axis].checked_add(2));
            let row = width?.checked_next_multiple_of(ROW)?;
            let plane = row.checked_mul(height?)?;
            let volume = plane.checked_mul(depth?)?;
            volume.checked_mul(species)?.checked_mul(size_of::<T>())?;
            let fits = cells.iter().all(|n| *n < i32::MAX as usize / 2);
            fits.then_some(Points { cells, species, row, plane, volume })
        };
        shape().ok_or_else(|| {
            let found = format!("{cells:?} cells of {species} species");
            Error::input("grid", found, "has too many cells for a GPU")
        })
    }

    /// Points along x, y and z, boundary included.
    pub(super) fn extent(&self) -> [usize; 3] {
        self.cells.map(|n| n + 2)
    }

    /// Values of a whole field.
    pub(super) fn len(&self) -> usize {
        self.volume * self.species
    }

    /// Where cell \[i, j, k\] lies.
    pub(super) fn at(&self, [i, j, k]: [usize; 3]) -> usize {
        (k + 1) * self.plane + (j + 1) * self.row + i + 1
    }

    /// The values of a field; boundary points and padding are not finite until they are set.
    pub(super) fn pack<T: Scalar>(&self, field: &Field<T>) -> Vec<T> {
        let mut values = vec![T::from_f64(f64::NAN); self.len()];
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

    /// Every row of cells: where it begins, and its species, y and z.
    fn rows(&self, mut f: impl FnMut(usize, (usize, usize, usize))) {
        let [_, ny, nz] = self.cells;
        for s in 0..self.species {
            for z in 0..nz {
                for y in 0..ny {
                    f(s * self.volume + self.at([0, y, z]), (s, y, z));
                }
            }
        }
    }
}
