//! What can be wrong with a partially stirred reactor.

use std::fmt;

use crate::equilibrium::EquilibriumError;

/// Settings that make no reactor, or a particle that left the gas phase's data.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PasrError {
    /// A number that cannot be.
    Setting {
        /// Field of [`PasrSettings`](super::PasrSettings).
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// A gas that cannot be made from the settings.
    Gas {
        /// Field of [`PasrSettings`](super::PasrSettings), or what is made from several.
        field: &'static str,
        /// Why.
        error: EquilibriumError,
    },
    /// Gas that burns to a temperature beyond the thermodynamic data.
    Flame {
        /// Of the equilibrium of the mixture \[K\].
        temperature: f64,
        /// Between which the data hold \[K\].
        bounds: (f64, f64),
    },
    /// A particle whose state is none after mixing or reaction: the reaction was integrated too coarsely, or the gas
    /// left the thermodynamic data.
    Particle {
        /// Which.
        particle: usize,
        /// Time \[s\].
        time: f64,
        /// Why.
        error: EquilibriumError,
    },
}

impl fmt::Display for PasrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PasrError::Setting { field, value, expected } => {
                write!(f, "{field} = {value}: expected {expected}")
            }
            PasrError::Gas { field, error } => write!(f, "{field}: {error}"),
            PasrError::Flame { temperature, bounds: (low, high) } => write!(
                f,
                "the mixture burns to {temperature:.0} K, and the thermodynamic data hold from {low} to {high} K"
            ),
            PasrError::Particle { particle, time, error } => {
                write!(f, "particle {particle} after {time} s: {error}")
            }
        }
    }
}

impl std::error::Error for PasrError {}

/// Why a run ended early: its own failure, or that of the caller's reaction.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError<E> {
    /// Of the reactor.
    Pasr(PasrError),
    /// Of the reaction.
    Reaction(E),
}

impl<E> From<PasrError> for RunError<E> {
    fn from(error: PasrError) -> RunError<E> {
        RunError::Pasr(error)
    }
}

impl<E: fmt::Display> fmt::Display for RunError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Pasr(error) => error.fmt(f),
            RunError::Reaction(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for RunError<E> {}
