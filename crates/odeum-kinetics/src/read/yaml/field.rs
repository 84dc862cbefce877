//! Typed access to the fields of a mapping, with the problems told.

use super::node::{DECIMAL_POINT, Entry, Node};
use crate::read::number;
use crate::read::problem::{Log, quote};
use crate::read::units::{Dimension, UnitSystem};

/// A mapping of the file, the units that hold in it, and its name for messages.
pub(super) struct Fields<'a> {
    pub(super) node: &'a Node,
    pub(super) units: UnitSystem,
    pub(super) subject: &'a str,
}

/// `units` with what the `units` entry of `node` changes.
pub(super) fn units_of(node: &Node, units: UnitSystem, log: &mut Log) -> UnitSystem {
    let mut units = units;
    let Some(entry) = node.get("units") else { return units };
    let remedy = "give a mapping such as units: {length: cm, quantity: mol}";
    let Some(entries) = entry.mapping() else {
        log.error(entry.line, "units", format!("{} in place of units", entry.what()), remedy);
        return units;
    };
    for entry in entries {
        let unit = entry.value.scalar().unwrap_or("");
        if let Err(found) = units.set(&entry.key, unit) {
            log.error(entry.line, "units", found, remedy);
        }
    }
    units
}

impl<'a> Fields<'a> {
    pub(super) fn new(node: &'a Node, units: UnitSystem, subject: &'a str, log: &mut Log) -> Self {
        Fields { node, units: units_of(node, units, log), subject }
    }

    /// The fields of a mapping inside this one.
    pub(super) fn within(&self, node: &'a Node, log: &mut Log) -> Fields<'a> {
        Fields::new(node, self.units, self.subject, log)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key).map(AsRef::as_ref)
    }

    /// The value of a key that must be there.
    pub(super) fn require(&self, key: &str, log: &mut Log) -> Option<&'a Node> {
        let value = self.get(key);
        if value.is_none() {
            log.error(self.node.line, self.subject, format!("no '{key}'"), "add it");
        }
        value
    }

    /// Tells of keys that nothing here reads. One without a value that begins as a number is
    /// refused: it is the end of a number with a decimal comma.
    pub(super) fn warn_unknown(&self, known: &[&str], log: &mut Log) {
        self.unknown(known, number::begins, log);
    }

    /// As `warn_unknown`, and every key without a value is refused.
    pub(super) fn refuse_valueless(&self, known: &[&str], log: &mut Log) {
        self.unknown(known, |_| true, log);
    }

    fn unknown(&self, known: &[&str], refused: impl Fn(&str) -> bool, log: &mut Log) {
        let unknown = |entry: &&Entry| !known.contains(&entry.key.as_str());
        for entry in self.node.mapping().unwrap_or(&[]).iter().filter(unknown) {
            let key = quote(&entry.key);
            if !entry.value.is_empty() || !refused(&entry.key) {
                let found = format!("the field '{key}' is not used");
                log.warn(entry.line, self.subject, found, "correct its name, or remove it");
                continue;
            }
            let remedy = if number::begins(&entry.key) {
                DECIMAL_POINT
            } else {
                "correct its name and give it a value, or remove it"
            };
            log.error(entry.line, self.subject, format!("the key '{key}' has no value"), remedy);
        }
    }

    pub(super) fn text(&self, key: &str, log: &mut Log) -> Option<&'a str> {
        let node = self.get(key)?;
        if node.scalar().is_none() {
            let found = format!("{} as '{key}'", node.what());
            log.error(node.line, self.subject, found, "give a text");
        }
        node.scalar()
    }

    pub(super) fn flag(&self, key: &str, log: &mut Log) -> bool {
        let Some(node) = self.get(key) else { return false };
        match node.scalar() {
            Some("true" | "True" | "TRUE") => true,
            Some("false" | "False" | "FALSE") => false,
            _ => {
                let found = format!("{} as '{key}'", node.what());
                log.error(node.line, self.subject, found, "write true or false");
                false
            }
        }
    }

    /// What `convert` makes of a scalar.
    fn scalar_by(
        &self,
        node: &Node,
        key: &str,
        log: &mut Log,
        convert: impl Fn(&str) -> Result<f64, String>,
    ) -> Option<f64> {
        let Some(text) = node.scalar() else {
            let found = format!("{} as '{key}'", node.what());
            log.error(node.line, self.subject, found, "give one number");
            return None;
        };
        match convert(text) {
            Ok(value) if value.is_finite() => Some(value),
            Ok(_) => {
                let found = format!("'{key}' = {} is beyond double precision in SI", quote(text));
                log.error(node.line, self.subject, found, "correct the number or its unit");
                None
            }
            Err(found) => {
                let found = format!("'{key}': {found}");
                log.error(node.line, self.subject, found, "correct the number or its unit");
                None
            }
        }
    }

    /// A number without unit.
    pub(super) fn plain(&self, node: &Node, key: &str, log: &mut Log) -> Option<f64> {
        self.scalar_by(node, key, log, number::yaml)
    }

    /// A quantity in SI.
    pub(super) fn quantity(
        &self,
        node: &Node,
        key: &str,
        dimension: Dimension,
        log: &mut Log,
    ) -> Option<f64> {
        self.scalar_by(node, key, log, |text| self.units.convert(text, dimension))
    }

    /// An activation energy as a temperature \[K\].
    pub(super) fn activation(&self, node: &Node, key: &str, log: &mut Log) -> Option<f64> {
        self.scalar_by(node, key, log, |text| self.units.activation_temperature(text))
    }

    /// A mapping of names to numbers, such as efficiencies; nothing where the key is absent.
    pub(super) fn numbers(&self, key: &str, log: &mut Log) -> Option<Vec<(String, f64)>> {
        let Some(node) = self.get(key) else { return Some(Vec::new()) };
        let Some(entries) = node.mapping() else {
            let found = format!("{} as '{key}'", node.what());
            log.error(node.line, self.subject, found, "give a mapping of names to numbers");
            return None;
        };
        let mut numbers = Vec::with_capacity(entries.len());
        for entry in entries {
            if entry.value.is_empty() && number::begins(&entry.key) {
                let found = format!("'{key}': the key '{}' has no value", quote(&entry.key));
                log.error(entry.line, self.subject, found, DECIMAL_POINT);
                return None;
            }
            numbers.push((entry.key.clone(), self.plain(&entry.value, key, log)?));
        }
        Some(numbers)
    }

    /// A list of quantities; a scalar that cannot be read makes it `None`.
    pub(super) fn list(
        &self,
        node: &Node,
        key: &str,
        dimension: Dimension,
        log: &mut Log,
    ) -> Option<Vec<f64>> {
        let Some(items) = node.sequence() else {
            let found = format!("{} as '{key}'", node.what());
            log.error(node.line, self.subject, found, "give a list of numbers");
            return None;
        };
        items.iter().map(|item| self.quantity(item, key, dimension, log)).collect()
    }
}
