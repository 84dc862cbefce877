//! The picture of a study: systems per second over the number of systems.

use super::document::Row;
use odeum_io::chart::{Axis, COLOURS, legend};
use plotters::prelude::*;
use std::collections::BTreeMap;

/// Draws the rows of a study as SVG, one line for each variant.
pub(crate) fn draw(bench: &str, rows: &[Row]) -> Result<String, Box<dyn std::error::Error>> {
    let mut lines = Lines::new();
    for row in rows {
        let points = lines.entry(label(row, rows)).or_default();
        points.push((row.systems as f64, row.systems_per_second));
    }
    draw_lines(bench, ("systems", "systems per second"), lines)
}

/// Points of lines by their names.
pub(super) type Lines = BTreeMap<String, Vec<(f64, f64)>>;

pub(super) fn draw_lines(
    bench: &str,
    names: (&str, &str),
    lines: Lines,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    render(bench, names, lines, &mut text)?;
    Ok(text)
}

fn render(
    bench: &str,
    (x_name, y_name): (&str, &str),
    lines: Lines,
    text: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let range = |value: fn(&(f64, f64)) -> f64| {
        let values = lines.values().flatten().map(value);
        let (least, most) =
            values.fold((f64::MAX, 0.0), |(a, b): (f64, f64), v| (a.min(v), b.max(v)));
        Axis::new(least / 1.5..most * 1.5, true)
    };
    let root = SVGBackend::with_string(text, (860, 520)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .caption(format!("odeum bench {bench}"), ("sans-serif", 20))
        .x_label_area_size(44)
        .y_label_area_size(76)
        .build_cartesian_2d(range(|p| p.0), range(|p| p.1))?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(x_name)
        .y_desc(y_name)
        .x_label_formatter(&|x| power(*x))
        .y_label_formatter(&|y| power(*y))
        .label_style(("sans-serif", 14))
        .draw()?;
    for (i, (name, mut points)) in lines.into_iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        chart
            .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(points.iter().map(|p| Circle::new(*p, 3, colour.filled())))?;
    }
    legend(&mut chart, SeriesLabelPosition::LowerRight)?;
    root.present()?;
    Ok(())
}

/// What tells a line from the others.
fn label(row: &Row, rows: &[Row]) -> String {
    let mut label = row.variant.clone();
    if row.device == "cpu" {
        label += if row.threads == 1 { ", 1 thread" } else { ", all threads" };
    }
    if rows.iter().any(|other| other.workload != row.workload) {
        label = format!("{}: {label}", row.workload);
    }
    label
}

fn power(x: f64) -> String {
    match x {
        x if x >= 1e6 => format!("{} M", x / 1e6),
        x if x >= 1e3 => format!("{} k", x / 1e3),
        x => x.to_string(),
    }
}
