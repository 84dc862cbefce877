//! Laplacians along rows: which nine rows they are taken of, and near solid cells another way.

use super::gather::At;
use super::laplacian::{self, Nine};
use super::masked;
use super::scratch::{Origin, Scratch};
use crate::domain::Domain;
use crate::plan::{Inputs, Plan};
use odeum_core::Lanes;

/// The nine rows around a row of a species that solid cells are near.
#[inline(always)]
pub(super) fn near_solids<'a, L: Lanes>(
    origin: &Origin<'a, L::Scalar>,
    spare: &'a mut [L::Scalar],
    s: usize,
    domain: &'a Domain,
    at: At,
) -> masked::Nine<'a, L::Scalar> {
    let around = origin.around(s);
    let mut rows = [&[][..]; 9];
    around.nine::<L>(at, &mut spare.chunks_exact_mut(around.wide), &mut rows);
    let (nx, ends) = (around.shape[0], &origin.moment.ghosts[s][0]);
    masked::Nine { nx, rows, ends, bits: domain.nine(at.y, at.z) }
}

/// The Laplacians of species that a program reads, along a row.
#[inline(always)]
pub(super) fn laplacians<L: Lanes>(
    origin: &Origin<'_, L::Scalar>,
    inputs: &Inputs,
    scratch: &mut Scratch<L::Scalar>,
    at: At,
) {
    let weights = &origin.plan.weights;
    let domain = origin.plan.domain_near((at.y, at.z));
    for &s in &inputs.laplacians {
        let stride = scratch.stride;
        if let Some(domain) = domain {
            let Scratch { spare, nine, laplacians, .. } = scratch;
            let rows = near_solids::<L>(origin, spare, s, domain, at);
            let to = &mut laplacians[s * stride..(s + 1) * stride];
            masked::laplacian::<L>(weights, &rows, weights.scale, nine, to);
            continue;
        }
        let mut rows = [&[][..]; 9];
        let nine = of_species::<L>(origin, (&mut scratch.spare, scratch.ahead), s, at, &mut rows);
        let row = &mut scratch.laplacians[s * stride..(s + 1) * stride];
        laplacian::store::<L>(weights, &nine, weights.scale, row);
    }
}

/// The nine rows around a row of a species. They are found where they then stay: a copy of all would
/// wait until the last is written.
#[inline(always)]
pub(super) fn of_species<'r, 'a: 'r, L: Lanes>(
    origin: &Origin<'a, L::Scalar>,
    (spare, ahead): (&'a mut [L::Scalar], usize),
    s: usize,
    at: At,
    rows: &'r mut [&'a [L::Scalar]; 9],
) -> Nine<'r, L::Scalar> {
    let around = origin.around(s);
    around.nine::<L>(at, &mut spare.chunks_exact_mut(around.wide), rows);
    let ahead = if around.place.whole { ahead * around.place.row } else { 0 };
    let (count, row) = (at.rows, around.place.row);
    Nine { nx: around.shape[0], count, row, rows, ends: &origin.moment.ghosts[s][0], ahead }
}

/// Puts the Laplacian of rows that are no species, around row (y, z), into a padded row.
#[inline(always)]
pub(super) fn store<L: Lanes>(
    plan: &Plan<L::Scalar>,
    nine: &Nine<'_, L::Scalar>,
    (y, z): (isize, isize),
    work: &mut [L::Scalar],
    to: &mut [L::Scalar],
) {
    let weights = &plan.weights;
    if let Some(domain) = plan.domain_near((y, z)) {
        let Nine { nx, rows, ends, .. } = *nine;
        let nine = masked::Nine { nx, rows: *rows, ends, bits: domain.nine(y, z) };
        masked::laplacian::<L>(weights, &nine, weights.scale, work, to);
    } else {
        laplacian::store::<L>(weights, nine, weights.scale, to);
    }
}
