//! Tiles where F is a program, with potentials where it has them.
//!
//! A row goes through three hands: single packs of lanes make the rows of Laplacians and gains,
//! wide blocks run the program over them, single packs combine its results. Wide lanes are for
//! the program alone: nine rows at once do not fit into their registers.

use super::combine::{Row, add_sources, is_sound};
use super::laplacian;
use super::row::{self, PAD};
use super::scratch::{Scratch, gains, has_gains, parts, prepare};
use super::{Frame, Tile};
use crate::plan::{Inputs, Tape};
use odeum_core::lanes::LaneWork;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Program, Scalar};

/// Computes all rows of a tile; true when every value of the output is finite.
#[inline(always)]
pub(super) fn run<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile, tape: &Tape) -> bool {
    let mut scratch = Scratch::new(frame, tile);
    let mut rhs = Runner::<L>::new(frame, &tape.rhs);
    let mut potentials = Runner::<L>::new(frame, &tape.potentials);
    let mut sound = true;
    for z in tile.z.clone() {
        if tape.n_potentials > 0 {
            let first = if z == tile.z.start { z as isize - 1 } else { z as isize + 1 };
            for plane in first..=z as isize + 1 {
                potential_plane(frame, tape, &mut potentials, &mut scratch, tile, plane);
            }
        }
        for y in tile.y.clone() {
            let scratch = &mut scratch;
            frame.isa.dispatch(Before { frame, tape, scratch: &mut *scratch, tile, y, z });
            rhs.run(frame, &tape.rhs_inputs, scratch, (y, z));
            sound &= frame.isa.dispatch(After { frame, scratch, y, z });
        }
    }
    sound
}

/// What a program wants, before it runs: Laplacians, and the gains of F.
struct Before<'a, 'f, T> {
    frame: &'a Frame<'f, T>,
    tape: &'a Tape,
    scratch: &'a mut Scratch<T>,
    tile: &'a Tile,
    y: usize,
    z: usize,
}

impl<T: Scalar> LaneWork<T> for Before<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) {
        let Before { frame, tape, scratch, tile, y, z } = self;
        let plan = frame.plan;
        let (species, stride, nx) = (plan.layout.species, scratch.stride, plan.layout.shape[0]);
        laplacians::<L>(frame, &tape.rhs_inputs, scratch, y, z);
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
            let mut parts = parts(&mut scratch.parts, stride, species + k);
            let ends = &frame.ghosts[species + k][0];
            laplacian::prepare::<L>(&plan.weights, &rows, 0, ends, &mut parts);
            laplacian::complete::<L>(plan.weights.scale, nx, &mut parts);
        }
    }
}

/// The Laplacians of species that a program reads, along a row.
#[inline(always)]
fn laplacians<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    inputs: &Inputs,
    scratch: &mut Scratch<L::Scalar>,
    y: usize,
    z: usize,
) {
    let nx = frame.plan.layout.shape[0];
    for &s in &inputs.laplacians {
        prepare::<L>(frame, scratch, s, y, z);
        let mut parts = parts(&mut scratch.parts, scratch.stride, s);
        laplacian::complete::<L>(frame.plan.weights.scale, nx, &mut parts);
    }
}

/// [`laplacians`] as work of its own.
struct Laplacians<'a, 'f, T> {
    frame: &'a Frame<'f, T>,
    inputs: &'a Inputs,
    scratch: &'a mut Scratch<T>,
    y: usize,
    z: usize,
}

impl<T: Scalar> LaneWork<T> for Laplacians<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) {
        laplacians::<L>(self.frame, self.inputs, self.scratch, self.y, self.z);
    }
}

/// The combination of a row of every species, from the slopes; true when all of it is finite.
struct After<'a, 'f, T> {
    frame: &'a Frame<'f, T>,
    scratch: &'a Scratch<T>,
    y: usize,
    z: usize,
}

impl<T: Scalar> LaneWork<T> for After<'_, '_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> bool {
        let After { frame, scratch, y, z } = self;
        let stride = scratch.stride;
        let mut spoiled = L::lit(0.0);
        for s in 0..frame.plan.layout.species {
            let slopes = &scratch.slopes[s * stride..][..stride];
            let gains = &scratch.gains[s * stride..][..stride];
            let has_gains = has_gains(frame, s);
            let mut out = Row::<L>::new(frame, s, y, z);
            let nx = out.len();
            assert!(nx.next_multiple_of(L::WIDTH) + 2 * PAD <= stride);
            let whole = nx / L::WIDTH * L::WIDTH;
            let mut x = 0;
            while x < nx {
                // SAFETY: the padded rows have room for whole packs, as asserted.
                let mut slope = unsafe { row::within::<L>(slopes, PAD + x) };
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
            add_sources(frame, s, y, z);
        }
        is_sound(spoiled)
    }
}

/// A program and its memory over wide blocks of lanes.
struct Runner<'p, L> {
    program: &'p Program,
    inputs: Vec<L>,
    outputs: Vec<L>,
    /// Holds constants and the time.
    work: Vec<L>,
}

impl<'p, L: Lanes> Runner<'p, L> {
    #[inline(always)]
    fn new(frame: &Frame<'_, L::Scalar>, program: &'p Program) -> Runner<'p, L> {
        let plan = frame.plan;
        let zeros = |count: usize| vec![L::lit(0.0); count];
        let mut work = zeros(program.workspace());
        program.load(L::lit(frame.t), &mut work);
        let inputs = zeros(2 * plan.layout.species + 3 + plan.n_potentials());
        Runner { program, inputs, outputs: zeros(program.n_outputs()), work }
    }

    /// Runs the program along row (y, z) of the field; its outputs go into the rows of
    /// slopes.
    #[inline(always)]
    fn run(
        &mut self,
        frame: &Frame<'_, L::Scalar>,
        inputs: &Inputs,
        scratch: &mut Scratch<L::Scalar>,
        (y, z): (usize, usize),
    ) {
        let plan = frame.plan;
        let (species, nx, stride) = (plan.layout.species, plan.layout.shape[0], scratch.stride);
        if inputs.coordinates[1] {
            self.inputs[2 * species + 1] = L::lit(plan.grid.centre(1, y));
        }
        if inputs.coordinates[2] {
            self.inputs[2 * species + 2] = L::lit(plan.grid.centre(2, z));
        }
        let at_row = |n: usize| 2 * n * stride + PAD;
        let mut x = 0;
        while x < nx {
            for &s in &inputs.species {
                let at = plan.layout.row_at(s, y, z);
                self.inputs[s] = row::load(&frame.u[at..at + nx], x);
            }
            for &s in &inputs.laplacians {
                let at = at_row(s) + x;
                self.inputs[species + s] = L::load(&scratch.parts[at..at + L::WIDTH]);
            }
            for &k in &inputs.beyond {
                let at = at_row(species + k) + x;
                self.inputs[2 * species + 3 + k] = L::load(&scratch.parts[at..at + L::WIDTH]);
            }
            if inputs.coordinates[0] {
                self.inputs[2 * species] = L::load(&scratch.xs[PAD + x..PAD + x + L::WIDTH]);
            }
            let Runner { program, inputs, outputs, work } = self;
            L::outline(Interpretation { program, inputs, outputs, work });
            for n in 0..outputs.len() {
                let at = n * stride + PAD + x;
                outputs[n].store(&mut scratch.slopes[at..at + L::WIDTH]);
            }
            x += L::WIDTH;
        }
    }
}

/// One run of a program, out of line: an interpreter is long.
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
    runner: &mut Runner<'_, L>,
    scratch: &mut Scratch<L::Scalar>,
    tile: &Tile,
    plane: isize,
) {
    let plan = frame.plan;
    let [nx, ny, nz] = plan.layout.shape;
    let stride = scratch.stride;
    let ghosts = &frame.ghosts[plan.layout.species];
    let inputs = &tape.potential_inputs;
    let (z, _) = row::source(plane, nz, &ghosts[2]);
    for j in 0..tile.y.len() + 2 {
        let (y, _) = row::source((tile.y.start + j) as isize - 1, ny, &ghosts[1]);
        frame.isa.dispatch(Laplacians { frame, inputs, scratch: &mut *scratch, y, z });
        runner.run(frame, inputs, scratch, (y, z));
        for k in 0..tape.n_potentials {
            let at = potential_row(tile, k, j, plane) * stride;
            let from = k * stride + PAD;
            let Scratch { potentials, slopes, .. } = scratch;
            potentials[at..at + nx].copy_from_slice(&slopes[from..from + nx]);
        }
    }
}
