//! A stream with its memory: what one worker needs, kept between runs because making it is slow.

use super::arena::Arena;
use super::gpu::{Gpu, failed};
use super::lock::lock;
use crate::error::Error;
use cudarc::driver::{CudaEvent, CudaStream, sys};
use std::sync::Arc;

pub(super) struct Lane {
    pub(super) stream: Arc<CudaStream>,
    pub(super) arena: Arena,
    /// Before the upload, before and after the kernel, after the download.
    pub(super) marks: [CudaEvent; 4],
}

impl Lane {
    /// A lane whose arena has at least this many bytes: an idle one of the GPU, or a new one.
    pub(super) fn take(gpu: &Gpu, bytes: usize) -> Result<Lane, Error> {
        gpu.bind()?;
        let idle = {
            let mut idle = lock(&gpu.idle);
            let fits = idle.iter().position(|lane| lane.arena.bytes() >= bytes);
            // One that is too small makes room for its successor.
            fits.or_else(|| idle.len().checked_sub(1)).map(|k| idle.swap_remove(k))
        };
        if let Some(mut lane) = idle {
            if lane.arena.bytes() < bytes {
                let Lane { stream, arena, marks } = lane;
                drop(arena);
                lane = Lane { stream, arena: Arena::new(gpu, bytes)?, marks };
            }
            return Ok(lane);
        }
        let arena = Arena::new(gpu, bytes)?;
        let stream = gpu.context.new_stream().map_err(failed("making a stream"))?;
        let mark = || {
            let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
            gpu.context.new_event(flags).map_err(failed("making an event"))
        };
        Ok(Lane { stream, arena, marks: [mark()?, mark()?, mark()?, mark()?] })
    }

    /// Gives the lane back for later runs, when its stream is done; after an error it may never be.
    pub(super) fn keep(self, gpu: &Gpu) {
        if self.stream.synchronize().is_ok() {
            lock(&gpu.idle).push(self);
        }
    }

    /// Records the present point of the stream as mark `k`.
    pub(super) fn mark(&self, k: usize) -> Result<(), Error> {
        self.marks[k].record(&self.stream).map_err(failed("marking a time"))
    }

    /// Time from mark `a` to mark `b`, in ms.
    pub(super) fn between(&self, a: usize, b: usize) -> Result<f64, Error> {
        let elapsed = self.marks[a].elapsed_ms(&self.marks[b]);
        elapsed.map(f64::from).map_err(failed("reading times"))
    }
}
