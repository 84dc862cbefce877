//! Rate constants, of amounts in kilograms: k Π 1/W over the reactants.

use super::falloff::{self, exponent};
use super::mixture::Mixture;
use crate::kinetics::Kinetics;
use crate::rate::blend::TINY;
use crate::rate::{Conditions, Constants};
use crate::scratch::Scratch;
use odeum_core::{Real, Symbol};
use std::collections::HashMap;

/// Rate constants into `k` of the scratch, those of three-body reactions without X, and X of every set of colliders
/// into `x`. X/ρ of every set.
pub(super) fn write(
    kinetics: &Kinetics,
    mixture: &Mixture,
    fractions: &[Symbol],
    s: &mut Scratch<'_, Symbol>,
) -> Vec<Symbol> {
    let scales = scales(kinetics);
    let per_mass = colliders(kinetics, mixture, fractions, s);
    let ln_p = if kinetics.needs_pressure() { mixture.pressure.ln() } else { mixture.pressure };
    let with = Conditions { at: mixture.at, ln_p, total: mixture.total };
    arrhenius(kinetics, &with, &scales, s.k);
    falloff::write(kinetics, &with, &scales, s);
    let mut rates = Constants::of(s);
    kinetics.tabulated.evaluate::<Symbol, false>(&with, &mut rates);
    for j in 0..kinetics.tabulated.len() {
        let r = kinetics.tabulated.reaction(j);
        s.k[r] = s.k[r] * Symbol::lit(scales[r]);
    }
    per_mass
}

/// Π 1/W over the reactants of each reaction; one of those that are evaluated in concentrations.
fn scales(kinetics: &Kinetics) -> Vec<f64> {
    fn products(sides: &[impl AsRef<[u32]>], recip_weight: &[f64]) -> Vec<f64> {
        let of = |k: &u32| recip_weight.get(*k as usize).copied().unwrap_or(1.0);
        sides.iter().map(|side| side.as_ref().iter().map(of).product()).collect()
    }
    let action = &kinetics.mass_action;
    let mut scales = products(&action.two.reactants, &kinetics.recip_weight);
    scales.extend(products(&action.three.reactants, &kinetics.recip_weight));
    scales.resize(kinetics.n_reactions(), 1.0);
    scales
}

/// A T^b exp(−Tₐ/T) of every reaction with one expression. Into an exponential that no other has goes ln A.
fn arrhenius(kinetics: &Kinetics, with: &Conditions<Symbol>, scales: &[f64], k: &mut [Symbol]) {
    let (table, bodies, at) = (&kinetics.arrhenius, &kinetics.bodies, &with.at);
    let falloffs = &bodies.reaction[bodies.n_three_body..];
    let is_limit = |slot: u32| slot as usize >= scales.len() || falloffs.contains(&slot);
    let kind = |i: usize| (table.b[i].to_bits(), table.ta[i].to_bits());
    let ours = || (0..table.slot.len()).filter(|i| !is_limit(table.slot[*i]));
    let mut sharing: HashMap<(u64, u64), u32> = HashMap::new();
    for i in ours() {
        *sharing.entry(kind(i)).or_default() += 1;
    }
    for i in ours() {
        let r = table.slot[i] as usize;
        let (a, b, ta) = (table.a[i] * scales[r], table.b[i], table.ta[i]);
        k[r] = if i < table.powers_end {
            let base = if b < 0.0 { at.recip } else { at.t };
            Symbol::lit(a) * base.powi(b.abs() as i32)
        } else if sharing[&kind(i)] == 1 && a != 0.0 {
            Symbol::lit(a.signum()) * exponent(with, [a.abs().ln(), b, ta]).exp()
        } else {
            Symbol::lit(a) * exponent(with, [0.0, b, ta]).exp()
        };
    }
}

/// X of every set of colliders, and ln X where it is wanted, into the scratch; X/ρ of every set.
fn colliders(
    kinetics: &Kinetics,
    mixture: &Mixture,
    fractions: &[Symbol],
    s: &mut Scratch<'_, Symbol>,
) -> Vec<Symbol> {
    let bodies = &kinetics.bodies;
    let mut per_mass = Vec::new();
    for set in 0..bodies.default.len() {
        let mut listed = Symbol::lit(0.0);
        for (species, excess) in bodies.listed(set) {
            let k = species as usize;
            let excess = Symbol::lit(excess * kinetics.recip_weight[k]);
            listed = excess.mul_add(fractions[k], listed);
        }
        let listed = listed.intermediate();
        let everyone = Symbol::lit(bodies.default[set]);
        s.x[set] = everyone.mul_add(mixture.total, mixture.density * listed).intermediate();
        per_mass.push(everyone.mul_add(mixture.amount, listed));
    }
    let tiny = Symbol::lit(TINY);
    for &set in &bodies.logarithms {
        let x = s.x[set as usize];
        s.ln_x[set as usize] = Symbol::select(x.lt(tiny), tiny, x).ln();
    }
    per_mass
}
