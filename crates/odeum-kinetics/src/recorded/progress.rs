//! The law of mass action in mass fractions.
//!
//! With ε = W exp(−γ) of each species and ζ = Y/ε, a reaction of n reactants and n − d products has the rate
//! k Π 1/W ρⁿ (Π Y − θᵈ Π ε Π ζ): the first three products are over the reactants, the last is over the products,
//! and θ = p°/(R T ρ). So there are no powers of ρ in the difference where d is zero. As in
//! [`mass_action`](crate::rate::mass_action), ε and ζ are multiplied in pairs of similar γ.

use super::mixture::Mixture;
use crate::constants::{GAS_CONSTANT, REFERENCE_PRESSURE};
use crate::kinetics::Kinetics;
use crate::rate::mass_action::{Factors, Progress, SlotTable};
use crate::scratch::Scratch;
use odeum_core::{Real, Symbol};
use std::collections::HashMap;

/// Net stoichiometric coefficients of a reaction, and its rate of progress over ρ².
pub(super) type Rate<'a> = (&'a [(usize, f64)], Symbol);

/// Reactions with these reactants, products and coefficients have rates that differ in k alone. There are no products
/// where they do not go back.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Change {
    reactants: Vec<u32>,
    products: Option<Vec<u32>>,
    /// (species, coefficient to the bit).
    net: Vec<(usize, u64)>,
}

/// The rates of all reactions, those that change the same as one, from the rate constants in `k` of the scratch, γ,
/// X and `per_mass`, X/ρ of each set of colliders.
pub(super) fn rates<'a>(
    kinetics: &'a Kinetics,
    mixture: &Mixture,
    fractions: &[Symbol],
    per_mass: &[Symbol],
    s: &mut Scratch<'_, Symbol>,
) -> Vec<Rate<'a>> {
    let activities = Activities::new(kinetics, fractions, s.gamma);
    let sets = three_body_sets(kinetics);
    let mut numbers: HashMap<Change, usize> = HashMap::new();
    let mut changes: Vec<(Change, usize, Symbol)> = Vec::new();
    let in_slots = in_slots(kinetics);
    let first_general = in_slots.len();
    for (r, (reactants, products)) in in_slots.into_iter().enumerate() {
        // Two factors beside k are the rule: their power of ρ is that of all slopes.
        let power = reactants.len() as i32 - 2;
        let constant = match sets[r] {
            Some(set) if power < 0 => s.k[r] * per_mass[set] * mixture.density_to(power + 1),
            Some(set) => s.k[r] * s.x[set] * mixture.density_to(power),
            None => s.k[r] * mixture.density_to(power),
        };
        let net = kinetics.net[r].iter().map(|(k, nu)| (*k, nu.to_bits())).collect();
        let change = Change { reactants, products, net };
        match numbers.get(&change) {
            Some(&number) => changes[number].2 = changes[number].2 + constant,
            None => {
                numbers.insert(change.clone(), changes.len());
                changes.push((change, r, constant));
            }
        }
    }
    let mut rates: Vec<Rate<'a>> = Vec::new();
    for (change, r, constant) in &changes {
        let rate = *constant * activities.difference(change, mixture);
        rates.push((&kinetics.net[*r], rate));
    }
    for r in first_general..kinetics.n_reactions() {
        if let Some(set) = sets[r] {
            s.k[r] = s.k[r] * s.x[set];
        }
    }
    rates.extend(general(kinetics, mixture, fractions, s));
    rates
}

/// The set of colliders of each three-body reaction.
fn three_body_sets(kinetics: &Kinetics) -> Vec<Option<usize>> {
    let bodies = &kinetics.bodies;
    let mut sets = vec![None; kinetics.n_reactions()];
    for (r, set) in bodies.reaction.iter().zip(&bodies.set).take(bodies.n_three_body) {
        sets[*r as usize] = Some(*set as usize);
    }
    sets
}

/// Reactants, and products where it goes back, of every reaction but the general ones.
fn in_slots(kinetics: &Kinetics) -> Vec<(Vec<u32>, Option<Vec<u32>>)> {
    fn of<const K: usize>(table: &SlotTable<K>, n: usize) -> Vec<(Vec<u32>, Option<Vec<u32>>)> {
        let there = |slots: &[u32; K]| -> Vec<u32> {
            slots.iter().copied().filter(|k| (*k as usize) < n).collect()
        };
        let products = |i: usize| table.products.get(i).map(there);
        let reactants = table.reactants.iter().enumerate();
        reactants.map(|(i, slots)| (there(slots), products(i))).collect()
    }
    let (action, n) = (&kinetics.mass_action, kinetics.n_species());
    [of(&action.two, n), of(&action.three, n)].concat()
}

/// Y, ε and ζ of all species.
struct Activities<'a> {
    fractions: &'a [Symbol],
    standard: Vec<Symbol>,
    scaled: Vec<Symbol>,
}

impl<'a> Activities<'a> {
    fn new(kinetics: &Kinetics, fractions: &'a [Symbol], gamma: &[Symbol]) -> Activities<'a> {
        let standard = |(w, gamma): (&f64, &Symbol)| (Symbol::lit(w.ln()) - *gamma).exp();
        let standard: Vec<Symbol> = kinetics.weight.iter().zip(gamma).map(standard).collect();
        let scaled = fractions.iter().zip(&standard).map(|(y, e)| *y * e.recip()).collect();
        Activities { fractions, standard, scaled }
    }

    /// Π Y − θᵈ Π ε Π ζ.
    fn difference(&self, change: &Change, mixture: &Mixture) -> Symbol {
        let forward = product(change.reactants.iter().map(|k| self.fractions[*k as usize]));
        let Some(products) = &change.products else { return forward };
        let pairs = (0..change.reactants.len().max(products.len())).map(|i| {
            let from = change.reactants.get(i).map(|k| self.standard[*k as usize]);
            let to = products.get(i).map(|k| self.scaled[*k as usize]);
            product(from.into_iter().chain(to))
        });
        let fewer = change.reactants.len() as i32 - products.len() as i32;
        forward - product(pairs) * mixture.standard_to(fewer)
    }
}

/// One where there are no factors.
fn product(factors: impl Iterator<Item = Symbol>) -> Symbol {
    factors.reduce(|product, factor| product * factor).unwrap_or_else(|| Symbol::lit(1.0))
}

/// The other reactions, in concentrations as on lanes.
fn general<'a>(
    kinetics: &'a Kinetics,
    mixture: &Mixture,
    fractions: &[Symbol],
    s: &mut Scratch<'_, Symbol>,
) -> Vec<Rate<'a>> {
    let table = &kinetics.mass_action.general;
    let first = kinetics.n_reactions() - table.reversible.len();
    for (k, y) in fractions.iter().enumerate() {
        s.c[k] = *y * Symbol::lit(kinetics.recip_weight[k]) * mixture.density;
    }
    let ln_standard = Symbol::lit((REFERENCE_PRESSURE / GAS_CONSTANT).ln()) - mixture.at.ln;
    let with = Factors { c: s.c, e: s.e, z: s.z, recip_e: s.recip_e, u: s.u, gamma: s.gamma };
    let mut out = Progress { q: s.k, by_t: s.dlnk, net: s.net, scaled: s.scaled, slots: s.slots };
    table.evaluate::<Symbol, false>(first, 0, &mixture.at, &with, ln_standard, &mut out);
    let rest = (first..kinetics.n_reactions()).zip(&s.k[first..]);
    rest.map(|(r, q)| (&kinetics.net[r][..], *q * mixture.density_to(-2))).collect()
}
