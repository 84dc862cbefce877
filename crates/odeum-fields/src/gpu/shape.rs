//! Where the values of a field lie in the memory of a GPU.

use crate::field::Field;
use crate::field::slab::Slab;
use crate::problem::grid::Grid;
use crate::tiling::{MOST_BLOCKS, PIPELINE_PLANE};
use odeum_cuda::{Device, Stream, TensorMapLayout};
use odeum_ode::{Error, Scalar};
use std::collections::HashMap;
use std::ops::Range;

/// Bytes that a warp reads at once: rows begin at multiples of this.
const LINE: usize = 128;

/// Bytes that are read at a time.
const DOWN: usize = 64 << 20;

/// Rows that threads at boundaries may reach beyond a field, whose values do not matter.
const GUARD: usize = 16;

/// Memory of a stream's device.
type MemoryOf<S> = <<S as Stream>::Device as Device>::Memory;

/// Counted from the first value. Before and after the values of a field there is room for some
/// more ([`Shape::room`]).
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

/// 32-bit words of a row of a mask of `nx` cells.
pub(super) fn mask_words(nx: usize) -> usize {
    2 * nx.div_ceil(64)
}

impl Shape {
    pub(super) fn new<T>(grid: &Grid, species: usize) -> Result<Shape, Error> {
        let cells = grid.shape();
        // Blocks of every kernel have four rows at least.
        let most = 4 * MOST_BLOCKS;
        if cells[1] > most {
            let remedy =
                format!("a GPU takes up to {most} cells along y: let another axis be the long one");
            return Err(Error::input("grid.shape", format!("{cells:?}"), remedy));
        }
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

    /// Values of a whole field.
    pub(super) fn len(&self) -> usize {
        self.volume * self.species
    }

    /// Of a field of single-precision numbers the boxes that a pipeline copies: rows of a tile with
    /// those around it.
    pub(super) fn boxes(&self) -> TensorMapLayout {
        let Shape { cells: [nx, ny, nz], species, row, plane, .. } = *self;
        let strides = [row, plane].map(|n| n * size_of::<f32>());
        TensorMapLayout { sizes: [nx, ny, nz * species], strides, box_sizes: PIPELINE_PLANE }
    }

    /// Bytes of a field with the rows before and after it.
    pub(super) fn room<T>(&self) -> usize {
        (self.len() + 2 * GUARD * self.row) * size_of::<T>()
    }

    /// Where the first value lies in memory that begins at this address.
    pub(super) fn first<T>(&self, address: u64) -> u64 {
        address + (GUARD * self.row * size_of::<T>()) as u64
    }

    /// Writes a field to a device.
    pub(super) fn upload<T: Scalar, S: Stream>(
        &self,
        field: &Field<T>,
        stream: &S,
        to: &mut MemoryOf<S>,
    ) -> Result<(), Error> {
        let [nx, ny, nz] = self.cells;
        // Of any values: whole rows, and parts of the first and the last.
        let fill = |first: usize, values: &mut [T]| {
            let mut done = 0;
            while done < values.len() {
                let (row, x) = ((first + done) / self.row, (first + done) % self.row);
                let end = values.len().min(done + self.row - x);
                let (from, x) = (field.row(row / (ny * nz), row % ny, row / ny % nz), x.min(nx));
                let cells = (end - done).min(nx - x);
                values[done..done + cells].copy_from_slice(&from[x..x + cells]);
                // Cells after the end of a row are padding.
                values[done + cells..end].fill(T::from_f64(0.0));
                done = end;
            }
        };
        stream.fill(to, self.first::<T>(0) as usize, self.len(), &fill)
    }

    /// Reads the own planes of a slab from a device into those of the box, a few at a time.
    pub(super) fn download<T: Scalar, S: Stream>(
        &self,
        slab: &Slab,
        stream: &S,
        from: &MemoryOf<S>,
        field: &mut Field<T>,
    ) -> Result<(), Error> {
        let all = 0..self.cells[2] * self.species;
        self.read(stream, from, all, |first, values| self.put(values, first, slab, field))
    }

    /// Reads the own planes of a slab of a species from a device and gives their cells to `take`, some at a
    /// time.
    pub(super) fn values<T: Scalar, S: Stream>(
        &self,
        slab: &Slab,
        stream: &S,
        from: &MemoryOf<S>,
        species: usize,
        take: &mut dyn FnMut(&[T]),
    ) -> Result<(), Error> {
        let ([nx, _, nz], first) = (self.cells, species * self.cells[2] + slab.beside[0]);
        debug_assert!(slab.beside[0] + slab.own <= nz, "own planes lie between copies");
        let at = self.first::<T>(0) as usize + first * self.plane * size_of::<T>();
        stream.read_in_pieces(from, at, slab.own * self.plane, &mut |first, values: &[T]| {
            if nx == self.row {
                return take(values);
            }
            // Parts of rows at both ends, without the padding of each.
            let mut done = 0;
            while done < values.len() {
                let x = (first + done) % self.row;
                let end = values.len().min(done + self.row - x);
                take(&values[done..end.min(done + nx.saturating_sub(x))]);
                done = end;
            }
        })
    }

    /// Reads planes, counted over all species, a few at a time; `f` is given the first of these and the
    /// values of all.
    fn read<T: Scalar, S: Stream>(
        &self,
        stream: &S,
        from: &MemoryOf<S>,
        planes: Range<usize>,
        mut f: impl FnMut(usize, &[T]),
    ) -> Result<(), Error> {
        let most = (DOWN / (self.plane * size_of::<T>())).clamp(1, planes.len().max(1));
        let mut values = vec![T::from_f64(0.0); most * self.plane];
        for first in planes.clone().step_by(most) {
            let count = most.min(planes.end - first);
            let values = &mut values[..count * self.plane];
            let at = self.first::<T>(0) as usize + first * self.plane * size_of::<T>();
            stream.read(from, at, values)?;
            f(first, values);
        }
        Ok(())
    }

    /// Puts the values of some planes, from `first` on, where those of a slab lie in the field of its box,
    /// by all threads.
    fn put<T: Scalar>(&self, values: &[T], first: usize, slab: &Slab, field: &mut Field<T>) {
        let ([nx, _, nz], own) = (self.cells, slab.beside[0]..slab.beside[0] + slab.own);
        let count = values.len() / self.plane;
        // Planes of the box, of all species, that these values are.
        let place = |p: usize| {
            let (s, z) = (p / nz, p % nz);
            own.contains(&z).then(|| (s, slab.in_box(z)))
        };
        let wanted: HashMap<_, usize> =
            (0..count).filter_map(|n| Some((place(first + n)?, n))).collect();
        field.fill_planes(
            |plane| wanted.get(&plane).copied(),
            |n, y, row| {
                let at = n * self.plane + y * self.row;
                row.copy_from_slice(&values[at..at + nx]);
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_for_more_blocks_than_a_gpu_takes_are_refused() {
        let of = |cells| Shape::new::<f64>(&Grid::new(cells, 1.0).unwrap(), 1);
        assert!(of([1, 262_140, 1]).is_ok() && of([1, 1, 262_141]).is_ok());
        let error = of([1, 262_141, 1]).unwrap_err().to_string();
        assert!(error.contains("262140 cells along y"), "{error}");
    }
}
