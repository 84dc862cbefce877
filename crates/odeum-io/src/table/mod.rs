//! Tables: named columns computed row by row, as CSV and Parquet, and tables that grow with a run.

mod csv;
mod growing;
mod parquet;

pub use csv::write as write_csv;
pub use growing::{Growing, LOST};
pub use parquet::write as write_parquet;

use crate::cells::aside;
use odeum_ode::Scalar;

/// A column, computed row by row.
struct Column<'a> {
    name: String,
    values: Values<'a>,
}

/// What is in a column, by the number of the row.
enum Values<'a> {
    Whole(Box<dyn Fn(usize) -> i64 + 'a>),
    Real(Box<dyn Fn(usize) -> f64 + 'a>),
    /// Values of single precision.
    Single(Box<dyn Fn(usize) -> f32 + 'a>),
    Word(Box<dyn Fn(usize) -> &'static str + 'a>),
}

/// The line of names of a table as CSV; a name that is taken gets a `_`.
pub fn heading<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        all.push(aside(name, &all));
    }
    all.join(",") + "\n"
}

/// Columns of equal length.
pub struct Columns<'a> {
    rows: usize,
    columns: Vec<Column<'a>>,
}

impl<'a> Columns<'a> {
    /// A table of so many rows, without columns.
    pub fn new(rows: usize) -> Columns<'a> {
        Columns { rows, columns: Vec::new() }
    }

    /// Adds a column; a name that is taken gets a `_`.
    fn add(&mut self, name: &str, values: Values<'a>) {
        let mut name = name.to_owned();
        while self.columns.iter().any(|column| column.name == name) {
            name.push('_');
        }
        self.columns.push(Column { name, values });
    }

    /// Adds a column of whole numbers; a name that is taken gets a `_`.
    pub fn whole(&mut self, name: &str, value: impl Fn(usize) -> i64 + 'a) {
        self.add(name, Values::Whole(Box::new(value)));
    }

    /// Adds a column of numbers as wide as `T`; a name that is taken gets a `_`.
    pub fn number<T: Scalar>(&mut self, name: &str, value: impl Fn(usize) -> T + 'a) {
        if size_of::<T>() == 8 {
            self.add(name, Values::Real(Box::new(move |r| value(r).to_f64())));
        } else {
            self.add(name, Values::Single(Box::new(move |r| value(r).to_f64() as f32)));
        }
    }

    /// Adds a column of words; a name that is taken gets a `_`.
    pub fn word(&mut self, name: &str, value: impl Fn(usize) -> &'static str + 'a) {
        self.add(name, Values::Word(Box::new(value)));
    }
}
