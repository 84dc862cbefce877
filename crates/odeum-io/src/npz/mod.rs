//! Archives of arrays, as `numpy.savez` and Odeum write them.

mod archive;
mod desk;
mod zip;

pub use archive::{Archive, stage_archive, write_archive};
pub use desk::Sink;

use crate::file::read_bytes;
use crate::finding::Finding;
use crate::npy::{self, Array};
use ::zip::ZipArchive;
use std::io::{Cursor, Read};
use std::path::Path;

/// An open archive.
pub struct Npz(ZipArchive<Cursor<Vec<u8>>>);

impl Npz {
    /// Opens a file, which messages call `what`; the inner error says what is wrong with the archive.
    pub fn open(path: &Path, what: &str) -> Result<Result<Npz, String>, Finding> {
        let bytes = read_bytes(path, what, u64::MAX)?;
        Ok(ZipArchive::new(Cursor::new(bytes)).map(Npz).map_err(|error| error.to_string()))
    }

    /// Names of the arrays, in the order of the file.
    pub fn names(&self) -> Result<Vec<String>, String> {
        let names = self.0.file_names().map(|name| {
            let name = name.map_err(|error| error.to_string())?;
            Ok(name.strip_suffix(".npy").unwrap_or(&name).to_owned())
        });
        names.collect()
    }

    /// An array of numbers.
    pub fn array(&mut self, name: &str) -> Result<Array, String> {
        npy::read(&self.bytes(name)?).map_err(|reason| format!("array `{name}`: {reason}"))
    }

    /// An array of one axis.
    pub fn column(&mut self, name: &str) -> Result<Vec<f64>, String> {
        let mut array = self.array(name)?;
        match array.columns.len() {
            1 => Ok(array.columns.swap_remove(0)),
            _ => Err(format!("array `{name}` has two axes; a column has one")),
        }
    }

    /// An array of texts.
    pub fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        npy::read_texts(&self.bytes(name)?).map_err(|reason| format!("array `{name}`: {reason}"))
    }

    fn bytes(&mut self, name: &str) -> Result<Vec<u8>, String> {
        // NumPy ends names by `.npy`; others may not.
        let archive = &self.0;
        let at = archive.index_for_name(&format!("{name}.npy"));
        let at = at.or_else(|| archive.index_for_name(name));
        let at = at.ok_or_else(|| format!("it has no array `{name}`"))?;
        let mut entry = self.0.by_index(at).map_err(|error| format!("array `{name}`: {error}"))?;
        let mut data = Vec::new();
        entry.read_to_end(&mut data).map_err(|error| format!("array `{name}`: {error}"))?;
        Ok(data)
    }
}
