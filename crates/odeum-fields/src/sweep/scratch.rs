//! Memory of one thread, and what is computed in it row by row.

use super::gather::Around;
use super::laplacian::{self, Parts};
use super::row::{self, PAD};
use super::transport::{self, Speed};
use super::{Frame, Tile};
use crate::plan::Blow;
use crate::problem::Advection;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// Spare rows for ghosts: those around a row, up to two cells away.
const SPARE: usize = 16;

/// Rows from the one that is read to the one that is asked for (measured: 3 and 20 are worse).
const AHEAD: usize = 8;

/// Memory of one thread, used row by row.
pub(super) struct Scratch<T> {
    /// From a padded row to the next.
    pub(super) stride: usize,
    /// Z and G of the Laplacians of the species and of the potentials \[2 (S + K) rows\]; where F is
    /// a program, Laplacians themselves in place of Z.
    pub(super) parts: Vec<T>,
    /// What F gains from fluxes, of each species \[S rows\].
    pub(super) gains: Vec<T>,
    /// What a program gives: F of each species, or the potentials \[max(S, K) rows\].
    pub(super) slopes: Vec<T>,
    /// The row of a species with its ghosts, and a row to work in.
    pub(super) line: Vec<T>,
    pub(super) work_line: Vec<T>,
    /// The x coordinates of a row.
    pub(super) xs: Vec<T>,
    pub(super) spare: Vec<T>,
    /// Potentials in three planes of the tile and one row around \[K × 3 × (rows + 2)\].
    pub(super) potentials: Vec<T>,
}

impl<T: Scalar> Scratch<T> {
    pub(super) fn new(frame: &Frame<'_, T>, tile: &Tile) -> Scratch<T> {
        let plan = frame.plan;
        let [nx, ..] = plan.layout.shape;
        let (species, potentials) = (plan.layout.species, plan.n_potentials());
        let stride = row::stride(nx);
        let zero = T::from_f64(0.0);
        let zeros = |rows: usize| vec![zero; rows * stride];
        let mut xs = zeros(1);
        for i in 0..stride {
            // Beyond the row the coordinates go on, so that no lane meets a strange number.
            let x = plan.grid.centre(0, 0) + (i as f64 - PAD as f64) * plan.grid.spacing()[0];
            xs[i] = T::from_f64(x);
        }
        Scratch {
            stride,
            parts: zeros(2 * (species + potentials)),
            gains: zeros(species),
            slopes: zeros(species.max(potentials)),
            line: zeros(1),
            work_line: zeros(1),
            xs,
            spare: vec![zero; SPARE * nx],
            potentials: zeros(potentials * 3 * (tile.y.len() + 2)),
        }
    }
}

/// A species of the field and its surroundings.
#[inline(always)]
pub(super) fn around<'a, T: Scalar>(frame: &'a Frame<'_, T>, s: usize) -> Around<'a, T> {
    let layout = &frame.plan.layout;
    let values = &frame.u[s * layout.volume..(s + 1) * layout.volume];
    Around { values, layout, ghosts: &frame.ghosts[s] }
}

/// Z and G number `n` of the scratch rows.
#[inline(always)]
pub(super) fn parts<T>(rows: &mut [T], stride: usize, n: usize) -> Parts<'_, T> {
    let (z, g) = rows[2 * n * stride..(2 * n + 2) * stride].split_at_mut(stride);
    Parts { z, g }
}

/// Z and G of the Laplacian of a species along a row.
#[inline(always)]
pub(super) fn prepare<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    s: usize,
    y: usize,
    z: usize,
) {
    let around = around(frame, s);
    let nx = frame.plan.layout.shape[0];
    let mut spare = scratch.spare.chunks_exact_mut(nx);
    let rows = around.nine::<L>(y, z, &mut spare);
    let mut parts = parts(&mut scratch.parts, scratch.stride, s);
    let ahead = AHEAD * frame.plan.layout.row;
    let weights = &frame.plan.weights;
    laplacian::prepare::<L>(weights, &rows, ahead, &frame.ghosts[s][0], &mut parts);
}

/// What F gains from wind and from diffusion that differs from cell to cell; nothing is written
/// for a species that has neither.
#[inline(always)]
pub(super) fn gains<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    s: usize,
    y: usize,
    z: usize,
) {
    if has_gains(frame, s) {
        L::outline(Gains::<L> { frame, scratch, s, y, z });
    }
}

#[inline(always)]
pub(super) fn has_gains<T>(frame: &Frame<'_, T>, s: usize) -> bool {
    frame.plan.carried[s] || frame.plan.diffusion[s].is_some()
}

struct Gains<'a, 'f, L: Lanes> {
    frame: &'a Frame<'f, L::Scalar>,
    scratch: &'a mut Scratch<L::Scalar>,
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
