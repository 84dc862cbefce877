//! The systems that a pack has drawn from the queue.

use super::pool::Pool;
use super::work_queue::WorkQueue;
use odeum_core::Scalar;
use std::ops::Range;
use std::sync::Arc;

/// Systems that wait for a lane, and the pools of those that have one.
pub(super) struct ClaimedSystems<T> {
    /// Of the pool in the last slot that was drawn from.
    waiting: Range<usize>,
    current: usize,
    slots: Vec<Option<Slot<T>>>,
}

struct Slot<T> {
    pool: Arc<Pool<T>>,
    /// Lanes that have a system of it.
    lanes: usize,
    /// Systems of it that have ended here and were not counted.
    ended: usize,
}

impl<T: Scalar> ClaimedSystems<T> {
    pub(super) fn new() -> Self {
        ClaimedSystems { waiting: 0..0, current: usize::MAX, slots: Vec::new() }
    }

    /// The next system and the slot of its pool; `None` when there are no more.
    #[inline(always)]
    pub(super) fn next(&mut self, queue: &WorkQueue<'_, T>) -> Option<(usize, usize)> {
        if self.waiting.is_empty() && !self.draw(queue) {
            return None;
        }
        Some((self.waiting.next()?, self.current))
    }

    fn draw(&mut self, queue: &WorkQueue<'_, T>) -> bool {
        self.settle(queue);
        let current = self.slots.get(self.current).and_then(Option::as_ref);
        if let Some(range) = current.and_then(|slot| slot.pool.draw()) {
            self.waiting = range;
            return true;
        }
        let Some((pool, range)) = queue.draw() else { return false };
        self.current = self.slot(pool);
        self.waiting = range;
        true
    }

    /// The slot of a pool.
    fn slot(&mut self, pool: Arc<Pool<T>>) -> usize {
        let holds = |slot: &Option<Slot<T>>| {
            slot.as_ref().is_some_and(|slot| Arc::ptr_eq(&slot.pool, &pool))
        };
        if let Some(at) = self.slots.iter().position(holds) {
            return at;
        }
        let slot = Some(Slot { pool, lanes: 0, ended: 0 });
        match self.slots.iter().position(Option::is_none) {
            Some(free) => {
                self.slots[free] = slot;
                free
            }
            None => {
                self.slots.push(slot);
                self.slots.len() - 1
            }
        }
    }

    fn of(&self, slot: usize) -> &Slot<T> {
        let Some(slot) = &self.slots[slot] else {
            unreachable!("the pool of a system in a lane stays until the system has ended")
        };
        slot
    }

    fn of_mut(&mut self, slot: usize) -> &mut Slot<T> {
        let Some(slot) = &mut self.slots[slot] else {
            unreachable!("the pool of a system in a lane stays until the system has ended")
        };
        slot
    }

    /// The pool in a slot that a lane, or the last system drawn, is of.
    pub(super) fn pool(&self, slot: usize) -> &Arc<Pool<T>> {
        &self.of(slot).pool
    }

    /// A lane takes a system of this slot.
    pub(super) fn begin(&mut self, slot: usize) {
        self.of_mut(slot).lanes += 1;
    }

    /// The system of a lane has ended.
    pub(super) fn end(&mut self, slot: usize) {
        let slot = self.of_mut(slot);
        slot.lanes -= 1;
        slot.ended += 1;
    }

    /// The slot of a pool that a lane takes a system of, which another pack began.
    pub(super) fn take_up(&mut self, pool: &Arc<Pool<T>>) -> usize {
        let slot = self.slot(pool.clone());
        self.begin(slot);
        slot
    }

    /// Counts what has ended, and lets go of pools that no lane has a system of.
    pub(super) fn settle(&mut self, queue: &WorkQueue<'_, T>) {
        for (at, place) in self.slots.iter_mut().enumerate() {
            let Some(slot) = place else { continue };
            let ended = std::mem::take(&mut slot.ended);
            if ended > 0 && slot.pool.count_ended(ended) {
                queue.end(&slot.pool);
            }
            if slot.lanes == 0 && at != self.current {
                *place = None;
            }
        }
    }
}
