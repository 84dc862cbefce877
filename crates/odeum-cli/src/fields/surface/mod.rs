//! Shaded pictures of surfaces on which a species has a level.

mod raster;
mod tetrahedra;

use super::canvas::{Canvas, LETTER, short};
use crate::case::Isosurface;
use crate::parallel;
use crate::report::COLOURS;
use odeum_fields::{Field, Grid, Mask, Precision};
use raster::{Camera, Raster, Sorted};
use std::ops::Range;

/// Levels in this order have these colours of the palette.
const ORDER: [usize; 6] = [4, 0, 1, 2, 5, 3];
const INK: [u8; 3] = [40, 40, 40];
/// Layers of cubes that are drawn at once, at least.
const LAYERS: usize = 8;
const EDGES: [f64; 3] = [110.0, 110.0, 110.0];

/// Draws the surfaces of a species; where the inside reaches a wall or solid
/// cells, the surface is closed there. By so many threads, whose number changes nothing.
pub(super) fn draw<T: Precision>(
    surface: &Isosurface,
    name: &str,
    (grid, mask): (&Grid, Option<&Mask>),
    field: &Field<T>,
    t: f64,
    threads: usize,
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
        let view = raster.view();
        let of_layers = |layers: Range<isize>| {
            let mut sorted = Sorted::default();
            tetrahedra::triangles(
                (grid, mask),
                field,
                surface.species,
                level,
                surface.below,
                layers,
                &mut |triangle| view.sort(triangle, &mut sorted),
            );
            sorted
        };
        let mut layers = tetrahedra::layers(grid);
        while !layers.is_empty() {
            // A layer for each thread, several where there are few: all of a surface take much memory.
            let count = threads.next_multiple_of(LAYERS) as isize;
            let some = layers.start..(layers.start + count).min(layers.end);
            layers.start = some.end;
            let numbers: Vec<isize> = some.collect();
            let found = parallel::map(threads, 1, &numbers, |&k| of_layers(k..k + 1));
            raster.draw(threads, &found, colour);
        }
    }
    raster.edges(centres, EDGES);
    let mut canvas = raster.finish();
    let levels: Vec<String> = levels.iter().map(|level| short(*level)).collect();
    let title = format!("{name} = {}   t = {}", levels.join(", "), short(t));
    canvas.text(LETTER, LETTER, &title, INK);
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_fields::noise;

    #[test]
    fn any_number_of_threads_draws_the_same_picture() {
        let grid = Grid::new([20, 17, 41], 0.5).unwrap();
        let field = Field::<f64>::from_fn(&grid, 1, |_, [x, y, z]| {
            x.sin() + y.cos() + (0.7 * z).sin() + 0.2 * noise(3, 0, (x + 31.0 * y) as usize)
        });
        let field = field.unwrap();
        let surface = Isosurface {
            species: 0,
            levels: vec![0.6, -0.4],
            below: false,
            view: (-55.0, 30.0),
            size: 90,
        };
        let picture = |threads| draw(&surface, "u", (&grid, None), &field, 1.0, threads);
        let one = picture(1);
        assert!(picture(2) == one && picture(7) == one);
        // Something is drawn: not paper, edges and letters alone.
        let empty = Isosurface { levels: vec![9.0], ..surface };
        assert!(draw(&empty, "u", (&grid, None), &field, 1.0, 1) != one);
    }
}
