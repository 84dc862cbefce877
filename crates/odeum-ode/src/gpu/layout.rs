//! How a kernel is laid out on a GPU: where slopes are kept, how large blocks are.

use super::slots::Slots;
use odeum_cuda::Limits;

/// Components up to which loops over them are unrolled.
pub(crate) const UNROLLED_COMPONENTS: usize = 64;

/// Vectors that RKC keeps outside of registers.
pub(crate) const RKC_VECTORS: usize = 4;

/// Lanes of a warp.
pub(crate) const WARP: usize = 32;

/// Shared memory the hardware keeps of each block.
const RESERVED: usize = 1024;

/// Registers of a multiprocessor, on every GPU since 2012.
const REGISTERS: usize = 65536;

/// Where the slopes of the stages are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Registers, everything unrolled: small systems.
    Registers,
    /// Shared memory, stages in a loop.
    Shared,
    /// Local memory: systems too large for the others.
    Local,
    /// Registers of several lanes for every system, of this number, which meet in shared memory.
    Lanes(usize),
}

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
}

impl Layout {
    /// One thread per system, for an explicit pair of `stages` stages.
    pub(crate) fn erk(
        slots: &Slots,
        dim: usize,
        stages: usize,
        nodes: usize,
        word: usize,
        limits: &Limits,
    ) -> Self {
        let words = word / 4;
        let unrolled = (2 * dim + stages * slots.len()) * words + 32;
        if unrolled <= 160 && nodes * stages <= 1500 {
            let warps = warps_by_registers(unrolled + 8 * words).min(48);
            return Layout {
                storage: Storage::Registers,
                block: 128,
                blocks_per_sm: warps / 4,
                shared: 0,
            };
        }
        let bytes = (stages - 1) * slots.len() * word;
        if dim <= UNROLLED_COMPONENTS
            && let Some(layout) = shared(bytes, (2 * dim + slots.len()) * words + 40, limits)
        {
            return layout;
        }
        Layout { storage: Storage::Local, block: 64, blocks_per_sm: 4, shared: 0 }
    }

    /// One thread per system, for RKC: six vectors of n components.
    pub(crate) fn rkc(dim: usize, word: usize, limits: &Limits) -> Self {
        let words = word / 4;
        if 7 * dim * words + 48 <= 160 {
            let blocks_per_sm = warps_by_registers(7 * dim * words + 72).min(32) / 4;
            return Layout { storage: Storage::Registers, block: 128, blocks_per_sm, shared: 0 };
        }
        let registers = 2 * dim * words + 60;
        let fits = dim <= UNROLLED_COMPONENTS;
        fits.then(|| shared(RKC_VECTORS * dim * word, registers, limits))
            .flatten()
            .unwrap_or(Layout { storage: Storage::Local, block: 64, blocks_per_sm: 4, shared: 0 })
    }

    /// Several lanes of a warp for every system. Blocks are single warps, which spread best over
    /// the multiprocessors.
    pub(crate) fn erk_lanes(slots: &Slots, dim: usize, word: usize) -> Self {
        let width = lane_width(slots);
        let shared = WARP / width * exchange(slots, dim, word) * word;
        Layout { storage: Storage::Lanes(width), block: WARP, blocks_per_sm: LANE_WARPS, shared }
    }
}

/// Warps on a multiprocessor where systems have several lanes: these few have all the registers
/// they want (Pleiades, 1,024 systems, H200: 0.122 ms; with twelve 0.166, with sixteen 0.245).
const LANE_WARPS: usize = 8;

/// Lanes that a system of several lanes takes: a power of two.
fn lane_width(slots: &Slots) -> usize {
    slots.n_groups().next_power_of_two()
}

/// Words of shared memory of a system of several lanes: two buffers of stage states, and the parts
/// of three norms, a word and an integer each. Systems that follow each other begin in different
/// banks.
pub(crate) fn exchange(slots: &Slots, dim: usize, word: usize) -> usize {
    let parts = 3 * slots.n_groups();
    let used = 2 * dim + parts + (parts * 4).div_ceil(word);
    let (banks, width) = (128 / word, lane_width(slots));
    (used..).find(|words| words % banks == width % banks).unwrap_or(used)
}

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
            let layout =
                Layout { storage: Storage::Shared, block, blocks_per_sm: blocks, shared: size };
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
