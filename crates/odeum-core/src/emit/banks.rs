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
/// them read the same bank at once. Of a term each thread reads K numbers, of so many `bytes` each, a power of two, at `places` counted
/// in such numbers.
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
    /// Threads of a pass, a power of two; as many banks.
    lanes: usize,
    /// Its logarithm: what is counted here is counted millions of times.
    shift: u32,
    /// Terms of a thread.
    length: usize,
    /// Places \[threads of a pass\]\[term\]\[thread among them\].
    places: Vec<u32>,
    /// How many numbers of each bank are wanted \[threads of a pass\]\[term\]\[bank\].
    wanted: Vec<u8>,
    /// Passes \[threads of a pass\]\[term\]: numbers of the bank of which most are wanted; and of how many banks as many are.
    passes: Vec<(u8, u8)>,
}

/// What a pass weighs against banks that are a little more even.
const PASS_WEIGHT: i64 = 256;

/// No thread.
const NONE: u32 = u32::MAX;

impl Reads {
    fn new(bytes: usize, lists: &[Vec<u32>]) -> Reads {
        let (lanes, length) = (PASS / bytes.clamp(4, PASS).next_power_of_two(), lists[0].len());
        let shift = lanes.ilog2();
        let rows = lists.len().div_ceil(lanes) * length;
        let (places, wanted) = (vec![NONE; rows * lanes], vec![0; rows * lanes]);
        let mut reads = Reads { lanes, shift, length, places, wanted, passes: vec![(0, 0); rows] };
        for (thread, list) in lists.iter().enumerate() {
            for (term, &place) in list.iter().enumerate() {
                reads.put(thread, term, place);
            }
        }
        reads
    }

    /// Where the row of a term begins.
    fn row(&self, thread: usize, term: usize) -> usize {
        ((thread >> self.shift) * self.length + term) << self.shift
    }

    /// A thread among those of its pass.
    fn lane(&self, thread: usize) -> usize {
        thread & (self.lanes - 1)
    }

    fn place(&self, thread: usize, term: usize) -> u32 {
        self.places[self.row(thread, term) + self.lane(thread)]
    }

    /// Threads that want the number at this place: they share it.
    fn sharers(&self, row: usize, place: u32) -> u32 {
        self.places[row..][..self.lanes].iter().map(|other| u32::from(*other == place)).sum()
    }

    fn bank(&self, place: u32) -> usize {
        place as usize & (self.lanes - 1)
    }

    fn put(&mut self, thread: usize, term: usize, place: u32) {
        let row = self.row(thread, term);
        let (bank, lane) = (row + self.bank(place), row + self.lane(thread));
        self.wanted[bank] += u8::from(self.sharers(row, place) == 0);
        self.places[lane] = place;
        self.count_passes(row);
    }

    fn take(&mut self, thread: usize, term: usize) -> u32 {
        let (row, place) = (self.row(thread, term), self.place(thread, term));
        let (bank, lane) = (row + self.bank(place), row + self.lane(thread));
        self.wanted[bank] -= u8::from(self.sharers(row, place) == 1);
        self.places[lane] = NONE;
        self.count_passes(row);
        place
    }

    fn count_passes(&mut self, row: usize) {
        let wanted = &self.wanted[row..][..self.lanes];
        let most = wanted.iter().copied().max().unwrap_or(0);
        let banks = wanted.iter().filter(|numbers| **numbers == most).count();
        self.passes[row >> self.shift] = (most, banks as u8);
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

    /// The same of one row, where a thread wants one place for the other. A row costs its passes, and the sum of the squares of its
    /// numbers of each bank, which says where passes are equal how even the banks are.
    fn gain_of(&self, row: usize, old: u32, new: u32) -> i64 {
        let (from, to) = (row + self.bank(old), row + self.bank(new));
        let leaves = self.sharers(row, old) == 1;
        let comes = self.wanted[to] == 0 || self.sharers(row, new) == 0;
        if !leaves && !comes || from == to && leaves == comes {
            return 0;
        }
        let (most, banks) = self.passes[row >> self.shift];
        let [of_old, of_new] = [from, to].map(|bank| i64::from(self.wanted[bank]));
        let (most, leaves, comes) = (i64::from(most), i64::from(leaves), i64::from(comes));
        // One bank alone decides on the passes, and has fewer then.
        let fewer = of_old == most && banks == 1 && leaves > 0;
        let (passes, squares) = if from == to {
            (
                (most - i64::from(fewer)).max(of_old + comes - leaves),
                (comes - leaves) * (2 * of_old) + 1,
            )
        } else {
            let squares = comes * (2 * of_new + 1) - leaves * (2 * of_old - 1);
            ((most - i64::from(fewer)).max(of_new + comes), squares)
        };
        PASS_WEIGHT * (most - passes) - squares
    }

    fn exchange(&mut self, thread: usize, a: usize, b: usize) {
        let (of_a, of_b) = (self.take(thread, a), self.take(thread, b));
        self.put(thread, a, of_b);
        self.put(thread, b, of_a);
    }
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

    /// Passes of all rows, and the squares of their numbers of each bank.
    fn cost(reads: &Reads) -> i64 {
        let of_row = |wanted: &[u8]| {
            let passes = wanted.iter().copied().max().unwrap_or(0);
            let squares = wanted.iter().map(|&numbers| i64::from(numbers).pow(2));
            PASS_WEIGHT * i64::from(passes) + squares.sum::<i64>()
        };
        reads.wanted.chunks(reads.lanes).map(of_row).sum()
    }

    #[test]
    fn what_an_exchange_gains_is_what_it_costs_less() {
        let mut signs = [0; 3];
        // Of few places many are shared.
        for (bytes, places) in [(4, 700), (8, 50), (16, 9), (4, 3)] {
            let lists = lists(20, 8, places);
            let mut reads = Reads::new(bytes, &lists);
            for thread in 0..20 {
                for (a, b) in (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b))) {
                    let (gain, before) = (reads.gain(thread, a, b), cost(&reads));
                    reads.exchange(thread, a, b);
                    assert_eq!(gain, before - cost(&reads), "{thread} {a} {b}");
                    signs[(gain.signum() + 1) as usize] += 1;
                }
            }
        }
        assert!(signs.iter().all(|count| *count > 100), "{signs:?}");
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
