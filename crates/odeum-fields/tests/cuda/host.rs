//! The host device, on which kernels are executed without a GPU.

pub(crate) use odeum_cuda::host::Host;
use odeum_cuda::host::{self, Setup};
use std::sync::OnceLock;

/// False where there is no g++ to compile device code with.
pub(crate) fn is_available() -> bool {
    static SAID: OnceLock<()> = OnceLock::new();
    if !host::is_available() {
        SAID.get_or_init(|| {
            eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
        });
    }
    host::is_available()
}

/// What g++ makes stays for later runs.
fn setup() -> Setup {
    Setup::new(env!("CARGO_TARGET_TMPDIR"))
}

/// A device that wants for nothing.
pub(crate) fn device() -> Host {
    setup().device()
}

/// One whose compiler takes its time: kernels are ready when that has been asked so often.
pub(crate) fn slow(patience: usize) -> Host {
    setup().patience(patience).device()
}

/// One whose compiler takes its time, and does not take texts with this kernel.
pub(crate) fn refusing(kernel: &'static str, patience: usize) -> Host {
    setup().refusing(kernel).patience(patience).device()
}

/// One with so many bytes of memory.
pub(crate) fn with_memory(bytes: usize) -> Host {
    setup().memory(bytes).device()
}

/// Devices that have so much shared memory for a block.
pub(crate) fn unequal(shared: &[usize]) -> Vec<Host> {
    let device = |&bytes: &usize| setup().memory(1 << 40).shared_memory(bytes);
    Setup::together(shared.iter().map(device).collect())
}

/// Devices that work together; chance decides which goes ahead.
pub(crate) fn several(memory: &[usize], seed: u64) -> Vec<Host> {
    let device = |&bytes: &usize| setup().seed(seed).memory(bytes);
    Setup::together(memory.iter().map(device).collect())
}
