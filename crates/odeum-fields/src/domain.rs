//! The mask of a domain, made ready for sweeps.
//!
//! A ghost beyond a wall belongs to the domain when the cell that gives its value does. Rows
//! are told apart: those that no solid cell is near are computed as if there were none.

use crate::mask::Mask;
use crate::walls::{self, Ghost};
use odeum_core::Lanes;

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
    /// For slopes that read cells so far away in neighbouring rows.
    pub(crate) fn new(mask: &Mask, periodic: [bool; 3], reach: isize) -> Domain {
        let shape = mask.shape();
        let [nx, ny, nz] = shape;
        let wide = (nx + 2 * GHOSTS).div_ceil(WORD) + 1;
        let mut domain =
            Domain { shape, wide, words: vec![0; wide * ny * nz], near: Vec::new(), periodic };
        for (z, y) in (0..nz).flat_map(|z| (0..ny).map(move |y| (z, y))) {
            let row = &mut domain.words[(z * ny + y) * wide..][..wide];
            for bit in 0..nx + 2 * GHOSTS {
                let (x, _) = walls::source(bit as isize - GHOSTS as isize, nx, &ends(periodic[0]));
                row[bit / WORD] |= u64::from(mask.contains([x, y, z])) << (bit % WORD);
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

    /// Where a row that may lie beyond the walls is found.
    fn source(&self, y: isize, z: isize) -> (usize, usize) {
        let [_, ny, nz] = self.shape;
        let (y, _) = walls::source(y, ny, &ends(self.periodic[1]));
        let (z, _) = walls::source(z, nz, &ends(self.periodic[2]));
        (y, z)
    }

    /// Whether solid cells are near a row of the grid.
    pub(crate) fn is_near(&self, y: isize, z: isize) -> bool {
        self.near[z as usize * self.shape[1] + y as usize]
    }

    /// The bits of a row that may lie up to two cells beyond the walls.
    pub(crate) fn row(&self, y: isize, z: isize) -> Bits<'_> {
        let (y, z) = self.source(y, z);
        let at = (z * self.shape[1] + y) * self.wide;
        Bits(&self.words[at..at + self.wide])
    }

    /// The numbers of the words of 32 cells, of rows of whole 64-bit words, in which a solid cell is
    /// so near to any cell, at most two away.
    pub(crate) fn words_near(&self, reach: isize) -> Vec<i32> {
        let [nx, ny, nz] = self.shape;
        let mut words = Vec::new();
        for (z, y) in (0..nz).flat_map(|z| (0..ny).map(move |y| (z, y))) {
            let around = (-reach..=reach).flat_map(|dz| (-reach..=reach).map(move |dy| (dy, dz)));
            let rows: Vec<Bits<'_>> =
                around.map(|(dy, dz)| self.row(y as isize + dy, z as isize + dz)).collect();
            for x in (0..nx).step_by(32) {
                let width = (nx - x).min(32);
                let solid = |row: &Bits<'_>| {
                    (-reach..=reach).any(|shift| row.pack(x, shift, width) != (1 << width) - 1)
                };
                if rows.iter().any(solid) {
                    words.push(((z * ny + y) * 2 * nx.div_ceil(WORD) + x / 32) as i32);
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

impl Bits<'_> {
    /// The bits of the `width` cells from `x` + `shift` on, a shift of at most two; beyond the
    /// ghosts of the row they mean nothing.
    #[inline(always)]
    pub(crate) fn pack(self, x: usize, shift: isize, width: usize) -> u64 {
        let bit = x.wrapping_add_signed(shift + GHOSTS as isize);
        let (word, low) = (bit / WORD, bit % WORD);
        let next = if low == 0 { 0 } else { self.0[word + 1] << (WORD - low) };
        let bits = self.0[word] >> low | next;
        if width < WORD { bits & ((1 << width) - 1) } else { bits }
    }

    /// The cells of a pack as a mask.
    #[inline(always)]
    pub(crate) fn mask<L: Lanes>(self, x: usize) -> L::Mask {
        L::from_bits(self.pack(x, 0, L::WIDTH))
    }
}
