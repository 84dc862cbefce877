//! Balls and boxes: parts of the box of a field.

use super::three;
use crate::case::reader::{Field, Section};
use odeum_fields::{AXES, Grid, Mask};
use odeum_ode::Real;

/// A part of the box, its surface included.
#[derive(Clone, Debug)]
pub enum Shape {
    Ball { centre: [f64; 3], radius: f64 },
    Box { from: [f64; 3], to: [f64; 3] },
}

impl Shape {
    /// How a ball is written, or a box.
    pub(super) fn help(ball: bool) -> &'static str {
        if ball {
            "as { centre = [0.0, 0.0, 0.0], radius = 1.0 }"
        } else {
            "as { from = [0.0, 0.0, 0.0], to = [1.0, 1.0, 1.0] }"
        }
    }

    /// Where it is.
    pub(super) fn words(&self) -> String {
        match self {
            Shape::Ball { centre, radius } => {
                format!("within {radius} of {centre:?}")
            }
            Shape::Box { from, to } => format!("from {from:?} to {to:?}"),
        }
    }

    /// Reads what the table of a field says of the shape; one that holds no cell is warned of.
    pub(super) fn read(
        field: &Field<'_>,
        section: &Section<'_>,
        ball: bool,
        grid: Option<&Grid>,
    ) -> Option<Shape> {
        let help = Shape::help(ball);
        let point = |key| {
            let field = section.need(key, help)?;
            three(&field, |x: &Field<'_>| x.number()).map(|point| (point, field))
        };
        let shape = if ball {
            let radius = section.need("radius", help).and_then(|field| match field.number()? {
                radius if radius >= 0.0 => Some(radius),
                _ => field.refuse("a radius cannot be negative", "give zero or more"),
            });
            let (centre, _) = point("centre").zip(radius)?.0;
            Shape::Ball { centre, radius: radius? }
        } else {
            let (from, to) = (point("from"), point("to"));
            let ((from, _), (to, to_field)) = (from?, to?);
            if let Some(axis) = (0..3).find(|&axis| from[axis] > to[axis]) {
                let message = format!("the box ends before it begins along {}", AXES[axis]);
                let help = format!(
                    "`from` is its lowest corner, `to` its highest: {} and {} along {}",
                    to[axis], from[axis], AXES[axis]
                );
                return to_field.refuse(message, &help);
            }
            Shape::Box { from, to }
        };
        if let Some(grid) = grid.filter(|grid| !shape.holds_cells(grid)) {
            let [x, y, z] = shape.nearest(grid);
            let message = if ball { "the ball holds no cell" } else { "the box holds no cell" };
            let help =
                format!("cells belong by their centres, of which the nearest is [{x}, {y}, {z}]");
            field.warn(message, help);
        }
        Some(shape)
    }

    /// Whether it holds a cell.
    pub(super) fn holds_cells(&self, grid: &Grid) -> bool {
        self.holds(self.nearest(grid), grid)
    }

    /// Whether it holds a cell of the domain.
    pub(super) fn meets(&self, grid: &Grid, mask: &Mask) -> bool {
        // Cells that it may hold along an axis; rounding of their centres may take one in on either side.
        let range = |axis: usize| {
            let (low, high) = match self {
                Shape::Ball { centre, radius } => (centre[axis] - radius, centre[axis] + radius),
                Shape::Box { from, to } => (from[axis], to[axis]),
            };
            let count = grid.shape()[axis];
            let number = |x: f64| (x - grid.origin()[axis]) / grid.spacing()[axis] - 0.5;
            match count {
                1 => 0..1,
                _ => {
                    (number(low) - 1.0).max(0.0) as usize
                        ..count.min((number(high) + 3.0).max(0.0) as usize)
                }
            }
        };
        let [x, y, z] = [0, 1, 2].map(range);
        z.into_iter().any(|k| {
            y.clone().any(|j| {
                x.clone().any(|i| {
                    let cell = [i, j, k];
                    let centre = [0, 1, 2].map(|axis| grid.centre(axis, cell[axis]));
                    mask.contains(cell) && self.holds(centre, grid)
                })
            })
        })
    }

    /// The centre of a cell that is nearest to the middle: the shape holds it, or none.
    fn nearest(&self, grid: &Grid) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let middle = match self {
                Shape::Ball { centre, .. } => centre[axis],
                Shape::Box { from, to } => 0.5 * (from[axis] + to[axis]),
            };
            let last = grid.shape()[axis] - 1;
            let place = (middle - grid.origin()[axis]) / grid.spacing()[axis] - 0.5;
            grid.centre(axis, (place.round().max(0.0) as usize).min(last))
        })
    }

    /// Whether a point belongs to it. Distances along axes with a single cell do not count.
    pub(super) fn holds<R: Real>(&self, at: [R; 3], grid: &Grid) -> R::Mask {
        let wide = (0..3).filter(|axis| grid.shape()[*axis] > 1);
        match self {
            Shape::Ball { centre, radius } => {
                let apart = wide.map(|axis| at[axis] - R::lit(centre[axis]));
                let square = apart.fold(R::lit(0.0), |sum, apart| sum + apart * apart);
                square.le(R::lit(radius * radius))
            }
            Shape::Box { from, to } => {
                let within = wide
                    .map(|axis| R::lit(from[axis]).le(at[axis]) & at[axis].le(R::lit(to[axis])));
                within.fold(R::lit(0.0).le(R::lit(0.0)), |all, within| all & within)
            }
        }
    }
}
