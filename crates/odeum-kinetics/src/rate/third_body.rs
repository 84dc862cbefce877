//! Effective concentrations of colliders, X = Σ αₖ Cₖ, and three-body reactions, k = k₀ X.
//!
//! X is computed as α₀ M + Σ (αₖ − α₀) Cₖ over the listed species, with M the total concentration
//! and α₀ the efficiency of all others: so a reaction depends on the listed species and on M
//! alone, and its derivatives stay sparse.

use std::collections::HashMap;

use odeum_core::Real;

use super::blend::TINY;
use super::{Conditions, Constants};
use crate::mechanism::ThirdBody;

/// The different sets of efficiencies of a mechanism, and who uses them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ThirdBodies {
    /// α₀ of each set.
    pub(crate) default: Vec<f64>,
    /// Listed species of the i-th set: starts\[i\]..starts\[i + 1\].
    pub(crate) starts: Vec<u32>,
    pub(crate) species: Vec<u32>,
    /// α − α₀ of each listed species.
    pub(crate) excess: Vec<f64>,
    /// The reactions with a third body: three-body reactions first, then falloff reactions.
    pub(crate) reaction: Vec<u32>,
    /// The set of each.
    pub(crate) set: Vec<u32>,
    /// The sets of which ln X is wanted.
    pub(crate) logarithms: Vec<u32>,
    /// How many of them are three-body reactions.
    pub(crate) n_three_body: usize,
}

/// Numbers of the sets of efficiencies met before, by α₀ and (species, α − α₀) to the bit.
pub(crate) type KnownSets = HashMap<(u64, Vec<(u32, u64)>), usize>;

impl ThirdBodies {
    /// Adds a reaction; its number among those with a third body.
    pub(crate) fn push(
        &mut self,
        reaction: usize,
        colliders: Option<&ThirdBody>,
        known: &mut KnownSets,
    ) -> usize {
        let everyone = ThirdBody { default_efficiency: 1.0, efficiencies: Vec::new() };
        let set = self.set_of(colliders.unwrap_or(&everyone), known);
        self.reaction.push(reaction as u32);
        self.set.push(set as u32);
        self.reaction.len() - 1
    }

    /// Asks for ln X of the colliders of the reactions of these numbers.
    pub(crate) fn want_logarithms(&mut self, numbers: &[usize]) {
        self.logarithms = numbers.iter().map(|&number| self.set[number]).collect();
        self.logarithms.sort_unstable();
        self.logarithms.dedup();
    }

    /// The number of a set of efficiencies, which is new or one met before.
    fn set_of(&mut self, colliders: &ThirdBody, known: &mut KnownSets) -> usize {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let base = colliders.default_efficiency;
        let mut listed: Vec<(u32, f64)> = colliders
            .efficiencies
            .iter()
            .filter(|(_, alpha)| *alpha != base)
            .map(|(species, alpha)| (*species as u32, alpha - base))
            .collect();
        listed.sort_by_key(|(species, _)| *species);
        let bits = listed.iter().map(|(species, excess)| (*species, excess.to_bits())).collect();
        *known.entry((base.to_bits(), bits)).or_insert_with(|| {
            self.default.push(base);
            self.species.extend(listed.iter().map(|(species, _)| *species));
            self.excess.extend(listed.iter().map(|(_, excess)| *excess));
            self.starts.push(self.species.len() as u32);
            self.default.len() - 1
        })
    }

    /// (species, α − α₀) of a set.
    pub(crate) fn listed(&self, set: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.starts[set] as usize..self.starts[set + 1] as usize;
        range.map(|i| (self.species[i], self.excess[i]))
    }

    /// X of every set from the concentrations.
    #[inline(always)]
    pub(crate) fn concentrations<R: Real>(
        &self,
        with: &Conditions<R>,
        concentrations: &[R],
        x: &mut [R],
        ln_x: &mut [R],
    ) {
        for set in 0..self.default.len() {
            let mut sum = R::lit(self.default[set]) * with.total;
            for i in self.starts[set] as usize..self.starts[set + 1] as usize {
                let c = concentrations[self.species[i] as usize];
                sum = R::lit(self.excess[i]).mul_add(c, sum);
            }
            x[set] = sum;
        }
        let tiny = R::lit(TINY);
        for &set in &self.logarithms {
            let here = x[set as usize];
            ln_x[set as usize] = R::select(here.lt(tiny), tiny, here).ln();
        }
    }

    /// Multiplies the k of the three-body reactions by X.
    #[inline(always)]
    pub(crate) fn multiply<R: Real, const D: bool>(&self, rates: &mut Constants<'_, R>) {
        for j in 0..self.n_three_body {
            let r = self.reaction[j] as usize;
            if D {
                rates.dk_dx[j] = rates.k[r];
            }
            rates.k[r] = rates.k[r] * rates.x[self.set[j] as usize];
        }
    }
}
