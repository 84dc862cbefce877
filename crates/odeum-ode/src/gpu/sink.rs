//! Where workers write results.

use super::arena::Offsets;
use super::in_place::{InPlace, RowsAt};
use super::staging::Staging;
use super::task;
use crate::lent::{Outputs, Places};
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::Scalar;
use odeum_core::memory::{Zeroable, copy_past_caches};
use odeum_cuda::Device;
use std::ops::Range;

/// The arrays of the caller, for workers that each write the systems of their own batches.
pub(super) struct Sink<T> {
    dim: usize,
    n_saves: usize,
    n_counts: usize,
    places: Places<T>,
}

// SAFETY: every method that writes asks for a range of systems that no other thread writes, and
// every number has a place of its own, so ranges do not overlap.
unsafe impl<T: Send> Sync for Sink<T> {}

impl<T: Scalar> Sink<T> {
    /// The sink writes while the arrays are not looked at: the caller keeps them alive, and untouched,
    /// as long as workers run.
    pub(super) fn new(outputs: &mut Outputs<'_, T>, n_counts: usize) -> Self {
        let (dim, n_saves) = (outputs.states.components(), outputs.saved.times());
        Sink { dim, n_saves, n_counts, places: outputs.places() }
    }

    /// Writes to the pages of the results of a range, so that they exist when these come: the first write to a page
    /// costs more than the copy of it. The numbers stay.
    ///
    /// A large page has parts of many ranges in it. Each range begins with another row, so that threads do not
    /// all wait for the same new page.
    ///
    /// # Safety
    /// No other thread uses the systems of `range`.
    pub(super) unsafe fn touch(&self, range: &Range<usize>) {
        let rows = self.dim + 2;
        let first = range.start / range.len().max(1);
        for row in (0..rows).map(|k| (first + k) % rows) {
            if row == self.dim {
                // SAFETY: one row of M; the range is the caller's alone.
                touch(unsafe { part(self.places.stats, 0, range) });
            } else if row > self.dim {
                // SAFETY: as above.
                touch(unsafe { part(self.places.t, 0, range) });
            } else if self.places.strides[0] == 1 {
                // SAFETY: as above; the systems of the range follow each other in each row.
                touch(unsafe { part(self.places.states, row * self.places.strides[1], range) });
            }
        }
    }

    /// Says of the systems of a range that they did not run; they keep their states.
    ///
    /// # Safety
    /// No other thread uses the systems of `range`.
    pub(super) unsafe fn leave(&self, range: &Range<usize>) {
        // SAFETY: one row of M; the range is the caller's alone.
        unsafe { part(self.places.t, 0, range) }.fill(0.0);
        // SAFETY: as above.
        unsafe { part(self.places.status, 0, range) }.fill(Status::NotRun);
        // SAFETY: as above.
        unsafe { part(self.places.stats, 0, range) }.fill(Stats::default());
        if !self.places.next_steps.is_null() {
            // SAFETY: as above; the row is there.
            unsafe { part(self.places.next_steps, 0, range) }.fill(T::default());
        }
        if self.n_saves > 0 {
            // SAFETY: as above; there is a row of these when there are save times.
            unsafe { part(self.places.n_saved, 0, range) }.fill(0);
        }
        let nan = T::from_f64(f64::NAN);
        for (row, stride) in self.saved_rows() {
            for s in range.clone() {
                // SAFETY: a place of a system that is the caller's alone.
                unsafe { *row.add(s * stride) = nan };
            }
        }
    }

    /// Where the rows of saved states begin [K × n], and the stride of their systems.
    fn saved_rows(&self) -> impl Iterator<Item = (*mut T, usize)> {
        let [by_time, by_system, by_component] = self.places.saved_strides;
        let rows = (0..self.n_saves).flat_map(move |k| (0..self.dim).map(move |i| (k, i)));
        // A row lies in the array.
        rows.map(move |(k, i)| {
            (self.places.saved.wrapping_add(k * by_time + i * by_component), by_system)
        })
    }

    /// The rows of end states, one for each component, where the systems follow each other.
    pub(super) fn end_states(&self, systems: usize) -> Option<RowsAt> {
        let Places { states, strides, .. } = self.places;
        (strides[0] == 1).then(|| RowsAt::of(states, self.dim, strides[1], systems))
    }

    /// The same of the times reached, where these are of the precision of the states.
    pub(super) fn end_times(&self, systems: usize) -> Option<RowsAt> {
        (T::NAME == f64::NAME).then(|| RowsAt::of(self.places.t, 1, 0, systems))
    }

    /// The same of saved states, one for each time and component.
    pub(super) fn saved(&self, systems: usize) -> Option<RowsAt> {
        let Places { saved, saved_strides: [by_time, by_system, by_component], .. } = self.places;
        let follow = by_system == 1 && (by_time == self.dim * by_component || self.n_saves == 1);
        let rows = self.n_saves * self.dim;
        follow.then(|| RowsAt::of(saved, rows, by_component, systems))
    }

    /// The same of counts.
    pub(super) fn stats(&self, systems: usize) -> Option<RowsAt> {
        Some(RowsAt::of(self.places.stats, 1, 0, systems))
    }

    /// Copies the results of a batch out of page-locked memory. Systems that did not run keep their states.
    ///
    /// # Safety
    /// No other thread uses the systems of `range`.
    pub(super) unsafe fn take<D: Device>(
        &self,
        staging: &mut Staging<D>,
        offsets: &Offsets,
        range: &Range<usize>,
        Taken { past_caches, all_began, in_place }: Taken<'_>,
    ) {
        let count = range.len();
        // SAFETY: one row of M; the range is the caller's alone.
        let status = unsafe { part(self.places.status, 0, range) };
        let statuses = staging.values::<u8>(offsets.status, count);
        for (status, &mut number) in status.iter_mut().zip(statuses) {
            *status = Status::from_number(number).unwrap_or_default();
        }
        let all_ran = all_began || !status.contains(&Status::NotRun);
        let write = |(row, stride): (*mut T, usize), values: &[T], all: bool| {
            if stride == 1 && all {
                // SAFETY: the systems of the range follow each other in the row, and are the caller's alone.
                return copy(values, unsafe { part(row, 0, range) }, past_caches);
            }
            for ((s, value), status) in range.clone().zip(values).zip(&*status) {
                if all || *status != Status::NotRun {
                    // SAFETY: a place of a system that is the caller's alone.
                    unsafe { *row.add(s * stride) = *value };
                }
            }
        };
        if in_place.end_states.is_none() {
            let states: &[T] = staging.values(offsets.end_states, self.dim * count);
            for (i, values) in states.chunks_exact(count).enumerate() {
                // A row lies in the array.
                let row = self.places.states.wrapping_add(i * self.places.strides[1]);
                write((row, self.places.strides[0]), values, all_ran);
            }
        }
        if in_place.saved.is_none() {
            let saved: &[T] = staging.values(offsets.saved, self.n_saves * self.dim * count);
            for (row, values) in self.saved_rows().zip(saved.chunks_exact(count)) {
                write(row, values, true);
            }
        }
        if in_place.end_times.is_none() {
            // SAFETY: one row of M; the range is the caller's alone.
            let t = unsafe { part(self.places.t, 0, range) };
            for (t, reached) in t.iter_mut().zip(staging.values::<T>(offsets.end_times, count)) {
                *t = reached.to_f64();
            }
        }
        if let Some(place) = offsets.end_steps.filter(|_| !self.places.next_steps.is_null()) {
            // SAFETY: as above; the row is there.
            let steps = unsafe { part(self.places.next_steps, 0, range) };
            steps.copy_from_slice(staging.values(place, count));
        }
        if in_place.stats.is_none() {
            // SAFETY: as above.
            let stats = unsafe { part(self.places.stats, 0, range) };
            if self.n_counts == Stats::COUNTS {
                copy(staging.values::<Stats>(offsets.stats, count), stats, past_caches);
            } else {
                let counts = staging.values::<u32>(offsets.stats, self.n_counts * count);
                for (stats, counts) in stats.iter_mut().zip(counts.chunks_exact(self.n_counts)) {
                    *stats = task::stats(counts);
                }
            }
        }
        if self.n_saves > 0 {
            // SAFETY: as above; there is a row of these when there are save times.
            let n_saved = unsafe { part(self.places.n_saved, 0, range) };
            n_saved.copy_from_slice(staging.values(offsets.n_saved, count));
        }
    }

    /// Copies the results of these systems, whichever they are, out of page-locked memory.
    ///
    /// # Safety
    /// No other thread uses these systems.
    pub(super) unsafe fn take_each<D: Device>(
        &self,
        staging: &mut Staging<D>,
        offsets: &Offsets,
        systems: &[usize],
    ) {
        let Places { states, strides, t, next_steps, status, stats, n_saved, .. } = self.places;
        let count = systems.len();
        let write = |row: *mut T, stride: usize, values: &[T]| {
            for (&s, &value) in systems.iter().zip(values) {
                // SAFETY: a place of a system that is the caller's alone.
                unsafe { *row.add(s * stride) = value };
            }
        };
        let values: &[T] = staging.values(offsets.end_states, self.dim * count);
        for (i, values) in values.chunks_exact(count).enumerate() {
            write(states.wrapping_add(i * strides[1]), strides[0], values);
        }
        let values: &[T] = staging.values(offsets.saved, self.n_saves * self.dim * count);
        for ((row, stride), values) in self.saved_rows().zip(values.chunks_exact(count)) {
            write(row, stride, values);
        }
        if let Some(place) = offsets.end_steps.filter(|_| !next_steps.is_null()) {
            write(next_steps, 1, staging.values(place, count));
        }
        for (k, &s) in systems.iter().enumerate() {
            let number = staging.values::<u8>(offsets.status, count)[k];
            let reached = staging.values::<T>(offsets.end_times, count)[k];
            let counts = &staging.values::<u32>(offsets.stats, self.n_counts * count)
                [k * self.n_counts..(k + 1) * self.n_counts];
            // SAFETY: as above; one row of M each.
            unsafe {
                *status.add(s) = Status::from_number(number).unwrap_or_default();
                *t.add(s) = reached.to_f64();
                *stats.add(s) = task::stats(counts);
            }
            if self.n_saves > 0 {
                // SAFETY: as above; there is a row of these when there are save times.
                unsafe { *n_saved.add(s) = staging.values(offsets.n_saved, count)[k] };
            }
        }
    }
}

/// How the results of a batch are copied.
#[derive(Clone, Copy)]
pub(super) struct Taken<'a> {
    /// It is faster where the bus works in both directions meanwhile, and up to a tenth slower else.
    pub(super) past_caches: bool,
    /// All systems had begun: what there is of those without results is nobody's.
    pub(super) all_began: bool,
    /// What the device wrote to its place.
    pub(super) in_place: &'a InPlace,
}

/// Copies as many values as there is room for.
fn copy<V: Zeroable>(from: &[V], to: &mut [V], past_caches: bool) {
    if past_caches { copy_past_caches(from, to) } else { to.copy_from_slice(from) }
}

/// Writes to each page of some memory what is there.
fn touch<V: Copy>(values: &mut [V]) {
    const PAGE: usize = 4096;
    for value in values.iter_mut().step_by(PAGE / size_of::<V>()) {
        let value: *mut V = value;
        // SAFETY: from a valid reference; volatile, or the write would be dropped as dead.
        unsafe { std::ptr::write_volatile(value, *value) };
    }
}

/// The part of a row that belongs to a range of systems, which follow each other.
///
/// # Safety
/// From `first` on `all` has values for more systems than are in the range, which are alive as long as the slice; no
/// other thread uses the systems of `range`.
unsafe fn part<'a, V>(all: *mut V, first: usize, range: &Range<usize>) -> &'a mut [V] {
    // SAFETY: the caller's word.
    unsafe { std::slice::from_raw_parts_mut(all.add(first + range.start), range.len()) }
}
