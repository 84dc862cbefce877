//! One row of F for all species, and what a sweep makes of it.

use super::combine::Row;
use super::laplacian;
use super::program::{self, Which};
use super::row::{self, PAD};
use super::scratch::{Origin, Scratch, gains, has_gains, parts, prepare};
use crate::plan::{Inputs, Kernel, Plan};
use odeum_core::Lanes;

/// Computes what F of row (y, z) is made of: Laplacians in parts, gains, and the slopes of a
/// program. Laplacians of potentials have been completed before.
#[inline(always)]
pub(super) fn compute<L: Lanes>(
    origin: &Origin<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    at: (isize, isize),
) {
    let plan = origin.plan;
    for s in 0..plan.layout.species {
        gains::<L>(origin, scratch, s, at);
    }
    match &plan.kernel {
        Kernel::Diffusion(d) => {
            for s in 0..d.len() {
                prepare::<L>(origin, scratch, s, at);
            }
        }
        Kernel::Tape(tape) => {
            laplacians::<L>(origin, &tape.rhs_inputs, scratch, at);
            program::run::<L>(Which::Rhs, tape, origin, scratch, at);
        }
    }
}

/// The Laplacians of species that a program reads, along a row.
#[inline(always)]
pub(super) fn laplacians<L: Lanes>(
    origin: &Origin<'_, L::Scalar>,
    inputs: &Inputs,
    scratch: &mut Scratch<L::Scalar>,
    at: (isize, isize),
) {
    let plan = origin.plan;
    for &s in &inputs.laplacians {
        prepare::<L>(origin, scratch, s, at);
        let mut parts = parts(&mut scratch.parts, scratch.stride, s);
        laplacian::complete::<L>(plan.weights.scale, plan.layout.shape[0], &mut parts);
    }
}

/// Writes the row of a species from what is [computed](compute); NaN in a lane when a value is
/// not finite.
#[inline(always)]
pub(super) fn write<L: Lanes>(
    plan: &Plan<L::Scalar>,
    scratch: &Scratch<L::Scalar>,
    s: usize,
    out: &mut Row<'_, L>,
) -> L {
    let stride = scratch.stride;
    let padded = |rows: usize| rows * stride..(rows + 1) * stride;
    let gains = has_gains(plan, s).then_some(&scratch.gains[padded(s)]);
    match &plan.kernel {
        Kernel::Diffusion(d) => {
            let (z, g) = (&scratch.parts[padded(2 * s)], &scratch.parts[padded(2 * s + 1)]);
            let spread = L::lit(d[s] * plan.weights.scale);
            finish(&Parts { z, g, spread }, gains, out)
        }
        Kernel::Tape(_) => finish(&Slopes(&scratch.slopes[padded(s)]), gains, out),
    }
}

/// F but for gains, along a padded row.
trait Slope<L: Lanes> {
    fn len(&self) -> usize;

    /// # Safety
    ///
    /// `PAD + x + L::WIDTH` is smaller than the length.
    unsafe fn at(&self, x: usize) -> L;
}

/// A Laplacian in parts, and what it is multiplied by.
struct Parts<'a, L: Lanes> {
    z: &'a [L::Scalar],
    g: &'a [L::Scalar],
    spread: L,
}

impl<L: Lanes> Slope<L> for Parts<'_, L> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.z.len().min(self.g.len())
    }

    #[inline(always)]
    unsafe fn at(&self, x: usize) -> L {
        // SAFETY: the caller's promise.
        unsafe { laplacian::finish::<L>(self.z, self.g, x) * self.spread }
    }
}

/// The slopes of a program.
struct Slopes<'a, T>(&'a [T]);

impl<L: Lanes> Slope<L> for Slopes<'_, L::Scalar> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    unsafe fn at(&self, x: usize) -> L {
        // SAFETY: the caller's promise.
        unsafe { row::within(self.0, PAD + x) }
    }
}

#[inline(always)]
fn finish<L: Lanes>(
    slopes: &impl Slope<L>,
    gains: Option<&[L::Scalar]>,
    out: &mut Row<'_, L>,
) -> L {
    let (cells, whole) = out.cells();
    let wide = cells.next_multiple_of(L::WIDTH) + 2 * PAD;
    assert!(wide <= slopes.len() && gains.is_none_or(|gains| wide <= gains.len()));
    let (mut x, mut spoiled) = (0, L::lit(0.0));
    while x < cells {
        // SAFETY: the padded rows have room for whole packs, as asserted.
        let mut slope = unsafe { slopes.at(x) };
        if let Some(gains) = gains {
            // SAFETY: as above.
            slope = slope + unsafe { row::within::<L>(gains, PAD + x) };
        }
        // SAFETY: `x` is below the number of cells; tiles end with a fence.
        let value = unsafe { if x < whole { out.whole(x, slope) } else { out.part(x, slope) } };
        spoiled = value.mul_add(L::lit(0.0), spoiled);
        x += L::WIDTH;
    }
    spoiled
}
