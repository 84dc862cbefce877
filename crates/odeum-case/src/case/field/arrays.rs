//! Arrays with one number for each cell, from NPY and NPZ files and Zarr stores.

use crate::case::reader::Field;
use odeum_fields::Grid;
use odeum_io::cells::Numbers;
use odeum_io::{file, zarr};
use std::io::BufReader;
use std::path::Path;

const HELP: &str = "write it with numpy.save: an array of shape (nz, ny, nx) of plain numbers";

/// The numbers of the file that a field names; `member` is looked for in an archive and in a group.
pub(super) fn read(
    field: &Field<'_>,
    grid: Option<&Grid>,
    folder: &Path,
    member: &str,
) -> Option<Numbers> {
    let name = field.text()?;
    let grid = grid?;
    let path = folder.join(name);
    let store = path.is_dir();
    let help = if store { zarr::HELP } else { HELP };
    let refuse = |message: String| field.refuse(format!("{}: {message}", path.display()), help);
    let values = if store {
        zarr::read(&path, member, grid)
    } else {
        match file::open(&path, "array") {
            Err(finding) => {
                let help = finding.help.clone().unwrap_or_default();
                return field.refuse(format!("{}: {}", path.display(), finding.message), &help);
            }
            Ok((file, _)) if path.extension().is_some_and(|e| e == "npz") => {
                Numbers::read_member(BufReader::new(file), member, grid)
            }
            Ok((file, _)) => Numbers::read(BufReader::new(file), grid),
        }
    };
    let values = match values {
        Ok(values) => values,
        Err(message) => return refuse(message),
    };
    if let Some((at, value)) = values.not_finite() {
        return refuse(format!("it holds {value} in cell {:?}", grid.cell(at)));
    }
    Some(values)
}
