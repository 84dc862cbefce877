//! The files of one state: pictures, VTK, Zarr.

use super::{slice, surface};
use odeum_case::FieldOutput;
use odeum_fields::{AXES, Field, Grid, Mask, Precision, Problem};
use odeum_io::Finding;
use odeum_io::Target;
use odeum_io::file::{cannot_write, write_whole};
use odeum_io::table::LOST;
use odeum_io::vti;
use odeum_io::zarr::Zarr;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes states as the case asks for.
pub(super) struct Frames {
    output: FieldOutput,
    target: Target,
    grid: Grid,
    mask: Option<Mask>,
    names: Vec<String>,
    times: Vec<f64>,
    zarr: Option<Zarr>,
    threads: usize,
}

impl Frames {
    /// Writes after the states of these times, which are there already, by so many threads.
    pub(super) fn new(
        output: &FieldOutput,
        target: &Target,
        problem: &Problem,
        times: Vec<f64>,
        threads: usize,
    ) -> Frames {
        let (grid, mask, names) = (problem.grid, problem.mask.clone(), problem.model.species());
        let zarr = output.zarr.then(|| (grid, mask.clone())).map(|cells| {
            Zarr::new(target.file("zarr"), cells, names.to_vec(), times.clone(), threads)
        });
        Frames {
            output: output.clone(),
            target: target.clone(),
            grid,
            mask,
            names: names.to_vec(),
            times,
            zarr,
            threads,
        }
    }

    /// Writes a state.
    pub(super) fn write<T: Precision>(&mut self, t: f64, field: &Field<T>) -> Result<(), Finding> {
        let index = self.times.len();
        let cells = (&self.grid, self.mask.as_ref());
        if self.output.every.is_some() && (self.output.vti || self.output.has_pictures()) {
            let folder = self.target.file("frames");
            std::fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
        }
        for slice in &self.output.slices {
            let name = &self.names[slice.species];
            let picture = slice::draw(slice, name, cells, field, t);
            picture.write(&self.path(&slice_name(slice, name), index, "png"))?;
        }
        for (n, surface) in self.output.isosurfaces.iter().enumerate() {
            let name = &self.names[surface.species];
            let picture = surface::draw(surface, name, cells, field, t, self.threads);
            picture.write(&self.path(&surface_name(n, name), index, "png"))?;
        }
        self.times.push(t);
        if self.output.vti {
            let path = self.path("", index, "vti");
            write_whole(&path, |file| vti::write(file, cells, &self.names, field))?;
            self.collection()?;
        }
        if let Some(zarr) = &mut self.zarr {
            zarr.append(t, field)?;
        }
        Ok(())
    }

    /// Writes the list of VTK files, of states at several times.
    fn collection(&self) -> Result<(), Finding> {
        if self.output.every.is_none() {
            return Ok(());
        }
        let times = self.times.iter().enumerate();
        let files: Vec<(f64, String)> =
            times.map(|(index, t)| (*t, relative(&self.path("", index, "vti")))).collect();
        let text = vti::collection(&files);
        write_whole(&self.target.file("pvd"), |file| file.write_all(text.as_bytes()))
    }

    /// Of a run that goes on: writes again what lies beside the states and follows from the case,
    /// in place of what may have got lost.
    pub(super) fn restore<T: Precision>(&self) -> Result<(), Finding> {
        if self.times.is_empty() {
            return Ok(());
        }
        if self.output.vti {
            self.collection()?;
        }
        self.zarr.as_ref().map_or(Ok(()), Zarr::restore::<T>)
    }

    /// Of a run that goes on: an error where files of states are gone that were written before.
    pub(super) fn lost(&self) -> Option<Finding> {
        let pictures = self.picture_names();
        let (mut all, mut first, mut lost) = (0, None, 0);
        for index in 0..self.times.len() {
            let pictures = pictures.iter().map(|stem| self.path(stem, index, "png"));
            let vti = self.output.vti.then(|| self.path("", index, "vti"));
            let chunks = self.zarr.iter().flat_map(|zarr| zarr.files_of(index));
            for file in pictures.chain(vti).chain(chunks) {
                all += 1;
                if !file.is_file() {
                    lost += 1;
                    first.get_or_insert(file);
                }
            }
        }
        let finding = Finding::error("files of states before the checkpoint are missing")
            .in_file(first?.display().to_string())
            .found(format!("{lost} of {all} files, this one first, are not there"));
        Some(finding.help(format!("put them back, or leave their format out; {LOST}")))
    }

    fn path(&self, stem: &str, index: usize, extension: &str) -> PathBuf {
        path(&self.output, &self.target, stem, index, extension)
    }

    /// What was written, for people.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        if self.times.is_empty() {
            return Vec::new();
        }
        let mut files = Vec::new();
        if self.output.every.is_some() {
            if self.output.vti {
                files.push(self.target.file("pvd"));
            }
            if self.output.vti || self.output.has_pictures() {
                files.push(self.target.file("frames"));
            }
        } else {
            let names = self.picture_names();
            files.extend(names.iter().map(|stem| self.path(stem, 0, "png")));
            if self.output.vti {
                files.push(self.path("", 0, "vti"));
            }
        }
        files.extend(self.zarr.as_ref().map(|zarr| zarr.folder().to_owned()));
        files
    }

    fn picture_names(&self) -> Vec<String> {
        picture_names(&self.output, &self.names)
    }
}

/// Stems of the pictures of a state.
pub(super) fn picture_names(output: &FieldOutput, names: &[String]) -> Vec<String> {
    let slices = output.slices.iter().map(|slice| slice_name(slice, &names[slice.species]));
    let surfaces = output.isosurfaces.iter().enumerate();
    let surfaces = surfaces.map(|(n, surface)| surface_name(n, &names[surface.species]));
    slices.chain(surfaces).collect()
}

fn slice_name(slice: &odeum_case::Slice, name: &str) -> String {
    format!("{name}_{}{}", AXES[slice.normal], slice.plane)
}

fn surface_name(n: usize, name: &str) -> String {
    format!("{name}_surface{n}")
}

/// Where a file of a state goes: beside the result when there is one state only, else into a
/// folder of its own, numbered.
pub(super) fn path(
    output: &FieldOutput,
    target: &Target,
    stem: &str,
    index: usize,
    extension: &str,
) -> PathBuf {
    let stem_dot = if stem.is_empty() { String::new() } else { format!("{stem}.") };
    if output.every.is_none() {
        return target.file(&format!("{stem_dot}{extension}"));
    }
    let stem = if stem.is_empty() { String::new() } else { format!("{stem}_") };
    target.file("frames").join(format!("{stem}{index:05}.{extension}"))
}

/// Folder and name, as a collection beside the folder names it.
fn relative(path: &Path) -> String {
    let part = |p: Option<&std::ffi::OsStr>| p.unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().and_then(Path::file_name);
    format!("{}/{}", part(folder), part(path.file_name()))
}
