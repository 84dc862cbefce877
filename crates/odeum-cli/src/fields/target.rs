//! Where the files of a field go.

use super::movie::Movie;
use super::{frames, writer};
use odeum_case::{Every, FieldCase, FieldPlan};
use odeum_io::{Finding, Target, field};
use std::path::{Path, PathBuf};

/// From the command line, else the case file.
pub(super) fn of(case: &FieldCase, output: Option<&Path>) -> Result<Target, Finding> {
    let place = (case.output.name.as_deref(), case.output.folder.as_deref());
    Target::new(output, place, &case.path)
}

/// Files and folders that a run writes beside the NPZ.
pub(super) fn others(case: &FieldCase, target: &Target, movie: &Movie) -> Vec<PathBuf> {
    [states(case, target), movie.files(case, target), tables(case, target)].concat()
}

/// Those of them that a run writes on the way; the others come with the NPZ.
pub(super) fn on_the_way(case: &FieldCase, target: &Target) -> Vec<PathBuf> {
    let mut files = tables(case, target);
    if case.output.every.is_some() {
        files.extend(states(case, target));
    }
    files
}

/// Those that come at the end alone.
pub(super) fn at_the_end(case: &FieldCase, target: &Target, movie: &Movie) -> Vec<PathBuf> {
    let mut files = others(case, target, movie);
    let before = on_the_way(case, target);
    files.retain(|file| !before.contains(file));
    files
}

fn tables(case: &FieldCase, target: &Target) -> Vec<PathBuf> {
    writer::tables(case).into_iter().flatten().map(|(end, _)| target.file(end)).collect()
}

/// Files of states, and the folder of those that are numbered.
fn states(case: &FieldCase, target: &Target) -> Vec<PathBuf> {
    let (output, place) = (&case.output, frames::place(&case.output, target));
    let mut files = Vec::new();
    if output.every.is_some() {
        files.extend(output.has_pictures().then(|| place.folder()));
    } else {
        let names = frames::picture_names(output, case.problem.model.species());
        files.extend(names.iter().map(|stem| place.file(stem, 0, "png")));
    }
    files.extend(field::chosen::<f64>(&output.formats).flat_map(|format| format.files(&place)));
    files
}

/// Those of them that are folders.
pub(super) fn folders(case: &FieldCase, target: &Target) -> Vec<PathBuf> {
    let place = frames::place(&case.output, target);
    let stores = field::chosen::<f64>(&case.output.formats).filter(|f| f.writes_folders());
    stores.flat_map(|format| format.files(&place)).chain([place.folder()]).collect()
}

/// Bytes of the field.
pub(super) fn state(plan: &FieldPlan<'_>) -> u128 {
    let species = plan.case.problem.model.species().len();
    (plan.case.problem.grid.cells() * species * plan.case.precision.size()) as u128
}

/// Bytes on the disk, about.
pub(super) fn space(plan: &FieldPlan<'_>) -> u128 {
    let (case, state) = (plan.case, state(plan));
    let states = match case.output.every {
        None => 1,
        Some(Every::Time(every)) => {
            ((case.time.until - case.time.start) / every).min(1e12) as u128 + 2
        }
        // How many steps there are is not known.
        Some(Every::Steps(_)) => 2,
    };
    let formats = field::chosen::<f64>(&case.output.formats);
    let each: u128 = formats.map(|format| format.bytes(state)).sum();
    // The result, the checkpoint and the one that takes its place.
    3 * state + states * each + (1 << 16)
}
