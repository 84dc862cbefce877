//! Memory of the host device.

use super::Host;
use crate::memory::{check_fit, checked_place};
use odeum_core::Error;

/// What memory holds that nobody has written: large numbers, in either precision. After what is no number
/// integrations go back and take smaller steps, and would hide it.
const UNWRITTEN: u128 = u128::from_ne_bytes([0x41; 16]);

/// Words on either side of memory that nobody may write.
const MARGIN: usize = 64;

/// Memory that stands for that of a GPU.
pub struct Memory {
    /// Words, so that every type is aligned, between margins.
    words: Vec<u128>,
    bytes: usize,
    host: Host,
}

/// Memory that stands for page-locked memory.
pub struct Pinned {
    words: Vec<u128>,
    bytes: usize,
    host: Host,
}

fn unwritten(bytes: usize) -> Vec<u128> {
    vec![UNWRITTEN; bytes.div_ceil(size_of::<u128>())]
}

impl Memory {
    pub(super) fn new(host: &Host, bytes: usize) -> Result<Memory, Error> {
        host.take(bytes)?;
        let words = unwritten(bytes + 2 * MARGIN * size_of::<u128>());
        Ok(Memory { words, bytes, host: host.clone() })
    }

    /// Where bytes up to `end` are read from; an error where they do not lie in the memory.
    pub(super) fn place(&self, end: usize) -> Result<usize, Error> {
        check_fit(end, self.bytes)?;
        Ok(self.words[MARGIN..].as_ptr().expose_provenance())
    }

    /// Where they are written.
    pub(super) fn place_mut(&mut self, end: usize) -> Result<usize, Error> {
        check_fit(end, self.bytes)?;
        Ok(self.words[MARGIN..].as_mut_ptr().expose_provenance())
    }

    /// Whether the margins are as they were.
    fn is_kept_within(&self) -> bool {
        let (before, rest) = self.words.split_at(MARGIN);
        let after = &rest[self.bytes.div_ceil(size_of::<u128>())..];
        before.iter().chain(after).all(|word| *word == UNWRITTEN)
    }
}

impl crate::memory::Memory for Memory {
    fn address(&self) -> u64 {
        self.words[MARGIN..].as_ptr().expose_provenance() as u64
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Memory {
    /// # Panics
    /// If a kernel wrote beyond the memory: from its results one would rarely see that.
    fn drop(&mut self) {
        self.host.schedule().finish();
        self.host.give_back(self.bytes);
        let kept = std::thread::panicking() || self.is_kept_within();
        assert!(kept, "a kernel wrote beyond the {} bytes of a memory", self.bytes);
    }
}

impl Pinned {
    pub(super) fn new(host: &Host, bytes: usize) -> Pinned {
        let words = unwritten(bytes);
        host.lock_pages(words.as_ptr().addr(), bytes);
        Pinned { words, bytes, host: host.clone() }
    }

    pub(super) fn place(&mut self) -> usize {
        self.words.as_mut_ptr().expose_provenance()
    }
}

impl crate::memory::Pinned for Pinned {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn address(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    unsafe fn values<V: Copy>(&mut self, at: usize, count: usize) -> &mut [V] {
        let place = checked_place::<V>(at, count, self.bytes);
        // SAFETY: inside the allocation, which is aligned to 16 bytes; the caller's promise.
        unsafe {
            let first = self.words.as_mut_ptr().cast::<u8>().add(place).cast();
            std::slice::from_raw_parts_mut(first, count)
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.host.schedule().finish();
        self.host.unlock_pages(self.words.as_ptr().addr());
    }
}
