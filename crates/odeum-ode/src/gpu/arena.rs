//! How the arrays of a batch lie in memory: the same on the device and in the page-locked memory that they pass through, so that
//! all inputs travel in one copy and all results in another.

use super::task::{Arrays, own_levels};
use crate::lent::Inputs;
use crate::options::Options;
use odeum_core::Scalar;
use std::ops::Range;

/// Arrays begin at multiples of this, in bytes.
const ALIGNMENT: usize = 256;

/// Where the arrays of a batch lie, in bytes from the start of an arena.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Offsets {
    pub(super) states: usize,
    pub(super) params: usize,
    pub(super) spans: Option<usize>,
    pub(super) first_steps: Option<usize>,
    pub(super) levels: Option<usize>,
    pub(super) saves: usize,
    pub(super) atol: usize,
    /// A counter of each queue.
    pub(super) next: usize,
    /// What the kernel counts of its own [`Work`], from zero as the queue.
    pub(super) work: usize,
    /// End of what is uploaded, start of what is downloaded.
    pub(super) results: usize,
    pub(super) end_states: usize,
    pub(super) end_times: usize,
    pub(super) end_steps: Option<usize>,
    pub(super) saved: usize,
    pub(super) stats: usize,
    pub(super) n_saved: usize,
    pub(super) status: usize,
    pub(super) end: usize,
}

/// Numbers of values that decide the places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) dim: usize,
    pub(super) n_params: usize,
    pub(super) shared_params: bool,
    pub(super) shared_span: bool,
    /// Steps are given to the call and taken from it.
    pub(super) keeps_steps: bool,
    /// Systems have levels of their own at which they end.
    pub(super) own_levels: bool,
    /// End states take the place of initial ones: a system is read when it begins and written when it ends, by the same threads.
    pub(super) in_place: bool,
    pub(super) n_saves: usize,
    /// Counts of a system.
    pub(super) n_counts: usize,
    pub(super) word: usize,
    /// Launches that each hand out a part of the systems.
    pub(super) queues: usize,
}

impl Shape {
    pub(super) fn of<T: Scalar>(
        inputs: &Inputs<'_, T>,
        options: &Options,
        n_counts: usize,
    ) -> Self {
        Shape {
            dim: inputs.dim(),
            n_params: inputs.n_params(),
            shared_params: inputs.shares_params(),
            shared_span: inputs.shares_span(),
            keeps_steps: inputs.first_steps().is_some(),
            own_levels: own_levels(options).is_some(),
            in_place: false,
            n_saves: options.save_times().len(),
            n_counts,
            word: size_of::<T>(),
            queues: 1,
        }
    }

    /// Bytes of an arena for this many systems.
    pub(super) fn bytes(&self, systems: usize) -> usize {
        Offsets::new(self, systems).end
    }
}

impl Offsets {
    pub(super) fn new(shape: &Shape, systems: usize) -> Self {
        let mut end = 0;
        let mut place = |bytes: usize| {
            let start = end;
            end = (start + bytes).next_multiple_of(ALIGNMENT);
            start
        };
        let word = shape.word;
        let sets = if shape.shared_params { 1 } else { systems };
        let states = place(shape.dim * systems * word);
        let params = place(shape.n_params * sets * word);
        let spans = (!shape.shared_span).then(|| place(2 * systems * word));
        let first_steps = shape.keeps_steps.then(|| place(systems * word));
        let levels = shape.own_levels.then(|| place(systems * word));
        let saves = place(shape.n_saves * word);
        let atol = place(shape.dim * word);
        let next = place(shape.queues * size_of::<u32>());
        let work = place(size_of::<Work>());
        let results = place(0);
        Offsets {
            states,
            params,
            spans,
            first_steps,
            levels,
            saves,
            atol,
            next,
            work,
            results,
            end_states: match shape.in_place {
                true => states,
                false => place(shape.dim * systems * word),
            },
            end_times: place(systems * word),
            end_steps: shape.keeps_steps.then(|| place(systems * word)),
            saved: place(shape.n_saves * shape.dim * systems * word),
            stats: place(systems * shape.n_counts * size_of::<u32>()),
            n_saved: place(systems * size_of::<u32>()),
            status: place(systems),
            end: place(0),
        }
    }

    /// The arrays of inputs that have values for each system, in rows of as many as there are systems: where each begins, its
    /// rows, and bytes of a value.
    pub(super) fn inputs(&self, shape: &Shape) -> Vec<(usize, usize, usize)> {
        let params = if shape.shared_params { 0 } else { shape.n_params };
        let given = [(Some(self.states), shape.dim), (Some(self.params), params), (self.spans, 2)];
        let own = [(self.first_steps, 1), (self.levels, 1)];
        let row = |&(place, rows): &(Option<usize>, usize)| Some((place?, rows, shape.word));
        given.iter().chain(&own).filter_map(row).filter(|row| row.1 > 0).collect()
    }

    /// The same of results; the status first: who copies in this order has the results of systems that had a status.
    pub(super) fn outputs(&self, shape: &Shape) -> Vec<(usize, usize, usize)> {
        let of_steps = self.end_steps.map(|place| (place, 1, shape.word));
        let status = (self.status, 1, 1);
        let others = [
            (self.end_states, shape.dim, shape.word),
            (self.end_times, 1, shape.word),
            (self.saved, shape.n_saves * shape.dim, shape.word),
            (self.stats, 1, shape.n_counts * size_of::<u32>()),
            (self.n_saved, shape.n_saves.min(1), size_of::<u32>()),
        ];
        std::iter::once(status).chain(of_steps).chain(others).filter(|row| row.1 > 0).collect()
    }

    /// What the kernel counts, from zero at its start.
    pub(super) fn counters(&self) -> Range<usize> {
        self.next..self.results
    }

    /// The addresses of the arrays in an arena on the device.
    pub(super) fn arrays<T>(&self, base: u64) -> Arrays<T> {
        let at = |offset: usize| base + offset as u64;
        Arrays {
            states: at(self.states) as *const T,
            params: at(self.params) as *const T,
            spans: self.spans.map_or(std::ptr::null(), |offset| at(offset) as *const T),
            saves: at(self.saves) as *const T,
            atol: at(self.atol) as *const T,
            first_steps: self.first_steps.map_or(std::ptr::null(), |offset| at(offset) as *const T),
            levels: self.levels.map_or(std::ptr::null(), |offset| at(offset) as *const T),
            // Of the session: see `Order`.
            order: std::ptr::null(),
            end_states: at(self.end_states) as *mut T,
            end_times: at(self.end_times) as *mut T,
            end_steps: self.end_steps.map_or(std::ptr::null_mut(), |offset| at(offset) as *mut T),
            saved: at(self.saved) as *mut T,
            n_saved: at(self.n_saved) as *mut u32,
            status: at(self.status) as *mut u8,
            stats: at(self.stats) as *mut u32,
            next: at(self.next) as *mut u32,
            work: at(self.work) as *mut Work,
            // Of the kernel: see `launch`.
            tables: std::ptr::null(),
            matrices: std::ptr::null_mut(),
        }
    }
}

/// How long the groups of a launch had systems: `OdWorked` (device/work.cuh). All zero of kernels that do not count it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Work {
    busy: u64,
    groups: u32,
    longest: u32,
}

impl Work {
    /// Busy time over the time there was: that of all groups, had each worked as long as the longest.
    pub(super) fn busy_fraction(&self) -> Option<f64> {
        let offered = u64::from(self.groups) * u64::from(self.longest);
        (offered > 0).then(|| self.busy as f64 / offered as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_do_not_overlap() {
        for shared in [false, true] {
            let shape = Shape {
                dim: 3,
                n_params: 2,
                shared_params: shared,
                shared_span: shared,
                keeps_steps: !shared,
                own_levels: !shared,
                in_place: false,
                n_saves: 4,
                n_counts: 8,
                word: 8,
                queues: 3,
            };
            let (p, m) = (Offsets::new(&shape, 33), 33);
            let sets = if shared { 1 } else { m };
            let mut parts = vec![
                (p.states, 3 * m * 8),
                (p.params, 2 * sets * 8),
                (p.saves, 4 * 8),
                (p.atol, 3 * 8),
                (p.next, 12),
                (p.work, 16),
                (p.end_states, 3 * m * 8),
                (p.end_times, m * 8),
                (p.saved, 12 * m * 8),
                (p.stats, 32 * m),
                (p.n_saved, 4 * m),
                (p.status, m),
                (p.end, 0),
            ];
            parts.extend(p.spans.map(|place| (place, 2 * m * 8)));
            parts.extend(p.first_steps.map(|place| (place, m * 8)));
            parts.extend(p.levels.map(|place| (place, m * 8)));
            parts.extend(p.end_steps.map(|place| (place, m * 8)));
            parts.sort_unstable();
            assert!(parts.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0), "{parts:?}");
            assert_eq!(shape.bytes(m), p.end);
        }
    }
}
