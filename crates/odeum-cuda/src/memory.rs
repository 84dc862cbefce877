//! Memory of devices, and page-locked memory of this computer.

use odeum_core::Error;

/// Memory of a device, freed when dropped, after all work that was given before.
pub trait Memory: Send + Sync + 'static {
    /// Where it begins, as an argument of kernels.
    fn address(&self) -> u64;

    /// Its size.
    fn bytes(&self) -> usize;
}

/// Page-locked memory of this computer, which devices read and write by themselves; freed when dropped.
pub trait Pinned: Send + 'static {
    /// Its size.
    fn bytes(&self) -> usize;

    /// Where it begins.
    fn address(&mut self) -> *mut u8;

    /// Values from byte `at` on.
    ///
    /// # Safety
    /// Every pattern of bits must be a value of `V`.
    ///
    /// # Panics
    /// Values that do not lie in the memory, or are not aligned.
    unsafe fn values<V: Copy>(&mut self, at: usize, count: usize) -> &mut [V];
}

/// What helps where there is too little memory.
const REMEDY: &str =
    "take fewer systems at a time or a smaller field, another GPU, or the CPU (device = \"cpu\")";

/// An error for a device that has too little memory: what was wanted, in words, and what is free \[bytes\].
pub fn too_little_memory(device: String, wanted: &str, free: Option<usize>) -> Error {
    let free = free.map_or_else(String::new, |free| format!(", {free} are free"));
    let reason = format!("not enough memory: {wanted}{free}");
    Error::Device { device, reason, remedy: REMEDY.to_owned() }
}

/// Refuses values that end behind memory of so many bytes.
pub(crate) fn check_fit(end: usize, memory: usize) -> Result<(), Error> {
    if end <= memory {
        return Ok(());
    }
    let remedy = format!("the memory has {memory} bytes");
    Err(Error::input("values", format!("{end} bytes"), remedy))
}

/// Where values of page-locked memory begin, counted from its address.
///
/// # Panics
/// Values that do not lie in memory of so many bytes, or are not aligned.
pub(crate) fn checked_place<V>(at: usize, count: usize, memory: usize) -> usize {
    assert!(at + count * size_of::<V>() <= memory, "an array outside of its memory");
    assert!(at.is_multiple_of(align_of::<V>()), "an array that is not aligned");
    at
}
