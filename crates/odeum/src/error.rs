//! One error type for all failures of a call, whichever crate they come from.

use odeum_core::NotSquare;
use odeum_core::graph::PartsError;
use odeum_core::text::TextErrors;
use odeum_fields::ModelError;
use odeum_kinetics::pasr::PasrError;
use odeum_kinetics::read::ReadErrors;
use odeum_kinetics::{EquilibriumError, KineticsError, StateError};
use thiserror::Error as ThisError;

/// Why a call could not be carried out: the errors of all crates, into which `?` converts them. A system
/// that fails is not an error but a status.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// An argument, a device or its code.
    #[error(transparent)]
    Call(#[from] odeum_core::Error),
    /// Equations as text.
    #[error(transparent)]
    Text(#[from] TextErrors),
    /// A graph from parts.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// A graph that is no system.
    #[error(transparent)]
    NotSquare(#[from] NotSquare),
    /// The model of a field.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The file of a mechanism.
    #[error(transparent)]
    Read(#[from] ReadErrors),
    /// A mechanism.
    #[error(transparent)]
    Kinetics(#[from] KineticsError),
    /// A state in which no reactor can be.
    #[error(transparent)]
    State(#[from] StateError),
    /// An equilibrium.
    #[error(transparent)]
    Equilibrium(#[from] EquilibriumError),
    /// A partially stirred reactor.
    #[error(transparent)]
    Pasr(#[from] PasrError),
}
