//! Where workers write results.

use super::arena::Offsets;
use super::staging::Staging;
use super::task;
use crate::solution::Solution;
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::Scalar;
use odeum_cuda::Device;
use std::ops::Range;

/// The arrays of a solution, for workers that each write the systems of their own batches.
pub(super) struct Sink<T> {
    dim: usize,
    systems: usize,
    n_saves: usize,
    n_counts: usize,
    t: *mut f64,
    states: *mut T,
    saved: *mut T,
    n_saved: *mut u32,
    status: *mut Status,
    stats: *mut Stats,
    /// Read and written only where a batch has steps to give.
    next_steps: *mut T,
}

// SAFETY: every method that writes asks for a range of systems that no other thread writes, and
// arrays are component-major, so ranges do not overlap.
unsafe impl<T: Send> Sync for Sink<T> {}

impl<T: Scalar> Sink<T> {
    /// The sink writes while the solution is not looked at: the caller keeps it alive, and untouched,
    /// as long as workers run.
    pub(super) fn new(solution: &mut Solution<T>, n_counts: usize) -> Self {
        Sink {
            dim: solution.dim,
            systems: solution.len(),
            n_saves: solution.save_times.len(),
            n_counts,
            t: solution.t.as_mut_ptr(),
            states: solution.states.as_mut_ptr(),
            saved: solution.saved.as_mut_ptr(),
            n_saved: solution.n_saved.as_mut_ptr(),
            status: solution.status.as_mut_ptr(),
            stats: solution.stats.as_mut_ptr(),
            next_steps: solution.next_steps.as_mut_ptr(),
        }
    }

    /// Writes to the pages of the states and counts of a range, so that they exist when the results come:
    /// the first write to a page costs more than the copy of it.
    ///
    /// # Safety
    /// No other thread uses the systems of `range`.
    pub(super) unsafe fn touch(&self, range: &Range<usize>) {
        const PAGE: usize = 4096;
        for i in 0..self.dim {
            // SAFETY: there are `dim` rows of states; the range is the caller's alone.
            let part = unsafe { part(self.states, self.systems, i, range) };
            for value in part.iter_mut().step_by(PAGE / size_of::<T>()) {
                // SAFETY: a valid reference; volatile, or the write would be dropped as dead.
                unsafe { std::ptr::write_volatile(value, T::default()) };
            }
        }
        // SAFETY: one row of M; the range is the caller's alone.
        let stats = unsafe { part(self.stats, self.systems, 0, range) };
        for value in stats.iter_mut().step_by(PAGE / size_of::<Stats>()) {
            // SAFETY: as above.
            unsafe { std::ptr::write_volatile(value, Stats::default()) };
        }
    }

    /// Copies the results of a batch out of page-locked memory.
    ///
    /// # Safety
    /// No other thread uses the systems of `range`.
    pub(super) unsafe fn take<D: Device>(
        &self,
        staging: &mut Staging<D>,
        offsets: &Offsets,
        range: &Range<usize>,
    ) {
        let count = range.len();
        let rows = |all: *mut T, values: &[T]| {
            for (row, values) in values.chunks_exact(count).enumerate() {
                // SAFETY: it holds as many rows as the solution; the range is the caller's.
                unsafe { part(all, self.systems, row, range) }.copy_from_slice(values);
            }
        };
        rows(self.states, staging.values(offsets.end_states, self.dim * count));
        rows(self.saved, staging.values(offsets.saved, self.n_saves * self.dim * count));
        // SAFETY: one row of M; the range is the caller's alone.
        let t = unsafe { part(self.t, self.systems, 0, range) };
        for (t, reached) in t.iter_mut().zip(staging.values::<T>(offsets.end_times, count)) {
            *t = reached.to_f64();
        }
        if let Some(place) = offsets.end_steps {
            // SAFETY: as above; there is a row of these when they are kept.
            let steps = unsafe { part(self.next_steps, self.systems, 0, range) };
            steps.copy_from_slice(staging.values(place, count));
        }
        // SAFETY: as above.
        let stats = unsafe { part(self.stats, self.systems, 0, range) };
        let counts = staging.values::<u32>(offsets.stats, self.n_counts * count);
        for (stats, counts) in stats.iter_mut().zip(counts.chunks_exact(self.n_counts)) {
            *stats = task::stats(counts);
        }
        if self.n_saves > 0 {
            // SAFETY: as above; there is a row of these when there are save times.
            let n_saved = unsafe { part(self.n_saved, self.systems, 0, range) };
            n_saved.copy_from_slice(staging.values(offsets.n_saved, count));
        }
        // SAFETY: as above.
        let status = unsafe { part(self.status, self.systems, 0, range) };
        for (status, &mut number) in
            status.iter_mut().zip(staging.values::<u8>(offsets.status, count))
        {
            *status = Status::from_number(number).unwrap_or_default();
        }
    }
}

/// The part of a row of M values that belongs to a range of systems.
///
/// # Safety
/// `all` has more than `row` rows of `systems` values, which are alive as long as the slice; no
/// other thread uses the systems of `range`.
unsafe fn part<'a, V>(
    all: *mut V,
    systems: usize,
    row: usize,
    range: &Range<usize>,
) -> &'a mut [V] {
    // SAFETY: the caller's word.
    unsafe { std::slice::from_raw_parts_mut(all.add(row * systems + range.start), range.len()) }
}
