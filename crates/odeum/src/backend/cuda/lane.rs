//! A stream with its memory: what one worker needs, kept between runs because making it is slow.

use super::arena::Arena;
use super::library::failed;
use crate::error::Error;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, sys};
use std::sync::Arc;

pub(super) struct Lane {
    pub(super) stream: Arc<CudaStream>,
    pub(super) arena: Arena,
    /// Before the upload, before and after the kernel, after the download.
    pub(super) marks: [CudaEvent; 4],
}

impl Lane {
    /// One whose arena has this many bytes.
    pub(super) fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Lane, Error> {
        let arena = Arena::new(context, bytes)?;
        let stream = context.new_stream().map_err(failed("making a stream"))?;
        let mark = || {
            let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
            context.new_event(flags).map_err(failed("making an event"))
        };
        Ok(Lane { stream, arena, marks: [mark()?, mark()?, mark()?, mark()?] })
    }

    /// The same with at least so many bytes.
    pub(super) fn with_room(self, bytes: usize) -> Result<Lane, Error> {
        if self.arena.bytes() >= bytes {
            return Ok(self);
        }
        let Lane { stream, arena, marks } = self;
        drop(arena);
        let arena = Arena::new(stream.context(), bytes)?;
        Ok(Lane { stream, arena, marks })
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
