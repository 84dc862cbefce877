//! States of a reactor from what users know, and back.

use super::{Constraint, Reactor};
use crate::constants::GAS_CONSTANT;
use crate::error::StateError;
use crate::kinetics::Kinetics;

/// Largest distance of the sum of mass fractions from one.
pub(crate) const SUM_TOLERANCE: f64 = 1e-6;

/// Rounding of a temperature at an end of the data, relative.
const ROUNDING: f64 = 1e-9;

/// Temperature, pressure, density and composition of a gas.
#[derive(Clone, Debug, PartialEq)]
pub struct GasState {
    /// Temperature \[K\].
    pub temperature: f64,
    /// Pressure \[Pa\].
    pub pressure: f64,
    /// Density [kg/m³].
    pub density: f64,
    /// Mass fractions. \[species\]
    pub mass_fractions: Vec<f64>,
}

/// A fuel and an oxidizer, to be mixed at equivalence ratios ([`Kinetics::fuel_oxidizer`]).
#[derive(Clone, Debug, PartialEq)]
pub struct FuelOxidizer {
    /// Mass fractions. \[species\]
    fuel: Vec<f64>,
    oxidizer: Vec<f64>,
    /// Atoms of oxygen that a kilogram of fuel takes, and one of oxidizer gives [kmol/kg].
    takes: f64,
    gives: f64,
}

impl FuelOxidizer {
    /// Mass fractions \[species\] of the mixture at an equivalence ratio φ: the fuel takes φ times the oxygen there is.
    ///
    /// # Errors
    ///
    /// [`StateError::NotPositive`] for a φ that is negative or not finite.
    pub fn at(&self, phi: f64) -> Result<Vec<f64>, StateError> {
        if !(phi >= 0.0 && phi.is_finite()) {
            return Err(StateError::NotPositive { what: "equivalence ratio", value: phi });
        }
        // Kilograms of fuel to those of oxidizer. The larger weight is one: the ratio may be beyond all numbers.
        let ratio = phi * self.gives / self.takes;
        let (of_fuel, of_oxidizer) = if ratio > 1.0 { (1.0, ratio.recip()) } else { (ratio, 1.0) };
        let sum = of_fuel + of_oxidizer;
        let mix = |(fuel, oxidizer): (&f64, &f64)| (of_fuel * fuel + of_oxidizer * oxidizer) / sum;
        Ok(self.fuel.iter().zip(&self.oxidizer).map(mix).collect())
    }
}

impl Kinetics {
    /// Mass fractions from mole fractions, or from any amounts in kmol. \[species\]
    ///
    /// # Errors
    ///
    /// [`StateError`] when there is not one number per species, or one is negative or NaN, or all
    /// are zero.
    pub fn mass_fractions(&self, mole_fractions: &[f64]) -> Result<Vec<f64>, StateError> {
        self.check_fractions(mole_fractions)?;
        let masses: Vec<f64> =
            mole_fractions.iter().zip(&self.weight).map(|(x, w)| x * w).collect();
        let sum: f64 = masses.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(StateError::Sum(sum));
        }
        Ok(masses.iter().map(|mass| mass / sum).collect())
    }

    /// Amounts of all species from named ones. \[species\]
    ///
    /// # Errors
    ///
    /// [`StateError::UnknownSpecies`].
    pub fn composition(&self, named: &[(&str, f64)]) -> Result<Vec<f64>, StateError> {
        let mut amounts = vec![0.0; self.n_species()];
        for (name, amount) in named {
            let index = self.species_index(name);
            let index = index.ok_or_else(|| StateError::UnknownSpecies((*name).to_owned()))?;
            amounts[index] += amount;
        }
        Ok(amounts)
    }

    /// Mass fractions of a mixture of `fuel` and `oxidizer`, given in amounts of their species
    /// \[kmol\], at an equivalence ratio φ: the fuel takes φ times the oxygen there is when it
    /// burns to CO₂, H₂O and SO₂.
    ///
    /// # Errors
    ///
    /// [`StateError`] for a composition or a φ that is none, and for a fuel that takes no oxygen
    /// or an oxidizer that gives none.
    pub fn at_equivalence_ratio(
        &self,
        phi: f64,
        fuel: &[f64],
        oxidizer: &[f64],
    ) -> Result<Vec<f64>, StateError> {
        let (fuel, oxidizer) = (self.mass_fractions(fuel)?, self.mass_fractions(oxidizer)?);
        self.fuel_oxidizer(fuel, oxidizer)?.at(phi)
    }

    /// A fuel and an oxidizer, given by mass fractions, for mixtures at any number of equivalence ratios.
    ///
    /// # Errors
    ///
    /// [`StateError`] for fractions that are none, and for a fuel that takes no oxygen or an oxidizer that gives none.
    pub fn fuel_oxidizer(
        &self,
        fuel: Vec<f64>,
        oxidizer: Vec<f64>,
    ) -> Result<FuelOxidizer, StateError> {
        self.check_fractions(&fuel)?;
        self.check_fractions(&oxidizer)?;
        let (takes, gives) = (self.oxygen_demand(&fuel), -self.oxygen_demand(&oxidizer));
        if !(takes > 0.0 && gives > 0.0) {
            return Err(StateError::NoStoichiometricMixture);
        }
        Ok(FuelOxidizer { fuel, oxidizer, takes, gives })
    }

    /// Atoms of oxygen that a kilogram lacks for complete combustion [kmol/kg].
    fn oxygen_demand(&self, mass_fractions: &[f64]) -> f64 {
        let of_element = |name: &String| match name.to_ascii_uppercase().as_str() {
            "C" | "S" => 2.0,
            "H" | "D" => 0.5,
            "O" => -1.0,
            _ => 0.0,
        };
        let of_element: Vec<f64> = self.element_names.iter().map(of_element).collect();
        let mut demand = 0.0;
        for (k, y) in mass_fractions.iter().enumerate() {
            for &(element, count) in &self.composition[k] {
                demand += y * self.recip_weight[k] * count * of_element[element];
            }
        }
        demand
    }

    /// Whether the data of all species hold at a temperature \[K\]; where they do not, they are
    /// extrapolated.
    pub fn data_hold_at(&self, temperature: f64) -> bool {
        let (low, high) = self.temperature_bounds();
        temperature >= low * (1.0 - ROUNDING) && temperature <= high * (1.0 + ROUNDING)
    }

    /// Whether a temperature is at most `margin` outside the thermodynamic data \[K\].
    pub(crate) fn check_temperature(
        &self,
        temperature: f64,
        margin: f64,
    ) -> Result<(), StateError> {
        let bounds = self.temperature_bounds();
        let inside = temperature >= bounds.0 - margin && temperature <= bounds.1 + margin;
        if temperature > 0.0 && temperature.is_finite() && inside {
            Ok(())
        } else {
            Err(StateError::Temperature { value: temperature, bounds, margin })
        }
    }

    fn check_fractions(&self, fractions: &[f64]) -> Result<(), StateError> {
        let (expected, found) = (self.n_species(), fractions.len());
        if expected != found {
            return Err(StateError::Length { expected, found });
        }
        match fractions.iter().position(|y| !(*y >= 0.0 && y.is_finite())) {
            Some(k) => Err(StateError::Fraction {
                species: self.species_names[k].clone(),
                value: fractions[k],
            }),
            None => Ok(()),
        }
    }
}

impl Reactor {
    /// The state vector \[dim\] and the parameter of a gas at a temperature \[K\], a pressure
    /// \[Pa\] and mass fractions \[species\], which are scaled to sum to one exactly.
    ///
    /// # Errors
    ///
    /// [`StateError`] when the temperature is outside the thermodynamic data by more than the
    /// reactor's margin ([`TEMPERATURE_MARGIN`](super::TEMPERATURE_MARGIN) unless said otherwise), the pressure is not positive,
    /// a fraction is negative or NaN, or their sum is not one to a part in a million.
    pub fn state(
        &self,
        temperature: f64,
        pressure: f64,
        mass_fractions: &[f64],
    ) -> Result<(Vec<f64>, [f64; 1]), StateError> {
        let kinetics = &*self.kinetics;
        kinetics.check_temperature(temperature, self.temperature_margin)?;
        if !(pressure > 0.0 && pressure.is_finite()) {
            return Err(StateError::NotPositive { what: "pressure", value: pressure });
        }
        kinetics.check_fractions(mass_fractions)?;
        let sum: f64 = mass_fractions.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(StateError::Sum(sum));
        }
        // With room for the parameter, which callers put behind it.
        let mut y = Vec::with_capacity(mass_fractions.len() + 3);
        y.push(temperature);
        y.extend(mass_fractions.iter().map(|fraction| fraction / sum));
        let amounts = y[1..].iter().zip(&kinetics.recip_weight).map(|(y, w)| y * w);
        let m: f64 = amounts.sum();
        y.push(m);
        let parameter = match self.constraint {
            Constraint::ConstantPressure => pressure,
            Constraint::ConstantVolume => pressure / (GAS_CONSTANT * temperature * m),
        };
        Ok((y, [parameter]))
    }

    /// The gas of a state vector and its parameter; `None` when their lengths are wrong.
    pub fn gas(&self, y: &[f64], p: &[f64]) -> Option<GasState> {
        let n = self.kinetics.n_species();
        let (&[temperature, ref rest @ ..], &[parameter]) = (y, p) else { return None };
        let (&m, mass_fractions) = rest.split_last()?;
        if mass_fractions.len() != n {
            return None;
        }
        let specific = GAS_CONSTANT * temperature * m;
        let (pressure, density) = match self.constraint {
            Constraint::ConstantPressure => (parameter, parameter / specific),
            Constraint::ConstantVolume => (parameter * specific, parameter),
        };
        Some(GasState { temperature, pressure, density, mass_fractions: mass_fractions.to_vec() })
    }
}
