//! Processors.

use std::sync::OnceLock;
use std::thread;

/// Processors that this process could use when it was asked first: to ask the system takes as long as to integrate a
/// small ensemble.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}
