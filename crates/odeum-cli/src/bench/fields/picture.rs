//! The picture of the study.

use super::super::plot::{Lines, draw_lines};
use super::row::{NAME, Row};

/// Draws the cubes of the study of fields: 10⁶ cells a second over the number of cells.
pub(super) fn draw(rows: &[Row]) -> Result<String, Box<dyn std::error::Error>> {
    let mut lines = Lines::new();
    for row in rows.iter().filter(|row| row.is_cube()) {
        let points = lines.entry(row.line()).or_default();
        points.push((row.cells as f64, row.mpoints_per_second));
    }
    draw_lines(NAME, ("cells", "million cells per second"), lines)
}
