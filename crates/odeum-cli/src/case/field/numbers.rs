//! Numbers of cells, as wide as in the file that they come from.

use odeum_ode::Scalar;
use std::fmt;

/// A number for each cell, x fastest.
///
/// A file in single precision takes no more memory than its numbers, in which a field has them too.
#[derive(Clone)]
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

/// Equal numbers look equal, however wide: whether a run goes on from a result is judged by this.
impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Numbers::Single(all) => f.debug_list().entries(all.iter().map(|x| x.to_f64())).finish(),
            Numbers::Double(all) => f.debug_list().entries(all).finish(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_look_equal() {
        let (single, double) = (vec![0.1_f32, 2.0], vec![f64::from(0.1_f32), 2.0]);
        let shown = format!("{double:?}");
        for numbers in [Numbers::Single(single), Numbers::Double(double)] {
            assert_eq!(format!("{numbers:?}"), shown);
            let mut last = [0.0];
            numbers.copy(1, &mut last);
            assert_eq!(last, [2.0]);
            assert!(numbers.not_finite().is_none());
        }
        let (at, value) = Numbers::Single(vec![1.0, f32::INFINITY]).not_finite().unwrap();
        assert_eq!((at, value), (1, f64::INFINITY));
    }
}
