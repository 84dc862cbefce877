//! The work queue of a run: the current part of a series, the next one, and those whose solutions are not yet delivered.

use super::pool::Pool;
use crate::lent::Inputs;
use crate::options::Options;
use crate::solution::Solution;
use odeum_core::{Scalar, lock};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// What threads draw their systems from. Whoever makes parts of a series adds the next one while they draw from the
/// present one, so that none waits for the last systems of a part.
pub(super) struct WorkQueue<'a, T> {
    /// What a pool without an ensemble of its own consists of.
    lent: Option<Inputs<'a, T>>,
    options: &'a Options,
    state: Mutex<State<T>>,
    changed: Condvar,
    /// Attempts that advanced a system, and all there was room for in the lanes.
    busy: AtomicU64,
    offered: AtomicU64,
}

struct State<T> {
    current: Arc<Pool<T>>,
    next: Option<Arc<Pool<T>>>,
    /// Nothing comes after these.
    is_complete: bool,
    /// Pools whose solutions nobody has taken, in order.
    open: Vec<Arc<Pool<T>>>,
    /// Those of them in which all systems have ended.
    ended: Vec<Arc<Pool<T>>>,
    /// Threads at work.
    threads: usize,
}

/// What the producer of parts is to do next.
pub(super) enum ProducerTask<T> {
    /// Make the next part.
    MakePart,
    /// Deliver the solution of a part.
    DeliverSolution(Arc<Pool<T>>),
    /// Nothing: the threads have gone.
    Stop,
}

impl<'a, T: Scalar> WorkQueue<'a, T> {
    /// Of one ensemble.
    pub(super) fn lent(inputs: Inputs<'a, T>, options: &'a Options, pool: Pool<T>) -> Self {
        WorkQueue::of(Some(inputs), options, pool, true)
    }

    /// Of a series that begins with this part.
    pub(super) fn of_series(options: &'a Options, first: Pool<T>) -> Self {
        WorkQueue::of(None, options, first, false)
    }

    fn of(
        lent: Option<Inputs<'a, T>>,
        options: &'a Options,
        pool: Pool<T>,
        is_complete: bool,
    ) -> Self {
        let current = Arc::new(pool);
        let open = vec![current.clone()];
        let state = State { current, next: None, is_complete, open, ended: vec![], threads: 0 };
        WorkQueue {
            lent,
            options,
            state: Mutex::new(state),
            changed: Condvar::new(),
            busy: AtomicU64::new(0),
            offered: AtomicU64::new(0),
        }
    }

    /// The systems of a pool.
    #[inline(always)]
    pub(super) fn inputs<'p>(&'p self, pool: &'p Pool<T>) -> Inputs<'p, T> {
        let Some(inputs) = pool.own_inputs().or(self.lent) else {
            unreachable!("a pool without an ensemble of its own is made of what is lent")
        };
        inputs
    }

    /// The level that ends a system of a pool, where there is one.
    pub(super) fn level(&self, pool: &Pool<T>, system: usize) -> f64 {
        let options = pool.own_options().unwrap_or(self.options);
        options.terminal_event.as_ref().map_or(0.0, |event| event.level(system))
    }

    /// Systems of the current pool, or of the next one once it is there; `None` when there are no more.
    pub(super) fn draw(&self) -> Option<(Arc<Pool<T>>, Range<usize>)> {
        let mut state = lock(&self.state);
        loop {
            if let Some(range) = state.current.draw() {
                return Some((state.current.clone(), range));
            }
            if let Some(next) = state.next.take() {
                state.current = next;
                self.changed.notify_all();
            } else if state.is_complete {
                return None;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// All systems of a pool have ended.
    pub(super) fn end(&self, pool: &Arc<Pool<T>>) {
        let mut state = lock(&self.state);
        state.open.retain(|open| !Arc::ptr_eq(open, pool));
        state.ended.push(pool.clone());
        self.changed.notify_all();
    }

    /// Waits until there is something to do.
    pub(super) fn turn(&self) -> ProducerTask<T> {
        let mut state = lock(&self.state);
        loop {
            if state.threads == 0 {
                return ProducerTask::Stop;
            }
            if state.next.is_none() && !state.is_complete {
                return ProducerTask::MakePart;
            }
            if !state.ended.is_empty() {
                return ProducerTask::DeliverSolution(state.ended.remove(0));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds a part, which is drawn from after the current one.
    pub(super) fn add(&self, pool: Pool<T>) {
        let pool = Arc::new(pool);
        let mut state = lock(&self.state);
        state.open.push(pool.clone());
        state.next = Some(pool);
        self.changed.notify_all();
    }

    /// No part comes any more.
    pub(super) fn complete(&self) {
        lock(&self.state).is_complete = true;
        self.changed.notify_all();
    }

    /// Solutions that nobody has taken, of parts that were stopped too. No thread runs any more.
    pub(super) fn undelivered(&self) -> Vec<(usize, Solution<T>)> {
        let mut state = lock(&self.state);
        let ended = std::mem::take(&mut state.ended);
        let open = std::mem::take(&mut state.open);
        ended.iter().chain(&open).filter_map(|pool| pool.take()).collect()
    }

    /// Completes the queue when it is dropped: whoever makes parts leaves, be it by a panic, and no thread waits for
    /// another part.
    pub(super) fn maker(&self) -> Maker<'_, 'a, T> {
        Maker(self)
    }

    /// A thread begins; it is at work until what is given back is dropped.
    pub(super) fn at_work(&self) -> AtWork<'_, 'a, T> {
        lock(&self.state).threads += 1;
        AtWork(self)
    }

    /// Adds the lane work of a thread: attempts that advanced a system, and all there was room for.
    pub(super) fn add_lane_work(&self, busy: u64, offered: u64) {
        self.busy.fetch_add(busy, Ordering::Relaxed);
        self.offered.fetch_add(offered, Ordering::Relaxed);
    }

    /// The share of all lane work that advanced a system.
    pub(super) fn busy_lanes(&self) -> f64 {
        let offered = self.offered.load(Ordering::Relaxed).max(1);
        self.busy.load(Ordering::Relaxed) as f64 / offered as f64
    }
}

/// That somebody makes parts.
pub(super) struct Maker<'f, 'a, T: Scalar>(&'f WorkQueue<'a, T>);

impl<T: Scalar> Drop for Maker<'_, '_, T> {
    fn drop(&mut self) {
        self.0.complete();
    }
}

/// That a thread is at work, however it ends.
pub(super) struct AtWork<'f, 'a, T>(&'f WorkQueue<'a, T>);

impl<T> Drop for AtWork<'_, '_, T> {
    fn drop(&mut self) {
        lock(&self.0.state).threads -= 1;
        self.0.changed.notify_all();
    }
}
