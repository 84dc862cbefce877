//! Arrays of the caller in page-locked memory: a device reads and writes them where they lie.

use super::arena::{Offsets, Shape};
use super::sink::Sink;
use crate::arrays::ArrayRef;
use crate::lent::Inputs;
use crate::stats::Stats;
use odeum_core::Scalar;
use odeum_cuda::Device;

/// Those that have rows of systems which follow each other, as the arena has.
#[derive(Clone, Copy, Default)]
pub(super) struct InPlace {
    pub(super) states: Option<RowsAt>,
    pub(super) params: Option<RowsAt>,
    pub(super) end_states: Option<RowsAt>,
    pub(super) end_times: Option<RowsAt>,
    pub(super) saved: Option<RowsAt>,
    pub(super) stats: Option<RowsAt>,
}

/// Rows of values of all systems.
#[derive(Clone, Copy)]
pub(super) struct RowsAt {
    /// The first value of the first.
    pub(super) address: *mut u8,
    /// Bytes from one to the next.
    pub(super) pitch: usize,
    /// How many, and bytes of each.
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

// SAFETY: addresses alone; who reads or writes there has the word of the caller for it.
unsafe impl Send for InPlace {}
// SAFETY: as above.
unsafe impl Sync for InPlace {}

impl InPlace {
    pub(super) fn new<T: Scalar, D: Device>(
        device: &D,
        inputs: &Inputs<'_, T>,
        sink: &Sink<T>,
        shape: &Shape,
    ) -> InPlace {
        let systems = inputs.len();
        let of = |rows: Option<RowsAt>| rows.filter(|rows| is_reached(device, rows));
        let params = Some(inputs.params()).filter(|_| !shape.shared_params);
        let of_stats = shape.n_counts == Stats::COUNTS;
        InPlace {
            states: of(rows_of(inputs.states())),
            params: of(params.and_then(rows_of)),
            end_states: of(sink.end_states(systems)),
            end_times: of(sink.end_times(systems)),
            saved: of(sink.saved(systems)),
            stats: of(sink.stats(systems)).filter(|_| of_stats),
        }
    }

    /// Whether a device writes any.
    pub(super) fn has_results(&self) -> bool {
        let results = [self.end_states, self.end_times, self.saved, self.stats];
        results.iter().any(Option::is_some)
    }

    /// The rows of the array that begins at an offset.
    pub(super) fn at(&self, offsets: &Offsets, offset: usize) -> Option<RowsAt> {
        let all = [
            (offsets.states, self.states),
            (offsets.params, self.params),
            (offsets.end_states, self.end_states),
            (offsets.end_times, self.end_times),
            (offsets.saved, self.saved),
            (offsets.stats, self.stats),
        ];
        // Of arrays without values the next one begins at the same place.
        all.into_iter().find_map(|(place, rows)| rows.filter(|_| place == offset))
    }
}

/// Whether a device reads and writes the rows by itself.
fn is_reached<D: Device>(device: &D, rows: &RowsAt) -> bool {
    let bytes = rows.rows.checked_sub(1).map(|rest| rest * rows.pitch + rows.bytes);
    bytes.is_some_and(|bytes| device.is_page_locked(rows.address, bytes))
}

/// The rows of an array, one for each component, where the systems follow each other.
fn rows_of<T: Scalar>(array: &ArrayRef<'_, T>) -> Option<RowsAt> {
    let (first, strides) = array.raw();
    let rows = || RowsAt::of(first.cast_mut(), array.components(), strides[1], array.systems());
    (strides[0] == 1).then(rows)
}

impl RowsAt {
    /// The same of values, with `stride` of them from one to the next.
    pub(super) fn of<V>(first: *mut V, rows: usize, stride: usize, systems: usize) -> RowsAt {
        let size = size_of::<V>();
        RowsAt { address: first.cast(), pitch: stride * size, rows, bytes: systems * size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::ArrayRef;
    use odeum_cuda::Pinned;
    use odeum_cuda::host::Setup;

    #[test]
    fn rows_in_one_piece_of_page_locked_memory_are_recognised() {
        let host = Setup::new(std::env::temp_dir()).device();
        let mut memory = host.pinned(8 * 60).unwrap();
        let first = memory.address();
        // SAFETY: all bits are numbers.
        let values: &[f64] = unsafe { memory.values(0, 60) };
        let found = |values: &[f64], shape, strides| {
            let rows = rows_of(&ArrayRef::strided(values, shape, strides).unwrap());
            rows.filter(|rows| is_reached(&host, rows))
        };
        let rows = found(&values[1..], [17, 3], [1, 20]).unwrap();
        assert_eq!(rows.address, first.wrapping_add(8));
        assert_eq!((rows.pitch, rows.rows, rows.bytes), (160, 3, 136));
        assert!(found(values, [20, 3], [3, 1]).is_none(), "systems do not follow each other");
        assert!(found(&[0.0; 60], [20, 3], [1, 20]).is_none(), "ordinary memory");
        let beyond = RowsAt { bytes: 161, ..found(values, [20, 3], [1, 20]).unwrap() };
        assert!(!is_reached(&host, &beyond));
    }
}
