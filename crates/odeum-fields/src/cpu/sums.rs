//! Sums and extremes of rows. Each of eight lanes takes every eighth cell, whatever the instruction set is: all of them give the same
//! bits.

use odeum_core::lanes::LaneWork;
use odeum_core::{Lanes, Scalar};
use odeum_ode::Rkc;

/// Cells of a row that are looked at side by side.
const WIDE: usize = 8;

/// Bits of a word of a mask.
const WORD: usize = u64::BITS as usize;

/// Some rows of one species, one after the other.
pub(crate) struct Rows<'a, T> {
    /// From the first cell of the first row on.
    pub(super) values: &'a [T],
    /// Values from one row to the next.
    pub(super) row: usize,
    /// Cells of a row.
    pub(super) nx: usize,
    pub(super) count: usize,
}

impl<'a, T: Scalar> Rows<'a, T> {
    /// The cells of a row, and those that are left over: zeros follow these.
    #[inline(always)]
    fn row(&self, y: usize) -> (&'a [[T; WIDE]], [T; WIDE]) {
        let (eights, rest) = self.values[y * self.row..][..self.nx].as_chunks::<WIDE>();
        let mut last = [T::from_f64(0.0); WIDE];
        last[..rest.len()].copy_from_slice(rest);
        (eights, last)
    }

    /// Cells that are left over at the end of a row, as bits.
    #[inline(always)]
    fn rest(&self) -> u8 {
        (1 << (self.nx % WIDE)) - 1
    }
}

/// Sum and extremes of some cells.
#[derive(Clone, Copy)]
pub struct Part {
    pub(crate) sum: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// The sum and extremes of some rows, of the cells whose bits are set.
pub struct Summing<'a, T> {
    pub(super) rows: Rows<'a, T>,
    /// Bits of these rows, in whole words for each.
    pub(super) mask: Option<&'a [u64]>,
}

impl<T: Scalar> LaneWork<T> for Summing<'_, T> {
    type Output = Part;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> Part {
        let Summing { rows, mask } = self;
        let mut all =
            Parts { sum: [0.0; WIDE], min: [f64::INFINITY; WIDE], max: [f64::NEG_INFINITY; WIDE] };
        let words = rows.nx.div_ceil(WORD);
        for y in 0..rows.count {
            let (eights, last) = rows.row(y);
            let Some(mask) = mask else {
                for eight in eights {
                    all.take(eight);
                }
                if rows.rest() > 0 {
                    all.take_some(&last, rows.rest());
                }
                continue;
            };
            let bits = &mask[y * words..][..words];
            for (k, eight) in eights.iter().enumerate() {
                match of_eight(bits, k) {
                    0 => {}
                    u8::MAX => all.take(eight),
                    some => all.take_some(eight, some),
                }
            }
            if rows.rest() > 0 {
                // Beyond a row bits are zero.
                all.take_some(&last, of_eight(bits, eights.len()));
            }
        }
        all.joined()
    }
}

/// The bits of eight cells.
#[inline(always)]
fn of_eight(bits: &[u64], k: usize) -> u8 {
    (bits[k * WIDE / WORD] >> (k * WIDE % WORD)) as u8
}

/// Sums and extremes lane by lane. NaN makes sums NaN and is no extreme.
struct Parts {
    sum: [f64; WIDE],
    min: [f64; WIDE],
    max: [f64; WIDE],
}

impl Parts {
    #[inline(always)]
    fn take<T: Scalar>(&mut self, values: &[T; WIDE]) {
        for i in 0..WIDE {
            let value = values[i].to_f64();
            self.sum[i] += value;
            self.min[i] = if value < self.min[i] { value } else { self.min[i] };
            self.max[i] = if value > self.max[i] { value } else { self.max[i] };
        }
    }

    /// The same of values whose bits are set.
    #[inline(always)]
    fn take_some<T: Scalar>(&mut self, values: &[T; WIDE], bits: u8) {
        for i in 0..WIDE {
            let value = values[i].to_f64();
            let counts = bits >> i & 1 == 1;
            self.sum[i] += if counts { value } else { 0.0 };
            self.min[i] = if counts && value < self.min[i] { value } else { self.min[i] };
            self.max[i] = if counts && value > self.max[i] { value } else { self.max[i] };
        }
    }

    #[inline(always)]
    fn joined(self) -> Part {
        Part {
            sum: added(self.sum),
            min: self.min.into_iter().fold(f64::INFINITY, f64::min),
            max: self.max.into_iter().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The sum of all lanes.
#[inline(always)]
fn added(lanes: [f64; WIDE]) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The sum of the squares of (0.8 (y − w) + 0.4 h (F(y) + F(w))) / (atol + rtol max(|y|, |w|)) over some rows, of the cells whose
/// bits are set. An error of zero counts nothing, whatever it is weighed by.
pub struct Errors<'a, T> {
    pub(super) y: Rows<'a, T>,
    pub(super) w: Rows<'a, T>,
    /// F(y) and F(w).
    pub(super) rates: [Rows<'a, T>; 2],
    /// Bits of these rows, in whole words for each.
    pub(super) mask: Option<&'a [u64]>,
    pub(super) h: f64,
    pub(super) atol: f64,
    pub(super) rtol: f64,
}

impl<T: Scalar> LaneWork<T> for Errors<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> f64 {
        let Errors { y, w, rates: [before, after], .. } = &self;
        let mut sums = [0.0; WIDE];
        let words = y.nx.div_ceil(WORD);
        for j in 0..y.count {
            let bits = self.mask.map(|mask| &mask[j * words..][..words]);
            let of_eight = |k: usize| bits.map_or(u8::MAX, |bits| of_eight(bits, k));
            let ((y, last_y), (w, last_w)) = (y.row(j), w.row(j));
            let ((before, last_before), (after, last_after)) = (before.row(j), after.row(j));
            let whole = y.iter().zip(w).zip(before.iter().zip(after));
            for (k, ((y, w), (before, after))) in whole.enumerate() {
                self.add(&mut sums, [y, w, before, after], of_eight(k));
            }
            if self.y.rest() > 0 {
                let last = [&last_y, &last_w, &last_before, &last_after];
                self.add(&mut sums, last, of_eight(self.y.nx / WIDE));
            }
        }
        added(sums)
    }
}

impl<T: Scalar> Errors<'_, T> {
    #[inline(always)]
    fn add(&self, sums: &mut [f64; WIDE], [y, w, before, after]: [&[T; WIDE]; 4], bits: u8) {
        let [of_states, of_rates] = Rkc::ERROR_WEIGHTS;
        for i in 0..WIDE {
            let (old, new) = (y[i].to_f64(), w[i].to_f64());
            let rates = before[i].to_f64() + after[i].to_f64();
            let error = of_states * (old - new) + of_rates * self.h * rates;
            let larger = if old.abs() > new.abs() { old.abs() } else { new.abs() };
            let fraction = error / (self.atol + self.rtol * larger);
            let counts = error != 0.0 && bits >> i & 1 == 1;
            let fraction = if counts { fraction } else { 0.0 };
            sums[i] += fraction * fraction;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_core::Isa;

    /// Every cell once, by any instructions alike.
    #[test]
    fn all_cells_count_once() {
        for nx in [1_usize, 7, 8, 9, 67, 130] {
            let (row, count) = (nx + 3, 5);
            let values: Vec<f32> = (0..row * count).map(|n: usize| (n as f32).sin()).collect();
            let words = nx.div_ceil(WORD);
            let counts = |x: usize, y: usize| (x / 8 + y).is_multiple_of(2) || (x + y) % 5 > 1;
            let mut mask = vec![0; words * count];
            for (x, y) in (0..count).flat_map(|y| (0..nx).map(move |x| (x, y))) {
                mask[y * words + x / WORD] |= u64::from(counts(x, y)) << (x % WORD);
            }
            for mask in [None, Some(&mask[..])] {
                let cells = (0..count).flat_map(|y| (0..nx).map(move |x| (x, y)));
                let cells = cells.filter(|&(x, y)| mask.is_none() || counts(x, y));
                let cells: Vec<f64> = cells.map(|(x, y)| values[y * row + x].into()).collect();
                let all: Vec<Part> = Isa::available()
                    .into_iter()
                    .map(|isa| {
                        let rows = Rows { values: &values, row, nx, count };
                        isa.dispatch(Summing { rows, mask })
                    })
                    .collect();
                let Part { sum, min, max } = all[0];
                assert!((sum - cells.iter().sum::<f64>()).abs() < 1e-12, "{nx}: {sum}");
                assert_eq!(min, cells.iter().copied().fold(f64::INFINITY, f64::min));
                assert_eq!(max, cells.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                assert!(all.iter().all(|one| (one.sum, one.min, one.max) == (sum, min, max)));
            }
        }
    }
}
