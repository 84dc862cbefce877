//! A stream with its memory: what one worker needs, kept between runs because making it is slow.

use super::arena::Arena;
use odeum_core::Error;
use odeum_cuda::{Device, Memory, Stream};
use std::ops::Range;

/// Timing events of its stream are recorded before the upload, before and after the kernel, after the
/// download.
pub(super) struct Lane<D: Device> {
    pub(super) stream: D::Stream,
    pub(super) arena: Arena<D>,
    /// Matrices of a kernel that keeps them outside of shared memory.
    matrices: Option<D::Memory>,
}

impl<D: Device> Lane<D> {
    /// One whose arena has this many bytes.
    pub(super) fn new(device: &D, bytes: usize) -> Result<Self, Error> {
        let arena = Arena::new(device, bytes)?;
        Ok(Lane { stream: device.stream()?, arena, matrices: None })
    }

    /// The same with at least so many bytes.
    pub(super) fn with_room(self, device: &D, bytes: usize) -> Result<Self, Error> {
        if self.arena.bytes() >= bytes {
            return Ok(self);
        }
        let Lane { stream, arena, matrices } = self;
        drop(arena);
        Ok(Lane { stream, arena: Arena::new(device, bytes)?, matrices })
    }

    /// The address of at least so many bytes for matrices.
    pub(super) fn matrices(&mut self, device: &D, bytes: usize) -> Result<u64, Error> {
        if let Some(matrices) = self.matrices.as_ref().filter(|memory| memory.bytes() >= bytes) {
            return Ok(matrices.address());
        }
        self.matrices = None;
        let matrices = device.reserve(bytes)?;
        Ok(self.matrices.insert(matrices).address())
    }

    /// Starts the copy of a range of bytes of the arena to the device.
    pub(super) fn upload(&mut self, bytes: Range<usize>) -> Result<(), Error> {
        let Arena { host, device } = &mut self.arena;
        // SAFETY: the arena outlives the copy, and nobody writes it meanwhile: who launches waits for the
        // stream.
        unsafe { self.stream.upload(host, device, bytes) }
    }

    /// Starts the copy of a range of bytes of the arena from the device.
    pub(super) fn download(&mut self, bytes: Range<usize>) -> Result<(), Error> {
        let Arena { host, device } = &mut self.arena;
        // SAFETY: as in `upload`.
        unsafe { self.stream.download(device, host, bytes) }
    }

    /// Waits for all that was given; false when it failed.
    pub(super) fn is_done(&self) -> bool {
        self.stream.wait().is_ok()
    }
}
