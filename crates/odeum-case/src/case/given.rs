//! What a program hands over beside the text of a case: large or in memory, and so not in the text.

use super::table::Columns;
use odeum_io::cells::Numbers;
use std::sync::Arc;

/// Data of a case that are not in its text.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The table of the ensemble.
    pub table: Option<Columns>,
    /// Texts of mechanisms and of their thermodynamic data, by the names that `[system] mechanism` and `thermo`
    /// have for them: `mechanism` means one of these before a file, and then so does `thermo`.
    pub mechanisms: Vec<(String, String)>,
    /// Arrays with a number for each cell of a field, by the name that the text has in place of a file: it
    /// means one of these before a file.
    pub arrays: Vec<(String, CellArray)>,
}

/// A number for each cell.
#[derive(Clone, Debug)]
pub struct CellArray {
    /// Its shape [nz, ny, nx]; axes of one cell may be missing.
    pub shape: Vec<usize>,
    /// Its numbers, x fastest.
    pub numbers: Arc<Numbers>,
}
