//! A state of a field as NPZ.
//!
//! Nothing in the file depends on the time of day or on how long the run took, so equal results
//! are equal files.

use crate::case::FieldCase;
use odeum_fields::{AXES, Precision, Simulation, Summary};
use odeum_io::Finding;
use odeum_io::cells::{MASK, SPECIES, aside, in_files, put};
use odeum_io::file::{Room, Staged};
use odeum_io::npz::{Archive, stage_archive};
use odeum_ode::Error;
use serde_json::json;
use std::cell::Cell;
use std::io;
use std::path::Path;

/// The array of what a later run goes on from, where no species has its name.
pub const RESUME: &str = "resume";

/// What the file says beside the field.
pub struct End<'a> {
    /// The time of the state \[time\].
    pub t: f64,
    /// Steps up to there.
    pub steps: u64,
    /// Mass of each species at the start.
    pub start: &'a [f64],
    /// What sums up each species.
    pub end: &'a [Summary],
    /// How the names of the files and folders end that lie beside it.
    pub files: &'a [String],
    /// What a later run goes on from.
    pub last: Option<Vec<u8>>,
}

/// Writes the file beside its place, where room was made for it, by so many threads: of a field in memory, or as it comes from a GPU.
pub fn stage<T: Precision>(
    path: &Path,
    room: Option<Room>,
    threads: usize,
    case: &FieldCase,
    simulation: &Simulation<T>,
    end: End<'_>,
) -> Result<Staged, Finding> {
    let (grid, mask) = (&case.problem.grid, case.problem.mask.as_ref());
    let names = case.problem.model.species();
    let [nx, ny, nz] = grid.shape();
    let real = if size_of::<T>() == 8 { "<f8" } else { "<f4" };
    // What the device failed with while its field was read.
    let broken: Cell<Option<Error>> = Cell::new(None);
    let mut archive = Archive::default();
    for (s, name) in names.iter().enumerate() {
        let shape = [nz, ny, nx];
        match simulation.in_memory() {
            Some(field) => archive.rows(name, real, &shape, nz * ny, move |rows, bytes| {
                rows.for_each(|r| put(bytes, field.row(s, r % ny, r / ny)));
            }),
            None => {
                let broken = &broken;
                archive.in_order(name, real, &shape, move |sink| {
                    let read = simulation.values(s, &mut |part| sink.append(&in_files(part)));
                    read.map_err(|error| {
                        let told = io::Error::other(error.to_string());
                        broken.set(Some(error));
                        told
                    })
                });
            }
        }
    }
    // Species have the arrays of their names, as in stores and VTK files; what is beside them stands aside.
    let beside = |name: &str| aside(name, names);
    if let Some(mask) = mask {
        let cells: Vec<u8> = mask.to_values().into_iter().map(u8::from).collect();
        archive.whole(&beside(MASK), "|b1", &[nz, ny, nx], cells);
    }
    for axis in 0..3 {
        let n = grid.shape()[axis];
        let centres: Vec<f64> = (0..n).map(|i| grid.centre(axis, i)).collect();
        archive.numbers(AXES[axis], &[n], centres);
    }
    archive.whole("t", "<f8", &[], end.t.to_le_bytes().to_vec());
    archive.whole(&beside("steps"), "<i8", &[], (end.steps as i64).to_le_bytes().to_vec());
    archive.texts(&beside(SPECIES), names);
    archive.numbers(&beside("mass_start"), &[names.len()], end.start);
    let masses: Vec<f64> = end.end.iter().map(|summary| summary.mass).collect();
    archive.numbers(&beside("mass_end"), &[names.len()], masses);
    let about = json!({
        "odeum": env!("CARGO_PKG_VERSION"),
        "title": case.title,
        "system": case.system,
        "precision": case.precision.name(),
        "spacing": grid.spacing(),
        "origin": grid.origin(),
        "files": end.files,
        "case": case.source.text(),
    });
    archive.text(&beside("about"), &about.to_string());
    if let Some(last) = end.last {
        archive.whole(&beside(RESUME), "|u1", &[last.len()], last);
    }
    let staged = stage_archive(path, room, threads, archive);
    match broken.take() {
        Some(error) => Err(case.source_spans.place(error)),
        None => staged,
    }
}
