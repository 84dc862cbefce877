//! Checks of a whole mechanism that decide whether it is accepted: conservation, duplicates, rates.

use super::Log;
use super::duplicates::{Duplicates, is_reverse};
use super::found::Found;
use super::problem::quote;
use crate::check::{Imbalance, bounds, imbalance, thermodynamics, without_heat_capacity};
use crate::mechanism::{Arrhenius, Blending, Mechanism, Rate, Reaction};

/// All of them; a jump in the thermodynamic data of a species is a warning.
pub(super) fn whole(found: &Found, log: &mut Log) {
    let mechanism = &found.mechanism;
    for (i, reaction) in mechanism.reactions.iter().enumerate() {
        found.enter_reaction(i, log);
        balance(mechanism, reaction, log);
        finite(reaction, log);
    }
    // A reaction that could not be read may be the partner of one that could.
    if !log.has_errors() {
        duplicates(found, log);
    }
    continuity(found, log);
    heat_capacities(found, log);
    common_temperatures(found, log);
    found.enter_own(log);
}

/// Jump from which on reading warns.
const JUMP: f64 = 1e-2;

fn continuity(found: &Found, log: &mut Log) {
    for jump in thermodynamics(&found.mechanism) {
        let species = &found.mechanism.species[jump.species];
        found.enter_species(jump.species, log);
        if jump.largest() > JUMP {
            let found = format!(
                "jumps at {} K: cp/R by {:.1e}, h/RT by {:.1e}, s/R by {:.1e}",
                jump.temperature, jump.cp, jump.h, jump.s
            );
            log.warn(species.line, &species.name, found, "check the coefficients");
        }
    }
}

/// Tells of data that no temperature has in common: no gas of the mechanism lies within them.
fn common_temperatures(found: &Found, log: &mut Log) {
    let species = &found.mechanism.species;
    let all = || species.iter().map(|species| bounds(&species.thermo)).enumerate();
    let last = all().max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
    let first = all().min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
    let (Some((k, (low, _))), Some((other, (_, high)))) = (last, first) else { return };
    if low >= high {
        found.enter_species(k, log);
        let what = format!(
            "data from {low} K on, and those of {} end at {high} K: no range of temperatures has the data of all",
            quote(&species[other].name)
        );
        log.warn(species[k].line, &species[k].name, what, "check the temperature ranges");
    }
}

/// Tells of species without a heat capacity at constant volume: their gases cool where heat is released.
fn heat_capacities(found: &Found, log: &mut Log) {
    for (k, species) in found.mechanism.species.iter().enumerate() {
        if let Some((t, cp)) = without_heat_capacity(&species.thermo) {
            found.enter_species(k, log);
            let what = format!("cp/R = {cp:.4} at {t} K, where that of every gas is 2.5 or more");
            log.warn(species.line, &species.name, what, "check the heat capacity and its units");
        }
    }
}

/// Tells of elements that a reaction makes or destroys, where the atoms of its species are known.
fn balance(mechanism: &Mechanism, reaction: &Reaction, log: &mut Log) {
    let mut species = reaction.reactants.iter().chain(&reaction.products);
    if species.any(|&(k, _)| mechanism.species[k].weight.is_nan()) {
        return;
    }
    let tell = |wrong: Imbalance| {
        let element = &mechanism.elements[wrong.element].name;
        let name = if element == "E" { "charge (E)" } else { element };
        format!("{name} {} against {}", wrong.reactants, wrong.products)
    };
    let wrong: Vec<String> = imbalance(mechanism, reaction).into_iter().map(tell).collect();
    if !wrong.is_empty() {
        let found = format!("not balanced: {}", wrong.join(", "));
        let remedy = "correct the equation or the compositions";
        log.error(reaction.line, &reaction.equation, found, remedy);
    }
}

/// Temperatures at which rates must be finite \[K\].
const PROBES: [f64; 6] = [300.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0];

/// What is wrong with a blending function that nothing else tells: of SRI the sum that is raised to a power may vanish, but
/// not be negative.
fn irregular(blending: &Blending) -> Option<String> {
    let &Blending::Sri { a, b, c, d, .. } = blending else { return None };
    let sum = |t: f64| a * (-b / t).exp() + if c == 0.0 { 0.0 } else { (-t / c).exp() };
    if c < 0.0 || d <= 0.0 {
        return Some(format!("SRI with C = {c}, D = {d}"));
    }
    let negative = PROBES.iter().find(|&&t| sum(t) < 0.0)?;
    Some(format!("A exp(−B/T) + exp(−T/C) of SRI is negative at {negative} K"))
}

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
        Rate::Falloff { low, high, blending, .. } => {
            for k in [low, high] {
                if let Some(t) = PROBES.iter().find(|&&t| !at(k, t).is_finite()) {
                    tell(format!("a limit of the rate constant is not finite at {t} K"));
                }
            }
            if let Some(found) = irregular(blending) {
                let remedy = "correct the parameters of the blending function";
                log.error(reaction.line, &reaction.equation, found, remedy);
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

/// Tells of reactions given twice without a mark, and of marks without a partner.
fn duplicates(found: &Found, log: &mut Log) {
    let Duplicates { twice, alone, .. } = Duplicates::of(&found.mechanism);
    let reactions = &found.mechanism.reactions;
    for &(i, j) in &twice {
        let again = &reactions[j];
        if is_reverse(reactions, j) && twice.iter().any(|pair| pair.1 == j - 1) {
            continue;
        }
        found.enter_reaction(j, log);
        let what = format!("the same reaction as that of {}", found.line_of(i, j));
        log.error(again.line, &again.equation, what, "remove one, or mark both as duplicates");
    }
    for &i in &alone {
        let reaction = &reactions[i];
        found.enter_reaction(i, log);
        let what = "marked as a duplicate, but no other reaction of its equation is".to_owned();
        log.error(reaction.line, &reaction.equation, what, "mark the other, or remove the mark");
    }
}
