//! The `state` of a phase: what Cantera sets when it loads the phase.

use std::collections::HashMap;

use super::field::Fields;
use super::node::Node;
use crate::constants::GAS_CONSTANT;
use crate::mechanism::Species;
use crate::read::problem::{Log, quote};
use crate::read::units::Dimension;
use crate::read::{Composition, InitialState, number};

const TEMPERATURE: [&str; 2] = ["T", "temperature"];
const PRESSURE: [&str; 2] = ["P", "pressure"];
const DENSITY: [&str; 2] = ["D", "density"];
const MOLES: [&str; 2] = ["X", "mole-fractions"];
const MASSES: [&str; 2] = ["Y", "mass-fractions"];
/// What sets the state in Cantera beside these.
const OTHERS: [&str; 15] = [
    "H",
    "enthalpy",
    "U",
    "int-energy",
    "internal-energy",
    "S",
    "entropy",
    "V",
    "volume",
    "specific-volume",
    "molar-density",
    "molar-volume",
    "Q",
    "vapor-fraction",
    "C",
];

/// The state of a phase; nothing of it where it has none, or where it is wrong, which is told.
pub(super) fn read(phase: &Fields<'_>, species: &[Species], log: &mut Log) -> InitialState {
    let Some(node) = phase.get("state") else { return InitialState::default() };
    if node.mapping().is_none() {
        let found = format!("{} as 'state'", node.what());
        log.error(node.line, phase.subject, found, "give it as in {T: 300, P: 1 atm, X: {H2: 1}}");
        return InitialState::default();
    }
    let fields = phase.within(node, log);
    for key in OTHERS {
        if let Some(node) = fields.get(key) {
            let found = format!("'{key}' as part of the 'state' is not supported");
            log.error(node.line, fields.subject, found, "give T and P, or T and D, and X or Y");
        }
    }
    let known = [TEMPERATURE, PRESSURE, DENSITY, MOLES, MASSES].concat();
    fields.warn_unknown(&[&known[..], &OTHERS].concat(), log);
    let temperature = positive(&fields, TEMPERATURE, Dimension::TEMPERATURE, log);
    let pressure = positive(&fields, PRESSURE, Dimension::PRESSURE, log);
    let density = positive(&fields, DENSITY, Dimension::DENSITY, log);
    let moles = one_of(&fields, MOLES, log);
    let masses = one_of(&fields, MASSES, log);
    let composition = match (moles, masses) {
        (Some(_), Some((node, key))) => {
            let found = format!("'{key}' beside mole fractions");
            log.error(node.line, fields.subject, found, "keep one of the two");
            None
        }
        (Some((node, key)), None) => {
            amounts(&fields, node, key, species, log).map(Composition::MoleFractions)
        }
        (None, Some((node, key))) => {
            amounts(&fields, node, key, species, log).map(Composition::MassFractions)
        }
        (None, None) => None,
    };
    if DENSITY.iter().any(|key| fields.get(key).is_some())
        && TEMPERATURE.iter().all(|key| fields.get(key).is_none())
    {
        let found = "a density without a temperature".to_owned();
        log.error(node.line, fields.subject, found, "give T with it, or T and P");
    }
    let by_density = || {
        let moles = composition.as_ref()?.moles_per_mass(species)?;
        Some(density? * moles * GAS_CONSTANT * temperature?)
    };
    let pressure = pressure.or_else(by_density);
    let density = density.filter(|_| pressure.is_none());
    InitialState { temperature, pressure, density, composition }
}

/// The value under one of two names.
fn one_of<'a>(
    fields: &Fields<'a>,
    names: [&'static str; 2],
    log: &mut Log,
) -> Option<(&'a Node, &'static str)> {
    let [short, long] = names;
    match (fields.get(short), fields.get(long)) {
        (Some(_), Some(node)) => {
            let found = format!("both '{short}' and '{long}'");
            log.error(node.line, fields.subject, found, "keep one of the two");
            None
        }
        (Some(node), None) => Some((node, short)),
        (None, Some(node)) => Some((node, long)),
        (None, None) => None,
    }
}

fn positive(
    fields: &Fields<'_>,
    names: [&'static str; 2],
    dimension: Dimension,
    log: &mut Log,
) -> Option<f64> {
    let (node, key) = one_of(fields, names, log)?;
    let value = fields.quantity(node, key, dimension, log)?;
    if value > 0.0 {
        return Some(value);
    }
    let found = format!("'{key}' = {value}");
    log.error(node.line, fields.subject, found, "give a positive number");
    None
}

/// Names and numbers of a text such as `H2:1, O2:2`; `None` where it is none.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let between = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let mut pairs = Vec::new();
    let mut rest = text.trim_matches(between);
    while !rest.is_empty() {
        let (name, tail) = rest.split_once(':')?;
        let tail = tail.trim_start();
        let end = tail.find(between).unwrap_or(tail.len());
        pairs.push((name.trim(), &tail[..end]));
        rest = tail[end..].trim_start_matches(between);
    }
    Some(pairs)
}

/// Amounts of all species from a mapping of names, or from a text such as `H2:1, O2:2`.
fn amounts(
    fields: &Fields<'_>,
    node: &Node,
    key: &'static str,
    species: &[Species],
    log: &mut Log,
) -> Option<Vec<f64>> {
    let mut tell =
        |found: String, remedy: &str| log.error(node.line, fields.subject, found, remedy);
    let entries: Vec<(&str, Result<f64, String>)> = if let Some(text) = node.scalar() {
        let Some(pairs) = pairs(text) else {
            tell(format!("'{}' as '{key}'", quote(text)), "write it as in 'H2:1, O2:2'");
            return None;
        };
        pairs.into_iter().map(|(name, n)| (name, number::parse(n, false))).collect()
    } else if let Some(entries) = node.mapping() {
        let number = |node: &Node| match node.scalar() {
            Some(text) => number::yaml(text),
            None => Err(format!("{} in place of a number", node.what())),
        };
        entries.iter().map(|entry| (entry.key.as_str(), number(&entry.value))).collect()
    } else {
        tell(format!("{} as '{key}'", node.what()), "give amounts of species");
        return None;
    };
    let places: HashMap<&str, usize> =
        species.iter().enumerate().map(|(k, species)| (species.name.as_str(), k)).collect();
    let mut amounts = vec![0.0; species.len()];
    let mut good = true;
    for (name, amount) in entries {
        match (places.get(name).copied(), amount) {
            (Some(k), Ok(amount)) if amount >= 0.0 => amounts[k] += amount,
            (Some(_), Ok(amount)) => {
                tell(format!("'{key}': {amount} of {}", quote(name)), "give zero or more");
                good = false;
            }
            (_, Err(found)) => {
                tell(format!("'{key}': {}: {found}", quote(name)), "give a number of each species");
                good = false;
            }
            (None, _) => {
                let found = format!("'{key}': '{}' is not a species of the phase", quote(name));
                tell(found, "declare it, or correct its name");
                good = false;
            }
        }
    }
    if good && amounts.iter().all(|amount| *amount == 0.0) {
        tell(format!("'{key}' without anything in it"), "give an amount of a species");
        good = false;
    }
    good.then_some(amounts)
}
