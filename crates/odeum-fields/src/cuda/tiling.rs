//! How cells are dealt to threads.

use odeum::Error;

/// Threads that keep an H200 busy while a field comes from its second-level cache
/// (docs/performance/fields.md).
const SMALL_THREADS: usize = 1 << 16;

/// What one thread and one block of a sweep own. Any tiling gives the same field, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiling {
    /// Steps for each time that the field is read and written.
    pub depth: usize,
    /// Cells of a thread along x: 1, 2 or 4, at most 16 bytes.
    pub pack: usize,
    /// Rows of a thread.
    pub rows: usize,
    /// Threads of a block along x and y.
    pub block: [usize; 2],
    /// Planes ahead of which memory is asked for them; 0 not to.
    pub ahead: usize,
    /// Blocks that the compiler leaves registers for on a multiprocessor.
    pub blocks_per_sm: usize,
    /// Planes that a block goes through; 0 to choose it for the GPU.
    pub planes: usize,
}

impl Tiling {
    /// What was fastest on an H200 for one step of a model of so many species and potentials in
    /// numbers of `word` bytes (docs/performance/fields.md).
    pub fn of(species: usize, potentials: usize, word: usize) -> Tiling {
        let wide = Tiling {
            depth: 1,
            pack: 16 / word,
            rows: 2,
            block: [64, 4],
            ahead: 0,
            blocks_per_sm: 1,
            planes: 0,
        };
        match (species, potentials, word) {
            (1, 0, 4) => Tiling { ahead: 1, blocks_per_sm: 3, ..wide },
            (2, 0, 4) => Tiling { rows: 4, ahead: 1, ..wide },
            (1, 0, _) => Tiling { blocks_per_sm: 3, ..wide },
            (2, 0, _) => Tiling { rows: 4, block: [32, 4], ..wide },
            (_, 0, _) => Tiling { pack: 8 / word, ..wide },
            _ => Tiling { block: [32, 4], ahead: 1, blocks_per_sm: 2, ..wide },
        }
    }

    /// One step of a field that stays in the second-level cache of a GPU: so few planes to a block
    /// that there are threads enough to wait for that cache, yet as many as share what they read.
    pub(super) fn small(self, [nx, ny, nz]: [usize; 3]) -> Tiling {
        let threads = |pack: usize, planes: usize| nx * ny * nz / (pack * 2 * planes);
        let enough = |planes: &usize| {
            nz.is_multiple_of(*planes) && threads(self.pack, *planes) >= SMALL_THREADS
        };
        let planes = [4, 2].into_iter().find(enough).unwrap_or(1);
        let halve = self.pack > 1 && threads(self.pack, planes) < SMALL_THREADS;
        let pack = if halve { self.pack / 2 } else { self.pack };
        Tiling { pack, rows: 2, block: [32, 8], ahead: 0, blocks_per_sm: 1, planes, ..self }
    }

    /// Planes of a block that are all asked for at once; 0 where they stream by.
    pub(super) fn unrolled(&self, nz: usize) -> usize {
        let few = self.planes <= 4 && self.planes > 0 && nz.is_multiple_of(self.planes);
        if few { self.planes } else { 0 }
    }

    /// Two steps at once, as many cells to a thread as its registers hold; without potentials. On an
    /// H200 that is faster than one by one for a single species without a wind.
    pub fn twice(species: usize, word: usize, wind: bool) -> Tiling {
        let (pack, rows) = match (species, word) {
            (1, 4) => (4, if wind { 3 } else { 4 }),
            (1, _) => (2, if wind { 2 } else { 3 }),
            (_, 4) => (2, 2),
            _ => (1, 1),
        };
        Tiling { depth: 2, pack, rows, ahead: 3, ..Tiling::of(2, 0, 4) }
    }

    /// The same for rows of `nx` cells. Packs divide periodic rows: what continues at the other
    /// end must not begin amid a pack. Threads that short rows leave idle take other rows.
    pub(super) fn fitted(self, nx: usize, periodic: bool) -> Tiling {
        let Tiling { mut pack, mut block, .. } = self;
        while periodic && !nx.is_multiple_of(pack) {
            pack /= 2;
        }
        while block[0] > 4 && block[0] * pack >= 2 * nx {
            block = [block[0] / 2, block[1] * 2];
        }
        Tiling { pack, block, ..self }
    }

    /// The name of the kernel that sweeps.
    pub(super) fn kernel(potentials: usize) -> &'static str {
        if potentials > 0 { "od_potential" } else { "od_euler" }
    }

    pub(super) fn check(&self, potentials: usize, word: usize) -> Result<(), Error> {
        let threads = self.block[0] * self.block[1];
        let sound = matches!(self.pack, 1 | 2 | 4)
            && self.pack * word <= 16
            && (1..=8).contains(&self.rows)
            && (1..=1024).contains(&threads)
            && self.ahead <= 8
            && self.blocks_per_sm >= 1
            && (1..=4).contains(&self.depth)
            && (potentials == 0 || self.depth == 1);
        if sound {
            return Ok(());
        }
        Err(Error::input("tiling", format!("{self:?}"), "see the bounds of its parts"))
    }

    /// Cells beyond its own that a thread reads.
    pub(super) fn reach(&self, potentials: usize) -> usize {
        if potentials > 0 { 2 } else { self.depth }
    }

    /// Blocks along x and y.
    pub(super) fn blocks(&self, [nx, ny, _]: [usize; 3]) -> [usize; 2] {
        [nx.div_ceil(self.block[0] * self.pack), ny.div_ceil(self.block[1] * self.rows)]
    }

    /// Planes for each block when the GPU holds `resident` blocks at once and there are `across`
    /// along x and y: as few rounds of blocks as may be, counting the planes that each block
    /// reads beside its own.
    pub(super) fn planes(&self, nz: usize, across: usize, resident: usize) -> usize {
        if self.planes > 0 {
            return self.planes.min(nz);
        }
        let most = nz.div_ceil(4).clamp(1, 256);
        let cost = |slabs: usize| {
            let planes = nz.div_ceil(slabs);
            let rounds = (across * nz.div_ceil(planes)).div_ceil(resident.max(1));
            // A plane that is read but not written costs half of one that is both; of several
            // steps it is computed too.
            rounds * (2 * planes + if self.depth > 1 { 4 * self.depth } else { 2 })
        };
        let best = (1..=most).min_by_key(|&slabs| cost(slabs)).unwrap_or(1);
        nz.div_ceil(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_fill_the_gpu() {
        let tiling = Tiling { planes: 0, ..Tiling::of(1, 0, 4) };
        // 128 blocks across, 264 at once: two slabs of 256 planes fill 256 of 264.
        assert_eq!(tiling.planes(512, 128, 264), 256);
        assert_eq!(tiling.planes(1, 128, 264), 1);
        for n in [1, 2, 5, 37, 64, 100] {
            let planes = tiling.planes(n, 8, 264);
            assert!(planes >= 1 && planes <= n);
        }
    }

    #[test]
    fn packs_divide_periodic_rows() {
        let wide = Tiling::of(1, 0, 4);
        let packs = [64, 66, 33].map(|nx| wide.fitted(nx, true).pack);
        assert_eq!((packs, wide.fitted(33, false).pack), ([4, 2, 1], 4));
    }

    #[test]
    fn short_rows_leave_no_thread_idle() {
        let wide = Tiling::of(1, 0, 4);
        let blocks = [512, 129, 128, 33, 32, 1].map(|nx| wide.fitted(nx, false).block);
        assert_eq!(blocks, [[64, 4], [64, 4], [32, 8], [16, 16], [8, 32], [4, 64]]);
    }
}
