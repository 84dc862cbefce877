//! Balls and boxes: parts of the box of a field.

use super::three;
use crate::case::reader::{Field, Section};
use odeum::Real;
use odeum_fields::Grid;

/// A part of the box, its surface included.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
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

    /// Reads what a table says of the shape.
    pub(super) fn read(section: &Section<'_>, ball: bool) -> Option<Shape> {
        let help = Shape::help(ball);
        let point = |key| {
            let field = section.need(key, help);
            field.and_then(|field| three(&field, |x: &Field<'_>| x.number()))
        };
        if ball {
            let radius = section.need("radius", help).and_then(|field| field.number());
            point("centre").zip(radius).map(|(centre, radius)| Shape::Ball { centre, radius })
        } else {
            point("from").zip(point("to")).map(|(from, to)| Shape::Box { from, to })
        }
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
