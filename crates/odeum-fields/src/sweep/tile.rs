//! The rows of one tile.

use super::gather::Around;
use super::laplacian::{self, Parts};
use super::row::{self, PAD};
use super::transport::{self, Speed};
use super::{Frame, Tile};
use crate::plan::{Blow, Inputs, Kernel, Tape};
use crate::problem::Advection;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Program, Scalar};

/// Spare rows for ghosts: those around a row, up to two cells away.
const SPARE: usize = 16;

/// Memory of one thread, used row by row.
struct Scratch<L: Lanes> {
    /// From a padded row to the next.
    stride: usize,
    /// Z and G of the Laplacians of the species and of the potentials \[2 (S + K) rows\].
    parts: Vec<L::Scalar>,
    /// What F gains from fluxes, of each species \[S rows\].
    gains: Vec<L::Scalar>,
    /// The row of a species with its ghosts, and a row to work in.
    line: Vec<L::Scalar>,
    work_line: Vec<L::Scalar>,
    /// The x coordinates of a row.
    xs: Vec<L::Scalar>,
    spare: Vec<L::Scalar>,
    /// Inputs and outputs of the programs, and their workspace.
    inputs: Vec<L>,
    outputs: Vec<L>,
    work: Vec<L>,
    /// Potentials in three planes of the tile and one row around \[K × 3 × (rows + 2)\].
    potentials: Vec<L::Scalar>,
}

impl<L: Lanes> Scratch<L> {
    #[inline(always)]
    fn new(frame: &Frame<'_, L::Scalar>, tile: &Tile) -> Scratch<L> {
        let plan = frame.plan;
        let [nx, ..] = plan.layout.shape;
        let (species, potentials) = (plan.layout.species, plan.n_potentials());
        let stride = row::stride(nx);
        let zero = L::Scalar::from_f64(0.0);
        let zeros = |rows: usize| vec![zero; rows * stride];
        let workspace = match &plan.kernel {
            Kernel::Diffusion(_) => 0,
            Kernel::Tape(tape) => tape.rhs.workspace().max(tape.potentials.workspace()),
        };
        let mut xs = zeros(1);
        for i in 0..stride {
            // Beyond the row the coordinates go on, so that no lane meets a strange number.
            let x = plan.grid.centre(0, 0) + (i as f64 - PAD as f64) * plan.grid.spacing()[0];
            xs[i] = L::Scalar::from_f64(x);
        }
        Scratch {
            stride,
            parts: zeros(2 * (species + potentials)),
            gains: zeros(species),
            line: zeros(1),
            work_line: zeros(1),
            xs,
            spare: vec![zero; SPARE * nx],
            inputs: vec![L::lit(0.0); 2 * species + 3 + potentials],
            outputs: vec![L::lit(0.0); species.max(potentials)],
            work: vec![L::lit(0.0); workspace],
            potentials: zeros(potentials * 3 * (tile.y.len() + 2)),
        }
    }
}

/// Computes all rows of a tile; true when every value of the output is finite.
#[inline(always)]
pub(super) fn run<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile) -> bool {
    if frame.slope == L::Scalar::from_f64(0.0) {
        return without_slope::<L>(frame, tile);
    }
    let mut scratch = Scratch::<L>::new(frame, tile);
    let mut spoiled = L::lit(0.0);
    match &frame.plan.kernel {
        Kernel::Diffusion(d) => {
            for z in tile.z.clone() {
                for y in tile.y.clone() {
                    for s in 0..d.len() {
                        laplacian_of_species::<L>(frame, &mut scratch, s, y, z);
                        gains::<L>(frame, &mut scratch, s, y, z);
                        let spread = d[s] * frame.plan.weights.scale;
                        spoiled = spoiled + diffuse::<L>(frame, &scratch, s, y, z, spread);
                    }
                }
            }
        }
        Kernel::Tape(tape) => {
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
        }
    }
    is_sound(spoiled)
}

/// A combination of fields alone.
#[inline(always)]
fn without_slope<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile) -> bool {
    let layout = &frame.plan.layout;
    let mut spoiled = L::lit(0.0);
    for s in 0..layout.species {
        for z in tile.z.clone() {
            for y in tile.y.clone() {
                let out = output(frame, s, y, z);
                let mut x = 0;
                while x < out.len() {
                    let value = combine(frame, out, layout.row_at(s, y, z), x, L::lit(0.0));
                    spoiled = value.mul_add(L::lit(0.0), spoiled);
                    x += L::WIDTH;
                }
            }
        }
    }
    is_sound(spoiled)
}

/// Whether a sum of zeros times values is zero: NaN and infinity would have spoiled it.
#[inline(always)]
fn is_sound<L: Lanes>(spoiled: L) -> bool {
    L::bits(spoiled.ne(spoiled)) == 0
}

/// A species of the field and its surroundings.
#[inline(always)]
fn around<'a, T: Scalar>(frame: &'a Frame<'_, T>, s: usize) -> Around<'a, T> {
    let layout = &frame.plan.layout;
    let values = &frame.u[s * layout.volume..(s + 1) * layout.volume];
    Around { values, layout, ghosts: &frame.ghosts[s] }
}

/// Z and G number `n` of the scratch rows.
#[inline(always)]
fn parts<T>(rows: &mut [T], stride: usize, n: usize) -> Parts<'_, T> {
    let (z, g) = rows[2 * n * stride..(2 * n + 2) * stride].split_at_mut(stride);
    Parts { z, g }
}

#[inline(always)]
fn laplacian_of_species<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    scratch: &mut Scratch<L>,
    s: usize,
    y: usize,
    z: usize,
) {
    let around = around(frame, s);
    let nx = frame.plan.layout.shape[0];
    let mut spare = scratch.spare.chunks_exact_mut(nx);
    let rows = around.nine::<L>(y, z, &mut spare);
    let mut parts = parts(&mut scratch.parts, scratch.stride, s);
    laplacian::prepare::<L>(&frame.plan.weights, &rows, &frame.ghosts[s][0], &mut parts);
}

/// What F gains from wind and from diffusion that differs from cell to cell; nothing is written
/// for a species that has neither.
#[inline(always)]
fn gains<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    scratch: &mut Scratch<L>,
    s: usize,
    y: usize,
    z: usize,
) {
    if has_gains(frame, s) {
        L::outline(Gains { frame, scratch, s, y, z });
    }
}

#[inline(always)]
fn has_gains<T>(frame: &Frame<'_, T>, s: usize) -> bool {
    frame.plan.carried[s] || frame.plan.diffusion[s].is_some()
}

struct Gains<'a, 'f, L: Lanes> {
    frame: &'a Frame<'f, L::Scalar>,
    scratch: &'a mut Scratch<L>,
    s: usize,
    y: usize,
    z: usize,
}

impl<L: Lanes> Outlined for Gains<'_, '_, L> {
    #[inline(always)]
    fn run(self) {
        let Gains { frame, scratch, s, y, z } = self;
        let plan = frame.plan;
        let nx = plan.layout.shape[0];
        let around = around(frame, s);
        let stride = scratch.stride;
        let sum = &mut scratch.gains[s * stride..(s + 1) * stride];
        sum.fill(L::Scalar::from_f64(0.0));
        let line = &mut scratch.line;
        line[PAD..PAD + nx].copy_from_slice(around.row(y, z));
        row::fill_ends(line, nx, &frame.ghosts[s][0]);
        let in_array = |field: &'_ crate::Field<L::Scalar>| *field.layout();
        if plan.carried[s] {
            match (&plan.wind, plan.advection) {
                (Some(Blow::Uniform(_)), Advection::Upwind) => {
                    transport::upwind::<L>(
                        &around,
                        (y, z),
                        frame.speed,
                        line,
                        &mut scratch.spare,
                        sum,
                    );
                }
                (Some(wind), advection) => {
                    let layout;
                    let speed = match wind {
                        Blow::Uniform(_) => Speed::Uniform(frame.speed),
                        Blow::Cells(field) => {
                            layout = in_array(field);
                            let axis = |axis: usize| Around {
                                values: &field.values()[axis * layout.volume..],
                                layout: &layout,
                                ghosts: &frame.inherited,
                            };
                            Speed::Cells([axis(0), axis(1), axis(2)])
                        }
                    };
                    transport::fluxes::<L>(
                        &around,
                        (y, z),
                        advection,
                        &speed,
                        (line, &mut scratch.work_line),
                        &mut scratch.spare,
                        sum,
                    );
                }
                (None, _) => {}
            }
        }
        if let Some(field) = &plan.diffusion[s] {
            let layout = in_array(field);
            let coefficients =
                Around { values: field.values(), layout: &layout, ghosts: &frame.inherited };
            let per_area = plan.grid.spacing().map(|h| 1.0 / (h * h));
            transport::diffusion::<L>(
                &around,
                &coefficients,
                (y, z),
                per_area,
                (line, &mut scratch.work_line),
                &mut scratch.spare,
                sum,
            );
        }
    }
}

/// The row of the output, to write.
#[inline(always)]
#[allow(clippy::mut_from_ref)]
fn output<'a, T>(frame: &'a Frame<'_, T>, s: usize, y: usize, z: usize) -> &'a mut [T] {
    let layout = &frame.plan.layout;
    // SAFETY: the row lies within the layout; every row belongs to one tile, and within a tile
    // it is asked for once.
    unsafe { frame.out.values(layout.row_at(s, y, z), layout.shape[0]) }
}

/// The combination at `x` of a row that begins at `at`, from F there; it is given back too, with
/// zeros in the lanes beyond the row.
#[inline(always)]
fn combine<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    out: &mut [L::Scalar],
    at: usize,
    x: usize,
    slope: L,
) -> L {
    let nx = out.len();
    let mut sum = slope * L::splat(frame.slope);
    for (factor, values) in &frame.terms {
        let row = &values[at..at + nx];
        sum = row::load::<L>(row, x).mul_add(L::splat(*factor), sum);
    }
    if let Some(own) = frame.own {
        sum = row::load::<L>(out, x).mul_add(L::splat(own), sum);
    }
    row::store(out, x, sum);
    if x + L::WIDTH <= nx {
        return sum;
    }
    L::select(L::from_bits((1 << (nx - x)) - 1), sum, L::lit(0.0))
}

/// Adds point sources that lie in a row.
#[inline(always)]
fn add_sources<T: Scalar>(frame: &Frame<'_, T>, out: &mut [T], s: usize, y: usize, z: usize) {
    for (species, cell, rate) in &frame.sources {
        if (*species, cell[1], cell[2]) == (s, y, z) {
            out[cell[0]] = out[cell[0]] + frame.slope * T::from_f64(*rate);
        }
    }
}

/// A row of the output where F = d L and gains; NaN in a lane when a value is not finite.
#[inline(always)]
fn diffuse<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    scratch: &Scratch<L>,
    s: usize,
    y: usize,
    z: usize,
    spread: f64,
) -> L {
    let mut spoiled = L::lit(0.0);
    let stride = scratch.stride;
    let zs = &scratch.parts[2 * s * stride..][..stride];
    let gs = &scratch.parts[(2 * s + 1) * stride..][..stride];
    let gains = &scratch.gains[s * stride..][..stride];
    let spread = L::lit(spread);
    let has_gains = has_gains(frame, s);
    let at = frame.plan.layout.row_at(s, y, z);
    let out = output(frame, s, y, z);
    let nx = out.len();
    let mut x = 0;
    while x < nx {
        let mut slope = laplacian::finish::<L>(zs, gs, x) * spread;
        if has_gains {
            slope = slope + L::load(&gains[PAD + x..PAD + x + L::WIDTH]);
        }
        spoiled = combine(frame, out, at, x, slope).mul_add(L::lit(0.0), spoiled);
        x += L::WIDTH;
    }
    add_sources(frame, out, s, y, z);
    spoiled
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
        laplacian_of_species::<L>(frame, scratch, s, y, z);
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
        let mut parts = parts(&mut scratch.parts, stride, species + k);
        let ends = &frame.ghosts[species + k][0];
        laplacian::prepare::<L>(&plan.weights, &rows, ends, &mut parts);
    }
    let mut x = 0;
    while x < nx {
        read_inputs(frame, &tape.rhs_inputs, scratch, (x, y, z));
        let scale = L::lit(plan.weights.scale);
        for &k in &tape.rhs_inputs.beyond {
            scratch.inputs[2 * species + 3 + k] = laplacian_at(scratch, species + k, x) * scale;
        }
        interpret(frame, &tape.rhs, scratch);
        for s in 0..species {
            let mut slope = scratch.outputs[s];
            if has_gains(frame, s) {
                let at = s * stride + PAD + x;
                slope = slope + L::load(&scratch.gains[at..at + L::WIDTH]);
            }
            let out = output(frame, s, y, z);
            let value = combine(frame, out, plan.layout.row_at(s, y, z), x, slope);
            spoiled = value.mul_add(L::lit(0.0), spoiled);
        }
        x += L::WIDTH;
    }
    if !frame.sources.is_empty() {
        for s in 0..species {
            add_sources(frame, output(frame, s, y, z), s, y, z);
        }
    }
    spoiled
}

#[inline(always)]
fn laplacian_at<L: Lanes>(scratch: &Scratch<L>, n: usize, x: usize) -> L {
    let stride = scratch.stride;
    let zs = &scratch.parts[2 * n * stride..][..stride];
    let gs = &scratch.parts[(2 * n + 1) * stride..][..stride];
    laplacian::finish(zs, gs, x)
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
#[inline(always)]
fn interpret<L: Lanes>(frame: &Frame<'_, L::Scalar>, program: &Program, scratch: &mut Scratch<L>) {
    let Scratch { inputs, outputs, work, .. } = scratch;
    L::outline(Interpretation { program, t: L::lit(frame.t), inputs, outputs, work });
}

struct Interpretation<'a, L> {
    program: &'a Program,
    t: L,
    inputs: &'a [L],
    outputs: &'a mut [L],
    work: &'a mut [L],
}

impl<L: Lanes> Outlined for Interpretation<'_, L> {
    #[inline(always)]
    fn run(self) {
        self.program.run(self.t, self.inputs, &[], self.outputs, self.work);
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
            laplacian_of_species::<L>(frame, scratch, s, y, z);
        }
        let mut x = 0;
        while x < nx {
            read_inputs(frame, &tape.potential_inputs, scratch, (x, y, z));
            interpret(frame, &tape.potentials, scratch);
            for k in 0..tape.n_potentials {
                let at = potential_row(tile, k, j, plane) * stride;
                let row = &mut scratch.potentials[at..at + nx];
                row::store(row, x, scratch.outputs[k]);
            }
            x += L::WIDTH;
        }
    }
}
