//! Checks of a whole mechanism that decide whether it is accepted: conservation, duplicates, rates.

use super::Log;
use super::duplicates::{Duplicates, is_reverse};
use super::found::Found;
use super::problem::quote;
use crate::check::{
    Fault, Imbalance, bounds, imbalance, of_rate, thermodynamics, without_heat_capacity,
};
use crate::mechanism::{Mechanism, Reaction, ThirdBody};

/// All of them; a jump in the thermodynamic data of a species is a warning.
pub(super) fn whole(found: &Found, log: &mut Log) {
    let mechanism = &found.mechanism;
    for (i, reaction) in mechanism.reactions.iter().enumerate() {
        found.enter_reaction(i, log);
        balance(mechanism, reaction, log);
        rate(reaction, log);
    }
    // A reaction that could not be read may be the partner of one that could.
    if !log.has_errors() {
        duplicates(found, log);
    }
    continuity(found, log);
    heat_capacities(found, log);
    collider_names(found, log);
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

/// Tells of a species called as any collider is, in a mechanism with reactions that have one.
fn collider_names(found: &Found, log: &mut Log) {
    let Mechanism { species, reactions, .. } = &found.mechanism;
    if !species.iter().any(|species| species.name == "M") {
        return;
    }
    let any = |body: &ThirdBody| body.default_efficiency != 0.0;
    if let Some(i) = reactions.iter().position(|reaction| reaction.third_body.iter().any(any)) {
        found.enter_reaction(i, log);
        let what = "M is any collider here, and a species of the mechanism, too".to_owned();
        let remedy = "give the species another name where it is not what is meant";
        log.warn(reactions[i].line, &reactions[i].equation, what, remedy);
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

/// Tells of rates that make no sense.
fn rate(reaction: &Reaction, log: &mut Log) {
    for Fault { found, remedy } in of_rate(&reaction.rate) {
        log.error(reaction.line, &reaction.equation, found, remedy);
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
