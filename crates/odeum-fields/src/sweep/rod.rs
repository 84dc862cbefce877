//! Rods: steps of forward Euler of a grid of one dimension.
//!
//! A rod of some hundred cells takes less time for a step than a sweep takes to find its rows. So what
//! rows a step reads and writes is found once for all steps of a batch; they take turns. Where species
//! do nothing but diffuse, h d/Δx² is one number, and a step takes as few operations as a loop that
//! knows the equation.

use super::combine::is_sound;
use super::laplacian::{self, Nine, Sink};
use super::memory::Memory;
use super::moment::Moment;
use super::row;
use super::scratch::{self, Scratch};
use crate::native::Code;
use crate::plan::{Kernel, Plan, Tape};
use crate::walls::Ghost;
use odeum_core::lanes::LaneWork;
use odeum_core::{Lanes, Scalar};

/// Bytes of a row of Laplacians that a reaction follows at once: few, so that the first-level cache
/// keeps them beside the states.
const CHUNK: usize = 4096;

/// The most lanes of a pack that code computes.
const PACK: usize = 16;

/// Steps along rods, one for each species, from the first of two fields to there by turns.
pub struct Rods<'a, T> {
    pub(super) plan: &'a Plan<T>,
    /// Of all steps.
    pub(super) moment: &'a Moment<T>,
    /// What the reaction becomes, where there is one.
    pub(super) code: Option<&'a Code>,
    pub(super) h: f64,
    pub(super) count: u64,
    pub(super) fields: [&'a mut [T]; 2],
    pub(super) memory: &'a mut Memory<T>,
}

impl<T: Scalar> LaneWork<T> for Rods<'_, T> {
    /// Steps of which every value is finite; what came of the next lies in the other field.
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> u64 {
        match (&self.plan.kernel, self.code) {
            (Kernel::Diffusion(d), _) => self.diffuse::<L>(d),
            (Kernel::Tape(tape), Some(code)) => self.react::<L>(tape, code),
            (Kernel::Tape(_), None) => 0,
        }
    }
}

impl<T: Scalar> Rods<'_, T> {
    #[inline(always)]
    fn diffuse<L: Lanes<Scalar = T>>(self, d: &[f64]) -> u64 {
        let Rods { plan, moment, h, count, fields: [mut from, mut to], .. } = self;
        let wide = plan.layout.wide::<T>();
        for n in 0..count {
            let mut spoiled = L::lit(0.0);
            for s in 0..plan.layout.species {
                let begin = plan.layout.row_at(s, 0, 0);
                let (here, out) = (&from[begin..begin + wide], &mut to[begin..begin + wide]);
                let rod = Rod { nx: plan.layout.shape[0], here, ends: &moment.ghosts[s][0] };
                let factor = factor(plan, d[s], T::from_f64(h));
                spoiled = spoiled + rod.step::<L, false>(plan, factor, out);
            }
            if !is_sound(spoiled) {
                return n;
            }
            std::mem::swap(&mut from, &mut to);
        }
        count
    }

    #[inline(always)]
    fn react<L: Lanes<Scalar = T>>(self, tape: &Tape, code: &Code) -> u64 {
        let Rods { plan, moment, count, fields: [from, to], memory, .. } = self;
        let (species, nx, wide) =
            (plan.layout.species, plan.layout.shape[0], plan.layout.wide::<T>());
        let together = scratch::together(plan);
        let scratch = memory.scratch.get_or_insert_with(|| Box::new(Scratch::new(plan, together)));
        let Scratch { stride, laplacians, masks, pointers, .. } = &mut **scratch;
        // The rows of both turns, one after the other.
        pointers.clear();
        pointers.resize(2 * code.rows(), std::ptr::null_mut());
        let turns = [[from.as_mut_ptr(), to.as_mut_ptr()], [to.as_mut_ptr(), from.as_mut_ptr()]];
        for (rows, [from, to]) in pointers.chunks_exact_mut(code.rows()).zip(turns) {
            for s in 0..species {
                let begin = plan.layout.row_at(s, 0, 0);
                rows[s] = from.wrapping_add(begin);
                // Beside an output are its gains: there are none.
                rows[code.states() + 2 * s] = to.wrapping_add(begin);
            }
            if code.form().is_masked() {
                rows[code.rows() - 1] = masks.as_mut_ptr();
            }
        }
        let chunk = (CHUNK / size_of::<T>()).min(nx);
        let scale = L::lit(plan.weights.scale);
        for n in 0..count {
            let rows = &mut pointers[n as usize % 2 * code.rows()..][..code.rows()];
            let mut sums = [T::from_f64(0.0); PACK];
            let mut begin = 0;
            while begin < nx {
                let end = (begin + chunk).min(nx);
                for &s in &tape.rhs_inputs.laplacians {
                    // SAFETY: a row of the field that this step reads, of whole cache lines.
                    let here = unsafe { std::slice::from_raw_parts(rows[s].cast_const(), wide) };
                    let rod = Rod { nx, here, ends: &moment.ghosts[s][0] };
                    let to = &mut laplacians[s * *stride..(s + 1) * *stride];
                    let mut sink = Part::<L> { begin, scale, to };
                    rod.march(plan, begin..end, &mut sink);
                    rows[species + s] = to.as_mut_ptr().wrapping_sub(begin);
                }
                let end = if end == nx { wide } else { end };
                let bytes = [begin * size_of::<T>(), end * size_of::<T>()];
                // SAFETY: states and outputs are rows of two fields, of whole cache lines, and
                // Laplacians and masks are as long; codes are made for instructions that there are.
                unsafe { code.run(rows, &moment.numbers[0], bytes, sums.as_mut_ptr()) };
                begin = end;
            }
            if !is_sound(L::load(&sums[..L::WIDTH])) {
                return n;
            }
        }
        count
    }
}

/// h d/Δx²
#[inline(always)]
pub(super) fn factor<T: Scalar>(plan: &Plan<T>, d: f64, h: T) -> T {
    T::from_f64(d * plan.weights.scale) * h
}

/// A row of cells, of whole cache lines, and what lies beyond its ends.
#[derive(Clone, Copy)]
pub(super) struct Rod<'a, T> {
    pub(super) nx: usize,
    pub(super) here: &'a [T],
    pub(super) ends: &'a [Ghost<T>; 2],
}

impl<T: Scalar> Rod<'_, T> {
    /// Gives the second differences of some cells, of which the first begins a pack.
    #[inline(always)]
    fn march<L: Lanes<Scalar = T>>(
        &self,
        plan: &Plan<T>,
        cells: std::ops::Range<usize>,
        sink: &mut impl Sink<L>,
    ) {
        let rows = [self.here; 9];
        let nine = Nine { nx: self.nx, count: 1, row: 0, rows: &rows, ends: self.ends, ahead: 0 };
        nine.check::<L>();
        assert!(cells.end <= self.nx);
        // SAFETY: just checked.
        unsafe {
            laplacian::march::<L, { laplacian::LINE }>(&plan.weights, &nine, 0..1, cells, sink);
        }
    }

    /// Writes a step with this h d/Δx², past the caches or not; NaN in a lane when a value is not
    /// finite.
    #[inline(always)]
    pub(super) fn step<L: Lanes<Scalar = T>, const STREAMS: bool>(
        &self,
        plan: &Plan<T>,
        factor: T,
        out: &mut [T],
    ) -> L {
        assert!(out.len() >= self.nx.next_multiple_of(L::WIDTH));
        let spoiled = [L::lit(0.0); 2];
        let mut sink = Step::<L, STREAMS> { out, factor: L::splat(factor), spoiled };
        self.march(plan, 0..self.nx, &mut sink);
        sink.spoiled[0] + sink.spoiled[1]
    }
}

/// What a step writes; there is room for whole packs.
struct Step<'a, L: Lanes, const STREAMS: bool> {
    out: &'a mut [L::Scalar],
    factor: L,
    /// In turn, so that none waits for the last.
    spoiled: [L; 2],
}

impl<L: Lanes, const STREAMS: bool> Sink<L> for Step<'_, L, STREAMS> {
    #[inline(always)]
    fn take(&mut self, x: usize, cells: usize, sum: L, centre: L) {
        let mut value = sum.mul_add(self.factor, centre);
        if cells < L::WIDTH {
            value = L::select(L::from_bits((1 << cells) - 1), value, L::lit(0.0));
        }
        // SAFETY: there is room; rows begin with cache lines, and a tile that streams ends with a fence.
        unsafe {
            match STREAMS && cells == L::WIDTH {
                true => value.stream(self.out.get_unchecked_mut(x..x + L::WIDTH)),
                false => row::put(self.out, x, value),
            }
        }
        let [last, other] = self.spoiled;
        self.spoiled = [value.mul_add(L::lit(0.0), other), last];
    }
}

/// Laplacians of cells from `begin` on.
struct Part<'a, L: Lanes> {
    begin: usize,
    scale: L,
    to: &'a mut [L::Scalar],
}

impl<L: Lanes> Sink<L> for Part<'_, L> {
    #[inline(always)]
    fn take(&mut self, x: usize, _cells: usize, sum: L, _centre: L) {
        let at = x - self.begin;
        (sum * self.scale).store(&mut self.to[at..at + L::WIDTH]);
    }
}
