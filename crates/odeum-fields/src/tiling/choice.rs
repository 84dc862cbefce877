//! Which tilings are chosen: those that were fastest on an H200 (docs/src/performance/fields.md).

use super::{BOX_THREADS, Cell, MOST_BLOCKS, PIPELINE, PIPELINE_PACK, PIPELINE_ROWS, Tiling};

/// Threads that keep an H200 busy while a field comes from its second-level cache.
const SMALL_THREADS: usize = 48 << 10;

/// Those of an H200.
const MULTIPROCESSORS: usize = 132;

/// Bytes of results that a block computes in boxes while a kernel starts and the first of its
/// reads come back.
const START: usize = 40_000;

impl Tiling {
    /// What was fastest on an H200 for one step of a model of so many species and potentials in
    /// numbers of `word` bytes (docs/src/performance/fields.md).
    pub fn of(species: usize, potentials: usize, word: usize) -> Tiling {
        let wide = Tiling {
            depth: 1,
            pack: 16 / word,
            rows: 2,
            block: [64, 4],
            ahead: 0,
            blocks_per_sm: 1,
            planes: 0,
            inner: true,
            boxes: None,
            pipeline: false,
        };
        match (species, potentials, word) {
            (1, 0, 4) => Tiling { ahead: 1, blocks_per_sm: 3, ..wide },
            (2, 0, 4) => Tiling { rows: 4, ahead: 1, ..wide },
            (1, 0, _) => wide,
            (2, 0, _) => Tiling { rows: 5, ahead: 1, ..wide },
            (_, 0, _) => Tiling { pack: 8 / word, ..wide },
            _ => Tiling { rows: 3, ..wide },
        }
    }

    /// Steps in boxes of a field that stays in the second-level cache, as many as are fastest;
    /// `None` where single steps are, or no boxes fit into so many bytes of shared memory.
    pub fn boxed(
        species: usize,
        word: usize,
        [nx, ny, nz]: [usize; 3],
        shared: usize,
    ) -> Option<Tiling> {
        let cell = Cell { species, potentials: 0, feeding: 0, word };
        // Two rows share what they read; of several species they take too many registers.
        let rows = if species == 1 { 2 } else { 1 };
        let of = Tiling { rows, ahead: 0, blocks_per_sm: 1, ..Tiling::of(species, 0, word) };
        let boxes = (1..=16).flat_map(|groups| (1..=16).map(move |planes| [groups * rows, planes]));
        let all = boxes.flat_map(|boxes| {
            let of = Tiling { boxes: Some(boxes), ..of };
            (2..=4).map(move |depth| Tiling { depth, ..of }.fitted(nx, false, 0))
        });
        let fits = |tiling: &Tiling| {
            let is_taken = |[rows, planes]: [usize; 2]| {
                let blocks = ny.div_ceil(rows).max(nz.div_ceil(planes));
                rows <= ny && planes <= nz && blocks <= MOST_BLOCKS
            };
            tiling.boxes.is_some_and(is_taken)
                && tiling.block[0] * tiling.block[1] <= BOX_THREADS[1]
                && tiling.check(&cell, shared).is_ok()
        };
        // Bytes that a multiprocessor computes for a step, which takes one box after the other.
        let cost = |tiling: &Tiling| {
            let [rows, planes] = tiling.boxes.unwrap_or_default();
            let rounds = (ny.div_ceil(rows) * nz.div_ceil(planes)).div_ceil(MULTIPROCESSORS);
            let planes: usize = (0..tiling.depth).map(|around| planes + 2 * around).sum();
            let results = tiling.groups(rows) * tiling.rows * planes * nx * species;
            // 12 is a multiple of all depths.
            (START + rounds * results * word) * 12 / tiling.depth
        };
        // What a single step costs, a tenth less: of long rows boxes have too few planes to pay.
        let single = 60_000 + nx * ny * nz * species * word / MULTIPROCESSORS * 3 / 2;
        all.filter(fits).min_by_key(cost).filter(|best| cost(best) < single * 12)
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
        // Where these are more blocks than a GPU takes, each has more planes, or sweeps as many as it must.
        let is_taken = |n: &usize| nz.is_multiple_of(*n) && nz / n <= MOST_BLOCKS;
        let planes = [planes, 2, 4].into_iter().find(is_taken).unwrap_or(0);
        Tiling { pack, rows: 2, block: [32, 8], ahead: 0, blocks_per_sm: 1, planes, ..self }
    }

    /// One step of a model with potentials, of so small a field that tiles are wanted for all
    /// multiprocessors.
    pub(crate) fn narrow(self) -> Tiling {
        Tiling { rows: 2, block: [32, 4], blocks_per_sm: 2, ..self }
    }

    /// The same with less wide tiles where much of wide ones would hang over the rows.
    pub(crate) fn slim(self, [nx, ny, _]: [usize; 3]) -> Tiling {
        // What is around a tile costs a tenth more where it is half as wide.
        let cost = |&(halved, [across, along]): &(usize, [usize; 2])| {
            let [x, y] = [across * self.pack, along * self.rows];
            nx.next_multiple_of(x) * ny.next_multiple_of(y) * (10 + halved)
        };
        let [across, along] = self.block;
        let blocks = (0..).map(|n| (n, [across >> n, along << n]));
        let blocks = blocks.take_while(|(n, [across, _])| *n == 0 || *across >= 16);
        let block = blocks.min_by_key(cost).map_or(self.block, |(_, block)| block);
        Tiling { block, ..self }
    }

    /// The same with few cells to a thread, for a kernel that is sooner compiled.
    pub(crate) fn quick(self) -> Tiling {
        let pack = self.pack.div_ceil(2);
        Tiling { pack, rows: 1, ahead: 0, blocks_per_sm: 1, planes: 0, inner: false, ..self }
    }

    /// Two steps at once of three species, or of some with a potential.
    pub fn pipeline() -> Tiling {
        let [across, along] = [PIPELINE[0] / PIPELINE_PACK, PIPELINE[1] / PIPELINE_ROWS];
        // Two groups that compute the tile, and four warps for what is beside it.
        let block = [across, 2 * along + 4];
        let of = Tiling::of(3, 0, 4);
        let (pack, rows) = (PIPELINE_PACK, PIPELINE_ROWS);
        Tiling { depth: 2, pack, rows, block, inner: false, pipeline: true, ..of }
    }

    /// Two steps at once of one or two species: of the tilings that were fastest on an H200
    /// (docs/src/performance/fields.md), the one whose tiles suit these cells. Of more species one step
    /// at a time is faster, or a [`pipeline`](Tiling::pipeline).
    pub fn twice(
        species: usize,
        advected: bool,
        word: usize,
        [nx, ny, _]: [usize; 3],
    ) -> Option<Tiling> {
        /// Speed at 512³ [Gpt/s], cells of a thread along x and y, threads of a block.
        type Measured = (usize, [usize; 2], [usize; 2]);
        let measured: &[Measured] = match (species, advected, word) {
            (1, false, 4) => &[
                (840, [4, 8], [64, 4]),
                (811, [4, 6], [32, 4]),
                (755, [4, 4], [32, 4]),
                (780, [2, 6], [32, 8]),
                (596, [1, 7], [32, 4]),
            ],
            (1, true, 4) => &[
                (713, [4, 5], [32, 4]),
                (699, [4, 4], [32, 4]),
                (690, [2, 4], [32, 8]),
                (603, [2, 3], [16, 16]),
            ],
            (1, false, _) => {
                &[(400, [2, 6], [32, 4]), (375, [2, 4], [32, 4]), (357, [1, 4], [32, 8])]
            }
            (1, true, _) => {
                &[(365, [2, 5], [32, 4]), (359, [2, 4], [32, 4]), (345, [1, 4], [32, 16])]
            }
            (2, _, 4) => &[
                (396, [2, 8], [64, 4]),
                (372, [2, 6], [32, 4]),
                (351, [2, 4], [32, 4]),
                (340, [2, 3], [16, 16]),
            ],
            (2, ..) => &[
                (205, [1, 8], [64, 4]),
                (200, [2, 4], [32, 8]),
                (193, [2, 4], [32, 4]),
                (188, [1, 6], [32, 4]),
            ],
            _ => return None,
        };
        // Tiles that hang over compute what nobody wants.
        let speed = |&(speed, [pack, rows], [across, along]): &Measured| {
            let width = nx.next_multiple_of(pack * across);
            let computed = width * ny.next_multiple_of(rows * along);
            speed as f64 * (nx * ny) as f64 / computed as f64
        };
        let best = measured.iter().max_by(|a, b| speed(a).total_cmp(&speed(b)))?;
        let (_, [pack, rows], block) = *best;
        let blocks_per_sm = if block == [32, 4] { 2 } else { 1 };
        let of = Tiling::of(species, 0, word);
        Some(Tiling { depth: 2, pack, rows, block, blocks_per_sm, ahead: 0, ..of })
    }
}

#[cfg(test)]
mod tests {
    use super::super::SHARED;
    use super::*;

    #[test]
    fn tiles_are_as_wide_as_rows_allow() {
        let wide = [256, 300, 384, 500, 512].map(|n| Tiling::of(3, 1, 4).slim([n; 3]).block);
        assert_eq!(wide, [[64, 4], [16, 16], [32, 8], [64, 4], [64, 4]]);
        let narrow = [64, 128, 160, 200].map(|n| Tiling::of(3, 1, 4).narrow().slim([n; 3]).block);
        assert_eq!(narrow, [[16, 8], [32, 4], [16, 8], [32, 4]]);
    }

    #[test]
    fn long_axes_have_no_more_blocks_than_a_gpu_takes() {
        let of = |cells| Tiling::of(1, 0, 8).small(cells);
        assert_eq!(of([64, 64, 64]).planes, 1);
        for (nz, planes) in [(65_536, 2), (65_537, 0), (200_000, 4), (1_000_003, 0)] {
            let tiling = of([1, 1, nz]);
            assert_eq!(tiling.planes, planes);
            assert!(nz.div_ceil(tiling.planes(nz, 1, 264, 0)) <= MOST_BLOCKS);
            let boxed = Tiling::boxed(1, 8, [1, 1, nz], SHARED);
            let planes = boxed.and_then(|tiling| tiling.boxes).map_or(nz, |[_, planes]| planes);
            assert!(nz.div_ceil(planes) <= MOST_BLOCKS, "{nz} by {planes}");
        }
        assert_eq!(of([1, 1, 65_535]).planes, 1);
    }

    #[test]
    fn boxes_fill_the_gpu() {
        let of = |n: usize| {
            let tiling = Tiling::boxed(1, 4, [n; 3], SHARED).unwrap();
            (tiling.depth, tiling.boxes.unwrap())
        };
        let found = [32, 64, 96, 128, 160].map(of);
        let expected = [(3, [4, 2]), (3, [8, 4]), (3, [12, 6]), (2, [16, 8]), (2, [20, 10])];
        assert_eq!(found, expected);
        // Blocks of more threads than there may be are refused.
        assert_eq!(Tiling::boxed(1, 8, [4096, 8, 8], SHARED), None);
        // Measured: single steps are faster.
        assert_eq!(Tiling::boxed(1, 4, [512, 32, 128], SHARED), None);
        assert_eq!(Tiling::boxed(1, 8, [256, 64, 128], SHARED), None);
    }

    #[test]
    fn tiles_fit_cuts() {
        for cut in [2048, 1024, 512, 256, 128, 64, 32] {
            let shape = [cut, 65_536 / cut, 256];
            let all = [
                (1, false, 4),
                (1, true, 4),
                (1, false, 8),
                (1, true, 8),
                (2, false, 4),
                (2, false, 8),
            ];
            for (species, advected, word) in all {
                let cell = Cell { species, potentials: 0, feeding: 0, word };
                let tiling = Tiling::twice(species, advected, word, shape).unwrap();
                let tiling = tiling.fitted(cut, false, 0);
                assert!(tiling.check(&cell, SHARED).is_ok(), "{cut} {tiling:?}");
                let [across, along] = tiling.blocks(shape);
                let [x, y] = [tiling.block[0] * tiling.pack, tiling.block[1] * tiling.rows];
                assert!(across * x * along * y * 10 <= 65_536 * 11, "{cut} {tiling:?}");
            }
        }
    }
}
