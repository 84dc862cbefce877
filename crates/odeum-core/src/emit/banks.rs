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

/// Longer lists stay as they are: a turn takes the square of their length.
const LONGEST: usize = 256;

/// What a pass more weighs against banks that are a little more equal.
const PASS_WEIGHT: u32 = 256;

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
        if length > LONGEST {
            continue;
        }
        let mut reads = Reads {
            lanes: bytes.map(|bytes| PASS / bytes.clamp(4, PASS)),
            places: warp
                .iter()
                .map(|list| list.iter().map(|&term| places(term)).collect())
                .collect(),
        };
        for _ in 0..TURNS {
            let mut found = false;
            for thread in 0..warp.len() {
                found |= turn(&mut warp[thread], &mut reads, thread, length);
            }
            if !found {
                break;
            }
        }
    }
}

/// Exchanges terms of a thread as long as that helps; whether it did.
fn turn<T, const K: usize>(
    list: &mut [T],
    reads: &mut Reads<K>,
    thread: usize,
    length: usize,
) -> bool {
    let mut found = false;
    for a in 0..length {
        for b in a + 1..length {
            if reads.places[thread][a] == reads.places[thread][b] {
                continue;
            }
            let before = reads.cost(thread, a) + reads.cost(thread, b);
            reads.places[thread].swap(a, b);
            if reads.cost(thread, a) + reads.cost(thread, b) < before {
                list.swap(a, b);
                found = true;
            } else {
                reads.places[thread].swap(a, b);
            }
        }
    }
    found
}

/// What the threads of a warp read, one after the other.
struct Reads<const K: usize> {
    /// Threads of a pass; as many banks.
    lanes: [usize; K],
    places: Vec<Vec<[u32; K]>>,
}

impl<const K: usize> Reads<K> {
    /// What the reads number `at` cost that share passes with this thread's.
    fn cost(&self, thread: usize, at: usize) -> u32 {
        let of = |k: usize| {
            let lanes = self.lanes[k];
            let first = thread / lanes * lanes;
            let threads = &self.places[first..(first + lanes).min(self.places.len())];
            let (passes, squares) = passes(threads.iter().map(|list| list[at][k]), lanes);
            PASS_WEIGHT * passes + squares
        };
        (0..K).map(of).sum()
    }
}

/// The passes of a read of these places, by threads of one pass and as many banks; and the sum of the squares of the numbers that
/// are wanted of each bank.
fn passes(places: impl Iterator<Item = u32>, banks: usize) -> (u32, u32) {
    let mut all = [0; WARP];
    let mut wanted = [0_u32; WARP];
    let mut count = 0;
    for place in places {
        // Threads that want the same number share it.
        if !all[..count].contains(&place) {
            all[count] = place;
            count += 1;
            wanted[place as usize % banks] += 1;
        }
    }
    let passes = wanted.iter().copied().max().unwrap_or(0);
    (passes, wanted.iter().map(|numbers| numbers * numbers).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes that lists take, read in order.
    fn all_passes(lists: &[Vec<u32>], bytes: usize) -> u32 {
        let lanes = PASS / bytes;
        let of = |threads: &[Vec<u32>]| -> u32 {
            let read = |at: usize| passes(threads.iter().map(|list| list[at]), lanes).0;
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
        assert_eq!(passes([5; 32].into_iter(), 32).0, 1);
        assert_eq!(passes((0..32).map(|k| 32 * k), 32).0, 32);
        assert_eq!(passes(0..32, 32).0, 1);
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
