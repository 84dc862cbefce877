//! The frame around a picture: ticks, numbers and names of its axes.

use super::axis::Axis;
use super::canvas::{Canvas, Colour, LETTER};

pub(super) const BACKGROUND: Colour = [255, 255, 255];
pub(super) const INK: Colour = [40, 40, 40];

/// Letters of a label.
pub(super) const LABEL: usize = 8;
const TICK: usize = 4;
const GAP: usize = 4;

/// Pixels around what is drawn: for a title above, labels and names beside and beneath.
pub(super) const TOP: usize = 30;
pub(super) const LEFT: usize = LETTER * (LABEL + 1) + 3 * GAP + TICK;
pub(super) const BOTTOM: usize = 2 * LETTER + 3 * GAP + TICK;
pub(super) const MARGIN: usize = 12;

/// A rectangle of pixels.
#[derive(Clone, Copy)]
pub(super) struct Plot {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Plot {
    /// Ticks that have room side by side.
    pub(super) fn columns(&self) -> usize {
        self.width / ((LABEL + 2) * LETTER)
    }

    /// Ticks that have room above each other.
    pub(super) fn rows(&self) -> usize {
        self.height / (5 * LETTER)
    }

    /// Pixel of a fraction from left to right; that of 1 is one beyond the rectangle.
    pub(super) fn x(&self, fraction: f64) -> usize {
        self.left + (fraction.clamp(0.0, 1.0) * self.width as f64).round() as usize
    }

    /// Pixel of a fraction upward; that of 1 is at the top.
    pub(super) fn y(&self, fraction: f64) -> usize {
        self.top + ((1.0 - fraction.clamp(0.0, 1.0)) * self.height as f64).round() as usize
    }

    /// Draws the outline, just outside.
    pub(super) fn outline(&self, canvas: &mut Canvas) {
        let Plot { left, top, width, height } = *self;
        for y in [top - 1, top + height] {
            canvas.fill((left - 1, y), (width + 2, 1), INK);
        }
        for x in [left - 1, left + width] {
            canvas.fill((x, top - 1), (1, height + 2), INK);
        }
    }

    /// Draws the axis beneath, with its name.
    pub(super) fn across(&self, canvas: &mut Canvas, axis: &Axis, name: &str) {
        let beneath = self.top + self.height;
        let labels = beneath + TICK + GAP;
        let mut free = 0;
        for (value, label) in &axis.ticks {
            let x = self.x(axis.fraction(*value)).saturating_sub(1);
            canvas.fill((x, beneath), (1, TICK), INK);
            let (start, length) =
                (x.saturating_sub(label.len() * LETTER / 2), label.len() * LETTER);
            // In a narrow picture not all labels have room.
            if start >= free {
                canvas.text(start, labels, label, INK);
                free = start + length + LETTER;
            }
        }
        let names = labels + LETTER + GAP;
        canvas.text(self.left + self.width / 2, names, name, INK);
        if let Some(offset) = &axis.offset {
            canvas.text(self.left + self.width / 2 + 2 * LETTER, names, offset, INK);
        }
    }

    /// Draws the axis to the left, with its name.
    pub(super) fn up(&self, canvas: &mut Canvas, axis: &Axis, name: &str) {
        for (y, label) in self.heights(axis) {
            canvas.fill((self.left - 1 - TICK, y), (TICK, 1), INK);
            let length = label.len() * LETTER;
            let start = (self.left - 1 - TICK - GAP).saturating_sub(length);
            canvas.text(start, y.saturating_sub(LETTER / 2), label, INK);
        }
        canvas.text(GAP, self.top + self.height / 2, name, INK);
        if let Some(offset) = &axis.offset {
            canvas.text(GAP, self.top - LETTER - GAP, offset, INK);
        }
    }

    /// Draws an axis to the right, without a name.
    pub(super) fn right(&self, canvas: &mut Canvas, axis: &Axis) {
        let right = self.left + self.width;
        for (y, label) in self.heights(axis) {
            canvas.fill((right, y), (TICK, 1), INK);
            canvas.text(right + TICK + GAP, y.saturating_sub(LETTER / 2), label, INK);
        }
        if let Some(offset) = &axis.offset {
            let latest = canvas.width.saturating_sub(offset.len() * LETTER + GAP);
            canvas.text(self.left.min(latest), self.top - LETTER - GAP, offset, INK);
        }
    }

    /// Rows of pixels and labels of the ticks of an upward axis.
    fn heights<'a>(&self, axis: &'a Axis) -> impl Iterator<Item = (usize, &'a String)> {
        let plot = *self;
        let row = move |value: f64| plot.y(axis.fraction(value)).min(plot.top + plot.height - 1);
        axis.ticks.iter().map(move |(value, label)| (row(*value), label))
    }
}
