//! What the threads of a group do side by side: rounds in which each computes sums of products of its own.
//!
//! All threads of a round take the same number of steps, those with fewer terms with terms of zero; sums are sorted by
//! length, so that these are few.

use super::factors::Factors;
use odeum_core::emit::spread;

/// Sums, or terms of a sum, that a thread computes side by side: what hides the latency of loads.
pub(super) const SIDES: usize = 4;

/// Two places whose values are multiplied.
pub(super) type Term = [u32; 2];

/// A sum of products.
struct Sum {
    /// Where it goes.
    target: u32,
    /// What it is multiplied with.
    scale: u32,
    terms: Vec<Term>,
}

/// The products that the pivots of each level subtract.
#[derive(Default)]
pub(super) struct Updates {
    /// For each level, the entries of L with their pivots, to be scaled.
    pub(super) scaled: Vec<Term>,
    /// Of each level: ends of its scaled entries, of its pivots and of its rounds.
    pub(super) levels: Vec<[u32; 3]>,
    /// Steps of each round.
    pub(super) lengths: Vec<u32>,
    /// Entries that change \[round\]\[thread\]\[side\].
    pub(super) targets: Vec<u32>,
    /// Entries of L and of U \[step\]\[thread\]\[side\].
    pub(super) terms: Vec<Term>,
    /// Products without those of zero.
    pub(super) products: usize,
}

impl Updates {
    pub(super) fn new(factors: &Factors, width: usize, entry: usize) -> Updates {
        let mut updates = Updates::default();
        // Columns of L: rows below each pivot, with their places.
        let mut below = vec![Vec::new(); factors.head()];
        for (i, columns) in factors.lower.iter().enumerate() {
            for (k, place) in Factors::entries(columns, factors.lower_starts[i]) {
                below[k as usize].push((i as u32, place));
            }
        }
        for level in &factors.levels {
            let mut products = Vec::new();
            for k in level.clone() {
                let row = (&factors.upper[k as usize], factors.upper_starts[k as usize]);
                for &(i, lower) in &below[k as usize] {
                    updates.scaled.push([lower, k]);
                    for (j, upper) in Factors::entries(row.0, row.1) {
                        // The elimination has put every such entry into the pattern.
                        let target = factors.place(i, j).unwrap_or(factors.unused());
                        products.push((target, [lower, upper]));
                    }
                }
            }
            updates.products += products.len();
            products.sort_by_key(|&(target, _)| target);
            let sums = products.chunk_by(|a, b| a.0 == b.0).map(|products| Sum {
                target: products[0].0,
                scale: 0,
                terms: products.iter().map(|&(_, term)| term).collect(),
            });
            updates.push(sums.collect(), factors, width, entry);
            let ends = [updates.scaled.len() as u32, level.end, updates.lengths.len() as u32];
            updates.levels.push(ends);
        }
        updates
    }

    fn push(&mut self, mut sums: Vec<Sum>, factors: &Factors, width: usize, entry: usize) {
        sums.sort_by_key(|sum| std::cmp::Reverse(sum.terms.len()));
        for round in sums.chunks(SIDES * width) {
            let steps = round[0].terms.len();
            let own = |thread| (0..SIDES).map(|side| round.get(side * width + thread)).collect();
            let mut cells: Vec<Vec<Option<&Sum>>> = (0..width).map(own).collect();
            let target = |sum: Option<&Sum>| sum.map_or(factors.unused(), |sum| sum.target);
            spread(&mut cells, [entry], |sum| [target(sum)]);
            self.targets.extend(cells.iter().flatten().map(|sum| target(*sum)));
            let list = |sum: Option<&Sum>| {
                let mut list = sum.map_or(Vec::new(), |sum| sum.terms.clone());
                list.resize(steps, [factors.zero(); 2]);
                list
            };
            let side = |side: usize| cells.iter().map(|own| list(own[side])).collect();
            let mut sides: Vec<Vec<Vec<Term>>> = (0..SIDES).map(side).collect();
            sides.iter_mut().for_each(|lists| spread(lists, [entry; 2], |term| term));
            for step in 0..steps {
                for thread in 0..width {
                    self.terms.extend(sides.iter().map(|lists| lists[thread][step]));
                }
            }
            self.lengths.push(steps as u32);
        }
    }
}

/// The products that a solve subtracts, before the tail's inverse and after it.
#[derive(Default)]
pub(super) struct Solves {
    /// Rounds before the tail.
    pub(super) forward: usize,
    /// Twice the steps of each round, and one more for those that end with a barrier.
    pub(super) lengths: Vec<u32>,
    /// Unknowns that change, and the entries they are multiplied with afterwards \[round\]\[thread\].
    pub(super) targets: Vec<Term>,
    /// Entries and unknowns \[step\]\[thread\]\[side\].
    pub(super) terms: Vec<Term>,
}

impl Solves {
    pub(super) fn new(factors: &Factors, width: usize, entry: usize) -> Solves {
        let (n, head) = (factors.dim() as u32, factors.head());
        let mut solves = Solves::default();
        let forward = |i: u32| Sum {
            target: factors.rhs(i),
            scale: factors.one(),
            terms: Factors::entries(&factors.lower[i as usize], factors.lower_starts[i as usize])
                .map(|(k, place)| [place, k])
                .collect(),
        };
        let depths = depths(0..head, &factors.lower);
        for depth in 1..=depths.iter().copied().max().unwrap_or(0) {
            let rows = (0..head).filter(|&i| depths[i] == depth);
            solves.push(rows.map(|i| forward(i as u32)).collect(), factors, width, entry);
        }
        let tail = (head as u32..n).map(forward).filter(|sum| !sum.terms.is_empty());
        solves.push(tail.collect(), factors, width, entry);
        solves.forward = solves.lengths.len();

        // A row gives up its columns in the tail at once, and those of the head when these are known.
        let in_head = |columns: &Vec<u32>| columns.iter().filter(|&&j| (j as usize) < head).count();
        let inner: Vec<Vec<u32>> =
            factors.upper.iter().map(|columns| columns[..in_head(columns)].to_vec()).collect();
        let depths = self::depths((0..head).rev(), &inner);
        let backward = |i: usize, tail: bool| {
            let entries = Factors::entries(&factors.upper[i], factors.upper_starts[i]);
            let own = entries.filter(|&(j, _)| (j as usize >= head) == tail);
            let known = tail && depths[i] > 0;
            Sum {
                target: i as u32,
                scale: if known { factors.one() } else { i as u32 },
                terms: own.map(|(j, place)| [place, factors.solution(j)]).collect(),
            }
        };
        let first =
            (0..head).filter(|&i| depths[i] == 0 || inner[i].len() < factors.upper[i].len());
        solves.push(first.map(|i| backward(i, true)).collect(), factors, width, entry);
        for depth in 1..=depths.iter().copied().max().unwrap_or(0) {
            let rows = (0..head).filter(|&i| depths[i] == depth);
            solves.push(rows.map(|i| backward(i, false)).collect(), factors, width, entry);
        }
        solves
    }

    /// Rounds for sums of which none needs another; a barrier comes after the last one.
    fn push(&mut self, mut sums: Vec<Sum>, factors: &Factors, width: usize, entry: usize) {
        sums.sort_by_key(|sum| std::cmp::Reverse(sum.terms.len()));
        let rounds = sums.chunks(width);
        let last = rounds.len().saturating_sub(1);
        for (number, round) in rounds.enumerate() {
            let steps = round[0].terms.len().div_ceil(SIDES).max(1);
            let target = |sum: Option<&Sum>| {
                sum.map_or([factors.x_unused(), factors.zero()], |s| [s.target, s.scale])
            };
            self.targets.extend((0..width).map(|thread| target(round.get(thread))));
            let list = |thread: usize| {
                let sum = round.get(thread);
                let mut list = sum.map_or(Vec::new(), |sum| sum.terms.clone());
                // Zero times its own unknown, which no other thread writes in this round.
                list.resize(steps * SIDES, [factors.zero(), target(sum)[0]]);
                list
            };
            let mut lists: Vec<Vec<Term>> = (0..width).map(list).collect();
            spread(&mut lists, [entry; 2], |term| term);
            for step in 0..steps {
                let own = lists.iter().flat_map(|list| &list[SIDES * step..][..SIDES]);
                self.terms.extend(own);
            }
            self.lengths.push(2 * steps as u32 + u32::from(number == last));
        }
    }
}

/// How many rows must come before each row of the head one after the other, of those that its columns name; rows are
/// given in an order in which these come first.
fn depths(rows: impl Iterator<Item = usize>, columns: &[Vec<u32>]) -> Vec<usize> {
    let mut depths = vec![0; columns.len()];
    for i in rows {
        depths[i] = columns[i].iter().map(|&k| depths[k as usize] + 1).max().unwrap_or(0);
    }
    depths
}
