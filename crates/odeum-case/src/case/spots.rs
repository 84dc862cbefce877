//! Where the values of a case stand, by the names the library calls them in its errors.

use super::reader::Spot;
use odeum_io::Finding;

/// Places by field name.
#[derive(Clone, Debug, Default)]
pub struct Spots(Vec<(String, Spot)>);

impl Spots {
    /// Adds the place of a field.
    pub fn put(&mut self, field: impl Into<String>, spot: Spot) {
        self.0.push((field.into(), spot));
    }

    /// The place of a field, or of the field it is a part of: `atol[3]` lies in `atol`.
    pub fn find(&self, field: &str) -> Option<&Spot> {
        let part_of = |name: &str| {
            field.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        let fitting = self.0.iter().filter(|(name, _)| part_of(name));
        fitting.max_by_key(|(name, _)| name.len()).map(|(_, spot)| spot)
    }

    /// An error of the library, at the place in the case file it is about and by its name there.
    pub fn place(&self, error: odeum_ode::Error) -> Finding {
        let odeum_ode::Error::Input { field, found, remedy } = error else {
            return Finding::from(error);
        };
        let Some(spot) = self.find(&field) else {
            return Finding::from(odeum_ode::Error::Input { field, found, remedy });
        };
        let finding = spot.error(format!("`{}` cannot be {found}", spot.field));
        finding.found(found).help(remedy)
    }
}
