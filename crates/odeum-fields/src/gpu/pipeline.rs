//! Two steps at once by groups of warps that hand planes on: for which problems, and their tables.

use super::shape::Shape;
use crate::plan::Plan;
use crate::problem::boundaries::Ghost;
use crate::tiling::{PIPELINE, PIPELINE_PLANE, Tiling};
use odeum_core::Graph;
use odeum_cuda::{Device, Text};
use odeum_ode::Scalar;

/// Whether a problem's steps can be taken so; if not, what is in the way.
pub(super) fn suits<T: Scalar>(
    plan: &Plan<T>,
    shape: &Shape,
    device: &impl Device,
) -> Result<(), &'static str> {
    let Some(linear) = &plan.linear else {
        return Err("F and potentials must be linear in Laplacians");
    };
    let [nx, ny, _] = shape.cells;
    let offsets = plan.coordinates().contains(&true);
    let others = plan.velocity.is_some() || plan.is_left_over() || plan.domain.is_some();
    let moves = linear[0].parts.iter().flatten().any(|k| *k != 0.0);
    let each = |ok: bool, why: &'static str| if ok { Ok(()) } else { Err(why) };
    each(device.has_warp_groups(), "a GPU of compute capability 9.0")?;
    each(size_of::<T>() == 4, "single precision alone")?;
    each(moves, "no species moves")?;
    each(plan.weights.edges, "the 19-point Laplacian alone")?;
    each(plan.slab.is_whole(), "one GPU alone")?;
    each(!others, "no velocity, mask, or diffusion that differs from cell to cell")?;
    each(plan.sources.is_empty() && !offsets, "no sources, and nothing that depends on the place")?;
    // A tile is at one end of the box along an axis at most, and begins with four cells.
    each(
        nx.is_multiple_of(4) && nx >= PIPELINE[0] + 4,
        "rows of 68 cells or more, a multiple of 4",
    )?;
    each(ny >= PIPELINE[1] + 4, "36 rows or more")?;
    boundaries(plan)
}

/// Ghosts that shift are made along x alone, of species that are wanted one cell beyond the boundary.
fn boundaries<T: Scalar>(plan: &Plan<T>) -> Result<(), &'static str> {
    for (s, boundaries) in plan.boundaries.iter().enumerate() {
        let shifts = boundaries
            .at::<T>(0.0)
            .map(|ends| ends.iter().any(|ghost| matches!(ghost, Ghost::Affine { .. })));
        if shifts[1] || shifts[2] {
            return Err("boundaries along y and z closed or periodic");
        }
        let far = plan.potential_inputs().is_some_and(|inputs| inputs.depend_on(s));
        if shifts[0] && far {
            return Err("boundaries along x closed for species that potentials depend on");
        }
        if shifts[0] && plan.periodic()[1] {
            return Err("boundaries along y closed where those along x have values");
        }
    }
    Ok(())
}

/// Operations of F and the potentials in a cell, without Laplacians, up to which these kernels are
/// taken to be faster than single steps: the front, which has most of the models that were measured,
/// has 7. They compute many cells in one piece of code, which must stay in the instruction cache,
/// and have no registers to spare.
const OPERATIONS: usize = 8;

/// Cells from which on they are: of fewer, too many planes are computed at the ends of tiles.
const CELLS: usize = 2 << 20;

/// Whether they are faster than single steps.
pub(super) fn is_faster<T: Scalar>(plan: &Plan<T>) -> bool {
    let cell = plan.cell();
    let Some(linear) = &plan.linear else { return false };
    let operations = |graph: &Graph| graph.nodes().iter().filter(|n| !n.args().is_empty()).count();
    let operations: usize = linear.iter().map(|part| operations(&part.local.fused())).sum();
    let measured = match (cell.species, cell.potentials) {
        (3, 0) => true,
        (1..=3, 1) => cell.feeding == 1,
        _ => false,
    };
    measured && operations <= OPERATIONS && plan.grid.cells() >= CELLS
}

/// The tables of a model that these kernels ask beside those of all.
pub(super) fn tables<T: Scalar>(text: &mut Text, plan: &Plan<T>, tiling: &Tiling) {
    let species = plan.layout.species;
    let parts = plan.linear.as_ref().map_or(&[][..], |[rhs, _]| &rhs.parts);
    let contains = |s: usize, n: usize| parts[s][n] != 0.0;
    // The Laplacians that F contains: fields.
    let fields: Vec<usize> = (0..species + plan.n_potentials())
        .filter(|&n| (0..parts.len()).any(|s| contains(s, n)))
        .collect();
    let of_species = fields.iter().filter(|n| **n < species).count();
    let far = |s: usize| plan.potential_inputs().is_some_and(|inputs| inputs.depend_on(s));
    let far_species: Vec<usize> = (0..species).filter(|&s| far(s)).collect();
    let [across, along] = PIPELINE;
    text.define("OD_PIPELINE_X", across);
    text.define("OD_PIPELINE_Y", along);
    let [row, rows] = PIPELINE_PLANE;
    text.define("OD_PIPELINE_ROW", row);
    text.define("OD_PIPELINE_ROWS", rows);
    text.define("OD_PIPELINE_BYTES", tiling.shared(&plan.cell()));
    text.define("OD_FIELDS", fields.len());
    text.define("OD_FIELDS_OF_SPECIES", of_species);
    text.define("OD_FAR", far_species.len());
    text.define("OD_NEAR", species - far_species.len());
    let mut table = |head: &str, index: &str, values: Vec<String>| {
        text.table("int", head, index, &values);
    };
    let place = |n: usize| fields.iter().position(|field| *field == n);
    table("od_field(int f)", "f", fields.iter().map(usize::to_string).collect());
    let number = |n: usize| place(n).map_or(-1, |f| f as i64).to_string();
    table("od_field_of(int n)", "n", (0..species + plan.n_potentials()).map(number).collect());
    // Of one without any, the last field that is a species.
    let last = |s: usize| {
        let own = fields.iter().rposition(|&n| contains(s, n));
        own.unwrap_or(of_species.saturating_sub(1)).to_string()
    };
    table("od_last_field(int s)", "s", (0..species).map(last).collect());
    let before = |s: usize| far_species.iter().filter(|far| **far < s).count().to_string();
    table("od_fars(int s)", "s", (0..species).map(before).collect());
    table("od_far_species(int f)", "f", far_species.iter().map(usize::to_string).collect());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use crate::problem::grid::Grid;
    use crate::problem::model::ModelText;
    use crate::problems::Builtin;

    fn faster(problem: &Problem) -> bool {
        is_faster(&Plan::<f32>::new(problem).unwrap())
    }

    fn problem(equations: Vec<(&'static str, &'static str)>) -> Problem {
        let species = equations.iter().map(|(name, _)| *name).collect();
        let text = ModelText { species, equations, ..ModelText::default() };
        Problem::new(text.read().unwrap().0, Grid::new([128; 3], 1.0).unwrap())
    }

    #[test]
    fn simulations_take_pipelines_where_these_were_measured_to_be_faster() {
        assert!(faster(&Builtin::Front.problem([128; 3]).unwrap()));
        assert!(!faster(&Builtin::Front.problem([64; 3]).unwrap()));
        assert!(!faster(&Builtin::Turing.problem([128; 3]).unwrap()));
        let other = [("a", "lap(a)"), ("b", "lap(b) - b")];
        let third = |text| problem([&other[..], &[("c", text)]].concat());
        assert!(faster(&third("lap(c) + a * b")));
        assert!(faster(&third("lap(c^3 - lap(c))")));
        // A potential of two species, and a long reaction.
        assert!(!faster(&third("lap(c^3 + a - lap(c))")));
        let long = (1..9).map(|n| format!("+ a^{n} * sin(b)")).collect::<String>();
        assert!(!faster(&third(long.leak())));
    }
}
