//! CPUs, and the threads that compute on them.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{self, Builder, ScopedJoinHandle};

/// Bytes of a stack that holds what unoptimised code needs, which keeps every value of all lanes on it, and those of every call: megabytes,
/// where threads have two. They are used as they are needed.
pub const LARGE_STACK: usize = 64 << 20;

/// Whether this library is compiled as it is written: then the stack of the caller, too, is too small to compute on.
pub const IS_UNOPTIMISED: bool = cfg!(unoptimised);

/// CPUs that this process could use when it was asked first: to ask the system takes as long as to integrate a
/// small ensemble.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// A thread that is to integrate systems, which may be the caller's: these are compiled as the caller is, where this library may be
/// optimised.
pub fn computing_thread() -> Builder {
    let thread = Builder::new();
    if cfg!(debug_assertions) { thread.stack_size(LARGE_STACK) } else { thread }
}

/// What a thread gave. A panic there goes on here with its own message, which a scope that nobody waits in would lose.
pub fn joined<R>(thread: ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_thread_that_computes_has_room_for_what_unoptimised_code_keeps() {
        let values = || black_box([1_u8; LARGE_STACK / 4]).iter().map(|&x| usize::from(x)).sum();
        let sum: usize = computing_thread().spawn(values).unwrap().join().unwrap();
        assert_eq!(sum, LARGE_STACK / 4);
    }
}
