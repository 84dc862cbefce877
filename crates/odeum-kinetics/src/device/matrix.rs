//! Entries of −∂f/∂y: sums of derivatives of reactions, and what finishes the columns.

use super::chunks::{Chunk, Chunks};
use super::laws::Shape;
use super::lists::{AT_ONCE, Long, Reads, Short, Sum, rounds_with_ahead, with_steps_ahead};
use super::production::{NEGATIVE, repeated, unit_reads, weighted_reads};
use super::rounds::Rounds;
use crate::kinetics::Kinetics;
use crate::reactor::plan::{NONE, Term, terms};
use crate::reactor::{Energy, Reactor};
use odeum_core::emit::{MatrixPlaces, Tables, with_ahead};
use std::ops::Range;

/// Largest coefficient that is written as so many terms.
const MOST_TERMS: f64 = 2.0;

/// What is added to the entries of the species block, chunk after chunk, and the columns of it.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    /// Whether places are numbers of 32 bits.
    pub(super) wide: bool,
    width: usize,
    unit: Short<u16>,
    weighted: Short<(u16, f64)>,
    /// Rounds of each chunk: of unit terms and of weighted ones.
    pub(super) rounds: Vec<[Range<u32>; 2]>,
    /// Place and species of the row of the entries of each column.
    columns: Long<[u32; 2]>,
}

/// Where the derivatives of reactions stand in the buffer.
struct Sources<'a> {
    kinetics: &'a Kinetics,
    rounds: &'a Rounds,
    chunks: &'a Chunks,
    /// First slot of each reaction on the CPU, and how many of them are of reactants.
    first: Vec<(usize, usize)>,
}

impl Sources<'_> {
    fn new<'a>(kinetics: &'a Kinetics, rounds: &'a Rounds, chunks: &'a Chunks) -> Sources<'a> {
        let action = &kinetics.mass_action;
        let [two, three] = [action.two.reactants.len(), action.three.reactants.len()];
        let first = (0..kinetics.n_reactions()).map(|r| {
            let reactants = if r < two { 2 } else { 3 };
            let reactants = if r < two + three { reactants } else { 0 };
            (action.slots_of(r).first().map_or(0, |(slot, _)| *slot), reactants)
        });
        Sources { kinetics, rounds, chunks, first: first.collect() }
    }

    /// The slot of a term in the buffer of its chunk.
    fn slot(&self, term: &Term) -> u16 {
        let r = term.reaction;
        let class = self.rounds.rounds[self.rounds.place[r].0].class;
        let derivative = if term.source >= self.kinetics.mass_action.n_slots() {
            self.chunks.slots.of(class) - 1
        } else {
            let (first, reactants) = self.first[r];
            let factor = term.source - first;
            // Where the CPU has two reactants and device code three.
            let absent = usize::from(class.shape == Shape::Three && reactants == 2);
            if factor < reactants { factor } else { factor + absent }
        };
        self.chunks.slot(self.rounds.place[r], derivative)
    }
}

impl Entries {
    pub(super) fn new(
        reactor: &Reactor,
        rounds: &Rounds,
        chunks: &Chunks,
        places: &MatrixPlaces,
    ) -> Entries {
        let kinetics = &**reactor.kinetics();
        let sources = Sources::new(kinetics, rounds, chunks);
        let place = |term: &Term| {
            let position = reactor.plan.pattern.find(1 + term.row, 1 + term.column);
            position.map_or(places.unused, |position| places.entries[position])
        };
        let mut chunk_of = vec![0; rounds.len()];
        for (number, chunk) in chunks.linearise.iter().enumerate() {
            chunk_of[chunk.rounds.clone()].fill(number);
        }
        let mut terms: Vec<(usize, u32, Term)> = terms(kinetics, reactor.jacobian_form())
            .into_iter()
            .map(|term| (chunk_of[rounds.place[term.reaction].0], place(&term), term))
            .collect();
        // The terms of an entry stay in the order of the reactions.
        terms.sort_by_key(|(chunk, place, _)| (*chunk, *place));

        let (width, entry) = (rounds.width, chunks.slots.entry());
        let mut entries = Entries {
            wide: places.len > u32::from(u16::MAX),
            width,
            unit: Short::new(width, entry),
            weighted: Short::new(width, entry),
            rounds: Vec::new(),
            columns: columns(reactor, width, places, entry),
        };
        let mut rest = terms.as_slice();
        for (number, chunk) in chunks.linearise.iter().enumerate() {
            let (own, others) = rest.split_at(rest.partition_point(|term| term.0 <= number));
            entries.push(own, chunk, &sources, places.unused);
            rest = others;
        }
        entries
    }

    /// Adds the terms of a chunk, sorted by place.
    fn push(
        &mut self,
        terms: &[(usize, u32, Term)],
        chunk: &Chunk,
        sources: &Sources<'_>,
        unused: u32,
    ) {
        let mut unit: Vec<Sum<u16>> = Vec::new();
        let mut weighted: Vec<Sum<(u16, f64)>> = Vec::new();
        for entry in terms.chunk_by(|a, b| a.1 == b.1) {
            let place = entry[0].1;
            let (mut plain, mut others) = (Vec::new(), Vec::new());
            for (.., term) in entry {
                let slot = sources.slot(term);
                match repeated(term.coefficient, MOST_TERMS) {
                    Some((times, sign)) => plain.extend(std::iter::repeat_n(slot | sign, times)),
                    None => others.push((slot, term.coefficient)),
                }
            }
            if !plain.is_empty() {
                unit.push((place, plain));
            }
            if !others.is_empty() {
                weighted.push((place, others));
            }
        }
        let (zero, bytes) = (sources.chunks.zero_slot(chunk), sources.chunks.slots.entry());
        debug_assert!(zero < NEGATIVE);
        self.rounds.push([
            self.unit.push(&unit, unused, zero, &unit_reads(bytes)),
            self.weighted.push(&weighted, unused, (zero, 0.0), &weighted_reads(bytes)),
        ]);
    }

    /// The sections of the lists, and the places of the columns and rows T and m.
    pub(super) fn write(&self, reactor: &Reactor, places: &MatrixPlaces, tables: &mut Tables) {
        tables.count("OD_GAS_WIDE_PLACES", usize::from(self.wide));
        tables.count("OD_GAS_PLACES", places.len as usize);
        tables.count("OD_GAS_UNUSED", places.unused as usize);
        tables.count("OD_GAS_ZERO", places.zero as usize);
        tables.push_u32("OD_GAS_ENTRY_ROUNDS", &rounds_with_ahead(&self.unit.rounds));
        let targets = with_ahead(&self.unit.targets, AT_ONCE * self.width);
        self.push_places("OD_GAS_ENTRY_TARGETS", &targets, tables);
        tables.push_u16("OD_GAS_ENTRY_TERMS", &with_steps_ahead(&self.unit.terms, self.width));
        let (slots, values): (Vec<u16>, Vec<f64>) = self.weighted.terms.iter().copied().unzip();
        tables.push_u32("OD_GAS_WEIGHTED_ENTRY_ROUNDS", self.weighted.rounds.as_flattened());
        self.push_places("OD_GAS_WEIGHTED_ENTRY_TARGETS", &self.weighted.targets, tables);
        tables.push_u16("OD_GAS_WEIGHTED_ENTRY_TERMS", &slots);
        tables.push_f64("OD_GAS_WEIGHTED_ENTRY_WEIGHTS", &values);
        let targets: Vec<u16> = self.columns.targets.iter().map(|j| *j as u16).collect();
        tables.count("OD_GAS_COLUMN_COUNT", self.columns.rounds.len());
        tables.push_u32("OD_GAS_COLUMN_ROUNDS", self.columns.rounds.as_flattened());
        tables.push_u16("OD_GAS_COLUMN_TARGETS", &targets);
        let terms = with_ahead(&self.columns.terms, AT_ONCE * self.width);
        self.push_places("OD_GAS_COLUMN_TERMS", terms.as_flattened(), tables);

        let plan = &reactor.plan;
        let n = reactor.kinetics().n_species();
        let place = |position: &u32| match *position {
            NONE => places.unused,
            position => places.entries[position as usize],
        };
        let of = |positions: &[u32]| positions.iter().map(place).collect::<Vec<u32>>();
        let row_t = |column: usize| {
            let position = plan.pattern.find(0, column);
            position.map_or(places.unused, |position| places.entries[position])
        };
        let heat: Vec<u32> = (1..n + 1).map(row_t).collect();
        self.push_places("OD_GAS_COLUMN_T", &of(&plan.in_t[..n]), tables);
        self.push_places("OD_GAS_COLUMN_M", &of(&plan.in_m[..n]), tables);
        self.push_places("OD_GAS_ROW_T", &heat, tables);
        self.push_places("OD_GAS_ROW_M", &of(&plan.moles), tables);
        let corner = [row_t(0), row_t(n + 1), place(&plan.in_t[n]), place(&plan.in_m[n])];
        self.push_places("OD_GAS_CORNER", &corner, tables);
    }

    fn push_places(&self, name: &'static str, places: &[u32], tables: &mut Tables) {
        if self.wide {
            tables.push_u32(name, places);
        } else {
            let short: Vec<u16> = places.iter().map(|place| *place as u16).collect();
            tables.push_u16(name, &short);
        }
    }
}

/// The entries of each column of the species block, from which those of the rows T and m are summed.
fn columns(reactor: &Reactor, width: usize, places: &MatrixPlaces, bytes: usize) -> Long<[u32; 2]> {
    let plan = &reactor.plan;
    let entry = |i: usize| [places.entries[plan.position[i] as usize], plan.row[i]];
    let column = |j: usize| (plan.columns[j] as usize..plan.columns[j + 1] as usize).map(entry);
    let n = reactor.kinetics().n_species();
    // Through the heat capacity the row T has an entry in every column.
    let wanted = |terms: &[[u32; 2]]| !terms.is_empty() || reactor.energy() == Energy::Adiabatic;
    let sums = (0..n).map(|j| (j as u32, column(j).collect::<Vec<_>>()));
    let sums = sums.filter(|(_, terms)| wanted(terms)).collect();
    let mut columns = Long::new(width);
    // An entry, and the energy of its species.
    let reads = Reads { bytes: [bytes, size_of::<f64>()], places: |term| term };
    columns.push(sums, n as u32, [places.zero, 0], &reads);
    columns
}
