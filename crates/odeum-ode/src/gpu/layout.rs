//! How a kernel is laid out on a GPU: where slopes are kept, how large blocks are.

use crate::method::device::{LanesNeeds, Storage, ThreadNeeds};
use crate::solution::WARP;
use odeum_cuda::Limits;

/// Components up to which loops over them are unrolled.
pub(crate) const UNROLLED_COMPONENTS: usize = 64;

/// Registers of a thread up to which everything is unrolled in them.
const MOST_UNROLLED: usize = 160;

/// Shared memory the hardware keeps of each block.
const RESERVED: usize = 1024;

/// Registers of a multiprocessor, on every GPU since 2012.
const REGISTERS: usize = 65536;

/// A launch shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) storage: Storage,
    /// Threads of a block.
    pub(crate) block: usize,
    /// Blocks that are to fit on a multiprocessor, which bounds their registers.
    pub(crate) blocks_per_sm: usize,
    /// Dynamic shared memory of a block, in bytes.
    pub(crate) shared: usize,
    /// Threads of a system.
    pub(crate) width: usize,
    /// Global memory of a block, in bytes.
    pub(crate) global: usize,
}

impl Layout {
    /// One thread per system.
    pub(crate) fn threads(
        storage: Storage,
        block: usize,
        blocks_per_sm: usize,
        shared: usize,
    ) -> Self {
        Layout { storage, block, blocks_per_sm, shared, width: 1, global: 0 }
    }

    /// One thread per system of `dim` equations, for an explicit method.
    pub(crate) fn explicit(needs: &ThreadNeeds, dim: usize, limits: &Limits) -> Self {
        if let Some(registers) = needs.registers.as_ref().filter(|r| r.least <= MOST_UNROLLED) {
            let warps = warps_by_registers(registers.wanted).min(registers.warps);
            return Layout::threads(Storage::Registers, 128, warps / 4, 0);
        }
        let (bytes, registers) = needs.stages;
        let fits = dim <= UNROLLED_COMPONENTS;
        fits.then(|| shared(bytes, registers, limits)).flatten().unwrap_or(Layout::threads(
            Storage::Local,
            64,
            4,
            0,
        ))
    }

    /// Several lanes of a warp for every system; `None` where there is not that much shared memory. Blocks are single warps,
    /// which spread best over the multiprocessors.
    pub(crate) fn lanes(needs: &LanesNeeds, limits: &Limits) -> Option<Self> {
        let (width, shared) = (needs.width, WARP / needs.width * needs.bytes);
        let layout = Layout { width, ..Layout::threads(Storage::Lanes, WARP, LANE_WARPS, shared) };
        (shared <= limits.shared_per_block).then_some(layout)
    }

    /// Systems that a multiprocessor holds at once.
    pub(crate) fn systems(&self) -> usize {
        self.block / self.width * self.blocks_per_sm
    }

    /// Shared memory of so many blocks, in bytes.
    pub(crate) fn shared_by(&self, blocks: usize) -> usize {
        blocks * (self.shared + RESERVED)
    }

    /// One thread per system, for an implicit method whose state and matrix take so many registers; where these are too
    /// many, a part of that has `bytes` of shared memory, unless that is none.
    pub(crate) fn implicit(registers: usize, bytes: usize, limits: &Limits) -> Self {
        let columns = || shared(bytes, registers, limits).filter(|_| bytes > 0);
        match if registers <= 255 { None } else { columns() } {
            Some(layout) => layout,
            None => {
                let storage = if registers <= 255 { Storage::Registers } else { Storage::Local };
                let warps = warps_by_registers(registers.max(64)).clamp(8, 16);
                Layout::threads(storage, 2 * WARP, warps / 2, 0)
            }
        }
    }

    /// A warp of interleaved systems, and a block of `warps` for all of them with `shared` bytes of shared memory; `None` when there
    /// is not that much.
    pub(crate) fn interleaved(warps: usize, shared: usize, limits: &Limits) -> Option<Self> {
        let block = warps * WARP;
        let layout =
            Layout { width: warps, ..Layout::threads(Storage::Interleaved, block, 1, shared) };
        (shared <= limits.shared_per_block).then_some(layout)
    }

    /// A group of `width` threads per system, each with `bytes` of shared memory and `global` of global; `None` when there is
    /// not that much.
    pub(crate) fn group(
        width: usize,
        bytes: usize,
        global: usize,
        limits: &Limits,
    ) -> Option<Self> {
        // Groups of several warps are blocks, whose barrier is theirs.
        let sizes: &[usize] = if width == WARP { &[2, 4, 1] } else { &[1] };
        let of = |&groups: &usize| {
            let (block, shared) = (groups * width, groups * bytes);
            let blocks = limits.shared_per_multiprocessor / (shared + RESERVED);
            let most = GROUP_WARPS * WARP / block;
            (shared <= limits.shared_per_block && blocks > 0).then(|| Layout {
                width,
                global: groups * global,
                ..Layout::threads(Storage::Group, block, blocks.min(most.max(1)), shared)
            })
        };
        let all = sizes.iter().filter_map(of);
        all.reduce(|best, next| {
            let resident = |layout: &Layout| layout.blocks_per_sm * layout.block;
            if resident(&next) > resident(&best) { next } else { best }
        })
    }
}

/// Warps on a multiprocessor where they share systems, at most: registers of more do not hold what methods and right-hand sides
/// need (RKC with ethanol, H200: 112 µs for each reactor; with twenty 132, with 24 128).
const GROUP_WARPS: usize = 16;

/// Warps on a multiprocessor where systems have several lanes: these few have all the registers
/// they want (Pleiades, 1,024 systems, H200: 0.122 ms; with twelve 0.166, with sixteen 0.245).
const LANE_WARPS: usize = 8;

/// The shape where each thread keeps `bytes` in shared memory and wants about `registers`; `None`
/// when not even four warps fit on a multiprocessor.
///
/// Two warps for each scheduler with all the registers they want are faster than three that are
/// short of them (Pleiades, H200: 4.91 against 5.14 ms).
pub(crate) fn shared(bytes: usize, registers: usize, limits: &Limits) -> Option<Layout> {
    let most = warps_by_registers(registers).max(8);
    let mut best: Option<(usize, Layout)> = None;
    for warps in [2, 4, 3, 6, 1] {
        let block = warps * WARP;
        let size = block * bytes;
        let blocks =
            (limits.shared_per_multiprocessor / (size + RESERVED)).min(most / warps).min(16);
        if size > limits.shared_per_block || blocks == 0 {
            continue;
        }
        let resident = blocks * warps;
        if best.is_none_or(|(most, _)| resident > most) {
            let layout = Layout::threads(Storage::Shared, block, blocks, size);
            best = Some((resident, layout));
        }
    }
    best.filter(|(resident, _)| *resident >= 4).map(|(_, layout)| layout)
}

/// Warps on a multiprocessor when each thread has this many registers.
fn warps_by_registers(registers: usize) -> usize {
    // Each of the four schedulers has its own quarter; registers of a thread come in eights, and
    // there are at most 255.
    4 * (REGISTERS / 4 / (WARP * registers.min(255).next_multiple_of(8)))
}
