//! A picture of when systems crossed their level, over a sweep: of ignition delays, say.

use super::{About, EnsembleResult, Writer, Written};
use crate::chart::{self, COLOURS, legend};
use crate::file::stage;
use crate::finding::Finding;
use crate::number::rounded;
use crate::target::Target;
use odeum_ode::{Scalar, Status};
use plotters::prelude::*;
use std::collections::HashMap;
use std::io::Write;

/// The picture as a format.
pub(super) struct Svg;

impl<T: Scalar> Writer<T> for Svg {
    fn key(&self) -> &'static str {
        "svg"
    }

    fn files(&self) -> &'static [&'static str] {
        &["svg"]
    }

    fn bytes(&self, _npz: u128) -> u128 {
        // A few lines of text.
        0
    }

    fn write(&self, result: &EnsembleResult<'_, T>, target: &Target) -> Result<Written, Finding> {
        let path = target.file("svg");
        let (message, help) = match draw(result) {
            Ok(picture) => {
                let staged = stage(&path, |file| file.write_all(picture.as_bytes()))?;
                return Ok((vec![staged], None));
            }
            // Reading the case has said so.
            Err(_) if !result.about.can_be_drawn => return Ok((Vec::new(), None)),
            Err(Lack::Points) => (
                "no system of those in the picture came to its level: nothing is drawn",
                "change the level or the span in [time]; the statuses say how systems ended",
            ),
            Err(Lack::Axis) => (
                "values or times are too far apart for an axis: nothing is drawn",
                "sweep a narrower range, or draw the numbers of the NPZ file otherwise",
            ),
        };
        let lack = Finding::warning(message).in_file(path.display().to_string()).help(help);
        Ok((Vec::new(), Some(lack)))
    }
}

/// Lines drawn, one for each value of the second axis.
const LINES: usize = 6;

/// Characters that fit above the picture.
const WIDEST: usize = 90;

/// What is drawn along which axis of the sweep.
struct View {
    /// Axis from left to right.
    across: usize,
    /// Axis with a line for each value.
    lines: Option<usize>,
    /// Index on every axis, for those that are neither.
    fixed: Vec<usize>,
}

/// What a picture lacks.
enum Lack {
    /// There is nothing to draw: no sweep, or nothing crossed.
    Points,
    /// Its ends are further apart than the largest number.
    Axis,
}

/// The picture as SVG.
fn draw<T: Scalar>(result: &EnsembleResult<'_, T>) -> Result<String, Lack> {
    let (about, results) = (&result.about, result.rows);
    let sweep = &about.sweep;
    let across = about.temperature.or((!sweep.is_empty()).then_some(0)).ok_or(Lack::Points)?;
    let view = View {
        across,
        lines: (0..sweep.len()).find(|&k| k != across),
        fixed: sweep.iter().map(|(_, values)| values.len() / 2).collect(),
    };
    let times: HashMap<usize, f64> = (0..results.count())
        .map(|r| results.row(r))
        .filter(|row| row.status() == Status::TerminalEvent)
        .map(|row| (row.system, (row.t() - results.span(row.system).0).abs()))
        // The axis is logarithmic.
        .filter(|(_, time)| *time > 0.0)
        .collect();
    let lines = lines(about, &view, &times);
    let points = || lines.iter().flat_map(|(_, points)| points.iter().copied());
    points().next().ok_or(Lack::Points)?;
    let ends = ends(&lines).ok_or(Lack::Axis)?;
    let mut text = String::new();
    // Drawing into a string fails only where there is nothing to draw.
    render(about, &view, (&lines, ends), &mut text).map_err(|_| Lack::Points)?;
    Ok(text)
}

type Line = (String, Vec<(f64, f64)>);

/// The points of every line.
fn lines(about: &About<'_>, view: &View, times: &HashMap<usize, f64>) -> Vec<Line> {
    let sweep = &about.sweep;
    // How many neighbouring systems share a value: the axes after it, and the copies.
    let strides: Vec<usize> = (0..sweep.len())
        .map(|k| sweep[k + 1..].iter().map(|(_, values)| values.len()).product::<usize>())
        .map(|stride| stride * about.copies)
        .collect();
    let inverse = is_inverse(about, view);
    let line = |label: String, fixed: &[usize]| -> Line {
        let values = &sweep[view.across].1;
        let points = values.iter().enumerate().filter_map(|(i, &x)| {
            let index = |k: usize| if k == view.across { i } else { fixed[k] };
            let system = (0..sweep.len()).map(|k| index(k) * strides[k]).sum::<usize>();
            Some((if inverse { 1000.0 / x } else { x }, *times.get(&system)?))
        });
        (label, points.collect())
    };
    let Some(second) = view.lines else { return vec![line(String::new(), &view.fixed)] };
    let (name, values) = &sweep[second];
    let n = values.len().min(LINES);
    (0..n)
        .map(|i| if n > 1 { i * (values.len() - 1) / (n - 1) } else { 0 })
        .map(|at| {
            let mut fixed = view.fixed.clone();
            fixed[second] = at;
            line(format!("{name} = {}", rounded(values[at], 3)), &fixed)
        })
        .filter(|(_, points)| !points.is_empty())
        .collect()
}

/// Temperatures are drawn as 1000 K / T: there ignition delays are nearly straight.
fn is_inverse(about: &About<'_>, view: &View) -> bool {
    about.temperature == Some(view.across)
}

/// The ends of both axes, with a margin; `None` where the axis has no length that is a number, of which no
/// ticks can be found.
fn ends(lines: &[Line]) -> Option<[(f64, f64); 2]> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = lines.iter().flat_map(|(_, points)| points.iter().map(of));
        values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)))
    };
    let (x0, x1) = range(|p| p.0);
    let (y0, y1) = range(|p| p.1);
    let margin = if x1 > x0 { 0.03 * (x1 - x0) } else { 0.03 * x0.abs().max(1.0) };
    let [across, up] = [(x0 - margin, x1 + margin), (y0 / 1.5, y1 * 1.5)];
    let fits = (across.1 - across.0).is_finite() && (up.1 / up.0).is_finite();
    fits.then_some([across, up])
}

fn render(
    about: &About<'_>,
    view: &View,
    (lines, [across, up]): (&[Line], [(f64, f64); 2]),
    text: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let sweep = &about.sweep;
    let name = sweep[view.across].0;
    let x_name = if is_inverse(about, view) { format!("1000 K / {name}") } else { name.to_owned() };
    let others: Vec<String> = (0..sweep.len())
        .filter(|k| *k != view.across && Some(*k) != view.lines)
        .map(|k| format!("{} = {}", sweep[k].0, rounded(sweep[k].1[view.fixed[k]], 3)))
        .collect();
    let title = match about.title {
        Some(title) => title,
        // That of a gas begins with the path of its mechanism.
        None => about.system.rsplit(std::path::is_separator).next().unwrap_or_default(),
    };
    let title = fitted(&chart::title(title), &others.join(", "));
    // Gases have units; nobody knows those of other systems.
    let unit = if about.is_direct { "" } else { " [s]" };
    let root = SVGBackend::with_string(text, (860, 520)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .caption(title, ("sans-serif", 18))
        .x_label_area_size(44)
        .y_label_area_size(84)
        .build_cartesian_2d(across.0..across.1, (up.0..up.1).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(x_name)
        .y_desc(format!("time of the event{unit}"))
        .y_label_formatter(&|y| format!("{y:.0e}"))
        .label_style(("sans-serif", 14))
        .draw()?;
    for (i, (label, points)) in lines.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        // A line through one point has no length.
        if let [point] = points[..] {
            chart.draw_series([Circle::new(point, 3, colour.filled())])?;
        }
        let drawn =
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
        if !label.is_empty() {
            drawn.label(label).legend(move |(x, y)| {
                PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
            });
        }
    }
    if view.lines.is_some() {
        legend(&mut chart, SeriesLabelPosition::UpperLeft)?;
    }
    root.present()?;
    Ok(())
}

/// A title in so many characters as the picture is wide.
fn fitted(title: &str, others: &str) -> String {
    let whole = if others.is_empty() { title.to_owned() } else { format!("{title}; {others}") };
    if whole.chars().count() <= WIDEST {
        return whole;
    }
    let cut: String = whole.chars().take(WIDEST - 1).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_fit() {
        assert_eq!(fitted("a", ""), "a");
        assert_eq!(fitted("a", "p = 1"), "a; p = 1");
        let long = fitted(&"ü".repeat(500), "p = 1");
        assert_eq!(long.chars().count(), WIDEST);
        assert!(long.ends_with('…'));
    }
}
