//! The order of elimination by independent sets.
//!
//! Pivots that are not coupled to each other do not touch each other's rows and columns: a group of threads
//! eliminates all of them at once, a level. Among the unknowns that are left, those of small Markowitz counts are
//! taken one after the other, each unless it is coupled to one taken before. How much larger than the least a count
//! may be trades fill for fewer levels. (Independent sets: Y. Saad, *Iterative Methods for Sparse Linear Systems*,
//! 2nd ed., sec. 3.3.3. Counts: H. M. Markowitz, Management Science 3 (1957) 255–269.)

use odeum_core::Pattern;

/// A count may be so many times the least one of its level, or so much above it.
const RATIO: usize = 8;
const SLACK: usize = 400;

/// Fraction of entries from which what is left counts as dense: pivots come singly.
const DENSE: f64 = 0.8;

/// Of so many dense unknowns single pivots may be worth their levels.
const SINGLE: usize = 128;

/// A pivot and what it is coupled to when it is eliminated.
pub(super) struct Pivot {
    /// Its equation, and unknown.
    pub(super) unknown: usize,
    /// Equations below it in its column of L, ascending.
    pub(super) lower: Vec<usize>,
    /// Unknowns right of it in its row of U, ascending.
    pub(super) upper: Vec<usize>,
}

/// Levels of pivots of a square pattern with a full diagonal, until nothing is left or much that is dense. Unknowns
/// whose row or column is full are never among them.
pub(super) fn levels(pattern: &Pattern) -> Vec<Vec<Pivot>> {
    let n = pattern.rows();
    let (mut rows, mut columns) = (Sets::new(n), Sets::new(n));
    for (i, j) in pattern.iter() {
        rows.insert(i, j);
        columns.insert(j, i);
    }
    let mut left: Vec<usize> = (0..n).collect();
    let full = |k: usize| rows.count(k) == n || columns.count(k) == n;
    let mut free: Vec<usize> = (0..n).filter(|&k| !full(k)).collect();
    let mut levels = Vec::new();
    loop {
        let entries: usize = left.iter().map(|&i| rows.count(i)).sum();
        let m = left.len();
        if m > SINGLE && entries as f64 >= DENSE * (m * m) as f64 {
            break;
        }
        let set = independent(&free, &rows, &columns);
        if set.is_empty() {
            break;
        }
        left.retain(|k| !set.contains(k));
        free.retain(|k| !set.contains(k));
        levels.push(set.iter().map(|&k| eliminate(k, &mut rows, &mut columns)).collect());
    }
    levels
}

/// Unknowns that are not coupled to each other, those of small counts.
fn independent(free: &[usize], rows: &Sets, columns: &Sets) -> Vec<usize> {
    let count = |k: usize| (rows.count(k) - 1) * (columns.count(k) - 1);
    let mut candidates: Vec<(usize, usize)> = free.iter().map(|&k| (count(k), k)).collect();
    candidates.sort_unstable();
    let most = candidates.first().map_or(0, |&(least, _)| (RATIO * least).max(least + SLACK));
    let mut coupled = Sets { n: rows.n, words: rows.words, bits: vec![0; rows.words] };
    let mut set = Vec::new();
    for &(_, k) in candidates.iter().take_while(|&&(count, _)| count <= most) {
        if !coupled.contains(0, k) {
            coupled.unite(0, rows.of(k));
            coupled.unite(0, columns.of(k));
            set.push(k);
        }
    }
    set
}

fn eliminate(k: usize, rows: &mut Sets, columns: &mut Sets) -> Pivot {
    rows.remove(k, k);
    columns.remove(k, k);
    let (right, below) = (rows.of(k).to_vec(), columns.of(k).to_vec());
    let (lower, upper) = (columns.items(k), rows.items(k));
    for &i in &lower {
        rows.remove(i, k);
        rows.unite(i, &right);
    }
    for &j in &upper {
        columns.remove(j, k);
        columns.unite(j, &below);
    }
    Pivot { unknown: k, lower, upper }
}

/// n sets of numbers below n, as bits.
struct Sets {
    n: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    fn new(n: usize) -> Sets {
        let words = n.div_ceil(64);
        Sets { n, words, bits: vec![0; n * words] }
    }

    fn of(&self, set: usize) -> &[u64] {
        &self.bits[set * self.words..(set + 1) * self.words]
    }

    fn insert(&mut self, set: usize, item: usize) {
        self.bits[set * self.words + item / 64] |= 1 << (item % 64);
    }

    fn remove(&mut self, set: usize, item: usize) {
        self.bits[set * self.words + item / 64] &= !(1 << (item % 64));
    }

    fn contains(&self, set: usize, item: usize) -> bool {
        self.of(set)[item / 64] >> (item % 64) & 1 == 1
    }

    fn unite(&mut self, set: usize, with: &[u64]) {
        let own = &mut self.bits[set * self.words..(set + 1) * self.words];
        own.iter_mut().zip(with).for_each(|(own, with)| *own |= with);
    }

    fn count(&self, set: usize) -> usize {
        self.of(set).iter().map(|word| word.count_ones() as usize).sum()
    }

    fn items(&self, set: usize) -> Vec<usize> {
        (0..self.n).filter(|&item| self.contains(set, item)).collect()
    }
}
