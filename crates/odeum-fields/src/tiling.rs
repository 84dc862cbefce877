//! How cells are dealt to threads of a GPU.

use odeum::Error;

/// Threads that keep an H200 busy while a field comes from its second-level cache
/// (docs/performance/fields.md).
const SMALL_THREADS: usize = 48 << 10;

/// Cells for which tiles may be as wide as they are fastest.
pub(crate) const MANY: usize = 8 << 20;

/// Those of an H200.
const MULTIPROCESSORS: usize = 132;

/// Bytes of shared memory that a block may have on an H200.
pub(crate) const SHARED: usize = 227 << 10;

/// What is kept of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) species: usize,
    pub(crate) potentials: usize,
    /// Species that the potentials depend on.
    pub(crate) feeding: usize,
    /// Bytes of a number.
    pub(crate) word: usize,
}

/// Bytes of results that a block computes in boxes while a kernel starts and the first of its
/// reads come back.
const START: usize = 40_000;

/// Threads that a block of boxes has at least, and at most for their registers not to spill.
const BOX_THREADS: [usize; 2] = [128, 640];

/// What one thread and one block of a sweep own. Any tiling gives the same field, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiling {
    /// Steps for each time that the field is read and written: 1, 2 in tiles of shared memory, or 2
    /// to 4 in boxes.
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
    /// Rows and planes of boxes that take `depth` steps at once in shared memory, whose blocks
    /// follow from them; `None` where planes stream by.
    pub boxes: Option<[usize; 2]>,
    /// Whether planes that walls along z do not concern have a loop of their own, without choices.
    pub inner: bool,
}

/// The kernels that sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Euler,
    Box,
    Pair,
    Potential,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Euler => "od_euler",
            Kind::Box => "od_box",
            Kind::Pair => "od_pair",
            Kind::Potential => "od_potential",
        }
    }

    /// Whether blocks share planes of tiles.
    pub(crate) fn is_tiled(self) -> bool {
        matches!(self, Kind::Pair | Kind::Potential)
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
            inner: true,
            boxes: None,
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
            tiling.boxes.is_some_and(|[rows, planes]| rows <= ny && planes <= nz)
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

    /// Groups of rows of a box of so many, with those beside it.
    fn groups(&self, rows: usize) -> usize {
        rows / self.rows + 2 * self.depth.saturating_sub(1).div_ceil(self.rows)
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

    /// One step of a model with potentials, of so small a field that tiles are wanted for all
    /// multiprocessors.
    pub(crate) fn narrow(self) -> Tiling {
        Tiling { rows: 2, block: [32, 4], blocks_per_sm: 2, ..self }
    }

    /// The same with few cells to a thread, for a kernel that is sooner compiled.
    pub(crate) fn quick(self) -> Tiling {
        let pack = self.pack.div_ceil(2);
        Tiling { pack, rows: 1, ahead: 0, blocks_per_sm: 1, planes: 0, inner: false, ..self }
    }

    /// Planes of a block that are all asked for at once; 0 where they stream by.
    pub(crate) fn unrolled(&self, nz: usize) -> usize {
        let few = self.planes <= 4 && self.planes > 0 && nz.is_multiple_of(self.planes);
        if few { self.planes } else { 0 }
    }

    /// Two steps at once of one or two species: of the tilings that were fastest on an H200
    /// (docs/performance/fields.md), the one whose tiles suit these cells. Of more species one step
    /// at a time is faster.
    pub fn twice(
        species: usize,
        blown: bool,
        word: usize,
        [nx, ny, _]: [usize; 3],
    ) -> Option<Tiling> {
        /// Speed at 512³ [Gpt/s], cells of a thread along x and y, threads of a block.
        type Measured = (usize, [usize; 2], [usize; 2]);
        let measured: &[Measured] = match (species, blown, word) {
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

    /// The same for rows of `nx` cells. Packs divide periodic rows: what continues at the other
    /// end must not begin amid a pack. Threads that short rows leave idle take other rows.
    pub(crate) fn fitted(self, nx: usize, periodic: bool, potentials: usize) -> Tiling {
        let Tiling { mut pack, mut block, .. } = self;
        if pack == 0 || self.rows == 0 {
            // For `check` to refuse.
            return self;
        }
        while periodic && !nx.is_multiple_of(pack) {
            pack /= 2;
        }
        if let Some([rows, _]) = self.boxes {
            let across = nx.div_ceil(pack);
            let groups = self.groups(rows);
            // Planes in halves where threads would be too few to wait for memory together.
            let parts = if across * groups < BOX_THREADS[0] { 2 } else { 1 };
            block = [across, parts * groups];
            return Tiling { pack, block, ..self };
        }
        let tiled = self.kernel(potentials).is_tiled();
        // A thread each for the cells around a tile would be missing to a narrow one.
        while tiled && pack > 1 && block[0] * pack >= 2 * nx {
            pack /= 2;
        }
        while block[0] > if tiled { 16 } else { 4 } && block[0] * pack >= 2 * nx {
            block = [block[0] / 2, block[1] * 2];
        }
        Tiling { pack, block, ..self }
    }

    /// The same with tiles that need no more than so many bytes of shared memory, if such there
    /// are.
    pub(crate) fn within(mut self, most: usize, cell: &Cell) -> Tiling {
        while self.kernel(cell.potentials).is_tiled() && self.shared(cell) > most {
            if self.rows > 1 {
                self.rows -= 1;
            } else if self.block[0] > 16 {
                self.block[0] /= 2;
            } else {
                break;
            }
        }
        self
    }

    /// The kernel that sweeps.
    pub(crate) fn kernel(&self, potentials: usize) -> Kind {
        match (potentials, self.boxes) {
            (0, None) if self.depth > 1 => Kind::Pair,
            (0, None) => Kind::Euler,
            (0, Some(_)) => Kind::Box,
            _ => Kind::Potential,
        }
    }

    /// Bytes of shared memory of a block.
    pub(crate) fn shared(&self, cell: &Cell) -> usize {
        let Tiling { pack, rows, block: [across, groups], boxes, .. } = *self;
        let values = match (self.kernel(cell.potentials), boxes) {
            (Kind::Box, Some([box_rows, planes])) => {
                // Results of two steps take turns; before the first row and after the last is one
                // more.
                let around = self.depth.saturating_sub(1);
                let results = cell.species * (planes + 2 * around) * self.groups(box_rows) * rows;
                (around.min(2) * results + 2) * across * pack
            }
            // device/tile.cuh; before the planes is a gate.
            (Kind::Pair | Kind::Potential, _) => {
                let plane = (across * pack + 2 * pack.max(2)) * (groups * rows + 4);
                let again = if cell.potentials > 0 { cell.potentials } else { cell.species };
                plane * 2 * (cell.species + cell.feeding + again) + 16 / cell.word
            }
            _ => 0,
        };
        values * cell.word
    }

    /// Of a tiling that was [`fitted`](Tiling::fitted), where a block may have so many bytes of
    /// shared memory.
    pub(crate) fn check(&self, cell: &Cell, most: usize) -> Result<(), Error> {
        let [across, groups] = self.block;
        let threads = across * groups;
        let boxes = self.boxes.is_none_or(|[rows, planes]| {
            let whole = planes > 0 && rows > 0 && rows.is_multiple_of(self.rows);
            whole && self.depth > 1
        });
        // A thread each for packs and cells around a tile: device/tile.cuh.
        let kind = self.kernel(cell.potentials);
        let tiles = || {
            let lines = groups * self.rows;
            let around = (4 * (lines + 4)).max(2 * across + 2 * (lines + 2));
            let depth = if kind == Kind::Pair { 2 } else { 1 };
            self.depth == depth && self.boxes.is_none() && groups >= 4 && around <= threads
        };
        let sound = boxes
            && matches!(self.pack, 1 | 2 | 4)
            && self.pack * cell.word <= 16
            && (1..=8).contains(&self.rows)
            && (1..=1024).contains(&threads)
            && self.ahead <= 8
            && self.blocks_per_sm >= 1
            && (1..=4).contains(&self.depth)
            && (!kind.is_tiled() || tiles());
        if !sound {
            let remedy = "see the bounds of its parts";
            return Err(Error::input("tiling", format!("{self:?}"), remedy));
        }
        let shared = self.shared(cell);
        if shared > most {
            let found = format!("{self:?}: {shared} bytes of shared memory");
            let remedy = format!("a block may have {most} on this GPU");
            return Err(Error::input("tiling", found, remedy));
        }
        Ok(())
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
    pub(crate) fn planes(
        &self,
        nz: usize,
        across: usize,
        resident: usize,
        potentials: usize,
    ) -> usize {
        if let Some([_, planes]) = self.boxes {
            return planes;
        }
        if self.planes > 0 {
            return self.planes.min(nz);
        }
        let most = nz.div_ceil(4).clamp(1, 256);
        // A plane that is read but not written costs half of one that is both; in tiles it is
        // computed too.
        let beside = if self.kernel(potentials).is_tiled() { 8 } else { 2 };
        let cost = |slabs: usize| {
            let planes = nz.div_ceil(slabs);
            let rounds = (across * nz.div_ceil(planes)).div_ceil(resident.max(1));
            rounds * (2 * planes + beside)
        };
        let best = (1..=most).min_by_key(|&slabs| cost(slabs)).unwrap_or(1);
        nz.div_ceil(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Cell = Cell { species: 1, potentials: 0, feeding: 0, word: 4 };

    #[test]
    fn slabs_fill_the_gpu() {
        let tiling = Tiling { planes: 0, ..Tiling::of(1, 0, 4) };
        // 128 blocks across, 264 at once: two slabs of 256 planes fill 256 of 264.
        assert_eq!(tiling.planes(512, 128, 264, 0), 256);
        assert_eq!(tiling.planes(1, 128, 264, 0), 1);
        for n in [1, 2, 5, 37, 64, 100] {
            let planes = tiling.planes(n, 8, 264, 0);
            assert!(planes >= 1 && planes <= n);
        }
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
    fn nothing_to_a_thread_is_refused() {
        let boxes = Some([8, 4]);
        let two = Tiling { depth: 2, boxes, ..Tiling::of(1, 0, 4) };
        assert!(two.fitted(64, true, 0).check(&ONE, SHARED).is_ok());
        for none in [Tiling { pack: 0, ..two }, Tiling { rows: 0, ..two }] {
            assert!(none.fitted(64, true, 0).check(&ONE, SHARED).is_err());
            assert!(
                Tiling { depth: 1, boxes: None, ..none }
                    .fitted(64, true, 0)
                    .check(&ONE, SHARED)
                    .is_err()
            );
        }
    }

    #[test]
    fn tiles_fit_into_shared_memory() {
        let front = Cell { species: 3, potentials: 1, feeding: 1, word: 8 };
        let wide = Tiling::of(3, 1, 8).fitted(512, false, 1);
        assert_eq!(wide.within(SHARED, &front), wide);
        // GPUs with 99 KiB for a block.
        let less = wide.within(99 << 10, &front);
        assert!(less.shared(&front) <= 99 << 10 && less.rows < wide.rows);
        assert!(less.check(&front, 99 << 10).is_ok() && wide.check(&front, 99 << 10).is_err());
        let many = Cell { species: 9, potentials: 2, feeding: 3, word: 8 };
        assert!(wide.within(SHARED, &many).check(&many, SHARED).is_ok());
        // Short rows leave a thread for each cell around a tile.
        for nx in [1, 7, 64, 100] {
            let short = Tiling::of(3, 1, 8).fitted(nx, false, 1);
            assert!(short.check(&front, SHARED).is_ok(), "{short:?}");
        }
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
            for (species, blown, word) in all {
                let cell = Cell { species, potentials: 0, feeding: 0, word };
                let tiling = Tiling::twice(species, blown, word, shape).unwrap();
                let tiling = tiling.fitted(cut, false, 0);
                assert!(tiling.check(&cell, SHARED).is_ok(), "{cut} {tiling:?}");
                let [across, along] = tiling.blocks(shape);
                let [x, y] = [tiling.block[0] * tiling.pack, tiling.block[1] * tiling.rows];
                assert!(across * x * along * y * 10 <= 65_536 * 11, "{cut} {tiling:?}");
            }
        }
    }

    #[test]
    fn packs_divide_periodic_rows() {
        let wide = Tiling::of(1, 0, 4);
        let packs = [64, 66, 33].map(|nx| wide.fitted(nx, true, 0).pack);
        assert_eq!((packs, wide.fitted(33, false, 0).pack), ([4, 2, 1], 4));
    }

    #[test]
    fn short_rows_leave_no_thread_idle() {
        let wide = Tiling::of(1, 0, 4);
        let blocks = [512, 129, 128, 33, 32, 1].map(|nx| wide.fitted(nx, false, 0).block);
        assert_eq!(blocks, [[64, 4], [64, 4], [32, 8], [16, 16], [8, 32], [4, 64]]);
    }
}
