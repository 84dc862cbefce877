//! Checks of a whole mechanism: conservation, duplicates, rates, thermodynamic data.
//!
//! A mechanism that was read has passed the first three; [`thermodynamics`] is for a report on it.

use std::collections::HashMap;

use crate::mechanism::{Mechanism, Range, Rate, Reaction, Thermo};
use crate::read::Log;

/// Largest imbalance of an element, relative to the atoms on a side (Cantera's).
const BALANCE: f64 = 1e-4;

/// The checks that decide whether a mechanism is accepted.
pub(crate) fn reading(mechanism: &Mechanism, log: &mut Log) {
    for reaction in &mechanism.reactions {
        balance(mechanism, reaction, log);
        finite(reaction, log);
    }
    // A reaction that could not be read may be the partner of one that could.
    if !log.has_errors() {
        duplicates(mechanism, log);
    }
    continuity(mechanism, log);
}

/// How far heat capacity, enthalpy and entropy of a species jump between two ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// Index of the species.
    pub species: usize,
    /// Temperature between the ranges \[K\].
    pub temperature: f64,
    /// |Δcp| / R.
    pub cp: f64,
    /// |Δh| / (R T).
    pub h: f64,
    /// |Δs| / R.
    pub s: f64,
}

impl Jump {
    /// The largest of the three.
    pub fn largest(&self) -> f64 {
        self.cp.max(self.h).max(self.s)
    }
}

/// The jumps of all species with more than one range, in the order of the species.
///
/// Published data jump by up to about 1e-3; more points to a slip in a coefficient.
pub fn thermodynamics(mechanism: &Mechanism) -> Vec<Jump> {
    let mut jumps = Vec::new();
    for (species, entry) in mechanism.species.iter().enumerate() {
        match &entry.thermo {
            Thermo::Nasa7(ranges) => between(species, ranges, nasa7, &mut jumps),
            Thermo::Nasa9(ranges) => between(species, ranges, nasa9, &mut jumps),
            Thermo::Shomate(ranges) => between(species, ranges, shomate, &mut jumps),
            Thermo::ConstantCp { .. } => {}
        }
    }
    jumps
}

fn between<const K: usize>(
    species: usize,
    ranges: &[Range<K>],
    value: fn(&[f64; K], f64) -> [f64; 3],
    jumps: &mut Vec<Jump>,
) {
    for pair in ranges.windows(2) {
        let t = pair[1].low;
        let (below, above) = (value(&pair[0].a, t), value(&pair[1].a, t));
        let [cp, h, s] = std::array::from_fn(|i| (below[i] - above[i]).abs());
        jumps.push(Jump { species, temperature: t, cp, h, s });
    }
}

/// cp/R, h/(R T), s/R.
fn nasa7(a: &[f64; 7], t: f64) -> [f64; 3] {
    let (mut cp, mut h, mut s, mut power) = (0.0, a[5] / t, a[6] + a[0] * t.ln(), 1.0);
    for i in 0..5 {
        let k = i as f64;
        cp += a[i] * power;
        h += a[i] * power / (k + 1.0);
        if i > 0 {
            s += a[i] * power / k;
        }
        power *= t;
    }
    [cp, h, s]
}

/// As `nasa7`: McBride & Gordon, NASA RP-1311 (1996), with T⁻² and T⁻¹ before the powers.
fn nasa9(a: &[f64; 9], t: f64) -> [f64; 3] {
    let (u, v) = (a[0] / (t * t), a[1] / t);
    let [cp, h, s] = nasa7(&[a[2], a[3], a[4], a[5], a[6], a[7], a[8]], t);
    [cp + u + v, h - u + v * t.ln(), s - u / 2.0 - v]
}

/// As `nasa7`, of the NIST equation with kJ, mol and T / 1000.
fn shomate(a: &[f64; 7], temperature: f64) -> [f64; 3] {
    let t = temperature / 1000.0;
    let r = crate::read::GAS_CONSTANT / 1000.0;
    let cp = a[0] + t * (a[1] + t * (a[2] + t * a[3])) + a[4] / (t * t);
    let h = t * (a[0] + t * (a[1] / 2.0 + t * (a[2] / 3.0 + t * a[3] / 4.0))) - a[4] / t + a[5];
    let s = a[0] * t.ln() + t * (a[1] + t * (a[2] / 2.0 + t * a[3] / 3.0)) - a[4] / (2.0 * t * t)
        + a[6];
    [cp / r, h / (r * t), s / r]
}

/// Jump from which on reading warns.
const JUMP: f64 = 1e-2;

fn continuity(mechanism: &Mechanism, log: &mut Log) {
    for jump in thermodynamics(mechanism) {
        let species = &mechanism.species[jump.species];
        if jump.largest() > JUMP {
            let found = format!(
                "jumps at {} K: cp/R by {:.1e}, h/RT by {:.1e}, s/R by {:.1e}",
                jump.temperature, jump.cp, jump.h, jump.s
            );
            log.warn(species.line, &species.name, found, "check the coefficients");
        }
    }
}

fn balance(mechanism: &Mechanism, reaction: &Reaction, log: &mut Log) {
    let n = mechanism.elements.len();
    let atoms = |terms: &[(usize, f64)]| {
        let mut sum = vec![0.0; n];
        for &(k, coefficient) in terms {
            for &(element, count) in &mechanism.species[k].composition {
                sum[element] += coefficient * count;
            }
        }
        sum
    };
    let (left, right) = (atoms(&reaction.reactants), atoms(&reaction.products));
    let mut wrong = Vec::new();
    for (e, element) in mechanism.elements.iter().enumerate() {
        let (before, after): (f64, f64) = (left[e], right[e]);
        let scale = (before.abs() + after.abs()).max(1.0);
        if (before - after).abs() > BALANCE * scale {
            let name = if element.name == "E" { "charge (E)" } else { &element.name };
            wrong.push(format!("{name} {before} against {after}"));
        }
    }
    if !wrong.is_empty() {
        let found = format!("not balanced: {}", wrong.join(", "));
        let remedy = "correct the equation or the compositions";
        log.error(reaction.line, &reaction.equation, found, remedy);
    }
}

/// Temperatures at which rates must be finite \[K\].
const PROBES: [f64; 6] = [300.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0];

fn finite(reaction: &Reaction, log: &mut Log) {
    let mut tell = |found: String| {
        log.error(reaction.line, &reaction.equation, found, "correct A, b, Ea or their units");
    };
    let at = |k: &crate::mechanism::Arrhenius, t: f64| k.a * (k.b * t.ln() - k.ta / t).exp();
    match &reaction.rate {
        Rate::Arrhenius(k) => {
            if let Some(t) = PROBES.iter().find(|&&t| !at(k, t).is_finite()) {
                tell(format!("the rate constant is not finite at {t} K"));
            }
        }
        Rate::Falloff { low, high, .. } => {
            for k in [low, high] {
                if let Some(t) = PROBES.iter().find(|&&t| !at(k, t).is_finite()) {
                    tell(format!("a limit of the rate constant is not finite at {t} K"));
                }
            }
        }
        Rate::Plog(points) => {
            for point in points {
                let bad = PROBES.iter().find(|&&t| {
                    let sum: f64 = point.rates.iter().map(|k| at(k, t)).sum();
                    !(sum > 0.0 && sum.is_finite())
                });
                if let Some(t) = bad {
                    tell(format!(
                        "the rate constant at {} Pa and {t} K is not positive and finite",
                        point.pressure
                    ));
                }
            }
        }
        Rate::Chebyshev(table) => {
            // |Tᵢ| ≤ 1 within the table.
            let bound: f64 = table.coefficients.iter().flatten().map(|c| c.abs()).sum();
            if bound > 300.0 {
                tell(format!("log₁₀ k may reach {bound}"));
            }
        }
    }
}

/// Signed stoichiometry, ascending by species: reactants negative.
type Signature = Vec<(usize, bool, f64)>;

fn signature(reaction: &Reaction, reversed: bool) -> Signature {
    let mut terms: Signature = Vec::new();
    for &(k, coefficient) in &reaction.reactants {
        terms.push((k, reversed, coefficient));
    }
    for &(k, coefficient) in &reaction.products {
        terms.push((k, !reversed, coefficient));
    }
    terms.sort_by_key(|term| (term.0, term.1));
    terms
}

/// Whether two signatures are equal up to a factor.
fn proportional(a: &Signature, b: &Signature) -> bool {
    if a.len() != b.len() || a.is_empty() {
        return false;
    }
    let ratio = b[0].2 / a[0].2;
    a.iter()
        .zip(b)
        .all(|(x, y)| x.0 == y.0 && x.1 == y.1 && (y.2 / x.2 - ratio).abs() <= 1e-8 * ratio)
}

/// The rate law, with its blending function: reactions of different laws are no duplicates.
fn law(reaction: &Reaction) -> (u8, u8, bool) {
    let (law, form) = match &reaction.rate {
        Rate::Arrhenius(_) => (0, 0),
        Rate::Falloff { blending, activated, .. } => {
            let form = match blending {
                crate::mechanism::Blending::Lindemann => 0,
                crate::mechanism::Blending::Troe { .. } => 1,
                crate::mechanism::Blending::Sri { .. } => 2,
                crate::mechanism::Blending::Tsang { .. } => 3,
            };
            (if *activated { 2 } else { 1 }, form)
        }
        Rate::Plog(_) => (3, 0),
        Rate::Chebyshev(_) => (4, 0),
    };
    (law, form, reaction.third_body.is_some())
}

fn efficiency(reaction: &Reaction, k: usize) -> f64 {
    reaction.third_body.as_ref().map_or(0.0, |body| {
        let own = body.efficiencies.iter().find(|entry| entry.0 == k);
        own.map_or(body.default_efficiency, |entry| entry.1)
    })
}

/// Whether some species is a collider of both.
fn share_collider(a: &Reaction, b: &Reaction, n_species: usize) -> bool {
    a.third_body.is_none()
        || (0..n_species).any(|k| efficiency(a, k) != 0.0 && efficiency(b, k) != 0.0)
}

fn sorted(orders: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let mut orders = orders.to_vec();
    orders.sort_by_key(|entry| entry.0);
    orders
}

/// The orders, where they are not the stoichiometric coefficients.
fn own_orders(reaction: &Reaction) -> Option<Vec<(usize, f64)>> {
    let orders = sorted(&reaction.orders);
    (orders != sorted(&reaction.reactants)).then_some(orders)
}

/// One species is the only collider; its index.
fn only_collider(reaction: &Reaction) -> Option<usize> {
    let body = reaction.third_body.as_ref()?;
    match body.efficiencies[..] {
        [(k, _)] if body.default_efficiency == 0.0 => Some(k),
        _ => None,
    }
}

/// Pairs (earlier, later) of reactions with the same equation, in either direction where one is
/// reversible, the same law and orders.
fn same(mechanism: &Mechanism) -> Vec<(usize, usize)> {
    let mut groups: HashMap<Vec<usize>, Vec<usize>> = HashMap::new();
    for (i, reaction) in mechanism.reactions.iter().enumerate() {
        let mut key: Vec<usize> =
            reaction.reactants.iter().chain(&reaction.products).map(|term| term.0).collect();
        key.sort_unstable();
        groups.entry(key).or_default().push(i);
    }
    let mut pairs = Vec::new();
    for group in groups.values() {
        for (place, &j) in group.iter().enumerate() {
            let second = &mechanism.reactions[j];
            let (forward, backward) = (signature(second, false), signature(second, true));
            for &i in &group[..place] {
                let first = &mechanism.reactions[i];
                let own = signature(first, false);
                let either = first.reversible || second.reversible;
                let equal =
                    proportional(&own, &forward) || (either && proportional(&own, &backward));
                if equal && law(first) == law(second) && own_orders(first) == own_orders(second) {
                    pairs.push((i, j));
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// (reaction with M, the same with a named collider, that collider), neither marked a duplicate.
pub(crate) fn generic_and_named(mechanism: &Mechanism) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    for (i, j) in same(mechanism) {
        let (a, b) = (&mechanism.reactions[i], &mechanism.reactions[j]);
        if (a.duplicate && b.duplicate) || !share_collider(a, b, mechanism.n_species()) {
            continue;
        }
        match (only_collider(a), only_collider(b)) {
            (None, Some(k)) if b.third_body.is_some() => found.push((i, j, k)),
            (Some(k), None) if a.third_body.is_some() => found.push((j, i, k)),
            _ => {}
        }
    }
    found
}

fn duplicates(mechanism: &Mechanism, log: &mut Log) {
    let mut partnered = vec![false; mechanism.reactions.len()];
    for (i, j) in same(mechanism) {
        partnered[i] = true;
        partnered[j] = true;
        let (a, b) = (&mechanism.reactions[i], &mechanism.reactions[j]);
        if (a.duplicate && b.duplicate) || !share_collider(a, b, mechanism.n_species()) {
            continue;
        }
        if a.third_body.is_some() && only_collider(a).is_some() != only_collider(b).is_some() {
            // M beside a named collider: told where `explicit-third-body-duplicates` is read.
            continue;
        }
        let found = format!("the same reaction as that of line {}", a.line);
        log.error(b.line, &b.equation, found, "remove one, or mark both as duplicates");
    }
    for (i, reaction) in mechanism.reactions.iter().enumerate() {
        if reaction.duplicate && !partnered[i] {
            let found = "marked as a duplicate, but of no other reaction".to_owned();
            log.error(reaction.line, &reaction.equation, found, "remove the mark");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_of_each_model() {
        // Cantera's own report on this file (its test data): s/R of O2 29.279376622757287 below,
        // 28.612310671002362 above 1000 K; cp/R of O 2.6 and 2.5 at 1400 K.
        let text = include_str!("../tests/data/all-rate-laws.inp");
        let file = crate::read::Named { file: "all-rate-laws.inp", text };
        let read = crate::read::chemkin(file, None).unwrap();
        let jumps = thermodynamics(&read.mechanism);
        let of = |name: &str| {
            let species = read.mechanism.species_index(name).unwrap();
            *jumps.iter().find(|jump| jump.species == species).unwrap()
        };
        assert!((of("O2").s - (29.279376622757287 - 28.612310671002362)).abs() < 1e-12);
        assert!((of("O").cp - 0.1).abs() < 1e-14 && of("O").temperature == 1400.0);
        assert!(read.warnings.iter().any(|warning| warning.subject == "O2"));
        // Published NASA-9 and NIST data are continuous; the file rounds the range above 6000 K.
        let text = include_str!("../tests/data/all-rate-laws.yaml");
        let read = crate::read::yaml("all-rate-laws.yaml", text, None).unwrap();
        for jump in thermodynamics(&read.mechanism) {
            let name = &read.mechanism.species[jump.species].name;
            assert!(jump.temperature == 6000.0 || jump.largest() < 2e-2, "{name}: {jump:?}");
        }
    }
}
