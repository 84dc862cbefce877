//! Kernels of other crates: their texts compiled and cached as those of ensembles are, their
//! memory, and what they are started by. Nothing of the driver shows.

pub use super::coming::Coming;
use super::gpu::Gpu;
use super::library::failed;
use super::staging::{STAGING, Staging};
use crate::error::Error;
use cudarc::driver::sys::CUfunction_attribute_enum as FunctionAttribute;
use cudarc::driver::{CudaEvent, CudaFunction, CudaGraph, CudaStream, result, sys};
use odeum_core::Scalar;
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;

/// A GPU.
#[derive(Clone)]
pub struct Card(Arc<Gpu>);

/// A kernel in the memory of a GPU.
#[derive(Clone)]
pub struct Entry {
    function: CudaFunction,
    name: String,
}

/// Memory of a GPU, freed when dropped.
pub struct Memory {
    address: sys::CUdeviceptr,
    bytes: usize,
    gpu: Arc<Gpu>,
}

/// How kernels copy a field of single-precision numbers in boxes, planes of cells one after the
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boxes {
    /// Cells of a row, rows of a plane, planes.
    pub sizes: [usize; 3],
    /// From a row to the next and from a plane to the next, multiples of 16 \[bytes\].
    pub strides: [usize; 2],
    /// Cells and rows of a box.
    pub cells: [usize; 2],
}

/// A field that is copied in boxes, as an argument of kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct BoxMap(pub [u64; 16]);

/// Work for a GPU, done in the order in which it is given.
pub struct Queue {
    gpu: Arc<Gpu>,
    stream: Arc<CudaStream>,
    marks: [CudaEvent; 2],
    staging: RefCell<Option<Staging>>,
}

/// A point of a queue, which queues of any GPU can wait for.
pub struct Point(CudaEvent);

/// Work recorded once, to be given as one piece. The memory it uses must outlive it.
pub struct Recording(CudaGraph);

impl Card {
    /// The GPU of this number.
    ///
    /// # Errors
    /// No driver, or no such GPU.
    pub fn open(ordinal: usize) -> Result<Card, Error> {
        let gpu = Gpu::open(ordinal)?;
        gpu.bind()?;
        Ok(Card(gpu))
    }

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> usize {
        self.0.limits.multiprocessors
    }

    /// Bytes of shared memory that a block may have.
    pub fn shared(&self) -> usize {
        self.0.limits.shared_per_block
    }

    /// Whether kernels may move registers between groups of warps and copy [`Boxes`]: GPUs of compute
    /// capability 9.0.
    pub fn has_warp_groups(&self) -> bool {
        self.0.has_warp_groups()
    }

    /// Bytes of device memory that may be used.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn free_memory(&self) -> Result<usize, Error> {
        self.0.bind()?;
        self.0.free_memory()
    }

    /// The kernels of these names in a text, which `name` names in errors, if they are in the cache.
    pub fn kept(&self, name: &str, source: &str, kernels: &[&str]) -> Option<Coming> {
        Coming::kept(&self.0.text(name, source), kernels)
    }

    /// Has them compiled by a thread of their own, unless they are in the cache.
    pub fn begin(&self, name: &str, source: &str, kernels: &[&str]) -> Coming {
        Coming::begin(&self.0.text(name, source), kernels)
    }

    /// The kernels of a text, which are waited for.
    ///
    /// # Errors
    /// No compiler, a text that it refuses, or a kernel that is not in it.
    pub fn finish(&self, coming: Coming) -> Result<Vec<Entry>, Error> {
        let (name, kernels, cubin) = coming.arrive()?;
        self.0.bind()?;
        let module = self.0.module(&name, cubin)?;
        let load = |kernel: String| {
            let function = module.load_function(&kernel);
            let function = function.map_err(failed(format!("loading {kernel}")))?;
            Ok(Entry { function, name: kernel })
        };
        kernels.into_iter().map(load).collect()
    }

    /// Memory of this many bytes, all zero.
    ///
    /// # Errors
    /// When there is not that much.
    pub fn memory(&self, bytes: usize) -> Result<Memory, Error> {
        self.0.bind()?;
        // SAFETY: the context is bound.
        let address = unsafe { result::malloc_sync(bytes) }
            .map_err(failed(format!("reserving {bytes} bytes of GPU memory")))?;
        let memory = Memory { address, bytes, gpu: self.0.clone() };
        // SAFETY: the memory was reserved with this size.
        unsafe { result::memset_d8_sync(address, 0, bytes) }
            .map_err(failed("clearing memory of the GPU"))?;
        Ok(memory)
    }

    /// A field from this address on, as an argument of kernels that copy boxes of it.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn boxes(&self, field: u64, boxes: &Boxes) -> Result<BoxMap, Error> {
        self.0.bind()?;
        let mut map = BoxMap([0; 16]);
        let (sizes, strides) = (boxes.sizes.map(|n| n as u64), boxes.strides.map(|n| n as u64));
        let cells = [boxes.cells[0] as u32, boxes.cells[1] as u32, 1];
        // SAFETY: `map` has the size and the alignment of a tensor map; the lists have as many
        // entries as there are axes. The driver writes the map and keeps no pointer.
        unsafe {
            sys::cuTensorMapEncodeTiled(
                (&raw mut map).cast(),
                sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                3,
                field as *mut c_void,
                sizes.as_ptr(),
                strides.as_ptr(),
                cells.as_ptr(),
                [1; 3].as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        }
        .result()
        .map_err(failed("mapping a field"))?;
        Ok(map)
    }

    /// Lets this GPU reach the memory of another one, where their connection allows it; else the
    /// driver carries copies through memory of the computer.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn befriend(&self, other: &Card) -> Result<(), Error> {
        let (mine, theirs) = (&self.0, &other.0);
        if mine.ordinal == theirs.ordinal {
            return Ok(());
        }
        mine.bind()?;
        let mut can = 0;
        let (device, peer) = (mine.context.cu_device(), theirs.context.cu_device());
        // SAFETY: both devices are open; the pointer is to a live integer.
        unsafe { sys::cuDeviceCanAccessPeer(&mut can, device, peer) }
            .result()
            .map_err(failed("asking how GPUs are connected"))?;
        if can == 0 {
            return Ok(());
        }
        // SAFETY: the context that is bound is this GPU's, and the other one's lives as long as
        // it is open. What is refused (reached already, or too many) leaves the way it was.
        let _ = unsafe { sys::cuCtxEnablePeerAccess(theirs.context.cu_ctx(), 0) };
        Ok(())
    }

    /// A point that is passed.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn point(&self) -> Result<Point, Error> {
        let flags = Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        self.0.context.new_event(flags).map(Point).map_err(failed("making an event"))
    }

    /// A queue with nothing in it.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn queue(&self) -> Result<Queue, Error> {
        self.0.bind()?;
        let stream = self.0.context.new_stream().map_err(failed("making a stream"))?;
        let mark = || {
            let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
            self.0.context.new_event(flags).map_err(failed("making an event"))
        };
        let marks = [mark()?, mark()?];
        Ok(Queue { gpu: self.0.clone(), stream, marks, staging: RefCell::default() })
    }
}

impl Entry {
    /// Allows this much dynamic shared memory, and gives the number of blocks of `threads` that a
    /// multiprocessor then holds at once.
    ///
    /// # Errors
    /// More than a block may have.
    pub fn prepare(&self, threads: usize, shared: usize) -> Result<usize, Error> {
        let doing = || failed(format!("preparing {}", self.name));
        if shared > 0 {
            let most = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            self.function.set_attribute(most, shared as i32).map_err(doing())?;
        }
        let blocks = self.function.occupancy_max_active_blocks_per_multiprocessor(
            threads as u32,
            shared,
            None,
        );
        Ok((blocks.map_err(doing())? as usize).max(1))
    }
}

impl Memory {
    /// Where it begins, as an argument of kernels.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn fits(&self, bytes: usize) -> Result<(), Error> {
        self.gpu.bind()?;
        if bytes <= self.bytes {
            return Ok(());
        }
        let remedy = format!("the memory has {} bytes", self.bytes);
        Err(Error::input("values", format!("{bytes} bytes"), remedy))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: allocated by `Card::memory`, freed once. The driver waits for what uses it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

impl Queue {
    /// Gives a kernel to the queue.
    ///
    /// # Safety
    /// `arguments` must point at values of the types that the kernel takes, and the memory these
    /// name must live until the queue has been waited for. `entry` must have been prepared for
    /// this much shared memory.
    ///
    /// # Errors
    /// When the driver refuses.
    pub unsafe fn launch(
        &self,
        entry: &Entry,
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
                entry.function.cu_function(),
                (x, y, z),
                (threads[0] as u32, threads[1] as u32, 1),
                shared as u32,
                self.stream.cu_stream(),
                arguments,
            )
        }
        .map_err(failed(format!("starting {}", entry.name)))
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
        let (mine, theirs) = (from.gpu.context.cu_ctx(), to.gpu.context.cu_ctx());
        // SAFETY: both ranges lie within their memories, whose GPUs' contexts these are. Who gives
        // the copy keeps the memories until this queue has been waited for.
        unsafe {
            let stream = self.stream.cu_stream();
            result::memcpy_peer_async(theirs, target, mine, source, bytes, stream)
        }
        .map_err(failed(format!(
            "copying from cuda:{} to cuda:{}",
            from.gpu.ordinal, to.gpu.ordinal
        )))
    }

    /// Puts a point behind all that was given; it belongs to the queue's GPU.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn set(&self, point: &mut Point) -> Result<(), Error> {
        self.gpu.bind()?;
        point.0.record(&self.stream).map_err(failed("setting a point"))
    }

    /// Lets what is given from here on wait until a point has been passed.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn after(&self, point: &Point) -> Result<(), Error> {
        self.gpu.bind()?;
        self.stream.wait(&point.0).map_err(failed("waiting for another queue"))
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
    /// As [`write`](Queue::write).
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
    /// As [`write`](Queue::write).
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
    /// As [`write`](Queue::write).
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

    /// Records what `work` gives to the queue instead of doing it.
    ///
    /// # Errors
    /// Those of `work`, or a driver that fails.
    pub fn record(
        &self,
        work: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Option<Recording>, Error> {
        self.gpu.bind()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.stream.begin_capture(mode).map_err(failed("beginning to record"))?;
        let done = work();
        let graph = self.stream.end_capture(sys::CUgraphInstantiate_flags(0));
        done?;
        Ok(graph.map_err(failed("recording"))?.map(Recording))
    }

    /// Gives recorded work to the queue it was recorded on.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn replay(&self, recording: &Recording) -> Result<(), Error> {
        self.gpu.bind()?;
        recording.0.launch().map_err(failed("starting recorded work"))
    }

    /// Marks this point of the queue as mark 0 or 1.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn mark(&self, k: usize) -> Result<(), Error> {
        self.gpu.bind()?;
        self.marks[k.min(1)].record(&self.stream).map_err(failed("marking a time"))
    }

    /// Waits for all that was given.
    ///
    /// # Errors
    /// What went wrong with the work.
    pub fn wait(&self) -> Result<(), Error> {
        self.gpu.bind()?;
        self.stream.synchronize().map_err(failed("waiting for a GPU"))
    }

    /// Time from mark 0 to mark 1, in ms, after a [`wait`](Queue::wait).
    ///
    /// # Errors
    /// When a mark has not been set.
    pub fn elapsed(&self) -> Result<f64, Error> {
        let elapsed = self.marks[0].elapsed_ms(&self.marks[1]);
        elapsed.map(f64::from).map_err(failed("reading times"))
    }
}
