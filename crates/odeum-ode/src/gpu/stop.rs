//! Stopping a device: groups of threads end the systems that they have, and begin no more.

use odeum_core::Error;
use odeum_cuda::{Device, Stream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often somebody looks how far it is, and whether it is to stop.
const LOOKS: Duration = Duration::from_millis(20);
/// More than there are systems, written to the counter of a queue: nothing more is handed out.
const ALL_HANDED_OUT: u32 = 1 << 31;

/// Lets the queues whose counters lie from a byte of an arena on hand out no more systems.
pub(super) fn no_more<D: Device>(
    device: &D,
    arena: &mut D::Memory,
    counters: usize,
    queues: usize,
) -> Result<(), Error> {
    // A stream of its own: those with kernels are busy.
    device.stream()?.write(arena, counters, &vec![ALL_HANDED_OUT; queues])
}

/// Does some work, which `stop` ends early once `is_over`. That is asked now and then, until it is so or the work is done.
pub(super) fn watched<R>(
    work: impl FnOnce() -> R,
    mut is_over: impl FnMut() -> bool + Send,
    stop: impl FnOnce() -> Result<(), Error> + Send,
) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            loop {
                std::thread::park_timeout(LOOKS);
                if done.load(Ordering::Relaxed) {
                    break;
                }
                if is_over() {
                    // What cannot be stopped ends by itself.
                    let _ = stop();
                    break;
                }
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}
