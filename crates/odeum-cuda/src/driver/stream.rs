//! Streams: work for a GPU, done in the order in which it is given.

use super::gpu::Gpu;
use super::kernel::Kernel;
use super::memory::{Memory, Pinned};
use super::staging::{STAGING, Staging};
use crate::library::failed;
use crate::stream::Rows;
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
    /// Timing events.
    times: [CudaEvent; 2],
    staging: RefCell<Option<Staging>>,
}

/// An event of a stream, for which streams of any GPU can wait.
pub struct Event(CudaEvent);

/// Work captured once, to be launched as one piece. The memory it uses must outlive it.
pub struct Graph(CudaGraph);

fn new_event(gpu: &Gpu, flags: sys::CUevent_flags) -> Result<CudaEvent, Error> {
    gpu.context()?.new_event(Some(flags)).map_err(failed("making an event"))
}

impl Event {
    pub(super) fn new(gpu: &Gpu) -> Result<Event, Error> {
        new_event(gpu, sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map(Event)
    }
}

/// What a copy of rows says besides where they lie.
fn of_rows(rows: Rows) -> sys::CUDA_MEMCPY2D_st {
    sys::CUDA_MEMCPY2D_st {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: std::ptr::null(),
        srcDevice: 0,
        srcArray: std::ptr::null_mut(),
        srcPitch: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: std::ptr::null_mut(),
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        dstPitch: 0,
        WidthInBytes: rows.bytes,
        Height: rows.count,
    }
}

impl Stream {
    pub(super) fn new(gpu: &Gpu) -> Result<Stream, Error> {
        gpu.bind()?;
        let stream = gpu.context()?.new_stream().map_err(failed("making a stream"))?;
        let time = || new_event(gpu, sys::CUevent_flags::CU_EVENT_DEFAULT);
        let times = [time()?, time()?];
        Ok(Stream { gpu: gpu.clone(), stream, times, staging: RefCell::default() })
    }

    /// Work with page-locked memory, which is reserved once.
    fn staged(&self, work: impl FnOnce(&mut Staging) -> Result<(), Error>) -> Result<(), Error> {
        let mut staging = self.staging.borrow_mut();
        match &mut *staging {
            Some(staging) => work(staging),
            None => work(staging.insert(Staging::new(&self.gpu)?)),
        }
    }
}

impl crate::stream::Stream for Stream {
    type Device = Gpu;

    fn device(&self) -> &Gpu {
        &self.gpu
    }

    fn handle(&self) -> u64 {
        self.stream.cu_stream() as u64
    }

    unsafe fn launch(
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

    fn copy(&self, from: &Memory, to: &mut Memory, bytes: usize) -> Result<(), Error> {
        from.fits(bytes)?;
        to.fits(bytes)?;
        let stream = self.stream.cu_stream();
        // SAFETY: both ranges lie within their memories, which free themselves only after the
        // driver has waited.
        unsafe { result::memcpy_dtod_async(to.address, from.address, bytes, stream) }
            .map_err(failed("copying on the GPU"))
    }

    fn copy_to_peer(
        &self,
        (from, first): (&Memory, usize),
        (to, place): (&mut Memory, usize),
        bytes: usize,
    ) -> Result<(), Error> {
        from.fits(first.saturating_add(bytes))?;
        to.fits(place.saturating_add(bytes))?;
        self.gpu.bind()?;
        let (source, target) = (from.address + first as u64, to.address + place as u64);
        let (mine, theirs) = (from.gpu.context()?.cu_ctx(), to.gpu.context()?.cu_ctx());
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

    fn record_event(&self, event: &mut Event) -> Result<(), Error> {
        self.gpu.bind()?;
        event.0.record(&self.stream).map_err(failed("recording an event"))
    }

    fn wait_event(&self, event: &Event) -> Result<(), Error> {
        self.gpu.bind()?;
        self.stream.wait(&event.0).map_err(failed("waiting for another stream"))
    }

    fn write<V: Copy>(&self, to: &mut Memory, at: usize, values: &[V]) -> Result<(), Error> {
        to.fits(at.saturating_add(size_of_val(values)))?;
        // SAFETY: the range lies within the memory, and the values are there until they have arrived. A copy on the default stream returns
        // before that, and work of this stream would not wait for it.
        unsafe {
            result::memcpy_htod_async(to.address + at as u64, values, self.stream.cu_stream())
        }
        .map_err(failed("copying to the GPU"))?;
        self.wait()
    }

    fn fill<V: Scalar>(
        &self,
        to: &mut Memory,
        at: usize,
        count: usize,
        fill: &(dyn Fn(usize, &mut [V]) + Sync),
    ) -> Result<(), Error> {
        let bytes = count.saturating_mul(size_of::<V>());
        if bytes < STAGING {
            let mut values = vec![V::from_f64(0.0); count];
            fill(0, &mut values);
            return self.write(to, at, &values);
        }
        to.fits(at.saturating_add(bytes))?;
        // SAFETY: the range lies within the memory, which only this call uses.
        self.staged(|staging| unsafe {
            staging.write(&self.stream, to.address + at as u64, count, fill)
        })
    }

    fn read<V: Copy>(&self, from: &Memory, at: usize, values: &mut [V]) -> Result<(), Error> {
        let bytes = size_of_val(values);
        from.fits(at.saturating_add(bytes))?;
        self.wait()?;
        let address = from.address + at as u64;
        if bytes < STAGING {
            // SAFETY: the range lies within the memory.
            return unsafe { result::memcpy_dtoh_sync(values, address) }
                .map_err(failed("copying from the GPU"));
        }
        let take = &mut |first: usize, part: &[V]| {
            values[first..first + part.len()].copy_from_slice(part);
        };
        let count = bytes / size_of::<V>();
        // SAFETY: the range lies within the memory, which only this call uses.
        self.staged(|staging| unsafe { staging.read(&self.stream, address, count, take) })
    }

    fn read_in_pieces<V: Copy>(
        &self,
        from: &Memory,
        at: usize,
        count: usize,
        take: &mut dyn FnMut(usize, &[V]),
    ) -> Result<(), Error> {
        from.fits(at.saturating_add(count.saturating_mul(size_of::<V>())))?;
        self.wait()?;
        let address = from.address + at as u64;
        // SAFETY: the range lies within the memory, which only this call uses.
        self.staged(|staging| unsafe { staging.read(&self.stream, address, count, take) })
    }

    fn capture(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<Option<Graph>, Error> {
        self.gpu.bind()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.stream.begin_capture(mode).map_err(failed("beginning a capture"))?;
        let done = work();
        let graph = self.stream.end_capture(sys::CUgraphInstantiate_flags(0));
        done?;
        Ok(graph.map_err(failed("capturing a graph"))?.map(Graph))
    }

    fn launch_graph(&self, graph: &Graph) -> Result<(), Error> {
        self.gpu.bind()?;
        graph.0.launch().map_err(failed("launching a graph"))
    }

    fn record_time(&self, k: usize) -> Result<(), Error> {
        self.gpu.bind()?;
        self.times[k.min(1)].record(&self.stream).map_err(failed("recording a time"))
    }

    fn is_done(&self) -> Result<bool, Error> {
        self.gpu.bind()?;
        // SAFETY: the stream lives.
        match unsafe { sys::cuStreamQuery(self.stream.cu_stream()) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => {
                other.result().map(|()| true).map_err(failed("asking a GPU whether it is done"))
            }
        }
    }

    fn wait(&self) -> Result<(), Error> {
        self.gpu.bind()?;
        self.stream.synchronize().map_err(failed("waiting for a GPU"))
    }

    fn elapsed_ms(&self, a: usize, b: usize) -> Result<f64, Error> {
        let elapsed = self.times[a.min(1)].elapsed_ms(&self.times[b.min(1)]);
        elapsed.map(f64::from).map_err(failed("reading times"))
    }

    unsafe fn upload(
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

    unsafe fn download(
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

    unsafe fn upload_rows(
        &self,
        from: *const u8,
        to: &mut Memory,
        rows: Rows,
    ) -> Result<(), Error> {
        to.fits(rows.end())?;
        let copy = sys::CUDA_MEMCPY2D_st {
            srcHost: from.cast(),
            srcPitch: rows.pitch,
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: to.address + rows.device.0 as u64,
            dstPitch: rows.device.1,
            ..of_rows(rows)
        };
        // SAFETY: the rows lie within the device's memory; for those here, and for the time of the copy, the caller answers.
        unsafe { sys::cuMemcpy2DAsync_v2(&raw const copy, self.stream.cu_stream()) }
            .result()
            .map_err(failed("copying to the GPU"))
    }

    unsafe fn download_rows(&self, from: &Memory, to: *mut u8, rows: Rows) -> Result<(), Error> {
        from.fits(rows.end())?;
        let copy = sys::CUDA_MEMCPY2D_st {
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: from.address + rows.device.0 as u64,
            srcPitch: rows.device.1,
            dstHost: to.cast(),
            dstPitch: rows.pitch,
            ..of_rows(rows)
        };
        // SAFETY: as in `upload_rows`.
        unsafe { sys::cuMemcpy2DAsync_v2(&raw const copy, self.stream.cu_stream()) }
            .result()
            .map_err(failed("copying from the GPU"))
    }

    unsafe fn set_bytes(
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
