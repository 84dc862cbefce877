//! A result as a table of named columns, for CSV and Parquet.

use super::{EnsembleResult, Row, Written};
use crate::file::stage;
use crate::finding::Finding;
use crate::table::Columns;
use crate::target::Target;
use odeum_ode::{Scalar, Stats};
use std::fs::File;
use std::io::{self, BufWriter};

/// Writes a table of any rows.
pub(super) trait Form {
    fn write<R: Sync>(
        table: &Columns<'_, R>,
        threads: usize,
        file: &mut BufWriter<&mut File>,
    ) -> io::Result<()>;
}

/// Writes the tables: of systems, and of states where any were kept.
pub(super) fn write<T: Scalar, F: Form>(
    result: &EnsembleResult<'_, T>,
    target: &Target,
    [whole, kept]: [&str; 2],
) -> Result<Written, Finding> {
    let threads = result.about.threads;
    let table = systems(result);
    let of_systems = stage(&target.file(whole), |file| F::write(&table, threads, file))?;
    let mut written = vec![of_systems];
    if !result.about.save_times.is_empty() {
        let table = saved(result);
        written.push(stage(&target.file(kept), |file| F::write(&table, threads, file))?);
    }
    Ok((written, None))
}

/// One row for each system: how it ended, what it started from, its parameters and what it cost.
fn systems<'a, T: Scalar>(result: &'a EnsembleResult<'a, T>) -> Columns<'a, (usize, Row<'a, T>)> {
    let (about, results) = (&result.about, result.rows);
    let mut table = Columns::new(results.count(), |r| (r, results.row(r)));
    table.whole("system", |(_, row)| row.system as i64);
    table.word("status", |(_, row)| row.status().name());
    table.number("t", |(_, row)| row.t());
    for (i, name) in about.state_names.iter().enumerate() {
        table.number(name, move |(_, row)| row.y(i));
    }
    // Parameters that follow from the variables.
    if !about.is_direct {
        let states = about.state_names.len();
        for (j, name) in about.param_names.iter().enumerate() {
            table.number(name, move |(r, _)| {
                let mut param = f64::NAN;
                results.starts(*r..*r + 1, &mut |_, i, x| {
                    if i == states + j {
                        param = x;
                    }
                });
                T::from_f64(param)
            });
        }
    }
    // What states start from is told apart from what they end with.
    let starts = if about.is_direct { about.state_names.len() } else { about.variable_names.len() };
    let order = (starts..about.variable_names.len()).chain(0..starts);
    for variable in order {
        let name = &about.variable_names[variable];
        let name = if variable < starts { format!("{name}_start") } else { name.clone() };
        table.number(&name, move |(_, row)| T::from_f64(results.value(variable, row.system)));
    }
    for (i, name) in Stats::NAMES.into_iter().enumerate() {
        table.whole(name, move |(_, row)| i64::from(row.stats().to_array()[i]));
    }
    table
}

/// One row for each saved state that was reached: its system, and its number there.
fn saved<'a, T: Scalar>(result: &'a EnsembleResult<'a, T>) -> Columns<'a, (Row<'a, T>, usize)> {
    let (about, results) = (&result.about, result.rows);
    let times = about.save_times;
    // First row of each system: systems that failed have fewer.
    let mut starts = Vec::with_capacity(results.count() + 1);
    let mut rows = 0;
    for r in 0..results.count() {
        starts.push(rows);
        rows += results.row(r).n_saved() as usize;
    }
    let mut table = Columns::new(rows, move |row| {
        let r = starts.partition_point(|&start| start <= row) - 1;
        (results.row(r), row - starts[r])
    });
    table.whole("system", |(row, _)| row.system as i64);
    table.number("t", |(_, k)| times[*k]);
    for (i, name) in about.state_names.iter().enumerate() {
        table.number(name, move |(row, k)| row.saved(*k, i));
    }
    table
}
