//! How cells are dealt to threads.

use odeum::Error;

/// What one thread and one block of a sweep own. Any tiling gives the same field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiling {
    /// Cells of a thread along x: 1, 2 or 4, at most 16 bytes.
    pub pack: usize,
    /// Rows of a thread.
    pub rows: usize,
    /// Threads of a block along x and y.
    pub block: [usize; 2],
    /// Planes whose loads are under way before they are needed.
    pub ahead: usize,
    /// Blocks that the compiler leaves registers for on a multiprocessor.
    pub blocks_per_sm: usize,
    /// Planes that a block goes through; 0 to choose it for the GPU.
    pub planes: usize,
}

impl Tiling {
    /// What was fastest on an H200 (docs/performance/fields.md).
    pub fn of(species: usize, word: usize) -> Tiling {
        match species {
            1 => Tiling {
                pack: 16 / word,
                rows: 2,
                block: [32, 8],
                ahead: 1,
                blocks_per_sm: 2,
                planes: 0,
            },
            _ => Tiling {
                pack: 8 / word,
                rows: 2,
                block: [32, 8],
                ahead: if species == 2 { 1 } else { 0 },
                blocks_per_sm: if species <= 3 { 2 } else { 1 },
                planes: 0,
            },
        }
    }

    pub(super) fn check(&self, word: usize) -> Result<(), Error> {
        let threads = self.block[0] * self.block[1];
        let sound = matches!(self.pack, 1 | 2 | 4)
            && self.pack * word <= 16
            && (1..=8).contains(&self.rows)
            && (1..=1024).contains(&threads)
            && self.ahead <= 3
            && self.blocks_per_sm >= 1;
        if sound {
            return Ok(());
        }
        Err(Error::input("tiling", format!("{self:?}"), "see the bounds of its parts"))
    }

    /// Blocks along x and y.
    pub(super) fn blocks(&self, [nx, ny, _]: [usize; 3]) -> [usize; 2] {
        [nx.div_ceil(self.pack * self.block[0]), ny.div_ceil(self.rows * self.block[1])]
    }

    /// Planes for each block, when the GPU holds `resident` blocks at once: as few rounds of
    /// blocks as may be, counting the two planes that each block reads beside its own.
    pub(super) fn planes(&self, cells: [usize; 3], resident: usize) -> usize {
        if self.planes > 0 {
            return self.planes.min(cells[2]);
        }
        let across: usize = self.blocks(cells).iter().product();
        let most = cells[2].div_ceil(4).clamp(1, 256);
        let cost = |slabs: usize| {
            let planes = cells[2].div_ceil(slabs);
            let rounds = (across * cells[2].div_ceil(planes)).div_ceil(resident.max(1));
            // A plane that is read but not written costs half of one that is both.
            rounds * (2 * planes + 2)
        };
        let best = (1..=most).min_by_key(|&slabs| cost(slabs)).unwrap_or(1);
        cells[2].div_ceil(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_fill_the_gpu() {
        let tiling = Tiling { planes: 0, ..Tiling::of(1, 4) };
        // 4 × 32 blocks across; 264 at once: two slabs of 256 planes fill 256 of 264.
        assert_eq!(tiling.planes([512, 512, 512], 264), 256);
        assert_eq!(tiling.planes([512, 512, 1], 264), 1);
        for n in [1, 2, 5, 37, 64, 100] {
            let planes = tiling.planes([64, 64, n], 264);
            assert!(planes >= 1 && planes <= n);
        }
    }
}
