//! Work dealt to threads.

use odeum_core::joined;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// Systems, or the like, that a thread takes at once.
pub const PIECE: usize = 4096;

/// Does `aside` on a thread of its own while this one does `here`; before it, where the system gives no
/// thread.
pub fn beside<A: Send, H>(aside: impl Fn() -> A + Sync, here: impl FnOnce() -> H) -> (A, H) {
    std::thread::scope(|scope| match Builder::new().spawn_scoped(scope, &aside) {
        Ok(thread) => {
            let done = here();
            (joined(thread), done)
        }
        Err(_) => (aside(), here()),
    })
}

/// Calls `work` for every number below `count`, on up to `threads` threads. They begin in order.
pub fn each(threads: usize, count: usize, work: impl Fn(usize) + Sync) {
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
        // Those that begin do the work of those that do not.
        let another = |_| Builder::new().spawn_scoped(scope, turn).ok();
        let begun: Vec<_> = (1..threads.min(count)).map_while(another).collect();
        turn();
        begun.into_iter().for_each(joined);
    });
}

/// Calls `work` for every item, on up to `threads` threads. They begin in order.
pub fn each_of<I: Send>(
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
pub fn map<I: Sync, R: Send + Default>(
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
