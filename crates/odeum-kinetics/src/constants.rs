//! Physical constants.

/// Molar gas constant R [J/(kmol K)], exact in the SI of 2019.
pub const GAS_CONSTANT: f64 = 8314.46261815324;

/// Pressure of the standard state \[Pa\]: one atmosphere, as in the published NASA polynomials.
pub const REFERENCE_PRESSURE: f64 = 101_325.0;
