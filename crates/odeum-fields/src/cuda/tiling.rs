//! How cells are dealt to threads.

use odeum::Error;

/// What one thread and one block of a sweep own. Any tiling gives the same field; of several
/// steps at once, next to a wall along z that shifts or scales, to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiling {
    /// Steps for each time that the field is read and written.
    pub depth: usize,
    /// Cells of a thread along x: 1, 2 or 4, at most 16 bytes.
    pub pack: usize,
    /// Rows of a thread.
    pub rows: usize,
    /// Threads of a block along x and y; 32 along x where a sweep reaches farther than the
    /// nearest cells.
    pub block: [usize; 2],
    /// Planes whose loads are under way before they are needed.
    pub ahead: usize,
    /// Blocks that the compiler leaves registers for on a multiprocessor.
    pub blocks_per_sm: usize,
    /// Planes that a block goes through; 0 to choose it for the GPU.
    pub planes: usize,
}

/// Which kernel sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One step.
    Plain,
    /// Several.
    Deep,
    /// One step of a model with this many potentials.
    Potential(usize),
}

impl Kind {
    pub(super) fn kernel(self) -> &'static str {
        match self {
            Kind::Plain => "od_euler",
            Kind::Deep => "od_deep",
            Kind::Potential(_) => "od_potential",
        }
    }
}

impl Tiling {
    /// What was fastest on an H200 for a model of so many species and potentials in numbers of
    /// `word` bytes (docs/performance/fields.md).
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
            (1, 0, 4) | (2, 0, 4) => wide,
            (1, 0, _) => Tiling { blocks_per_sm: 3, ..wide },
            (2, 0, _) => Tiling { rows: 4, block: [32, 4], ..wide },
            (_, 0, _) => Tiling { pack: 8 / word, ..wide },
            _ => Tiling { pack: 8 / word, block: [32, 8], ahead: 1, ..wide },
        }
    }

    /// Two steps at once, which on an H200 is faster than one by one for a single species without
    /// a wind; without potentials.
    pub fn twice(species: usize, word: usize) -> Tiling {
        let (rows, block, blocks_per_sm) =
            if species == 1 { (4, [32, 8], 2) } else { (2, [32, 16], 1) };
        let pack = 8 / word;
        Tiling { depth: 2, pack, rows, block, ahead: 1, blocks_per_sm, planes: 0 }
    }

    pub(super) fn kind(&self, potentials: usize) -> Kind {
        match (potentials, self.depth) {
            (0, 1) => Kind::Plain,
            (0, _) => Kind::Deep,
            (n, _) => Kind::Potential(n),
        }
    }

    pub(super) fn check(&self, potentials: usize, word: usize) -> Result<(), Error> {
        let threads = self.block[0] * self.block[1];
        let (kind, [halo, lines]) = (self.kind(potentials), self.halo(potentials));
        let tiled = kind == Kind::Plain
            || self.block[0] == 32
                && 2 * halo < 32 * self.pack
                && 2 * lines < self.block[1] * self.rows;
        let sound = matches!(self.pack, 1 | 2 | 4)
            && self.pack * word <= 16
            && (1..=8).contains(&self.rows)
            && (1..=1024).contains(&threads)
            && self.ahead <= 3
            && self.blocks_per_sm >= 1
            && (1..=8).contains(&self.depth)
            && (potentials == 0 || self.depth == 1)
            && tiled;
        if sound {
            return Ok(());
        }
        Err(Error::input("tiling", format!("{self:?}"), "see the bounds of its parts"))
    }

    /// Cells at each side of a tile that are not written, along x and y.
    pub(super) fn halo(&self, potentials: usize) -> [usize; 2] {
        let [x, y] = match self.kind(potentials) {
            Kind::Plain => [0, 0],
            Kind::Deep => [self.depth, self.depth - 1],
            Kind::Potential(_) => [2, 1],
        };
        [x.next_multiple_of(self.pack), y]
    }

    /// Blocks along x and y, with the periodic axes.
    pub(super) fn blocks(
        &self,
        potentials: usize,
        [nx, ny, _]: [usize; 3],
        periodic: [bool; 3],
    ) -> [usize; 2] {
        let (halo, edges) = (self.halo(potentials), [self.pack, self.rows]);
        let count = |axis: usize, n: usize| {
            let (tile, lost) = (self.block[axis] * edges[axis], 2 * halo[axis]);
            // At a wall nothing is lost.
            let first = if periodic[axis] { tile - lost } else { tile };
            1 + n.saturating_sub(first).div_ceil(tile - lost)
        };
        [count(0, nx), count(1, ny)]
    }

    /// Dynamic shared memory of a block, in bytes.
    pub(super) fn shared(&self, species: usize, potentials: usize, word: usize) -> usize {
        let channels = match self.kind(potentials) {
            Kind::Plain => 0,
            Kind::Deep => 2 * (self.depth - 1) * species,
            Kind::Potential(n) => 2 * n,
        };
        channels * self.block[1] * 2 * 32 * self.pack * word
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

    /// The tiles of kernels begin at multiples of what they write, less the halo where they wrap.
    #[test]
    fn tiles_cover_the_box() {
        let deep = Tiling { depth: 3, block: [32, 4], ..Tiling::of(1, 0, 4) };
        let [halo, lines] = deep.halo(0);
        assert_eq!([halo, lines], [4, 2]);
        for n in 1..400 {
            let [closed, _] = deep.blocks(0, [n, 1, 1], [false; 3]);
            let reach = |blocks: usize| (blocks - 1) * 120 + 128;
            assert!(reach(closed) >= n && (closed == 1 || reach(closed - 1) < n));
            let [round, rows] = deep.blocks(0, [n, n, 1], [true; 3]);
            assert!(round * 120 >= n && (round - 1) * 120 < n);
            assert!(rows * 4 >= n && (rows - 1) * 4 < n);
        }
    }
}
