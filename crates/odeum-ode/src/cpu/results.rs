//! Where threads write what their systems gave.

use crate::lent::{Outputs, Places};
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::Scalar;

/// The arrays of a pool, written by many threads at once, each system by one.
pub(super) struct Results<T> {
    places: Places<T>,
}

// SAFETY: the pointers come from arrays that outlive whoever writes: those that are lent are given back after the
// threads were joined, those of a part are taken from its pool when all its systems have ended, or the threads have.
// Every element belongs to one system, which a pool hands to one thread only.
unsafe impl<T: Send> Sync for Results<T> {}
// SAFETY: as above; nothing belongs to the thread that made them.
unsafe impl<T: Send> Send for Results<T> {}

impl<T: Scalar> Results<T> {
    pub(super) fn new(outputs: &mut Outputs<'_, T>) -> Self {
        Results { places: outputs.places() }
    }

    /// Writes component `i` of the state system `s` ended with.
    ///
    /// # Safety
    /// `s` was drawn from the pool by this thread, and `i` is a component.
    #[inline(always)]
    pub(super) unsafe fn write_state(&self, s: usize, i: usize, y: T) {
        let place = s * self.places.strides[0] + i * self.places.strides[1];
        // SAFETY: inside the array of M systems with n components, whose numbers lie apart, and this
        // thread's own by the caller's word.
        unsafe { *self.places.states.add(place) = y }
    }

    /// Writes component `i` of the state of system `s` at save time `k`.
    ///
    /// # Safety
    /// As [`Results::write_state`]; there is such a save time.
    #[inline(always)]
    pub(super) unsafe fn write_saved(&self, s: usize, k: usize, i: usize, y: T) {
        let [by_time, by_system, by_component] = self.places.saved_strides;
        let place = k * by_time + s * by_system + i * by_component;
        // SAFETY: inside the array of K times, M systems and n components, whose numbers lie apart, and this
        // thread's own by the caller's word.
        unsafe { *self.places.saved.add(place) = y }
    }

    /// Writes how many save times system `s` has reached.
    ///
    /// # Safety
    /// As [`Results::write_state`]; save times were asked for.
    pub(super) unsafe fn write_n_saved(&self, s: usize, count: u32) {
        // SAFETY: inside the array [M], and this thread's own by the caller's word.
        unsafe { *self.places.n_saved.add(s) = count }
    }

    /// Writes how and when system `s` ended, and what it cost.
    ///
    /// # Safety
    /// As [`Results::write_state`].
    pub(super) unsafe fn write_end(&self, s: usize, t: f64, status: Status, stats: Stats) {
        // SAFETY: inside the arrays [M], and this thread's own by the caller's word.
        unsafe {
            *self.places.t.add(s) = t;
            *self.places.status.add(s) = status;
            *self.places.stats.add(s) = stats;
        }
    }

    /// Writes the size of the step that system `s` would have taken next, where it is asked for.
    ///
    /// # Safety
    /// As [`Results::write_state`].
    #[inline(always)]
    pub(super) unsafe fn write_next_step(&self, s: usize, h: T) {
        if !self.places.next_steps.is_null() {
            // SAFETY: inside the array [M], and this thread's own by the caller's word.
            unsafe { *self.places.next_steps.add(s) = h }
        }
    }
}
