//! The queue of systems that all threads draw from.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Hands out the numbers 0 to M − 1, each once, in small runs.
pub(super) struct Queue {
    next: AtomicUsize,
    len: usize,
    run: usize,
}

impl Queue {
    /// Runs are long enough that threads seldom meet, and short enough that they end together.
    pub(super) fn new(len: usize, threads: usize) -> Self {
        Queue { next: AtomicUsize::new(0), len, run: (len / (threads * 64)).clamp(1, 64) }
    }

    /// The next number of `hand`, refilled from the queue when it is empty.
    pub(super) fn take(&self, hand: &mut Range<usize>) -> Option<usize> {
        if hand.start >= hand.end {
            let start = self.next.fetch_add(self.run, Ordering::Relaxed);
            *hand = start.min(self.len)..(start + self.run).min(self.len);
        }
        hand.next()
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn every_number_comes_once() {
        for (len, hands) in [(1, 1), (63, 2), (1000, 3)] {
            let queue = Queue::new(len, hands);
            let mut seen = vec![0; len];
            let mut ranges = vec![0..0; hands];
            let mut idle = 0;
            while idle < hands {
                idle = 0;
                for range in &mut ranges {
                    match queue.take(range) {
                        Some(s) => seen[s] += 1,
                        None => idle += 1,
                    }
                }
            }
            assert!(seen.iter().all(|&count| count == 1));
        }
    }
}
