//! The cells that belong to the domain.

use crate::problem::grid::Grid;
use odeum_ode::Error;
use std::ops::Range;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// Which cells of a grid belong to the domain; the others are solid. One bit for each cell.
///
/// Nothing passes a face, or the edge of a stencil, between the two. Solid cells keep the values
/// they begin with, to the bit (RKC and RKL2 make 0 of −0, and on CPUs of subnormal numbers), and no
/// sum, mean or extreme counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    shape: [usize; 3],
    /// Rows of whole words, x fastest; bits beyond a row are zero.
    words: Vec<u64>,
    cells: usize,
}

impl Mask {
    /// From whether the cell with this centre \[x, y, z\] belongs to the domain.
    ///
    /// # Errors
    /// When no cell does.
    pub fn from_fn(grid: &Grid, mut belongs: impl FnMut([f64; 3]) -> bool) -> Result<Mask, Error> {
        Mask::build(grid, |cell| belongs([0, 1, 2].map(|axis| grid.centre(axis, cell[axis]))))
    }

    /// From a number for each cell, x fastest \[nz × ny × nx\]: cells with a positive one belong
    /// to the domain.
    ///
    /// # Errors
    /// Another count of numbers, one that is not finite, or none that is positive.
    pub fn from_values(grid: &Grid, values: &[f64]) -> Result<Mask, Error> {
        if values.len() != grid.cells() {
            let found = format!("{} values", values.len());
            let remedy = format!("give one for each of {} cells", grid.cells());
            return Err(Error::input("mask", found, remedy));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let [i, j, k] = grid.cell(at);
            let found = format!("{} in cell [{i}, {j}, {k}]", values[at]);
            return Err(Error::input("mask", found, "must be finite"));
        }
        Mask::build(grid, |cell| values[grid.index(cell)] > 0.0)
    }

    fn build(grid: &Grid, mut belongs: impl FnMut([usize; 3]) -> bool) -> Result<Mask, Error> {
        let [nx, ny, nz] = grid.shape();
        let mut words = vec![0_u64; nx.div_ceil(WORD) * ny * nz];
        let mut rows = words.chunks_exact_mut(nx.div_ceil(WORD));
        let mut cells = 0;
        for (z, y) in (0..nz).flat_map(|z| (0..ny).map(move |y| (z, y))) {
            let Some(row) = rows.next() else { break };
            for x in 0..nx {
                if belongs([x, y, z]) {
                    row[x / WORD] |= 1 << (x % WORD);
                    cells += 1;
                }
            }
        }
        if cells == 0 {
            return Err(Error::input("mask", "no cell", "at least one must belong to the domain"));
        }
        Ok(Mask { shape: grid.shape(), words, cells })
    }

    /// Cells of the grid along x, y and z.
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// Number of cells that belong to the domain.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Whether a cell \[i, j, k\] belongs to the domain.
    ///
    /// # Panics
    ///
    /// When there is no such cell.
    pub fn contains(&self, [i, j, k]: [usize; 3]) -> bool {
        assert!(i < self.shape[0], "no cell {i}, {j}, {k}");
        self.row(j, k)[i / WORD] >> (i % WORD) & 1 == 1
    }

    /// Whether each cell belongs to the domain, x fastest \[nz × ny × nx\].
    pub fn to_values(&self) -> Vec<bool> {
        let [nx, ny, nz] = self.shape;
        let rows = (0..nz).flat_map(|z| (0..ny).map(move |y| (y, z)));
        rows.flat_map(|(y, z)| (0..nx).map(move |x| self.contains([x, y, z]))).collect()
    }

    /// The bits of a row, the first cell in the lowest bit of the first word; beyond the row they
    /// are zero.
    ///
    /// # Panics
    ///
    /// When there is no such row.
    pub fn row(&self, y: usize, z: usize) -> &[u64] {
        let [nx, ny, nz] = self.shape;
        assert!(y < ny && z < nz, "no row {y}, {z}");
        let wide = nx.div_ceil(WORD);
        let at = (z * ny + y) * wide;
        &self.words[at..at + wide]
    }

    /// The bits of some planes, row after row.
    pub(crate) fn planes(&self, planes: Range<usize>) -> &[u64] {
        let plane = self.shape[0].div_ceil(WORD) * self.shape[1];
        &self.words[planes.start * plane..planes.end * plane]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_cells() {
        let grid = Grid::new([67, 3, 4], 0.5).unwrap();
        let inside = |[i, j, k]: [usize; 3]| !(i * 7 + j * 3 + k).is_multiple_of(5);
        let mask = Mask::from_fn(&grid, |at| inside(at.map(|x| (x / 0.5) as usize))).unwrap();
        let values: Vec<f64> =
            (0..grid.cells()).map(|n| if inside(grid.cell(n)) { 0.1 } else { -0.0 }).collect();
        assert_eq!(Mask::from_values(&grid, &values).unwrap(), mask);
        let all = mask.to_values();
        for n in 0..grid.cells() {
            assert_eq!((all[n], mask.contains(grid.cell(n))), (inside(grid.cell(n)), all[n]));
        }
        assert_eq!(mask.cells(), all.iter().filter(|inside| **inside).count());
        assert_eq!(mask.planes(2..4)[..4], [mask.row(0, 2), mask.row(1, 2)].concat());
        assert_eq!(mask.row(2, 1)[1] >> 3, 0);
    }

    #[test]
    fn what_is_no_domain_is_refused() {
        let grid = Grid::new([2, 2, 1], 1.0).unwrap();
        for (values, found) in [
            (&[1.0; 3][..], "3 values"),
            (&[0.0, -1.0, 0.0, 0.0], "no cell"),
            (&[1.0, 1.0, f64::NAN, 1.0], "NaN in cell [0, 1, 0]"),
        ] {
            let error = Mask::from_values(&grid, values).unwrap_err().to_string();
            assert!(error.contains(found), "{error}");
        }
    }
}
