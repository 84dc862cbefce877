//! Shared memory of a group. Single precision throughout leaves half of it unused.

use super::chunks::Chunks;
use super::production::Parts;
use crate::kinetics::Kinetics;
use odeum_core::emit::Tables;

/// What stands one after the other, in doubles; device code knows where each part begins, in bytes, by the count of
/// its name.
pub(super) struct Memory {
    parts: Vec<(&'static str, usize)>,
    len: usize,
}

impl Memory {
    /// For the right-hand side, and where `linearises` for the linearisation, too.
    pub(super) fn new(
        kinetics: &Kinetics,
        parts: &Parts,
        chunks: &Chunks,
        linearises: bool,
    ) -> Memory {
        let n = kinetics.n_species();
        let sets = kinetics.bodies.default.len() + 1;
        let general = !kinetics.mass_action.general.reversible.is_empty();
        // One cell more for what is written to fill up a round.
        let cells = parts.len() + 1;
        let slots = &chunks.slots;
        let mut memory = Memory { parts: Vec::new(), len: 0 };
        // Species that is none and species that never is.
        for name in ["OD_GAS_C", "OD_GAS_E", "OD_GAS_Z", "OD_GAS_U"] {
            memory.add(name, n + 2);
        }
        memory.add("OD_GAS_CP", if linearises { slots.doubles(n) } else { 0 });
        memory.add("OD_GAS_GAMMA", if general { n } else { 0 });
        memory.add("OD_GAS_X", sets);
        memory.add("OD_GAS_LOG2_X", sets);
        let record = if linearises { slots.record() } else { slots.words };
        memory.add("OD_GAS_PARTS", slots.doubles(cells * record));
        memory.add("OD_GAS_BUFFER", chunks.buffer / size_of::<f64>());
        memory
    }

    /// Of interleaved reactors, with so many numbers of reactions, parts of production, and sums of all warps.
    pub(super) fn interleaved(
        kinetics: &Kinetics,
        reactions: usize,
        parts: usize,
        sums: usize,
    ) -> Memory {
        let n = kinetics.n_species();
        let sets = kinetics.bodies.default.len() + 1;
        let general = !kinetics.mass_action.general.reversible.is_empty();
        let mut memory = Memory { parts: Vec::new(), len: 0 };
        // What is summed takes the place of what reactions have read.
        memory.add("OD_GAS_SUMS", sums);
        memory.add("OD_GAS_PARTS", parts);
        let summed = std::mem::take(&mut memory.len);
        for name in ["OD_GAS_C", "OD_GAS_E", "OD_GAS_Z"] {
            memory.add(name, n + 2);
        }
        memory.len = memory.len.max(summed);
        memory.add("OD_GAS_U", n + 2);
        memory.add("OD_GAS_CP", 0);
        memory.add("OD_GAS_GAMMA", if general { n } else { 0 });
        memory.add("OD_GAS_X", sets);
        memory.add("OD_GAS_LOG2_X", sets);
        memory.add("OD_GAS_BUFFER", reactions);
        memory
    }

    /// A part that begins at a multiple of 16 bytes.
    fn add(&mut self, name: &'static str, len: usize) {
        self.parts.push((name, self.len));
        self.len += len.next_multiple_of(2);
    }

    pub(super) fn bytes(&self) -> usize {
        self.len * size_of::<f64>()
    }

    pub(super) fn write(&self, tables: &mut Tables) {
        for (name, at) in &self.parts {
            tables.count(name, *at * size_of::<f64>());
        }
    }
}
