//! Elimination on the pattern alone: which entries each pivot touches, and where they stand.

use super::super::ordering::Elimination;
use odeum_core::Pattern;

/// An unknown or an equation, and the place of an entry in its column or row.
pub(super) type At = (usize, u32);

/// What one pivot does.
pub(super) struct Pivot {
    /// Its equation, and unknown.
    pub(super) unknown: usize,
    pub(super) place: u32,
    /// Unknowns right of it in its row of U, in the order of elimination.
    pub(super) upper: Vec<At>,
    /// Equations below it in its column of L, in the order of elimination.
    pub(super) lower: Vec<At>,
    /// For each entry of L, for each entry of U: what their product is subtracted from.
    pub(super) targets: Vec<Target>,
}

/// What a product is subtracted from.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) place: u32,
    /// It was zero until now.
    pub(super) fill: bool,
}

/// All pivots in the order of elimination, and the number of places: those of the entries of J in the order of their
/// pattern, of diagonal entries that J lacks, and of what the elimination fills in. Nothing of unknowns that are
/// `constant`.
pub(super) fn eliminate(jacobian: &Pattern, constant: &[usize]) -> (Vec<Pivot>, u32) {
    let n = jacobian.rows();
    assert!(u32::try_from(n * n).is_ok(), "places are numbers of 32 bits");
    let mut order = Elimination::new(&jacobian.with_diagonal()).order;
    order.retain(|unknown| !constant.contains(unknown));
    let mut places = vec![vec![None; n]; n];
    let mut len = 0;
    // The place of an entry, and whether it is a new one.
    let mut put = |place: &mut Option<u32>| match *place {
        Some(place) => Target { place, fill: false },
        None => {
            *place = Some(len);
            len += 1;
            Target { place: len - 1, fill: true }
        }
    };
    for (i, j) in jacobian.iter() {
        put(&mut places[i][j]);
    }
    let mut unknowns = order.clone();
    unknowns.sort_unstable();
    for i in unknowns {
        put(&mut places[i][i]);
    }
    let mut pivots = Vec::with_capacity(n);
    for (k, &unknown) in order.iter().enumerate() {
        let left = || order[k + 1..].iter().copied();
        let upper: Vec<At> = left().filter_map(|j| Some((j, places[unknown][j]?))).collect();
        let lower: Vec<At> = left().filter_map(|i| Some((i, places[i][unknown]?))).collect();
        let mut targets = Vec::with_capacity(lower.len() * upper.len());
        for &(i, _) in &lower {
            targets.extend(upper.iter().map(|&(j, _)| put(&mut places[i][j])));
        }
        let place = put(&mut places[unknown][unknown]).place;
        pivots.push(Pivot { unknown, place, upper, lower, targets });
    }
    (pivots, len)
}
