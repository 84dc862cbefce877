//! Kernels of explicit methods over interleaved systems (device/interleaved.cuh): of 32 systems each lane of a warp has one, and the warps of
//! the block are the threads of every one of them.
//!
//! Mechanisms have such texts. Where shared memory does not hold 32 systems and the tables, a group of threads has each (`groups`).

use super::layout::Layout;
use super::plan::Kernel;
use super::source::{self, Traits};
use super::system::DeviceSystem;
use crate::method::Method;
use crate::method::device::Subject;
use crate::solution::WARP;
use odeum_cuda::{Limits, Text};

const INTERLEAVED: &str = include_str!("device/interleaved.cuh");
const WORK: &str = include_str!("device/work.cuh");

/// Warps of a block, of which one fits on a multiprocessor (RKC with ethanol, H200, 16,384 reactors: 73.6 µs for each; with 12 and 14
/// warps 81.9 and 83.0).
const WARPS: usize = 16;

/// Numbers that the threads of a system tell each other at once, and that its first thread tells the others.
const CELLS: usize = 8;
const NUMBERS: usize = 8;
const WORDS: usize = 8;

/// The kernel of a method; `None` where there is none, or not enough shared memory.
pub(super) fn kernel(
    system: &DeviceSystem,
    method: &Method,
    traits: &Traits,
    limits: &Limits,
) -> Option<Kernel> {
    let (name, kernel) = method.on_device().interleaved_kernel()?;
    let (dim, n_params) = system.grouped.sizes();
    let word = traits.word();
    let group = system.grouped.interleaved_text(WARPS, WARP * word)?;
    let work = group.memory.div_ceil(word);
    let numbers = dim + work.max(CELLS * WARPS) + NUMBERS;
    let bytes = numbers * word + WORDS * size_of::<u32>();
    // Tables lie there, too: the first-level cache is small then, and does not hold them.
    let mut tables = group.tables.bytes().to_vec();
    tables.resize(tables.len().next_multiple_of(size_of::<[u64; 2]>()), 0);
    let layout = Layout::interleaved(WARPS, WARP * bytes + tables.len(), limits)?;
    let mut text = Text::default();
    source::head(&mut text, (dim, n_params), traits, method, &layout);
    text.define("OD_IMPLICIT", 0);
    // Rows of tables are of one thread.
    text.define("OD_WIDTH", 1);
    text.define("OD_INTERLEAVED", WARP);
    text.define("OD_WARPS", WARPS);
    text.define("OD_CELLS", CELLS);
    text.define("OD_INTERLEAVED_NUMBERS", NUMBERS);
    text.define("OD_INTERLEAVED_WORDS", WORDS);
    text.define("OD_GROUP_WORK", work);
    text.define("OD_GROUP_BYTES", bytes);
    text.define("OD_SHARED_TABLES", tables.len());
    source::common(&mut text, traits);
    text.line("typedef real od_entry;");
    text.line(INTERLEAVED);
    text.line(WORK);
    text.line(group.tables.defines());
    text.line(&group.text);
    method.on_device().write_numbers(&mut text, &Subject { graph: None, dim, word });
    text.line(kernel);
    Some(Kernel { name, source: text.finish(), tables, layout })
}
