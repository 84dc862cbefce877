//! Physical constants.

pub use crate::read::{AVOGADRO, GAS_CONSTANT, ONE_ATM};

/// Pressure of the standard state \[Pa\]: one atmosphere, as in the published NASA polynomials.
pub const REFERENCE_PRESSURE: f64 = ONE_ATM;
