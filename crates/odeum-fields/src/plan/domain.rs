//! The mask of a domain, made ready for sweeps.
//!
//! A ghost beyond a boundary belongs to the domain when the cell that gives its value does. Rows
//! are told apart: those that no solid cell is near are computed as if there were none.

use crate::problem::boundaries::{self, Ghost};
use crate::problem::mask::Mask;
use odeum_core::Lanes;
use std::marker::PhantomData;
use std::ops::Range;

/// Bits of ghosts before the first and after the last cell of a row.
const GHOSTS: usize = 2;

const WORD: usize = u64::BITS as usize;

/// Which cells belong to the domain, with ghosts along x, and which rows solid cells are near.
pub(crate) struct Domain {
    shape: [usize; 3],
    /// Words of a row: its bits, and one word more, so that a pack may begin anywhere.
    wide: usize,
    words: Vec<u64>,
    /// Whether solid cells are near row y + z ny.
    near: Vec<bool>,
    /// Whether each axis is periodic.
    periodic: [bool; 3],
}

impl Domain {
    /// For right-hand sides that read cells so far away in neighbouring rows.
    pub(crate) fn new(mask: &Mask, periodic: [bool; 3], reach: isize) -> Domain {
        let shape = mask.shape();
        let [nx, ny, nz] = shape;
        let wide = (nx + 2 * GHOSTS).div_ceil(WORD) + 1;
        let mut domain =
            Domain { shape, wide, words: vec![0; wide * ny * nz], near: Vec::new(), periodic };
        for (z, y) in (0..nz).flat_map(|z| (0..ny).map(move |y| (z, y))) {
            let row = &mut domain.words[(z * ny + y) * wide..][..wide];
            for (n, word) in mask.row(y, z).iter().enumerate() {
                row[n] |= word << GHOSTS;
                row[n + 1] |= word >> (WORD - GHOSTS);
            }
            for ghost in (0..GHOSTS).chain(nx + GHOSTS..nx + 2 * GHOSTS) {
                let at = ghost as isize - GHOSTS as isize;
                let (x, _) = boundaries::source(at, nx, &ends(periodic[0]));
                row[ghost / WORD] |= u64::from(mask.contains([x, y, z])) << (ghost % WORD);
            }
        }
        let solid = |y: usize, z: usize| {
            let cells: u32 = mask.row(y, z).iter().map(|word| word.count_ones()).sum();
            (cells as usize) < nx
        };
        let solids: Vec<bool> = (0..nz).flat_map(|z| (0..ny).map(move |y| solid(y, z))).collect();
        let near = |y: isize, z: isize| {
            (-reach..=reach).any(|dz| {
                (-reach..=reach).any(|dy| {
                    let (y, z) = domain.source(y + dy, z + dz);
                    solids[z * ny + y]
                })
            })
        };
        let rows = (0..nz as isize).flat_map(|z| (0..ny as isize).map(move |y| (y, z)));
        domain.near = rows.map(|(y, z)| near(y, z)).collect();
        domain
    }

    /// Where a row that may lie beyond the boundaries is found.
    fn source(&self, y: isize, z: isize) -> (usize, usize) {
        let [_, ny, nz] = self.shape;
        let (y, _) = boundaries::source(y, ny, &ends(self.periodic[1]));
        let (z, _) = boundaries::source(z, nz, &ends(self.periodic[2]));
        (y, z)
    }

    /// Cells along x, y and z.
    pub(crate) fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// Whether solid cells are near a row of the grid.
    pub(crate) fn is_near(&self, y: isize, z: isize) -> bool {
        self.near[z as usize * self.shape[1] + y as usize]
    }

    /// The bits of a row that may lie up to two cells beyond the boundaries.
    pub(crate) fn row(&self, y: isize, z: isize) -> Bits<'_> {
        let (y, z) = self.source(y, z);
        let at = (z * self.shape[1] + y) * self.wide;
        Bits(&self.words[at..at + self.wide])
    }

    /// Of some planes, the words of 32 cells in which a solid cell is so near to any cell, at most
    /// two away: their numbers, counted from the first of these planes, in rows of whole 64-bit
    /// words.
    pub(crate) fn words_near(&self, planes: Range<usize>, reach: isize) -> Vec<i32> {
        let [nx, ny, _] = self.shape;
        let (mut words, first) = (Vec::new(), planes.start);
        for (z, y) in planes.flat_map(|z| (0..ny).map(move |y| (z, y))) {
            let around = (-reach..=reach).flat_map(|dz| (-reach..=reach).map(move |dy| (dy, dz)));
            let rows: Vec<Bits<'_>> =
                around.map(|(dy, dz)| self.row(y as isize + dy, z as isize + dz)).collect();
            for x in (0..nx).step_by(32) {
                let cells = (1_u64 << (nx - x).min(32)) - 1;
                let solid = |row: &Bits<'_>| {
                    (-reach..=reach).any(|shift| !row.window(x, shift) & cells != 0)
                };
                if rows.iter().any(solid) {
                    words.push((((z - first) * ny + y) * 2 * nx.div_ceil(WORD) + x / 32) as i32);
                }
            }
        }
        words
    }

    /// The nine rows around a row, y fastest.
    pub(crate) fn nine(&self, y: isize, z: isize) -> [Bits<'_>; 9] {
        std::array::from_fn(|k| self.row(y + (k % 3) as isize - 1, z + (k / 3) as isize - 1))
    }
}

/// The rule of both ends of an axis, as far as it says where a ghost comes from.
fn ends(periodic: bool) -> [Ghost<f64>; 2] {
    [if periodic { Ghost::Wrap } else { Ghost::Mirror }; 2]
}

/// The bits of a row and of its ghosts.
#[derive(Clone, Copy)]
pub(crate) struct Bits<'a>(&'a [u64]);

/// The packs of a row, and which of their lanes belong to the domain.
pub(crate) struct Packs<'a, L> {
    bits: Bits<'a>,
    nx: usize,
    x: usize,
    /// The bits of the pack at `x` and of those that follow up to 64 cells.
    word: u64,
    lanes: PhantomData<L>,
}

impl<L: Lanes> Iterator for Packs<'_, L> {
    type Item = (usize, L::Mask);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, L::Mask)> {
        let x = self.x;
        if x >= self.nx {
            return None;
        }
        if x.is_multiple_of(WORD) {
            self.word = self.bits.window(x, 0) & (!0 >> (WORD - (self.nx - x).min(WORD)));
        }
        let cells = L::from_bits(self.word);
        self.word = self.word.checked_shr(L::WIDTH as u32).unwrap_or(0);
        self.x += L::WIDTH;
        Some((x, cells))
    }
}

impl<'a> Bits<'a> {
    /// The packs of a row of so many cells.
    #[inline(always)]
    pub(crate) fn packs<L: Lanes>(self, nx: usize) -> Packs<'a, L> {
        Packs { bits: self, nx, x: 0, word: 0, lanes: PhantomData }
    }

    /// The bits of the 64 cells from `x` + `shift` on, a shift of at most two; beyond the ghosts of
    /// the row they mean nothing.
    #[inline(always)]
    pub(crate) fn window(self, x: usize, shift: isize) -> u64 {
        let bit = x.wrapping_add_signed(shift + GHOSTS as isize);
        let (word, low) = (bit / WORD, bit % WORD);
        // In two steps: nothing is left of the next word where `low` is zero.
        self.0[word] >> low | self.0[word + 1] << 1 << (WORD - 1 - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::grid::Grid;

    fn spotted(shape: [usize; 3]) -> (Grid, Mask) {
        let grid = Grid::new(shape, 1.0).unwrap();
        let open = |n: usize| if n % 53 == 7 || n % 97 == 11 { 0.0 } else { 1.0 };
        let values: Vec<f64> = (0..grid.cells()).map(open).collect();
        (grid, Mask::from_values(&grid, &values).unwrap())
    }

    /// Whether the cell that a place is or mirrors belongs to the domain.
    fn expected(mask: &Mask, at: [isize; 3], periodic: [bool; 3]) -> bool {
        let shape = mask.shape();
        let found =
            |axis: usize| boundaries::source(at[axis], shape[axis], &ends(periodic[axis])).0;
        mask.contains([found(0), found(1), found(2)])
    }

    #[test]
    fn windows_hold_cells_and_ghosts() {
        for shape in [[130, 4, 3], [64, 2, 2], [62, 3, 1], [1, 5, 2], [2, 1, 3]] {
            let (_, mask) = spotted(shape);
            for periodic in [[false; 3], [true, false, true]] {
                let domain = Domain::new(&mask, periodic, 1);
                let [nx, ny, nz] = shape.map(|n| n as isize);
                for (y, z) in (-2..nz + 2).flat_map(|z| (-2..ny + 2).map(move |y| (y, z))) {
                    for x in 0..nx {
                        for shift in -2..=2 {
                            let found = domain.row(y, z).window(x as usize, shift) & 1 == 1;
                            assert_eq!(found, expected(&mask, [x + shift, y, z], periodic));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn words_and_rows_near_solid_cells_are_found() {
        let shape = [130, 6, 5];
        let (_, mask) = spotted(shape);
        let periodic = [true, false, false];
        for reach in [1, 2] {
            let domain = Domain::new(&mask, periodic, reach);
            let words = domain.words_near(1..4, reach);
            let near = |x: isize, y: isize, z: isize| {
                let by = || -reach..=reach;
                let mut around =
                    by().flat_map(|k| by().flat_map(move |j| by().map(move |i| [i, j, k])));
                around.any(|[i, j, k]| !expected(&mask, [x + i, y + j, z + k], periodic))
            };
            for (y, z) in (1..4).flat_map(|z| (0..6).map(move |y| (y, z))) {
                for word in 0..5 {
                    let cells = word * 32..(word * 32 + 32).min(130);
                    let number = ((z - 1) * 6 + y) * 6 + word;
                    let found = words.contains(&(number as i32));
                    assert_eq!(found, cells.clone().any(|x| near(x, y, z)), "{word} {y} {z}");
                }
                assert_eq!(domain.is_near(y, z), (0..130).any(|x| near(x, y, z)));
            }
        }
    }
}
