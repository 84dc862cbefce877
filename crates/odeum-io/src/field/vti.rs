//! States as VTK image data, and the list of them.

use super::{Cells, Format, Place, Writer};
use crate::file::{Whole, write_whole};
use crate::finding::Finding;
use crate::vti;
use odeum_fields::{Field, Precision};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file for each state, and one that lists them with their times.
pub(super) struct Vti;

impl<T: Precision> Format<T> for Vti {
    fn key(&self) -> &'static str {
        "vti"
    }

    fn files(&self, place: &Place) -> Vec<PathBuf> {
        match place.numbered {
            true => vec![place.target.file("pvd"), place.folder()],
            false => vec![place.target.file("vti")],
        }
    }

    fn bytes(&self, state: u128) -> u128 {
        state
    }

    fn open(
        &self,
        place: &Place,
        cells: &Cells,
        times: Vec<f64>,
        _threads: usize,
    ) -> Box<dyn Writer<T>> {
        Box::new(Images { place: place.clone(), cells: cells.clone(), times })
    }
}

struct Images {
    place: Place,
    cells: Cells,
    times: Vec<f64>,
}

impl Images {
    fn path(&self, index: usize) -> PathBuf {
        self.place.file("", index, "vti")
    }

    /// Writes the list, of states at several times.
    fn collection(&self) -> Result<(), Finding> {
        if !self.place.numbered {
            return Ok(());
        }
        let times = self.times.iter().enumerate();
        let files: Vec<(f64, String)> =
            times.map(|(index, t)| (*t, relative(&self.path(index)))).collect();
        let text = vti::collection(&files);
        write_whole(&self.place.target.file("pvd"), |file| file.write_all(text.as_bytes()))
    }
}

impl<T: Precision> Writer<T> for Images {
    fn append(&mut self, t: f64, field: &Field<T>) -> Result<(), Finding> {
        let path = self.path(self.times.len());
        self.times.push(t);
        let Cells { grid, mask, names } = &self.cells;
        write_whole(&path, |file| vti::write(file, (grid, mask.as_ref()), names, field))?;
        self.collection()
    }

    fn restore(&self) -> Result<(), Finding> {
        self.collection()
    }

    fn files_of(&self, index: usize) -> Vec<Whole> {
        let Cells { grid, mask, names } = &self.cells;
        let bytes = Some(vti::bytes::<T>((grid, mask.as_ref()), names));
        vec![Whole { path: self.path(index), bytes, end: vti::END.as_bytes().to_vec() }]
    }

    fn written(&self) -> Vec<PathBuf> {
        match self.place.numbered {
            true => vec![self.place.target.file("pvd"), self.place.folder()],
            false => vec![self.path(0)],
        }
    }
}

/// Folder and name, as a collection beside the folder names it.
fn relative(path: &Path) -> String {
    let part = |p: Option<&std::ffi::OsStr>| p.unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().and_then(Path::file_name);
    format!("{}/{}", part(folder), part(path.file_name()))
}
