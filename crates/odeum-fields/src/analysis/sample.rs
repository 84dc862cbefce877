//! What is sampled of a field to judge its steps: cells spread over the domain, and those with extreme values.

use crate::analysis::reduce::FRACTION;
use crate::field::Field;
use crate::problem::mask::Mask;
use odeum_ode::{Error, Scalar};
use rayon::prelude::*;

/// A cell \[i, j, k\].
pub(crate) type Cell = [usize; 3];

/// The values of all species in a cell, their Laplacians and those of potentials; zeros where no rate reads them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) cell: Cell,
    pub(crate) values: Vec<f64>,
    pub(crate) laplacians: Vec<f64>,
    pub(crate) beyond: Vec<f64>,
}

/// What is asked about the values of a field, in memory or on GPUs.
pub(crate) trait Values {
    /// Cells of the domain with the least and the largest value of every species.
    fn extremes(&self) -> Result<Vec<Cell>, Error>;

    /// The values of all species in some cells \[cells × S\].
    fn pick(&self, cells: &[Cell]) -> Result<Vec<f64>, Error>;
}

/// A field in memory.
pub(crate) struct InMemory<'a, T>(pub(crate) &'a Field<T>, pub(crate) Option<&'a Mask>);

impl<T: Scalar> Values for InMemory<'_, T> {
    fn extremes(&self) -> Result<Vec<Cell>, Error> {
        Ok(extreme_cells(self.0, self.1))
    }

    fn pick(&self, cells: &[Cell]) -> Result<Vec<f64>, Error> {
        let InMemory(field, _) = self;
        let of_cell = |cell: &Cell| {
            let cell = *cell;
            (0..field.species()).map(move |s| field.get(s, cell).to_f64())
        };
        Ok(cells.iter().flat_map(of_cell).collect())
    }
}

/// Up to `count` cells of the domain, spread over all axes: the multiples of powers of the inverse of a root of
/// x^(d + 1) = x + 1 leave no axis, no plane and no diagonal out (Kronecker's sequence).
pub(crate) fn spread(shape: [usize; 3], mask: Option<&Mask>, count: usize) -> Vec<Cell> {
    let [nx, ny, nz] = shape;
    let is_open = |cell: &Cell| mask.is_none_or(|mask| mask.contains(*cell));
    let all = || (0..nx * ny * nz).map(|n| [n % nx, n / nx % ny, n / (nx * ny)]).filter(is_open);
    if nx * ny * nz <= count {
        return all().collect();
    }
    let root = match shape.iter().filter(|n| **n > 1).count() {
        0 | 1 => 1.618_033_988_749_895,
        2 => 1.324_717_957_244_746,
        _ => 1.220_744_084_605_76,
    };
    let mut factor = 1.0;
    let factors = shape.map(|n| {
        factor /= if n > 1 { root } else { 1.0 };
        factor
    });
    let cell = |k: usize| {
        [0, 1, 2].map(|axis| {
            let part = ((k as f64 + 0.5) * factors[axis]).fract();
            ((part * shape[axis] as f64) as usize).min(shape[axis] - 1)
        })
    };
    // Where most cells are solid more are tried.
    let tries = if mask.is_some() { 8 * count } else { count };
    let mut cells: Vec<Cell> = (0..tries).map(cell).filter(is_open).take(count).collect();
    if cells.is_empty() {
        cells.extend(all().next());
    }
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Cells of the domain with the least and the largest value of every species.
pub(crate) fn extreme_cells<T: Scalar>(field: &Field<T>, mask: Option<&Mask>) -> Vec<Cell> {
    let ends = (0..field.species()).flat_map(|s| extremes(field, mask, s));
    ends.flatten().map(|(cell, _)| cell).collect()
}

/// A cell with its value, of the least and of the largest; none where no value is a number.
type Ends<T> = [Option<(Cell, T)>; 2];
/// The first cells of the domain with the least and the largest value of a species.
fn extremes<T: Scalar>(field: &Field<T>, mask: Option<&Mask>, s: usize) -> Ends<T> {
    let [nx, ny, nz] = field.shape();
    let of_plane = |z: usize| {
        let rows = (0..ny).map(|y| of_row(field.row(s, y, z), mask, (y, z)));
        rows.fold([None, None], further)
    };
    let planes = (0..nz).into_par_iter().with_min_len(FRACTION.div_ceil(nx * ny)).map(of_plane);
    // In their order, so that the first counts.
    planes.collect::<Vec<_>>().into_iter().fold([None, None], further)
}

fn of_row<T: Scalar>(row: &[T], mask: Option<&Mask>, (y, z): (usize, usize)) -> Ends<T> {
    if let Some(mask) = mask {
        let cells = row.iter().enumerate().map(|(x, value)| ([x, y, z], *value));
        let cells = cells.filter(|(cell, value)| mask.contains(*cell) && !value.to_f64().is_nan());
        return cells.fold([None, None], |ends, cell| further(ends, [Some(cell), Some(cell)]));
    }
    // What lies where is asked once, so that this goes through packs.
    let start = [T::from_f64(f64::INFINITY), T::from_f64(f64::NEG_INFINITY)];
    let [low, high] = row.iter().fold(start, |[low, high], &value| {
        [if value < low { value } else { low }, if value > high { value } else { high }]
    });
    let place = |end: T| row.iter().position(|value| *value == end).map(|x| ([x, y, z], end));
    [place(low), place(high)]
}

/// Of two the lower and the higher end; the first where they are as low or as high.
fn further<T: Scalar>([a, b]: Ends<T>, [c, d]: Ends<T>) -> Ends<T> {
    let better = |own: Option<(Cell, T)>, other: Option<(Cell, T)>, wins: fn(T, T) -> bool| match (
        own, other,
    ) {
        (Some(own), Some(other)) if wins(other.1, own.1) => Some(other),
        (None, other) => other,
        (own, _) => own,
    };
    [better(a, c, |x, y| x < y), better(b, d, |x, y| x > y)]
}
