//! The elements of a phase.

use std::collections::{HashMap, HashSet};

use super::field::Fields;
use super::library::{Library, Section};
use super::phase::{Source, Take};
use crate::mechanism::Element;
use crate::read::elements;
use crate::read::problem::Log;
use crate::read::units::Dimension;

/// Weights of the elements that the file itself defines, in a section; NaN where a weight is wrong,
/// and was told.
fn custom(library: &Library<'_>, source: &Source<'_>, log: &mut Log) -> Option<Vec<Element>> {
    let section = source.section.as_str();
    let usual = source.file.is_none() && matches!(section, "elements" | "default");
    if usual && !library.has_own(section) {
        return Some(Vec::new());
    }
    let Section { items, units, document } = library.section(source, log)?;
    library.enter(document, log);
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
    library.enter(0, log);
    Some(found)
}

/// The elements of the phase; `None` where it declares none and takes those of its species.
pub(super) fn declared(
    library: &Library<'_>,
    sources: Option<&[Source<'_>]>,
    log: &mut Log,
) -> Option<Vec<Element>> {
    let mut elements: Vec<Element> = Vec::new();
    let mut seen = HashSet::new();
    for source in sources? {
        let custom = custom(library, source, log);
        let had = custom.is_some();
        let custom = custom.unwrap_or_default();
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
            if weight.is_none() && had {
                let found = "an unknown element".to_owned();
                let remedy = "define it in a section 'elements' with its atomic-weight";
                log.error(line, name, found, remedy);
            }
            // An unknown element stays known by its name: its species are not wrong, too.
            elements.push(Element { name: name.to_owned(), weight: weight.unwrap_or(f64::NAN) });
        }
    }
    Some(elements)
}
