//! A file on a memory disk, as memory that several threads write to at once.
//!
//! File systems let no two threads write to one file at the same time. On a memory disk a write is nothing but a copy, which
//! one thread does at a fraction of the speed of memory. Files on other disks are written.

use std::fs::File;

/// The bytes of a file that has room for all of them.
#[cfg(target_os = "linux")]
pub(crate) struct Mapped(memmap2::MmapRaw);

#[cfg(target_os = "linux")]
impl Mapped {
    /// So many bytes of a file that has them, and that nobody else has; `None` unless they lie in memory.
    pub(super) fn of(file: &File, length: i64) -> Option<Mapped> {
        use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};
        if fstatfs(file).ok()?.filesystem_type() != TMPFS_MAGIC {
            return None;
        }
        let map =
            memmap2::MmapOptions::new().len(usize::try_from(length).ok()?).map_raw(file).ok()?;
        Some(Mapped(map))
    }

    /// Copies bytes to a place; false where the place is not there.
    ///
    /// # Safety
    /// Nobody else writes there at the same time, and the file is not shortened before the last call.
    pub(crate) unsafe fn put(&self, at: u64, bytes: &[u8]) -> bool {
        let Ok(at) = usize::try_from(at) else { return false };
        if at.checked_add(bytes.len()).is_none_or(|end| end > self.0.len()) {
            return false;
        }
        // SAFETY: inside the map, which no reference points to; that the pages behind it are there, and that nobody
        // else writes to them, is the caller's word.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.as_mut_ptr().add(at), bytes.len())
        };
        true
    }
}

// Elsewhere every file is written.

#[cfg(not(target_os = "linux"))]
pub(crate) enum Mapped {}

#[cfg(not(target_os = "linux"))]
impl Mapped {
    pub(super) fn of(_: &File, _: i64) -> Option<Mapped> {
        None
    }

    /// # Safety
    /// None is needed: there is none.
    pub(crate) unsafe fn put(&self, _: u64, _: &[u8]) -> bool {
        match *self {}
    }
}
