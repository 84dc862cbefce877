//! Arrays with one number for each cell, from NPY and NPZ files and Zarr stores.

use crate::case::given::CellArray;
use crate::case::inputs::Inputs;
use crate::case::reader::Field;
use odeum_fields::{AXES, Grid};
use odeum_io::cells::{self, Coordinates, Member, Numbers, fits};
use odeum_io::{file, zarr};
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// Where arrays are looked for: among those that a program hands over, then in files.
#[derive(Clone, Copy)]
pub(super) struct Files<'a> {
    pub(super) folder: &'a Path,
    pub(super) given: &'a [(String, CellArray)],
    /// Where those that are read are told of.
    pub(super) inputs: &'a Inputs,
}

const HELP: &str = "write it with numpy.save: an array of shape (nz, ny, nx) of plain numbers";

const FINITE: &str = "give finite numbers";

/// The numbers of the array that a field names; `member` is looked for in an archive and in a group.
pub(super) fn read(
    field: &Field<'_>,
    grid: Option<&Grid>,
    files: Files<'_>,
    member: Member<'_>,
) -> Option<Arc<Numbers>> {
    let name = field.text()?;
    let grid = grid?;
    if let Some((_, array)) = files.given.iter().find(|(other, _)| other == name) {
        return match check(array, grid) {
            Ok(()) => Some(Arc::clone(&array.numbers)),
            Err((found, help)) => field.refuse_given("it is no array of this grid", &found, &help),
        };
    }
    let path = field.path(files.folder)?;
    files.inputs.add(&path);
    let store = path.is_dir();
    let help = if store { zarr::HELP } else { HELP };
    let refuse = |message: String| field.refuse(format!("{}: {message}", path.display()), help);
    let values = if store {
        lie_on(grid, zarr::coordinates(&path, grid), field, &path)?;
        zarr::read(&path, member, grid)
    } else {
        match file::open(&path, "array") {
            Err(finding) => {
                let help = finding.help.clone().unwrap_or_default();
                return field.refuse(format!("{}: {}", path.display(), finding.message), &help);
            }
            Ok((file, _)) if path.extension().is_some_and(|e| e == "npz") => {
                let mut file = BufReader::new(file);
                lie_on(grid, cells::coordinates(&mut file, grid), field, &path)?;
                Numbers::read_member(file, member, grid)
            }
            Ok((file, _)) => Numbers::read(BufReader::new(file), grid),
        }
    };
    let values = match values {
        Ok(values) => values,
        Err(message) => return refuse(message),
    };
    if let Some((at, value)) = values.not_finite() {
        let message = format!("{}: it holds {value} in cell {:?}", path.display(), grid.cell(at));
        return field.refuse(message, FINITE);
    }
    Some(Arc::new(values))
}

/// The time of the state that a file holds, where that says it.
pub(super) fn time(name: &str, files: Files<'_>) -> Option<f64> {
    if files.given.iter().any(|(other, _)| other == name) {
        return None;
    }
    let path = files.folder.join(name);
    if path.is_dir() {
        return zarr::time(&path);
    }
    let (file, _) = file::open(&path, "array").ok()?;
    cells::time(BufReader::new(file))
}

/// Refuses coordinates beside an array that are not the centres of the cells.
fn lie_on(grid: &Grid, found: Vec<Coordinates>, field: &Field<'_>, path: &Path) -> Option<()> {
    let path = path.display();
    for (axis, coordinates) in found.into_iter().filter(|(axis, _)| grid.shape()[*axis] > 1) {
        let name = AXES[axis];
        let x = match coordinates {
            Ok(x) => x,
            Err(reason) => {
                let message =
                    format!("{path}: its coordinates `{name}` are not looked at: {reason}");
                field.warn(message, "see for yourself that they are the centres of the cells");
                continue;
            }
        };
        let Some(at) = grid.misplaced(axis, &x) else { continue };
        if x.last() < x.first() {
            let message = format!("{path}: its coordinates `{name}` fall");
            let help = format!("turn its arrays: with xarray .sortby(\"{name}\")");
            return field.refuse(message, &help);
        }
        let centre = grid.centre(axis, at);
        let message = format!(
            "{path}: its coordinates `{name}` have {} for a cell whose centre is at {centre}",
            x[at]
        );
        let help = format!(
            "let spacing and origin of [grid] agree with them, or leave `{name}` out of the file"
        );
        return field.refuse(message, &help);
    }
    Some(())
}

/// The same in double precision.
pub(super) fn read_doubles(
    field: &Field<'_>,
    grid: Option<&Grid>,
    files: Files<'_>,
    member: &str,
) -> Option<Vec<f64>> {
    let numbers = read(field, grid, files, Member::Named(member))?;
    Some(Arc::unwrap_or_clone(numbers).into_doubles())
}

/// Refuses what a program gives where it is not one finite number for each cell: what was found, what helps.
fn check(array: &CellArray, grid: &Grid) -> Result<(), (String, String)> {
    if fits(&array.shape, grid).is_err() {
        let [nx, ny, nz] = grid.shape();
        let help = format!("give an array of shape (nz, ny, nx) = ({nz}, {ny}, {nx})");
        return Err((format!("the shape {:?}", array.shape), help));
    }
    match array.numbers.not_finite() {
        None => Ok(()),
        Some((at, value)) => {
            let found = format!("{value} in cell {:?}", grid.cell(at));
            Err((found, FINITE.to_owned()))
        }
    }
}
