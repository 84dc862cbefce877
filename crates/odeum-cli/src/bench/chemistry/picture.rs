//! The picture of a study of chemistry: time per reactor over its error.

use super::row::{Document, Row};
use crate::report::{COLOURS, legend};
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Draws the part on tolerances as an SVG file: one line for each method and global step.
pub(super) fn draw(document: &Document, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let drawn = |row: &&Row| row.part == "tolerances" && row.failed == 0 && row.error_p95 > 0.0;
    let rows: Vec<&Row> = document.rows.iter().filter(drawn).collect();
    let mut lines: BTreeMap<(String, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for row in &rows {
        let points = lines.entry((format!("{:.0e} s", row.dt), &row.method)).or_default();
        points.push((row.error_p95, row.seconds / row.systems as f64 * 1e6));
    }
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = lines.values().flatten().map(of);
        let (least, most) =
            values.fold((f64::MAX, f64::MIN_POSITIVE), |(a, b), v| (a.min(v), b.max(v)));
        least / 1.5..most * 1.5
    };
    let root = SVGBackend::new(path, (860, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let caption = format!("odeum bench {}: {}", document.bench, document.mechanism);
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .caption(caption, ("sans-serif", 18))
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(range(|p| p.0).log_scale(), range(|p| p.1).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("error E that 95 % of the reactors stay below")
        .y_desc("microseconds per reactor, one thread")
        .x_label_formatter(&|x| format!("{x:.0e}"))
        .label_style(("sans-serif", 14))
        .draw()?;
    let steps: Vec<String> = lines.keys().map(|(dt, _)| dt.clone()).collect();
    let mut methods: Vec<&str> = lines.keys().map(|(_, method)| *method).collect();
    methods.sort_unstable();
    methods.dedup();
    for ((dt, method), points) in &lines {
        let colour = COLOURS[methods.iter().position(|m| m == method).unwrap_or(0) % COLOURS.len()];
        // The first global step has open circles, the other filled ones.
        let filled = steps.first() != Some(dt);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
            .label(format!("{method}, {dt}"))
            .legend(move |(x, y)| {
                let style = if filled { colour.filled() } else { colour.stroke_width(1) };
                Circle::new((x + 9, y), 4, style)
            });
        let style = if filled { colour.filled() } else { colour.stroke_width(1) };
        chart.draw_series(points.iter().map(|p| Circle::new(*p, 4, style)))?;
    }
    legend(&mut chart, SeriesLabelPosition::UpperRight)?;
    root.present()?;
    Ok(())
}
