//! A picture of when systems crossed their level, over a sweep: of ignition delays, say.

use super::{About, EnsembleResult, Extras, Writer, Written};
use crate::chart::{self, Axis, COLOURS, legend};
use crate::file::stage;
use crate::finding::Finding;
use crate::number::rounded;
use crate::target::Target;
use odeum_ode::{Scalar, Status};
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;
use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

/// The picture as a format.
pub(super) struct Svg;

impl<T: Scalar> Writer<T> for Svg {
    fn key(&self) -> &'static str {
        "svg"
    }

    fn ends(&self, extras: Extras) -> Vec<&'static str> {
        extras.picture.then_some("svg").into_iter().collect()
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
            Err(_) if !result.about.extras.picture => return Ok((Vec::new(), None)),
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

/// Digits with which no two numbers are alike.
const DIGITS: usize = 17;

/// Characters that fit above the picture.
const WIDEST: usize = 90;

/// What is drawn along which axis of the sweep, of which systems.
struct View {
    /// Axis from left to right.
    across: usize,
    /// Axis with a line for each value, and the values that have one.
    lines: Option<(usize, Vec<usize>)>,
    /// Index on every axis, for those that are neither.
    fixed: Vec<usize>,
    /// Row of the table.
    row: usize,
    /// Number among the copies.
    copy: usize,
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
    let times: HashMap<usize, f64> = (0..results.count())
        .map(|r| results.row(r))
        .filter(|row| row.status() == Status::TerminalEvent)
        .map(|row| (row.system, (row.t() - results.span(row.system).0).abs()))
        // The axis is logarithmic.
        .filter(|(_, time)| *time > 0.0)
        .collect();
    let view = View::of(about, across, times.keys().copied()).ok_or(Lack::Points)?;
    let lines = lines(about, &view, &times);
    let axes = axes(about, &view, &lines).ok_or(Lack::Axis)?;
    let mut text = String::new();
    // Drawing into a string fails only where there is nothing to draw.
    render(about, &view, (&lines, axes), &mut text).map_err(|_| Lack::Points)?;
    Ok(text)
}

impl View {
    /// Of the first row of a table, and the first copy, that have one of these systems in the picture, if any has.
    fn of(about: &About<'_>, across: usize, systems: impl Iterator<Item = usize>) -> Option<View> {
        let sweep = &about.sweep;
        let second = (0..sweep.len()).find(|&k| k != across).map(|k| {
            let len = sweep[k].1.len();
            let n = len.min(LINES);
            (k, (0..n).map(|i| if n > 1 { i * (len - 1) / (n - 1) } else { 0 }).collect())
        });
        let fixed = sweep.iter().map(|(_, values)| values.len() / 2).collect();
        let mut view = View { across, lines: second, fixed, row: 0, copy: 0 };
        let (strides, block) = strides(about);
        let is_drawn = |system: &usize| {
            let index = |k: usize| system / strides[k] % sweep[k].1.len();
            (0..sweep.len()).all(|k| match &view.lines {
                _ if k == across => true,
                Some((axis, values)) if *axis == k => values.contains(&index(k)),
                _ => view.fixed[k] == index(k),
            })
        };
        let of = |system: usize| (system / block, system % about.copies);
        (view.row, view.copy) = systems.filter(is_drawn).map(of).min()?;
        Some(view)
    }
}

/// How many neighbouring systems share a value of each axis, and a row of the table: the axes after it, and the copies.
fn strides(about: &About<'_>) -> (Vec<usize>, usize) {
    let mut stride = about.copies;
    let mut strides: Vec<usize> = about
        .sweep
        .iter()
        .rev()
        .map(|(_, values)| {
            let of = stride;
            stride *= values.len();
            of
        })
        .collect();
    strides.reverse();
    (strides, stride)
}

/// The name of a line, and its parts: it is broken where a system did not cross.
type Line = (String, Vec<Vec<(f64, f64)>>);

/// The points of every line, in the order of the axis.
fn lines(about: &About<'_>, view: &View, times: &HashMap<usize, f64>) -> Vec<Line> {
    let sweep = &about.sweep;
    let (strides, block) = strides(about);
    let inverse = is_inverse(about, view);
    let line = |label: String, fixed: &[usize]| -> Line {
        let mut points: Vec<(f64, Option<f64>)> = (0..sweep[view.across].1.len())
            .map(|i| {
                let index = |k: usize| if k == view.across { i } else { fixed[k] };
                let of_sweep = (0..sweep.len()).map(|k| index(k) * strides[k]).sum::<usize>();
                let system = view.row * block + of_sweep + view.copy;
                let x = sweep[view.across].1[i];
                (if inverse { 1000.0 / x } else { x }, times.get(&system).copied())
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let parts = points.split(|(_, time)| time.is_none()).filter(|part| !part.is_empty());
        let crossed = |part: &[(f64, Option<f64>)]| {
            part.iter().filter_map(|(x, time)| Some((*x, (*time)?))).collect()
        };
        (label, parts.map(crossed).collect())
    };
    let Some((second, values)) = &view.lines else {
        return vec![line(String::new(), &view.fixed)];
    };
    let (name, all) = &sweep[*second];
    let drawn: Vec<f64> = values.iter().map(|at| all[*at]).collect();
    let digits = digits_apart(&drawn, &drawn);
    let of = |at: &usize| {
        let mut fixed = view.fixed.clone();
        fixed[*second] = *at;
        line(format!("{name} = {}", rounded(all[*at], digits)), &fixed)
    };
    values.iter().map(of).filter(|(_, parts)| !parts.is_empty()).collect()
}

/// Temperatures are drawn as 1000 K / T: there ignition delays are nearly straight.
fn is_inverse(about: &About<'_>, view: &View) -> bool {
    about.temperature == Some(view.across)
}

/// Values that go through decades by equal factors, as a range that is logarithmic.
fn is_geometric(values: &[f64]) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return false };
    let mean = (last / first).ln() / (sorted.len() - 1) as f64;
    sorted.len() >= 3
        && *first > 0.0
        && last / first >= 10.0
        && sorted.windows(2).all(|pair| ((pair[1] / pair[0]).ln() / mean - 1.0).abs() < 1e-6)
}

/// Both axes, with a margin; `None` where one has no length that is a number, of which no ticks can be found.
fn axes(about: &About<'_>, view: &View, lines: &[Line]) -> Option<[Axis; 2]> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = lines.iter().flat_map(|(_, parts)| parts.iter().flatten().map(of));
        values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)))
    };
    let (x0, x1) = range(|p| p.0);
    let (y0, y1) = range(|p| p.1);
    let by_factors = !is_inverse(about, view) && is_geometric(&about.sweep[view.across].1);
    let across = if by_factors {
        x0 / 1.2..x1 * 1.2
    } else {
        let margin = if x1 > x0 { 0.03 * (x1 - x0) } else { 0.03 * x0.abs().max(1.0) };
        x0 - margin..x1 + margin
    };
    let up = y0 / 1.5..y1 * 1.5;
    let fits = (across.end - across.start).is_finite() && (up.end / up.start).is_finite();
    fits.then(|| [Axis::new(across, by_factors), Axis::new(up, true)])
}

fn render(
    about: &About<'_>,
    view: &View,
    (lines, [across, up]): (&[Line], [Axis; 2]),
    text: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let sweep = &about.sweep;
    let name = sweep[view.across].0;
    let x_name = if is_inverse(about, view) { format!("1000 K / {name}") } else { name.to_owned() };
    let is_fixed =
        |k: &usize| *k != view.across && view.lines.as_ref().is_none_or(|(second, _)| second != k);
    let mut others: Vec<String> = (0..sweep.len())
        .filter(is_fixed)
        .map(|k| {
            let ((name, values), at) = (&sweep[k], view.fixed[k]);
            format!("{name} = {}", rounded(values[at], digits_apart(&[values[at]], values)))
        })
        .collect();
    // One row and one copy of all is drawn.
    let systems: usize = about.shape.iter().map(|(_, len)| len).product();
    if systems > strides(about).1 {
        others.push(format!("table row {}", view.row));
    }
    if about.copies > 1 {
        others.push(format!("copy {}", view.copy));
    }
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
    let [x_digits, y_digits] =
        [(&across, 5), (&up, 4)].map(|(axis, least)| tick_digits(axis, least));
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .caption(title, ("sans-serif", 18))
        .x_label_area_size(44)
        .y_label_area_size(84)
        .build_cartesian_2d(across, up)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(x_name)
        .y_desc(format!("time of the event{unit}"))
        .x_label_formatter(&|x| rounded(*x, x_digits))
        .y_label_formatter(&|y| rounded(*y, y_digits))
        .label_style(("sans-serif", 14))
        .draw()?;
    for (i, (label, parts)) in lines.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        for (j, points) in parts.iter().enumerate() {
            // A line through one point has no length.
            if let [point] = points[..] {
                chart.draw_series([Circle::new(point, 3, colour.filled())])?;
            }
            let points = points.iter().copied();
            let drawn = chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
            if j == 0 && !label.is_empty() {
                drawn.label(label).legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
                });
            }
        }
    }
    if view.lines.is_some() {
        legend(&mut chart, SeriesLabelPosition::UpperLeft)?;
    }
    root.present()?;
    Ok(())
}

/// Digits that say which numbers among all are meant, three at least.
fn digits_apart(meant: &[f64], all: &[f64]) -> usize {
    let are_apart = |digits: &usize| {
        let pairs = meant.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
        pairs.filter(|(a, b)| a != b).all(|(a, b)| rounded(*a, *digits) != rounded(*b, *digits))
    };
    (3..DIGITS).find(are_apart).unwrap_or(DIGITS)
}

/// Digits that tell the ticks of an axis apart.
fn tick_digits(axis: &Axis, least: usize) -> usize {
    let Range { start, end } = axis.range();
    // No two ticks are closer, but for powers of ten and their multiples, which have one digit.
    let closest = (end - start) / 50.0;
    let digits = (start.abs().max(end.abs()) / closest).log10().ceil() + 1.0;
    // Of ends between which there is no number, they have no end.
    (digits.min(DIGITS as f64) as usize).max(least)
}

/// A title in so many characters as the picture is wide; what it is of stays whole where there is room.
fn fitted(title: &str, others: &str) -> String {
    let others = if others.is_empty() { String::new() } else { format!("; {others}") };
    let room = WIDEST.saturating_sub(others.chars().count());
    let title = if room > 1 { cut(title, room) } else { title.to_owned() };
    cut(&(title + &others), WIDEST)
}

/// A text in so many characters at most.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let front: String = text.chars().take(most - 1).collect();
    format!("{}…", front.trim_end())
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
        assert!(long.ends_with("ü…; p = 1"));
        assert_eq!(fitted("a", &"ü".repeat(500)).chars().count(), WIDEST);
    }
}
