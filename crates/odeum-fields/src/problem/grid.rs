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
    pub fn new(shape: [usize; 3], h: f64) -> Result<Grid, Error> {
        Grid::with_spacing(shape, [h; 3])
    }

    /// Cells whose edges differ \[length\].
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

    /// The centre of cell `i` along an axis \[length\].
    pub fn centre(&self, axis: usize, i: usize) -> f64 {
        self.origin[axis] + (i as f64 + 0.5) * self.spacing[axis]
    }

    /// The cell along an axis whose coordinate is furthest from its centre, where coordinates are not those of the cells.
    /// The place of an axis of one cell does not count.
    pub fn misplaced(&self, axis: usize, coordinates: &[f64]) -> Option<usize> {
        let off = |i: usize| (coordinates[i] - self.centre(axis, i)).abs();
        let furthest = (0..coordinates.len()).rev().max_by(|&a, &b| off(a).total_cmp(&off(b)))?;
        let is_near = off(furthest) <= NEAR * self.spacing[axis];
        (self.shape[axis] > 1 && !is_near).then_some(furthest)
    }

    /// The number of a cell in plain arrays.
    pub fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.shape[1] + j) * self.shape[0] + i
    }

    /// The cell with a number in plain arrays.
    pub fn cell(&self, index: usize) -> [usize; 3] {
        let [nx, ny, _] = self.shape;
        [index % nx, index / nx % ny, index / (nx * ny)]
    }
}
