//! Concentrations on a grid.

pub(crate) mod memory;
pub(crate) mod noise;
pub(crate) mod slab;

use crate::field::memory::LINE;
use crate::field::slab::Slab;
use crate::problem::grid::Grid;
use odeum_core::Argument;
use odeum_core::memory::zeros;
use odeum_ode::{Error, Scalar};
use rayon::prelude::*;

/// Values that a thread fills at once, about.
const FRACTION: usize = 1 << 17;

/// The values of S species in every cell of a grid, species by species.
///
/// Rows along x, or along the first axis of more than one cell, begin on cache lines, and zeros fill
/// their last. There are no ghost layers: what lies beyond a boundary is
/// computed where it is needed.
#[derive(Debug)]
pub struct Field<T> {
    layout: Layout,
    /// Index of the first value, where a cache line begins.
    head: usize,
    values: Vec<T>,
}

/// The old axis of each new one: those with one cell last, the others in their order. So a CPU
/// sweeps a column along z as a row.
pub(crate) fn order(shape: [usize; 3]) -> [usize; 3] {
    let mut axes = [0, 1, 2];
    axes.sort_by_key(|&axis| shape[axis] == 1);
    axes
}

/// Where the values of a field lie, counted from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) shape: [usize; 3],
    pub(crate) species: usize,
    /// From a row to the next.
    pub(crate) row: usize,
    /// From a plane to the next.
    pub(crate) plane: usize,
    /// From a species to the next.
    pub(crate) volume: usize,
}

impl Layout {
    pub(crate) fn new<T>(grid: &Grid, species: usize) -> Option<Layout> {
        let line = LINE / size_of::<T>();
        let shape = grid.shape();
        // Axes of one cell come last: the cells of the first axis lie side by side, those of the
        // second make rows (see [`order`]).
        let axes = order(shape);
        let [wide, rows, planes] = axes.map(|axis| shape[axis]);
        let row = wide.checked_next_multiple_of(line)?;
        // An odd number of lines: rows and planes would else fall on the same cache sets.
        let row = match rows > 1 && (row / line).is_multiple_of(16) {
            true => row.checked_add(line)?,
            false => row,
        };
        let plane = row.checked_mul(rows)?;
        let volume = plane.checked_mul(planes)?.checked_add(5 * line)?;
        volume.checked_mul(species)?.checked_add(line)?.checked_mul(size_of::<T>())?;
        let mut steps = [0; 3];
        for (step, axis) in [1, row, plane].into_iter().zip(axes) {
            steps[axis] = step;
        }
        let [_, row, plane] = steps;
        Some(Layout { shape, species, row, plane, volume })
    }

    /// Index of the first cell of a row.
    #[inline(always)]
    pub(crate) fn row_at(&self, species: usize, y: usize, z: usize) -> usize {
        species * self.volume + z * self.plane + y * self.row
    }

    /// Values of a row up to the end of its last cache line.
    pub(crate) fn wide<T>(&self) -> usize {
        self.shape[0].next_multiple_of(LINE / size_of::<T>())
    }

    /// Values in all.
    pub(crate) fn len(&self) -> usize {
        self.species * self.volume
    }
}

impl<T: Scalar> Field<T> {
    /// Bytes a field of so many species takes.
    ///
    /// # Errors
    /// More than a machine can address.
    pub fn bytes(grid: &Grid, species: usize) -> Result<usize, Error> {
        let layout = Layout::new::<T>(grid, species);
        layout.map(|layout| (layout.len() + LINE) * size_of::<T>()).ok_or_else(|| {
            let found = format!("{:?} cells of {species} species", grid.shape());
            Error::input("grid", found, "does not fit into memory")
        })
    }

    /// All values zero.
    ///
    /// # Errors
    /// No species, or too little memory.
    pub fn zeros(grid: &Grid, species: usize) -> Result<Field<T>, Error> {
        if species == 0 {
            return Err(Error::input("species", 0, "a field needs at least one"));
        }
        let bytes = Field::<T>::bytes(grid, species)?;
        let too_large = || {
            let found = format!("{:?} cells of {species} species", grid.shape());
            Error::input("grid", found, format!("no memory of {bytes} bytes is to be had"))
        };
        let Some(layout) = Layout::new::<T>(grid, species) else {
            return Err(Error::input("grid", format!("{:?}", grid.shape()), "does not fit"));
        };
        let (values, head) = zeros_on_a_line(layout.len()).ok_or_else(too_large)?;
        Ok(Field { layout, head, values })
    }

    /// From plain arrays, one after the other for each species, x fastest \[S × nz × ny × nx\].
    ///
    /// # Errors
    /// Not one value for each cell and species, values that are not finite, no species, or too little memory.
    pub fn from_values(grid: &Grid, species: usize, plain: &[T]) -> Result<Field<T>, Error> {
        let wanted = grid.cells().checked_mul(species);
        if wanted != Some(plain.len()) {
            return Err(Error::input(
                "values",
                format!("{} values", plain.len()),
                format!("give one for each of {:?} cells of {species} species", grid.shape()),
            ));
        }
        if let Some(at) = plain.iter().position(|value| !value.is_finite()) {
            let [i, j, k] = grid.cell(at % grid.cells());
            let found = format!("{} in cell [{i}, {j}, {k}]", plain[at]);
            let field = Argument::new("values").at(at / grid.cells());
            return Err(Error::input(field, found, "must be finite"));
        }
        let mut field = Field::zeros(grid, species)?;
        let [nx, ny, nz] = grid.shape();
        field.fill_rows(|(s, y, z), row| {
            let first = ((s * nz + z) * ny + y) * nx;
            row.copy_from_slice(&plain[first..first + nx]);
        });
        Ok(field)
    }

    /// From the value of each species at each cell centre: `f(species, [x, y, z])`.
    ///
    /// # Errors
    /// Values that are not finite in the precision of the field, no species, or too little memory.
    pub fn from_fn(
        grid: &Grid,
        species: usize,
        mut f: impl FnMut(usize, [f64; 3]) -> f64,
    ) -> Result<Field<T>, Error> {
        let mut field = Field::zeros(grid, species)?;
        let [nx, ny, nz] = grid.shape();
        for s in 0..species {
            for z in 0..nz {
                for y in 0..ny {
                    let row = field.row_mut(s, y, z);
                    for x in 0..nx {
                        let at = [grid.centre(0, x), grid.centre(1, y), grid.centre(2, z)];
                        let value = f(s, at);
                        row[x] = T::from_f64(value);
                        if !row[x].is_finite() {
                            let found = format!("{value:e} in cell [{x}, {y}, {z}]");
                            let field = Argument::new("values").at(s);
                            let remedy = format!("must be finite in {}", T::NAME);
                            return Err(Error::input(field, found, remedy));
                        }
                    }
                }
            }
        }
        Ok(field)
    }

    /// The planes of a slab, on a grid that has as many.
    pub(crate) fn cut(&self, grid: &Grid, slab: &Slab) -> Result<Field<T>, Error> {
        let mut field = Field::zeros(grid, self.species())?;
        field.fill_rows(|(s, y, z), row| row.copy_from_slice(self.row(s, y, slab.in_box(z))));
        Ok(field)
    }

    /// Gives every row to `f`, by all threads: its species, y and z, and its cells.
    pub fn fill_rows(&mut self, f: impl Fn((usize, usize, usize), &mut [T]) + Sync) {
        let never = self.try_fill_rows(|place, row| {
            f(place, row);
            Ok::<(), std::convert::Infallible>(())
        });
        match never {
            Ok(()) => {}
        }
    }

    /// Gives every row to `f`, by all threads: its species, y and z, and its cells.
    ///
    /// # Errors
    /// That of the first row, in the order of the layout, that has one.
    pub fn try_fill_rows<E: Send>(
        &mut self,
        f: impl Fn((usize, usize, usize), &mut [T]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let failed = self.blocks_mut(Some).into_par_iter().find_map_first(|block| {
            let Block { of: (s, z), first, row, cells, values } = block;
            let mut rows = values.chunks_mut(row).enumerate();
            rows.find_map(|(n, row)| f((s, first + n, z), &mut row[..cells]).err())
        });
        failed.map_or(Ok(()), Err)
    }

    /// Gives the rows of those planes to `f`, by all threads, of which `what` gives something for species
    /// and z: that, y and the cells.
    pub(crate) fn fill_planes<W: Copy + Send>(
        &mut self,
        what: impl Fn((usize, usize)) -> Option<W>,
        f: impl Fn(W, usize, &mut [T]) + Sync,
    ) {
        self.blocks_mut(what).into_par_iter().for_each(|block| {
            let Block { of, first, row, cells, values } = block;
            for (n, row) in values.chunks_mut(row).enumerate() {
                f(of, first + n, &mut row[..cells]);
            }
        });
    }

    /// The planes of which `what` gives something, in blocks of rows.
    fn blocks_mut<W: Copy>(
        &mut self,
        what: impl Fn((usize, usize)) -> Option<W>,
    ) -> Vec<Block<'_, T, W>> {
        let Layout { shape: [cells, ny, nz], row, plane, volume, .. } = self.layout;
        let rows = (FRACTION / row).clamp(1, ny);
        let mut blocks = Vec::new();
        for (s, species) in self.values_mut().chunks_mut(volume).enumerate() {
            for (z, plane) in species.chunks_mut(plane).take(nz).enumerate() {
                let Some(of) = what((s, z)) else { continue };
                // What follows the last row is nobody's.
                let filled = (ny * row).min(plane.len());
                let parts = plane[..filled].chunks_mut(rows * row).enumerate();
                let block = |(n, values)| Block { of, first: n * rows, row, cells, values };
                blocks.extend(parts.map(block));
            }
        }
        blocks
    }

    /// The values of one species as a plain array, x fastest \[nz × ny × nx\].
    pub fn to_values(&self, species: usize) -> Vec<T> {
        let [nx, ny, nz] = self.layout.shape;
        let mut plain = Vec::with_capacity(nx * ny * nz);
        for z in 0..nz {
            for y in 0..ny {
                plain.extend_from_slice(self.row(species, y, z));
            }
        }
        plain
    }

    /// Cells along x, y and z.
    pub fn shape(&self) -> [usize; 3] {
        self.layout.shape
    }

    /// Number of species S.
    pub fn species(&self) -> usize {
        self.layout.species
    }

    /// Refuses another shape, or another number of species.
    pub(crate) fn check(&self, shape: [usize; 3], species: usize) -> Result<(), Error> {
        if (self.shape(), self.species()) == (shape, species) {
            return Ok(());
        }
        let found = format!("{:?} cells of {} species", self.shape(), self.species());
        let remedy = format!("wants {shape:?} cells of {species} species");
        Err(Error::input("field", found, remedy))
    }

    /// The value of a species in a cell \[i, j, k\].
    ///
    /// # Panics
    ///
    /// When there is no such cell.
    pub fn get(&self, species: usize, [i, j, k]: [usize; 3]) -> T {
        self.row(species, j, k)[i]
    }

    /// Sets the value of a species in a cell \[i, j, k\].
    ///
    /// # Panics
    ///
    /// When there is no such cell.
    pub fn set(&mut self, species: usize, [i, j, k]: [usize; 3], value: T) {
        self.row_mut(species, j, k)[i] = value;
    }

    /// The cells of one row along x \[nx\].
    ///
    /// # Panics
    ///
    /// When there is no such row.
    pub fn row(&self, species: usize, y: usize, z: usize) -> &[T] {
        self.check_row(species, y, z);
        let at = self.layout.row_at(species, y, z);
        &self.values()[at..at + self.layout.shape[0]]
    }

    /// The cells of one row along x \[nx\], to write.
    ///
    /// # Panics
    ///
    /// When there is no such row.
    pub fn row_mut(&mut self, species: usize, y: usize, z: usize) -> &mut [T] {
        self.check_row(species, y, z);
        let at = self.layout.row_at(species, y, z);
        let nx = self.layout.shape[0];
        &mut self.values_mut()[at..at + nx]
    }

    fn check_row(&self, species: usize, y: usize, z: usize) {
        let [_, ny, nz] = self.layout.shape;
        assert!(species < self.layout.species && y < ny && z < nz, "no row {species}, {y}, {z}");
    }

    /// Species, y and z of the rows in plain order.
    fn row_number(&self, at: usize) -> (usize, usize, usize) {
        let [_, ny, nz] = self.layout.shape;
        (at / (ny * nz), at % ny, at / ny % nz)
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Everything, in the order of the layout.
    pub(crate) fn values(&self) -> &[T] {
        &self.values[self.head..self.head + self.layout.len()]
    }

    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values[self.head..self.head + self.layout.len()]
    }
}

/// Some rows of a plane.
struct Block<'a, T, W> {
    of: W,
    /// y of the first of them.
    first: usize,
    /// From a row to the next, and the cells of each.
    row: usize,
    cells: usize,
    values: &'a mut [T],
}

impl<T: Scalar> Clone for Field<T> {
    /// Copies value by value: a copy begins on a cache line of its own.
    fn clone(&self) -> Field<T> {
        let len = self.layout.len();
        let Some((values, head)) = zeros_on_a_line(len) else {
            // As any other copy that finds no memory.
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<T>())
        };
        let mut field = Field { layout: self.layout, head, values };
        let pairs =
            field.values_mut().par_chunks_mut(FRACTION).zip(self.values().par_chunks(FRACTION));
        pairs.for_each(|(to, from)| to.copy_from_slice(from));
        field
    }
}

/// Zeros that no thread has touched yet, and the first of them that begins a cache line, after which there
/// are `len`; `None` where there is not so much memory.
fn zeros_on_a_line<T: Scalar>(len: usize) -> Option<(Vec<T>, usize)> {
    let line = LINE / size_of::<T>();
    let values: Vec<T> = zeros(len + line)?;
    let head = values.as_ptr().align_offset(LINE).min(line);
    Some((values, head))
}

impl<T: Scalar> PartialEq for Field<T> {
    fn eq(&self, other: &Field<T>) -> bool {
        let [_, ny, nz] = self.layout.shape;
        self.layout == other.layout
            && (0..self.layout.species * ny * nz).all(|at| {
                let (s, y, z) = self.row_number(at);
                self.row(s, y, z) == other.row(s, y, z)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_finite_in_the_precision_of_the_field() {
        let grid = Grid::new([2, 1, 1], 1.0).unwrap();
        let wide = |_: usize, [x, _, _]: [f64; 3]| if x > 1.0 { 1e39 } else { 1.0 };
        assert_eq!(Field::<f64>::from_fn(&grid, 1, wide).unwrap().get(0, [1, 0, 0]), 1e39);
        let said = Field::<f32>::from_fn(&grid, 1, wide).unwrap_err().to_string();
        assert!(
            said.contains("1e39 in cell [1, 0, 0]") && said.contains("finite in f32"),
            "{said}"
        );
    }
}
