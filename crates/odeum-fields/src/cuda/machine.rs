//! What kernels run on.

pub use odeum_cuda::{Boxes, TensorMap};
use odeum_cuda::{Event, Graph, Kernel, Memory, Pending, Stream};
use odeum_ode::{Error, Scalar};
use std::ffi::c_void;

/// A GPU and a queue of work for it; in tests something else that executes kernels.
///
/// Work is done in the order in which it is given; reading and writing waits for all of it.
pub trait Machine: Sized + Send + 'static {
    /// Memory of the machine, freed when dropped.
    type Memory: Send + 'static;
    /// A kernel, ready to start.
    type Entry: Clone + Send + 'static;
    /// Kernels that are being compiled; dropping them waits for that.
    type Coming: Send + 'static;
    /// Work recorded once, to be given as one piece.
    type Recording: 'static;
    /// A point of a queue that other queues can wait for.
    type Point: Send + 'static;

    /// As users name it.
    fn name(&self) -> String;

    /// The same with a queue of its own.
    ///
    /// # Errors
    /// When the driver fails; so everywhere here.
    fn twin(&self) -> Result<Self, Error>;

    /// Bytes that may be reserved.
    ///
    /// # Errors
    /// See [`twin`](Machine::twin).
    fn free_memory(&self) -> Result<usize, Error>;

    /// Number of multiprocessors.
    fn multiprocessors(&self) -> usize;

    /// Bytes of shared memory that a block may have.
    fn shared(&self) -> usize;

    /// Whether kernels may move registers between groups of warps and copy [`Boxes`].
    fn has_warp_groups(&self) -> bool;

    /// Memory of this many bytes, all zero.
    ///
    /// # Errors
    /// When there is not that much.
    fn memory(&self, bytes: usize) -> Result<Self::Memory, Error>;

    /// Where memory begins, as an argument of kernels.
    fn address(memory: &Self::Memory) -> u64;

    /// A field of single-precision numbers from an address on, as an argument of kernels that copy
    /// boxes of it.
    ///
    /// # Errors
    /// See [`twin`](Machine::twin).
    fn boxes(&self, field: u64, boxes: &Boxes) -> Result<TensorMap, Error>;

    /// The kernels of these names in a text, if they were compiled before.
    fn kept(&self, text: &str, names: &[&str]) -> Option<Self::Coming>;

    /// Has them compiled, unless they were; the first names the text in errors.
    fn begin(&self, text: &str, names: &[&str]) -> Self::Coming;

    /// Whether nobody would have to wait for them.
    fn is_ready(coming: &Self::Coming) -> bool;

    /// The kernels, in the order of their names.
    ///
    /// # Errors
    /// No compiler, or a text that it refuses.
    fn finish(&self, coming: Self::Coming) -> Result<Vec<Self::Entry>, Error>;

    /// Allows this much shared memory, and gives the blocks that a multiprocessor holds at once.
    ///
    /// # Errors
    /// More than a block may have.
    fn prepare(&self, entry: &Self::Entry, threads: usize, shared: usize) -> Result<usize, Error>;

    /// Gives a kernel to the queue.
    ///
    /// # Safety
    /// `arguments` must point at values of the types that the kernel takes, and the memory these
    /// name must live until the work is done. The kernel was prepared for this much shared memory,
    /// where that is more than 48 KiB.
    ///
    /// # Errors
    /// When the driver refuses.
    unsafe fn launch(
        &self,
        entry: &Self::Entry,
        blocks: [usize; 3],
        threads: [usize; 2],
        shared: usize,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error>;

    /// Copies the beginning of one memory to that of another.
    ///
    /// # Errors
    /// More bytes than either has.
    fn copy(&self, from: &Self::Memory, to: &mut Self::Memory, bytes: usize) -> Result<(), Error>;

    /// Overwrites memory from byte `at` on.
    ///
    /// # Errors
    /// More values than there is room for.
    fn write<V: Copy>(&self, to: &mut Self::Memory, at: usize, values: &[V]) -> Result<(), Error>;

    /// Overwrites `count` values from byte `at` on. `fill` gives some of them at a time, from several
    /// threads: it is told where these begin, counted from the first.
    ///
    /// # Errors
    /// As [`write`](Machine::write).
    fn fill<V: Scalar>(
        &self,
        to: &mut Self::Memory,
        at: usize,
        count: usize,
        fill: &(dyn Fn(usize, &mut [V]) + Sync),
    ) -> Result<(), Error>;

    /// Reads memory from byte `at` on.
    ///
    /// # Errors
    /// As [`write`](Machine::write).
    fn read<V: Copy>(&self, from: &Self::Memory, at: usize, values: &mut [V]) -> Result<(), Error>;

    /// Gives `count` values from byte `at` on to `take`, some at a time, in their order: where the first of
    /// these is, and the values. The next are on their way meanwhile.
    ///
    /// # Errors
    /// As [`write`](Machine::write).
    fn pour<V: Copy>(
        &self,
        from: &Self::Memory,
        at: usize,
        count: usize,
        take: &mut dyn FnMut(usize, &[V]),
    ) -> Result<(), Error>;

    /// Lets copies to another machine go straight there, where that can be.
    ///
    /// # Errors
    /// See [`twin`](Machine::twin).
    fn befriend(&self, other: &Self) -> Result<(), Error>;

    /// Copies so many bytes from a byte of this machine's memory on to those from a byte of
    /// another machine's memory on.
    ///
    /// # Errors
    /// More bytes than either has.
    fn send(
        &self,
        from: (&Self::Memory, usize),
        to: (&mut Self::Memory, usize),
        bytes: usize,
    ) -> Result<(), Error>;

    /// A point that is passed.
    ///
    /// # Errors
    /// See [`twin`](Machine::twin).
    fn point(&self) -> Result<Self::Point, Error>;

    /// Puts a point behind all that was given. Who waits for it already waits for where it was.
    ///
    /// # Errors
    /// See [`twin`](Machine::twin).
    fn set(&self, point: &mut Self::Point) -> Result<(), Error>;

    /// Lets what is given from here on wait until a point has been passed, of whichever machine's
    /// queue.
    ///
    /// # Errors
    /// See [`twin`](Machine::twin).
    fn after(&self, point: &Self::Point) -> Result<(), Error>;

    /// Records what `work` gives to the queue instead of doing it; `None` where that cannot be,
    /// with nothing done.
    ///
    /// # Errors
    /// Those of `work`.
    fn record(
        &self,
        work: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<Option<Self::Recording>, Error>;

    /// Gives recorded work to the queue.
    ///
    /// # Errors
    /// See [`twin`](Machine::twin).
    fn replay(&self, recording: &Self::Recording) -> Result<(), Error>;

    /// Marks this point of the queue as mark 0 or 1.
    ///
    /// # Errors
    /// See [`twin`](Machine::twin).
    fn mark(&self, k: usize) -> Result<(), Error>;

    /// Waits for all that was given.
    ///
    /// # Errors
    /// What went wrong with the work.
    fn wait(&self) -> Result<(), Error>;

    /// Time from mark 0 to mark 1 after a [`wait`](Machine::wait) \[s\].
    ///
    /// # Errors
    /// When a mark has not been set.
    fn elapsed(&self) -> Result<f64, Error>;
}

/// Shared memory that any kernel may have \[bytes\].
pub(super) const PLAIN: usize = 48 << 10;

/// A value as an argument of a kernel.
pub(super) fn argument<V>(value: &V) -> *mut c_void {
    std::ptr::from_ref(value).cast_mut().cast()
}

/// An NVIDIA GPU.
pub(super) struct Gpu {
    gpu: odeum_cuda::Gpu,
    stream: Stream,
}

impl Gpu {
    pub(super) fn open(ordinal: usize) -> Result<Gpu, Error> {
        let gpu = odeum_cuda::Gpu::open(ordinal)?;
        let stream = gpu.stream()?;
        Ok(Gpu { gpu, stream })
    }
}

impl Machine for Gpu {
    type Memory = Memory;
    type Entry = Kernel;
    type Coming = Pending;
    type Recording = Graph;
    type Point = Event;

    fn name(&self) -> String {
        format!("cuda:{}", self.gpu.ordinal())
    }

    fn twin(&self) -> Result<Gpu, Error> {
        Ok(Gpu { gpu: self.gpu.clone(), stream: self.gpu.stream()? })
    }

    fn free_memory(&self) -> Result<usize, Error> {
        let (free, limit) = self.gpu.free_memory()?;
        Ok(free.min(limit.unwrap_or(usize::MAX)))
    }

    fn multiprocessors(&self) -> usize {
        self.gpu.limits().multiprocessors
    }

    fn shared(&self) -> usize {
        self.gpu.limits().shared_per_block
    }

    fn has_warp_groups(&self) -> bool {
        self.gpu.has_warp_groups()
    }

    fn memory(&self, bytes: usize) -> Result<Memory, Error> {
        self.gpu.memory(bytes)
    }

    fn address(memory: &Memory) -> u64 {
        memory.address()
    }

    fn boxes(&self, field: u64, boxes: &Boxes) -> Result<TensorMap, Error> {
        self.gpu.tensor_map(field, boxes)
    }

    fn kept(&self, text: &str, names: &[&str]) -> Option<Pending> {
        self.gpu.cached(names.first().copied().unwrap_or_default(), text, names)
    }

    fn begin(&self, text: &str, names: &[&str]) -> Pending {
        self.gpu.compile_async(names.first().copied().unwrap_or_default(), text, names)
    }

    fn is_ready(coming: &Pending) -> bool {
        coming.is_ready()
    }

    fn finish(&self, coming: Pending) -> Result<Vec<Kernel>, Error> {
        self.gpu.wait(coming)
    }

    fn prepare(&self, entry: &Kernel, threads: usize, shared: usize) -> Result<usize, Error> {
        entry.prepare(threads, shared)
    }

    unsafe fn launch(
        &self,
        entry: &Kernel,
        blocks: [usize; 3],
        threads: [usize; 2],
        shared: usize,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise is the same.
        unsafe { self.stream.launch(entry, blocks, threads, shared, arguments) }
    }

    fn copy(&self, from: &Memory, to: &mut Memory, bytes: usize) -> Result<(), Error> {
        self.stream.copy(from, to, bytes)
    }

    fn write<V: Copy>(&self, to: &mut Memory, at: usize, values: &[V]) -> Result<(), Error> {
        self.stream.write(to, at, values)
    }

    fn fill<V: Scalar>(
        &self,
        to: &mut Memory,
        at: usize,
        count: usize,
        fill: &(dyn Fn(usize, &mut [V]) + Sync),
    ) -> Result<(), Error> {
        self.stream.fill(to, at, count, fill)
    }

    fn read<V: Copy>(&self, from: &Memory, at: usize, values: &mut [V]) -> Result<(), Error> {
        self.stream.read(from, at, values)
    }

    fn pour<V: Copy>(
        &self,
        from: &Memory,
        at: usize,
        count: usize,
        take: &mut dyn FnMut(usize, &[V]),
    ) -> Result<(), Error> {
        self.stream.pour(from, at, count, take)
    }

    fn befriend(&self, other: &Gpu) -> Result<(), Error> {
        self.gpu.enable_peer_access(&other.gpu)
    }

    fn send(
        &self,
        from: (&Memory, usize),
        to: (&mut Memory, usize),
        bytes: usize,
    ) -> Result<(), Error> {
        self.stream.send(from, to, bytes)
    }

    fn point(&self) -> Result<Event, Error> {
        self.gpu.event()
    }

    fn set(&self, point: &mut Event) -> Result<(), Error> {
        self.stream.set(point)
    }

    fn after(&self, point: &Event) -> Result<(), Error> {
        self.stream.after(point)
    }

    fn record(&self, work: &mut dyn FnMut() -> Result<(), Error>) -> Result<Option<Graph>, Error> {
        self.stream.record(work)
    }

    fn replay(&self, recording: &Graph) -> Result<(), Error> {
        self.stream.replay(recording)
    }

    fn mark(&self, k: usize) -> Result<(), Error> {
        self.stream.mark(k)
    }

    fn wait(&self) -> Result<(), Error> {
        self.stream.wait()
    }

    fn elapsed(&self) -> Result<f64, Error> {
        Ok(self.stream.elapsed(0, 1)? * 1e-3)
    }
}
