//! Memory of fields and of threads.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Bytes of what should stay in the second-level cache of a core: `most`, or five eighths of the
/// cache where the system says that it is so small.
pub(crate) fn within_second_level(most: usize) -> usize {
    static CACHE: OnceLock<usize> = OnceLock::new();
    let cache = *CACHE.get_or_init(|| second_level_cache().unwrap_or(usize::MAX));
    most.min(cache / 8 * 5)
}

/// As Linux says it: `512K`.
fn second_level_cache() -> Option<usize> {
    let size = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size").ok()?;
    let kibibytes: usize = size.trim().strip_suffix('K')?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Numbers that begin on a cache line: packs that straddle two of them cost twice.
#[derive(Debug)]
pub(crate) struct Lined<T> {
    values: Vec<T>,
    head: usize,
    len: usize,
}

impl<T: Copy> Lined<T> {
    pub(crate) fn new(value: T, len: usize) -> Lined<T> {
        let line = LINE / size_of::<T>();
        let values = vec![value; len + line];
        let head = values.as_ptr().align_offset(LINE).min(line);
        Lined { values, head, len }
    }
}

impl<T> Deref for Lined<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.values[self.head..self.head + self.len]
    }
}

impl<T> DerefMut for Lined<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[self.head..self.head + self.len]
    }
}

/// Asks for large pages for memory that has not been touched yet: walks through page tables else
/// cost a tenth to a third of a sweep. Where there are none nothing happens.
pub(crate) fn ask_for_large_pages<T>(memory: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        /// `MADV_HUGEPAGE` of Linux.
        const HUGE: i32 = 14;
        const PAGE: usize = 2 << 20;
        unsafe extern "C" {
            fn madvise(address: *mut u8, length: usize, advice: i32) -> i32;
        }
        let first = memory.as_mut_ptr().addr().next_multiple_of(PAGE);
        let end = memory.as_ptr().addr() + memory.capacity() * size_of::<T>();
        if first + PAGE <= end {
            let length = (end - first) / PAGE * PAGE;
            let address = memory.as_mut_ptr().cast::<u8>();
            let address = address.wrapping_add(first - address.addr());
            // SAFETY: whole pages within an allocation of ours; the advice changes no content.
            unsafe { madvise(address, length, HUGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
