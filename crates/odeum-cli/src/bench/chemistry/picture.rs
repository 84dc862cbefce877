//! The picture of a study of chemistry: a panel for each part that has curves.

use super::row::Row;
use odeum_io::chart::{self, Axis, COLOURS, legend};
use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Width and height of a panel.
const PANEL: (u32, u32) = (640, 460);

/// What a part shows as curves.
struct Panel {
    part: &'static str,
    /// Which of its rows.
    rows: fn(&Row) -> bool,
    title: &'static str,
    x: &'static str,
    y: &'static str,
    /// What a row adds to its curve.
    points: fn(&Row) -> Vec<(f64, f64)>,
    /// What has a colour of its own.
    name: fn(&Row) -> String,
    second: Second,
    legend: SeriesLabelPosition,
    axes: Axes,
}

/// What tells curves of one colour apart: circles are filled or open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Second {
    /// The global step, of which the longest has filled circles.
    Step,
    /// The device, of which GPUs have filled circles; each global step has a panel.
    Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Axes {
    Logarithmic,
    Linear,
}

const TIME: &str = "µs per reactor";
const ERROR: &str = "error E that 95 % of the reactors stay below";

const PANELS: [Panel; 6] = [
    Panel {
        part: "tolerances",
        rows: |row| row.first_step == "automatic",
        title: "Work and precision",
        x: ERROR,
        y: TIME,
        points: |row| vec![(error(row), microseconds(row))],
        name: |row| row.method.clone(),
        second: Second::Step,
        legend: SeriesLabelPosition::UpperRight,
        axes: Axes::Logarithmic,
    },
    Panel {
        part: "sizes",
        rows: |_| true,
        title: "From few reactors to many",
        x: "reactors",
        y: TIME,
        points: |row| vec![(row.systems as f64, microseconds(row))],
        name: |row| row.method.clone(),
        second: Second::Place,
        legend: SeriesLabelPosition::UpperRight,
        axes: Axes::Logarithmic,
    },
    Panel {
        part: "convergence",
        rows: |_| true,
        title: "Steps of one size",
        x: "size of a step [s]",
        y: ERROR,
        points: |row| vec![(row.fixed_step.unwrap_or(f64::NAN), error(row))],
        name: |row| row.method.clone(),
        second: Second::Place,
        legend: SeriesLabelPosition::UpperLeft,
        axes: Axes::Logarithmic,
    },
    Panel {
        part: "jacobians",
        rows: |row| !is_on_gpu(row),
        title: "Jacobians: exact, by finite differences, approximate",
        x: "right-hand sides per reactor",
        y: TIME,
        points: |row| vec![(row.nfev as f64 / row.systems as f64, microseconds(row))],
        name: |row| format!("{}, {}", row.method, row.jacobian),
        second: Second::Step,
        legend: SeriesLabelPosition::LowerRight,
        axes: Axes::Logarithmic,
    },
    Panel {
        part: "jacobians",
        rows: is_on_gpu,
        title: "Jacobians on the GPU: exact, by finite differences, approximate",
        x: "reactors",
        y: TIME,
        points: |row| vec![(row.systems as f64, microseconds(row))],
        name: |row| format!("{}, {}", row.method, row.jacobian),
        second: Second::Place,
        legend: SeriesLabelPosition::UpperRight,
        axes: Axes::Logarithmic,
    },
    Panel {
        part: "orders",
        rows: |row| row.order == "random",
        title: "Divergence of steps in lockstep",
        x: "D of a warp",
        y: "warps [%]",
        points: |row| histogram(row.divergences.as_deref().unwrap_or_default()),
        name: |row| row.method.clone(),
        second: Second::Step,
        legend: SeriesLabelPosition::UpperMiddle,
        axes: Axes::Linear,
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

fn error(row: &Row) -> f64 {
    row.error_p95.unwrap_or(f64::NAN)
}

fn is_on_gpu(row: &Row) -> bool {
    row.device.starts_with("cuda")
}

/// Shares of equal parts of the range from 0 to 1, in percent over their middles.
fn histogram(shares: &[f64]) -> Vec<(f64, f64)> {
    let middle = |k: usize| (k as f64 + 0.5) / shares.len() as f64;
    shares.iter().enumerate().map(|(k, share)| (middle(k), 100.0 * share)).collect()
}

fn place(row: &Row) -> String {
    match (is_on_gpu(row), row.threads) {
        (true, _) => "GPU".to_owned(),
        (false, 1) => "1 thread".to_owned(),
        (false, threads) => format!("{threads} threads"),
    }
}

/// Draws rows of a study of a mechanism as SVG.
pub(super) fn draw(
    title: (&str, &str),
    rows: &[Row],
) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    render(title, rows, &mut text)?;
    Ok(text)
}

fn render(
    (study, mechanism): (&str, &str),
    rows: &[Row],
    text: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let panels: Vec<(&Panel, String, Vec<Curve>)> =
        PANELS.iter().flat_map(|panel| charts(panel, rows)).collect();
    let columns = panels.len().clamp(1, 2);
    let lines = panels.len().div_ceil(columns).max(1);
    let size = (PANEL.0 * columns as u32, PANEL.1 * lines as u32 + 40);
    let root = SVGBackend::with_string(text, size).into_drawing_area();
    root.fill(&WHITE)?;
    let file = Path::new(mechanism).file_name().unwrap_or_default().to_string_lossy();
    let title = chart::title(&format!("odeum bench {study}: {file}"));
    let root = root.titled(&title, ("sans-serif", 20))?;
    for ((panel, title, curves), area) in panels.iter().zip(root.split_evenly((lines, columns))) {
        draw_panel(panel, title, curves, &area)?;
    }
    root.present()?;
    Ok(())
}

/// The charts of a panel, each with its title: one, or one for each global step.
fn charts<'a>(panel: &'a Panel, rows: &[Row]) -> Vec<(&'a Panel, String, Vec<Curve>)> {
    let wanted = |row: &&Row| row.part == panel.part && row.failed == 0 && (panel.rows)(row);
    let rows: Vec<&Row> = rows.iter().filter(wanted).collect();
    if panel.second == Second::Step {
        let curves = curves(panel, &rows);
        let one = (!curves.is_empty()).then(|| (panel, panel.title.to_owned(), curves));
        return one.into_iter().collect();
    }
    let mut steps: Vec<f64> = rows.iter().map(|row| row.dt).collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    let chart = |dt: f64| {
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.dt == dt).collect();
        (panel, format!("{}, {dt:.0e} s", panel.title), curves(panel, &rows))
    };
    steps.into_iter().map(chart).filter(|(_, _, curves)| !curves.is_empty()).collect()
}

fn curves(panel: &Panel, rows: &[&Row]) -> Vec<Curve> {
    let longest = rows.iter().map(|row| row.dt).fold(0.0, f64::max);
    let several = rows.iter().any(|row| place(row) != place(rows[0]));
    let mut lines: BTreeMap<(String, String, bool), Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows {
        let mut name = (panel.name)(row);
        let (second, filled) = match panel.second {
            Second::Step => (format!("{:.0e} s", row.dt), row.dt == longest),
            Second::Place => (place(row), is_on_gpu(row) || !several),
        };
        if panel.second == Second::Step && several {
            name = format!("{name}, {}", place(row));
        }
        let shown = |&(x, y): &(f64, f64)| panel.axes == Axes::Linear || x > 0.0 && y > 0.0;
        let points = (panel.points)(row).into_iter().filter(shown);
        lines.entry((second, name, filled)).or_default().extend(points);
    }
    lines.retain(|_, points| !points.is_empty());
    let mut names: Vec<String> = lines.keys().map(|(_, name, _)| name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let colour = |name: &str| {
        COLOURS[names.iter().position(|other| other == name).unwrap_or(0) % COLOURS.len()]
    };
    let curve = |((second, name, filled), points): ((String, String, bool), _)| Curve {
        label: format!("{name}, {second}"),
        colour: colour(&name),
        filled,
        points,
    };
    lines.into_iter().map(curve).collect()
}

fn draw_panel(
    panel: &Panel,
    title: &str,
    curves: &[Curve],
    area: &DrawingArea<SVGBackend<'_>, Shift>,
) -> Result<(), Box<dyn std::error::Error>> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = curves.iter().flat_map(|curve| &curve.points).map(of);
        values.fold((f64::MAX, f64::MIN_POSITIVE), |(a, b), v| (a.min(v), b.max(v)))
    };
    let (x, y) = (range(|p| p.0), range(|p| p.1));
    let mut chart = ChartBuilder::on(area);
    chart.margin(16).caption(title, ("sans-serif", 16)).x_label_area_size(44).y_label_area_size(64);
    if panel.axes == Axes::Linear {
        return draw_curves(chart.build_cartesian_2d(0.0..1.0, 0.0..1.05 * y.1)?, panel, curves);
    }
    let wider = |(least, most): (f64, f64)| (least / 1.5, most * 1.5);
    let ((left, right), (low, high)) = (wider(x), wider(y));
    // Room for the legend above the curves.
    let above = !matches!(panel.legend, SeriesLabelPosition::LowerRight);
    let high = if above { high * (high / low).sqrt() } else { high };
    let [across, up] = [left..right, low..high].map(|range| Axis::new(range, true));
    draw_curves(chart.build_cartesian_2d(across, up)?, panel, curves)
}

fn draw_curves<'a, X, Y>(
    mut chart: ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>,
    panel: &Panel,
    curves: &[Curve],
) -> Result<(), Box<dyn std::error::Error>>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(panel.x)
        .y_desc(panel.y)
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
    // Sums of tenths are not exact.
    let rounded = (x * 1e6).round() / 1e6;
    if x == 0.0 || (0.01..100_000.0).contains(&x) {
        format!("{rounded}")
    } else {
        format!("{x:.0e}")
    }
}
