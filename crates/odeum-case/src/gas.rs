//! Gases that react: from temperature, pressure and composition to the state of a reactor.

use odeum_kinetics::reactor::{FuelOxidizer, StateBounds};
use odeum_kinetics::{Reactor, StateError};
use std::sync::Arc;

/// A reactor and how its composition is given.
#[derive(Clone, Debug)]
pub struct Gas {
    /// The reactor whose states systems have.
    pub reactor: Arc<Reactor>,
    /// How the variables say what the gas is made of.
    pub mixture: Mixture,
    /// How far below zero a fraction may lie that counts as zero. \[species\]
    pub slack: Vec<f64>,
    /// What `[system]` leaves to the state of the phase.
    pub of_state: Vec<&'static str>,
    /// The composition of that state, amounts \[species\], where a table may give another.
    pub untabled: Option<(Basis, Vec<f64>)>,
    /// The table alone says what the gas is made of, and `[system]` not what its numbers are.
    pub of_table: bool,
    /// A reaction that uses up a species of an order between zero and one, where there is any.
    pub low_order: Option<String>,
}

/// How a composition is given, after temperature \[K\] and pressure \[Pa\].
#[derive(Clone, Debug)]
pub enum Mixture {
    /// By an equivalence ratio of a fuel and an oxidizer.
    Ratio(FuelOxidizer),
    /// By a fraction of each species; they sum to one.
    Fractions(Basis),
    /// By an amount of each species, in any multiple.
    Amounts(Basis),
}

/// What fractions and amounts are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Moles, or mole fractions.
    Moles,
    /// Masses, or mass fractions.
    Masses,
}

impl Basis {
    /// Fractions of it in words.
    pub fn fractions(self) -> &'static str {
        match self {
            Basis::Moles => "mole fractions",
            Basis::Masses => "mass fractions",
        }
    }

    /// Amounts of it: a word, and the key of `[system]`.
    pub fn amounts(self) -> &'static str {
        match self {
            Basis::Moles => "moles",
            Basis::Masses => "masses",
        }
    }
}

/// Names of the variables before the composition.
pub const TEMPERATURE: &str = "T";
/// The name of the pressure \[Pa\].
pub const PRESSURE: &str = "p";
/// Name of the equivalence ratio.
pub const RATIO: &str = "phi";
/// Where messages about the composition as a whole belong.
pub const COMPOSITION: &str = "composition";

/// Largest distance of the sum of given fractions from one.
pub const SUM_TOLERANCE: f64 = StateBounds::SUM;

/// A part of the whole below zero that counts as zero, whatever the tolerance.
pub const NEGATIVE_LEAST: f64 = StateBounds::NEGATIVE_LEAST;

/// What is wrong with a start.
pub fn describe(error: &StateError, gas: &Gas) -> String {
    match (error, &gas.mixture) {
        (StateError::Sum(sum), Mixture::Fractions(basis)) => {
            format!("its {} sum to {sum}, not to one", basis.fractions())
        }
        (StateError::Sum(sum), Mixture::Amounts(basis)) => {
            format!("its {} sum to {sum}", basis.amounts())
        }
        _ => error.to_string(),
    }
}

/// The variable or key of `[system]` that a refused start is about, and what helps.
pub fn remedy(error: &StateError) -> (Option<&str>, String) {
    match error {
        StateError::Temperature { .. } => (Some(TEMPERATURE), error.remedy()),
        StateError::NotPositive { what: "pressure", .. } => {
            (Some(PRESSURE), "give a pressure above zero, in Pa".to_owned())
        }
        StateError::NotPositive { what: "equivalence ratio", .. } => {
            (Some(RATIO), "give a number, zero (oxidizer alone) or more".to_owned())
        }
        StateError::Fraction { species, .. } => (Some(species), error.remedy()),
        StateError::Sum(0.0) => (
            Some(COMPOSITION),
            "say what the gas is made of, in [system] or by the table".to_owned(),
        ),
        StateError::Sum(_) => (
            Some(COMPOSITION),
            "fractions must sum to one within 0.001; amounts that are to be scaled are given as \
             `moles` or `masses` in [system]"
                .to_owned(),
        ),
        StateError::NoStoichiometricMixture => (
            Some("fuel"),
            "the fuel must hold C, H or S beyond its oxygen, the oxidizer O beyond its fuel"
                .to_owned(),
        ),
        _ => (None, "change the range it comes from, or what [system] says".to_owned()),
    }
}

impl Gas {
    /// Within which states that come from elsewhere are those of this gas.
    pub fn state_bounds(&self) -> StateBounds {
        StateBounds::new(&self.reactor, self.slack.iter().copied())
    }

    /// Names of the variables.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![TEMPERATURE.to_owned(), PRESSURE.to_owned()];
        match self.mixture {
            Mixture::Ratio(_) => names.push(RATIO.to_owned()),
            _ => names.extend(self.reactor.kinetics().species_names().iter().cloned()),
        }
        names
    }

    /// State and parameter of the reactor \[n + 1\] from the variables.
    pub fn start(&self, variables: &[f64]) -> Result<Vec<f64>, StateError> {
        let masses = match &self.mixture {
            Mixture::Ratio(sides) => sides.at(variables[2])?,
            Mixture::Fractions(basis) => {
                let fractions = self.raised(&variables[2..], 1.0);
                let sum: f64 = fractions.iter().sum();
                let sound = fractions.iter().all(|x| *x >= 0.0);
                // What is negative or NaN is refused by name further on.
                if sound && (sum - 1.0).abs() > SUM_TOLERANCE {
                    return Err(StateError::Sum(sum));
                }
                self.masses(*basis, fractions, sum)?
            }
            Mixture::Amounts(basis) => {
                let whole = variables[2..].iter().filter(|x| **x > 0.0).sum();
                let amounts = self.raised(&variables[2..], whole);
                let sum = amounts.iter().sum();
                self.masses(*basis, amounts, sum)?
            }
        };
        let (mut state, parameter) = self.reactor.state(variables[0], variables[1], &masses)?;
        state.extend(parameter);
        Ok(state)
    }

    /// The text of the kernels for cells whose arrays lie on a device ([`odeum_kinetics::cells`]), by the same rules as
    /// [`start`](Gas::start); `None` but for mass fractions.
    pub fn cells_text(&self) -> Option<String> {
        match self.mixture {
            Mixture::Fractions(Basis::Masses) => {
                Some(self.reactor.cells_text(&self.slack, SUM_TOLERANCE))
            }
            _ => None,
        }
    }

    /// True where a part of the composition lies below zero.
    pub fn has_negatives(&self, variables: &[f64]) -> bool {
        !matches!(self.mixture, Mixture::Ratio(_)) && variables[2..].iter().any(|x| *x < 0.0)
    }

    /// Fractions of a whole, those that are negative by no more than the slack raised to zero.
    fn raised(&self, shares: &[f64], whole: f64) -> Vec<f64> {
        let raise = |(x, slack): (&f64, &f64)| {
            if *x < 0.0 && *x >= -slack * whole { 0.0 } else { *x }
        };
        shares.iter().zip(&self.slack).map(raise).collect()
    }

    /// Mass fractions from shares of a sum.
    fn masses(&self, basis: Basis, shares: Vec<f64>, sum: f64) -> Result<Vec<f64>, StateError> {
        match basis {
            Basis::Moles => self.reactor.kinetics().mass_fractions(&shares),
            Basis::Masses if sum > 0.0 && shares.iter().all(|y| *y >= 0.0) => {
                Ok(shares.into_iter().map(|y| y / sum).collect())
            }
            // Zero, NaN and what is negative are left for the reactor to refuse.
            Basis::Masses => Ok(shares),
        }
    }
}
