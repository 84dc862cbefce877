//! How cells are dealt to threads of a GPU.

mod choice;

use odeum_ode::Error;

/// Cells for which tiles may be as wide as they are fastest.
pub(crate) const MANY: usize = 8 << 20;

/// Blocks along y, and along z, that a GPU takes at most.
pub(crate) const MOST_BLOCKS: usize = 65_535;

/// Bytes of shared memory that a block may have on an H200.
pub(crate) const SHARED: usize = 227 << 10;

/// Cells of a tile of a pipeline along x and y, and cells of its threads: `gpu/device/pipeline`.
pub(crate) const PIPELINE: [usize; 2] = [64, 32];
/// Words of a row of its planes in shared memory, and their rows: with four cells around. A row is
/// longer than it holds, for its banks.
pub(crate) const PIPELINE_PLANE: [usize; 2] = [PIPELINE[0] + 12, PIPELINE[1] + 8];
const PIPELINE_PACK: usize = 2;
const PIPELINE_ROWS: usize = 8;

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
    /// Whether planes that boundaries along z do not concern have a loop of their own, without choices.
    pub inner: bool,
    /// Whether two steps are taken by groups of warps that hand planes on to each other, in tiles
    /// of one size.
    pub pipeline: bool,
}

/// The kernels that sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Euler,
    Box,
    Pair,
    Potential,
    Pipeline,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Euler => "od_euler",
            Kind::Box => "od_box",
            Kind::Pair => "od_pair",
            Kind::Potential => "od_potential",
            Kind::Pipeline => "od_pipeline",
        }
    }

    /// Whether blocks share planes of tiles.
    pub(crate) fn is_tiled(self) -> bool {
        matches!(self, Kind::Pair | Kind::Potential)
    }
}

impl Tiling {
    /// Groups of rows of a box of so many, with those beside it.
    fn groups(&self, rows: usize) -> usize {
        rows / self.rows + 2 * self.depth.saturating_sub(1).div_ceil(self.rows)
    }

    /// Planes of a block that are all asked for at once; 0 where they stream by.
    pub(crate) fn unrolled(&self, nz: usize) -> usize {
        let few = self.planes <= 4 && self.planes > 0 && nz.is_multiple_of(self.planes);
        if few { self.planes } else { 0 }
    }

    /// The same for rows of `nx` cells. Packs divide periodic rows: what continues at the other
    /// end must not begin amid a pack. Threads that short rows leave idle take other rows.
    pub(crate) fn fitted(self, nx: usize, periodic: bool, potentials: usize) -> Tiling {
        let Tiling { mut pack, mut block, .. } = self;
        if pack == 0 || self.rows == 0 || self.pipeline {
            // For `check` to judge.
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
            _ if self.pipeline => Kind::Pipeline,
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
            // device/pipeline/tile.cuh; before the planes are barriers and a list.
            (Kind::Pipeline, _) => {
                let [x, y] = PIPELINE;
                let [row, rows] = PIPELINE_PLANE;
                let plane = (row * rows).next_multiple_of(32);
                let near = cell.species - cell.feeding;
                let fields = plane * (4 * cell.feeding + 2 * near);
                let potentials = (x + 6) * (2 * (y + 6) + y + 2) * cell.potentials;
                320 + fields + potentials + 3 * cell.species * (y + 4) * row
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
        let pipeline = || {
            let tile = [across * self.pack, PIPELINE_ROWS * (groups - 4) / 2];
            groups > 4
                && cell.word == 4
                && self.depth == 2
                && self.boxes.is_none()
                && [self.pack, self.rows] == [PIPELINE_PACK, PIPELINE_ROWS]
                && tile == PIPELINE
        };
        let finite = boxes
            && matches!(self.pack, 1 | 2 | 4)
            && self.pack * cell.word <= 16
            && (1..=8).contains(&self.rows)
            && (1..=1024).contains(&threads)
            && self.ahead <= 8
            && self.blocks_per_sm >= 1
            && (1..=4).contains(&self.depth)
            && (!kind.is_tiled() || tiles())
            && (kind != Kind::Pipeline || pipeline());
        if !finite {
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
        if self.pipeline {
            return [nx.div_ceil(PIPELINE[0]), ny.div_ceil(PIPELINE[1])];
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
        let beside = match self.kernel(potentials) {
            Kind::Pipeline => 20,
            kind if kind.is_tiled() => 8,
            _ => 2,
        };
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
