//! Numbers that sum up a field.

use crate::cpu::engine::Engine;
use crate::cpu::sweep::Precision;
use crate::field::Field;
use crate::problem::Problem;
use crate::problem::mask::Mask;
use odeum_core::Argument;
use odeum_ode::{Error, Scalar, Tolerance};
use rayon::prelude::*;

/// What is known of one species over all cells, or those that belong to the domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Sum over these cells [units of u], added up in double precision in a fixed order.
    pub sum: f64,
    /// Sum times the volume of a cell [units of u × lengthᵈ].
    pub mass: f64,
    /// Mean [units of u].
    pub mean: f64,
    /// Least value [units of u].
    pub min: f64,
    /// Largest value [units of u].
    pub max: f64,
}

impl<T: Precision> Engine<T> {
    /// Sums up every species of a field over the domain. NaN in a field makes its sum NaN.
    pub fn summaries(&self, field: &Field<T>) -> Vec<Summary> {
        let blocks = self.blocks(|s, z, rows| (s, self.sum_up(field, s, z, rows)));
        let empty =
            Summary { sum: 0.0, mass: 0.0, mean: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };
        let mut summaries = vec![empty; field.species()];
        for (s, part) in blocks {
            let all = &mut summaries[s];
            all.sum += part.sum;
            (all.min, all.max) = (all.min.min(part.min), all.max.max(part.max));
        }
        let cells = self.cells() as f64;
        for all in &mut summaries {
            all.mass = all.sum * self.grid().cell_volume();
            all.mean = all.sum / cells;
        }
        summaries
    }

    /// Number of cells that belong to the domain.
    fn cells(&self) -> usize {
        self.mask().map_or(self.grid().cells(), Mask::cells)
    }

    /// The weighted RMS norm, over all species and cells of the domain, of
    /// 0.8 (y − w) + 0.4 h (F(y) + F(w)), the error of RKC. What is zero counts nothing, whatever it is
    /// weighed by. The tolerance is per species.
    pub(crate) fn rkc_error(&self, tolerance: &Tolerance, h: f64, fields: [&Field<T>; 4]) -> f64 {
        let atol = tolerance.atol_of(fields[0].species());
        let blocks = self.blocks(|s, z, rows| {
            self.add_errors(fields, (h, atol[s], tolerance.rtol), (s, z, rows))
        });
        let sum: f64 = blocks.iter().sum();
        (sum / (self.cells() * fields[0].species()) as f64).sqrt()
    }
}

/// Values for which another thread pays.
pub(crate) const FRACTION: usize = 4 << 20;

/// The first value of a field that is NaN or infinite: species and cell.
pub(crate) fn first_non_finite<T: Scalar>(field: &Field<T>) -> Option<(usize, [usize; 3])> {
    let [nx, ny, nz] = field.shape();
    // Those of one species after those of the other.
    let planes = (0..field.species() * nz).into_par_iter().with_min_len(FRACTION.div_ceil(nx * ny));
    let rows = |plane: usize| (0..ny).map(move |y| (plane / nz, y, plane % nz));
    planes.find_map_first(|plane| rows(plane).find_map(|(s, y, z)| non_finite_of(field, (s, y, z))))
}

/// Refuses a field that a problem is to begin with if its values are not finite.
pub(crate) fn check_start<T: Scalar>(problem: &Problem, field: &Field<T>) -> Result<(), Error> {
    let Some((s, cell)) = first_non_finite(field) else { return Ok(()) };
    let name = problem.model.species().get(s).cloned().unwrap_or_default();
    let found = format!("{} in cell {cell:?}", field.get(s, cell));
    Err(Error::input(Argument::new("initial").key(name), found, "must be finite"))
}

/// The first of a row.
fn non_finite_of<T: Scalar>(
    field: &Field<T>,
    (s, y, z): (usize, usize, usize),
) -> Option<(usize, [usize; 3])> {
    let row = field.row(s, y, z);
    // Without a way out this takes half as long.
    if row.iter().fold(true, |all, value| all & value.is_finite()) {
        return None;
    }
    let x = row.iter().position(|value| !value.is_finite())?;
    Some((s, [x, y, z]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::grid::Grid;

    #[test]
    fn the_first_of_several_non_finite_values_is_found_by_any_thread() {
        let grid = Grid::new([256, 128, 200], 1.0).unwrap();
        let mut field = Field::<f32>::zeros(&grid, 2).unwrap();
        assert_eq!(first_non_finite(&field), None);
        for place in [(1, [3, 127, 199]), (1, [255, 0, 60]), (0, [9, 5, 150]), (0, [8, 5, 150])] {
            field.set(place.0, place.1, f32::NAN);
            assert_eq!(first_non_finite(&field), Some(place));
        }
        field.set(0, [0, 0, 0], f32::INFINITY);
        assert_eq!(first_non_finite(&field), Some((0, [0, 0, 0])));
    }
}
