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
