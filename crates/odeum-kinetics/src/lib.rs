//! Chemical mechanisms, and the reactors that use them.
//!
//! A mechanism file, Cantera YAML or Chemkin, is read into one [`Mechanism`] in SI units with
//! kmol as the amount of substance: the units of Cantera's own interfaces. [`Kinetics`] computes
//! thermodynamics and rates from it, over any [`odeum_core::Real`]; a [`Reactor`] is the
//! [`odeum_core::System`] of a closed volume of gas, with its exact sparse Jacobian.

pub mod check;
pub mod constants;
mod device;
mod equilibrium;
mod error;
mod gather;
mod kinetics;
pub mod mechanism;
pub mod pasr;
mod properties;
mod rate;
pub mod reactor;
pub mod read;
mod recorded;
mod scratch;
mod thermo;

pub use device::cells;
pub use equilibrium::EquilibriumError;
pub use error::{KineticsError, StateError};
pub use kinetics::Kinetics;
pub use mechanism::Mechanism;
pub use pasr::{Pasr, PasrSettings};
pub use reactor::{Constraint, Energy, JacobianForm, Reactor};
