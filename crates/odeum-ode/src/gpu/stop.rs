//! Stopping a device: groups of threads end the systems that they have, and begin no more.

use odeum_core::Error;
use odeum_cuda::{Device, Stream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// How often somebody looks how far it is, and whether it is to stop.
const LOOKS: Duration = Duration::from_millis(20);
/// As many systems as there are at most, written to the counter of a queue: nothing more is handed out.
const ALL_HANDED_OUT: u32 = 1 << 31;

/// Refuses more systems than a queue counts.
pub(super) fn check_queue(systems: usize) -> Result<(), Error> {
    if systems > ALL_HANDED_OUT as usize {
        return Err(Error::input("states", systems, "a GPU takes up to 2^31 systems: split them"));
    }
    Ok(())
}

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
        // Of work that panics, too.
        let _ended = Ended { done: &done, watcher: watcher.thread() };
        work()
    })
}

/// Tells the watcher that the work is done, when dropped.
struct Ended<'a> {
    done: &'a AtomicBool,
    watcher: &'a Thread,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.watcher.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_cuda::Memory;
    use odeum_cuda::host::Setup;

    #[test]
    fn counters_of_the_queues_alone_are_past_all_systems() {
        let device = Setup::new(std::env::temp_dir().join("odeum-device-stop")).device();
        let stream = device.stream().unwrap();
        let mut arena = device.reserve(5 * size_of::<u32>()).unwrap();
        assert_eq!(arena.bytes(), 20);
        stream.write(&mut arena, 0, &[7_u32; 5]).unwrap();
        no_more(&device, &mut arena, 4, 3).unwrap();
        let mut words = [0; 5];
        stream.read(&arena, 0, &mut words).unwrap();
        assert_eq!(words, [7, ALL_HANDED_OUT, ALL_HANDED_OUT, ALL_HANDED_OUT, 7]);
    }

    #[test]
    #[should_panic(expected = "of the work")]
    fn panics_of_the_work_are_not_waited_for() {
        watched(|| panic!("of the work"), || false, || Ok(()));
    }

    #[test]
    fn work_is_stopped_once_and_only_where_it_is_to_be() {
        for asked in [false, true] {
            let stopped = AtomicBool::new(false);
            let stop = || {
                assert!(!stopped.swap(true, Ordering::Relaxed));
                Ok(())
            };
            let work = || {
                // What is to be stopped goes on until it is.
                while asked && !stopped.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                5
            };
            assert_eq!(watched(work, || asked, stop), 5);
            assert_eq!(stopped.into_inner(), asked);
        }
    }
}
