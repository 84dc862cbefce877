//! What the driver's management library (NVML) tells of GPUs without starting the driver.

use libloading::{Library, Symbol};
use std::ffi::{c_int, c_uint, c_void};

/// `nvmlMemory_t`, in bytes.
#[derive(Default)]
#[repr(C)]
struct MemoryInfo {
    total: u64,
    free: u64,
    used: u64,
}

type Init = unsafe extern "C" fn() -> c_int;
type Count = unsafe extern "C" fn(*mut c_uint) -> c_int;
type Handle = unsafe extern "C" fn(c_uint, *mut *mut c_void) -> c_int;
type Memory = unsafe extern "C" fn(*mut c_void, *mut MemoryInfo) -> c_int;

/// The free memory of that GPU of this computer which has least of it \[bytes\]; `None` where nobody tells.
pub fn least_free_memory() -> Option<u64> {
    let of_all: Option<Vec<u64>> =
        asked(|nvml, count| (0..count).map(|index| nvml.free(index)).collect())?;
    of_all?.into_iter().min()
}

/// The GPUs of this computer: the driver sees no more; `None` where nobody tells.
pub fn gpus_here() -> Option<usize> {
    asked(|_, count| usize::try_from(count).ok())?
}

/// Functions of the library.
struct Nvml<'a> {
    handle: Symbol<'a, Handle>,
    memory: Symbol<'a, Memory>,
}

impl Nvml<'_> {
    /// The free memory of a GPU \[bytes\]. The library is started.
    fn free(&self, index: c_uint) -> Option<u64> {
        let (mut gpu, mut info) = (std::ptr::null_mut(), MemoryInfo::default());
        // SAFETY: the pointers are to live values of these types.
        let told = unsafe {
            (self.handle)(index, &raw mut gpu) == 0 && (self.memory)(gpu, &raw mut info) == 0
        };
        told.then_some(info.free)
    }
}

/// What the library answers, once it is started, of so many GPUs.
fn asked<A>(question: impl FnOnce(&Nvml<'_>, c_uint) -> A) -> Option<A> {
    // SAFETY: the initialisers of the library are the driver's own.
    let library = unsafe { Library::new("libnvidia-ml.so.1") }.ok()?;
    // SAFETY: these functions have these types (NVML API reference, device queries).
    let (init, end, count, nvml) = unsafe {
        let init: Symbol<'_, Init> = library.get(b"nvmlInit_v2\0").ok()?;
        let end: Symbol<'_, Init> = library.get(b"nvmlShutdown\0").ok()?;
        let count: Symbol<'_, Count> = library.get(b"nvmlDeviceGetCount_v2\0").ok()?;
        let handle = library.get(b"nvmlDeviceGetHandleByIndex_v2\0").ok()?;
        let memory = library.get(b"nvmlDeviceGetMemoryInfo\0").ok()?;
        (init, end, count, Nvml { handle, memory })
    };
    // SAFETY: it takes nothing; what it begins is ended below.
    if unsafe { init() } != 0 {
        return None;
    }
    let mut gpus = 0;
    // SAFETY: the pointer is to a live integer.
    let counted = unsafe { count(&raw mut gpus) } == 0;
    let answer = counted.then(|| question(&nvml, gpus));
    // SAFETY: it takes nothing.
    unsafe { end() };
    answer
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_is_told_where_there_are_gpus() {
        // No more than any GPU has; nothing where there is no driver.
        let found = super::least_free_memory();
        assert!(found.is_none_or(|bytes| bytes < 1 << 45), "{found:?}");
        assert!(found.is_some() || crate::devices().is_err());
    }
}
