//! Shaded pictures of surfaces on which a species has a level.

mod raster;
mod tetrahedra;

use super::axes::INK;
use super::canvas::{Canvas, Colour, LETTER};
use crate::report::rounded;
use odeum_case::Isosurface;
use odeum_fields::{Field, Grid, Mask, Precision};
use odeum_io::chart::COLOURS;
use odeum_io::parallel;
use raster::{Camera, Raster, Samples, Sorted};
use tetrahedra::Piece;

/// Levels in this order have these colours of the palette.
const ORDER: [usize; 6] = [4, 0, 1, 2, 5, 3];
/// Pieces that are drawn at once, at least.
const PIECES: usize = 8;
const EDGES: [f64; 3] = [110.0, 110.0, 110.0];

/// Draws the surfaces of a species; where the inside reaches a boundary or solid
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
    // Where surfaces touch, on the boundaries, a higher level covers a lower one.
    let mut levels = surface.levels.clone();
    levels.sort_by(f64::total_cmp);
    if surface.below {
        levels.reverse();
    }
    let pieces = tetrahedra::pieces(grid);
    for (n, &level) in levels.iter().enumerate() {
        let pen = (colour(n).map(f64::from), samples(n, levels.len()));
        let view = raster.view();
        let of_piece = |piece: &Piece| {
            let mut sorted = Sorted::default();
            tetrahedra::triangles(
                (grid, mask),
                field,
                surface.species,
                level,
                surface.below,
                piece.clone(),
                &mut |triangle| view.sort(triangle, &mut sorted),
            );
            sorted
        };
        // A piece for each thread, several where there are few: all of a surface take much memory, and so does a layer of noise.
        for some in pieces.chunks(threads.next_multiple_of(PIECES)) {
            let found = parallel::map(threads, 1, some, of_piece);
            raster.draw(threads, &found, pen);
        }
    }
    raster.edges(centres, EDGES);
    let mut canvas = raster.finish();
    let mut x = LETTER;
    let mut text = |canvas: &mut Canvas, text: &str| {
        canvas.text(x, LETTER, text, INK);
        x += text.len() * LETTER;
        x
    };
    let mut end = text(&mut canvas, &format!("{name} = "));
    for (n, level) in levels.iter().enumerate() {
        if levels.len() > 1 {
            canvas.fill((end, LETTER - 1), (LETTER, LETTER), colour(n));
            text(&mut canvas, "  ");
        }
        let comma = if n + 1 < levels.len() { ", " } else { "" };
        end = text(&mut canvas, &format!("{}{comma}", rounded(*level, 4)));
    }
    text(&mut canvas, &format!("   t = {}", rounded(t, 4)));
    canvas
}

/// The colour of a level, from the outermost.
fn colour(n: usize) -> Colour {
    let colour = COLOURS[ORDER[n % ORDER.len()]];
    [colour.0, colour.1, colour.2]
}

/// The samples of a pixel that a level is drawn on, from the outermost: on a part of them, through
/// which those within are seen; the innermost on all.
fn samples(n: usize, levels: usize) -> Samples {
    let is_innermost = n + 1 == levels;
    // The sample 2 is the innermost level's alone.
    std::array::from_fn(|k| is_innermost || k == [0, 3, 1][n % 3])
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

    /// A ball within a ball: what is drawn of the inner one is seen through the outer one, however
    /// many there are.
    #[test]
    fn what_lies_within_is_seen() {
        let grid = Grid::new([24, 24, 24], 1.0).unwrap();
        let field = Field::<f64>::from_fn(&grid, 1, |_, at| {
            12.0 - at.iter().map(|x| (x - 12.0) * (x - 12.0)).sum::<f64>().sqrt()
        });
        let field = field.unwrap();
        let picture = |levels: &[f64]| {
            let (levels, view) = (levels.to_vec(), (-55.0, 30.0));
            let surface = Isosurface { species: 0, levels, below: false, view, size: 96 };
            draw(&surface, "u", (&grid, None), &field, 1.0, 2)
        };
        for levels in [&[2.0, 8.0][..], &[2.0, 5.0, 8.0], &[1.0, 2.0, 3.0, 4.0, 8.0]] {
            let (with, without) = (picture(levels), picture(&levels[..levels.len() - 1]));
            // Beneath the title, in the middle, where the outer ball is nearer.
            let middle = |canvas: &Canvas| canvas.get(48, 50);
            assert_ne!(middle(&with), middle(&without), "{levels:?}");
        }
    }
}
