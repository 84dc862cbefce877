//! A pool of systems that all threads draw from.

use super::results::Results;
use crate::ensemble::Ensemble;
use crate::lent::{Inputs, Outputs};
use crate::options::Options;
use crate::solution::Solution;
use odeum_core::{Scalar, lock};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An ensemble, handed out system by system, and the arrays that take what these end with.
pub(super) struct Pool<T> {
    /// Of a part of a series; `None` of an ensemble that is lent.
    own: Option<(Ensemble<T>, Options)>,
    /// Of the part.
    number: usize,
    queue: Queue,
    results: Results<T>,
    /// Systems that have not ended.
    left: AtomicUsize,
    solution: Mutex<Option<Solution<T>>>,
}

impl<T: Scalar> Pool<T> {
    /// An ensemble that is lent to a run, as the outputs are.
    pub(super) fn lent(systems: usize, threads: usize, outputs: &mut Outputs<'_, T>) -> Pool<T> {
        Pool {
            own: None,
            number: 0,
            queue: Queue::new(systems, threads),
            results: Results::new(outputs),
            left: AtomicUsize::new(systems),
            solution: Mutex::new(None),
        }
    }

    /// A part of a series, with its options.
    pub(super) fn own(
        number: usize,
        ensemble: Ensemble<T>,
        options: Options,
        threads: usize,
    ) -> Pool<T> {
        let mut solution = Solution::of(&ensemble.inputs(), options.save_times());
        // The arrays lie where they lie, whoever owns them, until `take` gives them away.
        let results = Results::new(&mut solution.outputs());
        Pool {
            number,
            queue: Queue::new(ensemble.len(), threads),
            results,
            left: AtomicUsize::new(ensemble.len()),
            solution: Mutex::new(Some(solution)),
            own: Some((ensemble, options)),
        }
    }

    pub(super) fn own_inputs(&self) -> Option<Inputs<'_, T>> {
        self.own.as_ref().map(|(ensemble, _)| ensemble.inputs())
    }

    pub(super) fn own_options(&self) -> Option<&Options> {
        self.own.as_ref().map(|(_, options)| options)
    }

    /// Some systems that nobody has drawn; `None` when there are no more.
    pub(super) fn draw(&self) -> Option<Range<usize>> {
        self.queue.draw()
    }

    pub(super) fn results(&self) -> &Results<T> {
        &self.results
    }

    /// So many systems have ended; true when these were the last.
    pub(super) fn count_ended(&self, systems: usize) -> bool {
        // What others wrote of theirs is seen by whoever is told that all have ended.
        self.left.fetch_sub(systems, Ordering::AcqRel) == systems
    }

    /// Number and solution of the part, once all its systems have ended or no thread runs any more.
    pub(super) fn take(&self) -> Option<(usize, Solution<T>)> {
        Some((self.number, lock(&self.solution).take()?))
    }
}

/// Hands out the numbers 0 to M − 1, each once, in small runs.
struct Queue {
    next: AtomicUsize,
    len: usize,
    run: usize,
}

impl Queue {
    /// Runs are long enough that threads seldom meet, and short enough that they end together.
    fn new(len: usize, threads: usize) -> Self {
        Queue { next: AtomicUsize::new(0), len, run: (len / (threads * 64)).clamp(1, 64) }
    }

    fn draw(&self) -> Option<Range<usize>> {
        let start = self.next.fetch_add(self.run, Ordering::Relaxed);
        (start < self.len).then(|| start..(start + self.run).min(self.len))
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn every_number_comes_once() {
        for (len, threads) in [(1, 1), (63, 2), (1000, 3)] {
            let queue = Queue::new(len, threads);
            let drawn: Vec<usize> = std::iter::from_fn(|| queue.draw()).flatten().collect();
            assert_eq!(drawn, (0..len).collect::<Vec<_>>());
        }
    }
}
