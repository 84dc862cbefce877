//! Rods: steps of forward Euler of a grid of one dimension.
//!
//! Each lane has a stretch of the rod of its own: of n cells and W lanes, lane l has the m = ⌈n/W⌉
//! cells from l·m on, and pack j holds the j-th cell of every stretch. So the neighbours of a pack are
//! the packs before and behind it, and no value is moved from lane to lane but at the two ends of
//! the stretches, once a step. A batch of steps brings its rows into this order and back.
//!
//! T. Henretty et al., *Data layout transformation for stencil computations on short-vector SIMD
//! architectures*, Compiler Construction 2011.

use super::combine::is_sound;
use super::laplacian::{self, Nine, Sink};
use super::memory::Memory;
use super::moment::Moment;
use super::row;
use crate::memory::{LINE, Lined};
use crate::native::Code;
use crate::plan::{Kernel, Plan};
use crate::walls::Ghost;
use odeum_core::lanes::LaneWork;
use odeum_core::{Lanes, Scalar};

/// Steps of a batch from which on it is worth it to bring rows into another order.
pub(super) const FEWEST: u64 = 16;

/// The most lanes of a pack that code computes.
const PACK: usize = 16;

/// Bytes after which addresses look the same to loads that wait for stores.
const PAGE: usize = 4096;

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
        let Rods { plan, moment, code, h, count, fields, memory } = self;
        let species = plan.layout.species;
        let order = Order::new::<L>(plan.layout.shape[0]);
        let rows = memory.rods.get_or_insert_with(|| Rows::new::<L>(&order, species));
        for s in 0..species {
            order.bring::<L>(&fields[0][plan.layout.row_at(s, 0, 0)..], rows.cells(0, s));
        }
        let turns = rows.turns(species);
        // SAFETY: rows of this order, with a pack before and behind each, that nothing else uses until
        // all steps are taken.
        let taken = unsafe {
            match (&plan.kernel, code) {
                (Kernel::Diffusion(d), _) => {
                    let factors = d.iter().map(|d| factor(plan, *d, T::from_f64(h))).collect();
                    let step = Diffusion { factors, turns: &turns };
                    steps::<L, _>(step, &order, &turns, moment, count)
                }
                (Kernel::Tape(tape), Some(code)) => {
                    let step = Reaction::new(code, &tape.rhs_inputs.laplacians, moment, &turns);
                    steps::<L, _>(step, &order, &turns, moment, count)
                }
                (Kernel::Tape(_), None) => 0,
            }
        };
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
}

impl Order {
    fn new<L: Lanes>(nx: usize) -> Order {
        let packs = nx.div_ceil(L::WIDTH);
        Order { nx, packs, full: nx / packs, rest: nx % packs }
    }

    /// The place of a cell from the first on.
    fn place<L: Lanes>(&self, cell: usize) -> usize {
        cell % self.packs * L::WIDTH + cell / self.packs
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

    /// The packs of which equally many lanes are cells, and how many are.
    fn parts(&self) -> [([usize; 2], usize); 2] {
        [([0, self.rest], self.full + 1), ([self.rest, self.packs], self.full)]
    }
}

/// The rows of both turns, each with a pack before its first and behind its last.
pub(super) struct Rows<T> {
    values: Lined<T>,
    /// From a row to the next of the same turn, and from one turn to the other.
    row: usize,
    turn: usize,
    pack: usize,
    packs: usize,
}

impl<T: Scalar> Rows<T> {
    fn new<L: Lanes<Scalar = T>>(order: &Order, species: usize) -> Rows<T> {
        let row = ((order.packs + 2) * L::WIDTH).next_multiple_of(LINE / size_of::<T>());
        // What is written lies half a page from what is read.
        let page = PAGE / size_of::<T>();
        let turn = (species * row).next_multiple_of(page) + page / 2;
        let values = Lined::new(T::from_f64(0.0), turn + species * row);
        Rows { values, row, turn, pack: L::WIDTH, packs: order.packs }
    }

    /// Where the first pack of a row begins.
    fn begin(&self, turn: usize, s: usize) -> usize {
        turn * self.turn + s * self.row + self.pack
    }

    fn cells(&mut self, turn: usize, s: usize) -> &mut [T] {
        let begin = self.begin(turn, s);
        &mut self.values[begin..begin + self.packs * self.pack]
    }

    /// The first packs of the rows of both turns.
    fn turns(&mut self, species: usize) -> Turns<T> {
        let first = self.values.as_mut_ptr();
        [0, 1].map(|turn| {
            (0..species).map(|s| first.wrapping_add(self.begin(turn, s))).collect()
        })
    }
}

/// The first packs of all species, of both turns.
type Turns<T> = [Vec<*mut T>; 2];

/// What a step makes of packs.
trait Step<L: Lanes> {
    /// The species whose neighbours are read.
    fn reads(&self, species: usize) -> impl Iterator<Item = usize>;

    /// Writes some packs of all species of the other turn; NaN in a lane when a value is not finite.
    ///
    /// # Safety
    ///
    /// The rows have these packs, with one before and one behind them, and nothing else uses them.
    unsafe fn packs(&self, turn: usize, packs: [usize; 2]) -> L;
}

/// Takes steps; gives how many of them succeeded.
///
/// # Safety
///
/// The rows of the turns are of this order, with a pack before and behind each, and nothing else uses
/// them.
#[inline(always)]
unsafe fn steps<L: Lanes, S: Step<L>>(
    step: S,
    order: &Order,
    turns: &Turns<L::Scalar>,
    moment: &Moment<L::Scalar>,
    count: u64,
) -> u64 {
    let [last, behind] = [order.nx - 1, order.nx].map(|cell| order.place::<L>(cell));
    let is_ragged = order.nx < order.packs * L::WIDTH;
    let parts = order.parts();
    let read: Vec<_> = step.reads(turns[0].len()).map(|s| (s, &moment.ghosts[s][0])).collect();
    for n in 0..count {
        let turn = (n % 2) as usize;
        for (s, ends) in &read {
            let cells = turns[turn][*s];
            // SAFETY: a row with packs on both sides; where it is ragged a place follows the last cell's.
            unsafe {
                let (first, last) = (*cells, *cells.add(last));
                let before = beyond(&ends[0], last, first);
                let after = beyond(&ends[1], first, last);
                // The cell behind the last, where a lane has room for it.
                if is_ragged {
                    *cells.add(behind) = after;
                }
                let (lowest, highest) = (pack::<L>(cells, 0), pack::<L>(cells, order.packs - 1));
                put(cells.sub(L::WIDTH), highest.shifted_up(L::splat(before)));
                let end = cells.add(order.packs * L::WIDTH);
                put(end, lowest.shifted_down(L::splat(after)));
            }
        }
        for (packs, lanes) in parts {
            if packs[0] < packs[1] {
                // SAFETY: all rows have all packs.
                let spoiled = unsafe { step.packs(turn, packs) };
                // Lanes that hold no cells hold anything.
                let counted = L::from_bits((1 << lanes) - 1);
                if !is_sound(L::select(counted, spoiled, L::lit(0.0))) {
                    // The rest of the step is made as well: it is looked at.
                    let rest = [packs[1], order.packs];
                    if rest[0] < rest[1] {
                        // SAFETY: as above.
                        unsafe { step.packs(turn, rest) };
                    }
                    return n;
                }
            }
        }
    }
    count
}

/// What lies beyond a wall, from the cell at the other end of the rod and that before the wall.
#[inline(always)]
fn beyond<T: Scalar>(ghost: &Ghost<T>, other: T, mirror: T) -> T {
    match ghost {
        Ghost::Wrap => other,
        ghost => laplacian::end(ghost, T::from_f64(1.0), mirror),
    }
}

/// Species that do nothing but diffuse, with their h d/Δx².
struct Diffusion<'a, T> {
    factors: Vec<T>,
    turns: &'a Turns<T>,
}

impl<L: Lanes> Step<L> for Diffusion<'_, L::Scalar> {
    fn reads(&self, species: usize) -> impl Iterator<Item = usize> {
        0..species
    }

    #[inline(always)]
    unsafe fn packs(&self, turn: usize, packs: [usize; 2]) -> L {
        let mut spoiled = [L::lit(0.0); 2];
        for (s, factor) in self.factors.iter().enumerate() {
            let (from, to) = (self.turns[turn][s], self.turns[1 - turn][s]);
            // SAFETY: the caller's promise.
            let of_rod = unsafe { diffuse::<L>(from, to, packs, L::splat(*factor)) };
            spoiled = [spoiled[0] + of_rod[0], spoiled[1] + of_rod[1]];
        }
        spoiled[0] + spoiled[1]
    }
}

/// Packs that are computed in one round of a loop.
const ROUND: usize = 4;

/// One step of diffusion of some packs; zero times all values in two sums.
///
/// # Safety
///
/// There are these packs, one before and one behind them at `from`, and nothing else uses those at `to`.
#[inline(always)]
unsafe fn diffuse<L: Lanes>(
    from: *const L::Scalar,
    to: *mut L::Scalar,
    [begin, end]: [usize; 2],
    factor: L,
) -> [L; 2] {
    let mut spoiled = [L::lit(0.0); 2];
    // SAFETY: the caller's promise.
    unsafe {
        let mut around = [pack::<L>(from.sub(L::WIDTH), begin), pack::<L>(from, begin)];
        let mut at = begin;
        while at + ROUND <= end {
            for k in 0..ROUND {
                let next = pack::<L>(from, at + k + 1);
                spoiled[k % 2] = one_step(around, next, factor, to, at + k, spoiled[k % 2]);
                around = [around[1], next];
            }
            at += ROUND;
        }
        while at < end {
            let next = pack::<L>(from, at + 1);
            spoiled[0] = one_step(around, next, factor, to, at, spoiled[0]);
            around = [around[1], next];
            at += 1;
        }
    }
    spoiled
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
    spoiled: L,
) -> L {
    let sum = L::lit(-2.0).mul_add(centre, before + next);
    let value = sum.mul_add(factor, centre);
    // SAFETY: the caller's promise.
    unsafe { put(to.add(at * L::WIDTH), value) };
    value.mul_add(L::lit(0.0), spoiled)
}

/// A reaction, by machine code.
struct Reaction<'a, T> {
    code: &'a Code,
    reads: &'a [usize],
    moment: &'a Moment<T>,
    /// What each turn reads and writes.
    pointers: [Vec<*mut T>; 2],
}

impl<'a, T: Scalar> Reaction<'a, T> {
    fn new(
        code: &'a Code,
        reads: &'a [usize],
        moment: &'a Moment<T>,
        turns: &Turns<T>,
    ) -> Reaction<'a, T> {
        let pointers = [0, 1].map(|turn| {
            let mut pointers = vec![std::ptr::null_mut(); code.rows()];
            for (s, (from, to)) in turns[turn].iter().zip(&turns[1 - turn]).enumerate() {
                pointers[s] = *from;
                // Beside an output are its gains: there are none.
                pointers[code.states() + 2 * s] = *to;
            }
            pointers
        });
        Reaction { code, reads, moment, pointers }
    }
}

impl<L: Lanes> Step<L> for Reaction<'_, L::Scalar> {
    fn reads(&self, _: usize) -> impl Iterator<Item = usize> {
        self.reads.iter().copied()
    }

    #[inline(always)]
    unsafe fn packs(&self, turn: usize, packs: [usize; 2]) -> L {
        let mut sums = [L::Scalar::from_f64(0.0); PACK];
        let bytes = packs.map(|pack| pack * L::WIDTH * size_of::<L::Scalar>());
        let numbers = &self.moment.numbers[0];
        // SAFETY: the caller's promise; what a turn writes it does not read. Codes are made for
        // instructions that there are.
        unsafe { self.code.run(&self.pointers[turn], numbers, bytes, sums.as_mut_ptr()) };
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
        let spoiled = [L::lit(0.0); 2];
        let mut sink = Written::<L, STREAMS> { out, factor: L::splat(factor), spoiled };
        let rows = [self.here; 9];
        let nine = Nine { nx: self.nx, count: 1, row: 0, rows: &rows, ends: self.ends, ahead: 0 };
        laplacian::along(&plan.weights, &nine, &mut sink);
        sink.spoiled[0] + sink.spoiled[1]
    }
}

/// What a step writes; there is room for whole packs.
struct Written<'a, L: Lanes, const STREAMS: bool> {
    out: &'a mut [L::Scalar],
    factor: L,
    /// In turn, so that none waits for the last.
    spoiled: [L; 2],
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
        let [last, other] = self.spoiled;
        self.spoiled = [value.mul_add(L::lit(0.0), other), last];
    }
}
