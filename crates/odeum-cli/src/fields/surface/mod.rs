//! Shaded pictures of surfaces on which a species has a level.

mod raster;
mod tetrahedra;

use super::canvas::{Canvas, LETTER, short};
use crate::case::Isosurface;
use crate::report::COLOURS;
use odeum_fields::{Field, Grid, Mask, Precision};
use raster::{Camera, Raster};

/// Levels in this order have these colours of the palette.
const ORDER: [usize; 6] = [4, 0, 1, 2, 5, 3];
const INK: [u8; 3] = [40, 40, 40];
const EDGES: [f64; 3] = [110.0, 110.0, 110.0];

/// Draws the surfaces of a species; where the inside reaches a wall or solid
/// cells, the surface is closed there.
pub(super) fn draw<T: Precision>(
    surface: &Isosurface,
    name: &str,
    (grid, mask): (&Grid, Option<&Mask>),
    field: &Field<T>,
    t: f64,
) -> Canvas {
    let centres = [0, 1, 2].map(|axis| {
        let n = grid.shape()[axis];
        (grid.centre(axis, 0), grid.centre(axis, n - 1))
    });
    let camera = Camera::new(surface.view, centres, surface.size);
    let mut raster = Raster::new(camera, surface.size);
    // Where surfaces touch, on the walls, a higher level covers a lower one.
    let mut levels = surface.levels.clone();
    levels.sort_by(f64::total_cmp);
    if surface.below {
        levels.reverse();
    }
    for (n, &level) in levels.iter().enumerate() {
        let colour = COLOURS[ORDER[n % ORDER.len()]];
        let colour = [colour.0, colour.1, colour.2].map(f64::from);
        tetrahedra::triangles(
            (grid, mask),
            field,
            surface.species,
            level,
            surface.below,
            &mut |triangle| {
                raster.triangle(triangle, colour);
            },
        );
    }
    raster.edges(centres, EDGES);
    let mut canvas = raster.finish();
    let levels: Vec<String> = levels.iter().map(|level| short(*level)).collect();
    let title = format!("{name} = {}   t = {}", levels.join(", "), short(t));
    canvas.text(LETTER, LETTER, &title, INK);
    canvas
}
