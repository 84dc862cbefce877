//! Why there is no equilibrium, or no temperature.

use std::fmt;

use crate::error::StateError;

/// A gas whose equilibrium, or whose temperature, was not found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EquilibriumError {
    /// The gas itself is impossible.
    State(StateError),
    /// The iteration for the equilibrium did not converge.
    Diverged {
        /// Iterations made.
        iterations: usize,
        /// Temperature of the last one \[K\].
        temperature: f64,
        /// Largest relative change in the last one.
        change: f64,
    },
    /// No temperature near the range of the thermodynamic data has this enthalpy.
    Enthalpy {
        /// The enthalpy [J/kg].
        value: f64,
        /// Enthalpies of the gas at the ends of the range [J/kg].
        bounds: (f64, f64),
    },
}

impl From<StateError> for EquilibriumError {
    fn from(error: StateError) -> EquilibriumError {
        EquilibriumError::State(error)
    }
}

impl fmt::Display for EquilibriumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EquilibriumError::State(error) => error.fmt(f),
            EquilibriumError::Diverged { iterations, temperature, change } => write!(
                f,
                "no equilibrium after {iterations} iterations (at {temperature} K, still changing \
                 by {change:.1e}): is the gas within the range of its thermodynamic data?"
            ),
            EquilibriumError::Enthalpy { value, bounds: (low, high) } => write!(
                f,
                "enthalpy {value} J/kg: the gas has {low} to {high} J/kg where its thermodynamic \
                 data hold"
            ),
        }
    }
}

impl std::error::Error for EquilibriumError {}
