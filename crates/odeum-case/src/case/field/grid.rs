//! `[grid]`: the cells, and which of them belong to the domain.

use super::surroundings::Context;
use super::{initial, three};
use crate::case::reader::Section;
use crate::case::spots::Spots;
use odeum_fields::problems::Paper;
use odeum_fields::{Grid, Mask, Model, Stencil};
use odeum_io::finding::Findings;

/// Most cells along an axis.
const MOST: u64 = 1 << 24;

/// What the section says, but for the mask.
pub(super) struct Cells {
    pub(super) grid: Grid,
    pub(super) stencil: Stencil,
}

/// Reads the section but for the mask, which [`mask`] does; a built-in problem knows its spacing.
pub(super) fn read(
    section: &Section<'_>,
    paper: Option<Paper>,
    findings: &Findings,
    spots: &mut Spots,
) -> Option<Cells> {
    let help = "cells along x, y and z, as shape = [64, 64, 64]; one cell along axes that are \
                not wanted";
    let shape = section.need("shape", help).and_then(|field| {
        spots.put("shape", field.spot());
        spots.put("grid", field.spot());
        three(&field, |n| n.whole(1, MOST)).map(|shape| shape.map(|n| n as usize))
    });
    let spacing = match section.get("spacing") {
        Some(field) => {
            spots.put("spacing", field.spot());
            if field.is_list() {
                three(&field, |h| h.number())
            } else {
                field.number().map(|h| [h; 3])
            }
        }
        None => match paper {
            Some(paper) => Some([paper.spacing(); 3]),
            None => {
                section.need("spacing", "the edge of a cell, as spacing = 1.0, or three");
                None
            }
        },
    };
    let origin = section.get("origin").map_or(Some([0.0; 3]), |field| {
        spots.put("origin", field.spot());
        three(&field, |x| x.number())
    });
    let stencils = [("isotropic", Stencil::Isotropic), ("star", Stencil::Star)];
    let stencil = section.get("stencil").map_or(Some(Stencil::default()), |field| {
        spots.put("stencil", field.spot());
        field.choice("stencils", &stencils)
    });
    let grid = shape.zip(spacing).zip(origin).and_then(|((shape, spacing), origin)| {
        let grid = Grid::with_spacing(shape, spacing).and_then(|grid| grid.at(origin));
        grid.map_err(|error| findings.push(spots.place(error))).ok()
    });
    Some(Cells { grid: grid?, stencil: stencil? })
}

/// Reads the mask, if there is one, and so ends the section: `Some(None)` where there is none,
/// `None` where it is wrong.
pub(super) fn mask(
    section: &Section<'_>,
    model: Option<&Model>,
    context: Context<'_>,
    spots: &mut Spots,
) -> Option<Option<Mask>> {
    let mask = section.get("mask").map(|field| {
        spots.put("mask", field.spot());
        let values = initial::cells(&field, "mask", model, context)?;
        let mask = Mask::from_values(context.grid?, &values);
        mask.map_err(|error| context.findings.push(spots.place(error))).ok()
    });
    section.finish();
    mask.map_or(Some(None), |mask| mask.map(Some))
}
