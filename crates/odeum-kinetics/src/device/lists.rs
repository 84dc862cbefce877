//! Sums over sparse lists for the threads of a group, in rounds of equal length.
//!
//! A sum is a target and its terms. Targets are sorted by the number of their terms, so that the
//! threads of a round take about as many steps, and shorter lists are filled up with a term that
//! is zero. Two forms:
//!
//! - [`Long`]: a thread has one target at a time and reads four of its terms in a step;
//! - [`Short`]: a thread has four targets at a time and reads one term of each in a step.
//!
//! Tables are \[step\]\[thread\]\[4\]: the threads of a group read consecutive words.

use odeum_core::emit::{spread, with_ahead};
use std::collections::HashMap;
use std::ops::Range;

/// Terms, or targets, that a thread reads at once.
pub(super) const AT_ONCE: usize = 4;

/// Steps that device code reads before it takes them.
const AHEAD: usize = 2;

/// Terms of all steps, and of those that are read and never taken.
pub(super) fn with_steps_ahead<T: Copy + Default>(terms: &[T], width: usize) -> Vec<T> {
    with_ahead(terms, AHEAD * AT_ONCE * width)
}

/// First step and number of steps of all rounds, and of one that is read and never taken.
pub(super) fn rounds_with_ahead(rounds: &[[u32; 2]]) -> Vec<u32> {
    with_ahead(rounds.as_flattened(), 2)
}

/// What a thread reads of shared memory for a term: K numbers of so many bytes each, at places counted in such numbers.
pub(super) struct Reads<T, const K: usize> {
    pub(super) bytes: [usize; K],
    pub(super) places: fn(T) -> [u32; K],
}

/// A target and its terms.
pub(super) type Sum<T> = (u32, Vec<T>);

/// Sums of one target per thread.
#[derive(Clone, Debug)]
pub(super) struct Long<T> {
    width: usize,
    /// Target of each thread of each round.
    pub(super) targets: Vec<u32>,
    pub(super) terms: Vec<T>,
    /// First step of each round and number of its steps.
    pub(super) rounds: Vec<[u32; 2]>,
}

impl<T: Copy> Long<T> {
    pub(super) fn new(width: usize) -> Long<T> {
        Long { width, targets: Vec::new(), terms: Vec::new(), rounds: Vec::new() }
    }

    /// Adds sums, each of a target of its own, and gives their rounds. `unused` is a target that
    /// nobody reads, `zero` a term that is zero.
    pub(super) fn push<const K: usize>(
        &mut self,
        mut sums: Vec<Sum<T>>,
        unused: u32,
        zero: T,
        reads: &Reads<T, K>,
    ) -> Range<u32> {
        sums.sort_by_key(|(_, terms)| std::cmp::Reverse(terms.len()));
        let first = self.rounds.len() as u32;
        for round in sums.chunks(self.width) {
            let steps = round[0].1.len().div_ceil(AT_ONCE);
            let begin = self.terms.len() / (AT_ONCE * self.width);
            self.rounds.push([begin as u32, steps as u32]);
            self.targets.extend(round.iter().map(|(target, _)| *target));
            self.targets.extend(std::iter::repeat_n(unused, self.width - round.len()));
            let list = |thread: usize| {
                let mut list = round.get(thread).map_or(Vec::new(), |(_, terms)| terms.clone());
                list.resize(AT_ONCE * steps, zero);
                list
            };
            let mut lists: Vec<Vec<T>> = (0..self.width).map(list).collect();
            spread(&mut lists, reads.bytes, reads.places);
            for step in 0..steps {
                let own = lists.iter().flat_map(|list| &list[AT_ONCE * step..][..AT_ONCE]);
                self.terms.extend(own);
            }
        }
        first..self.rounds.len() as u32
    }
}

/// Sums of four targets per thread.
#[derive(Clone, Debug)]
pub(super) struct Short<T> {
    width: usize,
    /// Bytes of a target.
    target_bytes: usize,
    /// Targets of each thread of each round, four at a time.
    pub(super) targets: Vec<u32>,
    pub(super) terms: Vec<T>,
    /// First step of each round and number of its steps.
    pub(super) rounds: Vec<[u32; 2]>,
}

/// A part of a sum.
type Part<'a, T> = (u32, &'a [T]);

/// Parts of sums, of which a thread of a round takes four.
type Cells<'a, T> = Vec<Vec<Part<'a, T>>>;

/// Longest parts that are tried.
const LENGTHS: [usize; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 24];

/// A round of targets costs as much as so many steps.
const ROUND_COST: usize = 3;

impl<T: Copy> Short<T> {
    pub(super) fn new(width: usize, target_bytes: usize) -> Short<T> {
        Short { width, target_bytes, targets: Vec::new(), terms: Vec::new(), rounds: Vec::new() }
    }

    /// As [`Long::push`]. A long sum is split into parts, which all lie with one thread: it alone
    /// adds to the target, in a fixed order.
    pub(super) fn push<const K: usize>(
        &mut self,
        sums: &[Sum<T>],
        unused: u32,
        zero: T,
        reads: &Reads<T, K>,
    ) -> Range<u32> {
        let longest = sums.iter().map(|(_, terms)| terms.len()).max().unwrap_or(0);
        let lengths = LENGTHS.into_iter().filter(|length| *length < longest).chain([longest]);
        let arranged = lengths.map(|length| arrange(self.width, sums, length.max(1)));
        let first = self.rounds.len() as u32;
        let Some(best) = arranged.min_by_key(|rounds| cost(rounds)) else { return first..first };
        for round in &best {
            let steps = steps(round);
            let begin = self.terms.len() / (AT_ONCE * self.width);
            self.rounds.push([begin as u32, steps as u32]);
            let mut cells: Vec<Vec<Option<Part<'_, T>>>> = round
                .iter()
                .map(|own| (0..AT_ONCE).map(|i| own.get(i).copied()).collect())
                .collect();
            let target = |part: Option<Part<'_, T>>| part.map_or(unused, |(target, _)| target);
            spread(&mut cells, [self.target_bytes], |part| [target(part)]);
            self.targets.extend(cells.iter().flatten().map(|part| target(*part)));
            let list = |part: Option<Part<'_, T>>| {
                let mut list = part.map_or(Vec::new(), |(_, terms)| terms.to_vec());
                list.resize(steps, zero);
                list
            };
            let mut sides: Vec<Vec<Vec<T>>> =
                (0..AT_ONCE).map(|i| cells.iter().map(|own| list(own[i])).collect()).collect();
            sides.iter_mut().for_each(|lists| spread(lists, reads.bytes, reads.places));
            for step in 0..steps {
                for thread in 0..self.width {
                    self.terms.extend(sides.iter().map(|lists| lists[thread][step]));
                }
            }
        }
        first..self.rounds.len() as u32
    }
}

/// Steps of a round: the length of its longest part.
fn steps<T>(round: &Cells<'_, T>) -> usize {
    round.iter().flatten().map(|(_, terms)| terms.len()).max().unwrap_or(0)
}

fn cost<T>(rounds: &[Cells<'_, T>]) -> usize {
    rounds.iter().map(|round| steps(round) + ROUND_COST).sum()
}

/// Rounds of parts of at most `length` terms, the longest first.
fn arrange<T>(width: usize, sums: &[Sum<T>], length: usize) -> Vec<Cells<'_, T>> {
    let mut parts: Vec<(u32, &[T])> = Vec::new();
    for (target, terms) in sums {
        parts.extend(terms.chunks(length).map(|part| (*target, part)));
    }
    parts.sort_by_key(|(_, terms)| std::cmp::Reverse(terms.len()));
    let mut rounds: Vec<Cells<'_, T>> = Vec::new();
    let mut thread_of: HashMap<u32, usize> = HashMap::new();
    // Rounds before this one are full.
    let mut open = 0;
    for part in parts {
        let thread = thread_of.get(&part.0).copied();
        let free = |round: &Cells<'_, T>| match thread {
            Some(own) => (round[own].len() < AT_ONCE).then_some(own),
            None => least(round),
        };
        let found = (open..rounds.len()).find_map(|r| free(&rounds[r]).map(|thread| (r, thread)));
        let (r, thread) = found.unwrap_or_else(|| {
            rounds.push(vec![Vec::new(); width]);
            (rounds.len() - 1, thread.unwrap_or(0))
        });
        thread_of.insert(part.0, thread);
        rounds[r][thread].push(part);
        while rounds.get(open).is_some_and(|round| round.iter().all(|own| own.len() == AT_ONCE)) {
            open += 1;
        }
    }
    rounds
}

/// The thread with the fewest parts in a round, unless all are full.
fn least<T>(round: &Cells<'_, T>) -> Option<usize> {
    let thread = (0..round.len()).min_by_key(|thread| round[*thread].len())?;
    (round[thread].len() < AT_ONCE).then_some(thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS: Reads<u16, 1> = Reads { bytes: [8], places: |term| [u32::from(term)] };

    /// Sums of 1 to n over lists of all lengths, target by target.
    fn sums(targets: u32) -> Vec<Sum<u16>> {
        (0..targets).map(|t| (t, (1..=(t * t % 23) as u16).collect())).collect()
    }

    fn expected(sums: &[Sum<u16>], target: u32) -> u32 {
        sums.iter().filter(|s| s.0 == target).flat_map(|s| &s.1).map(|x| u32::from(*x)).sum()
    }

    #[test]
    fn long_lists_sum_all_terms_of_their_targets() {
        let mut long = Long::new(8);
        let sums = sums(30);
        let rounds = long.push(sums.clone(), 99, 0, &READS);
        assert_eq!(rounds, 0..4);
        let mut found = vec![0; 100];
        for (r, [first, steps]) in long.rounds.iter().enumerate() {
            for thread in 0..8 {
                let terms = (*first..first + steps)
                    .flat_map(|step| &long.terms[(step as usize * 8 + thread) * 4..][..4]);
                found[long.targets[r * 8 + thread] as usize] +=
                    terms.map(|x| u32::from(*x)).sum::<u32>();
            }
        }
        assert!((0..30).all(|t| found[t as usize] == expected(&sums, t)));
        assert_eq!(long.push(vec![(3, vec![7])], 99, 0, &READS), 4..5);
    }

    #[test]
    fn short_lists_keep_a_target_with_one_thread() {
        for width in [1, 8, 32] {
            let mut short = Short::new(width, 8);
            let sums = sums(70);
            short.push(&sums, 99, 0, &READS);
            let mut found = vec![0; 100];
            let mut threads: HashMap<u32, usize> = HashMap::new();
            for (r, [first, steps]) in short.rounds.iter().enumerate() {
                for cell in 0..width * 4 {
                    let target = short.targets[r * width * 4 + cell];
                    let terms =
                        (*first..first + steps).map(|s| short.terms[s as usize * width * 4 + cell]);
                    found[target as usize] += terms.map(u32::from).sum::<u32>();
                    assert!(target == 99 || *threads.entry(target).or_insert(cell / 4) == cell / 4);
                }
            }
            assert!((0..70).all(|t| found[t as usize] == expected(&sums, t)));
        }
    }
}
