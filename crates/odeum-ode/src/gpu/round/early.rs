//! Results that come back before a kernel is done, which its longest systems decide.
//!
//! Once all systems of a part have begun, and few go on, its batches are downloaded. A system that has no status by then is late: its
//! results follow when all kernels are done.

use super::super::arena::{Offsets, Shape};
use super::Round;
use super::copies::Desk;
use odeum_core::{Error, Scalar, lock};
use odeum_cuda::{Device, Rows, Stream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A part is downloaded once one in so many of its systems goes on, at most.
const FEW: usize = 64;
/// Late systems that are worth a thread.
const LEAST: usize = 512;

/// What is known of late systems.
pub(super) struct Early {
    /// Their places.
    late: Mutex<Vec<u32>>,
    /// So many are gathered at a time by each worker; 0 where there is no room for one, and nothing comes early.
    at_once: usize,
    /// Who looks how far a kernel is.
    looks: Mutex<()>,
}

impl Early {
    /// Of batches of so many systems, in an arena in which each of so many workers has room where inputs were.
    pub(super) fn new(shape: &Shape, offsets: &Offsets, (batch, workers): (usize, usize)) -> Self {
        let mut at_once = batch;
        while at_once > 0 && workers * shape.bytes(at_once) > offsets.next {
            at_once /= 2;
        }
        Early { at_once, ..Early::never() }
    }

    /// Nothing comes early.
    pub(super) fn never() -> Self {
        Early { late: Mutex::default(), at_once: 0, looks: Mutex::default() }
    }

    /// Says of these places that their systems are late.
    pub(super) fn are_late(&self, places: impl Iterator<Item = u32>) {
        lock(&self.late).extend(places);
    }
}

/// Whether all systems of a part have begun, and few go on, where groups of threads have asked for a system so often. Each asks once more
/// when there are none left, and then ends.
fn is_early(systems: usize, groups: usize, handed_out: usize) -> bool {
    let go_on = (systems + groups).saturating_sub(handed_out);
    handed_out >= systems && go_on <= systems / FEW
}

impl<T: Scalar, D: Device> Round<'_, T, D> {
    /// Looks whether the results of the part that comes next may come early. One worker at a time does.
    pub(super) fn look(&self, desk: &mut Desk<D>) -> Result<(), Error> {
        let Ok(_looks) = self.early.looks.try_lock() else { return Ok(()) };
        let place = *lock(&self.turns.downloads);
        if place == self.batches.len() || self.early.at_once == 0 {
            return Ok(());
        }
        let (number, part) = self.part_of(place);
        let groups = part.groups.load(Ordering::Acquire);
        if groups == 0 || part.comes_early.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (systems, handed_out) = (self.systems_of(number).len(), self.handed_out(desk, number)?);
        // Who stops a run is over before it lets the queue be empty: then systems have not begun.
        if is_early(systems, groups, handed_out) && !self.job.is_over() {
            part.comes_early.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// How often somebody asked the queue of a part for a system.
    fn handed_out(&self, desk: &mut Desk<D>, part: usize) -> Result<usize, Error> {
        let bytes = size_of::<u32>();
        let here = Offsets::new(&self.job.shape, self.job.batch).next;
        let device = (self.offsets.next + part * bytes, bytes);
        let address = desk.staging.address(here, bytes);
        {
            let arena = &lock(&self.arena).lane.arena;
            let rows = Rows { count: 1, bytes, pitch: bytes, device };
            // SAFETY: the stream is waited for here; the arena lives until all streams have been.
            unsafe { desk.downloads.download_rows(arena, address, rows)? };
        }
        desk.downloads.wait()?;
        Ok(desk.staging.values::<u32>(here, 1)[0] as usize)
    }

    /// Takes the results of late systems. All kernels are done.
    pub(super) fn take_late(&self, desks: &mut [Desk<D>], finished: &AtomicUsize) {
        let late = std::mem::take(&mut *lock(&self.early.late));
        let each = late.len().div_ceil(desks.len()).max(LEAST).min(self.early.at_once);
        let chunks: Vec<&[u32]> = late.chunks(each.max(1)).collect();
        let next = AtomicUsize::new(0);
        let work = |desk: &mut Desk<D>, worker: usize| -> Result<(), Error> {
            while let Some(places) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.take_each(desk, places, worker * self.job.shape.bytes(self.early.at_once))?;
                finished.fetch_add(places.len(), Ordering::Relaxed);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            for (worker, desk) in desks.iter_mut().enumerate().take(chunks.len()) {
                let work = &work;
                scope.spawn(move || {
                    let done = work(desk, worker);
                    if let Err(error) = done.and(desk.downloads.wait()) {
                        self.job.fail(error);
                    }
                });
            }
        });
    }

    /// The same of these places, by way of the arena from a byte on.
    fn take_each(&self, desk: &mut Desk<D>, places: &[u32], room: usize) -> Result<(), Error> {
        let Desk { staging, downloads, .. } = desk;
        let shape = &self.job.shape;
        let gather = self.device.late()?;
        let of_late = Offsets::new(shape, places.len());
        let bytes = of_late.end - of_late.results;
        let rows = Rows { count: 1, bytes, pitch: bytes, device: (room + of_late.results, bytes) };
        {
            let arena = &mut lock(&self.arena).lane.arena;
            let all = (&self.offsets, self.room);
            // SAFETY: the arena lives until all streams have been waited for; all kernels are done, so nobody reads inputs any more, and
            // each worker has room of its own where these were.
            unsafe {
                gather.gather(downloads, arena, shape, all, (places, room))?;
                downloads.download_rows(arena, staging.address(of_late.results, bytes), rows)?;
            }
        }
        downloads.wait()?;
        let system = |&place: &u32| {
            let (batch, k) = (place as usize / self.job.batch, place as usize % self.job.batch);
            self.job.systems(self.batches[batch]).start + k
        };
        let systems: Vec<usize> = places.iter().map(system).collect();
        // SAFETY: each place is late once; its batch has been taken.
        unsafe { self.job.sink.take_each(staging, &of_late, &systems) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_early_once_all_systems_have_begun() {
        let (systems, groups) = (640_000, 2_000);
        // One in 64 go on, with those that have not begun.
        assert!(!is_early(systems, groups, systems + groups - 10_000));
        assert!(is_early(systems, groups, systems));
        let many = 20_000;
        assert!(!is_early(systems, many, systems) && is_early(systems, many, systems + 10_000));
        assert!(is_early(systems, groups, systems + groups));
    }
}
