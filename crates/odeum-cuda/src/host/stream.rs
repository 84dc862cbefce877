//! Streams of the host device.

use super::schedule::Work;
use super::{Host, Kernel, Memory, Pinned};
use crate::memory::check_fit;
use crate::stream::Rows;
use odeum_core::{Error, Scalar};
use std::convert::Infallible;
use std::ffi::c_void;
use std::ops::Range;

/// Values that threads are asked for at a time, and values that are read at a time: no divisors of anything,
/// so that pieces begin and end within rows.
const FILLED: usize = 101;
const READ: usize = 77;

/// Work for the host device.
pub struct Stream {
    host: Host,
    number: usize,
}

/// An event, and how often it was recorded.
pub struct Event {
    pub(super) number: usize,
    pub(super) recorded: u64,
}

impl Stream {
    pub(super) fn new(host: &Host) -> Stream {
        Stream { host: host.clone(), number: host.schedule().stream() }
    }

    fn give(&self, work: Work) -> Result<(), Error> {
        self.host.schedule().give(self.number, work);
        Ok(())
    }
}

/// Where `count` values from byte `at` on end.
fn end<V>(at: usize, count: usize) -> usize {
    at.saturating_add(count.saturating_mul(size_of::<V>()))
}

impl crate::stream::Stream for Stream {
    type Device = Host;

    fn device(&self) -> &Host {
        &self.host
    }

    fn handle(&self) -> u64 {
        self.number as u64
    }

    unsafe fn launch(
        &self,
        kernel: &Kernel,
        blocks: [usize; 3],
        threads: [usize; 2],
        shared: usize,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        self.host.count_launch(kernel.name())?;
        let blocks = blocks.map(|n| n as u64);
        let block = [threads[0], threads[1], shared].map(|n| n as u64);
        // SAFETY: the caller's promise is the same.
        let arguments = unsafe { kernel.arguments(arguments)? };
        let concurrent = self.host.0.setup.concurrent;
        self.give(Work::Launch { kernel: kernel.clone(), blocks, block, arguments, concurrent })
    }

    fn copy(&self, from: &Memory, to: &mut Memory, bytes: usize) -> Result<(), Error> {
        self.copy_to_peer((from, 0), (to, 0), bytes)
    }

    fn copy_to_peer(
        &self,
        (from, first): (&Memory, usize),
        (to, place): (&mut Memory, usize),
        bytes: usize,
    ) -> Result<(), Error> {
        let from = from.place(first.saturating_add(bytes))? + first;
        let to = to.place_mut(place.saturating_add(bytes))? + place;
        self.give(Work::Copy { from, to, bytes })
    }

    fn record_event(&self, event: &mut Event) -> Result<(), Error> {
        event.recorded += 1;
        self.give(Work::Record(event.number, event.recorded))
    }

    fn wait_event(&self, event: &Event) -> Result<(), Error> {
        self.give(Work::Wait(event.number, event.recorded))
    }

    fn write<V: Copy>(&self, to: &mut Memory, at: usize, values: &[V]) -> Result<(), Error> {
        let place = to.place_mut(end::<V>(at, values.len()))? + at;
        self.wait()?;
        let place = std::ptr::with_exposed_provenance_mut::<V>(place);
        // SAFETY: the range lies within the memory.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), place, values.len()) };
        Ok(())
    }

    fn fill<V: Scalar>(
        &self,
        to: &mut Memory,
        at: usize,
        count: usize,
        fill: &(dyn Fn(usize, &mut [V]) + Sync),
    ) -> Result<(), Error> {
        check_fit(end::<V>(at, count), crate::memory::Memory::bytes(to))?;
        let mut values = vec![V::from_f64(0.0); count];
        // In no order that a caller could rely on.
        for (n, piece) in values.chunks_mut(FILLED).enumerate().rev() {
            fill(n * FILLED, piece);
        }
        self.write(to, at, &values)
    }

    fn read<V: Copy>(&self, from: &Memory, at: usize, values: &mut [V]) -> Result<(), Error> {
        let place = from.place(end::<V>(at, values.len()))? + at;
        self.wait()?;
        let place = std::ptr::with_exposed_provenance::<V>(place);
        // SAFETY: the range lies within the memory.
        unsafe { std::ptr::copy_nonoverlapping(place, values.as_mut_ptr(), values.len()) };
        Ok(())
    }

    fn read_in_pieces<V: Copy>(
        &self,
        from: &Memory,
        at: usize,
        count: usize,
        take: &mut dyn FnMut(usize, &[V]),
    ) -> Result<(), Error> {
        let place = from.place(end::<V>(at, count))? + at;
        self.wait()?;
        let place = std::ptr::with_exposed_provenance::<V>(place);
        // SAFETY: the range lies within the memory, which nobody writes as long as it is borrowed.
        let values = unsafe { std::slice::from_raw_parts(place, count) };
        for (piece, values) in values.chunks(READ).enumerate() {
            take(READ * piece, values);
        }
        Ok(())
    }

    unsafe fn upload(
        &self,
        from: &mut Pinned,
        to: &mut Memory,
        bytes: Range<usize>,
    ) -> Result<(), Error> {
        check_fit(bytes.end, crate::memory::Pinned::bytes(from))?;
        let (from, to) = (from.place() + bytes.start, to.place_mut(bytes.end)? + bytes.start);
        self.give(Work::Copy { from, to, bytes: bytes.len() })
    }

    unsafe fn download(
        &self,
        from: &Memory,
        to: &mut Pinned,
        bytes: Range<usize>,
    ) -> Result<(), Error> {
        check_fit(bytes.end, crate::memory::Pinned::bytes(to))?;
        let (from, to) = (from.place(bytes.end)? + bytes.start, to.place() + bytes.start);
        self.give(Work::Copy { from, to, bytes: bytes.len() })
    }

    unsafe fn upload_rows(
        &self,
        from: *const u8,
        to: &mut Memory,
        rows: Rows,
    ) -> Result<(), Error> {
        let (from, to) = (from.expose_provenance(), to.place_mut(rows.end())? + rows.device.0);
        (0..rows.count).try_for_each(|k| {
            let (from, to) = (from + k * rows.pitch, to + k * rows.device.1);
            self.give(Work::Copy { from, to, bytes: rows.bytes })
        })
    }

    unsafe fn download_rows(&self, from: &Memory, to: *mut u8, rows: Rows) -> Result<(), Error> {
        let (from, to) = (from.place(rows.end())? + rows.device.0, to.expose_provenance());
        (0..rows.count).try_for_each(|k| {
            let (from, to) = (from + k * rows.device.1, to + k * rows.pitch);
            self.give(Work::Copy { from, to, bytes: rows.bytes })
        })
    }

    unsafe fn set_bytes(
        &self,
        memory: &mut Memory,
        bytes: Range<usize>,
        value: u8,
    ) -> Result<(), Error> {
        let to = memory.place_mut(bytes.end)? + bytes.start;
        self.give(Work::Set { to, bytes: bytes.len(), value })
    }

    fn capture(&self, _: impl FnOnce() -> Result<(), Error>) -> Result<Option<Infallible>, Error> {
        Ok(None)
    }

    fn launch_graph(&self, graph: &Infallible) -> Result<(), Error> {
        match *graph {}
    }

    fn record_time(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn elapsed_ms(&self, _: usize, _: usize) -> Result<f64, Error> {
        Ok(0.0)
    }

    fn is_done(&self) -> Result<bool, Error> {
        self.host.schedule().is_done(self.number)
    }

    fn wait(&self) -> Result<(), Error> {
        self.host.schedule().wait(self.number)
    }
}
