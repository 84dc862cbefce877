//! Checks of a whole mechanism that decide whether it is accepted: conservation, duplicates, rates.

use std::collections::HashMap;

use super::Log;
use crate::check::thermodynamics;
use crate::mechanism::{Arrhenius, Blending, Mechanism, Rate, Reaction};

/// Largest imbalance of an element, relative to the atoms on a side (Cantera's).
const BALANCE: f64 = 1e-4;

/// All of them; a jump in the thermodynamic data of a species is a warning.
pub(super) fn whole(mechanism: &Mechanism, log: &mut Log) {
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
    let at = |k: &Arrhenius, t: f64| k.a * (k.b * t.ln() - k.ta / t).exp();
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
                Blending::Lindemann => 0,
                Blending::Troe { .. } => 1,
                Blending::Sri { .. } => 2,
                Blending::Tsang { .. } => 3,
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
pub(super) fn generic_and_named(mechanism: &Mechanism) -> Vec<(usize, usize, usize)> {
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
