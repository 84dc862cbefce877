//! `odeum mechanism`: what a mechanism file contains, and what is doubtful in it.

use crate::args::MechanismArgs;
use crate::exit::Exit;
use crate::report::{Align, Style, Table, count, rounded, say, show};
use odeum_case::mechanism::{self, Read};
use odeum_kinetics::check::thermodynamics;
use odeum_kinetics::mechanism::{Blending, Rate, Reaction, Thermo};
use odeum_kinetics::read::{Composition, InitialState};
use odeum_kinetics::{Mechanism, Reactor};
use odeum_ode::System;
use std::sync::Arc;

/// Jumps of thermodynamic functions listed, the largest first.
const JUMPS: usize = 5;
/// Relative jumps below this are rounding of published coefficients.
const SMALL_JUMP: f64 = 1e-3;
/// Digits of pressures and densities: an atmosphere has six.
const STATE_DIGITS: usize = 6;

pub(crate) fn command(args: &MechanismArgs) -> Exit {
    match mechanism::read(&args.file, &args.beside.selection()) {
        Ok(read) => {
            show(&read.warnings, Exit::Success);
            say(&describe(&args.file.display().to_string(), read, Style::stdout()));
            Exit::Success
        }
        Err(problems) => show(&problems, Exit::BadInput).unwrap_or(Exit::BadInput),
    }
}

fn describe(file: &str, read: Read, style: Style) -> String {
    let Read { mechanism, state, kinetics, warnings } = read;
    let mut text = style.bold(file);
    if !mechanism.name.is_empty() {
        text += &format!(" — {}", mechanism.name);
    }
    let mut facts = Table::pairs();
    let elements: Vec<&str> = mechanism.elements.iter().map(|e| e.name.as_str()).collect();
    facts.pair("elements", elements.join(" "));
    facts.pair("species", species(&mechanism));
    let reversible = mechanism.reactions.iter().filter(|r| r.reversible).count();
    let all = mechanism.n_reactions();
    facts.pair(
        "reactions",
        format!("{}, {} reversible", count(all as u64), count(reversible as u64)),
    );
    let (low, high) = kinetics.temperature_bounds();
    facts.pair("temperatures", format!("{low} to {high} K for all species"));
    if let Some(state) = described(&state, &mechanism) {
        facts.pair("state", state);
    }
    let kinetics = Arc::new(kinetics);
    let reactor = Reactor::constant_volume(kinetics);
    let n = reactor.dim();
    let nnz = reactor.jacobian_pattern().map_or(n * n, odeum_core::Pattern::nnz);
    let fraction = 100.0 * nnz as f64 / (n * n) as f64;
    facts.pair("Jacobian", format!("{n} × {n}, {} entries ({fraction:.0} %)", count(nnz as u64)));
    text += &format!("\n\n{}\n{}", facts.render(style), rates(&mechanism).render(style));
    text += &jumps(&mechanism, style);
    if warnings.is_empty() {
        text += &format!(
            "\n{} elements balance, duplicates are marked, rates are finite\n",
            style.green("ok:")
        );
    }
    text
}

/// The state of the phase, from which cases start where they say nothing else; `None` where it has
/// none.
fn described(state: &InitialState, mechanism: &Mechanism) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(state.temperature.map(|t| format!("{t} K")));
    parts.extend(state.pressure.map(|p| format!("{} Pa", rounded(p, STATE_DIGITS))));
    parts.extend(state.density.map(|d| format!("{} kg/m³", rounded(d, STATE_DIGITS))));
    if let Some(composition) = &state.composition {
        let (how, amounts) = match composition {
            Composition::MoleFractions(amounts) => ("by mole", amounts),
            Composition::MassFractions(amounts) => ("by mass", amounts),
        };
        let given = mechanism.species.iter().zip(amounts).filter(|(_, amount)| **amount > 0.0);
        let given: Vec<String> =
            given.map(|(species, amount)| format!("{} {amount}", species.name)).collect();
        parts.push(format!("{} {how}", given.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn species(mechanism: &Mechanism) -> String {
    let mut kinds = [("NASA-7", 0), ("NASA-9", 0), ("Shomate", 0), ("constant cp", 0)];
    for species in &mechanism.species {
        let kind = match species.thermo {
            Thermo::Nasa7(_) => 0,
            Thermo::Nasa9(_) => 1,
            Thermo::Shomate(_) => 2,
            Thermo::ConstantCp { .. } => 3,
        };
        kinds[kind].1 += 1;
    }
    let used: Vec<String> =
        kinds.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} {name}")).collect();
    format!("{} ({})", count(mechanism.n_species() as u64), used.join(", "))
}

/// Reactions by rate law.
fn rates(mechanism: &Mechanism) -> Table {
    let mut laws: Vec<(&str, usize)> = Vec::new();
    for reaction in &mechanism.reactions {
        let law = law(reaction);
        match laws.iter_mut().find(|(name, _)| *name == law) {
            Some((_, n)) => *n += 1,
            None => laws.push((law, 1)),
        }
    }
    let mut table = Table::new(&[("rate law", Align::Left), ("reactions", Align::Right)]);
    for (name, n) in laws {
        table.row([name.to_owned(), count(n as u64)]);
    }
    table
}

fn law(reaction: &Reaction) -> &'static str {
    match (&reaction.rate, &reaction.third_body) {
        (Rate::Arrhenius(_), None) => "Arrhenius",
        (Rate::Arrhenius(_), Some(_)) => "three-body",
        (Rate::Falloff { activated: true, .. }, _) => "chemically activated",
        (Rate::Falloff { blending, .. }, _) => match blending {
            Blending::Lindemann => "falloff, Lindemann",
            Blending::Troe { .. } => "falloff, Troe",
            Blending::Sri { .. } => "falloff, SRI",
            Blending::Tsang { .. } => "falloff, Tsang",
        },
        (Rate::Plog(_), _) => "pressure table (PLOG)",
        (Rate::Chebyshev(_), _) => "Chebyshev",
    }
}

/// The largest jumps of thermodynamic functions between their temperature ranges.
fn jumps(mechanism: &Mechanism, style: Style) -> String {
    let mut jumps = thermodynamics(mechanism);
    jumps.retain(|jump| jump.largest() > SMALL_JUMP);
    jumps.sort_by(|a, b| b.largest().total_cmp(&a.largest()));
    if jumps.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("jump between ranges", Align::Left),
        ("at", Align::Right),
        ("cp/R", Align::Right),
        ("h/RT", Align::Right),
        ("s/R", Align::Right),
    ]);
    for jump in jumps.iter().take(JUMPS) {
        let name = mechanism.species[jump.species].name.clone();
        let number = |x: f64| format!("{x:.1e}");
        let at = format!("{} K", jump.temperature);
        table.row([name, at, number(jump.cp), number(jump.h), number(jump.s)]);
    }
    let more = jumps.len().saturating_sub(JUMPS);
    let more = if more > 0 { format!("  and {more} smaller ones\n") } else { String::new() };
    format!("\n{}{more}", table.render(style))
}
