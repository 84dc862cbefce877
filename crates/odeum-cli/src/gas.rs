//! Gases that react: from temperature, pressure and composition to the state of a reactor.

use odeum::kinetics::{Reactor, StateError};
use std::sync::Arc;

/// A reactor and how its composition is given.
#[derive(Clone, Debug)]
pub(crate) struct Gas {
    pub(crate) reactor: Arc<Reactor>,
    pub(crate) mixture: Mixture,
}

/// How a composition is given, after temperature \[K\] and pressure \[Pa\].
#[derive(Clone, Debug)]
pub(crate) enum Mixture {
    /// By an equivalence ratio of a fuel and an oxidizer, in amounts of their species.
    Ratio { fuel: Vec<f64>, oxidizer: Vec<f64> },
    /// By an amount of each species.
    Moles,
    /// By a mass of each species.
    Masses,
}

/// Names of the variables before the composition.
pub(crate) const TEMPERATURE: &str = "T";
pub(crate) const PRESSURE: &str = "p";
/// Name of the equivalence ratio.
pub(crate) const RATIO: &str = "phi";

/// The variable or key of `[system]` that a refused start is about, and what helps.
pub(crate) fn remedy(error: &StateError) -> (Option<&str>, String) {
    match error {
        StateError::Temperature { bounds: (low, high), .. } => (
            Some(TEMPERATURE),
            format!(
                "give {low} to {high} K, for which the mechanism has the data of all its species"
            ),
        ),
        StateError::NotPositive { what: "pressure", .. } => {
            (Some(PRESSURE), "give a pressure above zero, in Pa".to_owned())
        }
        StateError::NotPositive { what: "equivalence ratio", .. } => {
            (Some(RATIO), "give zero (oxidizer alone) or more".to_owned())
        }
        StateError::Fraction { species, .. } => (Some(species), "give zero or more".to_owned()),
        StateError::NoStoichiometricMixture => (
            Some("fuel"),
            "the fuel must hold C, H or S beyond its oxygen, the oxidizer O beyond its fuel"
                .to_owned(),
        ),
        _ => (None, "change the range it comes from, or what [system] says".to_owned()),
    }
}

impl Gas {
    /// Names of the variables.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = vec![TEMPERATURE.to_owned(), PRESSURE.to_owned()];
        match self.mixture {
            Mixture::Ratio { .. } => names.push(RATIO.to_owned()),
            _ => names.extend(self.reactor.kinetics().species_names().iter().cloned()),
        }
        names
    }

    /// State and parameter of the reactor \[n + 1\] from the variables.
    pub(crate) fn start(&self, variables: &[f64]) -> Result<Vec<f64>, StateError> {
        let kinetics = self.reactor.kinetics();
        let masses = match &self.mixture {
            Mixture::Ratio { fuel, oxidizer } => {
                kinetics.at_equivalence_ratio(variables[2], fuel, oxidizer)?
            }
            Mixture::Moles => kinetics.mass_fractions(&variables[2..])?,
            Mixture::Masses => {
                let sum: f64 = variables[2..].iter().sum();
                // Zero and NaN are left for the reactor to refuse.
                variables[2..].iter().map(|y| if sum > 0.0 { y / sum } else { *y }).collect()
            }
        };
        let (mut state, parameter) = self.reactor.state(variables[0], variables[1], &masses)?;
        state.extend(parameter);
        Ok(state)
    }
}
