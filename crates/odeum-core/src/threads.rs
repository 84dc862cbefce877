//! Processors, and the threads that compute on them.

use std::sync::OnceLock;
use std::thread::{self, Builder};

/// Code that nobody optimised keeps every value of all lanes on the stack, and those of every call: megabytes, where threads have two.
const LARGE_STACK: usize = 64 << 20;

/// Whether this library is compiled as it is written: then the stack of the caller, too, is too small to integrate on.
pub const IS_UNOPTIMISED: bool = cfg!(unoptimised);

/// Processors that this process could use when it was asked first: to ask the system takes as long as to integrate a
/// small ensemble.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Bytes of the stack of a thread that computes; none where the usual ones are enough. They are used as they are needed.
pub fn stack_size() -> Option<usize> {
    // Systems of a caller are compiled as the caller is, where this library may be optimised.
    cfg!(debug_assertions).then_some(LARGE_STACK)
}

/// A thread that is to compute.
pub fn computing_thread() -> Builder {
    let thread = Builder::new();
    match stack_size() {
        Some(bytes) => thread.stack_size(bytes),
        None => thread,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_thread_that_computes_has_room_where_code_may_be_unoptimised() {
        assert!(cfg!(debug_assertions), "tests are compiled as dependencies of theirs may be");
        let values = || black_box([1_u8; LARGE_STACK / 4]).iter().map(|&x| usize::from(x)).sum();
        let sum: usize = computing_thread().spawn(values).unwrap().join().unwrap();
        assert_eq!(sum, LARGE_STACK / 4);
    }
}
