//! The picture of a study of chemistry: one panel for each part that has curves.

use super::row::{Document, Row};
use odeum_io::chart::{COLOURS, legend};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Width and height of a panel.
const PANEL: (u32, u32) = (640, 460);

/// What a part shows as curves.
struct Panel {
    part: &'static str,
    title: &'static str,
    x: (&'static str, fn(&Row) -> f64),
    y: (&'static str, fn(&Row) -> f64),
    /// What tells curves apart beside the global step.
    name: fn(&Row) -> String,
    legend: SeriesLabelPosition,
}

const TIME: (&str, fn(&Row) -> f64) = ("µs per reactor, one thread", |row| microseconds(row));
const ERROR: (&str, fn(&Row) -> f64) =
    ("error E that 95 % of the reactors stay below", |row| row.error_p95);

const PANELS: [Panel; 4] = [
    Panel {
        part: "tolerances",
        title: "Work and precision",
        x: ERROR,
        y: TIME,
        name: |row| row.method.clone(),
        legend: SeriesLabelPosition::UpperRight,
    },
    Panel {
        part: "sizes",
        title: "From few reactors to many",
        x: ("reactors", |row| row.systems as f64),
        y: TIME,
        name: |row| row.method.clone(),
        legend: SeriesLabelPosition::UpperRight,
    },
    Panel {
        part: "convergence",
        title: "Steps of one size",
        x: ("size of a step [s]", |row| row.fixed_step.unwrap_or(f64::NAN)),
        y: ERROR,
        name: |row| row.method.clone(),
        legend: SeriesLabelPosition::UpperLeft,
    },
    Panel {
        part: "jacobians",
        title: "Jacobians: exact, by differences, approximate",
        x: ("right-hand sides per reactor", |row| row.nfev as f64 / row.systems as f64),
        y: TIME,
        name: |row| format!("{}, {}", row.method, row.jacobian),
        legend: SeriesLabelPosition::LowerRight,
    },
];

/// One curve of a panel.
struct Curve {
    label: String,
    colour: RGBColor,
    filled: bool,
    points: Vec<(f64, f64)>,
}

fn microseconds(row: &Row) -> f64 {
    row.seconds / row.systems as f64 * 1e6
}

/// Draws the study as an SVG file.
pub(super) fn draw(document: &Document, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let panels: Vec<(&Panel, Vec<Curve>)> = PANELS
        .iter()
        .map(|panel| (panel, curves(panel, &document.rows)))
        .filter(|(_, curves)| !curves.is_empty())
        .collect();
    let columns = panels.len().clamp(1, 2);
    let lines = panels.len().div_ceil(columns).max(1);
    let size = (PANEL.0 * columns as u32, PANEL.1 * lines as u32 + 40);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let file = Path::new(&document.mechanism).file_name().unwrap_or_default().to_string_lossy();
    let title = format!("odeum bench {}: {file}", document.bench);
    let root = root.titled(&title, ("sans-serif", 20))?;
    for ((panel, curves), area) in panels.iter().zip(root.split_evenly((lines, columns))) {
        draw_panel(panel, curves, &area)?;
    }
    root.present()?;
    Ok(())
}

/// The curves of a panel: filled circles for the longest global step, open ones for others.
fn curves(panel: &Panel, rows: &[Row]) -> Vec<Curve> {
    let mut lines: BTreeMap<(String, String), Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.part == panel.part && row.failed == 0) {
        let point = ((panel.x.1)(row), (panel.y.1)(row));
        if point.0 > 0.0 && point.1 > 0.0 {
            let key = (format!("{:.0e} s", row.dt), (panel.name)(row));
            lines.entry(key).or_default().push(point);
        }
    }
    let longest = rows.iter().map(|row| row.dt).fold(0.0, f64::max);
    let longest = format!("{longest:.0e} s");
    let mut names: Vec<String> = lines.keys().map(|(_, name)| name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let colour = |name: &str| {
        COLOURS[names.iter().position(|other| other == name).unwrap_or(0) % COLOURS.len()]
    };
    let curve = |((dt, name), points): ((String, String), Vec<(f64, f64)>)| Curve {
        label: format!("{name}, {dt}"),
        colour: colour(&name),
        filled: dt == longest,
        points,
    };
    lines.into_iter().map(curve).collect()
}

fn draw_panel(
    panel: &Panel,
    curves: &[Curve],
    area: &DrawingArea<SVGBackend<'_>, Shift>,
) -> Result<(), Box<dyn std::error::Error>> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = curves.iter().flat_map(|curve| &curve.points).map(of);
        let (least, most) =
            values.fold((f64::MAX, f64::MIN_POSITIVE), |(a, b), v| (a.min(v), b.max(v)));
        (least / 1.5, most * 1.5)
    };
    let ((left, right), (low, high)) = (range(|p| p.0), range(|p| p.1));
    // Room for the legend above the curves.
    let high = if matches!(panel.legend, SeriesLabelPosition::LowerRight) {
        high
    } else {
        high * (high / low).sqrt()
    };
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .caption(panel.title, ("sans-serif", 16))
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d((left..right).log_scale(), (low..high).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(panel.x.0)
        .y_desc(panel.y.0)
        .x_labels(6)
        .y_labels(6)
        .x_label_formatter(&|x| number(*x))
        .y_label_formatter(&|y| number(*y))
        .label_style(("sans-serif", 13))
        .draw()?;
    for curve in curves {
        let (colour, filled) = (curve.colour, curve.filled);
        let style = if filled { colour.filled() } else { colour.stroke_width(1) };
        chart
            .draw_series(LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2)))?
            .label(curve.label.clone())
            .legend(move |(x, y)| Circle::new((x + 9, y), 4, style));
        chart.draw_series(curve.points.iter().map(|p| Circle::new(*p, 4, style)))?;
    }
    legend(&mut chart, panel.legend.clone())?;
    Ok(())
}

/// A number on an axis.
fn number(x: f64) -> String {
    if (0.01..100_000.0).contains(&x) { format!("{x}") } else { format!("{x:.0e}") }
}
