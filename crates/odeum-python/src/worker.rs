//! A thread that owns what may not leave it, such as a field on a GPU.

use crate::failure::exception;
use crate::watch::attend;
use odeum_core::computing_thread;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Mutex, TryLockError};

/// Work on what the thread owns; false ends the thread.
type Job<S> = Box<dyn FnOnce(&mut S) -> bool + Send>;

/// Works on an `S` that one thread makes, uses and drops, for one caller at a time.
pub(crate) struct Worker<S> {
    jobs: Mutex<Sender<Job<S>>>,
    /// The process that has the thread: one that was forked from it has not.
    process: u32,
}

impl<S: 'static> Worker<S> {
    /// Starts the thread; the inner error is that of `make`.
    pub(crate) fn new<E: Send + 'static>(
        py: Python<'_>,
        make: impl FnOnce() -> Result<S, E> + Send + 'static,
    ) -> PyResult<Result<Worker<S>, E>> {
        let (jobs, inbox) = channel::<Job<S>>();
        let (send, receive) = sync_channel(1);
        let work = move || {
            let mut owned = match catch_unwind(AssertUnwindSafe(make)) {
                Ok(Ok(owned)) => owned,
                Ok(Err(error)) => return drop(send.send(Ok(Err(error)))),
                Err(panic) => return drop(send.send(Err(panic))),
            };
            let _ = send.send(Ok(Ok(())));
            while let Ok(job) = inbox.recv() {
                if !job(&mut owned) {
                    return;
                }
            }
        };
        let thread = computing_thread().name("odeum simulation".to_owned()).spawn(work);
        thread.map_err(|error| PyRuntimeError::new_err(format!("no thread: {error}")))?;
        let (made, raised) = attend(py, receive, || (), || Ok(()))?;
        match raised {
            Some(raised) => Err(raised),
            None => Ok(made.map(|()| Worker { jobs: Mutex::new(jobs), process: process::id() })),
        }
    }

    /// Has the thread work, as [`attend`] has it; refuses a second caller while there is one.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        py: Python<'_>,
        (stop, tell): (impl Fn(), impl Fn() -> PyResult<()>),
        work: impl FnOnce(&mut S) -> R + Send + 'static,
    ) -> PyResult<(R, Option<PyErr>)> {
        if process::id() != self.process {
            let message = "this simulation belongs to the process that made it, and this one was forked from that: \
                           make a simulation here";
            return Err(exception(py, "OdeumError", (message,)));
        }
        let jobs = match self.jobs.try_lock() {
            Ok(jobs) => jobs,
            Err(TryLockError::Poisoned(jobs)) => jobs.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let message = "this simulation is at work for another call: wait until it returns, or give \
                               each thread a simulation of its own";
                return Err(exception(py, "OdeumError", (message,)));
            }
        };
        let (send, receive) = sync_channel(1);
        let job = move |owned: &mut S| {
            let done = catch_unwind(AssertUnwindSafe(|| work(owned)));
            // What a panic leaves behind is not worked on.
            let good = done.is_ok();
            let _ = send.send(done);
            good
        };
        jobs.send(Box::new(job)).map_err(|_| {
            let message = "this simulation has failed before by a defect of odeum: make a new one";
            PyRuntimeError::new_err(message)
        })?;
        attend(py, receive, stop, tell)
    }

    /// The same for work that is soon done: whatever is raised meanwhile is raised after it.
    pub(crate) fn ask<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut S) -> R + Send + 'static,
    ) -> PyResult<R> {
        let (done, raised) = self.call(py, (|| (), || Ok(())), work)?;
        raised.map_or(Ok(done), Err)
    }
}
