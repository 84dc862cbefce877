//! Pictures of planes of cells, and of the lines that planes are where they have one row of cells.

use super::axes::{BACKGROUND, BOTTOM, INK, LABEL, LEFT, MARGIN, Plot, TOP};
use super::axis::Axis;
use super::canvas::{Canvas, Colour, LETTER};
use super::colour::Scale;
use super::profile;
use crate::report::rounded;
use odeum_case::Slice;
use odeum_fields::{AXES, Field, Grid, Mask, Precision};

/// Pixels along the longer edge of the plane, about, and along the shorter one, at least.
const EDGE: usize = 512;
const LEAST: usize = 32;
/// The bar of colours, and the room for its numbers.
const BAR: usize = 16;
const NUMBERS: usize = 10;
/// Letters that a time takes at most, so that all pictures of a run have one size.
const TIME: usize = 10;

pub(super) const SOLID: Colour = [190, 190, 190];

/// A plane of cells: its first axis goes to the right, its second upward.
pub(super) struct Plane<'a, T: Precision> {
    slice: &'a Slice,
    grid: &'a Grid,
    mask: Option<&'a Mask>,
    field: &'a Field<T>,
    across: usize,
    up: usize,
}

/// Draws a plane; solid cells are grey.
pub(super) fn draw<T: Precision>(
    slice: &Slice,
    name: &str,
    (grid, mask): (&Grid, Option<&Mask>),
    field: &Field<T>,
    t: f64,
) -> Canvas {
    let (across, up) = slice.axes();
    let plane = Plane { slice, grid, mask, field, across, up };
    let place = match grid.shape()[slice.normal] {
        1 => String::new(),
        _ => {
            let place = grid.centre(slice.normal, slice.plane);
            format!("   {} = {}", AXES[slice.normal], rounded(place, 4))
        }
    };
    let title = format!("{name}   t = {:<TIME$}{place}", rounded(t, 4));
    match slice.line(grid) {
        Some(along) => profile::draw(&plane, along, &title),
        None => plane.draw(&title),
    }
}

impl<T: Precision> Plane<'_, T> {
    /// The value of a cell; `None` of one that does not belong to the domain.
    pub(super) fn value(&self, i: usize, j: usize) -> Option<f64> {
        let mut cell = [0; 3];
        (cell[self.slice.normal], cell[self.across], cell[self.up]) = (self.slice.plane, i, j);
        let belongs = self.mask.is_none_or(|mask| mask.contains(cell));
        belongs.then(|| self.field.get(self.slice.species, cell).to_f64())
    }

    pub(super) fn slice(&self) -> &Slice {
        self.slice
    }

    /// Cells to the right and upward.
    pub(super) fn cells(&self) -> (usize, usize) {
        let shape = self.grid.shape();
        (shape[self.across], shape[self.up])
    }

    /// The least and the largest number.
    pub(super) fn range(&self) -> (f64, f64) {
        let (columns, rows) = self.cells();
        let all = (0..rows).flat_map(|j| (0..columns).map(move |i| (i, j)));
        let values = all.filter_map(|(i, j)| self.value(i, j)).filter(|x| x.is_finite());
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    }

    /// The edges of the box along an axis.
    pub(super) fn axis(&self, axis: usize, ticks: usize) -> Axis {
        let (low, n) = (self.grid.origin()[axis], self.grid.shape()[axis]);
        Axis::new(low, low + n as f64 * self.grid.spacing()[axis], ticks, LABEL)
    }

    fn draw(&self, title: &str) -> Canvas {
        let (columns, rows) = self.cells();
        // Cells are drawn as large as their edges say, but a plane has some height and width.
        let spacing = self.grid.spacing();
        let (hx, hy) = (spacing[self.across], spacing[self.up]);
        let extent = (columns as f64 * hx).max(rows as f64 * hy);
        // Rounded down along both axes, so that square cells stay square, but for rounding.
        let size = |n: usize, h: f64| {
            let size = (EDGE as f64 * h / extent * (1.0 + 1e-9)) as usize;
            size.max(LEAST.div_ceil(n))
        };
        let (w, h) = (size(columns, hx), size(rows, hy));
        let plot = Plot { left: LEFT, top: TOP, width: columns * w, height: rows * h };
        let bar = Plot {
            left: LEFT + plot.width + MARGIN,
            top: TOP,
            width: BAR,
            height: plot.height.max(LEAST * 3),
        };
        let width = bar.left + BAR + (NUMBERS + 1) * LETTER + MARGIN;
        let mut canvas = Canvas::new(
            width.max(2 * MARGIN + title.len() * LETTER),
            TOP + bar.height + BOTTOM,
            BACKGROUND,
        );
        canvas.text(MARGIN, LETTER / 2, title.trim_end(), INK);
        let scale = Scale::new(self.slice.colours, self.slice.range, self.range());
        for j in 0..rows {
            for i in 0..columns {
                let colour = self.value(i, j).map_or(SOLID, |value| scale.colour(value));
                canvas.fill((LEFT + i * w, TOP + (rows - 1 - j) * h), (w, h), colour);
            }
        }
        plot.outline(&mut canvas);
        let (across, up) =
            (self.axis(self.across, plot.columns()), self.axis(self.up, plot.rows()));
        plot.across(&mut canvas, &across, AXES[self.across]);
        plot.up(&mut canvas, &up, AXES[self.up]);

        let numbers = Axis::new(scale.low, scale.high, bar.rows(), NUMBERS);
        for y in 0..bar.height {
            let fraction = 1.0 - (y as f64 + 0.5) / bar.height as f64;
            let value = numbers.low + fraction * (numbers.high - numbers.low);
            canvas.fill((bar.left, TOP + y), (BAR, 1), scale.colour(value));
        }
        bar.outline(&mut canvas);
        bar.right(&mut canvas, &numbers);
        canvas
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_case::Colours;

    fn picture(shape: [usize; 3], value: impl Fn(f64) -> f64) -> Canvas {
        let grid = Grid::new(shape, 1.0).unwrap();
        let field = Field::<f64>::from_fn(&grid, 1, |_, [x, _, _]| value(x)).unwrap();
        let (normal, colours) = (if shape[2] == 1 { 2 } else { 1 }, Colours::Viridis);
        let slice = Slice { species: 0, normal, plane: 0, range: None, colours };
        draw(&slice, "u", (&grid, None), &field, 0.5)
    }

    #[test]
    fn no_picture_is_a_streak() {
        for shape in [[300, 1, 1], [1, 300, 1], [1, 1, 300], [1, 1, 1], [600, 2, 1], [2, 600, 1]] {
            let canvas = picture(shape, |x| x);
            assert!(canvas.width > 100 && canvas.height > 100, "{shape:?}");
        }
    }

    #[test]
    fn pictures_of_a_run_have_one_size() {
        let size = |value: fn(f64) -> f64| {
            let canvas = picture([40, 30, 1], value);
            (canvas.width, canvas.height)
        };
        let first = size(|x| x);
        assert_eq!(size(|x| 1e8 + x), first);
        assert_eq!(size(|x| if x < 9.0 { f64::MAX } else { f64::MIN }), first);
        assert_eq!(size(|x| 1e-300 * x), first);
    }
}
