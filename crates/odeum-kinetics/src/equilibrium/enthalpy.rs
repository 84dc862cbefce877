//! Enthalpy of a mixture, and its temperature from the enthalpy.

use crate::constants::GAS_CONSTANT;
use crate::equilibrium::EquilibriumError;
use crate::error::StateError;
use crate::kinetics::Kinetics;
use crate::reactor::SUM_TOLERANCE;
use crate::thermo::{Functions, Temperature};

/// How far beyond the range of the thermodynamic data a temperature is sought: rounding must not
/// put a gas at the end of the range outside.
const MARGIN: f64 = 0.05;
/// Newton's method in a bracket halves it at worst, so that this many halvings reach rounding.
const MAX_ITERATIONS: usize = 80;
/// A relative Newton step after which the next would be rounding: it shrinks quadratically.
const SMALL_STEP: f64 = 1e-9;
/// Two spacings of a temperature, at which halving ends.
pub(super) const SPACINGS: f64 = 2.0 * f64::EPSILON;

/// Standard-state functions of all species at one temperature, without units.
#[derive(Clone, Debug)]
pub(crate) struct Standard {
    /// cp/R. \[species\]
    pub(crate) cp: Vec<f64>,
    /// h/RT. \[species\]
    pub(crate) h: Vec<f64>,
    /// g/RT at one atmosphere. \[species\]
    pub(crate) g: Vec<f64>,
}

impl Standard {
    pub(crate) fn new(n_species: usize) -> Standard {
        let zeros = || vec![0.0; n_species];
        Standard { cp: zeros(), h: zeros(), g: zeros() }
    }

    /// The functions at a temperature \[K\].
    pub(crate) fn evaluate(&mut self, kinetics: &Kinetics, t: f64) {
        let at = Temperature::new(t);
        let mut out =
            Functions { cp: &mut self.cp, h: &mut self.h, gamma: &mut self.g, dcp: &mut [] };
        kinetics.thermo.evaluate::<f64, false>(&at, &mut out);
        for (g, (lambda, sigma)) in self.g.iter_mut().zip(&kinetics.thermo.shift) {
            *g += lambda / t - sigma;
        }
    }

    /// Enthalpy [J/kg] and heat capacity [J/(kg K)] of a mixture.
    fn mixture(&mut self, kinetics: &Kinetics, t: f64, y: &[f64]) -> (f64, f64) {
        self.evaluate(kinetics, t);
        let (mut h, mut cp) = (0.0, 0.0);
        for (k, y) in y.iter().enumerate() {
            let amount = y * kinetics.recip_weight[k];
            h += amount * self.h[k];
            cp += amount * self.cp[k];
        }
        (h * GAS_CONSTANT * t, cp * GAS_CONSTANT)
    }
}

impl Kinetics {
    /// Enthalpy of a mixture at a temperature \[K\], with the enthalpies of formation [J/kg].
    /// Mass fractions: \[species\].
    ///
    /// # Panics
    ///
    /// Unless there is one mass fraction per species.
    pub fn enthalpy_mass(&self, temperature: f64, mass_fractions: &[f64]) -> f64 {
        self.expect_species(mass_fractions.len(), "mass fractions");
        Standard::new(self.n_species()).mixture(self, temperature, mass_fractions).0
    }

    /// The temperature \[K\] at which a mixture has this enthalpy [J/kg], by Newton's method from
    /// `guess` within a bracket. Mass fractions \[species\] below zero, as integrators leave them,
    /// count as zero; they are not scaled.
    ///
    /// # Errors
    ///
    /// [`EquilibriumError::Enthalpy`] when there is none within the thermodynamic data, and
    /// [`EquilibriumError::State`] for a composition that is none, as one that does not sum to one.
    pub fn temperature_of(
        &self,
        enthalpy: f64,
        mass_fractions: &[f64],
        guess: f64,
    ) -> Result<f64, EquilibriumError> {
        let (expected, found) = (self.n_species(), mass_fractions.len());
        if expected != found {
            return Err(StateError::Length { expected, found }.into());
        }
        if let Some(k) = mass_fractions.iter().position(|y| !y.is_finite()) {
            let (species, value) = (self.species_names[k].clone(), mass_fractions[k]);
            return Err(StateError::Fraction { species, value }.into());
        }
        let y: Vec<f64> = mass_fractions.iter().map(|y| y.max(0.0)).collect();
        let sum: f64 = y.iter().sum();
        let raised: f64 = sum - mass_fractions.iter().sum::<f64>();
        if (sum - 1.0).abs() > SUM_TOLERANCE + raised {
            return Err(StateError::Sum(sum).into());
        }
        let mut standard = Standard::new(expected);
        let (mut low, mut high) = self.sought_temperatures();
        let mut t = if guess > low && guess < high { guess } else { 0.5 * (low + high) };
        let ends = (low, high);
        for _ in 0..MAX_ITERATIONS {
            let (h, cp) = standard.mixture(self, t, &y);
            let excess = h - enthalpy;
            if excess == 0.0 {
                break;
            }
            if excess > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let newton = t - excess / cp;
            let inside = cp > 0.0 && newton >= low && newton <= high;
            let next = if inside { newton } else { 0.5 * (low + high) };
            let change = (next - t).abs();
            t = next;
            if change <= (if inside { SMALL_STEP } else { SPACINGS }) * t {
                break;
            }
        }
        self.within(t, ends, enthalpy, &y, &mut standard)
    }

    /// Between which temperatures \[K\] that of an enthalpy is sought.
    pub(crate) fn sought_temperatures(&self) -> (f64, f64) {
        let bounds = self.temperature_bounds();
        let (low, high) = (bounds.0 * (1.0 - MARGIN), bounds.1 * (1.0 + MARGIN));
        if high.is_finite() && low > 0.0 { (low, high) } else { (low.max(1.0), high.min(1e5)) }
    }

    /// `t` unless the bracket shrank onto one of its ends: then the enthalpy lies outside.
    fn within(
        &self,
        t: f64,
        ends: (f64, f64),
        enthalpy: f64,
        y: &[f64],
        standard: &mut Standard,
    ) -> Result<f64, EquilibriumError> {
        if t > ends.0 * (1.0 + SMALL_STEP) && t < ends.1 * (1.0 - SMALL_STEP) {
            return Ok(t);
        }
        let low = standard.mixture(self, ends.0, y).0;
        let high = standard.mixture(self, ends.1, y).0;
        if enthalpy >= low && enthalpy <= high {
            return Ok(t);
        }
        Err(EquilibriumError::Enthalpy { value: enthalpy, bounds: (low, high) })
    }
}
