//! Memory of large arrays.

use std::alloc::{Layout, alloc_zeroed};

/// Plain numbers, of which one has all bits zero.
///
/// # Safety
/// All bits zero are a value of the type, and every bit of a value is one of its numbers'.
pub unsafe trait Zeroable: Copy {}

// SAFETY: all bits zero are the number zero.
unsafe impl Zeroable for f32 {}
// SAFETY: as above.
unsafe impl Zeroable for f64 {}
// SAFETY: as above.
unsafe impl Zeroable for u32 {}
// SAFETY: one of each of them.
unsafe impl<T: Zeroable, const N: usize> Zeroable for [T; N] {}

/// So many zeros, in memory that the system clears when it is first touched: by the thread that fills
/// it, not by the one that asks for it; on large pages where the system has such. `None` where there is not so
/// much memory.
///
/// The first write to a page costs more than the copy of it, and walks through page tables a tenth to a
/// third of a sweep; large pages are 512 times fewer.
#[must_use]
pub fn zeros<T: Zeroable>(len: usize) -> Option<Vec<T>> {
    let layout = Layout::array::<T>(len).ok()?;
    if layout.size() == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the size is not zero.
    let address = unsafe { alloc_zeroed(layout) };
    if address.is_null() {
        return None;
    }
    ask_for_large_pages(address, layout.size());
    // SAFETY: allocated with the layout of a vector of this capacity; all bits zero are a value.
    Some(unsafe { Vec::from_raw_parts(address.cast::<T>(), len, len) })
}

/// Copies values past the caches, where the CPU can, for whom others read: a store into a cache first reads what it overwrites,
/// which here nobody needs.
///
/// # Panics
/// Slices of different lengths.
pub fn copy_past_caches<T: Zeroable>(from: &[T], to: &mut [T]) {
    assert_eq!(from.len(), to.len(), "as many values as there is room for");
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        // SAFETY: a pack has any pattern of bits, and what is written here in packs are whole values again, those of `from`.
        let (head, packs, tail) = unsafe { to.align_to_mut::<__m128i>() };
        let (begin, end) = (head.len(), from.len() - tail.len());
        head.copy_from_slice(&from[..begin]);
        let first = from[begin..end].as_ptr().cast::<__m128i>();
        for (k, pack) in packs.iter_mut().enumerate() {
            // SAFETY: as many packs of bits lie from `begin` to `end`; a pack of `packs` is aligned. Every x86-64 CPU has these.
            unsafe { _mm_stream_si128(pack, _mm_loadu_si128(first.add(k))) };
        }
        tail.copy_from_slice(&from[end..]);
        // SAFETY: as above. Whoever is told of the numbers after this sees them.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

/// Asks for large pages for memory that has not been touched yet. Where there are none nothing happens.
fn ask_for_large_pages(memory: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        /// `MADV_HUGEPAGE` of Linux.
        const HUGE: i32 = 14;
        const PAGE: usize = 2 << 20;
        unsafe extern "C" {
            fn madvise(address: *mut u8, length: usize, advice: i32) -> i32;
        }
        let first = memory.addr().next_multiple_of(PAGE);
        let end = memory.addr() + bytes;
        if first + PAGE <= end {
            let length = (end - first) / PAGE * PAGE;
            let address = memory.wrapping_add(first - memory.addr());
            // SAFETY: whole pages within an allocation of ours; the advice changes no content.
            unsafe { madvise(address, length, HUGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, bytes);
}

#[cfg(test)]
mod tests {
    use super::{copy_past_caches, zeros};

    #[test]
    fn copies_are_whole_wherever_they_begin() {
        let from: Vec<f32> = (0..100).map(|k| k as f32).collect();
        for (begin, len) in (0..9).flat_map(|begin| [0, 1, 3, 4, 31, 80].map(|len| (begin, len))) {
            let mut to = vec![-1.0; 100];
            copy_past_caches(&from[5..5 + len], &mut to[begin..begin + len]);
            let copied = |k: usize| (begin..begin + len).contains(&k).then(|| from[5 + k - begin]);
            assert!((0..100).all(|k| to[k] == copied(k).unwrap_or(-1.0)), "{begin} {len}");
        }
    }

    #[test]
    fn any_number_of_zeros_can_be_had() {
        // Less than a large page, and parts of several.
        for len in [0, 1, 1000, (5 << 20) / 8 + 3] {
            let mut values = zeros::<f64>(len).unwrap();
            assert!(values.len() == len && values.iter().all(|value| *value == 0.0));
            values.extend([1.0; 10]);
            assert_eq!(values.len(), len + 10);
        }
        assert!(zeros::<f32>(usize::MAX / 2).is_none());
    }
}
