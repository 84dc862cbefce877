//! The cells on which fields live.

use odeum_ode::{Error, Scalar};

/// A box of cells: cell-centred, x fastest. A grid of one or two dimensions has one cell along
/// the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    shape: [usize; 3],
    spacing: [f64; 3],
    origin: [f64; 3],
}

/// Coordinates are those of cells where none is further from its centre than this part of a cell: they may be rounded.
const NEAR: f64 = 1e-3;

/// The names of the axes, in order.
pub const AXES: [&str; 3] = ["x", "y", "z"];

impl Grid {
    /// `shape` = \[nx, ny, nz\] cells of edge `h` \[length\]; the box begins at 0.
    ///
    /// # Errors
    /// As [`with_spacing`](Grid::with_spacing).
    pub fn new(shape: [usize; 3], h: f64) -> Result<Grid, Error> {
        Grid::with_spacing(shape, [h; 3])
    }

    /// Cells whose edges differ \[length\].
    ///
    /// # Errors
    /// No cell along an axis, more cells than a machine can address, and edges that are not positive and finite.
    pub fn with_spacing(shape: [usize; 3], spacing: [f64; 3]) -> Result<Grid, Error> {
        if shape.contains(&0) {
            return Err(Error::input(
                "shape",
                format!("{shape:?}"),
                "must have at least one cell along every axis",
            ));
        }
        let cells = shape.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
        if cells.is_none_or(|cells| cells > isize::MAX as usize / 64) {
            return Err(Error::input(
                "shape",
                format!("{shape:?}"),
                "has more cells than a machine can address",
            ));
        }
        if let Some(h) = spacing.iter().find(|h| !(**h > 0.0 && h.is_finite())) {
            return Err(Error::input("spacing", h, "must be positive and finite"));
        }
        Ok(Grid { shape, spacing, origin: [0.0; 3] })
    }

    /// The same cells in a box whose lowest corner is at `origin` \[length\].
    ///
    /// # Errors
    /// A corner that is not finite.
    pub fn at(self, origin: [f64; 3]) -> Result<Grid, Error> {
        match origin.iter().find(|x| !x.is_finite()) {
            Some(x) => Err(Error::input("origin", x, "must be finite")),
            None => Ok(Grid { origin, ..self }),
        }
    }

    /// Refuses edges of which powers are beyond the numbers of a precision: of 1/h² the Laplacian is made, in double
    /// precision of h³ the mass, and limits of steps of 1/h⁴.
    pub(crate) fn check<T: Scalar>(&self) -> Result<(), Error> {
        let (most, precision) = match size_of::<T>() {
            8 => (1e70, "double"),
            _ => (1e18, "single"),
        };
        let Some(h) = self.spacing.iter().find(|h| !(1.0 / most..=most).contains(*h)) else {
            return Ok(());
        };
        let remedy = format!(
            "must be from {:e} to {most:e} in {precision} precision: take another unit of length",
            1.0 / most
        );
        Err(Error::input("spacing", format!("{h:?}"), remedy))
    }

    /// The same with another number of planes along z, some of them of neighbours.
    pub(crate) fn with_planes(self, planes: usize) -> Grid {
        let [nx, ny, _] = self.shape;
        Grid { shape: [nx, ny, planes], ..self }
    }

    /// Cells along x, y and z.
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// Edges of a cell along x, y and z \[length\].
    pub fn spacing(&self) -> [f64; 3] {
        self.spacing
    }

    /// The lowest corner of the box \[length\].
    pub fn origin(&self) -> [f64; 3] {
        self.origin
    }

    /// Number of cells; every one is interior.
    pub fn cells(&self) -> usize {
        self.shape.iter().product()
    }

    /// Axes along which there is more than one cell.
    pub fn dimensions(&self) -> usize {
        self.shape.iter().filter(|&&n| n > 1).count()
    }

    /// Volume of a cell [lengthᵈ, with d the number of dimensions].
    pub fn cell_volume(&self) -> f64 {
        let wide = (0..3).filter(|&axis| self.shape[axis] > 1);
        wide.map(|axis| self.spacing[axis]).product()
    }

    /// The centre of cell `i` along an axis \[length\]; beyond the box the cells go on.
    ///
    /// # Panics
    /// When `axis` is above 2.
    pub fn centre(&self, axis: usize, i: usize) -> f64 {
        self.origin[axis] + (i as f64 + 0.5) * self.spacing[axis]
    }

    /// The cell along an axis whose coordinate is furthest from its centre, where coordinates are not those of the cells.
    /// The place of an axis of one cell does not count.
    ///
    /// # Panics
    /// When `axis` is above 2.
    pub fn misplaced(&self, axis: usize, coordinates: &[f64]) -> Option<usize> {
        let off = |i: usize| (coordinates[i] - self.centre(axis, i)).abs();
        let furthest = (0..coordinates.len()).rev().max_by(|&a, &b| off(a).total_cmp(&off(b)))?;
        let is_near = off(furthest) <= NEAR * self.spacing[axis];
        (self.shape[axis] > 1 && !is_near).then_some(furthest)
    }

    /// The number of a cell in plain arrays.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn index(&self, cell: [usize; 3]) -> usize {
        let ([i, j, k], [nx, ny, nz]) = (cell, self.shape);
        assert!(i < nx && j < ny && k < nz, "no cell {cell:?} in {:?} cells", self.shape);
        (k * ny + j) * nx + i
    }

    /// The cell with a number in plain arrays.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn cell(&self, index: usize) -> [usize; 3] {
        let [nx, ny, nz] = self.shape;
        assert!(index < nx * ny * nz, "no cell number {index} in {:?} cells", self.shape);
        [index % nx, index / nx % ny, index / (nx * ny)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_there_are_not_have_no_number() {
        let grid = Grid::new([2, 3, 4], 1.0).unwrap();
        assert!((0..grid.cells()).all(|n| grid.index(grid.cell(n)) == n));
        for cell in [[2, 0, 0], [0, 3, 0], [0, 0, 4]] {
            assert!(std::panic::catch_unwind(|| grid.index(cell)).is_err(), "{cell:?}");
        }
        assert!(std::panic::catch_unwind(|| grid.cell(24)).is_err());
    }
}
