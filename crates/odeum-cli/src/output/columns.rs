//! A result as a table of named columns, for CSV and Parquet.

use crate::results::Results;
use odeum_ode::Scalar;

/// A column, computed row by row.
pub(super) struct Column<'a> {
    pub(super) name: String,
    pub(super) values: Values<'a>,
}

/// What is in a column.
pub(super) enum Values<'a> {
    Whole(Box<dyn Fn(usize) -> i64 + 'a>),
    Real(Box<dyn Fn(usize) -> f64 + 'a>),
    /// Values of single precision.
    Single(Box<dyn Fn(usize) -> f32 + 'a>),
    Word(Box<dyn Fn(usize) -> &'static str + 'a>),
}

/// Columns of equal length.
pub(super) struct Columns<'a> {
    pub(super) rows: usize,
    pub(super) columns: Vec<Column<'a>>,
}

impl<'a> Columns<'a> {
    /// Adds a column; a name that is taken gets a `_`.
    fn add(&mut self, name: &str, values: Values<'a>) {
        let mut name = name.to_owned();
        while self.columns.iter().any(|column| column.name == name) {
            name.push('_');
        }
        self.columns.push(Column { name, values });
    }

    fn whole(&mut self, name: &str, value: impl Fn(usize) -> i64 + 'a) {
        self.add(name, Values::Whole(Box::new(value)));
    }

    fn number<T: Scalar>(&mut self, name: &str, value: impl Fn(usize) -> T + 'a) {
        if size_of::<T>() == 8 {
            self.add(name, Values::Real(Box::new(move |r| value(r).to_f64())));
        } else {
            self.add(name, Values::Single(Box::new(move |r| value(r).to_f64() as f32)));
        }
    }
}

/// One row for each system: how it ended, what it started from and what it cost.
pub(super) fn systems<'a, T: Scalar>(results: &'a Results<'a, T>) -> Columns<'a> {
    let model = &results.plan.case.model;
    let members = results.members();
    let mut table = Columns { rows: results.len(), columns: Vec::new() };
    table.whole("system", |r| results.row(r).system as i64);
    table.add("status", Values::Word(Box::new(|r| results.row(r).status().name())));
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
    let mut table = Columns { rows, columns: Vec::new() };
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
