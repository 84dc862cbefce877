//! Numbers of cells, as wide as in the file that they come from.

use odeum::Scalar;

/// A number for each cell, x fastest.
///
/// A file in single precision takes no more memory than its numbers, in which a field has them too.
#[derive(Clone, Debug)]
pub(crate) enum Numbers {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Numbers {
    /// Copies the numbers from cell `first` on.
    pub(super) fn copy(&self, first: usize, to: &mut [f64]) {
        match self {
            Numbers::Single(all) => copy(&all[first..], to),
            Numbers::Double(all) => copy(&all[first..], to),
        }
    }

    /// All numbers, in double precision.
    pub(super) fn into_doubles(self) -> Vec<f64> {
        match self {
            Numbers::Single(all) => all.into_iter().map(f64::from).collect(),
            Numbers::Double(all) => all,
        }
    }

    /// The first number that is not finite, and its cell.
    pub(super) fn not_finite(&self) -> Option<(usize, f64)> {
        match self {
            Numbers::Single(all) => not_finite(all),
            Numbers::Double(all) => not_finite(all),
        }
    }
}

fn copy<T: Scalar>(from: &[T], to: &mut [f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_f64());
}

fn not_finite<T: Scalar>(all: &[T]) -> Option<(usize, f64)> {
    let at = all.iter().position(|value| !value.is_finite())?;
    Some((at, all[at].to_f64()))
}
