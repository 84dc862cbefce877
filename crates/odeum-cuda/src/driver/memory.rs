//! Memory of GPUs, and page-locked memory of this computer.

use super::gpu::Gpu;
use crate::device::Device;
use crate::library::failed;
use crate::memory::{check_fit, checked_place, too_little_memory};
use cudarc::driver::{DriverError, result, sys};
use odeum_core::Error;
use std::ffi::c_void;
use std::ops::Range;

/// Memory of a GPU, freed when dropped.
pub struct Memory {
    pub(super) address: sys::CUdeviceptr,
    bytes: usize,
    pub(super) gpu: Gpu,
}

/// Page-locked memory of this computer, which GPUs read and write by themselves; freed when dropped.
pub struct Pinned {
    address: *mut u8,
    bytes: usize,
    gpu: Gpu,
}

// SAFETY: the memory belongs to the value alone; the driver takes calls from any thread.
unsafe impl Send for Pinned {}

impl Memory {
    pub(super) fn zeroed(gpu: &Gpu, bytes: usize) -> Result<Memory, Error> {
        let memory = Memory::reserve(gpu, bytes)?;
        let stream = result::stream::null();
        // SAFETY: the memory was reserved with this size. The driver returns before it is cleared, and other streams do not wait for
        // that: who gets the memory would have numbers cleared that have been written meanwhile.
        unsafe {
            result::memset_d8_async(memory.address, 0, bytes, stream)
                .and_then(|()| result::stream::synchronize(stream))
        }
        .map_err(failed("clearing memory of the GPU"))?;
        Ok(memory)
    }

    pub(super) fn reserve(gpu: &Gpu, bytes: usize) -> Result<Memory, Error> {
        gpu.bind()?;
        // SAFETY: the context is bound.
        let address = unsafe { result::malloc_sync(bytes) }.map_err(|error| {
            let free = || result::mem_get_info().ok().map(|(free, _)| free);
            not_reserved(gpu, &format!("{bytes} bytes"), free, error)
        })?;
        Ok(Memory { address, bytes, gpu: gpu.clone() })
    }

    /// Refuses what ends behind the memory, and binds its GPU.
    pub(super) fn fits(&self, end: usize) -> Result<(), Error> {
        self.gpu.bind()?;
        check_fit(end, self.bytes)
    }
}

impl crate::memory::Memory for Memory {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: reserved by `Memory::reserve`, freed once. The driver waits for what uses it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

impl Pinned {
    pub(super) fn new(gpu: &Gpu, bytes: usize) -> Result<Pinned, Error> {
        gpu.bind()?;
        // Copies to and from all GPUs are fast.
        let portable = sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: the context is bound.
        let address = unsafe { result::malloc_host(bytes, portable) }.map_err(|error| {
            let wanted = format!("{bytes} bytes of page-locked memory of this computer");
            not_reserved(gpu, &wanted, || None, error)
        })?;
        Ok(Pinned { address: address.cast(), bytes, gpu: gpu.clone() })
    }

    pub(super) fn part(&mut self, bytes: Range<usize>) -> &mut [u8] {
        // SAFETY: every byte is a value.
        unsafe { crate::memory::Pinned::values(self, bytes.start, bytes.len()) }
    }
}

/// An error for memory that the driver does not give, and what of its kind is free.
fn not_reserved(
    gpu: &Gpu,
    wanted: &str,
    free: impl FnOnce() -> Option<usize>,
    error: DriverError,
) -> Error {
    if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        return too_little_memory(gpu.name(), &format!("{wanted} are wanted"), free());
    }
    failed(format!("reserving {wanted} for {}", gpu.name()))(error)
}

/// Whether so many bytes from an address on lie in one piece of page-locked memory.
pub(super) fn is_page_locked(gpu: &Gpu, address: *const u8, bytes: usize) -> bool {
    let Some(last) = bytes.checked_sub(1).map(|last| address.wrapping_add(last)) else {
        return false;
    };
    if gpu.bind().is_err() {
        return false;
    }
    let piece = |address: *const u8| {
        let (mut kind, mut piece) = (0_u32, 0_u64);
        let mut attributes = [
            sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID,
        ];
        let mut values = [(&raw mut kind).cast::<c_void>(), (&raw mut piece).cast()];
        // SAFETY: the values are of the types of these two. The driver reads no memory at the address; of one that it does not know it
        // says zero.
        let asked = unsafe {
            let place = address as sys::CUdeviceptr;
            sys::cuPointerGetAttributes(2, attributes.as_mut_ptr(), values.as_mut_ptr(), place)
        };
        let is_host = kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32;
        (asked.result().is_ok() && is_host).then_some(piece)
    };
    let first = piece(address);
    first.is_some() && first == piece(last)
}

impl crate::memory::Pinned for Pinned {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn address(&mut self) -> *mut u8 {
        self.address
    }

    unsafe fn values<V: Copy>(&mut self, at: usize, count: usize) -> &mut [V] {
        let place = checked_place::<V>(at, count, self.bytes);
        // SAFETY: inside the allocation, which begins on a page and which nobody else holds; the caller's
        // promise.
        unsafe { std::slice::from_raw_parts_mut(self.address.add(place).cast(), count) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: reserved by `Pinned::new`, freed once; who copies waits before it goes.
            let _ = unsafe { result::free_host(self.address.cast()) };
        }
    }
}
