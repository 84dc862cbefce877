//! Copies of a batch to the arena and back.

use super::super::arena::Offsets;
use super::super::in_place::{InPlace, RowsAt};
use super::super::sink::Taken;
use super::super::staging::Staging;
use super::Round;
use crate::status::Status;
use odeum_core::{Error, Scalar, lock};
use odeum_cuda::{Device, Rows, Stream};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where an array begins, its rows, and bytes of a value: see [`Offsets::inputs`].
type OfArray = (usize, usize, usize);

/// What a worker uploads and downloads with: memory that has a place for the inputs of a batch and another for the results of one.
pub(super) struct Desk<D: Device> {
    pub(super) staging: Staging<D>,
    pub(super) uploads: D::Stream,
    pub(super) downloads: D::Stream,
}

impl<T: Scalar, D: Device> Round<'_, T, D> {
    /// Starts the upload of a batch.
    pub(super) fn upload(&self, desk: &mut Desk<D>, place: usize) -> Result<(), Error> {
        let Desk { staging, uploads, .. } = desk;
        let (range, first) = self.systems(place);
        let of_batch = Offsets::new(&self.job.shape, range.len());
        staging.fill(&of_batch, self.job.inputs, &range, &self.job.lists, &self.in_place);
        let (here, there) = (of_batch.inputs(&self.shape), self.offsets.inputs(&self.shape));
        for (here, there) in here.into_iter().zip(there) {
            let in_place = self.in_place.at(&self.offsets, there.0);
            let (address, rows) = self.rows(staging, (here, there), (&range, first), in_place);
            let arena = &mut lock(&self.arena).lane.arena;
            // SAFETY: the inputs here live, and are not written, until the stream has been waited for, by this worker or by who gets the
            // error; the arena lives until all streams have. The rows are those of `Self::rows`.
            unsafe { uploads.upload_rows(address, arena, rows)? };
        }
        Ok(())
    }

    /// Starts the download of a batch whose results are there, or come early.
    pub(super) fn download(
        &self,
        desk: &mut Desk<D>,
        place: usize,
        in_place: &InPlace,
    ) -> Result<(), Error> {
        let Desk { staging, downloads, .. } = desk;
        let (range, first) = self.systems(place);
        let of_batch = Offsets::new(&self.job.shape, range.len());
        let (here, there) = (of_batch.outputs(&self.shape), self.offsets.outputs(&self.shape));
        for (here, there) in here.into_iter().zip(there) {
            let in_place = in_place.at(&self.offsets, there.0);
            let (address, rows) = self.rows(staging, (here, there), (&range, first), in_place);
            let arena = &lock(&self.arena).lane.arena;
            // SAFETY: the stream is waited for before anyone uses the results here, by this worker or by who gets the error; the
            // arena lives until all streams have been. The rows are those of `Self::rows`; nobody else writes results of the batch.
            unsafe { downloads.download_rows(arena, address, rows)? };
        }
        Ok(())
    }

    /// The rows of an array of the systems of `range`, which lie in the memory of a batch, or in place; and in the arena, from the place
    /// of the first on.
    fn rows(
        &self,
        staging: &mut Staging<D>,
        ((here, count, size), (there, _, _)): (OfArray, OfArray),
        (range, first): (&Range<usize>, usize),
        in_place: Option<RowsAt>,
    ) -> (*mut u8, Rows) {
        let bytes = range.len() * size;
        let (address, pitch) = match in_place {
            // Within the rows: the range is one of the systems of all.
            Some(rows) => (rows.address.wrapping_add(range.start * size), rows.pitch),
            None => (staging.address(here, count * bytes), bytes),
        };
        let device = (there + first * size, self.room * size);
        (address, Rows { count, bytes, pitch, device })
    }

    /// Copies out a batch that has been downloaded.
    pub(super) fn take(
        &self,
        staging: &mut Staging<D>,
        place: usize,
        (in_place, is_early): (&InPlace, bool),
        finished: &AtomicUsize,
    ) {
        let (range, first) = self.systems(place);
        let of_batch = Offsets::new(&self.job.shape, range.len());
        let statuses: &[u8] = staging.values(of_batch.status, range.len());
        let run = statuses.iter().filter(|&&status| status != Status::NotRun as u8).count();
        if is_early {
            let late = statuses.iter().zip(first as u32..);
            let late = late.filter(|&(&status, _)| status == Status::NotRun as u8);
            self.early.are_late(late.map(|(_, place)| place));
        }
        let how = Taken { past_caches: true, all_began: is_early, in_place };
        let _writes = lock(&self.turns.writes[place]);
        // SAFETY: nobody else writes the results of the batch meanwhile.
        unsafe { self.job.take(staging, &of_batch, self.batches[place], how) };
        finished.fetch_add(run, Ordering::Relaxed);
    }
}
