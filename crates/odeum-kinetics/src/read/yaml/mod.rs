//! Reader of Cantera's YAML format.
//!
//! The format: <https://cantera.org/stable/yaml/index.html>. Where its description leaves a
//! choice, Cantera 3.2 is followed.

mod elements;
mod field;
mod library;
mod node;
mod phase;
mod rate;
mod reaction;
mod species;
mod state;

use std::collections::{HashMap, HashSet};

use self::field::Fields;
use self::library::{Document, Library, Section};
use self::node::Node;
use self::phase::{Source, Take};
use super::found::Found;
use super::problem::{Log, quote};
use super::units::UnitSystem;
use super::{Beside, Finder, support};
use crate::mechanism::Element;

const PHASE_FIELDS: &[&str] = &[
    "name",
    "thermo",
    "elements",
    "species",
    "kinetics",
    "rate-multipliers",
    "reactions",
    "transport",
    "state",
    "note",
    "units",
    "skip-undeclared-elements",
    "skip-undeclared-third-bodies",
    "explicit-third-body-duplicates",
];

/// The mechanism of one phase of a YAML text, as far as it can be read; `find` finds the other files
/// that the phase takes sections of.
pub(super) fn read(
    file: &str,
    text: &str,
    wanted: Option<&str>,
    find: &Finder<'_>,
    log: &mut Log,
) -> Option<Found> {
    let own = Document::open(file, text, log)?;
    let phase = phase::choose(&own.root, own.units, wanted, log)?;
    phase.warn_unknown(PHASE_FIELDS, log);
    phase::refuse_multipliers(&phase, log);
    let reacts = reacts(&phase, log);
    let mut sources = |key: &'static str| phase::sources(&phase, key, log);
    let elements = match phase.get("elements") {
        Some(_) => Some(sources("elements")?),
        None => None,
    };
    let species = sources("species")?;
    let usual = phase.get("reactions").is_none() && own.root.get("reactions").is_none();
    let reactions = if reacts && !usual { sources("reactions")? } else { Vec::new() };
    let all = elements.iter().flatten().chain(&species).chain(&reactions);
    let others = library::others(&own, all, find, log);
    let library = Library { own: &own, others: &others };

    let declared = elements::declared(&library, elements.as_deref(), log);
    let mut found = Found { files: library.files(), ..Found::default() };
    found.mechanism.name = phase.subject.to_owned();
    read_species(&library, &species, &phase, declared, &mut found, log);
    read_reactions(&library, &reactions, &phase, &mut found, log);
    if let Some(choice) = beside(&phase, log) {
        super::third_body_duplicates(&mut found, choice, log);
    }
    found.state = state::read(&phase, &found.mechanism.species, log);
    Some(found)
}

/// What `explicit-third-body-duplicates` of the phase says; `None` with the problem told.
fn beside(phase: &Fields<'_>, log: &mut Log) -> Option<Beside> {
    const KEY: &str = "explicit-third-body-duplicates";
    let Some(node) = phase.get(KEY) else { return Some(Beside::Warn) };
    match phase.text(KEY, log)? {
        "warn" => Some(Beside::Warn),
        "error" => Some(Beside::Refuse),
        "mark-duplicate" => Some(Beside::Mark),
        "modify-efficiency" => Some(Beside::TakeOut),
        other => {
            let found = format!("'{}' as '{KEY}'", quote(other));
            let remedy = "give warn, error, mark-duplicate or modify-efficiency";
            log.error(node.line, phase.subject, found, remedy);
            None
        }
    }
}

/// Whether the phase has reactions.
fn reacts(phase: &Fields<'_>, log: &mut Log) -> bool {
    match phase.text("kinetics", log) {
        Some("gas" | "bulk") => return true,
        None | Some("none") => {
            let given = phase.get("reactions").filter(|node| node.scalar() != Some("none"));
            if let Some(node) = given {
                let found = "'reactions' without 'kinetics'".to_owned();
                log.error(node.line, phase.subject, found, "add 'kinetics: gas'");
            }
        }
        Some(other) => {
            let found = format!("the kinetics '{}' is not supported", quote(other));
            let remedy = support::advice(other, Some(support::PHASE));
            log.error(phase.node.line, phase.subject, found, &remedy);
        }
    }
    false
}

/// A species that the phase takes: its name and line, and its entry where there is one.
struct Chosen<'a> {
    name: &'a str,
    line: usize,
    entry: Option<(&'a Node, UnitSystem)>,
    document: usize,
}

/// The species that the phase takes.
fn chosen_species<'a>(
    library: &Library<'a>,
    sources: &[Source<'a>],
    log: &mut Log,
) -> Vec<Chosen<'a>> {
    let mut chosen = Vec::new();
    let mut seen = HashSet::new();
    for source in sources {
        let section = library.section(source, log);
        let known = section.is_some();
        let Section { items, units, document } = section.unwrap_or(Section::EMPTY);
        library.enter(document, log);
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
        // Names in the list of the phase have their lines there, those of the section here.
        let names = match &source.take {
            Take::Names(names) => {
                library.enter(0, log);
                names.clone()
            }
            _ => order,
        };
        for (name, line) in names {
            if !phase::once(&mut seen, name, line, log) {
                continue;
            }
            let entry = by_name.get(name).map(|item| (*item, units));
            if entry.is_none() && known {
                let found = format!("no entry in the section '{}'", quote(&source.section));
                log.error(line, name, found, "add the species, or correct its name");
            }
            let line = entry.map_or(line, |(item, _)| item.line);
            chosen.push(Chosen { name, line, entry, document });
        }
        library.enter(0, log);
    }
    chosen
}

fn read_species(
    library: &Library<'_>,
    sources: &[Source<'_>],
    phase: &Fields<'_>,
    declared: Option<Vec<Element>>,
    found: &mut Found,
    log: &mut Log,
) {
    let chosen = chosen_species(library, sources, log);
    if chosen.is_empty() && !log.has_errors() {
        log.error(phase.node.line, phase.subject, "no species".to_owned(), "add at least one");
    }
    let implied = declared.is_none();
    let skip = phase.flag("skip-undeclared-elements", log);
    let mut elements = declared.unwrap_or_default();
    let mut all = Vec::with_capacity(chosen.len());
    for Chosen { name, line, entry, document } in chosen {
        library.enter(document, log);
        let draft = entry.map_or(species::Draft::default(), |(node, units)| {
            species::read(node, name, units, log)
        });
        let known = |elements: &[Element], symbol: &str| {
            elements.iter().position(|element| element.name == symbol)
        };
        let missing = |symbol: &str| known(&elements, symbol).is_none();
        let atoms = draft.composition.iter().flatten();
        if skip && !implied && atoms.clone().any(|(symbol, _)| missing(symbol)) {
            continue;
        }
        let mut composition = draft.composition.is_some().then(Vec::new);
        for (symbol, count) in atoms {
            let mut index = known(&elements, symbol);
            // The electron is an element of every phase that takes charged species.
            if index.is_none()
                && (implied || symbol == "E")
                && let Some(weight) = super::elements::weight(symbol)
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
        found.of_species.push(document);
    }
    library.enter(0, log);
    (found.mechanism.elements, found.mechanism.species) = (elements, all);
}

fn read_reactions(
    library: &Library<'_>,
    sources: &[Source<'_>],
    phase: &Fields<'_>,
    found: &mut Found,
    log: &mut Log,
) {
    let species = found.mechanism.species.iter().enumerate();
    let index: HashMap<String, usize> = species.map(|(i, s)| (s.name.clone(), i)).collect();
    let skip = phase.flag("skip-undeclared-third-bodies", log);
    for source in sources {
        if matches!(&source.take, Take::Names(names) if names.is_empty()) {
            continue;
        }
        if matches!(source.take, Take::Names(_)) {
            let found = "a list of names taken of reactions, which have none".to_owned();
            log.error(source.line, phase.subject, found, "take 'all' or 'declared-species'");
            continue;
        }
        let Some(section) = library.section(source, log) else { continue };
        library.enter(section.document, log);
        for item in section.items {
            if matches!(source.take, Take::Declared) && !reaction::is_declared(item, &index) {
                continue;
            }
            if log.is_full() {
                break;
            }
            if let Some(reaction) = reaction::read(item, section.units, &index, skip, log) {
                found.mechanism.reactions.push(reaction);
                found.of_reaction.push(section.document);
            }
        }
        library.enter(0, log);
    }
}
