//! Files that a case is read from, which its results must not replace, and what else a system can refer to.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Files and folders, gathered while sections are read.
#[derive(Debug, Default)]
pub(super) struct Inputs(RefCell<Vec<PathBuf>>);

impl Inputs {
    /// Adds one.
    pub(super) fn add(&self, path: impl Into<PathBuf>) {
        self.0.borrow_mut().push(path.into());
    }

    /// All of them.
    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        self.0.into_inner()
    }
}

/// What a system can refer to beside its section.
pub(super) struct Beside<'a> {
    /// The folder from which files are looked for.
    pub(super) folder: &'a Path,
    /// Whether the ensemble has a table.
    pub(super) tabled: bool,
    /// Names and texts of mechanisms in memory.
    pub(super) mechanisms: &'a [(String, String)],
    /// Where the files that are read are told of.
    pub(super) inputs: &'a Inputs,
}
