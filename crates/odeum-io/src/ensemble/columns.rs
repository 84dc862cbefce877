//! A result as a table of named columns, for CSV and Parquet.

use super::{EnsembleResult, Written};
use crate::file::stage;
use crate::finding::Finding;
use crate::table::Columns;
use crate::target::Target;
use odeum_ode::{Scalar, Stats};
use std::fs::File;
use std::io::{self, BufWriter};

/// Writes the tables: of systems, and of states where any were kept.
pub(super) fn write<T: Scalar>(
    result: &EnsembleResult<'_, T>,
    target: &Target,
    [whole, kept]: [&str; 2],
    write: impl Fn(&Columns<'_>, &mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<Written, Finding> {
    let table = systems(result);
    let mut written = vec![stage(&target.file(whole), |file| write(&table, file))?];
    if !result.about.save_times.is_empty() {
        let table = saved(result);
        written.push(stage(&target.file(kept), |file| write(&table, file))?);
    }
    Ok((written, None))
}

/// One row for each system: how it ended, what it started from, its parameters and what it cost.
fn systems<'a, T: Scalar>(result: &'a EnsembleResult<'a, T>) -> Columns<'a> {
    let (about, results) = (&result.about, result.rows);
    let mut table = Columns::new(results.count());
    table.whole("system", |r| results.row(r).system as i64);
    table.word("status", |r| results.row(r).status().name());
    table.number("t", |r| results.row(r).t());
    for (i, name) in about.state_names.iter().enumerate() {
        table.number(name, move |r| results.row(r).y(i));
    }
    // Parameters that follow from the variables.
    if !about.is_direct {
        let states = about.state_names.len();
        for (j, name) in about.param_names.iter().enumerate() {
            table.number(name, move |r| {
                let mut param = f64::NAN;
                results.starts(r..r + 1, &mut |_, i, x| {
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
        table.number(&name, move |r| T::from_f64(results.value(variable, results.row(r).system)));
    }
    for (i, name) in Stats::NAMES.into_iter().enumerate() {
        table.whole(name, move |r| i64::from(results.row(r).stats().to_array()[i]));
    }
    table
}

/// One row for each saved state that was reached.
fn saved<'a, T: Scalar>(result: &'a EnsembleResult<'a, T>) -> Columns<'a> {
    let (about, results) = (&result.about, result.rows);
    let times = about.save_times;
    // First row of each system: systems that failed have fewer.
    let mut starts = Vec::with_capacity(results.count() + 1);
    let mut rows = 0;
    for r in 0..results.count() {
        starts.push(rows);
        rows += results.row(r).n_saved() as usize;
    }
    let starts = std::rc::Rc::new(starts);
    let find = move |row: usize| {
        let r = starts.partition_point(|&start| start <= row) - 1;
        (r, row - starts[r])
    };
    let mut table = Columns::new(rows);
    let of = find.clone();
    table.whole("system", move |row| results.row(of(row).0).system as i64);
    let of = find.clone();
    table.number("t", move |row| times[of(row).1]);
    for (i, name) in about.state_names.iter().enumerate() {
        let of = find.clone();
        table.number(name, move |row| {
            let (r, k) = of(row);
            results.row(r).saved(k, i)
        });
    }
    table
}
