//! The reactor in device code: evaluated by a group of threads, from tables.
//!
//! # How a group computes
//!
//! 1. Each thread takes the species `slot`, `slot + OD_WIDTH`, …: thermodynamic functions, C, e, C/e and u, and sets of
//!    colliders: X and its logarithm ([`species`]).
//! 2. *Rounds*: each thread takes one reaction, all of one rate law and one form of the law of mass
//!    action ([`rounds`], [`reactions`]). There is one exponential per species and no equilibrium constant, as on the
//!    CPU ([`mass_action`](crate::rate::mass_action)).
//! 3. The rounds of a *chunk* leave results in a buffer ([`chunks`]), of which sums are taken: of ω in two stages
//!    ([`production`]), of the entries of −∂f/∂y straight into their places ([`matrix`]).
//! 4. Sums over the species, by the group; then columns T and m, and from the columns of the species rows T and m.
//!
//! Sums are by owner, over lists of about equal length ([`lists`]): no atomic operations, and a fixed order.
//!
//! # Tables
//!
//! | sections `OD_GAS_…` | row | layout |
//! |---|---|---|
//! | `PAIR_…` | eight coefficients of each of two ranges | \[range\]\[pair\]\[species\] |
//! | `NASA9_…` | twelve coefficients | \[range of each species\]\[12\] |
//! | `SET_…` | species and (α − α₀)/W, four at a time | \[step\]\[thread\]\[4\] |
//! | `ARRHENIUS_AB`, `ARRHENIUS_TA` | (A, b), Tₐ log₂e | \[round\]\[thread\] |
//! | `BROADENED`, `SRI` | six or five pairs | \[round of the law\]\[pair\]\[thread\] |
//! | `PLOG_…`, `CHEBYSHEV_…` | ranges of points, coefficients | \[round of the law\]\[thread\], then lists |
//! | `FACTORS_2`, `FACTORS_3` | 4 species; 6 species, set, flags: 16 bits each | \[round of the shape\]\[thread\] |
//! | `GENERAL_…` | ends of lists of factors and coefficients | \[round of the shape\]\[thread\], then lists |
//! | `RHS_…`, `PRODUCTION_…` | part of a species; number of a reaction with sign in bit 15 | \[step\]\[thread\]\[4\] |
//! | `ENTRY_…` | four places; a slot of each with sign in bit 15 | \[step\]\[thread\]\[4\] |
//! | `WEIGHTED_…` | the same with weights | \[step\]\[thread\]\[4\] |
//! | `COLUMN_…` | (place, row) of the entries of a column | \[step\]\[thread\]\[4\] |
//!
//! Species, parts, numbers of reactions and slots of the buffer have 16 bits; places of the matrix have 32 where
//! it has more than 65,535.

mod chunks;
mod laws;
mod lists;
mod matrix;
mod memory;
mod production;
mod reactions;
mod rounds;
mod species;

use crate::constants::{GAS_CONSTANT, REFERENCE_PRESSURE};
use crate::rate::blend::TINY;
use crate::rate::mass_action::{FLOOR, LARGEST_EXPONENT};
use crate::reactor::{Constraint, Energy, Reactor};
use chunks::{Chunk, Chunks};
use matrix::Entries;
use memory::Memory;
use odeum_core::emit::{GroupText, Grouped, MatrixPlaces, Tables};
use production::{Parts, Production};
use rounds::Rounds;
use std::fmt::Write;
use std::ops::Range;

/// The headers that stand before the list of classes of reactions, and those after it.
const BEFORE: [&str; 7] = [
    include_str!("elementary.cuh"),
    include_str!("gas.cuh"),
    include_str!("species.cuh"),
    include_str!("falloff.cuh"),
    include_str!("tabulated.cuh"),
    include_str!("mass_action.cuh"),
    include_str!("general.cuh"),
];
const AFTER: [&str; 2] = [include_str!("sums.cuh"), include_str!("reactor.cuh")];

impl Grouped for Reactor {
    fn group_text(&self, width: usize, places: &MatrixPlaces, single: bool) -> GroupText {
        let kinetics = &**self.kinetics();
        let rounds = Rounds::new(kinetics, width);
        let chunks = Chunks::new(kinetics, &rounds, single);
        let parts = Parts::new(kinetics, width);
        let memory = Memory::new(kinetics, &parts, &chunks);
        let mut tables = Tables::default();
        memory.write(&mut tables);
        species::write(kinetics, width, &mut tables);
        reactions::write(kinetics, &rounds, &mut tables);
        tables.count("OD_GAS_PART_COUNT", parts.len());
        tables.push_u32("OD_GAS_PART_STARTS", &parts.starts);
        let weights = [
            write_rhs(self, &rounds, &chunks, &parts, &mut tables),
            write_linearise(self, &rounds, &chunks, &parts, places, &mut tables),
        ];
        tables.count("OD_GAS_WORDS", chunks.slots.words);
        tables.count("OD_GAS_MOST_FACTORS", chunks.slots.most_factors);
        tables.count("OD_GAS_PART_WEIGHTS", usize::from(weights.contains(&true)));
        GroupText { text: text(self, &rounds), tables, memory: memory.bytes() }
    }
}

/// First and end of its rounds, and of the rounds of its lists.
fn chunk_row<const L: usize>(chunk: &Chunk, lists: [&Range<u32>; L]) -> Vec<u32> {
    let own = chunk.rounds.start as u32..chunk.rounds.end as u32;
    std::iter::once(&own).chain(lists).flat_map(|range| [range.start, range.end]).collect()
}

/// Sections of the right-hand side alone; true when coefficients are weights.
fn write_rhs(
    reactor: &Reactor,
    rounds: &Rounds,
    chunks: &Chunks,
    parts: &Parts,
    tables: &mut Tables,
) -> bool {
    let production = Production::new(reactor.kinetics(), rounds, &chunks.rhs, parts);
    let rows = chunks.rhs.iter().zip(&production.rounds);
    let rows: Vec<u32> =
        rows.flat_map(|(chunk, [unit, weighted])| chunk_row(chunk, [unit, weighted])).collect();
    tables.count("OD_GAS_RHS_CHUNK_COUNT", chunks.rhs.len());
    tables.push_u32("OD_GAS_RHS_CHUNKS", &rows);
    let names = [
        "OD_GAS_RHS_ROUNDS",
        "OD_GAS_RHS_TARGETS",
        "OD_GAS_RHS_TERMS",
        "OD_GAS_WEIGHTED_RHS_ROUNDS",
        "OD_GAS_WEIGHTED_RHS_TARGETS",
        "OD_GAS_WEIGHTED_RHS_TERMS",
        "OD_GAS_WEIGHTED_RHS_WEIGHTS",
    ];
    production.write(names, rounds.width, tables);
    production.has_weights()
}

/// Sections of the linearisation; true when coefficients are weights.
fn write_linearise(
    reactor: &Reactor,
    rounds: &Rounds,
    chunks: &Chunks,
    parts: &Parts,
    places: &MatrixPlaces,
    tables: &mut Tables,
) -> bool {
    let production = Production::new(reactor.kinetics(), rounds, &chunks.linearise, parts);
    let entries = Entries::new(reactor, rounds, chunks, places);
    let lists = production.rounds.iter().zip(&entries.rounds);
    let rows = chunks
        .linearise
        .iter()
        .zip(lists)
        .flat_map(|(chunk, ([a, b], [c, d]))| chunk_row(chunk, [a, b, c, d]));
    tables.count("OD_GAS_CHUNK_COUNT", chunks.linearise.len());
    tables.push_u32("OD_GAS_CHUNKS", &rows.collect::<Vec<u32>>());
    tables.push_u32("OD_GAS_DERIVATIVES", &chunks.derivatives);
    let names = [
        "OD_GAS_PRODUCTION_ROUNDS",
        "OD_GAS_PRODUCTION_TARGETS",
        "OD_GAS_PRODUCTION_TERMS",
        "OD_GAS_WEIGHTED_PRODUCTION_ROUNDS",
        "OD_GAS_WEIGHTED_PRODUCTION_TARGETS",
        "OD_GAS_WEIGHTED_PRODUCTION_TERMS",
        "OD_GAS_WEIGHTED_PRODUCTION_WEIGHTS",
    ];
    production.write(names, rounds.width, tables);
    entries.write(reactor, places, tables);
    production.has_weights()
}

/// The functions of the device contract.
fn text(reactor: &Reactor, rounds: &Rounds) -> String {
    let mut text = constants(reactor);
    text.extend(BEFORE);
    text.push_str(&classes(rounds));
    text.extend(AFTER);
    text
}

/// Numbers that are typed in Rust, and what kind of reactor it is.
fn constants(reactor: &Reactor) -> String {
    let kinetics = &**reactor.kinetics();
    let mut text = String::new();
    let numbers = [
        ("OD_GAS_CONSTANT", GAS_CONSTANT),
        ("OD_GAS_RECIP_CONSTANT", 1.0 / GAS_CONSTANT),
        ("OD_GAS_STANDARD", REFERENCE_PRESSURE / GAS_CONSTANT),
        ("OD_GAS_LN_STANDARD", (REFERENCE_PRESSURE / GAS_CONSTANT).ln()),
        ("OD_GAS_TINY", TINY),
        ("OD_GAS_FLOOR", FLOOR),
        ("OD_GAS_LARGEST_EXPONENT", LARGEST_EXPONENT),
    ];
    for (name, value) in numbers {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define {name} ((real){value:?})");
    }
    let kinds = [
        ("OD_GAS_AT_VOLUME", reactor.constraint() == Constraint::ConstantVolume),
        ("OD_GAS_ADIABATIC", reactor.energy() == Energy::Adiabatic),
        ("OD_GAS_TABULATED", kinetics.needs_pressure()),
    ];
    for (name, value) in kinds {
        let _ = writeln!(text, "#define {name} {}", u32::from(value));
    }
    text
}

/// The function that evaluates rounds of reactions of all classes that a mechanism has.
fn classes(rounds: &Rounds) -> String {
    let mut text = "
template <bool D> OD_FN void od_gas_reactions(const OdGas &gas, const OdGasChunk &chunk) {
"
    .to_owned();
    let of_law = |law, end| rounds.rounds[..end].iter().filter(|r| r.class.law == law).count();
    let of_shape =
        |shape, end| rounds.rounds[..end].iter().filter(|r| r.class.shape == shape).count();
    for (class, range) in rounds.classes() {
        let (law, shape) = (class.law.type_name(), class.shape.type_name());
        let Range { start, end } = range;
        let (in_law, in_shape) = (of_law(class.law, start), of_shape(class.shape, start));
        let rounds = format!("OdGasRounds{{{start}u, {end}u, {in_law}u, {in_shape}u}}");
        let _ = writeln!(text, "    od_gas_rounds<D, {law}, {shape}>(gas, chunk, {rounds});");
    }
    text.push_str("}\n");
    text
}
