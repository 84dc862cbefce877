//! States of fields: every format that is asked for.
//!
//! A new format is a [`Format`] in a file of its own, with its [`Writer`], and an entry of
//! [`formats`]; its key is then one of `output.formats`.

mod vti;
mod zarr;

use crate::file::Whole;
use crate::finding::Finding;
use crate::target::Target;
use odeum_fields::{Field, Grid, Mask, Precision};
use std::path::PathBuf;

/// Where the files of states go.
#[derive(Clone, Debug)]
pub struct Place {
    /// The files of the run.
    pub target: Target,
    /// There are several states: their files lie in a folder of their own, numbered.
    pub numbered: bool,
}

impl Place {
    /// The folder of numbered files.
    pub fn folder(&self) -> PathBuf {
        self.target.file("frames")
    }

    /// A file of a state: beside the result when there is one state only.
    pub fn file(&self, stem: &str, index: usize, extension: &str) -> PathBuf {
        match (self.numbered, stem) {
            (false, "") => self.target.file(extension),
            (false, stem) => self.target.file(&format!("{stem}.{extension}")),
            (true, "") => self.folder().join(format!("{index:05}.{extension}")),
            (true, stem) => self.folder().join(format!("{stem}_{index:05}.{extension}")),
        }
    }
}

/// What is the same in all states.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The grid.
    pub grid: Grid,
    /// Which cells belong to the domain, where not all do.
    pub mask: Option<Mask>,
    /// Names of the species.
    pub names: Vec<String>,
}

/// A format of states.
pub trait Format<T>: Sync {
    /// Its name in `output.formats`.
    fn key(&self) -> &'static str;

    /// Files and folders that a run would replace, the folder of numbered files among them.
    fn files(&self, place: &Place) -> Vec<PathBuf>;

    /// Whether these are folders.
    fn writes_folders(&self) -> bool {
        false
    }

    /// Bytes on the disk of a state with so many, about.
    fn bytes(&self, state: u128) -> u128;

    /// Begins to write, after the states of these times, which are there already; by so many threads.
    fn open(
        &self,
        place: &Place,
        cells: &Cells,
        times: Vec<f64>,
        threads: usize,
    ) -> Box<dyn Writer<T>>;
}

/// Writes states in one format.
pub trait Writer<T: Precision>: Send {
    /// Writes the next state.
    ///
    /// # Errors
    /// A file cannot be written.
    fn append(&mut self, t: f64, field: &Field<T>) -> Result<(), Finding>;

    /// Writes again what lies beside the states and follows from the case, in place of what may have
    /// got lost.
    ///
    /// # Errors
    /// A file cannot be written.
    fn restore(&self) -> Result<(), Finding>;

    /// All files that a state has.
    fn files_of(&self, index: usize) -> Vec<Whole>;

    /// What was written, for people.
    fn written(&self) -> Vec<PathBuf>;
}

/// All formats.
pub fn formats<T: Precision>() -> [&'static dyn Format<T>; 2] {
    [&vti::Vti, &zarr::Store]
}

/// What may stand in `output.formats` for states, but for pictures.
pub fn keys() -> impl Iterator<Item = &'static str> {
    formats::<f64>().into_iter().map(|format| format.key())
}

/// The formats that are asked for.
pub fn chosen<T: Precision>(keys: &[&str]) -> impl Iterator<Item = &'static dyn Format<T>> {
    formats::<T>().into_iter().filter(|format| keys.contains(&format.key()))
}
