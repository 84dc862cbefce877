//! Tiles where F is a program, with potentials where it has them.

use super::combine::{Row, add_sources, is_sound};
use super::laplacian::{self, Prepare};
use super::row::{self, PAD};
use super::scratch::{Scratch, gains, has_gains, parts, prepare_narrow};
use super::{Frame, Tile};
use crate::plan::{Inputs, Tape};
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Program};

/// Computes all rows of a tile; true when every value of the output is finite.
#[inline(always)]
pub(super) fn run<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile, tape: &Tape) -> bool {
    let mut scratch = Scratch::<L>::new(frame, tile);
    let mut spoiled = L::lit(0.0);
    for z in tile.z.clone() {
        if tape.n_potentials > 0 {
            let first = if z == tile.z.start { z as isize - 1 } else { z as isize + 1 };
            for plane in first..=z as isize + 1 {
                potential_plane::<L>(frame, tape, &mut scratch, tile, plane);
            }
        }
        for y in tile.y.clone() {
            spoiled = spoiled + react::<L>(frame, tape, &mut scratch, tile, y, z);
        }
    }
    is_sound(spoiled)
}

/// A row of the output of every species, where F is a program; NaN in a lane when a value is not
/// finite.
#[inline(always)]
fn react<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    tape: &Tape,
    scratch: &mut Scratch<L>,
    tile: &Tile,
    y: usize,
    z: usize,
) -> L {
    let mut spoiled = L::lit(0.0);
    let plan = frame.plan;
    let (species, stride) = (plan.layout.species, scratch.stride);
    let nx = plan.layout.shape[0];
    for &s in &tape.rhs_inputs.laplacians {
        prepare_narrow::<L>(frame, scratch, s, y, z);
    }
    for s in 0..species {
        gains::<L>(frame, scratch, s, y, z);
    }
    for &k in &tape.rhs_inputs.beyond {
        let mut rows = [&scratch.potentials[..0]; 9];
        for n in 0..9 {
            let j = y - tile.y.start + n % 3;
            let plane = z as isize + (n / 3) as isize - 1;
            let at = potential_row(tile, k, j, plane) * stride;
            rows[n] = &scratch.potentials[at..at + nx];
        }
        frame.isa.dispatch(Prepare {
            weights: &plan.weights,
            rows: &rows,
            ahead: 0,
            ends: &frame.ghosts[species + k][0],
            parts: parts(&mut scratch.parts, stride, species + k),
        });
    }
    let mut x = 0;
    while x < nx {
        read_inputs(frame, &tape.rhs_inputs, scratch, (x, y, z));
        let scale = L::lit(plan.weights.scale);
        for &k in &tape.rhs_inputs.beyond {
            scratch.inputs[2 * species + 3 + k] = laplacian_at(scratch, species + k, x) * scale;
        }
        let Scratch { inputs, outputs, work, .. } = scratch;
        L::outline(Interpretation { program: &tape.rhs, inputs, outputs, work });
        for s in 0..species {
            let mut slope = scratch.outputs[s];
            if has_gains(frame, s) {
                let at = s * stride + PAD + x;
                slope = slope + L::load(&scratch.gains[at..at + L::WIDTH]);
            }
            let value = Row::<L>::new(frame, s, y, z).put(x, slope);
            spoiled = value.mul_add(L::lit(0.0), spoiled);
        }
        x += L::WIDTH;
    }
    if !frame.sources.is_empty() {
        for s in 0..species {
            add_sources(frame, s, y, z);
        }
    }
    spoiled
}

#[inline(always)]
fn laplacian_at<L: Lanes>(scratch: &Scratch<L>, n: usize, x: usize) -> L {
    let stride = scratch.stride;
    let zs = &scratch.parts[2 * n * stride..][..stride];
    let gs = &scratch.parts[(2 * n + 1) * stride..][..stride];
    assert!(PAD + x + L::WIDTH < stride);
    // SAFETY: just compared.
    unsafe { laplacian::finish(zs, gs, x) }
}

/// The inputs of a program at `x` of a row, but for Laplacians of potentials.
#[inline(always)]
fn read_inputs<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    inputs: &Inputs,
    scratch: &mut Scratch<L>,
    (x, y, z): (usize, usize, usize),
) {
    let plan = frame.plan;
    let (species, nx) = (plan.layout.species, plan.layout.shape[0]);
    for &s in &inputs.species {
        let at = plan.layout.row_at(s, y, z);
        scratch.inputs[s] = row::load(&frame.u[at..at + nx], x);
    }
    let scale = L::lit(plan.weights.scale);
    for &s in &inputs.laplacians {
        scratch.inputs[species + s] = laplacian_at(scratch, s, x) * scale;
    }
    if inputs.coordinates[0] {
        scratch.inputs[2 * species] = L::load(&scratch.xs[PAD + x..PAD + x + L::WIDTH]);
    }
    if inputs.coordinates[1] {
        scratch.inputs[2 * species + 1] = L::lit(plan.grid.centre(1, y));
    }
    if inputs.coordinates[2] {
        scratch.inputs[2 * species + 2] = L::lit(plan.grid.centre(2, z));
    }
}

/// Runs a program from the inputs of the scratch memory to its outputs.
struct Interpretation<'a, L> {
    program: &'a Program,
    inputs: &'a [L],
    outputs: &'a mut [L],
    work: &'a mut [L],
}

impl<L: Lanes> Outlined for Interpretation<'_, L> {
    #[inline(always)]
    fn run(self) {
        self.program.run_again(self.inputs, &[], self.outputs, self.work);
    }
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
    frame: &Frame<'_, L::Scalar>,
    tape: &Tape,
    scratch: &mut Scratch<L>,
    tile: &Tile,
    plane: isize,
) {
    let plan = frame.plan;
    let [nx, ny, nz] = plan.layout.shape;
    let (species, stride) = (plan.layout.species, scratch.stride);
    let ghosts = &frame.ghosts[species];
    let (z, _) = row::source(plane, nz, &ghosts[2]);
    for j in 0..tile.y.len() + 2 {
        let (y, _) = row::source((tile.y.start + j) as isize - 1, ny, &ghosts[1]);
        for &s in &tape.potential_inputs.laplacians {
            prepare_narrow::<L>(frame, scratch, s, y, z);
        }
        let mut x = 0;
        while x < nx {
            read_inputs(frame, &tape.potential_inputs, scratch, (x, y, z));
            let Scratch { inputs, outputs, potential_work: work, .. } = scratch;
            L::outline(Interpretation { program: &tape.potentials, inputs, outputs, work });
            for k in 0..tape.n_potentials {
                let at = potential_row(tile, k, j, plane) * stride;
                let row = &mut scratch.potentials[at..at + nx];
                row::store(row, x, scratch.outputs[k]);
            }
            x += L::WIDTH;
        }
    }
}
