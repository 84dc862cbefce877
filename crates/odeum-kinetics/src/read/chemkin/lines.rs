//! Sections of a Chemkin text.

use crate::read::problem::{Log, quote};
use crate::read::support;

/// A line without comment, and its number from 1.
pub(super) type Line<'a> = (usize, &'a str);

/// The sections of a file in the order met; lines of elements and of species together.
#[derive(Default)]
pub(super) struct Sections<'a> {
    pub(super) elements: Vec<Line<'a>>,
    pub(super) species: Vec<Line<'a>>,
    /// Sections of reactions, each with what follows the keyword: the units of its rates.
    pub(super) reactions: Vec<(Line<'a>, Vec<Line<'a>>)>,
    /// Thermo sections, each with what follows the keyword. Comments are still in it: the format
    /// is one of columns.
    pub(super) thermo: Vec<(Line<'a>, Vec<Line<'a>>)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Outside,
    Elements,
    Species,
    Thermo,
    Reactions,
    Transport,
    /// Species of a surface or of a solid.
    Surface,
}

/// The section that a first word opens.
fn opens(word: &str) -> Option<Section> {
    let word = word.to_ascii_uppercase();
    Some(match &*word {
        "ELEMENTS" | "ELEMENT" | "ELEM" => Section::Elements,
        "SPECIES" | "SPEC" | "SPECIE" => Section::Species,
        "THERMO" | "THER" | "THERM" => Section::Thermo,
        "REACTIONS" | "REACTION" | "REAC" => Section::Reactions,
        "TRANSPORT" | "TRAN" => Section::Transport,
        _ => return None,
    })
}

/// What stands before the first `/` of a word.
fn keyword(word: &str) -> String {
    word.split('/').next().unwrap_or("").to_ascii_uppercase()
}

/// Whether a line outside of all sections begins one of a surface, as in `SITE/PT/ SDEN/2.7E-9/`.
fn is_surface(word: &str) -> bool {
    matches!(&*keyword(word), "SITE" | "BULK" | "MATERIAL")
}

/// `line` up to its comment.
fn code(line: &str) -> &str {
    line.split('!').next().unwrap_or("").trim()
}

/// Whether `REACTIONS` or `THERMO` may be followed by these words on its line.
fn options(section: Section, rest: &str) -> bool {
    let known = |word: &str| match section {
        Section::Thermo => word.eq_ignore_ascii_case("ALL") || word.eq_ignore_ascii_case("NASA9"),
        Section::Reactions => !word.contains('='),
        _ => true,
    };
    rest.split_whitespace().all(known)
}

/// The section that a line opens and what follows the keyword. A line of species or
/// coefficients never begins with one of the keywords.
fn section_of(code: &str) -> Option<(Section, &str)> {
    let word = code.split_whitespace().next()?;
    let rest = code[word.len()..].trim();
    opens(word).filter(|&next| options(next, rest)).map(|next| (next, rest))
}

/// A line of elements or species up to END, and what follows it.
fn split_end(code: &str, section: Section) -> Option<(&str, &str)> {
    let section = section_of(code).map_or(section, |(next, _)| next);
    if !matches!(section, Section::Elements | Section::Species) {
        return None;
    }
    let mut from = 0;
    for word in code.split_whitespace() {
        let at = from + code[from..].find(word)?;
        from = at + word.len();
        if word.eq_ignore_ascii_case("END") {
            return Some((code[..at].trim(), code[from..].trim()));
        }
    }
    None
}

impl<'a> Sections<'a> {
    /// Sorts the lines of `text` into sections; `start_in_thermo` for a file of thermodynamic data,
    /// which may lack the keyword.
    pub(super) fn split(&mut self, text: &'a str, start_in_thermo: bool, log: &mut Log) {
        let mut section = Section::Outside;
        let (mut ended, mut has_surfaces) = (false, false);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_end_matches(['\r', '\u{1a}']);
            let mut code = code(line);
            if code.is_empty() {
                continue;
            }
            // Elements and species may be given with keyword and END on one line.
            while let Some((before, after)) = split_end(code, section) {
                match section_of(before).unwrap_or((section, before)) {
                    (Section::Elements, words) => self.elements.push((number, words)),
                    (Section::Species, words) => self.species.push((number, words)),
                    _ => {}
                }
                section = Section::Outside;
                code = after;
            }
            if code.is_empty() {
                continue;
            }
            let word = code.split_whitespace().next().unwrap_or("");
            if word.eq_ignore_ascii_case("END") {
                ended = section == Section::Thermo || ended;
                section = Section::Outside;
                continue;
            }
            if let Some((next, rest)) = section_of(code) {
                section = next;
                match next {
                    Section::Elements => self.elements.push((number, rest)),
                    Section::Species => self.species.push((number, rest)),
                    Section::Thermo => self.thermo.push(((number, rest), Vec::new())),
                    Section::Reactions => self.reactions.push(((number, rest), Vec::new())),
                    Section::Transport | Section::Surface | Section::Outside => {}
                }
                continue;
            }
            if section == Section::Outside && start_in_thermo && !ended {
                section = Section::Thermo;
                self.thermo.push(((number, ""), Vec::new()));
            }
            match section {
                Section::Elements => self.elements.push((number, code)),
                Section::Species => self.species.push((number, code)),
                Section::Thermo => {
                    if let Some((_, lines)) = self.thermo.last_mut() {
                        lines.push((number, line));
                    }
                }
                Section::Reactions => {
                    if let Some((_, lines)) = self.reactions.last_mut() {
                        lines.push((number, code));
                    }
                }
                Section::Transport | Section::Surface => {}
                Section::Outside if is_surface(word) => {
                    section = Section::Surface;
                    if !has_surfaces {
                        has_surfaces = true;
                        let keyword = keyword(word);
                        let found = format!("the section '{keyword}' is not supported");
                        log.error(number, "", found, &support::advice(&keyword, None));
                    }
                }
                Section::Outside => {
                    let found = format!("'{}' outside of all sections", quote(code));
                    let remedy = "put it after ELEMENTS, SPECIES, THERMO or REACTIONS";
                    log.error(number, "", found, remedy);
                }
            }
        }
    }
}
