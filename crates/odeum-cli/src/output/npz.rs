//! The result as NPZ.
//!
//! Every array has one row for each system. Nothing in the file depends on the time of day or on
//! how long the run took, so equal results are equal files.

use super::archive::Archive;
use super::steady::Steady;
use crate::results::{Results, Row};
use odeum::{Scalar, Stats, Status};
use serde_json::json;
use std::io::{self, Seek, Write};

/// Writes all arrays.
pub(super) fn write<T: Scalar>(
    results: &Results<'_, T>,
    file: &mut (impl Write + Seek),
) -> io::Result<()> {
    let mut steady = Steady::new(file);
    write_arrays(results, &mut steady)?;
    steady.finish()
}

fn write_arrays<T: Scalar>(
    results: &Results<'_, T>,
    file: &mut Steady<impl Write + Seek>,
) -> io::Result<()> {
    let plan = results.plan;
    let model = &plan.case.model;
    let (n, m) = (model.dim(), model.param_names.len());
    let members = results.members();
    let mut npz = Npz { archive: Archive::new(file), results };
    let real = if size_of::<T>() == 8 { "<f8" } else { "<f4" };
    let number = |buffer: &mut Vec<u8>, x: f64| put(buffer, T::from_f64(x));

    npz.rows("t", "<f8", &[], |buffer, row| buffer.extend(row.t().to_le_bytes()))?;
    npz.rows("y", real, &[n], |buffer, row| (0..n).for_each(|i| put(buffer, row.y(i))))?;
    npz.rows("status", "|u1", &[], |buffer, row| buffer.push(row.status() as u8))?;
    npz.archive.texts("status_names", &Status::ALL.map(|status| status.name().to_owned()))?;
    let times = plan.options.save_times();
    if !times.is_empty() {
        let all: Vec<u8> = times.iter().flat_map(|t| t.to_le_bytes()).collect();
        npz.archive.whole("save_times", "<f8", &[times.len()], &all)?;
        npz.rows("n_saved", "<u4", &[], |buffer, row| {
            buffer.extend(row.n_saved().to_le_bytes());
        })?;
        npz.rows("saved", real, &[times.len(), n], |buffer, row| {
            for k in 0..times.len() {
                (0..n).for_each(|i| put(buffer, row.saved(k, i)));
            }
        })?;
    }
    for (i, name) in Stats::NAMES.into_iter().enumerate() {
        npz.rows(name, "<u4", &[], |buffer, row| {
            buffer.extend(row.stats().to_array()[i].to_le_bytes());
        })?;
    }
    npz.rows("system", "<i8", &[], |buffer, row| {
        buffer.extend((row.system as i64).to_le_bytes());
    })?;
    // Every system that was run had a start.
    let start = |row: &Row<'_, T>| members.start(row.system).unwrap_or_default();
    npz.rows("y0", real, &[n], |buffer, row| {
        start(row).iter().take(n).for_each(|x| number(buffer, *x));
    })?;
    npz.rows("params", real, &[m], |buffer, row| {
        start(row).iter().skip(n).for_each(|x| number(buffer, *x));
    })?;
    if !model.is_direct() {
        let k = model.variables.len();
        npz.rows("variables", "<f8", &[k], |buffer, row| {
            (0..k).for_each(|v| buffer.extend(members.value(v, row.system).to_le_bytes()));
        })?;
        let names: Vec<String> = model.names().map(str::to_owned).collect();
        npz.archive.texts("variable_names", &names)?;
    }
    npz.rows("span", "<f8", &[2], |buffer, row| {
        let (start, end) = members.span(row.system);
        buffer.extend(start.to_le_bytes());
        buffer.extend(end.to_le_bytes());
    })?;
    npz.archive.texts("state_names", &model.state_names)?;
    npz.archive.texts("param_names", &model.param_names)?;
    let axes: Vec<String> = members.shape().iter().map(|(name, _)| name.clone()).collect();
    let shape: Vec<u8> =
        members.shape().iter().flat_map(|(_, len)| (*len as i64).to_le_bytes()).collect();
    npz.archive.texts("axes", &axes)?;
    npz.archive.whole("shape", "<i8", &[axes.len()], &shape)?;
    let about = json!({
        "odeum": env!("CARGO_PKG_VERSION"),
        "title": plan.case.title,
        "system": model.title,
        "method": plan.case.method.method.name(),
        "precision": plan.case.run.precision.name(),
        "case": plan.case.source.text(),
    });
    npz.archive.text("about", &about.to_string())?;
    npz.archive.finish()
}

struct Npz<'a, W: Write + Seek, T> {
    archive: Archive<W>,
    results: &'a Results<'a, T>,
}

impl<W: Write + Seek, T: Scalar> Npz<'_, W, T> {
    /// An array with one row for each system, of shape [systems, `inner`…].
    fn rows(
        &mut self,
        name: &str,
        descr: &str,
        inner: &[usize],
        mut fill: impl FnMut(&mut Vec<u8>, &Row<'_, T>),
    ) -> io::Result<()> {
        let results = self.results;
        self.archive.rows(name, descr, results.len(), inner, |buffer, r| {
            fill(buffer, &results.row(r));
        })
    }
}

fn put<T: Scalar>(buffer: &mut Vec<u8>, x: T) {
    if size_of::<T>() == 8 {
        buffer.extend(x.to_f64().to_le_bytes());
    } else {
        buffer.extend((x.to_f64() as f32).to_le_bytes());
    }
}
