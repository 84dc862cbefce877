//! Arrays with one number for each cell, from NPY and NPZ files.

use crate::case::reader::Field;
use crate::files::read_bytes;
use crate::npy;
use odeum_fields::Grid;
use std::io::Read;
use std::path::Path;

/// The values of the file that a field names, x fastest; `member` is looked for in an archive.
pub(super) fn read(
    field: &Field<'_>,
    grid: Option<&Grid>,
    folder: &Path,
    member: &str,
) -> Option<Vec<f64>> {
    let name = field.text()?;
    let grid = grid?;
    let path = folder.join(name);
    // Numbers of up to eight bytes, and room for headers and other arrays of an archive.
    let limit = (grid.cells() as u64).saturating_mul(8 * 16) + (1 << 20);
    let refuse = |message: String| {
        field.refuse(
            format!("{}: {message}", path.display()),
            "write it with numpy.save: an array of shape (nz, ny, nx) of plain numbers",
        )
    };
    let bytes = match read_bytes(&path, "array", limit) {
        Ok(bytes) => bytes,
        Err(finding) => {
            let help = finding.help.clone().unwrap_or_default();
            return field.refuse(format!("{}: {}", path.display(), finding.message), &help);
        }
    };
    let bytes = if path.extension().is_some_and(|e| e == "npz") {
        match entry(bytes, member) {
            Ok(bytes) => bytes,
            Err(message) => return refuse(message),
        }
    } else {
        bytes
    };
    let (shape, values) = match npy::read_values(&bytes) {
        Ok(array) => array,
        Err(message) => return refuse(message),
    };
    let [nx, ny, nz] = grid.shape();
    let plain = |shape: &[usize]| shape.iter().copied().filter(|&n| n > 1).collect::<Vec<_>>();
    if plain(&shape) != plain(&[nz, ny, nx]) {
        return refuse(format!(
            "its shape is {shape:?}, that of the grid [nz, ny, nx] = {:?}",
            [nz, ny, nx]
        ));
    }
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        return refuse(format!("it holds {} in cell {:?}", values[at], grid.cell(at)));
    }
    Some(values)
}

/// The array of a name in an archive of arrays.
fn entry(bytes: Vec<u8>, member: &str) -> Result<Vec<u8>, String> {
    let damaged = |error: zip::result::ZipError| format!("it is no archive of arrays: {error}");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).map_err(damaged)?;
    let mut array = Vec::new();
    let mut file = archive
        .by_name(&format!("{member}.npy"))
        .map_err(|_| format!("it has no array `{member}`"))?;
    file.read_to_end(&mut array).map_err(|error| format!("it is damaged: {error}"))?;
    Ok(array)
}
