//! A tile of a sweep, row by row.

use super::combine::{Goal, add_sources, is_sound};
use super::gather::At;
use super::laplacian::Nine;
use super::program::{self, Which};
use super::row;
use super::scratch::{Origin, Scratch};
use super::{Frame, Tile, coded, line, nine};
use crate::native::Code;
use crate::plan::{Kernel, Tape};
use crate::walls;
use odeum_core::Lanes;

/// Computes all rows of a tile; true when every value of the output is finite.
#[inline(always)]
pub(super) fn run<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile) -> bool {
    let plan = frame.plan;
    let origin = Origin::of_sweep(frame);
    let mut scratch = Scratch::new(plan, tile.y.len(), frame.together);
    scratch.load(plan, origin.moment.t);
    let with_potentials = match &plan.kernel {
        Kernel::Tape(tape) if tape.n_potentials > 0 => Some(&**tape),
        _ => None,
    };
    let mut spoiled = L::lit(0.0);
    for z in tile.z.clone() {
        if let Some(tape) = with_potentials {
            let first = if z == tile.z.start { z as isize - 1 } else { z as isize + 1 };
            for plane in first..=z as isize + 1 {
                potential_plane::<L>(&origin, (tape, frame.potentials), &mut scratch, tile, plane);
            }
        }
        let mut y = tile.y.start;
        while y < tile.y.end {
            if let Some(tape) = with_potentials {
                beyond::<L>(&origin, tape, &mut scratch, tile, (y, z));
            }
            let at = At::cut(frame, (y as isize, z as isize), tile.y.end as isize);
            let goal = Goal { frame, cell: (y, z), rows: at.rows, kept: None };
            let near = origin.solids(at).is_some();
            let code = if near { &frame.near_solids } else { &frame.outputs };
            let code = code.as_deref();
            spoiled = spoiled + line::make::<L>(code, &origin, &mut scratch, at, goal);
            for s in 0..plan.layout.species {
                for y in y..y + at.rows {
                    let row = frame.out.at(plan.layout.row_at(s, y, z));
                    // SAFETY: the row is the tile's, and nobody holds it any more.
                    unsafe { add_sources(&origin.moment.sources, frame.slope, s, (y, z), row) };
                }
            }
            y += at.rows;
        }
    }
    is_sound(spoiled)
}

/// The number of a row of a potential: row `j` of those of the tile and one around, in the place
/// of a plane, which three planes share in turn.
#[inline(always)]
fn potential_row(tile: &Tile, k: usize, j: usize, plane: isize) -> usize {
    let slot = plane.rem_euclid(3) as usize;
    (k * 3 + slot) * (tile.y.len() + 2) + j
}

/// The potentials in one plane of the tile and one row around; of ghosts, the potential where
/// their value comes from.
#[inline(always)]
fn potential_plane<L: Lanes>(
    origin: &Origin<'_, L::Scalar>,
    (tape, code): (&Tape, Option<&Code>),
    scratch: &mut Scratch<L::Scalar>,
    tile: &Tile,
    plane: isize,
) {
    let plan = origin.plan;
    let [_, ny, nz] = plan.layout.shape;
    let (wide, stride) = (plan.layout.wide::<L::Scalar>(), scratch.stride);
    let ghosts = &origin.moment.ghosts[plan.layout.species];
    let (z, _) = walls::source(plane, nz, &ghosts[2]);
    for j in 0..tile.y.len() + 2 {
        let (y, _) = walls::source((tile.y.start + j) as isize - 1, ny, &ghosts[1]);
        let at = At { y: y as isize, z: z as isize, rows: 1 };
        nine::laplacians::<L>(origin, &tape.potential_inputs, scratch, at);
        if let Some(code) = code {
            let row = |k: usize| potential_row(tile, k, j, plane) * stride;
            coded::potentials::<L>(code, tape, origin, scratch, at, row);
            continue;
        }
        program::run::<L>(Which::Potentials, tape, origin, scratch, at);
        for k in 0..tape.n_potentials {
            let at = potential_row(tile, k, j, plane) * stride;
            let from = k * stride + row::PAD;
            let Scratch { potentials, slopes, .. } = scratch;
            potentials[at..at + wide].copy_from_slice(&slopes[from..from + wide]);
        }
    }
}

/// The Laplacians of potentials along a row.
#[inline(always)]
fn beyond<L: Lanes>(
    origin: &Origin<'_, L::Scalar>,
    tape: &Tape,
    scratch: &mut Scratch<L::Scalar>,
    tile: &Tile,
    (y, z): (usize, usize),
) {
    let (plan, at) = (origin.plan, At { y: y as isize, z: z as isize, rows: 1 });
    let (species, stride, nx) = (plan.layout.species, scratch.stride, plan.layout.shape[0]);
    for &k in &tape.rhs_inputs.beyond {
        let mut rows = [&scratch.potentials[..0]; 9];
        for n in 0..9 {
            let j = y - tile.y.start + n % 3;
            let plane = z as isize + (n / 3) as isize - 1;
            let at = potential_row(tile, k, j, plane) * stride;
            rows[n] = &scratch.potentials[at..at + plan.layout.wide::<L::Scalar>()];
        }
        let ends = &origin.moment.ghosts[species + k][0];
        let to = &mut scratch.laplacians[(species + k) * stride..(species + k + 1) * stride];
        let nine = Nine { nx, count: 1, row: 0, rows: &rows, ends, ahead: 0 };
        nine::store::<L>(origin, &nine, at, plan.weights.scale, &mut scratch.patch, to);
    }
}
