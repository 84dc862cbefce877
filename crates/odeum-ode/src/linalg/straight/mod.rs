//! Sparse LU of σI − J by one GPU thread, as straight-line code.
//!
//! A thread that has a system to itself keeps matrix and vectors in registers, and registers have no addresses: every
//! index must be a number in the text. So the elimination is written out pivot by pivot, in the order of the
//! processor and without a dense tail: a zero that is known costs nothing. Pivots are watched as on the CPU
//! ([`Pivots`](super::Pivots)).
//!
//! It is for small systems. A thread has registers for some hundred entries of double precision, twice as many of
//! single; what is more is spilled, nearly every value to a place of its own. The text grows as the operations do:
//! with a dense matrix of 16 rows it is compiled in seconds, with one of 24 rows in half a minute.
//!
//! The text defines the functions of [`group`](super::group). It expects of its surroundings `real`, `od_entry` and
//! `OdGroup`.

mod pivots;
#[cfg(test)]
mod tests;
mod text;

use super::lu::PIVOT_EPSILONS;
use odeum_core::Pattern;
use odeum_core::emit::{MatrixPlaces, Tables};
use pivots::Pivot;

const ENTRY: &str = include_str!("../entry.cuh");
const DEVICE: &str = include_str!("straight.cuh");

/// The plan of an LU factorisation of σI − J by one thread.
pub(crate) struct StraightLu {
    jacobian: Pattern,
    /// In the order of elimination \[n\].
    pivots: Vec<Pivot>,
    places: MatrixPlaces,
}

impl StraightLu {
    /// Of the Jacobian pattern of a system, of whose unknowns `constant` ones are left out: their rows and columns are
    /// empty, and their right-hand side is zero.
    ///
    /// # Panics
    ///
    /// When a dense matrix of so many rows has 2³² entries or more.
    pub(crate) fn new(jacobian: &Pattern, constant: &[usize]) -> StraightLu {
        let (pivots, len) = pivots::eliminate(jacobian, constant);
        let entries = (0..jacobian.nnz() as u32).collect();
        let places = MatrixPlaces { entries, unused: len, zero: len, len };
        StraightLu { jacobian: jacobian.clone(), pivots, places }
    }

    /// Where the entries of −J go: in the order of their pattern, before all others. What stands behind them when σ is
    /// added need not be zero. `unused` and `zero` are no places but their number: one thread has no row of threads to
    /// fill up.
    pub(crate) fn places(&self) -> &MatrixPlaces {
        &self.places
    }

    /// How many of the places, the first, are those of entries of J.
    pub(crate) fn jacobian_entries(&self) -> usize {
        self.jacobian.nnz()
    }

    /// The functions, with their defines.
    pub(crate) fn text(&self) -> String {
        let mut counts = Tables::default();
        counts.count("OD_MATRIX_ENTRIES", self.places.len as usize);
        counts.count("OD_X_ENTRIES", self.jacobian.rows());
        counts.count("OD_PIVOT_EPSILONS", PIVOT_EPSILONS as usize);
        let bodies = [
            ("OD_STRAIGHT_SHIFT\n", text::shift(&self.pivots, &self.jacobian)),
            ("OD_STRAIGHT_ASSEMBLE\n", text::assemble(&self.jacobian)),
            ("OD_STRAIGHT_FACTOR\n", text::factor(&self.pivots, &self.jacobian)),
            ("OD_STRAIGHT_SOLVE\n", text::solve(&self.pivots, self.jacobian.rows())),
            ("OD_STRAIGHT_PRODUCT\n", text::product(&self.pivots, &self.jacobian)),
        ];
        let fill = |device: String, (mark, body): (&str, String)| device.replace(mark, &body);
        let device = bodies.into_iter().fold(DEVICE.to_owned(), fill);
        format!("{}{ENTRY}{device}", counts.defines())
    }
}
