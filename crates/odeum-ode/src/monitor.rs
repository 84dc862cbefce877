//! Watching and stopping a run from another thread.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A window on a running integration for another thread: how far it is, and a way to stop it.
///
/// A monitor is for one run: in another one the count goes on, and a stop remains.
#[derive(Debug, Default)]
pub struct Monitor {
    finished: AtomicUsize,
    stop: AtomicBool,
}

impl Monitor {
    /// A monitor of a run that has not begun.
    pub fn new() -> Self {
        Monitor::default()
    }

    /// Systems that have ended so far, in whatever status.
    pub fn finished(&self) -> usize {
        self.finished.load(Ordering::Relaxed)
    }

    /// Asks the run to stop: systems that have not ended get
    /// [`Status::NotRun`](crate::Status::NotRun).
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True once [`stop`](Monitor::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn add_finished(&self, systems: usize) {
        self.finished.fetch_add(systems, Ordering::Relaxed);
    }
}
