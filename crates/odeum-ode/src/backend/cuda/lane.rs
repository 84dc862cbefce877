//! A stream with its memory: what one worker needs, kept between runs because making it is slow.

use super::arena::Arena;
use odeum_core::Error;
use odeum_cuda::{Gpu, Stream};

/// Marks of its stream are set before the upload, before and after the kernel, after the download.
pub(super) struct Lane {
    pub(super) stream: Stream,
    pub(super) arena: Arena,
}

impl Lane {
    /// One whose arena has this many bytes.
    pub(super) fn new(gpu: &Gpu, bytes: usize) -> Result<Lane, Error> {
        let arena = Arena::new(gpu, bytes)?;
        Ok(Lane { stream: gpu.stream()?, arena })
    }

    /// The same with at least so many bytes.
    pub(super) fn with_room(self, gpu: &Gpu, bytes: usize) -> Result<Lane, Error> {
        if self.arena.bytes() >= bytes {
            return Ok(self);
        }
        let Lane { stream, arena } = self;
        drop(arena);
        Ok(Lane { stream, arena: Arena::new(gpu, bytes)? })
    }

    /// Starts the copy of a range of bytes of the arena to the GPU.
    pub(super) fn upload(&mut self, bytes: std::ops::Range<usize>) -> Result<(), Error> {
        let Arena { host, device } = &mut self.arena;
        // SAFETY: the arena outlives the copy, and nobody writes it meanwhile: who launches waits for the
        // stream.
        unsafe { self.stream.upload(host, device, bytes) }
    }

    /// Starts the copy of a range of bytes of the arena from the GPU.
    pub(super) fn download(&mut self, bytes: std::ops::Range<usize>) -> Result<(), Error> {
        let Arena { host, device } = &mut self.arena;
        // SAFETY: as in `upload`.
        unsafe { self.stream.download(device, host, bytes) }
    }
}
