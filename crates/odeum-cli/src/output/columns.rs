//! A result as a table of named columns, for CSV and Parquet.

use crate::results::Results;
use odeum_io::table::Columns;
use odeum_ode::Scalar;

/// One row for each system: how it ended, what it started from and what it cost.
pub(super) fn systems<'a, T: Scalar>(results: &'a Results<'a, T>) -> Columns<'a> {
    let model = &results.plan.case.model;
    let members = results.members();
    let mut table = Columns::new(results.len());
    table.whole("system", |r| results.row(r).system as i64);
    table.word("status", |r| results.row(r).status().name());
    table.number("t", |r| results.row(r).t());
    for (i, name) in model.state_names.iter().enumerate() {
        table.number(name, move |r| results.row(r).y(i));
    }
    // What states start from is told apart from what they end with.
    let starts = if model.is_direct() { model.dim() } else { model.variables.len() };
    let order = (starts..model.variables.len()).chain(0..starts);
    for variable in order {
        let name = &model.variables[variable].name;
        let name = if variable < starts { format!("{name}_start") } else { name.clone() };
        table.number(&name, move |r| T::from_f64(members.value(variable, results.row(r).system)));
    }
    table.whole("steps", |r| i64::from(results.row(r).stats().steps));
    table.whole("rejected", |r| i64::from(results.row(r).stats().rejected));
    table.whole("nfev", |r| i64::from(results.row(r).stats().nfev));
    table.whole("njev", |r| i64::from(results.row(r).stats().njev));
    table.whole("nlu", |r| i64::from(results.row(r).stats().nlu));
    table.whole("guarded", |r| i64::from(results.row(r).stats().guarded));
    table.whole("outside", |r| i64::from(results.row(r).stats().outside));
    table
}

/// One row for each saved state that was reached.
pub(super) fn saved<'a, T: Scalar>(results: &'a Results<'a, T>) -> Columns<'a> {
    let model = &results.plan.case.model;
    let times = results.plan.options.save_times();
    // First row of each system: systems that failed have fewer.
    let mut starts = Vec::with_capacity(results.len() + 1);
    let mut rows = 0;
    for r in 0..results.len() {
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
    for (i, name) in model.state_names.iter().enumerate() {
        let of = find.clone();
        table.number(name, move |row| {
            let (r, k) = of(row);
            results.row(r).saved(k, i)
        });
    }
    table
}
