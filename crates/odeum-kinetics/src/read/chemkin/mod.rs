//! Reader of Chemkin-II mechanisms.
//!
//! Kee, Rupley & Miller, Chemkin-II, Sandia report SAND89-8009B (1989), with the later keywords
//! PLOG, CHEB, TCHEB, PCHEB, FORD, RORD and UNITS. Where the report leaves a choice, the reading
//! of Cantera's converter is followed, so that both formats of one mechanism give one result.

mod equation;
mod lines;
mod reaction;
mod thermo;

use std::collections::HashMap;

use self::lines::{Line, Sections};
use super::elements;
use super::found::Found;
use super::problem::{Log, quote};
use crate::check::imbalance;
use crate::mechanism::{Element, Mechanism, Reaction};

/// A text and the name of its file.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// For messages.
    pub file: &'a str,
    /// The text.
    pub text: &'a str,
}

/// The mechanism of a Chemkin text, with data from a second one where the first has none.
pub(super) fn read(
    mechanism: Named<'_>,
    thermo: Option<Named<'_>>,
    log: &mut Log,
) -> Option<Found> {
    let mut sections = Sections::default();
    sections.split(mechanism.text, false, log);
    let elements = read_elements(&sections.elements, log);
    let names = read_names(&sections.species, log);
    if names.is_empty() {
        log.error(0, "", "no species".to_owned(), "declare them after SPECIES");
        return None;
    }
    let index: HashMap<String, usize> =
        names.iter().enumerate().map(|(i, name)| (name.0.to_owned(), i)).collect();
    let wanted = |name: &str| index.contains_key(name);
    let second = thermo.map(|thermo| {
        let mut sections = Sections::default();
        log.enter(thermo.file);
        sections.split(thermo.text, true, log);
        log.enter(mechanism.file);
        (thermo.file, sections.thermo)
    });
    let mut shared = second.iter().flat_map(|(_, sections)| sections);
    let shared = shared.find_map(|(_, lines)| thermo::defaults(lines));
    let mut data = HashMap::new();
    for (header, lines) in &sections.thermo {
        thermo::read(*header, lines, shared, &wanted, &mut data, log);
    }
    for entry in data.values_mut().flatten() {
        entry.own = true;
    }
    if let Some((file, sections)) = &second {
        log.enter(file);
        for (header, lines) in sections {
            thermo::read(*header, lines, shared, &wanted, &mut data, log);
        }
        log.enter(mechanism.file);
    }
    let mut found = Mechanism {
        name: stem(mechanism.file),
        elements,
        species: Vec::with_capacity(names.len()),
        reactions: Vec::new(),
    };
    let mut repeated = Vec::new();
    for (k, (name, line)) in names.iter().enumerate() {
        let entry = data.remove(*name);
        if entry.is_none() {
            let remedy = "give its entry after THERMO, or in a file of thermodynamic data";
            log.error(*line, name, "no thermodynamic data".to_owned(), remedy);
        }
        // An entry that was refused is told already.
        let mut entry = entry.flatten();
        if let Some(entry) = &mut entry
            && let Some(what) = entry.repeated.take()
        {
            let file = thermo.filter(|_| !entry.own).map_or(mechanism.file, |thermo| thermo.file);
            repeated.push((k, file, entry.line, what));
        }
        let composition =
            entry.as_ref().and_then(|entry| composition(entry, name, *line, &mut found, log));
        let thermo = entry.map(|entry| entry.thermo);
        let name = (*name).to_owned();
        let species = super::species(name, *line, composition, &found.elements, thermo, log);
        found.species.push(species);
    }
    found.reactions = reaction::read_all(&sections, &index, log);
    for (k, file, line, what) in repeated {
        log.enter(file);
        let name = &found.species[k].name;
        if confirmed(&found, k) {
            log.warn(line, name, what, "write it once; the sum is taken, which reactions conserve");
        } else {
            log.error(line, name, what, "write it once, with all its atoms");
        }
    }
    log.enter(mechanism.file);
    Some(Found::of_one(mechanism.file, found))
}

/// The atoms of an entry by the place of their elements; `None` with the problem told where one is
/// not declared.
fn composition(
    entry: &thermo::Entry,
    name: &str,
    line: usize,
    mechanism: &mut Mechanism,
    log: &mut Log,
) -> Option<Vec<(usize, f64)>> {
    let elements = &mut mechanism.elements;
    let mut composition = Some(Vec::with_capacity(entry.composition.len()));
    for (symbol, count) in &entry.composition {
        let mut known = elements.iter().position(|element| element.name == *symbol);
        if known.is_none()
            && symbol == "E"
            && let Some(weight) = elements::weight("E")
        {
            elements.push(Element { name: "E".to_owned(), weight });
            known = Some(elements.len() - 1);
        }
        match (known, &mut composition) {
            (Some(element), Some(composition)) => composition.push((element, *count)),
            (Some(_), None) => {}
            (None, _) => {
                let at = if entry.own { entry.line } else { line };
                log.error(at, name, thermo::undeclared(symbol), "add it to ELEMENTS");
                composition = None;
            }
        }
    }
    composition
}

/// Whether the species is in reactions, and these conserve all elements.
fn confirmed(mechanism: &Mechanism, species: usize) -> bool {
    let mut its = mechanism.reactions.iter().filter(|reaction| {
        reaction.reactants.iter().chain(&reaction.products).any(|term| term.0 == species)
    });
    let balanced = |reaction: &Reaction| imbalance(mechanism, reaction).is_empty();
    its.next().is_some_and(balanced) && its.all(balanced)
}

/// A file's name without folder and ending.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.split_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

fn read_elements(lines: &[Line<'_>], log: &mut Log) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    for &(line, text) in lines {
        // `D /2.014/`, with or without blanks.
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(rest.len());
            let symbol = thermo::capitalised(&rest[..end]);
            rest = rest[end..].trim_start();
            let mut weight = elements::weight(&symbol);
            let mut told = false;
            if let Some(tail) = rest.strip_prefix('/') {
                let (inside, after) = tail.split_once('/').unwrap_or((tail, ""));
                let wrong = match super::number::parse(inside, true) {
                    Ok(value) if value > 0.0 => {
                        weight = Some(value);
                        None
                    }
                    Ok(_) => Some(format!("'{}' is not positive", quote(inside))),
                    Err(what) => Some(what),
                };
                if let Some(what) = wrong {
                    let what = format!("the atomic weight: {what}");
                    log.error(line, &symbol, what, "write it as in D/2.014/");
                    told = true;
                }
                rest = after.trim_start();
            }
            match weight {
                _ if found.iter().any(|element| element.name == symbol) => {
                    log.warn(line, &symbol, "an element twice".to_owned(), "remove one of the two");
                }
                Some(weight) => found.push(Element { name: symbol, weight }),
                None => {
                    if !told {
                        let what = "an unknown element".to_owned();
                        log.error(line, &symbol, what, "give its atomic weight, as in D/2.014/");
                    }
                    // Known by its name: its species are not wrong, too.
                    found.push(Element { name: symbol, weight: f64::NAN });
                }
            }
        }
    }
    found
}

/// (name, line) of the species.
fn read_names<'a>(lines: &[Line<'a>], log: &mut Log) -> Vec<(&'a str, usize)> {
    let mut seen = std::collections::HashSet::new();
    let mut names = Vec::new();
    for &(line, text) in lines {
        for name in text.split_whitespace() {
            if seen.insert(name) {
                names.push((name, line));
            } else {
                let what = "declared twice".to_owned();
                log.warn(line, name, what, "the first declaration counts");
            }
        }
    }
    names
}
