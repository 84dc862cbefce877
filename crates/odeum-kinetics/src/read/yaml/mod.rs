//! Reader of Cantera's YAML format.
//!
//! The format: <https://cantera.org/stable/yaml/index.html>. Where its description leaves a
//! choice, Cantera 3.2 is followed.

mod field;
mod node;
mod phase;
mod rate;
mod reaction;
mod species;

use std::collections::{HashMap, HashSet};

use self::field::Fields;
use self::node::Node;
use self::phase::{Source, Take};
use super::elements;
use super::problem::{Log, quote};
use super::units::{Dimension, UnitSystem};
use crate::mechanism::{Element, Mechanism, Species};

const PHASE_FIELDS: &[&str] = &[
    "name",
    "thermo",
    "elements",
    "species",
    "kinetics",
    "reactions",
    "transport",
    "state",
    "note",
    "units",
    "skip-undeclared-elements",
    "skip-undeclared-third-bodies",
    "explicit-third-body-duplicates",
];

/// The mechanism of one phase of a YAML text, as far as it can be read.
pub(super) fn read(text: &str, wanted: Option<&str>, log: &mut Log) -> Option<Mechanism> {
    let root = match node::load(text) {
        Ok(root) => root,
        Err((line, found, remedy)) => {
            log.error(line, "", found, remedy);
            return None;
        }
    };
    if root.mapping().is_none() {
        let found = format!("{} in place of a mechanism", root.what());
        log.error(root.line, "", found, "give 'phases', 'species' and 'reactions'");
        return None;
    }
    let units = field::units_of(&root, UnitSystem::default(), log);
    let phase = phase::choose(&root, units, wanted, log)?;
    phase.warn_unknown(PHASE_FIELDS, log);
    let declared = declared_elements(&root, units, &phase, log)?;
    let (elements, species) = read_species(&root, units, &phase, declared, log)?;
    let mut mechanism =
        Mechanism { name: phase.subject.to_owned(), elements, species, reactions: Vec::new() };
    read_reactions(&root, units, &phase, &mut mechanism, log);
    let between = phase.text("explicit-third-body-duplicates", log).unwrap_or("warn");
    super::third_body_duplicates(&mut mechanism, between, log);
    Some(mechanism)
}

/// Weights of the elements that the file itself defines, in a section; NaN where a weight is wrong,
/// and was told.
fn custom_elements(
    root: &Node,
    units: UnitSystem,
    source: &Source<'_>,
    log: &mut Log,
) -> Option<Vec<Element>> {
    if root.get(&source.section).is_none() && matches!(&*source.section, "elements" | "default") {
        return Some(Vec::new());
    }
    let (items, units) = phase::section(root, units, source, log)?;
    let mut found = Vec::new();
    for item in items {
        let fields = Fields::new(item, units, "element", log);
        let symbol = fields.require("symbol", log).and_then(|_| fields.text("symbol", log));
        let weight = fields
            .require("atomic-weight", log)
            .and_then(|node| fields.quantity(node, "atomic-weight", Dimension::NONE, log));
        fields.warn_unknown(
            &["symbol", "atomic-weight", "atomic-number", "entropy298", "units", "note"],
            log,
        );
        let (Some(symbol), mut weight) = (symbol, weight.unwrap_or(f64::NAN)) else { continue };
        if weight <= 0.0 {
            let what = format!("an atomic weight of {weight}");
            log.error(item.line, symbol, what, "give a positive weight");
            weight = f64::NAN;
        }
        found.push(Element { name: symbol.to_owned(), weight });
    }
    Some(found)
}

/// The elements of the phase; `None` inside where it declares none and takes those of its species.
fn declared_elements(
    root: &Node,
    units: UnitSystem,
    phase: &Fields<'_>,
    log: &mut Log,
) -> Option<Option<Vec<Element>>> {
    if phase.get("elements").is_none() {
        return Some(None);
    }
    let mut elements: Vec<Element> = Vec::new();
    let mut seen = HashSet::new();
    for source in phase::sources(phase, "elements", log)? {
        let custom = custom_elements(root, units, &source, log)?;
        let own: HashMap<&str, f64> =
            custom.iter().map(|element| (element.name.as_str(), element.weight)).collect();
        let names: Vec<(&str, usize)> = match &source.take {
            Take::Names(names) => names.clone(),
            _ => custom.iter().map(|element| (element.name.as_str(), source.line)).collect(),
        };
        for (name, line) in names {
            if !seen.insert(name.to_owned()) {
                log.error(line, name, "an element twice".to_owned(), "keep one of the two");
                continue;
            }
            let weight = own.get(name).copied().or_else(|| elements::weight(name));
            if weight.is_none() {
                let found = "an unknown element".to_owned();
                let remedy = "define it in a section 'elements' with its atomic-weight";
                log.error(line, name, found, remedy);
            }
            // An unknown element stays known by its name: its species are not wrong, too.
            elements.push(Element { name: name.to_owned(), weight: weight.unwrap_or(f64::NAN) });
        }
    }
    Some(Some(elements))
}

/// A species that the phase takes: its name and line, and its entry where there is one.
struct Chosen<'a> {
    name: &'a str,
    line: usize,
    entry: Option<(&'a Node, UnitSystem)>,
}

/// The species that the phase takes.
fn chosen_species<'a>(
    root: &'a Node,
    units: UnitSystem,
    phase: &Fields<'a>,
    log: &mut Log,
) -> Option<Vec<Chosen<'a>>> {
    let mut chosen = Vec::new();
    let mut seen = HashSet::new();
    for source in phase::sources(phase, "species", log)? {
        let (items, units) = phase::section(root, units, &source, log)?;
        let mut by_name: HashMap<&str, &Node> = HashMap::new();
        let mut order = Vec::new();
        for item in items {
            let Some(name) = item.get("name").and_then(|name| name.scalar()) else {
                log.error(
                    item.line,
                    "species",
                    "an entry without name".to_owned(),
                    "give its name",
                );
                continue;
            };
            if by_name.insert(name, item).is_some() {
                let found = "two entries of one name in the section".to_owned();
                log.error(item.line, name, found, "keep one of the two");
            } else {
                order.push((name, item.line));
            }
        }
        let names = match &source.take {
            Take::Names(names) => names.clone(),
            _ => order,
        };
        for (name, line) in names {
            if !phase::once(&mut seen, name, line, log) {
                continue;
            }
            let entry = by_name.get(name).map(|item| (*item, units));
            if entry.is_none() {
                let found = format!("no entry in the section '{}'", quote(&source.section));
                log.error(line, name, found, "add the species, or correct its name");
            }
            chosen.push(Chosen { name, line: entry.map_or(line, |(item, _)| item.line), entry });
        }
    }
    Some(chosen)
}

fn read_species(
    root: &Node,
    units: UnitSystem,
    phase: &Fields<'_>,
    declared: Option<Vec<Element>>,
    log: &mut Log,
) -> Option<(Vec<Element>, Vec<Species>)> {
    let chosen = chosen_species(root, units, phase, log)?;
    if chosen.is_empty() && !log.has_errors() {
        log.error(phase.node.line, phase.subject, "no species".to_owned(), "add at least one");
    }
    let implied = declared.is_none();
    let skip = phase.flag("skip-undeclared-elements", log);
    let mut elements = declared.unwrap_or_default();
    let mut all = Vec::with_capacity(chosen.len());
    for Chosen { name, line, entry } in chosen {
        let draft = entry.map_or(species::Draft::default(), |(node, units)| {
            species::read(node, name, units, log)
        });
        let known = |elements: &[Element], symbol: &str| {
            elements.iter().position(|element| element.name == symbol)
        };
        let missing = |symbol: &str| known(&elements, symbol).is_none() && symbol != "E";
        let atoms = draft.composition.iter().flatten();
        if skip && !implied && atoms.clone().any(|(symbol, _)| missing(symbol)) {
            continue;
        }
        let mut composition = draft.composition.is_some().then(Vec::new);
        for (symbol, count) in atoms {
            let mut index = known(&elements, symbol);
            // The electron is an element of every phase with charged species.
            if index.is_none()
                && (implied || symbol == "E")
                && let Some(weight) = elements::weight(symbol)
            {
                elements.push(Element { name: symbol.clone(), weight });
                index = Some(elements.len() - 1);
            }
            let Some(index) = index else {
                let found = format!("the element {} is not one of the phase", quote(symbol));
                log.error(line, name, found, "add it to 'elements', or correct it");
                composition = None;
                continue;
            };
            if *count != 0.0
                && let Some(composition) = &mut composition
            {
                composition.push((index, *count));
            }
        }
        let name = name.to_owned();
        all.push(super::species(name, line, composition, &elements, draft.thermo, log));
    }
    Some((elements, all))
}

fn read_reactions(
    root: &Node,
    units: UnitSystem,
    phase: &Fields<'_>,
    mechanism: &mut Mechanism,
    log: &mut Log,
) {
    let kinetics = phase.text("kinetics", log);
    match kinetics {
        Some("gas" | "bulk") => {}
        None | Some("none") => {
            if let Some(node) = phase.get("reactions").filter(|node| node.scalar() != Some("none"))
            {
                let found = "'reactions' without 'kinetics'".to_owned();
                log.error(node.line, phase.subject, found, "add 'kinetics: gas'");
            }
            return;
        }
        Some(other) => {
            let found = format!("the kinetics '{}' is not supported", quote(other));
            log.error(phase.node.line, phase.subject, found, &super::support::advice(other));
            return;
        }
    }
    if phase.get("reactions").is_none() && root.get("reactions").is_none() {
        return;
    }
    let index: HashMap<String, usize> = mechanism
        .species
        .iter()
        .enumerate()
        .map(|(i, species)| (species.name.clone(), i))
        .collect();
    let skip = phase.flag("skip-undeclared-third-bodies", log);
    for source in phase::sources(phase, "reactions", log).unwrap_or_default() {
        if matches!(&source.take, Take::Names(names) if names.is_empty()) {
            continue;
        }
        if matches!(source.take, Take::Names(_)) {
            let found = "a list of names taken of reactions, which have none".to_owned();
            log.error(source.line, phase.subject, found, "take 'all' or 'declared-species'");
            continue;
        }
        let Some((items, units)) = phase::section(root, units, &source, log) else { continue };
        for item in items {
            if matches!(source.take, Take::Declared) && !all_declared(item, &index) {
                continue;
            }
            if log.is_full() {
                return;
            }
            mechanism.reactions.extend(reaction::read(item, units, &index, skip, log));
        }
    }
}

/// Whether all species of a reaction are in the phase. An equation that cannot be read counts as
/// declared: its problem is told where it is read.
fn all_declared(node: &Node, species: &HashMap<String, usize>) -> bool {
    let Some(text) = node.get("equation").and_then(|text| text.scalar()) else { return true };
    let Ok(equation) = super::equation::spaced(text) else { return true };
    let known = |name: &str| name == "M" || species.contains_key(name);
    equation.reactants.iter().chain(&equation.products).all(|(name, _)| known(name))
        && equation.falloff.as_deref().is_none_or(known)
}
