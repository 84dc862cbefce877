//! The files of one state: pictures, and every format that is asked for.

use super::{slice, surface};
use odeum_case::{FieldCase, FieldOutput, Slice};
use odeum_fields::{AXES, Field, Precision};
use odeum_io::field::{self, Cells, Place, Writer};
use odeum_io::file::{Whole, make_folder};
use odeum_io::{Finding, Target};
use std::path::PathBuf;

/// The last chunk of a PNG file, which is empty (PNG, third edition, section 11.2.5), behind its length.
const PNG_END: &[u8] = b"\0\0\0\0IEND\xae\x42\x60\x82";

/// Writes states as the case asks for.
pub(super) struct Frames<T> {
    output: FieldOutput,
    place: Place,
    cells: Cells,
    /// States that were written.
    count: usize,
    writers: Vec<Box<dyn Writer<T>>>,
    threads: usize,
}

impl<T: Precision> Frames<T> {
    /// Writes after the states of these times, which are there already, by so many threads.
    pub(super) fn new(
        case: &FieldCase,
        target: &Target,
        times: Vec<f64>,
        threads: usize,
    ) -> Frames<T> {
        let (place, problem) = (place(&case.output, target), &case.problem);
        let names = problem.model.species().to_vec();
        let cells = Cells { grid: problem.grid, mask: problem.mask.clone(), names };
        let formats = field::chosen::<T>(&case.output.formats);
        let writers = formats.map(|format| format.open(&place, &cells, times.clone(), threads));
        let (writers, count) = (writers.collect(), times.len());
        Frames { output: case.output.clone(), place, cells, count, writers, threads }
    }

    /// Writes a state.
    pub(super) fn write(&mut self, t: f64, field: &Field<T>) -> Result<(), Finding> {
        let index = self.count;
        let Cells { grid, mask, names } = &self.cells;
        let cells = (grid, mask.as_ref());
        if self.place.numbered && self.is_numbered() {
            make_folder(&self.place.folder())?;
        }
        for slice in &self.output.slices {
            let name = &names[slice.species];
            let picture = slice::draw(slice, name, cells, field, t);
            picture.write(&self.path(&slice_name(slice, name), index, "png"))?;
        }
        for (n, surface) in self.output.isosurfaces.iter().enumerate() {
            let name = &names[surface.species];
            let picture = surface::draw(surface, name, cells, field, t, self.threads);
            picture.write(&self.path(&surface_name(n, name), index, "png"))?;
        }
        self.count += 1;
        self.writers.iter_mut().try_for_each(|writer| writer.append(t, field))
    }

    /// Of a run that goes on: removes states that were written after those it has, which it may not come
    /// to any more, and writes again what lies beside its own and follows from the case.
    pub(super) fn restore(&self) -> Result<(), Finding> {
        for index in self.count.. {
            let files = self.files_of(index).filter(|_| self.place.numbered);
            let removed = files.filter(|file| std::fs::remove_file(&file.path).is_ok()).count();
            if removed == 0 {
                break;
            }
        }
        if self.count == 0 {
            return Ok(());
        }
        self.writers.iter().try_for_each(|writer| writer.restore())
    }

    /// States that were written.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// An error where files of states that were written are gone or cut off, from one of them on.
    pub(super) fn lost(&self, from: usize, when: &str) -> Option<Finding> {
        let (mut all, mut first, mut lost) = (0, None, 0);
        for index in from..self.count {
            for file in self.files_of(index) {
                all += 1;
                if !file.is_there() {
                    lost += 1;
                    first.get_or_insert(file.path);
                }
            }
        }
        let finding = Finding::error(format!("files of states {when} are missing or cut off"))
            .in_file(first?.display().to_string())
            .found(format!("{lost} of {all} files, this one first, are not whole"));
        Some(finding)
    }

    /// All files of a state.
    fn files_of(&self, index: usize) -> impl Iterator<Item = Whole> {
        let pictures = self.picture_names().into_iter().map(move |stem| {
            let path = self.path(&stem, index, "png");
            Whole { path, bytes: None, end: PNG_END.to_vec() }
        });
        pictures.chain(self.writers.iter().flat_map(move |writer| writer.files_of(index)))
    }

    fn path(&self, stem: &str, index: usize, extension: &str) -> PathBuf {
        self.place.file(stem, index, extension)
    }

    /// Whether any file of a state lies in the folder of numbered ones.
    fn is_numbered(&self) -> bool {
        let folder = self.place.folder();
        let mut files = self.writers.iter().flat_map(|writer| writer.files_of(0));
        self.output.has_pictures() || files.any(|file| file.path.starts_with(&folder))
    }

    /// What was written, for people.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        if self.count == 0 {
            return Vec::new();
        }
        let mut files = Vec::new();
        if self.place.numbered {
            files.extend(self.output.has_pictures().then(|| self.place.folder()));
        } else {
            files.extend(self.picture_names().iter().map(|stem| self.path(stem, 0, "png")));
        }
        for file in self.writers.iter().flat_map(|writer| writer.written()) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        files
    }

    fn picture_names(&self) -> Vec<String> {
        picture_names(&self.output, &self.cells.names)
    }
}

/// Where the files of states go.
pub(super) fn place(output: &FieldOutput, target: &Target) -> Place {
    Place { target: target.clone(), numbered: output.every.is_some() }
}

/// Stems of the pictures of a state.
pub(super) fn picture_names(output: &FieldOutput, names: &[String]) -> Vec<String> {
    let slices = output.slices.iter().map(|slice| slice_name(slice, &names[slice.species]));
    let surfaces = output.isosurfaces.iter().enumerate();
    let surfaces = surfaces.map(|(n, surface)| surface_name(n, &names[surface.species]));
    slices.chain(surfaces).collect()
}

fn slice_name(slice: &Slice, name: &str) -> String {
    format!("{name}_{}{}", AXES[slice.normal], slice.plane)
}

fn surface_name(n: usize, name: &str) -> String {
    format!("{name}_surface{n}")
}
