//! Files that a case is read from, which its results must not replace.

use std::cell::RefCell;
use std::path::PathBuf;

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
