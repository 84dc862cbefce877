//! How the batches of a device are cut into parts, each with a launch of its own.

use std::ops::Range;

/// How large parts are, at most so many, beside each other. A small first one lets the GPU begin early, and little is left
/// to download after a small last one; more let copies overlap better, fewer fill the GPU better.
const PARTS: [usize; 6] = [1, 2, 3, 3, 2, 1];
/// Batches of a part at least: the end of each leaves some of the GPU idle.
const LEAST_BATCHES: usize = 4;

/// The batches of each part, of so many.
pub(super) fn batch_parts(batches: usize) -> Vec<Range<usize>> {
    let (all, mut sum, mut parts) = (PARTS.iter().sum::<usize>(), 0, Vec::<Range<usize>>::new());
    for size in PARTS {
        sum += size;
        let start = parts.last().map_or(0, |part| part.end);
        let end = (batches * sum).div_ceil(all).max(start + LEAST_BATCHES);
        // No part has fewer.
        let end = if end + LEAST_BATCHES > batches { batches } else { end };
        if start < end {
            parts.push(start..end);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{LEAST_BATCHES, batch_parts};

    #[test]
    fn parts_have_all_batches_and_none_has_few() {
        for batches in 1..300 {
            let parts = batch_parts(batches);
            assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, batches));
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            let least = LEAST_BATCHES.min(batches);
            assert!(parts.iter().all(|part| part.len() >= least), "{batches}: {parts:?}");
        }
        assert_eq!(batch_parts(9), vec![0..4, 4..9]);
        assert_eq!(batch_parts(196), vec![0..17, 17..49, 49..98, 98..147, 147..180, 180..196]);
    }
}
