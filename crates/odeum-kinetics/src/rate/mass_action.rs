//! The law of mass action: q = k (Π C^order − Π C^ν″ / Kc).
//!
//! 1/Kc is a product over species: with e = exp(−γ) p°/(R T) for each species, Kc is the product of
//! e over the products divided by that over the reactants. So a mechanism costs one exponential
//! per species, not one per reversible reaction, and the power of p°/(R T) comes by itself.
//! Reactants and products are multiplied in pairs of similar γ, so that intermediate results stay
//! in range; reactions for which that cannot be promised, those with other than a few integer
//! coefficients, and those that conserve the elements only nearly, so that the shift of γ does not
//! cancel, take the general path: one exponential of the sum of γ, with the shift put back.

use odeum_core::Real;

use crate::check::balances;
use crate::mechanism::{Reaction, Species};
use crate::thermo::Temperature;

/// Below this concentration [kmol/m³] (six molecules per cm³) a power with a non-integer exponent
/// is continued: linearly to zero where the exponent is positive or the reaction consumes the
/// species, which else would go on below zero; as a constant where it is negative. So rates and
/// derivatives stay finite at and below zero.
pub(crate) const FLOOR: f64 = 1e-20;
/// Largest ln(1/Kc) of the general path, beyond which the exponential would overflow.
pub(crate) const LARGEST_EXPONENT: f64 = 690.0;
/// Largest |γ|, and sum of it, of a product that needs no logarithms.
const SAFE: f64 = 650.0;

/// Reactions of at most K reactants and K products, each written K times at most; absent ones
/// point to an extra species whose concentration and e are 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SlotTable<const K: usize> {
    /// Reactants of each reaction.
    pub(crate) reactants: Vec<[u32; K]>,
    /// Products of each reversible reaction, which come first.
    pub(crate) products: Vec<[u32; K]>,
    /// Sum of the orders of the forward and of the reverse rate.
    pub(crate) orders: Vec<[f64; 2]>,
}

/// The other reactions, with lists of any length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GeneralTable {
    pub(crate) reversible: Vec<bool>,
    /// Factors C^order of the i-th reaction, forward from starts\[2i\], reverse from
    /// starts\[2i + 1\], to starts\[2i + 2\].
    pub(crate) starts: Vec<u32>,
    pub(crate) species: Vec<u32>,
    pub(crate) order: Vec<f64>,
    /// Slope of the continuation of each factor below [`FLOOR`]; zero for a constant.
    pub(crate) secant: Vec<f64>,
    /// Net stoichiometric coefficients: from net_starts\[i\].
    pub(crate) net_starts: Vec<u32>,
    pub(crate) net_species: Vec<u32>,
    pub(crate) net: Vec<f64>,
    /// What the shift of γ takes from Σ ν g/RT: coefficients of 1/T and of 1.
    pub(crate) shift: Vec<[f64; 2]>,
}

/// What the progress of the reactions depends on; a value per species, and one more.
pub(crate) struct Factors<'a, R> {
    /// Concentrations [kmol/m³], then 1.
    pub(crate) c: &'a [R],
    /// e [kmol/m³], then 1.
    pub(crate) e: &'a [R],
    /// C / e, then 1.
    pub(crate) z: &'a [R],
    /// 1 / e, then 1; wanted only for derivatives.
    pub(crate) recip_e: &'a [R],
    /// u/RT = h/RT − 1, then 0; wanted only for derivatives.
    pub(crate) u: &'a [R],
    /// γ.
    pub(crate) gamma: &'a [R],
}

/// Progress of each reaction and its derivatives. What goes in stands where results come out: less
/// memory is nearer.
pub(crate) struct Progress<'a, R> {
    /// First k of each reaction, then its net rate q [kmol/m³/s].
    pub(crate) q: &'a mut [R],
    /// First d ln k/dT, then ∂q/∂T at constant concentrations.
    pub(crate) by_t: &'a mut [R],
    /// q / k, also where k vanishes.
    pub(crate) net: &'a mut [R],
    /// Σ Cⱼ ∂q/∂Cⱼ over the factors.
    pub(crate) scaled: &'a mut [R],
    /// ∂q/∂C of each factor: the slots of the reactions in order, forward before reverse.
    pub(crate) slots: &'a mut [R],
}

/// All reactions of a mechanism in the order of evaluation: two slots, three slots, general.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MassAction {
    pub(crate) two: SlotTable<2>,
    pub(crate) three: SlotTable<3>,
    pub(crate) general: GeneralTable,
}

/// How a reaction is evaluated, in the order of evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    TwoReversible,
    Two,
    ThreeReversible,
    Three,
    General,
}

/// Each species as often as its coefficient says, where that is a positive integer and the
/// sum is at most three.
fn expand(terms: &[(usize, f64)]) -> Option<Vec<u32>> {
    let mut slots = Vec::new();
    for &(species, n) in terms {
        if n != n.trunc() || !(0.0..=3.0).contains(&n) {
            return None;
        }
        slots.extend(std::iter::repeat_n(species as u32, n as usize));
    }
    (slots.len() <= 3).then_some(slots)
}

/// What decides how reactions are evaluated, of each species.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    /// γ at low temperatures: at the first, species are paired, and at all of them products have to be in range.
    pub(crate) gamma: &'a [Vec<f64>; 2],
    /// Its shift: coefficients of 1/T and of 1.
    pub(crate) shift: &'a [(f64, f64)],
    /// Their atoms.
    pub(crate) species: &'a [Species],
}

/// Reactants and products of a reaction in slots, paired by γ.
fn slots(reaction: &Reaction, basis: &Basis<'_>) -> Option<(Vec<u32>, Vec<u32>)> {
    let gamma = &basis.gamma[0];
    let mut forward = expand(&reaction.orders)?;
    if !reaction.reversible {
        return Some((forward, Vec::new()));
    }
    // Only then does the shift of γ cancel.
    if !balances(basis.species, reaction) {
        return None;
    }
    let mut products = expand(&reaction.products)?;
    let mut reactants = expand(&reaction.reactants)?;
    let by_gamma = |slots: &mut Vec<u32>| {
        slots.sort_by(|i, j| gamma[*j as usize].abs().total_cmp(&gamma[*i as usize].abs()));
    };
    by_gamma(&mut forward);
    by_gamma(&mut reactants);
    by_gamma(&mut products);
    if forward != reactants {
        return None;
    }
    basis
        .gamma
        .iter()
        .all(|gamma| in_range(&forward, &products, gamma))
        .then_some((forward, products))
}

/// Whether no factor, pair or product of a reverse rate leaves the range of numbers.
fn in_range(reactants: &[u32], products: &[u32], gamma: &[f64]) -> bool {
    let value = |slots: &[u32], i: usize| slots.get(i).map_or(0.0, |s| gamma[*s as usize]);
    let mut sum = 0.0_f64;
    (0..3).all(|i| {
        let (reactant, product) = (value(reactants, i), value(products, i));
        let pair = product - reactant;
        sum += pair;
        [reactant, product, pair, sum].iter().all(|x| x.abs() <= SAFE)
    })
}

pub(crate) fn class(reaction: &Reaction, basis: &Basis<'_>) -> Class {
    match slots(reaction, basis) {
        None => Class::General,
        Some((f, p)) => match (f.len().max(p.len()) <= 2, reaction.reversible) {
            (true, true) => Class::TwoReversible,
            (true, false) => Class::Two,
            (false, true) => Class::ThreeReversible,
            (false, false) => Class::Three,
        },
    }
}

impl<const K: usize> SlotTable<K> {
    fn push(&mut self, forward: &[u32], products: Option<&[u32]>, none: u32) {
        let fill = |slots: &[u32]| {
            let mut full = [none; K];
            full[..slots.len()].copy_from_slice(slots);
            full
        };
        self.reactants.push(fill(forward));
        self.products.extend(products.map(fill));
        self.orders.push([forward.len() as f64, products.map_or(0.0, |p| p.len() as f64)]);
    }

    /// q of the reactions from `first` on, in place of k.
    #[inline(always)]
    fn rates<R: Real>(&self, first: usize, with: &Factors<'_, R>, q: &mut [R]) {
        let (n, n_reversible) = (self.reactants.len(), self.products.len());
        for i in 0..n_reversible {
            let (from, to) = (&self.reactants[i], &self.products[i]);
            let mut forward = with.c[from[0] as usize];
            let mut reverse = with.e[from[0] as usize] * with.z[to[0] as usize];
            for s in 1..K {
                forward = forward * with.c[from[s] as usize];
                reverse = reverse * (with.e[from[s] as usize] * with.z[to[s] as usize]);
            }
            q[first + i] = q[first + i] * (forward - reverse);
        }
        for i in n_reversible..n {
            let from = &self.reactants[i];
            let mut forward = q[first + i];
            for s in 0..K {
                forward = forward * with.c[from[s] as usize];
            }
            q[first + i] = forward;
        }
    }

    /// k Π C of the reactions from `first` on.
    fn forward<R: Real>(&self, first: usize, c: &[R], k: &[R], out: &mut [R]) {
        for (i, from) in self.reactants.iter().enumerate() {
            let factors = from.iter().map(|&species| c[species as usize]);
            out[first + i] = factors.fold(k[first + i], |product, factor| product * factor);
        }
    }

    /// k Π C / Kc of the reactions from `first` on.
    fn reverse<R: Real>(&self, first: usize, with: &Factors<'_, R>, k: &[R], out: &mut [R]) {
        for (i, from) in self.reactants.iter().enumerate() {
            let mut reverse = R::lit(0.0);
            if let Some(to) = self.products.get(i) {
                reverse = k[first + i];
                for (from, to) in from.iter().zip(to) {
                    reverse = reverse * (with.e[*from as usize] * with.z[*to as usize]);
                }
            }
            out[first + i] = reverse;
        }
    }

    /// As [`rates`](SlotTable::rates), with the derivatives.
    #[inline(always)]
    fn derivatives<R: Real>(
        &self,
        first: usize,
        first_slot: usize,
        at: &Temperature<R>,
        with: &Factors<'_, R>,
        out: &mut Progress<'_, R>,
    ) {
        let zero = R::lit(0.0);
        let (n, n_reversible) = (self.reactants.len(), self.products.len());
        for i in 0..n {
            let (r, slot) = (first + i, first_slot + 2 * K * i);
            let from = &self.reactants[i];
            let mut factors = [zero; K];
            for s in 0..K {
                factors[s] = with.c[from[s] as usize];
            }
            let (k, dlnk) = (out.q[r], out.by_t[r]);
            let product = partial_products(&factors, k, &mut out.slots[slot..slot + K]);
            let forward = k * product;
            let orders = &self.orders[i];
            if i >= n_reversible {
                out.q[r] = forward;
                out.by_t[r] = dlnk * forward;
                out.net[r] = product;
                out.scaled[r] = R::lit(orders[0]) * forward;
                continue;
            }
            let to = &self.products[i];
            let mut recip_kc = with.e[from[0] as usize] * with.recip_e[to[0] as usize];
            let mut heat = with.u[to[0] as usize] - with.u[from[0] as usize];
            factors[0] = with.c[to[0] as usize];
            for s in 1..K {
                let pair = with.e[from[s] as usize] * with.recip_e[to[s] as usize];
                recip_kc = recip_kc * pair;
                heat = heat + (with.u[to[s] as usize] - with.u[from[s] as usize]);
                factors[s] = with.c[to[s] as usize];
            }
            let back = -(k * recip_kc);
            let slots = &mut out.slots[slot + K..slot + 2 * K];
            let net = product - recip_kc * partial_products(&factors, back, slots);
            let q = k * net;
            let reverse = forward - q;
            out.q[r] = q;
            out.by_t[r] = dlnk.mul_add(q, reverse * heat * at.recip);
            out.net[r] = net;
            out.scaled[r] = R::lit(orders[0]).mul_add(forward, -(R::lit(orders[1]) * reverse));
        }
    }
}

/// Π fᵢ, and the derivatives of k Π fᵢ with respect to each factor.
#[inline(always)]
fn partial_products<R: Real, const K: usize>(factors: &[R; K], k: R, partial: &mut [R]) -> R {
    let mut before = factors[0];
    partial[0] = k;
    for s in 1..K {
        partial[s] = k * before;
        before = before * factors[s];
    }
    let mut after = factors[K - 1];
    for s in (0..K - 1).rev() {
        partial[s] = partial[s] * after;
        after = after * factors[s];
    }
    before
}

impl GeneralTable {
    fn push(&mut self, reaction: &Reaction, net: &[(usize, f64)], shift: &[(f64, f64)]) {
        if self.starts.is_empty() {
            self.starts.push(0);
            self.net_starts.push(0);
        }
        self.reversible.push(reaction.reversible);
        let reverse: &[(usize, f64)] = if reaction.reversible { &reaction.products } else { &[] };
        for terms in [&reaction.orders, reverse] {
            for &(species, order) in terms {
                let is_consumed = net.iter().any(|&(k, nu)| k == species && nu < 0.0);
                let vanishes = order > 0.0 || is_consumed;
                self.species.push(species as u32);
                self.order.push(order);
                self.secant.push(if vanishes { FLOOR.powf(order - 1.0) } else { 0.0 });
            }
            self.starts.push(self.species.len() as u32);
        }
        let mut total = [0.0; 2];
        for &(species, nu) in net {
            self.net_species.push(species as u32);
            self.net.push(nu);
            total[0] += nu * shift[species].0;
            total[1] -= nu * shift[species].1;
        }
        self.net_starts.push(self.net_species.len() as u32);
        self.shift.push(total);
    }

    /// 1/Kc of the i-th reaction and d ln Kc/dT.
    #[inline(always)]
    fn equilibrium<R: Real>(
        &self,
        i: usize,
        at: &Temperature<R>,
        with: &Factors<'_, R>,
        ln_standard: R,
    ) -> (R, R) {
        let mut sum = R::lit(self.shift[i][0]).mul_add(at.recip, R::lit(self.shift[i][1]));
        let (mut heat, mut change) = (R::lit(0.0), 0.0);
        for j in self.net_starts[i] as usize..self.net_starts[i + 1] as usize {
            let (nu, species) = (R::lit(self.net[j]), self.net_species[j] as usize);
            sum = nu.mul_add(with.gamma[species], sum);
            heat = nu.mul_add(with.u[species], heat);
            change += self.net[j];
        }
        let exponent = sum - R::lit(change) * ln_standard;
        let largest = R::lit(LARGEST_EXPONENT);
        let bounded = R::select(exponent.gt(largest), largest, exponent);
        (bounded.exp(), heat * at.recip)
    }

    /// C^order of a factor and its derivative.
    #[inline(always)]
    fn factor<R: Real>(&self, j: usize, c: &[R]) -> (R, R) {
        power(c[self.species[j] as usize], self.order[j], self.secant[j])
    }

    /// k Π C^order over the factors of a list, and with `D` the derivatives.
    #[inline(always)]
    fn product<R: Real, const D: bool>(
        &self,
        list: usize,
        k: R,
        c: &[R],
        slots: &mut [R],
    ) -> (R, R) {
        let (first, end) = (self.starts[list] as usize, self.starts[list + 1] as usize);
        let (mut product, mut scaled) = (k, R::lit(0.0));
        for j in first..end {
            let factor = self.factor(j, c);
            product = product * factor.0;
            if D {
                let mut partial = k * factor.1;
                for other in first..end {
                    if other != j {
                        partial = partial * self.factor(other, c).0;
                    }
                }
                slots[j] = partial;
                scaled = c[self.species[j] as usize].mul_add(partial, scaled);
            }
        }
        (product, scaled)
    }

    /// q of the reactions, of which the first has the number `first`, in place of k, and with `D` everything of
    /// [`Progress`].
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        first: usize,
        first_slot: usize,
        at: &Temperature<R>,
        with: &Factors<'_, R>,
        ln_standard: R,
        out: &mut Progress<'_, R>,
    ) {
        let zero = R::lit(0.0);
        for i in 0..self.reversible.len() {
            let r = first + i;
            let slots = if D { &mut out.slots[first_slot..] } else { &mut out.slots[..0] };
            let k = out.q[r];
            let (forward, mut scaled) = self.product::<R, D>(2 * i, k, with.c, slots);
            let (mut reverse, mut equilibrium, mut recip_kc) = (zero, zero, zero);
            if self.reversible[i] {
                let slope;
                (recip_kc, slope) = self.equilibrium(i, at, with, ln_standard);
                let back = self.product::<R, D>(2 * i + 1, -(k * recip_kc), with.c, slots);
                reverse = back.0;
                scaled = scaled + back.1;
                equilibrium = -(reverse * slope);
            }
            let q = forward + reverse;
            out.q[r] = q;
            if D {
                out.by_t[r] = out.by_t[r].mul_add(q, equilibrium);
                out.scaled[r] = scaled;
                let one = R::lit(1.0);
                let product = self.product::<R, false>(2 * i, one, with.c, slots).0;
                let back = self.product::<R, false>(2 * i + 1, recip_kc, with.c, slots).0;
                out.net[r] = product - back;
            }
        }
    }
}

/// Cⁿ and its derivative, continued below [`FLOOR`] where n is not a small natural number: with the slope `secant` to zero, or
/// as a constant where that is zero.
#[inline(always)]
fn power<R: Real>(c: R, n: f64, secant: f64) -> (R, R) {
    if n == n.trunc() && (0.0..=8.0).contains(&n) {
        let order = n as i32;
        let below = if order == 0 { R::lit(0.0) } else { R::lit(n) * c.powi(order - 1) };
        return (c.powi(order), below);
    }
    let floor = R::lit(FLOOR);
    let low = c.lt(floor);
    let safe = R::select(low, floor, c);
    let value = (R::lit(n) * safe.ln()).exp();
    let slope = R::lit(n) * value / safe;
    if secant > 0.0 {
        let secant = R::lit(secant);
        (R::select(low, c * secant, value), R::select(low, secant, slope))
    } else {
        (value, R::select(low, R::lit(0.0), slope))
    }
}

impl MassAction {
    /// From the reactions in the order of evaluation and their net stoichiometric coefficients.
    pub(crate) fn new(
        reactions: &[&Reaction],
        net: &[Vec<(usize, f64)>],
        basis: &Basis<'_>,
    ) -> MassAction {
        let mut tables = MassAction::default();
        let none = basis.gamma[0].len() as u32;
        for (reaction, net) in reactions.iter().zip(net) {
            let class = class(reaction, basis);
            match slots(reaction, basis) {
                Some((forward, products)) if class != Class::General => {
                    let products = reaction.reversible.then_some(products.as_slice());
                    if matches!(class, Class::Two | Class::TwoReversible) {
                        tables.two.push(&forward, products, none);
                    } else {
                        tables.three.push(&forward, products, none);
                    }
                }
                _ => tables.general.push(reaction, net, basis.shift),
            }
        }
        tables
    }

    /// Where the reactions and slots of the second and third table begin, and the ends of all.
    fn firsts(&self) -> [(usize, usize); 3] {
        let (two, three) = (self.two.reactants.len(), self.three.reactants.len());
        let general = self.general.reversible.len();
        let slots = 4 * two + 6 * three;
        [
            (two, 4 * two),
            (two + three, slots),
            (two + three + general, slots + self.general.species.len()),
        ]
    }

    /// Number of derivatives ∂q/∂C.
    pub(crate) fn n_slots(&self) -> usize {
        self.firsts()[2].1
    }

    /// The species of each slot of each reaction, as (slot, species).
    pub(crate) fn slots_of(&self, reaction: usize) -> Vec<(usize, usize)> {
        fn of<const K: usize>(table: &SlotTable<K>, i: usize, first: usize) -> Vec<(usize, u32)> {
            let products = table.products.get(i).into_iter().flatten();
            let begin = first + 2 * K * i;
            (begin..).zip(table.reactants[i].iter().chain(products).copied()).collect()
        }
        let [three, general, _] = self.firsts();
        let found = if reaction < three.0 {
            of(&self.two, reaction, 0)
        } else if reaction < general.0 {
            of(&self.three, reaction - three.0, three.1)
        } else {
            let i = reaction - general.0;
            let range =
                self.general.starts[2 * i] as usize..self.general.starts[2 * i + 2] as usize;
            range.map(|j| (general.1 + j, self.general.species[j])).collect()
        };
        found.into_iter().map(|(slot, species)| (slot, species as usize)).collect()
    }

    /// q of all reactions in place of k, and with `D` everything of [`Progress`].
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        at: &Temperature<R>,
        with: &Factors<'_, R>,
        ln_standard: R,
        out: &mut Progress<'_, R>,
    ) {
        let [three, general, _] = self.firsts();
        if D {
            self.two.derivatives(0, 0, at, with, out);
            self.three.derivatives(three.0, three.1, at, with, out);
        } else {
            self.two.rates(0, with, out.q);
            self.three.rates(three.0, with, out.q);
        }
        let (first, slot) = general;
        self.general.evaluate::<R, D>(first, slot, at, with, ln_standard, out);
    }

    /// Forward and reverse rates of all reactions [kmol/m³/s] from their k.
    pub(crate) fn both_ways<R: Real>(
        &self,
        at: &Temperature<R>,
        with: &Factors<'_, R>,
        ln_standard: R,
        k: &[R],
        [forward, reverse]: [&mut [R]; 2],
    ) {
        let [three, general, _] = self.firsts();
        self.two.forward(0, with.c, k, forward);
        self.two.reverse(0, with, k, reverse);
        self.three.forward(three.0, with.c, k, forward);
        self.three.reverse(three.0, with, k, reverse);
        let table = &self.general;
        for i in 0..table.reversible.len() {
            let r = general.0 + i;
            let product = |list, k| table.product::<R, false>(list, k, with.c, &mut []).0;
            forward[r] = product(2 * i, k[r]);
            reverse[r] = R::lit(0.0);
            if table.reversible[i] {
                let (recip_kc, _) = table.equilibrium(i, at, with, ln_standard);
                reverse[r] = product(2 * i + 1, k[r] * recip_kc);
            }
        }
    }
}
