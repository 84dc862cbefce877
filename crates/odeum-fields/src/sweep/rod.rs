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
use super::scratch;
use crate::memory::{LINE, Lined};
use crate::native::Code;
use crate::plan::{Kernel, Plan, Tape};
use crate::walls::Ghost;
use odeum_core::lanes::LaneWork;
use odeum_core::{Lanes, Scalar};

/// Steps of a batch from which on it is worth it to copy the rows of a reaction.
pub(super) const FEWEST: u64 = 4;

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

    /// The rows are copies with a cell before the first and behind the last, so that code reads
    /// neighbours where it reads cells.
    #[inline(always)]
    fn react<L: Lanes<Scalar = T>>(self, tape: &Tape, code: &Code) -> u64 {
        let Rods { plan, moment, count, mut fields, memory, .. } = self;
        let (species, nx, wide) =
            (plan.layout.species, plan.layout.shape[0], plan.layout.wide::<T>());
        let line = LINE / size_of::<T>();
        let stride = line + wide + line;
        // Those of both turns, and the masks.
        let zero = T::from_f64(0.0);
        let rods = memory.rods.get_or_insert_with(|| Lined::new(zero, (2 * species + 1) * stride));
        let place = |turn: usize, s: usize| (turn * species + s) * stride + line;
        for s in 0..species {
            let begin = plan.layout.row_at(s, 0, 0);
            rods[place(0, s)..][..wide].copy_from_slice(&fields[0][begin..begin + wide]);
        }
        rods[place(2, 0)..][..nx].fill(scratch::ones());
        let first = rods.as_mut_ptr();
        // What each turn reads and writes, one after the other.
        let mut pointers = vec![std::ptr::null_mut(); 2 * code.rows()];
        for (turn, rows) in pointers.chunks_exact_mut(code.rows()).enumerate() {
            for s in 0..species {
                rows[s] = first.wrapping_add(place(turn, s));
                // Beside an output are its gains: there are none.
                rows[code.states() + 2 * s] = first.wrapping_add(place(1 - turn, s));
            }
            if code.form().is_masked() {
                rows[code.rows() - 1] = first.wrapping_add(place(2, 0));
            }
        }
        let bytes = [0, wide * size_of::<T>()];
        let mut taken = count;
        for n in 0..count {
            let rows = &pointers[n as usize % 2 * code.rows()..][..code.rows()];
            for &s in &tape.rhs_inputs.laplacians {
                // SAFETY: a row of `rods`, with a line of cells on each side.
                unsafe { surround(rows[s], nx, &moment.ghosts[s][0]) };
            }
            let mut sums = [zero; PACK];
            // SAFETY: all rows are parts of `rods`, of whole cache lines with a line beside them; those that
            // are written are the other turn's. Codes are made for instructions that there are.
            unsafe { code.run(rows, &moment.numbers[0], bytes, sums.as_mut_ptr()) };
            if !is_sound(L::load(&sums[..L::WIDTH])) {
                taken = n;
                break;
            }
        }
        for (turn, field) in fields.iter_mut().enumerate() {
            for s in 0..species {
                let begin = plan.layout.row_at(s, 0, 0);
                field[begin..begin + nx].copy_from_slice(&rods[place(turn, s)..][..nx]);
            }
        }
        taken
    }
}

/// Writes what lies beyond the ends of a row of `nx` cells.
///
/// # Safety
/// There is a cell before the row and one behind it, and nobody else uses any of them.
#[inline(always)]
unsafe fn surround<T: Scalar>(row: *mut T, nx: usize, ends: &[Ghost<T>; 2]) {
    let one = T::from_f64(1.0);
    // SAFETY: the caller's word.
    unsafe {
        let (first, last) = (*row, *row.add(nx - 1));
        *row.sub(1) = match &ends[0] {
            Ghost::Wrap => last,
            ghost => laplacian::end(ghost, one, first),
        };
        *row.add(nx) = match &ends[1] {
            Ghost::Wrap => first,
            ghost => laplacian::end(ghost, one, last),
        };
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
