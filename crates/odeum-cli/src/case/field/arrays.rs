//! Arrays with one number for each cell, from NPY and NPZ files and Zarr stores.

use super::numbers::Numbers;
use super::zarr;
use crate::case::reader::Field;
use crate::files;
use crate::npy::Head;
use odeum_fields::Grid;
use odeum_ode::Scalar;
use std::fs::File;
use std::io::{BufReader, Read};
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
        match files::open(&path, "array") {
            Err(finding) => {
                let help = finding.help.clone().unwrap_or_default();
                return field.refuse(format!("{}: {}", path.display(), finding.message), &help);
            }
            Ok((file, _)) if path.extension().is_some_and(|e| e == "npz") => {
                member_values(BufReader::new(file), member, grid)
            }
            Ok((file, _)) => numbers(BufReader::new(file), grid),
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

/// The numbers of an array that has the shape of the grid; no others are read.
pub(crate) fn values<T: Scalar>(mut file: impl Read, grid: &Grid) -> Result<Vec<T>, String> {
    head(&mut file, grid)?.values(file)
}

/// The same, as wide as in the file.
fn numbers(mut file: impl Read, grid: &Grid) -> Result<Numbers, String> {
    let head = head(&mut file, grid)?;
    match head.kind.is_single() {
        true => head.values(file).map(Numbers::Single),
        false => head.values(file).map(Numbers::Double),
    }
}

/// What stands before the numbers of an array that has the shape of the grid.
fn head(file: &mut impl Read, grid: &Grid) -> Result<Head, String> {
    let head = Head::read(file)?;
    let [nx, ny, nz] = grid.shape();
    let plain = |shape: &[usize]| shape.iter().copied().filter(|&n| n > 1).collect::<Vec<_>>();
    if plain(&head.shape) != plain(&[nz, ny, nx]) {
        return Err(format!(
            "its shape is {:?}, that of the grid [nz, ny, nx] = {:?}",
            head.shape,
            [nz, ny, nx]
        ));
    }
    Ok(head)
}

/// The numbers of the array of a name in an archive of arrays.
fn member_values(file: BufReader<File>, member: &str, grid: &Grid) -> Result<Numbers, String> {
    let damaged = |error: zip::result::ZipError| format!("it is no archive of arrays: {error}");
    let mut archive = zip::ZipArchive::new(file).map_err(damaged)?;
    let file = archive
        .by_name(&format!("{member}.npy"))
        .map_err(|_| format!("it has no array `{member}`"))?;
    numbers(file, grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy::header;

    /// Numbers are held as wide as they are in the file: a field of single precision twice as wide
    /// would take more memory than the field itself.
    #[test]
    fn numbers_are_as_wide_as_in_the_file() {
        let grid = Grid::new([3, 2, 1], 1.0).unwrap();
        let file = |descr: &str, bytes: &[u8]| [&header(descr, &[1, 2, 3])[..], bytes].concat();
        let single: Vec<u8> = (0..6).flat_map(|i| (i as f32 / 3.0).to_le_bytes()).collect();
        let Numbers::Single(read) = numbers(&file("<f4", &single)[..], &grid).unwrap() else {
            panic!("wider than in the file");
        };
        assert_eq!(read, [0, 1, 2, 3, 4, 5].map(|i| i as f32 / 3.0));
        let read = numbers(&file("|u1", &[0, 1, 2, 3, 4, 255])[..], &grid).unwrap();
        assert!(matches!(&read, Numbers::Single(all) if all[5] == 255.0), "{read:?}");
        // Whole numbers of 32 bits are more than single precision holds.
        let whole: Vec<u8> = [0, 0, 0, 0, 0, i32::MAX].map(i32::to_le_bytes).concat();
        let read = numbers(&file("<i4", &whole)[..], &grid).unwrap();
        assert!(matches!(&read, Numbers::Double(_)), "{read:?}");
        assert_eq!(read.into_doubles()[5], f64::from(i32::MAX));
    }
}
