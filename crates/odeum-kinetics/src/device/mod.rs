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
//! The text expects `real`, `od_entry`, `OD_FLOAT`, `OD_WIDTH`, `OdGroup`, `OdParams`, `OD_GROUP_BARRIER` and
//! `od_group_sums` (see [`Grouped`]), and the functions of `real` that device code has everywhere. Shared memory
//! holds nothing between calls. Names of its own begin with `od_gas_`, `OdGas` and `OD_GAS_`, or say what of a rate they are.
//!
//! # Interleaved reactors
//!
//! Explicit methods have many reactors in a block, of which each lane of a warp has one and all warps are the threads
//! ([`interleaved`]): they share species, reactions and sums of production, and what they read of a table is the same for all
//! lanes. Rows of tables are of one thread then, and places of species and q are distances in bytes. The production of a
//! species has one or more parts, of which each warp takes some: `NET_SHARES` has \[warp\] where its parts begin in the rows of
//! `NET_ENDS` (ends of the fours of places that are added, of those that are taken away, and of the terms with weights;
//! part and species), `NET_PARTS` the first part of each species.
//!
//! # Tables
//!
//! The first table is of numbers, the second of lists. What the threads of a group read at once lies together: \[thread\]
//! is the last index but for the words of one thread. Pairs and words of four terms are loads of 8 or 16 bytes.
//!
//! | sections `OD_GAS_…` | of a thread | layout |
//! |---|---|---|
//! | `PAIR_…` | eight coefficients of each of two ranges | \[range\]\[pair\]\[species\] |
//! | `NASA9_…` | twelve coefficients of each range | \[range of each species\]\[12\] |
//! | `ARRHENIUS_AB`, `…_TA` | (A, b), Tₐ log₂e | \[round\]\[thread\] |
//! | `BROADENED`, `SRI` | k₀, log₂ A₀/A∞ and the blending function: six pairs, five | \[round of the law\]\[pair\]\[thread\] |
//! | `PLOG_…` | the points of a reaction; their pressures and expressions | \[round of the law\]\[thread\], lists |
//! | `CHEBYSHEV_…` | shape, scales of T and p; coefficients | \[round of the law\]\[thread\], lists |
//! | `FACTORS_2` | two reactants, two products | \[round of the shape\]\[thread\] |
//! | `FACTORS_3` | three and three, set of colliders, flags | \[round of the shape\]\[thread\] |
//! | `GENERAL_…` | ends of the lists of a reaction; factors and coefficients | \[round of the shape\]\[thread\], lists |
//!
//! | lists | targets | terms |
//! |---|---|---|
//! | `SET_…` | a set of colliders | species and (α − α₀)/W |
//! | `RHS_…`, `PRODUCTION_…` | a part of a species | number of a reaction in its chunk, sign in bit 15 |
//! | `ENTRY_…` | four places of the matrix | a slot of the buffer for each, sign in bit 15 |
//! | `WEIGHTED_…` | four parts, or places | the same with weights, without signs |
//! | `COLUMN_…` | a column | (place, row) of its entries |
//!
//! Lists have rounds of targets (first step, number of steps), and terms \[step\]\[thread\]\[4\]. `RHS_CHUNKS` and
//! `CHUNKS` give for each chunk the range of its rounds of reactions, then those of its lists. Species, parts, reactions
//! and slots have 16 bits; places have 32 where the matrix has more than 65,535.
//!
//! With groups of 32 threads GRI-Mech 3.0 (53 species, 325 reactions) has 11 rounds, 75 kB of tables and 6.6 kB of shared
//! memory (10.6 kB where the matrix is of double precision); hydrogen (13 species, 27 reactions) 3 rounds, 21 kB and 4.0 kB.

pub mod cells;
mod chunks;
mod interleaved;
mod invariants;
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
use odeum_core::{Pattern, System};
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
    fn sizes(&self) -> (usize, usize) {
        (self.dim(), self.n_params())
    }

    fn matrix_pattern(&self) -> Pattern {
        self.plan.pattern.clone()
    }

    fn uses_time(&self) -> bool {
        false
    }

    fn allows_single(&self) -> bool {
        true
    }

    fn invariants(&self) -> Vec<Vec<f64>> {
        invariants::of(self)
    }

    fn group_text(&self, width: usize, places: &MatrixPlaces, single: bool) -> GroupText {
        let rounds = Rounds::new(self.kinetics(), width);
        let chunks = Chunks::new(self.kinetics(), &rounds, single);
        evaluation(self, &rounds, &chunks, Some(places))
    }

    fn rhs_text(&self, width: usize) -> GroupText {
        let rounds = Rounds::new(self.kinetics(), width);
        let chunks = Chunks::of_rhs(self.kinetics(), &rounds);
        evaluation(self, &rounds, &chunks, None)
    }

    fn interleaved_text(&self, warps: usize, place: usize) -> Option<GroupText> {
        // Places of species and of sets of colliders have 16 bits.
        let (species, sets) = (self.kinetics().n_species(), self.kinetics().bodies.default.len());
        let last = (species + 1).max(sets) * place;
        (last <= usize::from(u16::MAX)).then(|| interleaved::text(self, warps, place))
    }
}

/// The right-hand side, and where the matrix has places the linearisation.
fn evaluation(
    reactor: &Reactor,
    rounds: &Rounds,
    chunks: &Chunks,
    places: Option<&MatrixPlaces>,
) -> GroupText {
    let kinetics = &**reactor.kinetics();
    let parts = Parts::new(kinetics, rounds.width);
    let memory = Memory::new(kinetics, &parts, chunks, places.is_some());
    let mut tables = Tables::default();
    memory.write(&mut tables);
    species::write(kinetics, rounds.width, &mut tables);
    reactions::write(kinetics, rounds, 1, &mut tables);
    tables.count("OD_GAS_PART_COUNT", parts.len());
    tables.push_u32("OD_GAS_PART_STARTS", &parts.starts);
    let mut weights = write_rhs(reactor, rounds, chunks, &parts, &mut tables);
    tables.count("OD_GAS_LINEARISES", usize::from(places.is_some()));
    match places {
        Some(places) => {
            weights |= write_linearise(reactor, rounds, chunks, &parts, places, &mut tables);
        }
        // What is written for either evaluation names it.
        None => tables.count("OD_GAS_DERIVATIVES", 0),
    }
    tables.count("OD_GAS_WORDS", chunks.slots.words);
    tables.count("OD_GAS_MOST_FACTORS", chunks.slots.most_factors);
    tables.count("OD_GAS_PART_WEIGHTS", usize::from(weights));
    // f is written when all threads have read y.
    GroupText { text: text(reactor, rounds), tables, memory: memory.bytes(), in_place: true }
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
    let production =
        Production::new(reactor.kinetics(), rounds, &chunks.rhs, parts, size_of::<f64>());
    let rows = chunks.rhs.iter().zip(&production.rounds);
    let rows: Vec<u32> =
        rows.flat_map(|(chunk, [unit, weighted])| chunk_row(chunk, [unit, weighted])).collect();
    tables.count("OD_GAS_RHS_CHUNK_COUNT", chunks.rhs.len());
    // Ends of the ranges of the last chunk: the compiler knows them where that is the first one.
    let ends = rows.iter().skip(1).step_by(2).rev().take(3).map(|&end| end as usize);
    let names = ["OD_GAS_WEIGHTED_RHS_END", "OD_GAS_RHS_LISTS_END", "OD_GAS_RHS_REACTIONS_END"];
    names.into_iter().zip(ends).for_each(|(name, end)| tables.count(name, end));
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
    let production = Production::new(
        reactor.kinetics(),
        rounds,
        &chunks.linearise,
        parts,
        chunks.slots.record_read(),
    );
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
    let signature =
        "template <bool D> OD_FN void od_gas_reactions(const OdGas &gas, const OdGasChunk &chunk)";
    text.push_str(&classes(rounds, signature, "od_gas_rounds<D, ", "gas, chunk"));
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

/// The function that evaluates reactions of all classes that a mechanism has, each by a call of the function that begins so, with these
/// arguments.
fn classes(rounds: &Rounds, signature: &str, function: &str, arguments: &str) -> String {
    let mut text = format!("\n{signature} {{\n");
    let of_law = |law, end| rounds.rounds[..end].iter().filter(|r| r.class.law == law).count();
    let of_shape =
        |shape, end| rounds.rounds[..end].iter().filter(|r| r.class.shape == shape).count();
    for (class, range) in rounds.classes() {
        let (law, shape) = (class.law.type_name(), class.shape.type_name());
        let Range { start, end } = range;
        let (in_law, in_shape) = (of_law(class.law, start), of_shape(class.shape, start));
        let rounds = format!("OdGasRounds{{{start}u, {end}u, {in_law}u, {in_shape}u}}");
        let _ = writeln!(text, "    {function}{law}, {shape}>({arguments}, {rounds});");
    }
    text.push_str("}\n");
    text
}
