//! Page-locked memory through which batches travel.

use super::arena::{Offsets, Work};
use super::task::Lists;
use crate::ensemble::Ensemble;
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

    /// Numbers at a place.
    pub(super) fn values<V: Copy>(&mut self, place: usize, count: usize) -> &mut [V] {
        // SAFETY: every bit pattern of what is asked for is a number.
        unsafe { self.pinned.values(place, count) }
    }

    /// Fills in the inputs of the systems of `range`.
    pub(super) fn fill<T: Scalar>(
        &mut self,
        offsets: &Offsets,
        ensemble: &Ensemble<T>,
        range: &Range<usize>,
        lists: &Lists<T>,
    ) {
        let (all, part) = (ensemble.len(), range.len());
        let rows = |from: &[T], to: &mut [T]| {
            for (from, to) in from.chunks_exact(all).zip(to.chunks_exact_mut(part)) {
                to.copy_from_slice(&from[range.clone()]);
            }
        };
        rows(ensemble.states(), self.values(offsets.states, ensemble.dim() * part));
        let params = ensemble.params();
        if ensemble.shares_params() {
            self.values(offsets.params, params.len()).copy_from_slice(params);
        } else {
            rows(params, self.values(offsets.params, ensemble.n_params() * part));
        }
        if let Some(place) = offsets.spans {
            let spans: &mut [T] = self.values(place, 2 * part);
            for (k, s) in range.clone().enumerate() {
                let (t0, t1) = ensemble.span(s);
                (spans[k], spans[part + k]) = (T::from_f64(t0), T::from_f64(t1));
            }
        }
        if let (Some(place), Some(steps)) = (offsets.first_steps, ensemble.first_steps()) {
            self.values(place, part).copy_from_slice(&steps[range.clone()]);
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
