//! Tables of the reactions: a row of numbers for each thread of each round.
//!
//! Numbers that a thread reads together are pairs, and the threads of a round read consecutive ones: tables are
//! \[round\]\[pair\]\[thread\]. A thread without a reaction has the rate law of the first of its round, and no species.

use super::laws::{DeviceRate, Law, Shape};
use super::rounds::{Class, Rounds};
use crate::kinetics::Kinetics;
use crate::rate::falloff::FalloffTable;
use odeum_core::emit::Tables;
use std::f64::consts::{LN_2, LOG2_E};

/// All sections of the reactions.
/// From a place of a species to the next there are `place`.
pub(super) fn write(kinetics: &Kinetics, rounds: &Rounds, place: usize, tables: &mut Tables) {
    let writer =
        Writer { kinetics, rounds, place: place as u16, expressions: expressions(kinetics) };
    writer.arrhenius(tables);
    tables.push_f64("OD_GAS_BROADENED", &writer.numbers(Law::Broadened, |r| writer.broadened(r)));
    tables.push_f64("OD_GAS_SRI", &writer.numbers(Law::Sri, |r| writer.sri(r)));
    writer.plog(tables);
    writer.chebyshev(tables);
    writer.factors(tables);
    writer.general(tables);
}

struct Writer<'a> {
    kinetics: &'a Kinetics,
    rounds: &'a Rounds,
    place: u16,
    /// A, b, Tₐ of each slot of the rate constants.
    expressions: Vec<[f64; 3]>,
}

fn expressions(kinetics: &Kinetics) -> Vec<[f64; 3]> {
    let table = &kinetics.arrhenius;
    let slots = kinetics.n_reactions() + kinetics.bodies.reaction.len();
    let mut all = vec![[0.0; 3]; slots];
    for (i, slot) in table.slot.iter().enumerate() {
        all[*slot as usize] = [table.a[i], table.b[i], table.ta[i]];
    }
    all
}

impl Writer<'_> {
    /// Numbers of the reactions of all threads of the rounds of some classes, pair by pair.
    fn pairs<const K: usize>(
        &self,
        of: impl Fn(Class) -> bool,
        numbers: impl Fn(usize) -> [[f64; 2]; K],
    ) -> Vec<f64> {
        let mut all = Vec::new();
        for round in self.rounds.of(of) {
            let thread = |t: usize| *round.reactions.get(t).unwrap_or(&round.reactions[0]);
            let rows: Vec<_> = (0..self.rounds.width).map(|t| numbers(thread(t))).collect();
            for pair in 0..K {
                all.extend(rows.iter().flat_map(|row| row[pair]));
            }
        }
        all
    }

    fn numbers<const K: usize>(
        &self,
        law: Law,
        numbers: impl Fn(usize) -> [[f64; 2]; K],
    ) -> Vec<f64> {
        self.pairs(|class| class.law == law, numbers)
    }

    /// The reactions of all threads of the rounds of some classes; `None` for a thread without one.
    fn threads(&self, of: impl Fn(Class) -> bool) -> Vec<Option<usize>> {
        let width = self.rounds.width;
        let rounds = self.rounds.of(of);
        let threads = |round: usize| (0..width).map(move |thread| (round, thread));
        let all = (0..rounds.len()).flat_map(threads);
        all.map(|(round, thread)| rounds[round].reactions.get(thread).copied()).collect()
    }

    /// (A, b) and Tₐ log₂e of every reaction: of the high-pressure limit where there are two.
    fn arrhenius(&self, tables: &mut Tables) {
        let ab = |r: usize| [[self.expressions[r][0], self.expressions[r][1]]];
        let ta = |r: usize| [[self.expressions[r][2] * LOG2_E, 0.0]];
        let ta: Vec<f64> = self.pairs(|_| true, ta).into_iter().step_by(2).collect();
        tables.push_f64("OD_GAS_ARRHENIUS_AB", &self.pairs(|_| true, ab));
        tables.push_f64("OD_GAS_ARRHENIUS_TA", &ta);
    }

    /// (A₀, b₀), (Tₐ₀ log₂e, log₂ A₀/A∞) of a falloff reaction.
    fn low(&self, table: &FalloffTable, i: usize) -> [[f64; 2]; 2] {
        let [a, b, ta] = self.expressions[table.low[i] as usize];
        [[a, b], [ta * LOG2_E, table.ln_ratio[i][0] * LOG2_E]]
    }

    /// The low-pressure limit, and a centre a + b T + w₁ exp(−T/θ₁) + w₂ exp(−T/θ₂) + w₃ exp(−θ₃/T) as
    /// (a, b), (w₁, log₂e/θ₁), (w₂, log₂e/θ₂), (w₃, θ₃ log₂e).
    fn broadened(&self, r: usize) -> [[f64; 2]; 6] {
        let falloffs = &self.kinetics.falloffs;
        let (table, i, constant) = match self.rounds.reactions[r].rate {
            DeviceRate::Troe(i) => (&falloffs.troe, i, [falloffs.troe_blending.constant[i], 0.0]),
            DeviceRate::Tsang(i) => {
                let blending = &falloffs.tsang_blending;
                (&falloffs.tsang, i, [blending.a[i], blending.b[i]])
            }
            DeviceRate::Lindemann(i) => (&falloffs.lindemann, i, [1.0, 0.0]),
            _ => return [[0.0; 2]; 6],
        };
        let [first, second] = self.low(table, i);
        let mut numbers = [first, second, constant, [0.0; 2], [0.0; 2], [0.0; 2]];
        if let DeviceRate::Troe(i) = self.rounds.reactions[r].rate {
            let troe = &falloffs.troe_blending;
            let mut next = 3;
            for j in troe.starts[i] as usize..troe.starts[i + 1] as usize {
                if troe.theta[j] == 0.0 {
                    numbers[next] = [troe.weight[j], troe.rate[j] * LOG2_E];
                    next += 1;
                } else {
                    numbers[5] = [troe.weight[j], troe.theta[j] * LOG2_E];
                }
            }
        }
        numbers
    }

    /// The low-pressure limit, (a, b log₂e), (log₂e/c, whether there is a c), (d, e).
    fn sri(&self, r: usize) -> [[f64; 2]; 5] {
        let falloffs = &self.kinetics.falloffs;
        let DeviceRate::Sri(i) = self.rounds.reactions[r].rate else { return [[0.0; 2]; 5] };
        let [first, second] = self.low(&falloffs.sri, i);
        let sri = &falloffs.sri_blending;
        let [activated, decaying] =
            [[sri.a[i], sri.b[i] * LOG2_E], [sri.rate[i] * LOG2_E, sri.present[i]]];
        [first, second, activated, decaying, [sri.d[i], sri.e[i]]]
    }

    /// The points of each reaction; of a point (log₂ p, ln 2 / difference of ln p to the point before) and
    /// its expressions; of an expression (A, log₂ A), (b, Tₐ log₂e).
    fn plog(&self, tables: &mut Tables) {
        let plog = &self.kinetics.tabulated.plog;
        let range = |r: usize| match self.rounds.reactions[r].rate {
            DeviceRate::Plog(i) => [plog.starts[i], plog.starts[i + 1]],
            _ => [0, 0],
        };
        let ranges: Vec<u32> = self.with_law(Law::Plog).into_iter().flat_map(range).collect();
        let points = plog.ln_p.iter().zip(&plog.recip_step);
        let points: Vec<f64> =
            points.flat_map(|(ln_p, recip)| [ln_p * LOG2_E, recip * LN_2]).collect();
        let term = |i: usize| [plog.a[i], plog.ln_a[i] * LOG2_E, plog.b[i], plog.ta[i] * LOG2_E];
        let terms: Vec<f64> = (0..plog.a.len()).flat_map(term).collect();
        tables.push_u32("OD_GAS_PLOG_RANGE", &ranges);
        tables.push_f64("OD_GAS_PLOG_POINTS", &points);
        tables.push_u32("OD_GAS_PLOG_STARTS", &plog.terms);
        tables.push_f64("OD_GAS_PLOG_TERMS", &terms);
    }

    /// Rows, columns and the first coefficient of each reaction; T̃ = (scale, offset) of 1/T, p̃ of log₂ p; and
    /// coefficients of log₂ k.
    fn chebyshev(&self, tables: &mut Tables) {
        let chebyshev = &self.kinetics.tabulated.chebyshev;
        let number = |r: usize| match self.rounds.reactions[r].rate {
            DeviceRate::Chebyshev(i) => i,
            _ => 0,
        };
        let shape = |r: usize| {
            let [rows, columns, first] = chebyshev.shape[number(r)];
            [rows, columns, first, 0]
        };
        let shapes: Vec<u32> = self.with_law(Law::Chebyshev).into_iter().flat_map(shape).collect();
        let maps = self.numbers(Law::Chebyshev, |r| {
            let [scale, offset] = chebyshev.pressure[number(r)];
            [chebyshev.temperature[number(r)], [scale * LN_2, offset]]
        });
        let coefficients: Vec<f64> = chebyshev.coefficients.iter().map(|a| a * LOG2_E).collect();
        tables.push_u32("OD_GAS_CHEBYSHEV_SHAPE", &shapes);
        tables.push_f64("OD_GAS_CHEBYSHEV_MAP", &maps);
        tables.push_f64("OD_GAS_CHEBYSHEV_COEFFICIENTS", &coefficients);
    }

    /// The reactions of all threads with a rate law, where a thread without one has the first of its round.
    fn with_law(&self, law: Law) -> Vec<usize> {
        let numbers = self.numbers(law, |r| [[r as f64, 0.0]]);
        numbers.into_iter().step_by(2).map(|r| r as usize).collect()
    }

    /// Species of the factors in slots: of two reactants and two products, and of three and three with the set
    /// of colliders and the flags.
    fn factors(&self, tables: &mut Tables) {
        let species = |r: Option<usize>, k: usize| self.slots(r, k).into_iter();
        let two = self.threads(|class| class.shape == Shape::Two);
        let two: Vec<u16> = two.into_iter().flat_map(|r| species(r, 2)).collect();
        let three = self.threads(|class| class.shape == Shape::Three);
        let three: Vec<u16> =
            three.into_iter().flat_map(|r| species(r, 3).chain(self.colliders(r))).collect();
        tables.push_u16("OD_GAS_FACTORS_2", &two);
        tables.push_u16("OD_GAS_FACTORS_3", &three);
    }

    /// `k` reactants and `k` products: a species that is none where there is no other factor, and all products
    /// one that never is, where the reaction does not go back.
    fn slots(&self, reaction: Option<usize>, k: usize) -> Vec<u16> {
        let n = self.kinetics.n_species() as u16;
        let (none, never) = (n * self.place, (n + 1) * self.place);
        let mut reactants = vec![none; k];
        let mut products = vec![never; k];
        let Some(r) = reaction else { return [reactants, products].concat() };
        let slots = self.kinetics.mass_action.slots_of(r);
        let is_two = r < self.kinetics.mass_action.two.reactants.len();
        let (from, to) = slots.split_at(if is_two { 2 } else { 3 });
        for (slot, (_, species)) in reactants.iter_mut().zip(from) {
            *slot = *species as u16 * self.place;
        }
        if !to.is_empty() {
            products.fill(none);
        }
        for (slot, (_, species)) in products.iter_mut().zip(to) {
            *slot = *species as u16 * self.place;
        }
        [reactants, products].concat()
    }

    /// Set of colliders, the last where there are none, and 1 for a chemically activated reaction.
    fn colliders(&self, reaction: Option<usize>) -> [u16; 2] {
        let bodies = &self.kinetics.bodies;
        let none = [bodies.default.len() as u16 * self.place, 0];
        let Some(reaction) = reaction.map(|r| self.rounds.reactions[r]) else { return none };
        let Some(body) = reaction.body else { return none };
        let falloffs = &self.kinetics.falloffs;
        let activated = match reaction.rate {
            DeviceRate::Lindemann(i) => falloffs.lindemann.activated[i],
            DeviceRate::Troe(i) => falloffs.troe.activated[i],
            DeviceRate::Sri(i) => falloffs.sri.activated[i],
            DeviceRate::Tsang(i) => falloffs.tsang.activated[i],
            _ => false,
        };
        [bodies.set[body] as u16 * self.place, u16::from(activated)]
    }

    /// Reactions with lists of factors: ends of the lists, set and flags, and whether they go back; factors with
    /// (order, slope of the continuation below the floor); net coefficients; and what the shift of γ takes.
    fn general(&self, tables: &mut Tables) {
        let action = &self.kinetics.mass_action;
        let table = &action.general;
        let before = action.two.reactants.len() + action.three.reactants.len();
        let (mut lists, mut shifts) = (Vec::new(), Vec::new());
        for r in self.threads(|class| class.shape == Shape::General) {
            let [set, activated] = self.colliders(r).map(u32::from);
            let Some(i) = r.map(|r| r - before) else {
                lists.extend([0, 0, 0, 0, 0, set, activated, 0]);
                shifts.extend([0.0; 4]);
                continue;
            };
            let net = table.net_starts[i] as usize..table.net_starts[i + 1] as usize;
            let change: f64 = table.net[net].iter().sum();
            lists.extend(&table.starts[2 * i..2 * i + 3]);
            lists.extend(&table.net_starts[i..i + 2]);
            lists.extend([set, activated, u32::from(table.reversible[i])]);
            shifts.extend([table.shift[i][0], table.shift[i][1], change, 0.0]);
        }
        let orders = table.order.iter().zip(&table.secant);
        let orders: Vec<f64> = orders.flat_map(|(n, secant)| [*n, *secant]).collect();
        tables.count("OD_GAS_GENERAL", usize::from(!table.reversible.is_empty()));
        tables.push_u32("OD_GAS_GENERAL_LISTS", &lists);
        tables.push_f64("OD_GAS_GENERAL_SHIFTS", &shifts);
        let places = |species: &[u32]| -> Vec<u32> {
            species.iter().map(|k| k * u32::from(self.place)).collect()
        };
        tables.push_u32("OD_GAS_GENERAL_SPECIES", &places(&table.species));
        tables.push_f64("OD_GAS_GENERAL_ORDERS", &orders);
        tables.push_u32("OD_GAS_GENERAL_NET_SPECIES", &places(&table.net_species));
        tables.push_f64("OD_GAS_GENERAL_NET", &table.net);
    }
}
