//! Streams: work for a device, done in the order in which it is given.

use super::device::Device;
use odeum_core::{Error, Scalar};
use std::ffi::c_void;
use std::ops::Range;

/// Memory of a stream's device.
type MemoryOf<S> = <<S as Stream>::Device as Device>::Memory;
/// Page-locked memory for it.
type PinnedOf<S> = <<S as Stream>::Device as Device>::Pinned;
type KernelOf<S> = <<S as Stream>::Device as Device>::Kernel;
type EventOf<S> = <<S as Stream>::Device as Device>::Event;
type GraphOf<S> = <<S as Stream>::Device as Device>::Graph;

/// Rows of bytes in page-locked memory and in that of a device, as far apart in one as in the other they need not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// How many.
    pub count: usize,
    /// Bytes of each.
    pub bytes: usize,
    /// Bytes from one to the next in page-locked memory.
    pub pitch: usize,
    /// Where the first begins on the device, and bytes from one to the next.
    pub device: (usize, usize),
}

impl Rows {
    /// Where the last row ends on the device.
    pub(crate) fn end(&self) -> usize {
        let (first, pitch) = self.device;
        self.count.checked_sub(1).map_or(first, |rows| first + rows * pitch + self.bytes)
    }
}

/// Work for a device, done in the order in which it is given; reading and writing waits for all of it.
pub trait Stream: Send + Sized + 'static {
    /// What does the work.
    type Device: Device<Stream = Self>;

    /// The device of the stream.
    fn device(&self) -> &Self::Device;

    /// Its handle in the driver, by which other libraries give it work or let it wait for theirs.
    fn handle(&self) -> u64;

    /// Gives a kernel to the stream.
    ///
    /// # Safety
    /// `arguments` must point at values of the types that the kernel takes, and the memory these
    /// name must live until the stream has been waited for. `kernel` must have been prepared for
    /// this much shared memory, where that is more than 48 KiB.
    ///
    /// # Errors
    /// When the driver refuses.
    unsafe fn launch(
        &self,
        kernel: &KernelOf<Self>,
        blocks: [usize; 3],
        threads: [usize; 2],
        shared: usize,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error>;

    /// Copies the beginning of one memory of the device to that of another.
    ///
    /// # Errors
    /// More bytes than either memory has, or a driver that fails.
    fn copy(
        &self,
        from: &MemoryOf<Self>,
        to: &mut MemoryOf<Self>,
        bytes: usize,
    ) -> Result<(), Error>;

    /// Copies bytes from a byte of memory on to those from a byte of another device's memory on.
    ///
    /// # Errors
    /// More bytes than either memory has, or a driver that fails.
    fn copy_to_peer(
        &self,
        from: (&MemoryOf<Self>, usize),
        to: (&mut MemoryOf<Self>, usize),
        bytes: usize,
    ) -> Result<(), Error>;

    /// Records an event behind all that was given. Streams that wait for it already wait for where it was.
    ///
    /// # Errors
    /// When the driver fails.
    fn record_event(&self, event: &mut EventOf<Self>) -> Result<(), Error>;

    /// Lets what is given from here on wait until an event has passed, of whichever stream.
    ///
    /// # Errors
    /// When the driver fails.
    fn wait_event(&self, event: &EventOf<Self>) -> Result<(), Error>;

    /// Overwrites memory from byte `at` on, after all that was given before.
    ///
    /// # Errors
    /// More values than there is room for, or a driver that fails.
    fn write<V: Copy>(&self, to: &mut MemoryOf<Self>, at: usize, values: &[V])
    -> Result<(), Error>;

    /// Overwrites `count` values from byte `at` on, after all that was given before. Several threads
    /// ask `fill` for some of them each: it is given where these begin, counted from the first, and
    /// their place.
    ///
    /// # Errors
    /// As [`write`](Stream::write).
    fn fill<V: Scalar>(
        &self,
        to: &mut MemoryOf<Self>,
        at: usize,
        count: usize,
        fill: &(dyn Fn(usize, &mut [V]) + Sync),
    ) -> Result<(), Error>;

    /// Reads memory from byte `at` on, after all that was given before.
    ///
    /// # Errors
    /// As [`write`](Stream::write).
    fn read<V: Copy>(
        &self,
        from: &MemoryOf<Self>,
        at: usize,
        values: &mut [V],
    ) -> Result<(), Error>;

    /// Gives `count` values from byte `at` on to `take`, some at a time, in their order, after all that was
    /// given before: where the first of these is, and the values. The next are copied meanwhile.
    ///
    /// # Errors
    /// As [`write`](Stream::write).
    fn read_in_pieces<V: Copy>(
        &self,
        from: &MemoryOf<Self>,
        at: usize,
        count: usize,
        take: &mut dyn FnMut(usize, &[V]),
    ) -> Result<(), Error>;

    /// Starts the copy of a range of bytes to the same place of memory of the device.
    ///
    /// # Safety
    /// Both memories must live, and nobody write the bytes here, until the stream has been waited for.
    ///
    /// # Errors
    /// More bytes than the device's memory has, or a driver that fails.
    unsafe fn upload(
        &self,
        from: &mut PinnedOf<Self>,
        to: &mut MemoryOf<Self>,
        bytes: Range<usize>,
    ) -> Result<(), Error>;

    /// Starts the copy of a range of bytes from the same place of memory of the device.
    ///
    /// # Safety
    /// Both memories must live, and nobody use the bytes here, until the stream has been waited for.
    ///
    /// # Errors
    /// As [`upload`](Stream::upload).
    unsafe fn download(
        &self,
        from: &MemoryOf<Self>,
        to: &mut PinnedOf<Self>,
        bytes: Range<usize>,
    ) -> Result<(), Error>;

    /// Starts the copy of rows, of which the first begins at an address of page-locked memory, to memory of the device.
    ///
    /// # Safety
    /// As [`upload`](Stream::upload); the rows lie in the memory here.
    ///
    /// # Errors
    /// Rows that do not lie in the device's memory, or a driver that fails.
    unsafe fn upload_rows(
        &self,
        from: *const u8,
        to: &mut MemoryOf<Self>,
        rows: Rows,
    ) -> Result<(), Error>;

    /// Starts the copy of rows from memory of the device.
    ///
    /// # Safety
    /// As [`download`](Stream::download); the rows lie in the memory here.
    ///
    /// # Errors
    /// As [`upload_rows`](Stream::upload_rows).
    unsafe fn download_rows(
        &self,
        from: &MemoryOf<Self>,
        to: *mut u8,
        rows: Rows,
    ) -> Result<(), Error>;

    /// Sets every byte of a range, after all that was given before.
    ///
    /// # Safety
    /// The memory must live until the stream has been waited for.
    ///
    /// # Errors
    /// As [`upload`](Stream::upload).
    unsafe fn set_bytes(
        &self,
        memory: &mut MemoryOf<Self>,
        bytes: Range<usize>,
        value: u8,
    ) -> Result<(), Error>;

    /// Captures what `work` gives to the stream instead of doing it; `None` where the device has no
    /// graphs, with nothing done.
    ///
    /// # Errors
    /// Those of `work`, or a driver that fails.
    fn capture(
        &self,
        work: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Option<GraphOf<Self>>, Error>;

    /// Gives a graph to the stream it was captured on.
    ///
    /// # Errors
    /// When the driver refuses.
    fn launch_graph(&self, graph: &GraphOf<Self>) -> Result<(), Error>;

    /// Records timing event 0 or 1 of the stream behind all that was given. Until it has passed, other streams that share its way to the
    /// device wait as well.
    ///
    /// # Errors
    /// When the driver fails.
    fn record_time(&self, k: usize) -> Result<(), Error>;

    /// Time from timing event `a` to `b`, after a [`wait`](Stream::wait) \[ms\].
    ///
    /// # Errors
    /// When one has not been recorded.
    fn elapsed_ms(&self, a: usize, b: usize) -> Result<f64, Error>;

    /// Whether all that was given is done.
    ///
    /// # Errors
    /// What went wrong with the work.
    fn is_done(&self) -> Result<bool, Error>;

    /// Waits for all that was given.
    ///
    /// # Errors
    /// What went wrong with the work.
    fn wait(&self) -> Result<(), Error>;
}
