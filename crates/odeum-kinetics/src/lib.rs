//! Chemical mechanisms, and the reactors that run them.
//!
//! A mechanism file, Cantera YAML or Chemkin, is read into one [`Mechanism`] in SI units with
//! kmol as the amount of substance: the units of Cantera's own interfaces.

pub mod check;
pub mod mechanism;
pub mod read;

pub use mechanism::Mechanism;
