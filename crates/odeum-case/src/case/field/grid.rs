//! `[grid]`: the cells, and which of them belong to the domain.

use super::surroundings::Context;
use super::{initial, three};
use crate::case::reader::Section;
use crate::case::source_spans::SourceSpans;
use odeum_fields::problems::Builtin;
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
    builtin: Option<Builtin>,
    findings: &Findings,
    source_spans: &mut SourceSpans,
) -> Option<Cells> {
    let help = "cells along x, y and z, as shape = [64, 64, 64]; one cell along axes that are \
                not wanted";
    let shape = section.need("shape", help).and_then(|field| {
        source_spans.put("shape", field.source_span());
        source_spans.put("grid", field.source_span());
        three(&field, |n| n.whole(1, MOST)).map(|shape| shape.map(|n| n as usize))
    });
    let spacing = match section.get("spacing") {
        Some(field) => {
            source_spans.put("spacing", field.source_span());
            if field.is_list() {
                three(&field, |h| h.number())
            } else {
                field.number().map(|h| [h; 3])
            }
        }
        None => match builtin {
            Some(builtin) => Some([builtin.spacing(); 3]),
            None => {
                section.need("spacing", "the edge of a cell, as spacing = 1.0, or three");
                None
            }
        },
    };
    let origin = section.get("origin").map_or(Some([0.0; 3]), |field| {
        source_spans.put("origin", field.source_span());
        three(&field, |x| x.number())
    });
    let stencils = [("isotropic", Stencil::Isotropic), ("star", Stencil::Star)];
    let stencil = section.get("stencil").map_or(Some(Stencil::default()), |field| {
        source_spans.put("stencil", field.source_span());
        field.choice("stencils", &stencils)
    });
    let grid = shape.zip(spacing).zip(origin).and_then(|((shape, spacing), origin)| {
        let grid = Grid::with_spacing(shape, spacing).and_then(|grid| grid.at(origin));
        grid.map_err(|error| findings.push(source_spans.place(error))).ok()
    });
    Some(Cells { grid: grid?, stencil: stencil? })
}

/// Reads the mask, if there is one, and so ends the section: `Some(None)` where there is none,
/// `None` where it is wrong.
pub(super) fn mask(
    section: &Section<'_>,
    model: Option<&Model>,
    context: Context<'_>,
    source_spans: &mut SourceSpans,
) -> Option<Option<Mask>> {
    let mask = section.get("mask").map(|field| {
        source_spans.put("mask", field.source_span());
        let values = initial::mask(&field, model, context)?;
        let mask = Mask::from_values(context.grid?, &values);
        mask.map_err(|error| context.findings.push(source_spans.place(error))).ok()
    });
    section.finish();
    mask.map_or(Some(None), |mask| mask.map(Some))
}
