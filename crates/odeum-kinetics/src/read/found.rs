//! What a reader found: a mechanism, and which files its parts are from.

use super::problem::Log;
use crate::mechanism::{Mechanism, Species};

/// The state that a phase gives itself, as Cantera sets it when it loads the phase; nothing where the
/// file says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialState {
    /// Temperature \[K\].
    pub temperature: Option<f64>,
    /// Pressure \[Pa\]; from the density where the file gives that.
    pub pressure: Option<f64>,
    /// Density [kg/m³], where the file gives one from which no pressure follows, as it does not say
    /// what the gas is made of.
    pub density: Option<f64>,
    /// What the gas is made of.
    pub composition: Option<Composition>,
}

/// Amounts of all species, which are not scaled. \[species\]
#[derive(Clone, Debug, PartialEq)]
pub enum Composition {
    /// By mole.
    MoleFractions(Vec<f64>),
    /// By mass.
    MassFractions(Vec<f64>),
}

impl Composition {
    /// Amount of substance per mass [kmol/kg]; `None` where there is no mass.
    pub(crate) fn moles_per_mass(&self, species: &[Species]) -> Option<f64> {
        let (mut moles, mut mass) = (0.0, 0.0);
        let (Composition::MoleFractions(all) | Composition::MassFractions(all)) = self;
        for (amount, species) in all.iter().zip(species) {
            match self {
                Composition::MoleFractions(_) => {
                    moles += amount;
                    mass += amount * species.weight;
                }
                Composition::MassFractions(_) => {
                    moles += amount / species.weight;
                    mass += amount;
                }
            }
        }
        (mass > 0.0).then_some(moles / mass)
    }
}

/// A mechanism as far as it could be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) mechanism: Mechanism,
    pub(crate) state: InitialState,
    /// Names of the files, that of the mechanism first.
    pub(crate) files: Vec<String>,
    /// The file of each species and of each reaction; beyond the end it is the first.
    pub(crate) of_species: Vec<usize>,
    pub(crate) of_reaction: Vec<usize>,
}

impl Found {
    /// A mechanism of one file.
    pub(crate) fn of_one(file: &str, mechanism: Mechanism) -> Found {
        Found { mechanism, files: vec![file.to_owned()], ..Found::default() }
    }

    /// Problems to come are of the file of a species.
    pub(crate) fn enter_species(&self, species: usize, log: &mut Log) {
        log.enter(&self.files[self.of_species.get(species).copied().unwrap_or(0)]);
    }

    /// Problems to come are of the file of a reaction.
    pub(crate) fn enter_reaction(&self, reaction: usize, log: &mut Log) {
        log.enter(&self.files[self.of_reaction.get(reaction).copied().unwrap_or(0)]);
    }

    /// Problems to come are of the mechanism's own file.
    pub(crate) fn enter_own(&self, log: &mut Log) {
        log.enter(&self.files[0]);
    }

    /// Where a reaction stands, seen from another.
    pub(crate) fn line_of(&self, reaction: usize, from: usize) -> String {
        let file = |r: usize| self.of_reaction.get(r).copied().unwrap_or(0);
        let line = self.mechanism.reactions[reaction].line;
        if file(reaction) == file(from) {
            format!("line {line}")
        } else {
            format!("line {line} of {}", self.files[file(reaction)])
        }
    }
}
