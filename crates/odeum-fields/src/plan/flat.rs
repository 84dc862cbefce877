//! Grids with one cell along an axis, turned for CPUs.
//!
//! Sweeps go along x, cell after cell in memory, and take neighbours along y and z from other rows. So
//! axes with one cell come last: a column along z is swept as a row. Plain arrays and fields have the
//! same values in the same places before and after, and [`Rules`] of boundaries keep their order.

use crate::field::order;
use crate::plan::Plan;
use crate::problem::boundaries::{Ghost, SpeciesBoundaries};
use crate::problem::grid::Grid;
use crate::problem::mask::Mask;
use crate::problem::model::Model;
use crate::problem::stencil::Reach;
use crate::problem::{PointSource, Problem, Velocity};
use odeum_core::Graph;
use odeum_ode::{Error, Scalar};

/// In which order the rules of boundaries that meet at an edge are applied: the place of each axis in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules([u8; 3]);

impl Rules {
    /// That along y, then along z, then along x.
    pub(crate) const PLAIN: Rules = Rules([2, 0, 1]);

    /// The same order of a grid whose axes have been [turned].
    pub(crate) fn turned(grid: &Grid) -> Rules {
        Rules(order(grid.shape()).map(|axis| Rules::PLAIN.0[axis]))
    }

    /// Whether the rule along one axis is applied before that along another.
    #[inline(always)]
    pub(crate) fn has_first(self, axis: usize, other: usize) -> bool {
        self.0[axis] < self.0[other]
    }
}

/// A problem whose axes with one cell are the last; `None` where they are so.
pub(crate) fn turned(problem: &Problem) -> Result<Option<Problem>, Error> {
    let axes = order(problem.grid.shape());
    if axes == [0, 1, 2] {
        return Ok(None);
    }
    let Problem {
        model,
        grid,
        stencil,
        boundaries,
        velocity,
        advected,
        advection,
        diffusion,
        sources,
        mask,
    } = problem;
    let grid = turned_grid(grid, axes)?;
    let source = |source: &PointSource| PointSource {
        cell: axes.map(|axis| source.cell[axis]),
        ..source.clone()
    };
    let turned_mask = |mask: &Mask| {
        let values: Vec<f64> = mask.to_values().into_iter().map(f64::from).collect();
        Mask::from_values(&grid, &values)
    };
    Ok(Some(Problem {
        model: turned_model(model, axes)?,
        grid,
        stencil: *stencil,
        boundaries: boundaries.turned(axes),
        velocity: velocity.as_ref().map(|velocity| match velocity {
            Velocity::Uniform(parts) => Velocity::Uniform(axes.map(|axis| parts[axis].clone())),
            Velocity::Cells(parts) => Velocity::Cells(axes.map(|axis| parts[axis].clone())),
        }),
        advected: advected.clone(),
        advection: *advection,
        diffusion: diffusion.clone(),
        sources: sources.iter().map(source).collect(),
        mask: mask.as_ref().map(turned_mask).transpose()?,
    }))
}

fn turned_grid(grid: &Grid, axes: [usize; 3]) -> Result<Grid, Error> {
    let (shape, spacing, origin) = (grid.shape(), grid.spacing(), grid.origin());
    let grid = Grid::with_spacing(axes.map(|axis| shape[axis]), axes.map(|axis| spacing[axis]))?;
    grid.at(axes.map(|axis| origin[axis]))
}

/// The same equations, given x, y and z in their new order.
fn turned_model(model: &Model, axes: [usize; 3]) -> Result<Model, Error> {
    let first = 2 * model.species().len();
    let turn = |graph: &Graph| {
        Graph::record(graph.n_states(), graph.n_params(), |t, y, p| {
            let mut old = y.to_vec();
            for (new, axis) in axes.into_iter().enumerate() {
                old[first + axis] = y[first + new];
            }
            graph.eval(t, &old, p)
        })
    };
    let (rhs, potentials) = (turn(model.rhs()), turn(model.potentials()));
    Model::new(model.species().to_vec(), model.params().to_vec(), rhs, potentials)
}

/// Along which axes cells differ from their neighbours: not along one of a single cell, whose boundaries
/// repeat it.
pub(crate) fn reach<T: Scalar>(plan: &Plan<T>) -> Reach {
    let shape = plan.grid.shape();
    let repeats = |axis: usize| shape[axis] == 1 && repeats::<T>(&plan.boundaries, axis);
    match (repeats(1), repeats(2)) {
        (true, true) => Reach::Line,
        (false, true) => Reach::Plane,
        _ => Reach::Box,
    }
}

/// Whether what lies beyond the boundaries of an axis is what lies before them.
fn repeats<T: Scalar>(boundaries: &[SpeciesBoundaries], axis: usize) -> bool {
    let ends = boundaries.iter().flat_map(|boundaries| boundaries.at::<T>(0.0)[axis]);
    ends.into_iter().all(|ghost: Ghost<T>| matches!(ghost, Ghost::Mirror | Ghost::Wrap))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_one_cell_come_last_and_the_others_keep_their_order() {
        for (shape, axes) in [
            ([4, 5, 6], [0, 1, 2]),
            ([4, 1, 6], [0, 2, 1]),
            ([1, 5, 6], [1, 2, 0]),
            ([1, 1, 6], [2, 0, 1]),
            ([1, 5, 1], [1, 0, 2]),
            ([4, 1, 1], [0, 1, 2]),
            ([1, 1, 1], [0, 1, 2]),
        ] {
            assert_eq!(order(shape), axes, "{shape:?}");
        }
    }
}
