//! Streams: work for a GPU, done in the order in which it is given.

use super::gpu::Gpu;
use super::kernel::Kernel;
use super::library::failed;
use super::memory::{Memory, Pinned};
use super::staging::{STAGING, Staging};
use cudarc::driver::{CudaEvent, CudaGraph, CudaStream, result, sys};
use odeum_core::{Error, Scalar};
use std::cell::RefCell;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// Work for a GPU, done in the order in which it is given.
pub struct Stream {
    gpu: Gpu,
    stream: Arc<CudaStream>,
    marks: [CudaEvent; 4],
    staging: RefCell<Option<Staging>>,
}

/// An event of a stream, which streams of any GPU can wait for.
pub struct Event(CudaEvent);

/// Work recorded once, to be given as one piece. The memory it uses must outlive it.
pub struct Graph(CudaGraph);

impl Gpu {
    /// An event that has passed.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn event(&self) -> Result<Event, Error> {
        self.new_event(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map(Event)
    }

    /// A stream with nothing in it.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn stream(&self) -> Result<Stream, Error> {
        self.bind()?;
        let stream = self.context().new_stream().map_err(failed("making a stream"))?;
        let mark = || self.new_event(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let marks = [mark()?, mark()?, mark()?, mark()?];
        Ok(Stream { gpu: self.clone(), stream, marks, staging: RefCell::default() })
    }

    fn new_event(&self, flags: sys::CUevent_flags) -> Result<CudaEvent, Error> {
        self.context().new_event(Some(flags)).map_err(failed("making an event"))
    }
}

impl Stream {
    /// Gives a kernel to the stream.
    ///
    /// # Safety
    /// `arguments` must point at values of the types that the kernel takes, and the memory these
    /// name must live until the stream has been waited for. `kernel` must have been prepared for
    /// this much shared memory.
    ///
    /// # Errors
    /// When the driver refuses.
    pub unsafe fn launch(
        &self,
        kernel: &Kernel,
        blocks: [usize; 3],
        threads: [usize; 2],
        shared: usize,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        self.gpu.bind()?;
        let [x, y, z] = blocks.map(|n| n as u32);
        // SAFETY: the caller's promise; the driver copies the arguments before it returns.
        unsafe {
            result::launch_kernel(
                kernel.function.cu_function(),
                (x, y, z),
                (threads[0] as u32, threads[1] as u32, 1),
                shared as u32,
                self.stream.cu_stream(),
                arguments,
            )
        }
        .map_err(failed(format!("starting {}", kernel.name)))
    }

    /// Copies memory of the GPU.
    ///
    /// # Errors
    /// More bytes than either memory has, or a driver that fails.
    pub fn copy(&self, from: &Memory, to: &mut Memory, bytes: usize) -> Result<(), Error> {
        from.fits(bytes)?;
        to.fits(bytes)?;
        let stream = self.stream.cu_stream();
        // SAFETY: both ranges lie within their memories, which free themselves only after the
        // driver has waited.
        unsafe { result::memcpy_dtod_async(to.address, from.address, bytes, stream) }
            .map_err(failed("copying on the GPU"))
    }

    /// Copies bytes from a byte of memory on to those from a byte of another GPU's memory on.
    ///
    /// # Errors
    /// More bytes than either memory has, or a driver that fails.
    pub fn send(
        &self,
        (from, first): (&Memory, usize),
        (to, place): (&mut Memory, usize),
        bytes: usize,
    ) -> Result<(), Error> {
        from.fits(first.saturating_add(bytes))?;
        to.fits(place.saturating_add(bytes))?;
        self.gpu.bind()?;
        let (source, target) = (from.address + first as u64, to.address + place as u64);
        let (mine, theirs) = (from.gpu.context().cu_ctx(), to.gpu.context().cu_ctx());
        // SAFETY: both ranges lie within their memories, whose GPUs' contexts these are. Who gives
        // the copy keeps the memories until this stream has been waited for.
        unsafe {
            let stream = self.stream.cu_stream();
            result::memcpy_peer_async(theirs, target, mine, source, bytes, stream)
        }
        .map_err(failed(format!(
            "copying from cuda:{} to cuda:{}",
            from.gpu.ordinal(),
            to.gpu.ordinal()
        )))
    }

    /// Records an event behind all that was given; it belongs to the stream's GPU.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn set(&self, event: &mut Event) -> Result<(), Error> {
        self.gpu.bind()?;
        event.0.record(&self.stream).map_err(failed("recording an event"))
    }

    /// Lets what is given from here on wait for an event.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn after(&self, event: &Event) -> Result<(), Error> {
        self.gpu.bind()?;
        self.stream.wait(&event.0).map_err(failed("waiting for another stream"))
    }

    /// Overwrites memory from byte `at` on, after all that was given before.
    ///
    /// # Errors
    /// More values than there is room for, or a driver that fails.
    pub fn write<T: Copy>(&self, to: &mut Memory, at: usize, values: &[T]) -> Result<(), Error> {
        to.fits(at.saturating_add(size_of_val(values)))?;
        self.wait()?;
        // SAFETY: the range lies within the memory.
        unsafe { result::memcpy_htod_sync(to.address + at as u64, values) }
            .map_err(failed("copying to the GPU"))
    }

    /// Overwrites `count` values from byte `at` on, after all that was given before. Several threads
    /// ask `fill` for some of them each: it is given where these begin, counted from the first, and
    /// their place.
    ///
    /// # Errors
    /// As [`write`](Stream::write).
    pub fn fill<T: Scalar>(
        &self,
        to: &mut Memory,
        at: usize,
        count: usize,
        fill: &(dyn Fn(usize, &mut [T]) + Sync),
    ) -> Result<(), Error> {
        let bytes = count.saturating_mul(size_of::<T>());
        if bytes < STAGING {
            let mut values = vec![T::from_f64(0.0); count];
            fill(0, &mut values);
            return self.write(to, at, &values);
        }
        to.fits(at.saturating_add(bytes))?;
        // SAFETY: the range lies within the memory, which only this call uses.
        self.staged(|staging| unsafe {
            staging.write(&self.stream, to.address + at as u64, count, fill)
        })
    }

    /// Reads memory from byte `at` on, after all that was given before.
    ///
    /// # Errors
    /// As [`write`](Stream::write).
    pub fn read<T: Copy>(&self, from: &Memory, at: usize, values: &mut [T]) -> Result<(), Error> {
        let bytes = size_of_val(values);
        from.fits(at.saturating_add(bytes))?;
        self.wait()?;
        let address = from.address + at as u64;
        if bytes < STAGING {
            // SAFETY: the range lies within the memory.
            return unsafe { result::memcpy_dtoh_sync(values, address) }
                .map_err(failed("copying from the GPU"));
        }
        let take = &mut |first: usize, part: &[T]| {
            values[first..first + part.len()].copy_from_slice(part);
        };
        let count = bytes / size_of::<T>();
        // SAFETY: the range lies within the memory, which only this call uses.
        self.staged(|staging| unsafe { staging.read(&self.stream, address, count, take) })
    }

    /// Gives `count` values from byte `at` on to `take`, some at a time, in their order, after all that was
    /// given before: where the first of these is, and the values, on their way from the GPU meanwhile
    /// the next.
    ///
    /// # Errors
    /// As [`write`](Stream::write).
    pub fn pour<T: Copy>(
        &self,
        from: &Memory,
        at: usize,
        count: usize,
        take: &mut dyn FnMut(usize, &[T]),
    ) -> Result<(), Error> {
        from.fits(at.saturating_add(count.saturating_mul(size_of::<T>())))?;
        self.wait()?;
        let address = from.address + at as u64;
        // SAFETY: the range lies within the memory, which only this call uses.
        self.staged(|staging| unsafe { staging.read(&self.stream, address, count, take) })
    }

    /// Work with page-locked memory, which is reserved once.
    fn staged(&self, work: impl FnOnce(&mut Staging) -> Result<(), Error>) -> Result<(), Error> {
        let mut staging = self.staging.borrow_mut();
        match &mut *staging {
            Some(staging) => work(staging),
            None => work(staging.insert(Staging::new(&self.gpu)?)),
        }
    }

    /// Records what `work` gives to the stream instead of doing it.
    ///
    /// # Errors
    /// Those of `work`, or a driver that fails.
    pub fn record(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<Option<Graph>, Error> {
        self.gpu.bind()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.stream.begin_capture(mode).map_err(failed("beginning to record"))?;
        let done = work();
        let graph = self.stream.end_capture(sys::CUgraphInstantiate_flags(0));
        done?;
        Ok(graph.map_err(failed("recording"))?.map(Graph))
    }

    /// Gives recorded work to the stream it was recorded on.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn replay(&self, graph: &Graph) -> Result<(), Error> {
        self.gpu.bind()?;
        graph.0.launch().map_err(failed("starting recorded work"))
    }

    /// Marks this point of the stream as mark 0 to 3.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn mark(&self, k: usize) -> Result<(), Error> {
        self.gpu.bind()?;
        self.marks[k.min(3)].record(&self.stream).map_err(failed("marking a time"))
    }

    /// Waits for all that was given.
    ///
    /// # Errors
    /// What went wrong with the work.
    pub fn wait(&self) -> Result<(), Error> {
        self.gpu.bind()?;
        self.stream.synchronize().map_err(failed("waiting for a GPU"))
    }

    /// Time from mark `a` to mark `b`, in ms, after a [`wait`](Stream::wait).
    ///
    /// # Errors
    /// When a mark has not been set.
    pub fn elapsed(&self, a: usize, b: usize) -> Result<f64, Error> {
        let elapsed = self.marks[a.min(3)].elapsed_ms(&self.marks[b.min(3)]);
        elapsed.map(f64::from).map_err(failed("reading times"))
    }

    /// Starts the copy of a range of bytes to the same place of memory of the GPU.
    ///
    /// # Safety
    /// Both memories must live, and nobody write the bytes here, until the stream has been waited for.
    ///
    /// # Errors
    /// More bytes than either memory has, or a driver that fails.
    pub unsafe fn upload(
        &self,
        from: &mut Pinned,
        to: &mut Memory,
        bytes: Range<usize>,
    ) -> Result<(), Error> {
        to.fits(bytes.end)?;
        let place = to.address + bytes.start as u64;
        // SAFETY: the range lies within both; for the time of the copy the caller answers.
        unsafe { result::memcpy_htod_async(place, from.part(bytes), self.stream.cu_stream()) }
            .map_err(failed("copying to the GPU"))
    }

    /// Starts the copy of a range of bytes from the same place of memory of the GPU.
    ///
    /// # Safety
    /// Both memories must live, and nobody use the bytes here, until the stream has been waited for.
    ///
    /// # Errors
    /// As [`upload`](Stream::upload).
    pub unsafe fn download(
        &self,
        from: &Memory,
        to: &mut Pinned,
        bytes: Range<usize>,
    ) -> Result<(), Error> {
        from.fits(bytes.end)?;
        let place = from.address + bytes.start as u64;
        // SAFETY: the range lies within both; for the time of the copy the caller answers.
        unsafe { result::memcpy_dtoh_async(to.part(bytes), place, self.stream.cu_stream()) }
            .map_err(failed("copying from the GPU"))
    }

    /// Sets every byte of a range, after all that was given before.
    ///
    /// # Safety
    /// The memory must live until the stream has been waited for.
    ///
    /// # Errors
    /// As [`upload`](Stream::upload).
    pub unsafe fn set_bytes(
        &self,
        memory: &mut Memory,
        bytes: Range<usize>,
        value: u8,
    ) -> Result<(), Error> {
        memory.fits(bytes.end)?;
        let place = memory.address + bytes.start as u64;
        // SAFETY: the range lies within the memory; for the time of it the caller answers.
        unsafe { result::memset_d8_async(place, value, bytes.len(), self.stream.cu_stream()) }
            .map_err(failed("setting memory of the GPU"))
    }
}
