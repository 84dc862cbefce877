//! A limit on the size of files (`ulimit -f`).

/// From now on a write beyond the limit is an error, as on a full disk. As processes begin, it ends them
/// by a signal (setrlimit(2), `RLIMIT_FSIZE`).
#[cfg(unix)]
pub fn outlive_size_limit() {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // SAFETY: no handler is installed, so none can interrupt what it must not.
    // It fails for no signal that there is.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
}

/// Elsewhere there is no such limit.
#[cfg(not(unix))]
pub fn outlive_size_limit() {}
