//! Balls and boxes: parts of the box of a field.

use super::three;
use crate::case::reader::{Field, Section};
use odeum_fields::{AXES, Grid, Mask};
use odeum_ode::Real;
use std::ops::Range;

/// By how many ε of its place a cell may miss a surface on which it lies.
const SURFACE_EPSILONS: f64 = 4.0;

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
        let [x, y, z] = [0, 1, 2].map(|axis| self.range(axis, grid));
        z.into_iter().any(|k| {
            y.clone().any(|j| {
                x.clone().any(|i| {
                    mask.contains([i, j, k]) && self.holds(centre_of([i, j, k], grid), grid)
                })
            })
        })
    }

    /// Cells that it may hold along an axis, and one more on either side where there is one.
    fn range(&self, axis: usize, grid: &Grid) -> Range<usize> {
        let (low, high) = match self {
            Shape::Ball { centre, radius } => (centre[axis] - radius, centre[axis] + radius),
            Shape::Box { from, to } => (from[axis], to[axis]),
        };
        match grid.shape()[axis] {
            1 => 0..1,
            // Rounding of their centres may take one in on either side.
            count => {
                (number(low, axis, grid) - 1.0).max(0.0) as usize
                    ..count.min((number(high, axis, grid) + 3.0).max(0.0) as usize)
            }
        }
    }

    /// The centre of a cell that is nearest to the middle: the shape holds it, or none.
    fn nearest(&self, grid: &Grid) -> [f64; 3] {
        let middle = self.middle();
        std::array::from_fn(|axis| {
            let place = number(middle[axis], axis, grid).round().max(0.0);
            grid.centre(axis, (place as usize).min(grid.shape()[axis] - 1))
        })
    }

    fn middle(&self) -> [f64; 3] {
        match self {
            Shape::Ball { centre, .. } => *centre,
            Shape::Box { from, to } => [0, 1, 2].map(|axis| 0.5 * (from[axis] + to[axis])),
        }
    }

    /// Whether a point belongs to it; so does what lies beside its surface by no more than sums and products round. Distances
    /// along axes with a single cell do not count.
    pub(super) fn holds(&self, at: [f64; 3], grid: &Grid) -> bool {
        let mut wide = wide(grid);
        let rounding = |axis: usize, end: f64| {
            SURFACE_EPSILONS
                * f64::EPSILON
                * (at[axis].abs() + end.abs() + grid.origin()[axis].abs())
        };
        match self {
            Shape::Ball { centre, radius } => {
                let own = SURFACE_EPSILONS * f64::EPSILON * radius;
                let reach = radius + wide.fold(own, |sum, axis| sum + rounding(axis, centre[axis]));
                square(at, *centre, grid) <= reach * reach
            }
            Shape::Box { from, to } => wide.all(|axis| {
                at[axis] >= from[axis] - rounding(axis, from[axis])
                    && at[axis] <= to[axis] + rounding(axis, to[axis])
            }),
        }
    }

    /// The same of the centres of cells as a condition in equations: true of the same cells in any precision that tells
    /// their places apart, however its sums and products round.
    pub(super) fn condition<R: Real>(&self, at: [R; 3], grid: &Grid) -> R::Mask {
        let (always, never) = (R::lit(0.0).le(R::lit(0.0)), R::lit(1.0).le(R::lit(0.0)));
        match self {
            Shape::Ball { centre, radius } => {
                let [inside, outside] = self.beside_surface(*centre, *radius, grid);
                match (inside, outside) {
                    (None, _) => never,
                    (_, None) => always,
                    (Some(inside), Some(outside)) => {
                        let middle = inside + 0.5 * (outside - inside);
                        square(at, centre.map(R::lit), grid).le(R::lit(middle))
                    }
                }
            }
            Shape::Box { .. } => wide(grid).fold(always, |all, axis| {
                let mut point = self.middle();
                let mut is_within = |i: &usize| {
                    point[axis] = grid.centre(axis, *i);
                    self.holds(point, grid)
                };
                let mut range = self.range(axis, grid);
                let Some(first) = range.find(&mut is_within) else { return never };
                let last = range.rfind(is_within).unwrap_or(first);
                // Rounding keeps the order of numbers, and makes of the centre what it makes of the place of its cell.
                let mut all = all;
                if first > 0 {
                    all = all & R::lit(grid.centre(axis, first)).le(at[axis]);
                }
                if last + 1 < grid.shape()[axis] {
                    all = all & at[axis].le(R::lit(grid.centre(axis, last)));
                }
                all
            }),
        }
    }

    /// The largest square of a distance from the centre of a ball among its cells, and the least among the others, where there are any.
    fn beside_surface(&self, centre: [f64; 3], radius: f64, grid: &Grid) -> [Option<f64>; 2] {
        let (mut inside, mut outside) = (None::<f64>, None::<f64>);
        let last = grid.shape()[0] - 1;
        for k in self.range(2, grid) {
            for j in self.range(1, grid) {
                let [_, y, z] = centre_of([0, j, k], grid);
                let rest = radius * radius - square([centre[0], y, z], centre, grid);
                let half = rest.max(0.0).sqrt();
                // Along a row distances fall to the centre and rise after it: those at the surface, or next to the centre, count.
                for place in [centre[0] - half, centre[0], centre[0] + half] {
                    let n = number(place, 0, grid);
                    let from = ((n - 1.0).max(0.0) as usize).min(last);
                    for i in from..=((n + 2.0).max(0.0) as usize).min(last) {
                        let at = centre_of([i, j, k], grid);
                        let square = square(at, centre, grid);
                        if self.holds(at, grid) {
                            inside = Some(inside.map_or(square, |most| most.max(square)));
                        } else {
                            outside = Some(outside.map_or(square, |least| least.min(square)));
                        }
                    }
                }
            }
        }
        [inside, outside]
    }
}

/// Axes with more than one cell.
fn wide(grid: &Grid) -> impl Iterator<Item = usize> + use<> {
    let shape = grid.shape();
    (0..3).filter(move |axis| shape[*axis] > 1)
}

/// The square of the distance of two points along these axes.
fn square<R: Real>(at: [R; 3], centre: [R; 3], grid: &Grid) -> R {
    let apart = wide(grid).map(|axis| at[axis] - centre[axis]);
    apart.fold(R::lit(0.0), |sum, apart| sum + apart * apart)
}

fn centre_of(cell: [usize; 3], grid: &Grid) -> [f64; 3] {
    [0, 1, 2].map(|axis| grid.centre(axis, cell[axis]))
}

/// The place along an axis, in cells from the centre of the first.
fn number(place: f64, axis: usize, grid: &Grid) -> f64 {
    (place - grid.origin()[axis]) / grid.spacing()[axis] - 0.5
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Cells of a source are those of an initial value, in both precisions, and surfaces belong to shapes.
    #[test]
    fn conditions_hold_in_the_cells_of_the_shape() {
        let ball = |centre: f64, radius: f64| Shape::Ball { centre: [centre; 3], radius };
        let cuboid = |from: f64, to: f64| Shape::Box { from: [from; 3], to: [to; 3] };
        for (shape, h, origin, shapes) in [
            ([11, 1, 1], 0.1, 0.0, vec![(ball(0.55, 0.3), 7), (cuboid(0.25, 0.85), 7)]),
            ([21, 21, 1], 0.05, 0.0, vec![(ball(0.525, 0.25), 81), (cuboid(0.275, 0.775), 121)]),
            ([21; 3], 0.1, -1.05, vec![(ball(0.0, 0.3), 123), (cuboid(-0.3, 0.3), 343)]),
            ([15; 3], 1.0 / 3.0, 0.0, vec![(ball(2.5, 5.0 / 3.0), 515), (cuboid(0.0, 9.0), 3375)]),
            ([60, 1, 1], 0.02, 1000.0, vec![(cuboid(1000.51, 1000.71), 11), (cuboid(2.0, 3.0), 0)]),
            ([9; 3], 1.0, 0.0, vec![(ball(4.5, 100.0), 729), (ball(-9.0, 2.0), 0)]),
        ] {
            let grid = Grid::new(shape, h).unwrap().at([origin; 3]).unwrap();
            for (shape, count) in shapes {
                let mut held = 0;
                for n in 0..grid.cells() {
                    let at = centre_of(grid.cell(n), &grid);
                    let (single, own) = (at.map(|x| x as f32), shape.holds(at, &grid));
                    held += usize::from(own);
                    assert_eq!(shape.condition(at, &grid), own, "{shape:?} {at:?}");
                    assert_eq!(shape.condition(single, &grid), own, "{shape:?} {at:?}");
                }
                assert_eq!(held, count, "{shape:?}");
            }
        }
    }
}
