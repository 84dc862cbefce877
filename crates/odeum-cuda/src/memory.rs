//! Memory of GPUs, and page-locked memory of this computer.

use super::gpu::Gpu;
use super::library::failed;
use cudarc::driver::{result, sys};
use odeum_core::Error;
use std::ops::Range;

/// Memory of a GPU, freed when dropped.
pub struct Memory {
    pub(crate) address: sys::CUdeviceptr,
    bytes: usize,
    pub(crate) gpu: Gpu,
}

/// Page-locked memory of this computer, which GPUs read and write by themselves; freed when dropped.
pub struct Pinned {
    address: *mut u8,
    bytes: usize,
    gpu: Gpu,
}

// SAFETY: the memory belongs to the value alone; the driver takes calls from any thread.
unsafe impl Send for Pinned {}

impl Gpu {
    /// Memory of this many bytes, all zero.
    ///
    /// # Errors
    /// When there is not that much.
    pub fn memory(&self, bytes: usize) -> Result<Memory, Error> {
        let memory = self.reserve(bytes)?;
        // SAFETY: the memory was reserved with this size.
        unsafe { result::memset_d8_sync(memory.address, 0, bytes) }
            .map_err(failed("clearing memory of the GPU"))?;
        Ok(memory)
    }

    /// Memory of this many bytes, with anything in it.
    ///
    /// # Errors
    /// When there is not that much.
    pub fn reserve(&self, bytes: usize) -> Result<Memory, Error> {
        self.bind()?;
        // SAFETY: the context is bound.
        let address = unsafe { result::malloc_sync(bytes) }
            .map_err(failed(format!("reserving {bytes} bytes of GPU memory")))?;
        Ok(Memory { address, bytes, gpu: self.clone() })
    }

    /// Page-locked memory of this many bytes, with anything in it.
    ///
    /// # Errors
    /// When there is not that much.
    pub fn pinned(&self, bytes: usize) -> Result<Pinned, Error> {
        self.bind()?;
        // Copies to and from all GPUs are fast.
        let portable = sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: the context is bound.
        let address = unsafe { result::malloc_host(bytes, portable) }
            .map_err(failed(format!("reserving {bytes} bytes of page-locked memory")))?;
        Ok(Pinned { address: address.cast(), bytes, gpu: self.clone() })
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

    pub(crate) fn fits(&self, bytes: usize) -> Result<(), Error> {
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
            // SAFETY: reserved by `Gpu::reserve`, freed once. The driver waits for what uses it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

impl Pinned {
    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Values from byte `at` on.
    ///
    /// # Safety
    /// Every pattern of bits must be a value of `V`.
    ///
    /// # Panics
    /// Values that do not lie in the memory, or are not aligned.
    pub unsafe fn values<V: Copy>(&mut self, at: usize, count: usize) -> &mut [V] {
        assert!(at + count * size_of::<V>() <= self.bytes, "an array outside of its memory");
        assert!(at.is_multiple_of(align_of::<V>()), "an array that is not aligned");
        // SAFETY: inside the allocation, which begins on a page and which nobody else holds; the caller's
        // promise.
        unsafe { std::slice::from_raw_parts_mut(self.address.add(at).cast(), count) }
    }

    pub(crate) fn part(&mut self, bytes: Range<usize>) -> &mut [u8] {
        // SAFETY: every byte is a value.
        unsafe { self.values(bytes.start, bytes.len()) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: reserved by `Gpu::pinned`, freed once; who copies waits before it goes.
            let _ = unsafe { result::free_host(self.address.cast()) };
        }
    }
}
