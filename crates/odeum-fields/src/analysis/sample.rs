//! Cells by which the steps of a field are judged.

use crate::analysis::reduce::FRACTION;
use crate::field::Field;
use crate::problem::Problem;
use crate::problem::mask::Mask;
use odeum_ode::Scalar;
use rayon::prelude::*;

/// Cells of the sample beside those with extreme values: at the start, and on the way.
const CELLS: usize = 32;
const CELLS_BRIEFLY: usize = 4;

/// How closely a field is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// At the start.
    Full,
    /// On the way.
    Brief,
}

impl Care {
    /// Cells of the sample beside those with extreme values.
    fn cells(self) -> usize {
        if self == Care::Full { CELLS } else { CELLS_BRIEFLY }
    }
}

/// The values of all species in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) cell: [usize; 3],
    pub(crate) values: Vec<f64>,
}

/// Cells of the sample that do not depend on the values; in place of solid ones the next that
/// belong to the domain.
pub(crate) fn everywhere(
    [nx, ny, nz]: [usize; 3],
    mask: Option<&Mask>,
    care: Care,
) -> Vec<[usize; 3]> {
    let cells = nx * ny * nz;
    let count = care.cells().min(cells);
    let at = |index: usize| [index % nx, index / nx % ny, index / (nx * ny)];
    let mut next = 0;
    let mut offsets = Vec::with_capacity(count);
    for k in 0..count {
        next = next.max(k * cells / count);
        while next < cells && mask.is_some_and(|mask| !mask.contains(at(next))) {
            next += 1;
        }
        if next < cells {
            offsets.push(at(next));
        }
    }
    offsets
}

/// Some cells of the domain, for limits that no value matters to.
pub(crate) fn anything(problem: &Problem) -> Vec<State> {
    let cells = everywhere(problem.grid.shape(), problem.mask.as_ref(), Care::Brief);
    let values = vec![0.0; problem.model.species().len()];
    cells.into_iter().map(|cell| State { cell, values: values.clone() }).collect()
}

/// Cells of the domain with the extreme values of every species, and some others.
pub(crate) fn sample<T: Scalar>(field: &Field<T>, mask: Option<&Mask>, care: Care) -> Vec<State> {
    let mut sample = everywhere(field.shape(), mask, care);
    for s in 0..field.species() {
        let ends = extremes(field, mask, s);
        sample.extend(ends.into_iter().flatten().map(|(cell, _)| cell));
    }
    sample.sort_unstable();
    sample.dedup();
    let values = |cell| (0..field.species()).map(|s| field.get(s, cell).to_f64()).collect();
    sample.into_iter().map(|cell| State { cell, values: values(cell) }).collect()
}

/// A cell with its value, of the least and of the largest; none where no value is a number.
type Ends<T> = [Option<([usize; 3], T)>; 2];

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
    let better =
        |own: Option<([usize; 3], T)>, other: Option<([usize; 3], T)>, wins: fn(T, T) -> bool| {
            match (own, other) {
                (Some(own), Some(other)) if wins(other.1, own.1) => Some(other),
                (None, other) => other,
                (own, _) => own,
            }
        };
    [better(a, c, |x, y| x < y), better(b, d, |x, y| x > y)]
}
