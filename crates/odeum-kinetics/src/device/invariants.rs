//! The linear invariants of a reactor: the elements that all reactions conserve to rounding, and m − Σ Yₖ/Wₖ. An element that
//! a reaction conserves only nearly, as one of a lump with a rounded formula, is none; m − Σ Yₖ/Wₖ is one whatever the reactions,
//! as both sides change by Σ ωₖ/ρ. The mass is the sum of the elements. Species that no reaction changes keep what they have,
//! and are left out of all sums.

use crate::reactor::Reactor;
use odeum_core::System;

/// Coefficients of each \[n + 2\].
pub(super) fn of(reactor: &Reactor) -> Vec<Vec<f64>> {
    let kinetics = &**reactor.kinetics();
    let n = kinetics.n_species();
    let reacts = |k: usize| kinetics.net.iter().flatten().any(|&(species, _)| species == k);
    let reacting: Vec<usize> = (0..n).filter(|&k| reacts(k)).collect();
    let atoms = |k: usize, element: usize| -> f64 {
        kinetics.composition[k].iter().filter(|(e, _)| *e == element).map(|(_, count)| count).sum()
    };
    let row = |per_mole: &dyn Fn(usize) -> f64, moles: f64| {
        let mut row = vec![0.0; reactor.dim()];
        for &k in &reacting {
            row[1 + k] = per_mole(k) * kinetics.recip_weight[k];
        }
        row[n + 1] = moles;
        row
    };
    let mut rows: Vec<Vec<f64>> = (0..kinetics.element_names.len())
        .filter(|&element| kinetics.conserved[element])
        .filter(|&element| reacting.iter().any(|&k| atoms(k, element) != 0.0))
        .map(|element| row(&|k| atoms(k, element), 0.0))
        .collect();
    if !reacting.is_empty() {
        rows.push(row(&|_| 1.0, -1.0));
    }
    rows
}
