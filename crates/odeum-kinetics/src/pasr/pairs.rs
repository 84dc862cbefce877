//! Which particles are neighbours: two at positions 2i and 2i + 1 of the list are a pair.

use odeum_core::random::SplitMix64;

/// Moves `count` pairs chosen at random to the end of the list, before the last `skip` of them;
/// half of those moved have their members exchanged.
pub(super) fn select(list: &mut [usize], count: usize, skip: usize, random: &mut SplitMix64) {
    let n = list.len() / 2;
    for i in 0..count.min(n.saturating_sub(skip)) {
        let left = n - skip - i;
        let pair = random.below(left);
        if random.coin() {
            list.swap(2 * pair, 2 * pair + 1);
        }
        let last = left - 1;
        list.swap(2 * pair, 2 * last);
        list.swap(2 * pair + 1, 2 * last + 1);
    }
}

/// Gives each of the last `count` pairs a member of the next of them, the last one of the first.
pub(super) fn rotate(list: &mut [usize], count: usize) {
    let n = list.len() / 2;
    let first = n.saturating_sub(count);
    for pair in first + 1..n {
        list.swap(2 * pair - 1, 2 * pair + 1);
    }
}

/// How many events a counter has come to after `more` of them, or none where these are fewer than
/// `least`; the rest stays, also a negative one.
pub(super) fn due(counter: &mut f64, more: f64, least: f64) -> usize {
    *counter += more;
    let whole = counter.round();
    if whole < least {
        return 0;
    }
    *counter -= whole;
    whole as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_keeps_pairs_and_those_before_it() {
        let mut random = SplitMix64::new(3);
        let mut list: Vec<usize> = (0..20).collect();
        for _ in 0..50 {
            let kept = list[14..].to_vec();
            select(&mut list, 4, 3, &mut random);
            assert_eq!(list[14..], kept);
            for pair in list.chunks(2) {
                assert_eq!(pair[0] / 2, pair[1] / 2);
            }
            let mut sorted = list.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..20));
        }
    }

    #[test]
    fn every_pair_is_selected_equally_often() {
        let mut random = SplitMix64::new(5);
        let mut counts = [0_i32; 10];
        for _ in 0..20_000 {
            let mut list: Vec<usize> = (0..20).collect();
            select(&mut list, 3, 2, &mut random);
            for pair in 5..8 {
                counts[list[2 * pair] / 2] += 1;
            }
        }
        assert_eq!(counts[8..], [0, 0]);
        // 3 of 8 pairs: 7500 ± 4 √(20000 · 3/8 · 5/8).
        assert!(counts[..8].iter().all(|n| (n - 7500).abs() < 280), "{counts:?}");
    }

    #[test]
    fn a_rotation_gives_every_pair_a_new_partner() {
        let mut list: Vec<usize> = (0..12).collect();
        rotate(&mut list, 4);
        assert_eq!(list, [0, 1, 2, 3, 4, 7, 6, 9, 8, 11, 10, 5]);
        rotate(&mut list, 1);
        rotate(&mut list, 0);
        assert_eq!(list[8..], [8, 11, 10, 5]);
    }

    #[test]
    fn more_than_there_is_takes_all() {
        let mut list: Vec<usize> = (0..4).collect();
        select(&mut list, 9, 1, &mut SplitMix64::new(0));
        rotate(&mut list, 9);
        select(&mut list, 1, 7, &mut SplitMix64::new(0));
        list.sort_unstable();
        assert_eq!(list, [0, 1, 2, 3]);
    }

    #[test]
    fn events_come_as_often_as_they_should() {
        let mut counter = 0.0;
        let events: Vec<usize> = (0..10).map(|_| due(&mut counter, 0.3, 1.0)).collect();
        assert_eq!(events.iter().sum::<usize>(), 3);
        assert!(events.iter().all(|n| *n <= 1) && counter.abs() < 1e-15);
    }

    #[test]
    fn events_that_come_in_twos_wait_for_one_another() {
        let mut counter = 0.0;
        let events: Vec<usize> = (0..200).map(|_| due(&mut counter, 0.3, 2.0)).collect();
        assert_eq!(events.iter().sum::<usize>(), 60);
        assert!(events.iter().all(|n| *n == 0 || *n == 2) && counter.abs() < 1e-12);
        assert_eq!(due(&mut counter, 2.6, 2.0), 3);
    }
}
