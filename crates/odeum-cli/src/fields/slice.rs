//! Pictures of planes of cells.

use super::canvas::{Canvas, Colour, LETTER, short, within};
use crate::case::{Colours, Slice};
use odeum_fields::{AXES, Field, Grid, Mask, Precision};

/// Pixels along the longer edge of the plane, about.
const EDGE: usize = 512;
/// Pixels around the plane.
const MARGIN: usize = 12;
const TITLE: usize = 28;
/// The bar of colours, and the room for its numbers.
const BAR: usize = 16;
const NUMBERS: usize = 12 * LETTER;

const PAPER: Colour = [255, 255, 255];
const INK: Colour = [40, 40, 40];
const SOLID: Colour = [190, 190, 190];
const SPOILED: Colour = [255, 0, 255];

/// Draws a plane: the first axis to the right, the second upward; solid cells are grey.
pub(super) fn draw<T: Precision>(
    slice: &Slice,
    name: &str,
    (grid, mask): (&Grid, Option<&Mask>),
    field: &Field<T>,
    t: f64,
) -> Canvas {
    let (across, up) = match slice.normal {
        0 => (1, 2),
        1 => (0, 2),
        _ => (0, 1),
    };
    let shape = grid.shape();
    let value = |i: usize, j: usize| {
        let mut cell = [0; 3];
        (cell[slice.normal], cell[across], cell[up]) = (slice.plane, i, j);
        let belongs = mask.is_none_or(|mask| mask.contains(cell));
        belongs.then(|| field.get(slice.species, cell).to_f64())
    };
    let (columns, rows) = (shape[across], shape[up]);
    let (low, high) = slice.range.unwrap_or_else(|| {
        let all = (0..rows).flat_map(|j| (0..columns).map(move |i| (i, j)));
        let values = all.filter_map(|(i, j)| value(i, j));
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    });
    // Cells are drawn as large as their edges say.
    let spacing = grid.spacing();
    let extent = (columns as f64 * spacing[across]).max(rows as f64 * spacing[up]);
    let size = |n: usize, h: f64| {
        ((EDGE as f64 * h / extent).round() as usize).clamp(1, EDGE / n.min(EDGE))
    };
    let (w, h) = (size(columns, spacing[across]), size(rows, spacing[up]));
    let (width, height) = (columns * w, rows * h);
    let bar_height = height.max(4 * LETTER);
    let title = format!("{name}   t = {}", short(t));
    let place = grid.centre(slice.normal, slice.plane);
    let where_ = format!("{} = {}", AXES[slice.normal], short(place));
    let title = if shape[slice.normal] > 1 { format!("{title}   {where_}") } else { title };
    let picture = MARGIN + width + MARGIN + BAR + NUMBERS + MARGIN;
    let mut canvas = Canvas::new(
        picture.max(2 * MARGIN + title.chars().count() * LETTER),
        TITLE + bar_height + MARGIN,
        PAPER,
    );
    canvas.text(MARGIN, TITLE - 2 * LETTER, &title, INK);
    let scale = |value: f64| if high > low { (value - low) / (high - low) } else { 0.5 };
    for j in 0..rows {
        for i in 0..columns {
            let colour = value(i, j).map_or(SOLID, |value| colour(slice.colours, scale(value)));
            let corner = (MARGIN + i * w, TITLE + (rows - 1 - j) * h);
            canvas.fill(corner, (w, h), colour);
        }
    }
    let left = MARGIN + width + MARGIN;
    for y in 0..bar_height {
        let share = 1.0 - y as f64 / (bar_height - 1) as f64;
        canvas.fill((left, TITLE + y), (BAR, 1), colour(slice.colours, share));
    }
    let numbers = left + BAR + LETTER / 2;
    for (share, y) in [(1.0, 0), (0.5, (bar_height - LETTER) / 2), (0.0, bar_height - LETTER)] {
        canvas.text(numbers, TITLE + y, &within(low + share * (high - low), high - low), INK);
    }
    canvas
}

/// The colour of a number from 0 to 1.
pub(super) fn colour(colours: Colours, share: f64) -> Colour {
    if share.is_nan() {
        return SPOILED;
    }
    let map = match colours {
        Colours::Viridis => colorous::VIRIDIS,
        Colours::Magma => colorous::MAGMA,
        Colours::Cividis => colorous::CIVIDIS,
    };
    let colour = map.eval_continuous(share.clamp(0.0, 1.0));
    [colour.r, colour.g, colour.b]
}
