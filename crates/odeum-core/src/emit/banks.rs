//! In what order threads read shared memory.
//!
//! Shared memory has 32 banks of four bytes. What the threads of a warp read at once takes a pass for every 128 bytes that they
//! want: 32 threads numbers of four bytes, 16 those of eight, 8 those of sixteen. It takes more where two of these threads want
//! different numbers of one bank (CUDA C++ Programming Guide, *Shared Memory*). Threads that sum lists may take the terms of
//! their lists in any order, so they take them in one of few passes.

/// Threads that read at once.
const WARP: usize = 32;

/// Bytes of a pass.
const PASS: usize = 128;

/// Searches for fewer passes end after so many turns through all terms.
const TURNS: usize = 6;

/// A term is exchanged with so many that follow it.
const REACH: usize = 32;

/// Orders the lists of the threads of a group, all of one length, of which every thread takes a term at a time, so that few of
/// them read the same bank at once. Of a term each thread reads K numbers, of so many `bytes` each, at `places` counted in
/// such numbers.
pub fn spread<T: Copy, const K: usize>(
    lists: &mut [Vec<T>],
    bytes: [usize; K],
    places: impl Fn(T) -> [u32; K],
) {
    for warp in lists.chunks_mut(WARP) {
        let length = warp.iter().map(Vec::len).min().unwrap_or(0);
        if length < 2 {
            continue;
        }
        let mut reads: [Reads; K] = std::array::from_fn(|k| {
            let of = |list: &Vec<T>| list[..length].iter().map(|&term| places(term)[k]).collect();
            Reads::new(bytes[k], &warp.iter().map(of).collect::<Vec<Vec<u32>>>())
        });
        for _ in 0..TURNS {
            let mut found = false;
            for (thread, list) in warp.iter_mut().enumerate() {
                found |= turn(list, &mut reads, thread, length);
            }
            if !found {
                break;
            }
        }
    }
}

/// Exchanges terms of a thread as long as that helps; whether it did.
fn turn<T>(list: &mut [T], reads: &mut [Reads], thread: usize, length: usize) -> bool {
    let mut found = false;
    for a in 0..length {
        for b in a + 1..length.min(a + 1 + REACH) {
            if reads.iter().map(|reads| reads.gain(thread, a, b)).sum::<i64>() > 0 {
                reads.iter_mut().for_each(|reads| reads.exchange(thread, a, b));
                list.swap(a, b);
                found = true;
            }
        }
    }
    found
}

/// The numbers of one kind that the threads of a warp read, one after the other.
struct Reads {
    /// Threads of a pass; as many banks.
    lanes: usize,
    /// Terms of a thread.
    length: usize,
    /// Places \[threads of a pass\]\[term\]\[thread among them\].
    places: Vec<u32>,
    /// How many numbers of each bank are wanted \[threads of a pass\]\[term\]\[bank\].
    wanted: Vec<u8>,
}

/// What a pass weighs against banks that are a little more even.
const PASS_WEIGHT: i64 = 256;

/// No thread.
const NONE: u32 = u32::MAX;

impl Reads {
    fn new(bytes: usize, lists: &[Vec<u32>]) -> Reads {
        let (lanes, length) = (PASS / bytes.clamp(4, PASS), lists[0].len());
        let numbers = lists.len().div_ceil(lanes) * length * lanes;
        let mut reads =
            Reads { lanes, length, places: vec![NONE; numbers], wanted: vec![0; numbers] };
        for (thread, list) in lists.iter().enumerate() {
            for (term, &place) in list.iter().enumerate() {
                reads.put(thread, term, place);
            }
        }
        reads
    }

    /// Where the row of a term begins.
    fn row(&self, thread: usize, term: usize) -> usize {
        (thread / self.lanes * self.length + term) * self.lanes
    }

    fn place(&self, thread: usize, term: usize) -> u32 {
        self.places[self.row(thread, term) + thread % self.lanes]
    }

    /// Threads that want the number at this place: they share it.
    fn sharers(&self, row: usize, place: u32) -> usize {
        self.places[row..][..self.lanes].iter().filter(|other| **other == place).count()
    }

    fn bank(&self, place: u32) -> usize {
        place as usize % self.lanes
    }

    fn put(&mut self, thread: usize, term: usize, place: u32) {
        let row = self.row(thread, term);
        let (bank, first) = (self.bank(place), self.sharers(row, place) == 0);
        self.wanted[row + bank] += u8::from(first);
        self.places[row + thread % self.lanes] = place;
    }

    fn take(&mut self, thread: usize, term: usize) -> u32 {
        let (row, place) = (self.row(thread, term), self.place(thread, term));
        let (bank, last) = (self.bank(place), self.sharers(row, place) == 1);
        self.wanted[row + bank] -= u8::from(last);
        self.places[row + thread % self.lanes] = NONE;
        place
    }

    /// What costs less when a thread exchanges two terms.
    fn gain(&self, thread: usize, a: usize, b: usize) -> i64 {
        let (of_a, of_b) = (self.place(thread, a), self.place(thread, b));
        if of_a == of_b {
            return 0;
        }
        self.gain_of(self.row(thread, a), of_a, of_b)
            + self.gain_of(self.row(thread, b), of_b, of_a)
    }

    /// The same of one row, where a thread wants one place for the other.
    fn gain_of(&self, row: usize, old: u32, new: u32) -> i64 {
        let leaves = self.sharers(row, old) == 1;
        let comes = self.sharers(row, new) == 0;
        let before = &self.wanted[row..][..self.lanes];
        let mut after = [0; WARP];
        let after = &mut after[..self.lanes];
        after.copy_from_slice(before);
        after[self.bank(old)] -= u8::from(leaves);
        after[self.bank(new)] += u8::from(comes);
        cost(before) - cost(after)
    }

    fn exchange(&mut self, thread: usize, a: usize, b: usize) {
        let (of_a, of_b) = (self.take(thread, a), self.take(thread, b));
        self.put(thread, a, of_b);
        self.put(thread, b, of_a);
    }
}

/// Of a read that wants so many numbers of each bank: its passes, and where these are equal how even the banks are.
fn cost(wanted: &[u8]) -> i64 {
    let passes = wanted.iter().copied().max().unwrap_or(0);
    let squares: u32 = wanted.iter().map(|&numbers| u32::from(numbers) * u32::from(numbers)).sum();
    PASS_WEIGHT * i64::from(passes) + i64::from(squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The passes of a read of these places, by threads of one pass and as many banks.
    fn passes(places: impl Iterator<Item = u32>, banks: usize) -> usize {
        let different: std::collections::BTreeSet<u32> = places.collect();
        let wanted =
            |bank| different.iter().filter(|place| **place as usize % banks == bank).count();
        (0..banks).map(wanted).max().unwrap_or(0)
    }

    /// Passes that lists take, read in order.
    fn all_passes(lists: &[Vec<u32>], bytes: usize) -> usize {
        let lanes = PASS / bytes;
        let of = |threads: &[Vec<u32>]| -> usize {
            let read = |at: usize| passes(threads.iter().map(|list| list[at]), lanes);
            (0..lists[0].len()).map(read).sum()
        };
        lists.chunks(lanes).map(of).sum()
    }

    fn lists(threads: usize, length: usize, places: u32) -> Vec<Vec<u32>> {
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % places
        };
        (0..threads).map(|_| (0..length).map(|_| next()).collect()).collect()
    }

    #[test]
    fn lists_keep_their_terms_and_take_fewer_passes() {
        for (threads, length, bytes) in
            [(32, 24, 4), (32, 24, 8), (32, 24, 16), (128, 8, 8), (20, 9, 4)]
        {
            let before = lists(threads, length, 700);
            let mut after = before.clone();
            spread(&mut after, [bytes], |place| [place]);
            for (before, after) in before.iter().zip(&after) {
                let sorted = |list: &Vec<u32>| {
                    let mut list = list.clone();
                    list.sort_unstable();
                    list
                };
                assert_eq!(sorted(before), sorted(after));
            }
            let (before, after) = (all_passes(&before, bytes), all_passes(&after, bytes));
            println!(
                "{threads} threads, {length} terms of {bytes} bytes: {before}, then {after} passes"
            );
            assert!(3 * after < 2 * before, "{before} {after}");
        }
    }

    #[test]
    fn what_all_threads_read_costs_one_pass_and_one_bank_alone_many() {
        assert_eq!(passes([5; 32].into_iter(), 32), 1);
        assert_eq!(passes((0..32).map(|k| 32 * k), 32), 32);
        assert_eq!(passes(0..32, 32), 1);
        // Threads that begin with each other's terms.
        let mut lists: Vec<Vec<u32>> = (0..32).map(|_| (0..32).collect()).collect();
        lists
            .iter_mut()
            .enumerate()
            .for_each(|(k, list)| list.iter_mut().for_each(|x| *x += 32 * k as u32));
        assert_eq!(all_passes(&lists, 4), 32 * 32);
        spread(&mut lists, [4], |place| [place]);
        println!("{}", all_passes(&lists, 4));
        assert!(all_passes(&lists, 4) < 32 * 4);
    }

    /// Of two numbers of a term both count.
    #[test]
    fn all_numbers_of_a_term_count() {
        let of = |bytes: usize| lists(32, 16, 900 / bytes as u32);
        let (left, right) = (of(4), of(8));
        let pairs = left.iter().zip(&right).map(|(left, right)| {
            left.iter().copied().zip(right.iter().copied()).collect::<Vec<(u32, u32)>>()
        });
        let mut pairs: Vec<Vec<(u32, u32)>> = pairs.collect();
        spread(&mut pairs, [4, 8], |(left, right)| [left, right]);
        let side = |of: &dyn Fn(&(u32, u32)) -> u32| -> Vec<Vec<u32>> {
            pairs.iter().map(|list| list.iter().map(of).collect()).collect()
        };
        let after = [all_passes(&side(&|pair| pair.0), 4), all_passes(&side(&|pair| pair.1), 8)];
        let before = [all_passes(&left, 4), all_passes(&right, 8)];
        println!("{before:?}, then {after:?}");
        assert!(after[0] < before[0] && after[1] < before[1]);
    }
}
