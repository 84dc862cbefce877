//! Arrays in page-locked memory.

use odeum_core::Error;
use odeum_core::memory::Zeroable;
use odeum_cuda::{Device, Gpu, Pinned};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Numbers in page-locked memory of this computer, which GPUs read and write without help of the CPU.
///
/// [`Solver::solve_into`](crate::Solver::solve_into) by a stiff method recognises such memory, whoever reserved it: of states and
/// parameters, and of end states, times, saved states and counts, arrays in which the systems follow each other travel between here and the
/// GPU as they are; all others, and ensembles of which all systems begin at once, are copied on their way. It is slow to reserve,
/// and lost to other programs, so it pays for arrays that many calls use.
///
/// ```no_run
/// use odeum_ode::gpu::PageLocked;
///
/// let mut states = PageLocked::<f64>::zeros(0, 10 * 1_000_000)?;
/// states[..1_000_000].fill(1200.0);
/// # Ok::<(), odeum_ode::Error>(())
/// ```
pub struct PageLocked<T> {
    first: *mut T,
    len: usize,
    _memory: <Gpu as Device>::Pinned,
    _numbers: PhantomData<T>,
}

// SAFETY: it owns the numbers, as a vector does.
unsafe impl<T: Send> Send for PageLocked<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for PageLocked<T> {}

impl<T: Zeroable> PageLocked<T> {
    /// So many zeros, reserved by the driver of the GPU of this number, for all GPUs.
    ///
    /// # Errors
    /// No such GPU, or not so much memory.
    pub fn zeros(ordinal: usize, len: usize) -> Result<PageLocked<T>, Error> {
        let bytes = len
            .checked_mul(size_of::<T>())
            .ok_or_else(|| Error::input("len", len, "there is no memory for so many numbers"))?;
        // Nothing cannot be reserved.
        let mut memory = Gpu::open(ordinal)?.pinned(bytes.max(1))?;
        let first = memory.address();
        // SAFETY: so many bytes lie there, and are nobody else's.
        unsafe { first.write_bytes(0, bytes) };
        Ok(PageLocked { first: first.cast(), len, _memory: memory, _numbers: PhantomData })
    }
}

impl<T> Deref for PageLocked<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many numbers lie there, from zeros on, as long as the memory; it begins on a page.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

impl<T> DerefMut for PageLocked<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.len) }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for PageLocked<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}
