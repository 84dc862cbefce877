//! Masses at the start and at the end.

use crate::report::{Align, Table};
use odeum_fields::Summary;

/// A table of the species: mass at start and end, what became of it, and the extremes.
pub(super) fn table(names: &[String], start: &[f64], end: &[Summary]) -> Table {
    use Align::{Left, Right};
    let columns = [
        ("species", Left),
        ("mass at start", Right),
        ("at end", Right),
        ("relative change", Right),
        ("min", Right),
        ("max", Right),
    ];
    let mut table = Table::new(&columns);
    for ((name, &before), now) in names.iter().zip(start).zip(end) {
        let change = if before == 0.0 {
            "from zero".to_owned()
        } else {
            format!("{:+.2e}", (now.mass - before) / before.abs())
        };
        table.row([
            name.clone(),
            format!("{before:.9e}"),
            format!("{:.9e}", now.mass),
            change,
            format!("{:.5e}", now.min),
            format!("{:.5e}", now.max),
        ]);
    }
    table
}
