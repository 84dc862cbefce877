//! Production: for each species the sum of ν q over its reactions, and of ν a and ν b.
//!
//! Species of many reactions (H, OH) would keep one thread busy while all others wait. So sums are taken in two
//! stages: parts of the sum of a species in as many threads, over the reactions of a chunk, and at the end the sum of
//! its parts. A coefficient of one to four is as many terms; others, and fractions, are weights of terms that
//! have a part of their own.

use super::chunks::Chunk;
use super::lists::{AT_ONCE, Long, Reads, Short, Sum, rounds_with_ahead, with_steps_ahead};
use super::rounds::Rounds;
use crate::kinetics::Kinetics;
use odeum_core::emit::{Tables, with_ahead};
use std::ops::Range;

/// A term with this bit counts negative.
pub(super) const NEGATIVE: u16 = 0x8000;

/// Largest coefficient that is written as so many terms.
pub(super) const MOST_TERMS: f64 = 4.0;

/// Longest parts that are tried.
const LENGTHS: [usize; 4] = [16, 24, 32, 48];

/// What is read for a term that has a place and a sign.
pub(super) fn unit_reads(bytes: usize) -> Reads<u16, 1> {
    Reads { bytes: [bytes], places: |term| [u32::from(term & !NEGATIVE)] }
}

/// The same for a term with a weight.
pub(super) fn weighted_reads(bytes: usize) -> Reads<(u16, f64), 1> {
    Reads { bytes: [bytes], places: |(place, _)| [u32::from(place)] }
}

/// A coefficient as a number of terms and their sign, where it is a small integer.
pub(super) fn repeated(coefficient: f64, most: f64) -> Option<(usize, u16)> {
    let size = coefficient.abs();
    let sign = if coefficient < 0.0 { NEGATIVE } else { 0 };
    (size == size.trunc() && size <= most).then_some((size as usize, sign))
}

/// The parts of all species.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Parts of species k: starts\[k\]..starts\[k + 1\], that of weighted terms the last.
    pub(super) starts: Vec<u32>,
    /// Whether a species has weighted terms.
    weighted: Vec<bool>,
}

impl Parts {
    pub(super) fn new(kinetics: &Kinetics, width: usize) -> Parts {
        let n = kinetics.n_species();
        let (mut terms, mut weighted) = (vec![0; n], vec![false; n]);
        for &(species, nu) in kinetics.net.iter().flatten() {
            match repeated(nu, MOST_TERMS) {
                Some((times, _)) => terms[species] += times,
                None => weighted[species] = true,
            }
        }
        // Steps of the longest thread, roughly: what all share, the last part, and the second stage.
        let cost = |length: &usize| {
            let parts = |n: &usize| n.div_ceil(*length);
            let all: usize = terms.iter().map(|n| parts(n) * *length.min(n)).sum();
            let most = terms.iter().map(parts).max().unwrap_or(0);
            all.div_ceil(width) + length + 2 * most * n.div_ceil(width)
        };
        let length = LENGTHS.into_iter().min_by_key(cost).unwrap_or(LENGTHS[0]);
        let mut starts = vec![0];
        for k in 0..n {
            let own = terms[k].div_ceil(length) as u32 + u32::from(weighted[k]);
            starts.push(starts[k] + own);
        }
        Parts { starts, weighted }
    }

    /// Number of all parts.
    pub(super) fn len(&self) -> usize {
        self.starts.last().map_or(0, |end| *end as usize)
    }

    /// The parts of a species without that of weighted terms, and that.
    fn of(&self, species: usize) -> (Range<u32>, u32) {
        let end = self.starts[species + 1] - u32::from(self.weighted[species]);
        (self.starts[species]..end, end)
    }
}

/// Terms of a species over a chunk.
#[derive(Clone, Default)]
struct Terms {
    unit: Vec<u16>,
    weighted: Vec<(u16, f64)>,
}

/// Lists of the parts, chunk after chunk.
#[derive(Clone, Debug)]
pub(super) struct Production {
    unit: Long<u16>,
    weighted: Short<(u16, f64)>,
    /// Rounds of each chunk: of unit terms and of weighted ones.
    pub(super) rounds: Vec<[Range<u32>; 2]>,
}

impl Production {
    /// Over what has so many bytes for each reaction.
    pub(super) fn new(
        kinetics: &Kinetics,
        rounds: &Rounds,
        chunks: &[Chunk],
        parts: &Parts,
        bytes: usize,
    ) -> Production {
        let (unit, weighted) = (Long::new(rounds.width), Short::new(rounds.width, bytes));
        let mut lists = Production { unit, weighted, rounds: Vec::new() };
        for (number, chunk) in chunks.iter().enumerate() {
            let terms = terms(kinetics, rounds, chunk);
            lists.push((number, chunk), &terms, parts, bytes);
        }
        lists
    }

    fn push(
        &mut self,
        (number, chunk): (usize, &Chunk),
        terms: &[Terms],
        parts: &Parts,
        bytes: usize,
    ) {
        let unused = parts.len() as u32;
        let mut unit: Vec<Sum<u16>> = Vec::new();
        let mut weighted: Vec<Sum<(u16, f64)>> = Vec::new();
        for (species, terms) in terms.iter().enumerate() {
            let (own, last) = parts.of(species);
            let used = own.len().min(terms.unit.len().div_ceil(AT_ONCE));
            for i in 0..used {
                // Each chunk begins with another part, so that all are used alike.
                let part = own.start + ((i + number * used) % own.len()) as u32;
                unit.push((part, terms.unit.iter().copied().skip(i).step_by(used).collect()));
            }
            if !terms.weighted.is_empty() {
                weighted.push((last, terms.weighted.clone()));
            }
        }
        self.rounds.push([
            self.unit.push(unit, unused, chunk.zero(), &unit_reads(bytes)),
            self.weighted.push(&weighted, unused, (chunk.zero(), 0.0), &weighted_reads(bytes)),
        ]);
    }

    /// Sections of these names: rounds, targets and terms of unit lists, and rounds, targets, terms and
    /// weights of the others.
    pub(super) fn write(&self, names: [&'static str; 7], width: usize, tables: &mut Tables) {
        let [rounds, targets, terms, weighted @ ..] = names;
        tables.push_u32(rounds, &rounds_with_ahead(&self.unit.rounds));
        tables.push_u16(targets, &with_ahead(&short(&self.unit.targets), width));
        tables.push_u16(terms, &with_steps_ahead(&self.unit.terms, width));
        let [rounds, targets, terms, weights] = weighted;
        tables.push_u32(rounds, self.weighted.rounds.as_flattened());
        tables.push_u16(targets, &short(&self.weighted.targets));
        let (slots, values): (Vec<u16>, Vec<f64>) = self.weighted.terms.iter().copied().unzip();
        tables.push_u16(terms, &slots);
        tables.push_f64(weights, &values);
    }

    /// Whether a coefficient is a weight.
    pub(super) fn has_weights(&self) -> bool {
        !self.weighted.rounds.is_empty()
    }
}

fn short(values: &[u32]) -> Vec<u16> {
    values.iter().map(|x| *x as u16).collect()
}

/// The terms of all species over the reactions of a chunk.
fn terms(kinetics: &Kinetics, rounds: &Rounds, chunk: &Chunk) -> Vec<Terms> {
    let mut all = vec![Terms::default(); kinetics.n_species()];
    for round in &rounds.rounds[chunk.rounds.clone()] {
        for &r in &round.reactions {
            let number = chunk.number(rounds.place[r]);
            for &(species, nu) in &kinetics.net[r] {
                match repeated(nu, MOST_TERMS) {
                    Some((times, sign)) => {
                        let term = std::iter::repeat_n(number | sign, times);
                        all[species].unit.extend(term);
                    }
                    None => all[species].weighted.push((number, nu)),
                }
            }
        }
    }
    all
}
