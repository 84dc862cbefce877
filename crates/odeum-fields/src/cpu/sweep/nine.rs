//! Laplacians along rows: which nine rows they are taken of, and which way.

use super::gather::{Around, At};
use super::laplacian::{self, Nine};
use super::masked;
use super::scratch::{Origin, Scratch};
use crate::plan::Inputs;
use odeum_core::Lanes;

/// The Laplacians of species and of potentials that a program reads, along a row.
#[inline(always)]
pub(super) fn laplacians<L: Lanes>(
    origin: &Origin<'_, L::Scalar>,
    inputs: &Inputs,
    scratch: &mut Scratch<L::Scalar>,
    at: At,
) {
    for &s in &inputs.laplacians {
        let Scratch { stride, ahead, spare, patch, laplacians, .. } = scratch;
        let mut rows = [&[][..]; 9];
        let nine = of_species::<L>(origin, (spare, *ahead), s, at, &mut rows);
        let to = &mut laplacians[s * *stride..(s + 1) * *stride];
        store::<L>(origin, &nine, at, patch, to);
    }
    for &k in &inputs.beyond {
        let Some((around, there)) = origin.around_potential(k) else { continue };
        let Scratch { stride, spare, patch, laplacians, .. } = scratch;
        let mut rows = [&[][..]; 9];
        let nine = of::<L>(&around, (spare, 0), there, &mut rows);
        let n = origin.plan.layout.species + k;
        let to = &mut laplacians[n * *stride..(n + 1) * *stride];
        store::<L>(origin, &nine, at, patch, to);
    }
}

/// The nine rows around a row of a species.
#[inline(always)]
pub(super) fn of_species<'r, 'a: 'r, L: Lanes>(
    origin: &Origin<'a, L::Scalar>,
    spare: (&'a mut [L::Scalar], usize),
    s: usize,
    at: At,
    rows: &'r mut [&'a [L::Scalar]; 9],
) -> Nine<'r, L::Scalar> {
    of::<L>(&origin.around(s), spare, at, rows)
}

/// The nine rows around a row. They are found where they then stay: a copy of all would wait until
/// the last is written.
#[inline(always)]
fn of<'r, 'a: 'r, L: Lanes>(
    around: &Around<'a, L::Scalar>,
    (spare, ahead): (&'a mut [L::Scalar], usize),
    at: At,
    rows: &'r mut [&'a [L::Scalar]; 9],
) -> Nine<'r, L::Scalar> {
    around.nine::<L>(at, &mut spare.chunks_exact_mut(around.wide), rows);
    let ahead = if around.place.whole { ahead * around.place.row } else { 0 };
    let (count, row) = (at.rows, around.place.row);
    let (ends, corners) = (&around.ghosts[0], around.corners(at));
    Nine { nx: around.shape[0], count, row, rows, ends, corners, ahead }
}

/// Puts the Laplacian over the scale of its weights into padded rows.
#[inline(always)]
pub(super) fn store<L: Lanes>(
    origin: &Origin<'_, L::Scalar>,
    nine: &Nine<'_, L::Scalar>,
    at: At,
    patch: &mut [L::Scalar],
    to: &mut [L::Scalar],
) {
    let weights = &origin.plan.weights;
    match origin.solids(at) {
        None => laplacian::store::<L>(weights, nine, to),
        Some(solids) => masked::store::<L>(weights, nine, (solids, at), patch, to),
    }
}
