//! NPY and NPZ tables.

use super::RawTable;
use crate::case::reader::Spot;
use crate::files::read_bytes;
use crate::finding::Finding;
use crate::npy::{self, Array};
use std::io::Read;
use std::path::Path;

/// An array of two axes [systems, columns], or of records with named fields.
pub(super) fn read_npy(path: &Path, spot: &Spot) -> Result<RawTable, Vec<Finding>> {
    let bytes = read_bytes(path, "table", u64::MAX).map_err(|finding| vec![finding])?;
    let array = npy::read(&bytes).map_err(|reason| vec![broken(path, spot, &reason)])?;
    let name = |c: usize| array.names.as_ref().map_or(format!("column {c}"), |n| n[c].clone());
    let columns = (0..array.columns.len())
        .map(|c| finite(array.columns[c].clone(), path, &name(c)))
        .collect();
    let name_spots = vec![spot.clone(); array.columns.len()];
    Ok(RawTable { rows: array.rows, names: array.names, columns, names_are: "fields", name_spots })
}

/// Named arrays of one axis \[systems\].
pub(super) fn read_npz(path: &Path, spot: &Spot) -> Result<RawTable, Vec<Finding>> {
    let bytes = read_bytes(path, "table", u64::MAX).map_err(|finding| vec![finding])?;
    let damaged = |error: zip::result::ZipError| vec![broken(path, spot, &error.to_string())];
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).map_err(damaged)?;
    let mut names = Vec::new();
    let mut columns = Vec::new();
    let mut rows: Option<(usize, String)> = None;
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
        let mut data = Vec::new();
        let read = entry.read_to_end(&mut data).map_err(|error| error.to_string());
        // Arrays that cannot be columns are a slip only if they are asked for.
        let column = match read.and_then(|_| npy::read(&data)) {
            Err(reason) => Err(vec![broken(path, spot, &format!("array `{name}`: {reason}"))]),
            Ok(Array { columns, .. }) if columns.len() != 1 => {
                let reason = format!("array `{name}` has two axes; a column has one");
                Err(vec![broken(path, spot, &reason)])
            }
            Ok(array) => match &rows {
                Some((rows, first)) if *rows != array.rows => {
                    let reason = format!(
                        "array `{name}` has {} values, but `{first}` has {rows}",
                        array.rows
                    );
                    Err(vec![broken(path, spot, &reason)])
                }
                _ => {
                    rows.get_or_insert((array.rows, name.clone()));
                    let values = array.columns.into_iter().next().unwrap_or_default();
                    finite(values, path, &name)
                }
            },
        };
        names.push(name);
        columns.push(column);
    }
    let name_spots = vec![spot.clone(); names.len()];
    let rows = rows.map_or(0, |(rows, _)| rows);
    Ok(RawTable { rows, names: Some(names), columns, names_are: "arrays", name_spots })
}

fn finite(values: Vec<f64>, path: &Path, name: &str) -> Result<Vec<f64>, Vec<Finding>> {
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(values),
        Some(row) => Err(vec![
            Finding::error(format!("`{name}` must be finite"))
                .in_file(path.display().to_string())
                .field(format!("{name}[{row}]"))
                .found(values[row])
                .help("give finite numbers only"),
        ]),
    }
}

fn broken(path: &Path, spot: &Spot, reason: &str) -> Finding {
    spot.error(format!("cannot use the table {}: {reason}", path.display())).help(
        "NPY: one array [systems, columns] or records; NPZ: one array [systems] for each name \
         (numpy.savez(file, x=x, k=k))",
    )
}
