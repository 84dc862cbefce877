//! Tiles where F = d L: nothing is interpreted.

use super::combine::{Row, add_sources, is_sound};
use super::laplacian;
use super::row::{self, PAD};
use super::scratch::{Scratch, gains, has_gains, prepare};
use super::{Frame, Tile};
use odeum_core::Lanes;

/// Computes all rows of a tile; true when every value of the output is finite.
#[inline(always)]
pub(super) fn run<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile, d: &[f64]) -> bool {
    let mut scratch = Scratch::new(frame, tile);
    let mut spoiled = L::lit(0.0);
    for s in 0..d.len() {
        let spread = L::lit(d[s] * frame.plan.weights.scale);
        for z in tile.z.clone() {
            for y in tile.y.clone() {
                prepare::<L>(frame, &mut scratch, s, y, z);
                gains::<L>(frame, &mut scratch, s, y, z);
                spoiled = spoiled + finish(frame, &scratch, (s, y, z), spread);
                add_sources(frame, s, y, z);
            }
        }
    }
    is_sound(spoiled)
}

/// A row of the output from what is prepared; NaN in a lane when a value is not finite.
#[inline(always)]
fn finish<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    scratch: &Scratch<L::Scalar>,
    (s, y, z): (usize, usize, usize),
    spread: L,
) -> L {
    let stride = scratch.stride;
    let zs = &scratch.parts[2 * s * stride..][..stride];
    let gs = &scratch.parts[(2 * s + 1) * stride..][..stride];
    let gains = &scratch.gains[s * stride..][..stride];
    let has_gains = has_gains(frame, s);
    let mut out = Row::<L>::new(frame, s, y, z);
    let (nx, mut spoiled) = (out.len(), L::lit(0.0));
    assert!(nx.next_multiple_of(L::WIDTH) + 2 * PAD <= stride);
    let whole = nx / L::WIDTH * L::WIDTH;
    let mut x = 0;
    while x < nx {
        // SAFETY: the padded rows have room for whole packs, as asserted.
        let mut slope = unsafe { laplacian::finish::<L>(zs, gs, x) } * spread;
        if has_gains {
            // SAFETY: as above.
            slope = slope + unsafe { row::within::<L>(gains, PAD + x) };
        }
        let value = if x < whole {
            // SAFETY: whole packs lie within the row; tiles end with a fence.
            unsafe { out.whole(x, slope) }
        } else {
            out.part(x, slope)
        };
        spoiled = value.mul_add(L::lit(0.0), spoiled);
        x += L::WIDTH;
    }
    spoiled
}
