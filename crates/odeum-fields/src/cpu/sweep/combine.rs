//! out = own · out + Σ cₖ Vₖ + rhs · F along a row, from F.

use super::Frame;
use super::row;
use super::tile::Tile;
use odeum_core::lanes::stream_fence;
use odeum_core::{Lanes, Scalar};

/// The most fields that are added.
pub(crate) const MOST: usize = 4;

/// What a row of the output is made of, or some rows one after the other. Slices end with the last
/// cache line that holds cells; what stands there beyond the cells is zero and stays so.
pub(super) struct Row<'a, L: Lanes> {
    out: &'a mut [L::Scalar],
    rhs: L,
    own: Option<L>,
    /// The first term, apart from the others: most sweeps have one.
    first: Option<(L, &'a [L::Scalar])>,
    /// The others, of whose fields the row begins at `at`.
    others: &'a [(L::Scalar, &'a [L::Scalar])],
    at: usize,
    /// What solid cells keep, where F is added to anything: what F is taken of. All fields of a
    /// step have those values there, but their sum, by rounded factors, would wander.
    kept: Option<&'a [L::Scalar]>,
    streams: bool,
    /// Whether the first term is what F is taken of, once: h F and its sum with that are rounded as one then.
    whole: bool,
    /// Whether there is nothing else.
    simple: bool,
}

/// Where rows of the output go: to the field of a sweep, or to what a tile keeps of a step.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a, T> {
    pub(super) frame: &'a Frame<'a, T>,
    /// The first row.
    pub(super) cell: (usize, usize),
    pub(super) rows: usize,
    /// Where the rows of the first species begin if they are kept, and from a species to the next.
    pub(super) kept: Option<(*mut T, usize)>,
}

impl<'a, T: Scalar> Goal<'a, T> {
    /// The first cell of the rows of a species.
    #[inline(always)]
    pub(super) fn out(&self, s: usize) -> *mut T {
        match self.kept {
            Some((first, volume)) => first.wrapping_add(s * volume),
            None => self.frame.out.at(self.begin(s)),
        }
    }

    /// Where the rows begin in a field.
    #[inline(always)]
    fn begin(&self, s: usize) -> usize {
        self.frame.plan.layout.row_at(s, self.cell.0, self.cell.1)
    }

    /// Values from the first cell to the end of the last cache line.
    #[inline(always)]
    fn wide(&self) -> usize {
        let layout = &self.frame.plan.layout;
        (self.rows - 1) * layout.row + layout.wide::<T>()
    }

    /// The rows that are added to those of a species, but for so many of the first.
    #[inline(always)]
    pub(super) fn terms(&self, s: usize, but: usize) -> impl Iterator<Item = &'a [T]> {
        let (begin, wide) = (self.begin(s), self.wide());
        let terms = if self.kept.is_some() { &[] } else { self.frame.terms };
        terms.iter().skip(but).map(move |(_, values)| &values[begin..begin + wide])
    }

    /// What the rows of a species are made of beside F, which is taken of the rows `here` if it
    /// counts.
    #[inline(always)]
    pub(super) fn row<L: Lanes<Scalar = T>>(&self, s: usize, here: Option<&'a [T]>) -> Row<'a, L> {
        let Goal { frame, .. } = *self;
        let wide = self.wide();
        // SAFETY: the rows lie within the field or what is kept; every row belongs to one tile,
        // and within a tile one piece of code after the other asks for it.
        let out = unsafe { std::slice::from_raw_parts_mut(self.out(s), wide) };
        let (rhs, own) = (L::splat(frame.rhs), frame.own.map(L::splat));
        let at = self.begin(s);
        let (first, others) = match frame.terms {
            _ if frame.from_here => (here.map(|here| (L::lit(1.0), here)), &frame.terms[..0]),
            [] => (None, frame.terms),
            [(factor, values), others @ ..] => {
                (Some((L::splat(*factor), &values[at..at + wide])), others)
            }
        };
        let kept = here.filter(|_| first.is_some() || own.is_some());
        let streams = frame.streams && self.kept.is_none();
        let whole = match (first, here) {
            (Some((factor, first)), Some(here)) => {
                std::ptr::eq(first.as_ptr(), here.as_ptr()) && factor.lane(0) == T::from_f64(1.0)
            }
            _ => false,
        };
        let simple = frame.from_here && whole;
        Row { out, rhs, own, first, others, at, kept, streams, whole, simple }
    }
}

impl<'a, L: Lanes> Row<'a, L> {
    /// Whether there is nothing but F and what it is taken of, and whether the row is written past
    /// the caches.
    #[inline(always)]
    pub(super) fn kind(&self) -> (bool, bool) {
        (self.simple, self.streams)
    }

    /// The factor of F.
    #[inline(always)]
    pub(super) fn rhs(&self) -> L::Scalar {
        self.rhs.lane(0)
    }

    /// The row, to be written.
    #[inline(always)]
    pub(super) fn cells(self) -> &'a mut [L::Scalar] {
        self.out
    }

    /// Asserts that whole packs of `wide` values lie within the row.
    #[inline(always)]
    pub(super) fn check(&self, wide: usize) {
        let wide = wide.next_multiple_of(L::WIDTH);
        assert!(wide <= self.out.len());
        assert!(self.first.is_none_or(|(_, values)| wide <= values.len()));
        assert!(self.kept.is_none_or(|values| wide <= values.len()));
    }

    /// # Safety
    ///
    /// `x` is below a number that [`check`](Row::check) has compared with the slices.
    #[inline(always)]
    unsafe fn sum<const SIMPLE: bool>(&self, x: usize, rhs: L, centre: Option<L>) -> L {
        if SIMPLE && let Some(centre) = centre {
            return rhs.mul_add(self.rhs, centre);
        }
        let mut sum = rhs * self.rhs;
        if let Some((factor, values)) = self.first {
            // SAFETY: the caller's promise.
            let value: L = unsafe { row::within(values, x) };
            sum = match self.whole {
                true => rhs.mul_add(self.rhs, value),
                false => value.mul_add(factor, sum),
            };
        }
        if SIMPLE {
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

    /// Writes the pack at `x`, where F is taken of `centre` if that is known; gives what was
    /// written. The [kind](Row::kind) of a row is a constant here: inner loops ask nothing.
    ///
    /// # Safety
    ///
    /// `x` is below a number that [`check`](Row::check) has compared with the slices. Before the row is read, the tile must end.
    #[inline(always)]
    pub(super) unsafe fn whole<const SIMPLE: bool, const STREAMS: bool>(
        &mut self,
        x: usize,
        rhs: L,
        centre: Option<L>,
    ) -> L {
        // SAFETY: the caller's promise.
        unsafe { self.put::<STREAMS>(x, self.sum::<SIMPLE>(x, rhs, centre)) }
    }

    /// As [`whole`](Row::whole), where but some of the cells belong to the domain.
    ///
    /// # Safety
    ///
    /// As for [`whole`](Row::whole).
    #[inline(always)]
    pub(super) unsafe fn among_solids<const SIMPLE: bool, const STREAMS: bool>(
        &mut self,
        x: usize,
        cells: L::Mask,
        rhs: L,
    ) -> L {
        // SAFETY: the caller's promise.
        let sum = unsafe { self.sum::<SIMPLE>(x, rhs, None) };
        let kept = match self.kept {
            // SAFETY: as above.
            Some(values) => unsafe { row::within(values, x) },
            None => L::lit(0.0),
        };
        // SAFETY: as above.
        unsafe { self.put::<STREAMS>(x, L::select(cells, sum, kept)) }
    }

    /// # Safety
    ///
    /// As for [`whole`](Row::whole).
    #[inline(always)]
    unsafe fn put<const STREAMS: bool>(&mut self, x: usize, sum: L) -> L {
        // SAFETY: the caller's promise.
        let place = unsafe { self.out.get_unchecked_mut(x..x + L::WIDTH) };
        if STREAMS {
            // SAFETY: rows begin with cache lines, and packs are parts of these; a tile ends with a
            // fence.
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
    pub(super) unsafe fn part(&mut self, x: usize, cells: usize, rhs: L) -> L {
        let cells = L::from_bits((1 << cells) - 1);
        // SAFETY: the caller's promise.
        let sum = L::select(cells, unsafe { self.sum::<false>(x, rhs, None) }, L::lit(0.0));
        // SAFETY: as above.
        unsafe { row::put(self.out, x, sum) };
        sum
    }
}

/// A tile of a combination of fields alone; true when all of it is finite.
#[inline(always)]
pub(super) fn without_rhs<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile) -> bool {
    let mut non_finite = L::lit(0.0);
    for s in 0..frame.plan.layout.species {
        for z in tile.z.clone() {
            for y in tile.y.clone() {
                let goal = Goal { frame, cell: (y, z), rows: 1, kept: None };
                let mut row = goal.row::<L>(s, None);
                let (cells, mut x) = (frame.plan.layout.shape[0], 0);
                row.check(cells);
                let whole = cells / L::WIDTH * L::WIDTH;
                while x < whole {
                    // SAFETY: whole packs of cells.
                    let sum = unsafe {
                        if row.streams {
                            row.whole::<false, true>(x, L::lit(0.0), None)
                        } else {
                            row.whole::<false, false>(x, L::lit(0.0), None)
                        }
                    };
                    non_finite = sum.mul_add(L::lit(0.0), non_finite);
                    x += L::WIDTH;
                }
                if x < cells {
                    // SAFETY: there are cells left.
                    let sum = unsafe { row.part(x, cells - x, L::lit(0.0)) };
                    non_finite = sum.mul_add(L::lit(0.0), non_finite);
                }
            }
        }
    }
    is_finite(non_finite)
}

/// Whether a sum of zeros times values is zero: NaN and infinity would show in it.
#[inline(always)]
pub(super) fn is_finite<L: Lanes>(non_finite: L) -> bool {
    L::bits(non_finite.ne(non_finite)) == 0
}

/// Adds what point sources of a species give to row (y, z), which begins at the pointer; true where
/// the values of their cells are finite.
///
/// # Safety
///
/// The row must be the caller's to write.
#[inline(always)]
pub(super) unsafe fn add_sources<T: Scalar>(
    sources: &[(usize, [usize; 3], f64)],
    rhs: T,
    s: usize,
    (y, z): (usize, usize),
    row: *mut T,
) -> bool {
    let mut finite = true;
    for (species, cell, rate) in sources {
        if (*species, cell[1], cell[2]) == (s, y, z) {
            // What was streamed has arrived before it is read again.
            stream_fence();
            // SAFETY: the caller's promise; the cell lies within the grid.
            unsafe {
                let value = *row.add(cell[0]) + rhs * T::from_f64(*rate);
                *row.add(cell[0]) = value;
                finite &= value.is_finite();
            }
        }
    }
    finite
}
