//! Work dealt to threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Systems, or the like, that a thread takes at once.
pub(crate) const PIECE: usize = 4096;

/// Threads where the user names no number of them: one for each core.
pub(crate) fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `work` for every number below `count`, on up to `threads` threads. They begin in order.
pub(crate) fn each(threads: usize, count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let turn = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= count {
                break;
            }
            work(n);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(turn);
        }
        turn();
    });
}

/// Calls `work` for every item, on up to `threads` threads. They begin in order.
pub(crate) fn each_of<I: Send>(
    threads: usize,
    items: impl ExactSizeIterator<Item = I> + Send,
    work: impl Fn(I) + Sync,
) {
    let (count, items) = (items.len(), Mutex::new(items));
    each(threads, count, |_| {
        let item = items.lock().unwrap_or_else(PoisonError::into_inner).next();
        if let Some(item) = item {
            work(item);
        }
    });
}

/// What `of` gives of every item, found by up to `threads` threads, of which each takes `piece` items at
/// once.
pub(crate) fn map<I: Sync, R: Send + Default>(
    threads: usize,
    piece: usize,
    items: &[I],
    of: impl Fn(&I) -> R + Sync,
) -> Vec<R> {
    let mut all = Vec::new();
    all.resize_with(items.len(), R::default);
    each_of(threads, items.chunks(piece).zip(all.chunks_mut(piece)), |(items, all)| {
        for (item, place) in items.iter().zip(all) {
            *place = of(item);
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_and_every_item_comes_once() {
        for (threads, count) in [(1, 5), (4, 0), (3, 1), (4, 1000)] {
            let seen: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            each(threads, count, |n| {
                seen[n].fetch_add(1, Ordering::Relaxed);
            });
            each_of(threads, seen.iter(), |item| {
                item.fetch_add(1, Ordering::Relaxed);
            });
            assert!(seen.iter().all(|times| times.load(Ordering::Relaxed) == 2));
            let numbers: Vec<usize> = (0..20 * count).collect();
            let twice: Vec<usize> = numbers.iter().map(|n| 2 * n).collect();
            assert_eq!(map(threads, 3, &numbers, |n| 2 * n), twice);
        }
    }
}
