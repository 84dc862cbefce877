//! The document of a mechanism, and those of other files whose sections its phase takes.

use std::collections::HashMap;
use std::rc::Rc;

use super::field::units_of;
use super::node::{self, Node};
use super::phase::Source;
use crate::read::Finder;
use crate::read::problem::{Log, quote};
use crate::read::units::UnitSystem;

/// Most files that a mechanism may take sections of.
const MOST: usize = 100;

/// The document of one file.
pub(super) struct Document {
    pub(super) file: String,
    pub(super) root: Rc<Node>,
    pub(super) units: UnitSystem,
    /// The values of the root's keys.
    sections: HashMap<String, Rc<Node>>,
}

impl Document {
    /// A text as a document; `None` with the problem told. `file` is the one that `log` is in.
    pub(super) fn open(file: &str, text: &str, log: &mut Log) -> Option<Document> {
        let root = match node::load(text) {
            Ok(root) => root,
            Err((line, found, remedy)) => {
                log.error(line, "", found, remedy);
                return None;
            }
        };
        let Some(entries) = root.mapping() else {
            let found = format!("{} in place of a mechanism", root.what());
            log.error(root.line, "", found, "give 'phases', 'species' and 'reactions'");
            return None;
        };
        let sections =
            entries.iter().map(|entry| (entry.key.clone(), Rc::clone(&entry.value))).collect();
        let units = units_of(&root, UnitSystem::default(), log);
        Some(Document { file: file.to_owned(), root, units, sections })
    }
}

/// Other files by the names that the phase has for them; `None` for those that cannot be had.
pub(super) type Others = Vec<(String, Option<Document>)>;

/// Opens the files that the sources name; what cannot be had is told.
pub(super) fn others<'a>(
    own: &Document,
    sources: impl Iterator<Item = &'a Source<'a>>,
    find: &Finder<'_>,
    log: &mut Log,
) -> Others {
    let mut others = Others::new();
    for source in sources {
        let Some(name) = &source.file else { continue };
        if others.iter().any(|other| other.0 == *name) {
            continue;
        }
        if others.len() == MOST {
            let found = format!("sections of more than {MOST} other files");
            log.error(source.line, "phases", found, "gather them in fewer files");
            break;
        }
        let document = match find(name) {
            Ok(path) => {
                let file = path.display().to_string();
                log.enter(&file);
                let text = crate::read::file::load(&path, log);
                let document = text.and_then(|text| Document::open(&file, &text, log));
                log.enter(&own.file);
                document
            }
            Err((found, remedy)) => {
                let found = format!("'{}': {found}", quote(name));
                log.error(source.line, "phases", found, remedy);
                None
            }
        };
        others.push((name.clone(), document));
    }
    others
}

/// All documents of a mechanism.
pub(super) struct Library<'a> {
    pub(super) own: &'a Document,
    pub(super) others: &'a Others,
}

/// Entries of a section, the units that hold in it, and the number of its document.
pub(super) struct Section<'a> {
    pub(super) items: &'a [Rc<Node>],
    pub(super) units: UnitSystem,
    pub(super) document: usize,
}

impl Section<'_> {
    /// In place of a section that cannot be had.
    pub(super) const EMPTY: Section<'static> =
        Section { items: &[], units: UnitSystem::SI, document: 0 };
}

impl<'a> Library<'a> {
    /// Names of the files by the numbers of their documents.
    pub(super) fn files(&self) -> Vec<String> {
        let file = |other: &(String, Option<Document>)| match &other.1 {
            Some(document) => document.file.clone(),
            None => other.0.clone(),
        };
        let own = std::iter::once(self.own.file.clone());
        own.chain(self.others.iter().map(file)).collect()
    }

    /// Whether the mechanism's own document has a section.
    pub(super) fn has_own(&self, section: &str) -> bool {
        self.own.sections.contains_key(section)
    }

    /// Problems to come are of the document of this number.
    pub(super) fn enter(&self, document: usize, log: &mut Log) {
        let other = document.checked_sub(1).and_then(|other| self.others[other].1.as_ref());
        log.enter(&other.unwrap_or(self.own).file);
    }

    /// The section that a source names; `None` where it cannot be had, which is told.
    pub(super) fn section(&self, source: &Source<'_>, log: &mut Log) -> Option<Section<'a>> {
        let (number, document) = match &source.file {
            None => (0, self.own),
            Some(name) => {
                let at = self.others.iter().position(|other| other.0 == *name)?;
                (at + 1, self.others[at].1.as_ref()?)
            }
        };
        let name = source.section.as_str();
        let Some(node) = document.sections.get(name) else {
            let place = match &source.file {
                None => "the file".to_owned(),
                Some(_) => document.file.clone(),
            };
            let found = format!("no section '{}' in {place}", quote(name));
            log.error(source.line, "phases", found, "add it, or correct its name");
            return None;
        };
        let Some(items) = node.sequence().or(node.is_empty().then_some(&[][..])) else {
            self.enter(number, log);
            let found = format!("the section is {}", node.what());
            log.error(node.line, name, found, "make it a list");
            self.enter(0, log);
            return None;
        };
        // A first entry with nothing but units sets them for the whole list.
        let only_units =
            |item: &Rc<Node>| item.mapping().is_some_and(|m| m.len() == 1 && m[0].key == "units");
        let (items, units) = match items.first().filter(|first| only_units(first)) {
            Some(first) => {
                self.enter(number, log);
                let units = units_of(first, document.units, log);
                self.enter(0, log);
                (&items[1..], units)
            }
            None => (items, document.units),
        };
        Some(Section { items, units, document: number })
    }
}
