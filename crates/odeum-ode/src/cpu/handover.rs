//! Systems handed over from a pair of packs to a single one.
//!
//! A step of a pair takes longer than one of a single pack. When no more systems come and a single pack has room for what is left,
//! it goes on there. Each lane does what it does in a pair, so nobody sees it in the results.

use super::pack::Lane;
use super::pool::Pool;
use odeum_core::lock;
use std::sync::{Arc, Mutex};

/// A system between two steps: the last attempt was accepted.
pub(super) struct SuspendedSystem<T> {
    pub(super) lane: Lane,
    pub(super) pool: Arc<Pool<T>>,
    /// Attempts that it has made.
    pub(super) attempts: u64,
    pub(super) t: T,
    /// Signed size of the next step.
    pub(super) h: T,
    pub(super) y: Vec<T>,
    pub(super) p: Vec<T>,
    /// Evaluations of the right-hand side, those for spectral radii, Jacobians, factorisations.
    pub(super) cost: [u32; 4],
    /// What the controller remembers.
    pub(super) control: [T; 4],
    /// What the growth guard remembers.
    pub(super) guard: [T; 2],
    /// Why it rejected last, one bit each.
    pub(super) causes: u8,
}

/// What the pair of a thread left over.
pub(super) struct Handover<T>(Mutex<Vec<SuspendedSystem<T>>>);

impl<T> Handover<T> {
    pub(super) fn new() -> Self {
        Handover(Mutex::new(Vec::new()))
    }

    pub(super) fn give(&self, systems: Vec<SuspendedSystem<T>>) {
        *lock(&self.0) = systems;
    }

    pub(super) fn take(&self) -> Vec<SuspendedSystem<T>> {
        std::mem::take(&mut lock(&self.0))
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}
