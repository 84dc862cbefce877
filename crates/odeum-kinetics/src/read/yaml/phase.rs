//! The phase of a YAML mechanism: which elements, species and reactions it takes from where.

use std::collections::HashSet;
use std::rc::Rc;

use super::field::Fields;
use super::node::Node;
use crate::read::problem::{Log, quote};
use crate::read::support;
use crate::read::units::UnitSystem;

/// A section and what the phase takes of it.
pub(super) struct Source<'a> {
    /// The other file that has the section, as in `gri30.yaml/species`.
    pub(super) file: Option<String>,
    pub(super) section: String,
    pub(super) line: usize,
    pub(super) take: Take<'a>,
}

impl<'a> Source<'a> {
    /// Of `section`, or of `file/section`.
    fn new(name: &str, line: usize, take: Take<'a>) -> Source<'a> {
        let (file, section) = match name.rsplit_once('/') {
            Some((file, section)) => (Some(file.to_owned()), section),
            None => (None, name),
        };
        Source { file, section: section.to_owned(), line, take }
    }
}

/// What is taken of a section.
pub(super) enum Take<'a> {
    All,
    /// Reactions whose species are all in the phase.
    Declared,
    /// (name, line).
    Names(Vec<(&'a str, usize)>),
}

/// The phase called `wanted`, or the first of an ideal gas.
pub(super) fn choose<'a>(
    root: &'a Node,
    units: UnitSystem,
    wanted: Option<&str>,
    log: &mut Log,
) -> Option<Fields<'a>> {
    let Some(phases) = root.get("phases").and_then(|node| node.sequence()) else {
        log.error(root.line, "", "no list 'phases'".to_owned(), "describe the gas phase there");
        return None;
    };
    let text = |phase: &'a Node, key: &str| phase.get(key).and_then(|value| value.scalar());
    let mut named = Vec::new();
    for phase in phases {
        let (name, model) = (text(phase, "name"), text(phase, "thermo").unwrap_or("none"));
        let chosen = match wanted {
            Some(wanted) => name == Some(wanted),
            None => model == "ideal-gas",
        };
        if !chosen {
            named.push(format!("{} ({})", quote(name.unwrap_or("?")), quote(model)));
            continue;
        }
        let fields = Fields::new(phase, units, name.unwrap_or("phase"), log);
        if model != "ideal-gas" {
            let found = format!("the phase model '{}' is not supported", quote(model));
            let remedy = support::advice(model, Some(support::PHASE));
            log.error(phase.line, fields.subject, found, &remedy);
            return None;
        }
        return Some(fields);
    }
    let there = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
    let found = match wanted {
        Some(wanted) => format!("no phase '{}'; there are {}", quote(wanted), quote(&there)),
        None => format!("no phase of an ideal gas; there are {}", quote(&there)),
    };
    log.error(root.line, "phases", found, "choose one of them, with 'thermo: ideal-gas'");
    None
}

/// Refuses factors by which Cantera multiplies rates, other than 1: those of a gas go with it into the file.
pub(super) fn refuse_multipliers(phase: &Fields<'_>, log: &mut Log) {
    let multipliers = phase.get("rate-multipliers").and_then(Node::mapping).unwrap_or(&[]);
    for entry in multipliers {
        if phase.plain(&entry.value, "rate-multipliers", log).is_some_and(|factor| factor != 1.0) {
            let of = if entry.key == "default" { "reactions" } else { "reaction" };
            let found = format!("'rate-multipliers' other than 1 for {of} {}", quote(&entry.key));
            let remedy = "set it to 1, and multiply the rate constants themselves";
            log.error(entry.line, phase.subject, found, remedy);
        }
    }
}

/// The sources under `key` of a phase; `default` where the key is absent.
pub(super) fn sources<'a>(
    phase: &Fields<'a>,
    key: &'static str,
    log: &mut Log,
) -> Option<Vec<Source<'a>>> {
    let Some(node) = phase.get(key) else {
        return Some(vec![Source::new(key, phase.node.line, Take::All)]);
    };
    let word = |text: &str| match text {
        "all" => Some(Take::All),
        "declared-species" => Some(Take::Declared),
        "none" => Some(Take::Names(Vec::new())),
        _ => None,
    };
    if let Some(text) = node.scalar() {
        let Some(take) = word(text) else {
            let found = format!("'{}' as '{key}'", quote(text));
            log.error(node.line, phase.subject, found, "give a list, or 'all'");
            return None;
        };
        return Some(vec![Source::new(key, node.line, take)]);
    }
    let Some(items) = node.sequence() else {
        let found = format!("{} as '{key}'", node.what());
        log.error(node.line, phase.subject, found, "give a list, or 'all'");
        return None;
    };
    let names_of = |items: &'a [Rc<Node>], log: &mut Log| {
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            match item.scalar() {
                Some(name) => names.push((name, item.line)),
                None => {
                    let found = format!("{} in a list of names", item.what());
                    log.error(item.line, phase.subject, found, "give names only");
                }
            }
        }
        names
    };
    // A list of names: species and elements of the default section, but sections of reactions.
    if !items.is_empty() && items.iter().all(|item| item.scalar().is_some()) {
        let names = names_of(items, log);
        if key == "reactions" {
            let whole = |&(name, line): &(&str, usize)| Source::new(name, line, Take::All);
            return Some(names.iter().map(whole).collect());
        }
        return Some(vec![Source::new(key, node.line, Take::Names(names))]);
    }
    let mut sources = Vec::new();
    for item in items {
        let [entry] = item.mapping().unwrap_or(&[]) else {
            // Of a list in which names of sections stand beside mappings Cantera 3.2 reads no reaction.
            let found = format!("{} in '{key}', beside what is taken of a section", item.what());
            let remedy = match key {
                "reactions" => "give '- section: all' for each",
                _ => "give '- section: [names]'",
            };
            log.error(item.line, phase.subject, found, remedy);
            continue;
        };
        let take = match (entry.value.scalar(), entry.value.sequence()) {
            (Some(text), _) => word(text),
            (_, Some(names)) => Some(Take::Names(names_of(names, log))),
            _ => None,
        };
        match take {
            Some(take) => sources.push(Source::new(&entry.key, entry.line, take)),
            None => {
                let found = format!("{} taken of '{}'", entry.value.what(), quote(&entry.key));
                log.error(entry.line, phase.subject, found, "give a list of names, or 'all'");
            }
        }
    }
    Some(sources)
}

/// Tells of names that occur twice.
pub(super) fn once<'a>(
    seen: &mut HashSet<&'a str>,
    name: &'a str,
    line: usize,
    log: &mut Log,
) -> bool {
    if seen.insert(name) {
        return true;
    }
    log.error(line, name, "declared twice".to_owned(), "keep one of the two");
    false
}
