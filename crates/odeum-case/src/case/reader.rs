//! Typed reading of a TOML tree that keeps every span and reports every slip.
//!
//! A [`Section`] is asked for its keys one by one; what it was never asked for is an unknown key.
//! Readers return `None` after reporting, so that reading goes on and one run shows all slips.

use crate::suggest;
use odeum_core::text::{Diagnostic, TextErrors, constant};
use odeum_core::{TOO_SMALL, vanishes};
use odeum_io::Source;
use odeum_io::{Finding, Findings};
use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys and words of earlier versions: the table, or what its name begins with; the old; the new.
const RENAMED: [(&str, &str, &str); 6] = [
    ("", "walls", "boundary"),
    ("", "wind", "velocity"),
    ("velocity", "velocity", "uniform"),
    ("boundary", "slope", "gradient"),
    ("time", "restarts", "segments"),
    ("method.first_step", "share", "fraction"),
];
const RENAMED_WORDS: [(&str, &str); 2] =
    [("state-and-slope", "state-and-rate"), ("elementary", "integral")];

/// Up to here whole numbers are exact as numbers with a fraction.
const EXACT: f64 = (1_u64 << 53) as f64;

/// A table of the case file.
pub(super) struct Section<'a> {
    name: String,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    source: Arc<Source>,
    findings: &'a Findings,
    asked: RefCell<Vec<&'static str>>,
}

/// One value of the case file.
#[derive(Clone)]
pub(super) struct Field<'a> {
    /// As `tolerance.rtol`.
    pub name: String,
    value: &'a DeValue<'a>,
    span: Range<usize>,
    source: Arc<Source>,
    findings: &'a Findings,
}

/// Where a value stands in a text.
#[derive(Clone, Debug)]
pub struct SourceSpan {
    /// The text.
    pub source: Arc<Source>,
    /// From which byte to which.
    pub span: Range<usize>,
    /// The field, as `tolerance.rtol`.
    pub field: String,
}

impl SourceSpan {
    /// An error here that quotes what stands here.
    pub fn error(&self, message: impl Into<String>) -> Finding {
        let found = self.source.slice(&self.span);
        let finding = Finding::error(message).at(&self.source, self.span.clone());
        let finding = if found.is_empty() { finding } else { finding.found(found) };
        finding.field(&self.field)
    }

    /// A finding put here.
    pub fn locate(&self, finding: Finding) -> Finding {
        finding.at(&self.source, self.span.clone()).field(&self.field)
    }
}

impl<'a> Section<'a> {
    /// The whole document.
    pub(super) fn root(
        table: &'a DeTable<'a>,
        source: &Arc<Source>,
        findings: &'a Findings,
    ) -> Section<'a> {
        let source = Arc::clone(source);
        Section {
            name: String::new(),
            table,
            span: 0..0,
            source,
            findings,
            asked: RefCell::default(),
        }
    }

    /// The value of a key, if it is there.
    pub(super) fn get(&self, key: &'static str) -> Option<Field<'a>> {
        self.asked.borrow_mut().push(key);
        let (key, value) = self.table.iter().find(|(k, _)| k.get_ref() == key)?;
        Some(self.field(key.get_ref(), value))
    }

    /// True when the key is there; it does not count as asked for.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.iter().any(|(k, _)| k.get_ref() == key)
    }

    /// All texts in the value of a key, however deep; it does not count as asked for.
    pub(super) fn texts(&self, key: &str) -> Vec<&'a str> {
        let mut found = Vec::new();
        let value = self.table.iter().find(|(k, _)| k.get_ref() == key);
        let mut left: Vec<&'a DeValue<'a>> = value.map(|(_, v)| v.get_ref()).into_iter().collect();
        while let Some(value) = left.pop() {
            match value {
                DeValue::String(text) => found.push(&**text),
                DeValue::Array(items) => left.extend(items.iter().map(Spanned::get_ref)),
                DeValue::Table(table) => left.extend(table.values().map(Spanned::get_ref)),
                _ => {}
            }
        }
        found
    }

    /// True when the table of a key holds another key; neither counts as asked for.
    pub(super) fn holds(&self, key: &str, inner: &str) -> bool {
        let mut tables = self.table.iter().filter(|(k, _)| k.get_ref() == key);
        tables.any(|(_, value)| match value.get_ref() {
            DeValue::Table(table) => table.iter().any(|(k, _)| k.get_ref() == inner),
            _ => false,
        })
    }

    /// The value of a key that must be there.
    pub(super) fn need(&self, key: &'static str, help: &str) -> Option<Field<'a>> {
        let field = self.get(key);
        // One that is there by its old name is told of in the end.
        if field.is_none() && self.old_name_of(key).is_none() {
            let full = self.full(key);
            let message = format!("`{key}` is missing");
            self.findings.push(self.here(&message).field(full).help(help));
        }
        field
    }

    /// All entries in the order written, for tables whose keys are the user's own names.
    pub(super) fn entries(&self) -> Vec<(String, SourceSpan, Field<'a>)> {
        let entries = self.table.iter().map(|(key, value)| {
            let source_span = SourceSpan {
                source: Arc::clone(&self.source),
                span: key.span(),
                field: self.full(key.get_ref()),
            };
            (key.get_ref().to_string(), source_span, self.field(key.get_ref(), value))
        });
        entries.collect()
    }

    /// An error about the section as a whole.
    pub(super) fn here(&self, message: &str) -> Finding {
        let finding = Finding::error(message);
        match self.name.as_str() {
            "" => finding.in_file(self.source.name()),
            name => finding.at(&self.source, self.span.clone()).field(name),
        }
    }

    /// Reports the keys nobody asked for.
    pub(super) fn finish(&self) {
        let mut asked = self.asked.borrow().clone();
        asked.dedup();
        self.keep_to(&asked);
    }

    /// Reports the keys that are none of these: before what would follow from a slip in one of them.
    pub(super) fn keep_to(&self, keys: &[&'static str]) {
        for (key, source_span, _) in self.entries() {
            if !keys.contains(&key.as_str()) {
                self.refuse_key(&key, source_span, keys);
            }
        }
    }

    /// Reports the keys that one of these, none of which is there, may be meant by; whether there are any.
    pub(super) fn misspells(&self, keys: &[&'static str]) -> bool {
        let is_slip = |key: &str| suggest::nearest(key, keys.iter().copied()).is_some();
        let slips = self.entries().into_iter().filter(|(key, ..)| is_slip(key));
        slips.map(|(key, source_span, _)| self.refuse_key(&key, source_span, keys)).count() > 0
    }

    fn refuse_key(&self, key: &str, source_span: SourceSpan, known: &[&str]) {
        let place = match self.name.as_str() {
            "" => "at the top of the case file".to_owned(),
            name => format!("in [{name}]"),
        };
        let (message, help) = match self.renamed(|old, _| old == key) {
            Some((_, new)) => {
                let message = format!("`{key}` {place} has another name now");
                (message, format!("write `{new}` in its place"))
            }
            None => {
                let message = format!("unknown key `{key}` {place}");
                (message, suggest::remedy(key, "known keys", known.iter().copied()))
            }
        };
        let finding = Finding::error(message).at(&source_span.source, source_span.span);
        self.findings.push(finding.field(source_span.field).help(help));
    }

    /// The first key of an earlier version in this table of which old and new name are so.
    fn renamed(&self, so: impl Fn(&str, &str) -> bool) -> Option<(&'static str, &'static str)> {
        let here = |table: &str| match table {
            "" => self.name.is_empty(),
            table => self.name.starts_with(table),
        };
        let found = RENAMED.iter().find(|(table, old, new)| here(table) && so(old, new));
        found.map(|(_, old, new)| (*old, *new))
    }

    /// Whether a key is there by the name of an earlier version; it does not count as asked for.
    pub(crate) fn has_renamed(&self) -> bool {
        self.renamed(|old, _| self.has(old)).is_some()
    }

    /// The old name by which a key is there.
    fn old_name_of(&self, key: &str) -> Option<&'static str> {
        self.renamed(|old, new| new == key && self.has(old)).map(|(old, _)| old)
    }

    fn full(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn field(&self, key: &str, value: &'a Spanned<DeValue<'a>>) -> Field<'a> {
        Field {
            name: self.full(key),
            value: value.get_ref(),
            span: value.span(),
            source: Arc::clone(&self.source),
            findings: self.findings,
        }
    }
}

impl<'a> Field<'a> {
    pub(super) fn source_span(&self) -> SourceSpan {
        SourceSpan {
            source: Arc::clone(&self.source),
            span: self.span.clone(),
            field: self.name.clone(),
        }
    }

    /// Reports an error about this value; gives `None` for the caller to return.
    pub(super) fn refuse<T>(&self, message: impl Into<String>, help: &str) -> Option<T> {
        self.findings.push(self.source_span().error(message).help(help));
        None
    }

    /// Reports an error about what a program hands over by this name, which the user has not written.
    pub(super) fn refuse_given<T>(&self, message: &str, found: &str, help: &str) -> Option<T> {
        let field = self.name.strip_suffix(".file").unwrap_or(&self.name);
        self.findings.push(Finding::error(message).field(field).found(found).help(help));
        None
    }

    /// Reports that this value is probably not what was meant.
    pub(super) fn warn(&self, message: impl Into<String>, help: impl Into<String>) {
        self.findings.push(self.source_span().error(message).into_warning().help(help));
    }

    fn wrong_kind<T>(&self, wanted: &str) -> Option<T> {
        let kind = match self.value {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.refuse(format!("`{}` is {kind}", self.name), &format!("give {wanted}"))
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.value, DeValue::String(_))
    }

    /// A path from that of a folder.
    pub(super) fn path(&self, folder: &Path) -> Option<PathBuf> {
        let text = self.text()?;
        if text == "~" || text.starts_with("~/") {
            let help = "give the path of the home folder in its place";
            return self.refuse("`~` is not expanded: it would be a folder of this name", help);
        }
        Some(folder.join(text))
    }

    /// True of text that stands for a number, as `"2*pi"`.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.value, DeValue::String(text) if constant(text).is_ok())
    }

    /// A finite number, or text that comes to one: `"2*pi"`, `"1/144"`.
    pub(super) fn number(&self) -> Option<f64> {
        let number = match self.value {
            DeValue::String(text) => match constant(text) {
                Ok(number) => number,
                Err(errors) => return self.no_constant(&errors),
            },
            DeValue::Integer(integer) => {
                match i128::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(integer) => integer as f64,
                    Err(_) => return self.refuse("the number is too large", "write it as 1e30"),
                }
            }
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(number) => number,
                Err(_) => return self.wrong_kind("a number"),
            },
            _ => return self.wrong_kind("a number"),
        };
        if matches!(self.value, DeValue::Float(float) if vanishes(float.as_str())) {
            self.refuse(format!("`{}` is too small for a number", self.name), TOO_SMALL)
        } else if number.is_finite() {
            Some(number)
        } else {
            self.refuse(format!("`{}` must be finite", self.name), "give a finite number")
        }
    }

    /// Reports what keeps a text from being a number, each slip at its place.
    fn no_constant<T>(&self, errors: &TextErrors) -> Option<T> {
        for error in &errors.0 {
            let help = error.help.as_deref().map_or(String::new(), |help| format!("{help}; "));
            let help = format!("{help}give a number, or an expression as \"2*pi\" or \"1/144\"");
            self.report(format!("`{}`: {}", self.name, error.message), error, help);
        }
        None
    }

    /// Reports an error at the place of a diagnostic inside the text of this field.
    pub(super) fn report(
        &self,
        message: impl Into<String>,
        at: &Diagnostic,
        help: impl Into<String>,
    ) {
        self.findings.push(self.within(Finding::error(message), at).help(help));
    }

    /// The place of a diagnostic inside the text of this field. Where the text as written differs
    /// from what it stands for (escapes), the whole field is the place.
    pub(super) fn within(&self, finding: Finding, diagnostic: &Diagnostic) -> Finding {
        let source_span = self.source_span();
        let DeValue::String(text) = self.value else { return source_span.locate(finding) };
        match source_span.source.slice(&source_span.span).find(&**text) {
            Some(start) => {
                let from = source_span.span.start + start + diagnostic.offset;
                finding
                    .at(&source_span.source, from..from + diagnostic.len)
                    .field(&source_span.field)
            }
            None => source_span.locate(finding),
        }
    }

    /// A whole number of at least `least`, or text that comes to one.
    pub(super) fn whole(&self, least: u64, most: u64) -> Option<u64> {
        let number = match self.value {
            DeValue::Integer(integer) => {
                // What has no place in so many bits is beyond any bound.
                let far = if integer.as_str().starts_with('-') { i128::MIN } else { i128::MAX };
                Some(i128::from_str_radix(integer.as_str(), integer.radix()).unwrap_or(far))
            }
            DeValue::String(text) => match text.trim().parse() {
                Ok(number) => Some(number),
                Err(_) => match self.number()? {
                    x if x.abs() >= EXACT && most > EXACT as u64 => {
                        let message = format!("`{}` is too large for an expression", self.name);
                        let help = "from 2^53 on its value is rounded: write out all digits";
                        return self.refuse(message, help);
                    }
                    x => Some(x).filter(|x| x.fract() == 0.0).map(|x| x as i128),
                },
            },
            _ => return self.wrong_kind("a whole number"),
        };
        match number {
            Some(n) if n >= i128::from(least) && n <= i128::from(most) => u64::try_from(n).ok(),
            _ => {
                let is_beyond = number.is_some_and(|n| n > i128::from(most));
                let bounds = match most {
                    u64::MAX if is_beyond => format!("at most {most}"),
                    u64::MAX => format!("at least {least}"),
                    _ => format!("between {least} and {most}"),
                };
                self.refuse(
                    format!("`{}` must be {bounds}", self.name),
                    &format!("give a whole number {bounds}"),
                )
            }
        }
    }

    pub(super) fn truth(&self) -> Option<bool> {
        match self.value {
            DeValue::Boolean(truth) => Some(*truth),
            _ => self.wrong_kind("true or false"),
        }
    }

    pub(super) fn text(&self) -> Option<&'a str> {
        match self.value {
            DeValue::String(text) => Some(text),
            _ => self.wrong_kind("text in quotes"),
        }
    }

    /// One of some words, with the value each stands for.
    pub(super) fn choice<T: Clone>(&self, what: &str, choices: &[(&str, T)]) -> Option<T> {
        let word = self.text()?;
        let known = choices.iter().find(|(name, _)| *name == word);
        match known {
            Some((_, value)) => Some(value.clone()),
            None => {
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                let now =
                    RENAMED_WORDS.iter().find(|(old, new)| *old == word && names.contains(new));
                let help = match now {
                    Some((_, now)) => format!("it has another name now: \"{now}\""),
                    None => suggest::remedy(word, what, names),
                };
                self.refuse(format!("`{}` cannot be `{word}`", self.name), &help)
            }
        }
    }

    /// The elements of a list.
    pub(super) fn list(&self) -> Option<Vec<Field<'a>>> {
        let DeValue::Array(items) = self.value else { return self.wrong_kind("a list in [ ]") };
        let element = |(i, item): (usize, &'a Spanned<DeValue<'a>>)| Field {
            name: format!("{}[{i}]", self.name),
            value: item.get_ref(),
            span: item.span(),
            source: Arc::clone(&self.source),
            findings: self.findings,
        };
        Some(items.iter().enumerate().map(element).collect())
    }

    pub(super) fn section(&self) -> Option<Section<'a>> {
        let DeValue::Table(table) = self.value else {
            return self.wrong_kind("a table: [name] or { key = value }");
        };
        Some(Section {
            name: self.name.clone(),
            table,
            span: self.span.clone(),
            source: Arc::clone(&self.source),
            findings: self.findings,
            asked: RefCell::default(),
        })
    }
}
