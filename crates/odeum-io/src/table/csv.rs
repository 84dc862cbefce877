//! The result as CSV: numbers in the shortest form that reads back to the same bits.

use super::{Columns, Values};
use crate::number::Exact;
use std::io::{self, Write};

/// Writes a table, with a line of names.
pub fn write(table: &Columns<'_>, file: &mut impl Write) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(file);
    writer.write_record(table.columns.iter().map(|column| &column.name))?;
    let mut cell = String::new();
    for row in 0..table.rows {
        for column in &table.columns {
            use std::fmt::Write as _;
            cell.clear();
            let written = match &column.values {
                Values::Whole(value) => write!(cell, "{}", value(row)),
                Values::Real(value) => write!(cell, "{}", Exact(value(row))),
                Values::Single(value) => write!(cell, "{}", Exact(value(row))),
                Values::Word(value) => write!(cell, "{}", value(row)),
            };
            written.map_err(io::Error::other)?;
            writer.write_field(&cell)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}
