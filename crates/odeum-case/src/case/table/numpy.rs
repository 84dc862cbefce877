//! NPY and NPZ tables.

use super::{RawTable, result};
use crate::case::reader::SourceSpan;
use odeum_io::Finding;
use odeum_io::file::read_bytes;
use odeum_io::npy;
use odeum_io::npz::Npz;
use std::path::Path;

/// An array of two axes [systems, columns], or of records with named fields.
pub(super) fn read_npy(
    path: &Path,
    source_span: &SourceSpan,
    lenient: bool,
) -> Result<RawTable, Vec<Finding>> {
    let bytes = read_bytes(path, "table", u64::MAX).map_err(|finding| vec![finding])?;
    let array = npy::read(&bytes).map_err(|reason| vec![broken(path, source_span, &reason)])?;
    let name = |c: usize| array.names.as_ref().map_or(format!("column {c}"), |n| n[c].clone());
    let columns = (0..array.columns.len())
        .map(|c| checked(array.columns[c].clone(), path, &name(c), lenient))
        .collect();
    let name_source_spans = vec![source_span.clone(); array.columns.len()];
    Ok(RawTable::new(array.names, columns, "fields", name_source_spans))
}

/// Named arrays of one axis \[systems\], or a result of Odeum.
pub(super) fn read_npz(
    path: &Path,
    source_span: &SourceSpan,
    lenient: bool,
) -> Result<RawTable, Vec<Finding>> {
    let damaged = |reason: String| vec![broken(path, source_span, &reason)];
    let mut npz = Npz::open(path, "table").map_err(|finding| vec![finding])?.map_err(damaged)?;
    let names = npz.names().map_err(damaged)?;
    if let Some(result) = result::read(&mut npz, &names, path, source_span, lenient) {
        return result;
    }
    let mut columns = Vec::new();
    for name in &names {
        // Arrays that cannot be columns are a slip only if they are asked for.
        columns.push(match npz.column(name) {
            Err(reason) => Err(damaged(reason)),
            Ok(values) => checked(values, path, name, lenient),
        });
    }
    let name_source_spans = vec![source_span.clone(); names.len()];
    Ok(RawTable::new(Some(names), columns, "arrays", name_source_spans))
}

/// A column, of finite numbers unless `lenient`.
pub(super) fn checked(
    values: Vec<f64>,
    path: &Path,
    name: &str,
    lenient: bool,
) -> Result<Vec<f64>, Vec<Finding>> {
    match values.iter().position(|x| !x.is_finite()).filter(|_| !lenient) {
        None => Ok(values),
        Some(row) => Err(vec![
            Finding::error(format!("`{name}` must be finite"))
                .in_file(path.display().to_string())
                .field(format!("{name}[{row}]"))
                .found(values[row])
                .help(super::BAD_ROWS_HELP),
        ]),
    }
}

/// A table that cannot be read.
pub(super) fn broken(path: &Path, source_span: &SourceSpan, reason: &str) -> Finding {
    source_span.error(format!("cannot use the table {}: {reason}", path.display())).help(
        "NPY: one array [systems, columns] or records; NPZ: one array [systems] for each name \
         (numpy.savez(file, x=x, k=k)), or a result of `odeum run` or `odeum pasr`",
    )
}
