//! Rods: steps of forward Euler of a grid of one dimension.
//!
//! Each lane has a stretch of the rod of its own: of n cells and W lanes, lane l has the m = ⌈n/W⌉
//! cells from l·m on, and pack j holds the j-th cell of every stretch. So the neighbours of a pack are
//! the packs before and behind it, and no value is moved from lane to lane but at the two ends of
//! the stretches, once a step. A batch of steps brings its rows into this order and back.
//!
//! T. Henretty et al., *Data layout transformation for stencil computations on short-vector SIMD
//! architectures*, Compiler Construction 2011.

use super::combine::is_finite;
use super::laplacian::{self, Nine, Sink};
use super::memory::Memory;
use super::moment::Moment;
use super::rod_rows::{Rows, Turns};
use super::row;
use crate::cpu::native::Code;
use crate::plan::{Kernel, Plan};
use crate::problem::boundaries::Ghost;
use odeum_core::lanes::LaneWork;
use odeum_core::{Lanes, Scalar};

/// Steps of a batch from which on it is worth it to bring rows into another order.
pub(super) const FEWEST: u64 = 16;

/// The most lanes of a pack that code computes.
const PACK: usize = 16;

/// Steps along rods, one for each species, from the first of two fields to there by turns.
pub struct Rods<'a, T> {
    pub(super) plan: &'a Plan<T>,
    /// Of all steps.
    pub(super) moment: &'a Moment<T>,
    /// What the reaction becomes, where there is one: without and with a look at values.
    pub(super) codes: Option<&'a [Code; 2]>,
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
        let Rods { plan, moment, codes, h, count, fields, memory } = self;
        let species = plan.layout.species;
        let order = Order::new::<L>(plan.layout.shape[0]);
        let rows = memory.rods.get_or_insert_with(|| Rows::new(order.packs, L::WIDTH, species));
        let factors = match &plan.kernel {
            Kernel::Diffusion(d) => d.iter().map(|d| factor(plan, *d, T::from_f64(h))).collect(),
            Kernel::Tape(_) => Vec::new(),
        };
        let mut taken = 0;
        // What is not finite stays so: a look from time to time finds it, and all looks find when.
        for every in [WATCH, 1] {
            for s in 0..species {
                order.bring::<L>(&fields[0][plan.layout.row_at(s, 0, 0)..], rows.cells(0, s));
            }
            let turns = rows.turns(species);
            let batch = Batch { order: &order, turns: &turns, moment, count, every };
            // SAFETY: rows of this order, with a pack before and behind each, that nothing else uses
            // until all steps are taken.
            taken = unsafe {
                match (&plan.kernel, codes) {
                    (Kernel::Diffusion(_), _) => {
                        batch.take::<L, _>(Diffusion { factors: &factors, turns: &turns })
                    }
                    (Kernel::Tape(tape), Some(codes)) => {
                        let reads = &tape.rhs_inputs.laplacians;
                        batch.take::<L, _>(Reaction::new(codes, reads, moment, &turns))
                    }
                    (Kernel::Tape(_), None) => return 0,
                }
            };
            if taken == count {
                break;
            }
        }
        // Of steps that all succeeded the last is asked for alone.
        let turns = (0..2).filter(|turn| taken < count || *turn as u64 == taken % 2);
        for turn in turns {
            for s in 0..species {
                let begin = plan.layout.row_at(s, 0, 0);
                order.take_back::<L>(rows.cells(turn, s), &mut fields[turn][begin..]);
            }
        }
        taken
    }
}

/// Where the cells of a rod lie.
struct Order {
    nx: usize,
    /// Cells of a lane, of which the last lanes may have fewer or none: packs.
    packs: usize,
    /// Stretches that are full, and cells of the one after them.
    full: usize,
    rest: usize,
    /// The place of the last cell from the first on, and, where a lane has room for it, that of what
    /// lies behind it.
    last: usize,
    behind: Option<usize>,
}

impl Order {
    fn new<L: Lanes>(nx: usize) -> Order {
        let packs = nx.div_ceil(L::WIDTH);
        let place = |cell: usize| cell % packs * L::WIDTH + cell / packs;
        let behind = (nx < packs * L::WIDTH).then(|| place(nx));
        Order { nx, packs, full: nx / packs, rest: nx % packs, last: place(nx - 1), behind }
    }

    /// Copies a row to this order.
    #[inline(always)]
    fn bring<L: Lanes>(&self, row: &[L::Scalar], cells: &mut [L::Scalar]) {
        for (lane, stretch) in row[..self.nx].chunks(self.packs).enumerate() {
            for (pack, value) in cells.chunks_exact_mut(L::WIDTH).zip(stretch) {
                pack[lane] = *value;
            }
        }
    }

    /// Copies what is in this order to a row.
    #[inline(always)]
    fn take_back<L: Lanes>(&self, cells: &[L::Scalar], row: &mut [L::Scalar]) {
        for (lane, stretch) in row[..self.nx].chunks_mut(self.packs).enumerate() {
            for (pack, value) in cells.chunks_exact(L::WIDTH).zip(stretch) {
                *value = pack[lane];
            }
        }
    }

    /// Writes what lies beyond the ends of each stretch of a row.
    ///
    /// # Safety
    ///
    /// The row is of this order, with a pack before and behind, and nothing else uses it.
    #[inline(always)]
    unsafe fn surround<L: Lanes>(&self, cells: *mut L::Scalar, ends: &[Ghost<L::Scalar>; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            let (first, last) = (*cells, *cells.add(self.last));
            let before = beyond(&ends[0], last, first);
            let after = beyond(&ends[1], first, last);
            if let Some(behind) = self.behind {
                *cells.add(behind) = after;
            }
            let (lowest, highest) = (pack::<L>(cells, 0), pack::<L>(cells, self.packs - 1));
            put(cells.sub(L::WIDTH), highest.shifted_up(L::splat(before)));
            put(cells.add(self.packs * L::WIDTH), lowest.shifted_down(L::splat(after)));
        }
    }

    /// The packs of which equally many lanes are cells, and how many are.
    fn parts(&self) -> [([usize; 2], usize); 2] {
        [([0, self.rest], self.full + 1), ([self.rest, self.packs], self.full)]
    }
}

/// Steps from one look at values to the next.
const WATCH: u64 = 64;

/// What a step makes of packs.
trait Step<L: Lanes> {
    /// The species whose neighbours are read.
    fn reads(&self, species: usize) -> impl Iterator<Item = usize>;

    /// Writes some packs of all species of the other turn; where it looks, NaN in a lane when a value
    /// is not finite.
    ///
    /// # Safety
    ///
    /// The rows have these packs, with one before and one behind them, and nothing else uses them.
    unsafe fn packs(&self, turn: usize, packs: [usize; 2], looks: bool) -> L;
}

/// Steps that are taken one after the other, with a look at values `every` so many steps and at the end.
struct Batch<'a, T> {
    order: &'a Order,
    turns: &'a Turns<T>,
    moment: &'a Moment<T>,
    count: u64,
    every: u64,
}

impl<T: Scalar> Batch<'_, T> {
    /// Gives the number of all steps, or of those before the first whose values were looked at and not
    /// all finite.
    ///
    /// # Safety
    ///
    /// The rows of the turns are of this order, with a pack before and behind each, and nothing else
    /// uses them.
    #[inline(always)]
    unsafe fn take<L: Lanes<Scalar = T>, S: Step<L>>(&self, step: S) -> u64 {
        let Batch { order, turns, moment, count, every } = *self;
        let parts = order.parts();
        let read: Vec<_> = step.reads(turns[0].len()).map(|s| (s, &moment.ghosts[s][0])).collect();
        for n in 0..count {
            let turn = (n % 2) as usize;
            for (s, ends) in &read {
                // SAFETY: the caller's promise.
                unsafe { order.surround::<L>(turns[turn][*s], ends) };
            }
            let looks = n % every == every - 1 || n + 1 == count;
            let mut finite = true;
            for (packs, lanes) in parts {
                if packs[0] < packs[1] {
                    // SAFETY: the caller's promise.
                    let non_finite = unsafe { step.packs(turn, packs, looks) };
                    // Lanes that hold no cells hold anything.
                    let counted = L::from_bits((1 << lanes) - 1);
                    finite &= is_finite(L::select(counted, non_finite, L::lit(0.0)));
                }
            }
            if looks && !finite {
                return n;
            }
        }
        count
    }
}

/// What lies beyond a boundary, from the cell at the other end of the rod and that before the boundary.
#[inline(always)]
fn beyond<T: Scalar>(ghost: &Ghost<T>, other: T, mirror: T) -> T {
    match ghost {
        Ghost::Wrap => other,
        ghost => laplacian::end(ghost, T::from_f64(1.0), mirror),
    }
}

/// Species that do nothing but diffuse, with their h d/Δx².
struct Diffusion<'a, T> {
    factors: &'a [T],
    turns: &'a Turns<T>,
}

impl<L: Lanes> Step<L> for Diffusion<'_, L::Scalar> {
    fn reads(&self, species: usize) -> impl Iterator<Item = usize> {
        0..species
    }

    #[inline(always)]
    unsafe fn packs(&self, turn: usize, packs: [usize; 2], looks: bool) -> L {
        let mut non_finite = [L::lit(0.0); 2];
        for (s, factor) in self.factors.iter().enumerate() {
            let (from, to) = (self.turns[turn][s], self.turns[1 - turn][s]);
            // SAFETY: the caller's promise.
            let of_rod = unsafe {
                match looks {
                    true => diffuse::<L, true>(from, to, packs, L::splat(*factor)),
                    false => diffuse::<L, false>(from, to, packs, L::splat(*factor)),
                }
            };
            non_finite = [non_finite[0] + of_rod[0], non_finite[1] + of_rod[1]];
        }
        non_finite[0] + non_finite[1]
    }
}

/// Packs that are computed in one round of a loop.
const ROUND: usize = 4;

/// One step of diffusion of some packs; where it looks, zero times all values in two sums.
///
/// # Safety
///
/// There are these packs, one before and one behind them at `from`, and nothing else uses those at `to`.
#[inline(always)]
unsafe fn diffuse<L: Lanes, const LOOKS: bool>(
    from: *const L::Scalar,
    to: *mut L::Scalar,
    [begin, end]: [usize; 2],
    factor: L,
) -> [L; 2] {
    let mut non_finite = [L::lit(0.0); 2];
    // SAFETY: the caller's promise.
    unsafe {
        let mut around = [pack::<L>(from.sub(L::WIDTH), begin), pack::<L>(from, begin)];
        let mut at = begin;
        while at + ROUND <= end {
            for k in 0..ROUND {
                let next = pack::<L>(from, at + k + 1);
                let value = one_step(around, next, factor, to, at + k);
                if LOOKS {
                    non_finite[k % 2] = value.mul_add(L::lit(0.0), non_finite[k % 2]);
                }
                around = [around[1], next];
            }
            at += ROUND;
        }
        while at < end {
            let next = pack::<L>(from, at + 1);
            let value = one_step(around, next, factor, to, at);
            if LOOKS {
                non_finite[0] = value.mul_add(L::lit(0.0), non_finite[0]);
            }
            around = [around[1], next];
            at += 1;
        }
    }
    non_finite
}

/// # Safety
///
/// There is this pack.
#[inline(always)]
unsafe fn pack<L: Lanes>(row: *const L::Scalar, at: usize) -> L {
    // SAFETY: the caller's promise.
    L::load(unsafe { std::slice::from_raw_parts(row.add(at * L::WIDTH), L::WIDTH) })
}

/// # Safety
///
/// There is room for a pack.
#[inline(always)]
unsafe fn put<L: Lanes>(to: *mut L::Scalar, value: L) {
    // SAFETY: the caller's promise.
    value.store(unsafe { std::slice::from_raw_parts_mut(to, L::WIDTH) });
}

/// # Safety
///
/// There is this pack at `to`.
#[inline(always)]
unsafe fn one_step<L: Lanes>(
    [before, centre]: [L; 2],
    next: L,
    factor: L,
    to: *mut L::Scalar,
    at: usize,
) -> L {
    let sum = L::lit(-2.0).mul_add(centre, before + next);
    let value = sum.mul_add(factor, centre);
    // SAFETY: the caller's promise.
    unsafe { put(to.add(at * L::WIDTH), value) };
    value
}

/// A reaction, by machine code.
struct Reaction<'a, T> {
    codes: &'a [Code; 2],
    reads: &'a [usize],
    moment: &'a Moment<T>,
    /// What each turn reads and writes.
    pointers: [Vec<*mut T>; 2],
}

impl<'a, T: Scalar> Reaction<'a, T> {
    fn new(
        codes: &'a [Code; 2],
        reads: &'a [usize],
        moment: &'a Moment<T>,
        turns: &Turns<T>,
    ) -> Reaction<'a, T> {
        let code = &codes[0];
        let pointers = [0, 1].map(|turn| {
            let mut pointers = vec![std::ptr::null_mut(); code.rows()];
            for (s, (from, to)) in turns[turn].iter().zip(&turns[1 - turn]).enumerate() {
                pointers[s] = *from;
                // Beside an output are its gains: there are none.
                pointers[code.states() + 2 * s] = *to;
            }
            pointers
        });
        Reaction { codes, reads, moment, pointers }
    }
}

impl<L: Lanes> Step<L> for Reaction<'_, L::Scalar> {
    fn reads(&self, _: usize) -> impl Iterator<Item = usize> {
        self.reads.iter().copied()
    }

    #[inline(always)]
    unsafe fn packs(&self, turn: usize, packs: [usize; 2], looks: bool) -> L {
        let mut sums = [L::Scalar::from_f64(0.0); PACK];
        let bytes = packs.map(|pack| pack * L::WIDTH * size_of::<L::Scalar>());
        let (code, numbers) = (&self.codes[usize::from(looks)], &self.moment.numbers[0]);
        // SAFETY: the caller's promise; what a turn writes it does not read. Codes are made for
        // instructions that there are.
        unsafe { code.run(&self.pointers[turn], numbers, bytes, sums.as_mut_ptr()) };
        L::load(&sums[..L::WIDTH])
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
        let non_finite = [L::lit(0.0); 2];
        let mut sink = Written::<L, STREAMS> { out, factor: L::splat(factor), non_finite };
        let rows = [self.here; 9];
        let (nx, ends) = (self.nx, self.ends);
        let nine = Nine { nx, count: 1, row: 0, rows: &rows, ends, corners: None, ahead: 0 };
        laplacian::along(&plan.weights, &nine, &mut sink);
        sink.non_finite[0] + sink.non_finite[1]
    }
}

/// What a step writes; there is room for whole packs.
struct Written<'a, L: Lanes, const STREAMS: bool> {
    out: &'a mut [L::Scalar],
    factor: L,
    /// In turn, so that none waits for the last.
    non_finite: [L; 2],
}

impl<L: Lanes, const STREAMS: bool> Sink<L> for Written<'_, L, STREAMS> {
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
        let [last, other] = self.non_finite;
        self.non_finite = [value.mul_add(L::lit(0.0), other), last];
    }
}
