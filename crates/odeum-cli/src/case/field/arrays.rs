//! Arrays with one number for each cell, from NPY and NPZ files and Zarr stores.

use super::zarr;
use crate::case::reader::Field;
use crate::files;
use crate::npy::Head;
use odeum_fields::Grid;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

const HELP: &str = "write it with numpy.save: an array of shape (nz, ny, nx) of plain numbers";

/// The values of the file that a field names, x fastest; `member` is looked for in an archive
/// and in a group.
pub(super) fn read(
    field: &Field<'_>,
    grid: Option<&Grid>,
    folder: &Path,
    member: &str,
) -> Option<Vec<f64>> {
    let name = field.text()?;
    let grid = grid?;
    let path = folder.join(name);
    let store = path.is_dir();
    let help = if store { zarr::HELP } else { HELP };
    let refuse = |message: String| field.refuse(format!("{}: {message}", path.display()), help);
    let values = if store {
        zarr::read(&path, member, grid)
    } else {
        match files::open(&path, "array") {
            Err(finding) => {
                let help = finding.help.clone().unwrap_or_default();
                return field.refuse(format!("{}: {}", path.display(), finding.message), &help);
            }
            Ok((file, _)) if path.extension().is_some_and(|e| e == "npz") => {
                member_values(BufReader::new(file), member, grid)
            }
            Ok((file, _)) => values(BufReader::new(file), grid),
        }
    };
    let values = match values {
        Ok(values) => values,
        Err(message) => return refuse(message),
    };
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        return refuse(format!("it holds {} in cell {:?}", values[at], grid.cell(at)));
    }
    Some(values)
}

/// The numbers of an array that has the shape of the grid; no others are read.
pub(crate) fn values(mut file: impl Read, grid: &Grid) -> Result<Vec<f64>, String> {
    let head = Head::read(&mut file)?;
    let [nx, ny, nz] = grid.shape();
    let plain = |shape: &[usize]| shape.iter().copied().filter(|&n| n > 1).collect::<Vec<_>>();
    if plain(&head.shape) != plain(&[nz, ny, nx]) {
        return Err(format!(
            "its shape is {:?}, that of the grid [nz, ny, nx] = {:?}",
            head.shape,
            [nz, ny, nx]
        ));
    }
    head.values(file)
}

/// The same of the array of a name in an archive of arrays.
fn member_values(file: BufReader<File>, member: &str, grid: &Grid) -> Result<Vec<f64>, String> {
    let damaged = |error: zip::result::ZipError| format!("it is no archive of arrays: {error}");
    let mut archive = zip::ZipArchive::new(file).map_err(damaged)?;
    let file = archive
        .by_name(&format!("{member}.npy"))
        .map_err(|_| format!("it has no array `{member}`"))?;
    values(file, grid)
}
