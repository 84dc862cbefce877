//! Several lanes of a warp for each system: the kernel `od_erk_lanes`.

use super::device::ERK;
use super::slots::Slots;
use crate::method::device::{LanesNeeds, signature};
use odeum_core::emit;
use odeum_core::graph::Isomorphic;
use odeum_cuda::{Text, literal};

const LANES: &str = include_str!("erk_lanes.cuh");

/// What the lanes of a system need, where its slopes fall into groups that are one function.
pub(super) fn needs(slots: &Slots, dim: usize, word: usize) -> Option<LanesNeeds> {
    slots.isomorphic.as_ref()?;
    Some(LanesNeeds { width: width(slots), bytes: exchange(slots, dim, word) * word })
}

/// Lanes of a system: a power of two.
fn width(slots: &Slots) -> usize {
    slots.n_groups().next_power_of_two()
}

/// Words of shared memory of a system of several lanes: two buffers of stage states, and the parts
/// of three norms, a word and an integer each. Systems that follow each other begin in different
/// banks.
fn exchange(slots: &Slots, dim: usize, word: usize) -> usize {
    let parts = 3 * slots.n_groups();
    let used = 2 * dim + parts + (parts * 4).div_ceil(word);
    let (banks, width) = (128 / word, width(slots));
    (used..).find(|words| words % banks == width % banks).unwrap_or(used)
}

/// Writes groups, right-hand side and kernel.
pub(super) fn write(
    text: &mut Text,
    slots: &Slots,
    isomorphic: &Isomorphic,
    dim: usize,
    word: usize,
) {
    let groups = slots.n_groups();
    text.define("OD_GROUPS", groups);
    text.define("OD_GROUP_SLOTS", slots.len() / groups);
    text.define("OD_WIDTH", width(slots));
    text.define("OD_EXCHANGE", exchange(slots, dim, word));
    text.define("OD_OFFSETS", isomorphic.states[0].len());
    text.define("OD_CONSTANTS", isomorphic.constants[0].len());
    let states: Vec<_> = isomorphic.states.iter().flatten().map(usize::to_string).collect();
    let constants: Vec<_> = isomorphic.constants.iter().flatten().map(|&c| literal(c)).collect();
    text.table_in_memory("int", "od_component_at(int q)", "q", &slots.component_text());
    text.table_in_memory("int", "od_paired_at(int q)", "q", &slots.paired_text());
    let head = "od_state_at(int g, int k)";
    text.table_in_memory("int", head, "g * OD_OFFSETS + k", &states);
    let head = "od_constant_at(int g, int k)";
    text.table_in_memory("real", head, "g * OD_CONSTANTS + k", &constants);
    text.line(emit::function(&isomorphic.function, "od_rhs", &signature()));
    text.line(ERK);
    text.line(LANES);
}
