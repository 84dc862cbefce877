//! The result as NPZ.
//!
//! Every array has one row for each system. Nothing in the file depends on the time of day or on
//! how long the run took, so equal results are equal files.

use super::{EnsembleResult, Row, Rows};
use crate::cells::put;
use crate::file::{Room, Staged};
use crate::finding::Finding;
use crate::npz::{Archive, stage_archive};
use odeum_ode::{Scalar, Stats, Status};
use serde_json::json;
use std::path::Path;

/// Writes all arrays, beside the place of the file; the names of the files `beside` the result end so.
pub(super) fn stage<T: Scalar>(
    result: &EnsembleResult<'_, T>,
    beside: &[String],
    path: &Path,
    room: Option<Room>,
) -> Result<Staged, Finding> {
    let (about, results) = (&result.about, result.rows);
    let (n, m) = (about.state_names.len(), about.param_names.len());
    let mut npz = Npz { archive: Archive::default(), results };
    let real = if size_of::<T>() == 8 { "<f8" } else { "<f4" };

    npz.each("t", "<f8", &[], |bytes, row| bytes.extend(row.t().to_le_bytes()));
    npz.each("y", real, &[n], move |bytes, row| (0..n).for_each(|i| put(bytes, &[row.y(i)])));
    npz.each("status", "|u1", &[], |bytes, row| bytes.push(row.status() as u8));
    npz.archive.texts("status_names", &Status::ALL.map(|status| status.name().to_owned()));
    let times = about.save_times;
    if !times.is_empty() {
        npz.archive.numbers("save_times", &[times.len()], times);
        npz.each("n_saved", "<u4", &[], |bytes, row| bytes.extend(row.n_saved().to_le_bytes()));
        npz.each("saved", real, &[times.len(), n], move |bytes, row| {
            for k in 0..times.len() {
                (0..n).for_each(|i| put(bytes, &[row.saved(k, i)]));
            }
        });
    }
    for (i, name) in Stats::NAMES.into_iter().enumerate() {
        npz.each(name, "<u4", &[], move |bytes, row| {
            bytes.extend(row.stats().to_array()[i].to_le_bytes());
        });
    }
    npz.each("system", "<i8", &[], |bytes, row| bytes.extend((row.system as i64).to_le_bytes()));
    npz.starts(real, [n, m]);
    if !about.is_direct {
        let k = about.variable_names.len();
        npz.each("variables", "<f8", &[k], move |bytes, row| {
            (0..k).for_each(|v| bytes.extend(results.value(v, row.system).to_le_bytes()));
        });
        npz.archive.texts("variable_names", &about.variable_names);
    }
    npz.each("span", "<f8", &[2], |bytes, row| {
        let (start, end) = results.span(row.system);
        bytes.extend(start.to_le_bytes());
        bytes.extend(end.to_le_bytes());
    });
    let mut archive = npz.archive;
    archive.texts("state_names", about.state_names);
    archive.texts("param_names", about.param_names);
    let axes: Vec<String> = about.shape.iter().map(|(name, _)| name.clone()).collect();
    let shape: Vec<u8> =
        about.shape.iter().flat_map(|(_, len)| (*len as i64).to_le_bytes()).collect();
    archive.texts("axes", &axes);
    archive.whole("shape", "<i8", &[axes.len()], shape);
    let text = json!({
        "odeum": env!("CARGO_PKG_VERSION"),
        "title": about.title,
        "system": about.system,
        "method": about.method,
        "precision": about.precision,
        "files": beside,
        "case": about.case,
    });
    archive.text("about", &text.to_string());
    stage_archive(path, room, about.threads, archive)
}

struct Npz<'a, T> {
    archive: Archive<'a>,
    results: &'a dyn Rows<T>,
}

impl<'a, T: Scalar> Npz<'a, T> {
    /// An array with one row for each system, of shape [systems, `inner`…].
    fn each(
        &mut self,
        name: &str,
        descr: &str,
        inner: &[usize],
        fill: impl Fn(&mut Vec<u8>, &Row<'_, T>) + Sync + 'a,
    ) {
        let results = self.results;
        let shape = [&[results.count()], inner].concat();
        self.archive.rows(name, descr, &shape, results.count(), move |rows, bytes| {
            rows.for_each(|r| fill(bytes, &results.row(r)));
        });
    }

    /// What the systems started from, states and parameters. Those of a gas come from one computation,
    /// which takes a while.
    fn starts(&mut self, descr: &str, widths: [usize; 2]) {
        let (results, count) = (self.results, self.results.count());
        let shapes = widths.map(|width| [count, width]);
        let arrays: [(&str, &str, &[usize]); 2] =
            [("y0", descr, &shapes[0]), ("params", descr, &shapes[1])];
        self.archive.rows_together(&arrays, count, move |rows, parts| {
            for (bytes, width) in parts.iter_mut().zip(widths) {
                bytes.resize(rows.len() * width * size_of::<T>(), 0);
            }
            results.starts(rows, &mut |at, i, x| {
                let (part, i) = if i < widths[0] { (0, i) } else { (1, i - widths[0]) };
                let place = (at * widths[part] + i) * size_of::<T>();
                write_at(&mut parts[part][place..], T::from_f64(x));
            });
        });
    }
}

fn write_at<T: Scalar>(bytes: &mut [u8], x: T) {
    if size_of::<T>() == 8 {
        bytes[..8].copy_from_slice(&x.to_f64().to_le_bytes());
    } else {
        bytes[..4].copy_from_slice(&(x.to_f64() as f32).to_le_bytes());
    }
}
