//! What a program hands over beside the text of a case: large or in memory, and so not in the text.

use super::table::Columns;

/// Data of a case that are not in its text.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The table of the ensemble.
    pub table: Option<Columns>,
    /// Mechanisms in Cantera's YAML, by the name that `[system] mechanism` has for them: it means one of
    /// these before a file.
    pub mechanisms: Vec<(String, String)>,
}
