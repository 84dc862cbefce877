//! SIMD lanes × threads.

use odeum_core::Isa;

/// How to use the processor.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// Number of threads; by default one for each core.
    pub threads: Option<usize>,
    /// Instruction set; the widest the processor has unless said.
    pub isa: Isa,
}

impl Default for Cpu {
    fn default() -> Self {
        Cpu { threads: None, isa: Isa::best() }
    }
}
