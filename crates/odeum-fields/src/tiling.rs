//! How cells are dealt to threads of a GPU.

use odeum::Error;

/// Threads that keep an H200 busy while a field comes from its second-level cache
/// (docs/performance/fields.md).
const SMALL_THREADS: usize = 48 << 10;

/// Those of an H200.
const MULTIPROCESSORS: usize = 132;

/// Bytes of shared memory that a block may have on an H200.
const SHARED: usize = 227 << 10;

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
    /// Blocks that the compiler leaves registers for on a multiprocessor; if more than one, no more
    /// are dealt to it at once even where there is room: blocks that wait for memory together share
    /// what one of them has asked for.
    pub blocks_per_sm: usize,
    /// Planes that a block goes through; 0 to choose it for the GPU.
    pub planes: usize,
    /// Rows and planes of boxes that take two steps at once in shared memory, whose blocks follow
    /// from them; `None` where planes stream by.
    pub boxes: Option<[usize; 2]>,
}

/// The kernels that sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Euler,
    Box,
    Potential,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Euler => "od_euler",
            Kind::Box => "od_box",
            Kind::Potential => "od_potential",
        }
    }
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
            boxes: None,
        };
        match (species, potentials, word) {
            (1, 0, 4) => Tiling { ahead: 1, blocks_per_sm: 3, ..wide },
            (2, 0, 4) => Tiling { rows: 4, ahead: 1, ..wide },
            (1, 0, _) => Tiling { blocks_per_sm: 3, ..wide },
            (2, 0, _) => Tiling { rows: 5, ahead: 1, ..wide },
            (_, 0, _) => Tiling { pack: 8 / word, ..wide },
            (_, _, 4) => Tiling { block: [32, 4], ahead: 1, blocks_per_sm: 2, ..wide },
            _ => Tiling { rows: 1, block: [32, 4], ahead: 1, blocks_per_sm: 3, ..wide },
        }
    }

    /// Two steps in boxes of a field that stays in the second-level cache; `None` where boxes
    /// would be thicker than the field.
    pub fn boxed(species: usize, word: usize, [_, ny, nz]: [usize; 3]) -> Option<Tiling> {
        // Narrow packs, one row to a thread, keep a small field's threads busy; a row costs them
        // more.
        let (wide, narrow) = ((16 / word, 2, 3), ((8 / word).max(2), 1, 4));
        let kinds = [([16, 8], wide), ([8, 8], wide), ([8, 4], narrow)];
        let cost = |([rows, planes], (_, own, weight)): &([usize; 2], (usize, usize, usize))| {
            let blocks = ny.div_ceil(*rows) * nz.div_ceil(*planes);
            let work = (rows + 2 * own) * (planes + 2) + rows * planes;
            blocks.div_ceil(MULTIPROCESSORS) * work * weight
        };
        let fitting = kinds.into_iter().filter(|(boxes, _)| ny >= boxes[0] && nz >= boxes[1]);
        let (boxes, (pack, rows, _)) = fitting.min_by_key(cost)?;
        let of = Tiling { ahead: 0, blocks_per_sm: 1, ..Tiling::of(species, 0, word) };
        Some(Tiling { depth: 2, pack, rows, boxes: Some(boxes), ..of })
    }

    /// One step of a field that stays in the second-level cache of a GPU: so few planes to a block
    /// that there are threads enough to wait for that cache, yet as many as share what they read.
    pub(crate) fn small(self, [nx, ny, nz]: [usize; 3]) -> Tiling {
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
    pub(crate) fn unrolled(&self, nz: usize) -> usize {
        let few = self.planes <= 4 && self.planes > 0 && nz.is_multiple_of(self.planes);
        if few { self.planes } else { 0 }
    }

    /// Two steps at once of a single species without a wind, as many cells to a thread as its
    /// registers hold. Of other models one by one is faster on an H200.
    pub fn twice(word: usize) -> Tiling {
        let rows = if word == 4 { 4 } else { 3 };
        Tiling { depth: 2, rows, ahead: 3, blocks_per_sm: 1, ..Tiling::of(1, 0, word) }
    }

    /// The same for rows of `nx` cells. Packs divide periodic rows: what continues at the other
    /// end must not begin amid a pack. Threads that short rows leave idle take other rows.
    pub(crate) fn fitted(self, nx: usize, periodic: bool) -> Tiling {
        let Tiling { mut pack, mut block, .. } = self;
        if pack == 0 || self.rows == 0 {
            // For `check` to refuse.
            return self;
        }
        while periodic && !nx.is_multiple_of(pack) {
            pack /= 2;
        }
        if let Some([rows, _]) = self.boxes {
            block = [nx.div_ceil(pack), 2 * (rows / self.rows + 2)];
            return Tiling { pack, block, ..self };
        }
        while block[0] > 4 && block[0] * pack >= 2 * nx {
            block = [block[0] / 2, block[1] * 2];
        }
        Tiling { pack, block, ..self }
    }

    /// The kernel that sweeps.
    pub(crate) fn kernel(&self, potentials: usize) -> Kind {
        match (potentials, self.boxes) {
            (0, None) => Kind::Euler,
            (0, Some(_)) => Kind::Box,
            _ => Kind::Potential,
        }
    }

    /// Bytes of shared memory of a block.
    pub(crate) fn shared(&self, species: usize, word: usize) -> usize {
        let Some([rows, planes]) = self.boxes else { return 0 };
        let values = species * (planes + 2) * (rows + 2 * self.rows) * self.block[0] + 2;
        values * self.pack * word
    }

    /// Of a tiling that was [`fitted`](Tiling::fitted).
    pub(crate) fn check(
        &self,
        potentials: usize,
        species: usize,
        word: usize,
    ) -> Result<(), Error> {
        let threads = self.block[0] * self.block[1];
        let boxes = self.boxes.is_none_or(|[rows, planes]| {
            let halves = planes >= 2 && planes.is_multiple_of(2);
            let groups = rows >= self.rows && rows.is_multiple_of(self.rows);
            halves && groups && self.depth == 2 && self.shared(species, word) <= SHARED
        });
        let sound = boxes
            && matches!(self.pack, 1 | 2 | 4)
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
    pub(crate) fn reach(&self, potentials: usize) -> usize {
        match self.kernel(potentials) {
            Kind::Potential => 2,
            Kind::Box => 1,
            Kind::Euler => self.depth,
        }
    }

    /// Blocks along x and y.
    pub(crate) fn blocks(&self, [nx, ny, _]: [usize; 3]) -> [usize; 2] {
        if let Some([rows, _]) = self.boxes {
            return [1, ny.div_ceil(rows)];
        }
        [nx.div_ceil(self.block[0] * self.pack), ny.div_ceil(self.block[1] * self.rows)]
    }

    /// Blocks that are dealt to a multiprocessor at once, of `most` that it holds.
    pub(crate) fn resident(&self, most: usize) -> usize {
        if self.blocks_per_sm > 1 { most.min(self.blocks_per_sm) } else { most }
    }

    /// Planes for each block when the GPU holds `resident` blocks at once and there are `across`
    /// along x and y: as few rounds of blocks as may be, counting the planes that each block
    /// reads beside its own.
    pub(crate) fn planes(&self, nz: usize, across: usize, resident: usize) -> usize {
        if let Some([_, planes]) = self.boxes {
            return planes;
        }
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
    fn boxes_fill_the_gpu() {
        let of = |n: usize| Tiling::boxed(1, 4, [n; 3]).and_then(|tiling| tiling.boxes);
        let boxes = [3, 64, 80, 96, 128, 144].map(of);
        let expected =
            [None, Some([8, 4]), Some([8, 8]), Some([16, 8]), Some([16, 8]), Some([8, 8])];
        assert_eq!(boxes, expected);
        // Blocks of more threads than there may be are refused.
        let long = Tiling::boxed(1, 8, [128; 3]).unwrap().fitted(128, false);
        assert!(long.check(0, 1, 8).is_err());
    }

    #[test]
    fn nothing_to_a_thread_is_refused() {
        let boxes = Some([8, 4]);
        let two = Tiling { depth: 2, boxes, ..Tiling::of(1, 0, 4) };
        assert!(two.fitted(64, true).check(0, 1, 4).is_ok());
        for none in [Tiling { pack: 0, ..two }, Tiling { rows: 0, ..two }] {
            assert!(none.fitted(64, true).check(0, 1, 4).is_err());
            assert!(
                Tiling { depth: 1, boxes: None, ..none }.fitted(64, true).check(0, 1, 4).is_err()
            );
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
