//! Memory that sweeps use again: made by the first sweep, kept for all that follow.

use super::ring::Ring;
use super::rod_rows::Rows;
use super::scratch::Scratch;
use std::sync::{Mutex, TryLockError};

/// Memory of one thread for its tiles.
pub struct Memory<T> {
    pub(super) scratch: Option<Box<Scratch<T>>>,
    /// What a tile keeps of stages between.
    pub(super) rings: Vec<Ring<T>>,
    pub(super) rods: Option<Rows<T>>,
}

impl<T> Default for Memory<T> {
    fn default() -> Memory<T> {
        Memory { scratch: None, rings: Vec::new(), rods: None }
    }
}

/// One for each thread that may ask for it.
pub(crate) struct PerThread<M>(Vec<Mutex<M>>);

impl<M: Default> PerThread<M> {
    /// For so many threads.
    pub(crate) fn new(threads: usize) -> PerThread<M> {
        PerThread((0..threads.max(1)).map(|_| Mutex::default()).collect())
    }

    /// Lends what is kept for the thread that asks, or else, where somebody has it, something new.
    pub(crate) fn lend<R>(&self, work: impl FnOnce(&mut M) -> R) -> R {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.0.len();
        match self.0[thread].try_lock() {
            Ok(mut kept) => work(&mut kept),
            // After a panic nothing in it is relied on: whoever takes it writes before it reads.
            Err(TryLockError::Poisoned(kept)) => work(&mut kept.into_inner()),
            Err(TryLockError::WouldBlock) => work(&mut M::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_has_is_not_lent_twice() {
        let memory: PerThread<Vec<usize>> = PerThread::new(1);
        memory.lend(|mine| {
            mine.push(1);
            memory.lend(|other| assert!(other.is_empty()));
        });
        memory.lend(|mine| assert_eq!(mine.len(), 1));
    }

    #[test]
    fn a_panic_leaves_it_to_the_next() {
        let memory: PerThread<Vec<usize>> = PerThread::new(1);
        let work = std::panic::AssertUnwindSafe(|| memory.lend(|_| panic!("on purpose")));
        assert!(std::panic::catch_unwind(work).is_err());
        assert_eq!(memory.lend(|mine| mine.len()), 0);
    }
}
