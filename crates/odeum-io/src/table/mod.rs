//! Tables: named columns computed row by row by several threads, as CSV and Parquet, and tables that grow with a run.

mod csv;
mod growing;
mod parquet;

pub use csv::write as write_csv;
pub use growing::{Growing, LOST};
pub use parquet::write as write_parquet;

use crate::cells::aside;
use odeum_ode::Scalar;

/// A column, computed row by row.
struct Column<'a, R> {
    name: String,
    values: Values<'a, R>,
}

/// What is in a column, by what is known of a row.
enum Values<'a, R> {
    Whole(Box<dyn Fn(&R) -> i64 + Sync + 'a>),
    Real(Box<dyn Fn(&R) -> f64 + Sync + 'a>),
    /// Values of single precision.
    Single(Box<dyn Fn(&R) -> f32 + Sync + 'a>),
    Word(Box<dyn Fn(&R) -> &'static str + Sync + 'a>),
}

/// The line of names of a table as CSV; a name that is taken gets a `_`.
pub fn heading<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        all.push(aside(name, &all));
    }
    all.join(",") + "\n"
}

/// Columns of equal length. An `R` is what all values of a row follow from; it is found once for each row.
pub struct Columns<'a, R> {
    rows: usize,
    row: Box<dyn Fn(usize) -> R + Sync + 'a>,
    columns: Vec<Column<'a, R>>,
}

impl<'a, R> Columns<'a, R> {
    /// A table of so many rows, without columns; `row` finds one by its number.
    pub fn new(rows: usize, row: impl Fn(usize) -> R + Sync + 'a) -> Columns<'a, R> {
        Columns { rows, row: Box::new(row), columns: Vec::new() }
    }

    /// Adds a column; a name that is taken gets a `_`.
    fn add(&mut self, name: &str, values: Values<'a, R>) {
        let mut name = name.to_owned();
        while self.columns.iter().any(|column| column.name == name) {
            name.push('_');
        }
        self.columns.push(Column { name, values });
    }

    /// Adds a column of whole numbers; a name that is taken gets a `_`.
    pub fn whole(&mut self, name: &str, value: impl Fn(&R) -> i64 + Sync + 'a) {
        self.add(name, Values::Whole(Box::new(value)));
    }

    /// Adds a column of numbers as wide as `T`; a name that is taken gets a `_`.
    pub fn number<T: Scalar>(&mut self, name: &str, value: impl Fn(&R) -> T + Sync + 'a) {
        if size_of::<T>() == 8 {
            self.add(name, Values::Real(Box::new(move |r| value(r).to_f64())));
        } else {
            self.add(name, Values::Single(Box::new(move |r| value(r).to_f64() as f32)));
        }
    }

    /// Adds a column of words without marks of CSV; a name that is taken gets a `_`.
    pub fn word(&mut self, name: &str, value: impl Fn(&R) -> &'static str + Sync + 'a) {
        self.add(name, Values::Word(Box::new(value)));
    }
}
