//! Chunks: successive rounds of reactions whose results fit into the buffer of a group.
//!
//! The reactions of a chunk leave their results in the buffer, and all sums over them are taken before the
//! next chunk overwrites it. With C reactions, counted with the threads that have none, and `stride` C + 2,
//! the buffer holds of them
//!
//! - the right-hand side: q \[stride\];
//! - the linearisation: records of q, a and b \[stride\], from which ω, ∂ω/∂T and ∂ω/∂m follow, and for each round its
//!   derivatives ∂q/∂C and ∂q/∂X \[slots\]\[width\]. q is a double; a, b and derivatives are entries of the matrix.
//!
//! Number C is zero, for lists that are filled up.

use super::laws::Shape;
use super::rounds::{Class, Rounds};
use crate::kinetics::Kinetics;
use std::ops::Range;

/// Entries per thread that the buffer has at most beside the records of zero, unless one round wants more. It is what GRI-Mech 3.0
/// wants to evaluate its right-hand side in one chunk.
const ENTRIES_PER_THREAD: usize = 24;

/// The same where the right-hand side is alone: what Marinov's mechanism of ethanol (1999) wants for one chunk.
const NUMBERS_PER_THREAD: usize = 16;

/// Records are even in number, so that what follows is aligned.
const ZEROS: usize = 2;

/// Derivatives of the reactions of a class, and how many entries a number takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    width: usize,
    /// Entries of the matrix in the space of a double.
    pub(super) words: usize,
    /// Factors of a reaction with lists of them, at most.
    pub(super) most_factors: usize,
}

impl Slots {
    pub(super) fn new(kinetics: &Kinetics, width: usize, single: bool) -> Slots {
        let starts = &kinetics.mass_action.general.starts;
        let factors = starts.iter().zip(starts.iter().skip(2)).step_by(2);
        let most_factors = factors.map(|(first, end)| (end - first) as usize).max().unwrap_or(0);
        Slots { width, words: if single { 2 } else { 1 }, most_factors }
    }

    /// Bytes of an entry of the matrix.
    pub(super) fn entry(&self) -> usize {
        size_of::<f64>() / self.words
    }

    /// Bytes that are read at once of a record of q, a and b.
    pub(super) fn record_read(&self) -> usize {
        // One with wide entries is read in three parts, which lie three words apart in threads of successive numbers: on the
        // banks of these numbers, in another order.
        if self.words == 2 { self.record() * self.entry() } else { size_of::<f64>() }
    }

    /// Entries in the space of a record of q, a and b.
    pub(super) fn record(&self) -> usize {
        self.words + 2
    }

    /// Doubles in the space of so many entries.
    pub(super) fn doubles(&self, entries: usize) -> usize {
        entries.div_ceil(self.words)
    }

    /// Number of derivatives: of each factor, and of the third body as the last.
    pub(super) fn of(&self, class: Class) -> usize {
        match class.shape {
            Shape::Two => 4,
            Shape::Three => 7,
            Shape::General => self.most_factors + 1,
        }
    }

    /// Entries that the linearisation of some rounds takes.
    fn entries(&self, rounds: &Rounds, range: Range<usize>) -> usize {
        let derivatives =
            rounds.rounds[range.clone()].iter().map(|r| self.of(r.class)).sum::<usize>();
        self.derivatives_from(stride(self.width, &range)) + derivatives * self.width
    }

    /// Where the derivatives of a chunk begin.
    fn derivatives_from(&self, stride: usize) -> usize {
        self.record() * stride
    }
}

fn stride(width: usize, rounds: &Range<usize>) -> usize {
    rounds.len() * width + ZEROS
}

/// Successive rounds.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    width: usize,
    pub(super) rounds: Range<usize>,
}

impl Chunk {
    /// Records of its buffer.
    fn stride(&self) -> usize {
        stride(self.width, &self.rounds)
    }

    /// Number of the record of the reaction of a round and thread; below 2¹⁵.
    pub(super) fn number(&self, (round, thread): (usize, usize)) -> u16 {
        ((round - self.rounds.start) * self.width + thread) as u16
    }

    /// The number of the record that is zero.
    pub(super) fn zero(&self) -> u16 {
        (self.rounds.len() * self.width) as u16
    }
}

/// The chunks of both evaluations.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    pub(super) slots: Slots,
    /// Of the right-hand side.
    pub(super) rhs: Vec<Chunk>,
    /// Of the linearisation, where that is wanted.
    pub(super) linearise: Vec<Chunk>,
    /// Where the derivatives of each round begin in the buffer of its chunk \[entries\].
    pub(super) derivatives: Vec<u32>,
    /// Bytes of the buffer.
    pub(super) buffer: usize,
}

impl Chunks {
    pub(super) fn new(kinetics: &Kinetics, rounds: &Rounds, single: bool) -> Chunks {
        let width = rounds.width;
        let slots = Slots::new(kinetics, width, single);
        let all = 0..rounds.len();
        let one = (0..rounds.len()).map(|r| slots.entries(rounds, r..r + 1)).max().unwrap_or(0);
        let most = ENTRIES_PER_THREAD * width + ZEROS * slots.record();
        let wanted = slots.entries(rounds, all.clone()).min(most);
        let entries = wanted.max(one);
        let numbers = entries / slots.words;
        let chunk = |rounds| Chunk { width, rounds };
        let cut = |fits: &dyn Fn(Range<usize>) -> bool| -> Vec<Chunk> {
            cut(rounds.len(), fits).into_iter().map(chunk).collect()
        };
        let linearise = cut(&|range| slots.entries(rounds, range) <= entries);
        let mut derivatives = Vec::new();
        for chunk in &linearise {
            let mut at = slots.derivatives_from(chunk.stride());
            for round in &rounds.rounds[chunk.rounds.clone()] {
                derivatives.push(at as u32);
                at += slots.of(round.class) * width;
            }
        }
        Chunks {
            slots,
            rhs: cut(&|range| stride(width, &range) <= numbers),
            linearise,
            derivatives,
            buffer: entries.next_multiple_of(4) * slots.entry(),
        }
    }

    /// Of the right-hand side alone.
    pub(super) fn of_rhs(kinetics: &Kinetics, rounds: &Rounds) -> Chunks {
        let width = rounds.width;
        let fits = |range: Range<usize>| stride(width, &range) <= NUMBERS_PER_THREAD * width;
        let rhs: Vec<Chunk> =
            cut(rounds.len(), &fits).into_iter().map(|rounds| Chunk { width, rounds }).collect();
        let numbers = rhs.iter().map(Chunk::stride).max().unwrap_or(0);
        Chunks {
            slots: Slots::new(kinetics, width, false),
            rhs,
            linearise: Vec::new(),
            derivatives: Vec::new(),
            buffer: numbers.next_multiple_of(4) * size_of::<f64>(),
        }
    }

    /// Where ∂q/∂C or ∂q/∂X of a reaction stands in the buffer of its chunk; below 2¹⁵.
    pub(super) fn slot(&self, (round, thread): (usize, usize), derivative: usize) -> u16 {
        (self.derivatives[round] as usize + derivative * self.slots.width + thread) as u16
    }

    /// An entry of the buffer that is zero: a of the record that is.
    pub(super) fn zero_slot(&self, chunk: &Chunk) -> u16 {
        self.slots.record() as u16 * chunk.zero() + self.slots.words as u16
    }
}

/// Ranges that fit, each as long as it can be but at least of one.
fn cut(n: usize, fits: &dyn Fn(Range<usize>) -> bool) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut first = 0;
    for end in 1..=n {
        if end == n || !fits(first..end + 1) {
            ranges.push(first..end);
            first = end;
        }
    }
    ranges
}
