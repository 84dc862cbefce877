//! Values along a row of cells, as a line.

use super::axes::{BACKGROUND, BOTTOM, INK, LABEL, LEFT, MARGIN, Plot, TOP};
use super::axis::Axis;
use super::canvas::{Canvas, Colour, LETTER};
use super::slice::{Plane, SOLID};
use odeum_fields::{AXES, Precision};
use odeum_io::chart::COLOURS;

const WIDTH: usize = 560;
const HEIGHT: usize = 320;
/// Cells that are marked each.
const MARKED: usize = 64;
/// Fraction of the range above and beneath the line.
const AIR: f64 = 0.05;

/// Draws the values of a plane with one row of cells over their places along an axis.
pub(super) fn draw<T: Precision>(plane: &Plane<'_, T>, along: usize, title: &str) -> Canvas {
    let plot = Plot { left: LEFT, top: TOP, width: WIDTH, height: HEIGHT };
    let width = LEFT + WIDTH + LABEL * LETTER / 2 + MARGIN;
    let width = width.max(2 * MARGIN + title.len() * LETTER);
    let mut canvas = Canvas::new(width, TOP + HEIGHT + BOTTOM, BACKGROUND);
    canvas.text(MARGIN, LETTER / 2, title.trim_end(), INK);
    let (low, high) = plane.slice().range.unwrap_or_else(|| {
        let (low, high) = plane.range();
        let air = AIR * (high - low);
        (low - air, high + air)
    });
    let values = Axis::new(low, high, plot.rows(), LABEL);
    let places = plane.axis(along, plot.columns());
    let (columns, rows) = plane.cells();
    let n = columns.max(rows);
    let value = |i: usize| if columns > 1 { plane.value(i, 0) } else { plane.value(0, i) };
    let edge = |i: usize| plot.x(i as f64 / n as f64);
    for i in (0..n).filter(|&i| value(i).is_none()) {
        canvas.fill((edge(i), TOP), (edge(i + 1) - edge(i), HEIGHT), SOLID);
    }
    let (r, g, b) = {
        let c = COLOURS[0];
        (c.0, c.1, c.2)
    };
    let mut pen = Pen { canvas: &mut canvas, plot, colour: [r, g, b] };
    let mut before: Option<(f64, f64)> = None;
    for i in 0..n {
        let number =
            value(i).map(|value| values.fraction(value)).filter(|fraction| fraction.is_finite());
        let point = number.map(|fraction| ((i as f64 + 0.5) / n as f64, fraction));
        if let (Some(from), Some(to)) = (before, point) {
            pen.line(from, to);
        }
        if let Some(at) = point.filter(|_| n <= MARKED) {
            pen.dot(at);
        }
        before = point;
    }
    plot.outline(&mut canvas);
    plot.across(&mut canvas, &places, AXES[along]);
    plot.up(&mut canvas, &values, "");
    canvas
}

/// Draws on a plot, by shares to the right and upward.
struct Pen<'a> {
    canvas: &'a mut Canvas,
    plot: Plot,
    colour: Colour,
}

impl Pen<'_> {
    /// Draws the part of a line that lies within the plot.
    fn line(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64)) {
        // Fractions of the line at which it comes to the lower and to the upper edge.
        let at = |y: f64| (y - y0) / (y1 - y0);
        let (from, to) = match y0 == y1 {
            true if (0.0..=1.0).contains(&y0) => (0.0, 1.0),
            true => return,
            false => (at(0.0).min(at(1.0)).max(0.0), at(0.0).max(at(1.0)).min(1.0)),
        };
        if from > to {
            return;
        }
        let wide = (to - from) * (x1 - x0) * self.plot.width as f64;
        let high = (to - from) * (y1 - y0) * self.plot.height as f64;
        let steps = wide.abs().max(high.abs()).ceil().max(1.0) as usize;
        for n in 0..=steps {
            let fraction = from + (to - from) * n as f64 / steps as f64;
            self.square((x0 + fraction * (x1 - x0), y0 + fraction * (y1 - y0)), 2);
        }
    }

    fn dot(&mut self, at: (f64, f64)) {
        if (0.0..=1.0).contains(&at.1) {
            self.square(at, 5);
        }
    }

    /// A square of pixels, within the plot.
    fn square(&mut self, (x, y): (f64, f64), size: usize) {
        let Plot { left, top, width, height } = self.plot;
        let (x, y) = (self.plot.x(x), self.plot.y(y));
        for row in y.saturating_sub(size / 2).max(top)..(y + size.div_ceil(2)).min(top + height) {
            for column in
                x.saturating_sub(size / 2).max(left)..(x + size.div_ceil(2)).min(left + width)
            {
                self.canvas.set(column, row, self.colour);
            }
        }
    }
}
