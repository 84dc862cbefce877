//! Physical constants.

/// R [J/(kmol K)]: exact since the SI of 2019.
pub const GAS_CONSTANT: f64 = 8_314.462_618_153_24;

/// One standard atmosphere \[Pa\], the reference pressure of tabulated entropies.
pub const ONE_ATM: f64 = 101325.0;

/// Avogadro's number [1/kmol].
pub const AVOGADRO: f64 = 6.02214076e26;

/// Pressure of the standard state \[Pa\]: one atmosphere, as in the published NASA polynomials.
pub const REFERENCE_PRESSURE: f64 = ONE_ATM;
