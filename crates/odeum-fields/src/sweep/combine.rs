//! out = own · out + Σ cₖ Vₖ + slope · F along a row, from F.

use super::row::{self};
use super::{Frame, Tile};
use odeum_core::lanes::stream_fence;
use odeum_core::{Lanes, Scalar};

/// The most fields that are added.
pub(crate) const MOST: usize = 4;

/// What a row of the output is made of.
pub(super) struct Row<'a, L: Lanes> {
    out: &'a mut [L::Scalar],
    slope: L,
    own: Option<L>,
    factors: [L; MOST],
    terms: [&'a [L::Scalar]; MOST],
    count: usize,
    streams: bool,
}

impl<'a, L: Lanes> Row<'a, L> {
    /// Row (y, z) of a species.
    #[inline(always)]
    pub(super) fn new(frame: &'a Frame<'_, L::Scalar>, s: usize, y: usize, z: usize) -> Row<'a, L> {
        let layout = &frame.plan.layout;
        let (at, nx) = (layout.row_at(s, y, z), layout.shape[0]);
        let mut terms = [&frame.u[..0]; MOST];
        let mut factors = [L::lit(0.0); MOST];
        for (k, (factor, values)) in frame.terms.iter().enumerate() {
            terms[k] = &values[at..at + nx];
            factors[k] = L::splat(*factor);
        }
        // SAFETY: the row lies within the layout; every row belongs to one tile, and within a
        // tile one piece of code after the other asks for it.
        let out = unsafe { frame.out.values(at, nx) };
        Row {
            out,
            slope: L::splat(frame.slope),
            own: frame.own.map(L::splat),
            factors,
            terms,
            count: frame.terms.len(),
            streams: frame.streams,
        }
    }

    /// Cells of the row.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Writes the pack at `x`, which lies within the row; gives what was written.
    ///
    /// # Safety
    ///
    /// `x + L::WIDTH` must not be larger than the length of the row. Before the row is read, the
    /// tile must end.
    #[inline(always)]
    pub(super) unsafe fn whole(&mut self, x: usize, slope: L) -> L {
        let mut sum = slope * self.slope;
        for k in 0..self.count {
            // SAFETY: the rows of all terms are as long as that of the output.
            let value: L = unsafe { row::within(self.terms[k], x) };
            sum = value.mul_add(self.factors[k], sum);
        }
        if let Some(own) = self.own {
            // SAFETY: the caller's promise.
            let value: L = unsafe { row::within(self.out, x) };
            sum = value.mul_add(own, sum);
        }
        // SAFETY: the caller's promise.
        let place = unsafe { self.out.get_unchecked_mut(x..x + L::WIDTH) };
        if self.streams {
            // SAFETY: a tile ends with a fence.
            unsafe { sum.stream(place) };
        } else {
            sum.store(place);
        }
        sum
    }

    /// As [`whole`](Row::whole) for the last pack, of which only some lanes lie within the row;
    /// the others are given as zero.
    #[inline(always)]
    pub(super) fn part(&mut self, x: usize, slope: L) -> L {
        let mut sum = slope * self.slope;
        for k in 0..self.count {
            sum = row::load::<L>(self.terms[k], x).mul_add(self.factors[k], sum);
        }
        if let Some(own) = self.own {
            sum = row::load::<L>(self.out, x).mul_add(own, sum);
        }
        row::store(self.out, x, sum);
        let lanes = L::from_bits((1 << (self.out.len() - x)) - 1);
        L::select(lanes, sum, L::lit(0.0))
    }

    /// The pack at `x`, whole or not.
    #[inline(always)]
    pub(super) fn put(&mut self, x: usize, slope: L) -> L {
        if x + L::WIDTH <= self.out.len() {
            // SAFETY: just compared; every tile ends with a fence, and point sources come after one.
            unsafe { self.whole(x, slope) }
        } else {
            self.part(x, slope)
        }
    }
}

/// A tile of a combination of fields alone; true when all of it is finite.
#[inline(always)]
pub(super) fn without_slope<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile) -> bool {
    let mut spoiled = L::lit(0.0);
    for s in 0..frame.plan.layout.species {
        for z in tile.z.clone() {
            for y in tile.y.clone() {
                let mut row = Row::<L>::new(frame, s, y, z);
                let mut x = 0;
                while x < row.len() {
                    spoiled = row.put(x, L::lit(0.0)).mul_add(L::lit(0.0), spoiled);
                    x += L::WIDTH;
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

/// Adds point sources that lie in a row.
#[inline(always)]
pub(super) fn add_sources<T: Scalar>(frame: &Frame<'_, T>, s: usize, y: usize, z: usize) {
    for (species, cell, rate) in &frame.sources {
        if (*species, cell[1], cell[2]) == (s, y, z) {
            let at = frame.plan.layout.row_at(s, y, z) + cell[0];
            stream_fence();
            // SAFETY: as for the row, which nobody holds any more; streams have ended.
            let out = unsafe { frame.out.values(at, 1) };
            out[0] = out[0] + frame.slope * T::from_f64(*rate);
        }
    }
}
