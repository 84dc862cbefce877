//! Page-locked memory through which batches travel.

use super::arena::{Offsets, Work};
use super::in_place::InPlace;
use super::task::Lists;
use crate::arrays::ArrayRef;
use crate::lent::Inputs;
use odeum_core::{Error, Scalar};
use odeum_cuda::{Device, Pinned};
use std::ops::Range;

/// Memory of the size of a batch, laid out as its arena is: see [`Offsets`].
pub(super) struct Staging<D: Device> {
    pub(super) pinned: D::Pinned,
}

impl<D: Device> Staging<D> {
    pub(super) fn new(device: &D, bytes: usize) -> Result<Self, Error> {
        Ok(Staging { pinned: device.pinned(bytes)? })
    }

    pub(super) fn bytes(&self) -> usize {
        self.pinned.bytes()
    }

    /// Where so many bytes from a place on lie.
    pub(super) fn address(&mut self, place: usize, bytes: usize) -> *mut u8 {
        self.values::<u8>(place, bytes).as_mut_ptr()
    }

    /// Numbers at a place.
    pub(super) fn values<V: Copy>(&mut self, place: usize, count: usize) -> &mut [V] {
        // SAFETY: every bit pattern of what is asked for is a number.
        unsafe { self.pinned.values(place, count) }
    }

    /// Fills in the inputs of the systems of `range`, but for those that the device reads where they lie.
    pub(super) fn fill<T: Scalar>(
        &mut self,
        offsets: &Offsets,
        inputs: &Inputs<'_, T>,
        range: &Range<usize>,
        lists: &Lists<T>,
        in_place: &InPlace,
    ) {
        let part = range.len();
        let rows = |from: &ArrayRef<'_, T>, to: &mut [T]| {
            for (component, to) in to.chunks_exact_mut(part).enumerate() {
                from.copy_row(component, range.start, to);
            }
        };
        if in_place.states.is_none() {
            rows(inputs.states(), self.values(offsets.states, inputs.dim() * part));
        }
        let n_params = inputs.n_params();
        if inputs.shares_params() {
            self.values(offsets.params, n_params).copy_from_slice(&inputs.params_of(0));
        } else if in_place.params.is_none() {
            rows(inputs.params(), self.values(offsets.params, n_params * part));
        }
        if let Some(place) = offsets.spans {
            let spans: &mut [T] = self.values(place, 2 * part);
            for (k, s) in range.clone().enumerate() {
                let (t0, t1) = inputs.span(s);
                (spans[k], spans[part + k]) = (T::from_f64(t0), T::from_f64(t1));
            }
        }
        if let Some(place) = offsets.first_steps {
            let room: &mut [T] = self.values(place, part);
            match inputs.first_steps() {
                Some(steps) => room.copy_from_slice(&steps[range.clone()]),
                None => room.fill(T::default()),
            }
        }
        let Lists { atol, saves, levels } = lists;
        if let Some(place) = offsets.levels {
            self.values(place, part).copy_from_slice(&levels[range.clone()]);
        }
        self.values(offsets.atol, atol.len()).copy_from_slice(atol);
        self.values(offsets.saves, saves.len()).copy_from_slice(saves);
        self.values::<u32>(offsets.next, 1)[0] = 0;
        self.values(offsets.work, 1)[0] = Work::default();
    }
}
