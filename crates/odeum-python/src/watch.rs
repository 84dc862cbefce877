//! Work on a thread of its own, while the interpreter serves others and hears Ctrl-C.

use odeum_core::computing_thread;
use odeum_ode::Monitor;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How soon Ctrl-C is heard.
const HEARD: Duration = Duration::from_millis(50);
/// How often progress is reported.
const REPORTED: Duration = Duration::from_millis(100);

/// Runs `work`, which ends early when the monitor is stopped. `progress` is called now and then with the
/// number of finished systems. What a signal or `progress` raises stops the work, and comes back beside what
/// the work gave.
pub(crate) fn watch<R: Send>(
    py: Python<'_>,
    monitor: &Monitor,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> R + Send,
) -> PyResult<(R, Option<PyErr>)> {
    let tell = || match progress {
        Some(progress) => progress.call1((monitor.finished(),)).map(|_| ()),
        None => Ok(()),
    };
    watched(py, || monitor.stop(), tell, work)
}

/// As [`watch`], with what stops the work and what reports its progress.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    stop: impl Fn(),
    tell: impl Fn() -> PyResult<()>,
    work: impl FnOnce() -> R + Send,
) -> PyResult<(R, Option<PyErr>)> {
    thread::scope(|scope| {
        let (send, receive) = sync_channel(1);
        let work = move || {
            // A panic is a defect of ours; the interpreter lives on.
            let done = catch_unwind(AssertUnwindSafe(work));
            let _ = send.send(done);
        };
        let thread = computing_thread().spawn_scoped(scope, work);
        thread.map_err(|error| PyRuntimeError::new_err(format!("no thread: {error}")))?;
        attend(py, receive, stop, tell)
    })
}

/// Runs `work`, which is soon done, on the caller's thread, while the interpreter serves others: to start a thread takes
/// longer than to copy the states of a small ensemble.
pub(crate) fn at_once<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    unbroken(py.detach(|| catch_unwind(AssertUnwindSafe(work))))
}

/// Waits for what another thread gives, which ends early after `stop`. `tell` is called now and then. What a
/// signal or `tell` raises stops the work, and comes back beside what the work gave.
pub(crate) fn attend<R: Send>(
    py: Python<'_>,
    receive: Receiver<thread::Result<R>>,
    stop: impl Fn(),
    tell: impl Fn() -> PyResult<()>,
) -> PyResult<(R, Option<PyErr>)> {
    let mut raised = None;
    let mut reported = Instant::now();
    let receive = Mutex::new(receive);
    let wait = || receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(HEARD);
    let done = loop {
        match py.detach(wait) {
            Ok(done) => break Some(done),
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let mut tell_at_times = || {
            if reported.elapsed() < REPORTED {
                return Ok(());
            }
            reported = Instant::now();
            tell()
        };
        if raised.is_none()
            && let Err(error) = py.check_signals().and_then(|()| tell_at_times())
        {
            stop();
            raised = Some(error);
        }
    };
    match done {
        Some(done) => Ok((unbroken(done)?, raised)),
        None => Err(broken("the thread ended without a word")),
    }
}

/// What work gave, or its panic as an exception.
fn unbroken<R>(done: thread::Result<R>) -> PyResult<R> {
    done.map_err(|panic| {
        broken(panic.downcast_ref::<String>().map_or_else(
            || panic.downcast_ref::<&str>().copied().unwrap_or("no message"),
            String::as_str,
        ))
    })
}

fn broken(message: &str) -> PyErr {
    let message = format!("odeum failed, which is a defect to be reported: {message}");
    PyRuntimeError::new_err(message)
}
