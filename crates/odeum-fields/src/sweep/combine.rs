//! out = own · out + Σ cₖ Vₖ + slope · F along a row, from F.

use super::row;
use super::{Frame, Tile};
use odeum_core::lanes::stream_fence;
use odeum_core::{Lanes, Scalar};

/// The most fields that are added.
pub(crate) const MOST: usize = 4;

/// What a row of the output is made of, or some rows one after the other. Slices end with the last cache line that holds cells;
/// what stands there beyond the cells is zero and stays so.
pub(super) struct Row<'a, L: Lanes> {
    out: &'a mut [L::Scalar],
    slope: L,
    own: Option<L>,
    /// The first term, apart from the others: most sweeps have one.
    first: Option<(L, &'a [L::Scalar])>,
    /// The others, of whose fields the row begins at `at`.
    others: &'a [(L::Scalar, &'a [L::Scalar])],
    at: usize,
    streams: bool,
    /// Whether there is a first term and nothing else: one question for each pack.
    simple: bool,
}

impl<'a, L: Lanes> Row<'a, L> {
    /// Rows from (y, z) on of a species of the output of a sweep. `here` are those rows of what F
    /// is taken of.
    #[inline(always)]
    pub(super) fn of_field(
        frame: &'a Frame<'_, L::Scalar>,
        s: usize,
        (y, z): (usize, usize),
        rows: usize,
        here: &'a [L::Scalar],
    ) -> Row<'a, L> {
        let layout = &frame.plan.layout;
        let at = layout.row_at(s, y, z);
        let wide = (rows - 1) * layout.row + layout.wide::<L::Scalar>();
        let (first, others) = match &frame.terms[..] {
            _ if frame.from_here => (Some((L::lit(1.0), here)), &frame.terms[..0]),
            [] => (None, &frame.terms[..]),
            [(factor, values), others @ ..] => {
                (Some((L::splat(*factor), &values[at..at + wide])), others)
            }
        };
        // SAFETY: the row lies within the layout; every row belongs to one tile, and within a
        // tile one piece of code after the other asks for it.
        let out = unsafe { frame.out.values(at, wide) };
        let (slope, own) = (L::splat(frame.slope), frame.own.map(L::splat));
        // What solid cells are near is written again.
        let streams = frame.streams && frame.plan.domain_near((y as isize, z as isize)).is_none();
        let simple = first.is_some() && own.is_none() && others.is_empty();
        Row { out, slope, own, first, others, at, streams, simple }
    }

    /// here + slope · F, to a row of a tile's own memory.
    #[inline(always)]
    pub(super) fn of_step(
        slope: L::Scalar,
        here: &'a [L::Scalar],
        out: &'a mut [L::Scalar],
    ) -> Row<'a, L> {
        let first = Some((L::lit(1.0), here));
        let slope = L::splat(slope);
        Row { out, slope, own: None, first, others: &[], at: 0, streams: false, simple: true }
    }

    /// Asserts that whole packs of `wide` values lie within the row.
    #[inline(always)]
    pub(super) fn check(&self, wide: usize) {
        let wide = wide.next_multiple_of(L::WIDTH);
        assert!(wide <= self.out.len());
        assert!(self.first.is_none_or(|(_, values)| wide <= values.len()));
    }

    /// # Safety
    ///
    /// `x` is below a number that [`check`](Row::check) has compared with the slices.
    #[inline(always)]
    unsafe fn sum(&self, x: usize, slope: L) -> L {
        let mut sum = slope * self.slope;
        if let Some((factor, values)) = self.first {
            // SAFETY: the caller's promise.
            let value: L = unsafe { row::within(values, x) };
            sum = value.mul_add(factor, sum);
        }
        if self.simple {
            return sum;
        }
        for (factor, values) in self.others {
            let value = L::load(&values[self.at + x..self.at + x + L::WIDTH]);
            sum = value.mul_add(L::splat(*factor), sum);
        }
        if let Some(own) = self.own {
            // SAFETY: the caller's promise.
            let value: L = unsafe { row::within(self.out, x) };
            sum = value.mul_add(own, sum);
        }
        sum
    }

    /// Writes the pack at `x`; gives what was written.
    ///
    /// # Safety
    ///
    /// `x` is below a number that [`check`](Row::check) has compared with the slices. Before the row is read, the tile must end.
    #[inline(always)]
    pub(super) unsafe fn whole(&mut self, x: usize, slope: L) -> L {
        // SAFETY: the caller's promise.
        let sum = unsafe { self.sum(x, slope) };
        // SAFETY: as above.
        let place = unsafe { self.out.get_unchecked_mut(x..x + L::WIDTH) };
        if self.streams {
            // SAFETY: a tile ends with a fence.
            unsafe { sum.stream(place) };
        } else {
            sum.store(place);
        }
        sum
    }

    /// As [`whole`](Row::whole) for a last pack, of which only so many lanes are cells: the others
    /// are zero.
    ///
    /// # Safety
    ///
    /// As for [`whole`](Row::whole).
    #[inline(always)]
    pub(super) unsafe fn part(&mut self, x: usize, cells: usize, slope: L) -> L {
        let cells = L::from_bits((1 << cells) - 1);
        // SAFETY: the caller's promise.
        let sum = L::select(cells, unsafe { self.sum(x, slope) }, L::lit(0.0));
        // SAFETY: as above.
        unsafe { row::put(self.out, x, sum) };
        sum
    }
}

/// A tile of a combination of fields alone; true when all of it is finite.
#[inline(always)]
pub(super) fn without_slope<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile) -> bool {
    let mut spoiled = L::lit(0.0);
    for s in 0..frame.plan.layout.species {
        for z in tile.z.clone() {
            for y in tile.y.clone() {
                let mut row = Row::<L>::of_field(frame, s, (y, z), 1, &[]);
                let (cells, mut x) = (frame.plan.layout.shape[0], 0);
                row.check(cells);
                let whole = cells / L::WIDTH * L::WIDTH;
                while x < whole {
                    // SAFETY: whole packs of cells.
                    let sum = unsafe { row.whole(x, L::lit(0.0)) };
                    spoiled = sum.mul_add(L::lit(0.0), spoiled);
                    x += L::WIDTH;
                }
                if x < cells {
                    // SAFETY: there are cells left.
                    let sum = unsafe { row.part(x, cells - x, L::lit(0.0)) };
                    spoiled = sum.mul_add(L::lit(0.0), spoiled);
                }
            }
        }
    }
    is_sound(spoiled)
}

/// Whether a sum of zeros times values is zero: NaN and infinity would have spoiled it.
#[inline(always)]
pub(super) fn is_sound<L: Lanes>(spoiled: L) -> bool {
    L::bits(spoiled.ne(spoiled)) == 0
}

/// Adds what point sources of a species give to row (y, z), which begins at the pointer.
///
/// # Safety
///
/// The row must be the caller's to write.
#[inline(always)]
pub(super) unsafe fn add_sources<T: Scalar>(
    sources: &[(usize, [usize; 3], f64)],
    slope: T,
    s: usize,
    (y, z): (usize, usize),
    row: *mut T,
) {
    for (species, cell, rate) in sources {
        if (*species, cell[1], cell[2]) == (s, y, z) {
            // What was streamed has arrived before it is read again.
            stream_fence();
            // SAFETY: the caller's promise; the cell lies within the grid.
            unsafe { *row.add(cell[0]) = *row.add(cell[0]) + slope * T::from_f64(*rate) };
        }
    }
}
