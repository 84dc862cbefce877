//! Chemical equilibrium of an ideal gas, at constant enthalpy and pressure or at constant
//! temperature and pressure.
//!
//! The equilibrium is the composition of least Gibbs function that has the atoms of the gas. With
//! multipliers πᵢ of the elements (their potentials over RT) the amounts per mass obey
//! μₖ/RT = Σᵢ aᵢₖ πᵢ, which is solved by Newton's method in ln nₖ, ln Σnₖ, ln T and π: the reduced
//! iteration and the step control of Gordon & McBride, NASA RP-1311 (1994), sections 2.3 and 3.3.
//! Its matrix has the size of the number of elements, whatever the number of species.
//!
//! Charge, which composition has as the element E, is conserved like an element, but its counts and
//! its sum have either sign, and the sum is zero as a rule: it counts as absent only where nothing
//! can balance the charge of a species.

mod charge;
mod enthalpy;
mod error;
mod iterate;
mod linear;
mod newton;

use crate::constants::{GAS_CONSTANT, REFERENCE_PRESSURE};
use crate::error::StateError;
use crate::kinetics::Kinetics;
use crate::reactor::{GasState, TEMPERATURE_MARGIN};
use newton::{Held, Problem};

pub use error::EquilibriumError;

/// A charge of the gas below this part of its ions and electrons is rounding.
const CHARGE_ROUNDING: f64 = 1e-12;

impl Kinetics {
    /// The equilibrium that a gas of this temperature \[K\], pressure \[Pa\] and composition
    /// reaches at constant enthalpy and pressure: what burns adiabatically. Mass fractions
    /// \[species\] are scaled to sum to one.
    ///
    /// Beyond the range of the thermodynamic data their polynomials continue. Ions and electrons form
    /// and recombine; the charge of the gas stays, which is zero as a rule.
    ///
    /// # Errors
    ///
    /// [`EquilibriumError`] when the gas is none, or the iteration does not converge.
    pub fn equilibrate_hp(
        &self,
        temperature: f64,
        pressure: f64,
        mass_fractions: &[f64],
    ) -> Result<GasState, EquilibriumError> {
        let y = self.checked(temperature, pressure, mass_fractions)?;
        let enthalpy = self.enthalpy_mass(temperature, &y) / GAS_CONSTANT;
        self.equilibrate(Held::Enthalpy(enthalpy), pressure, &y)
    }

    /// The equilibrium of a gas of this composition at this temperature \[K\] and pressure
    /// \[Pa\]. Mass fractions \[species\] are scaled to sum to one.
    ///
    /// # Errors
    ///
    /// As [`equilibrate_hp`](Kinetics::equilibrate_hp).
    pub fn equilibrate_tp(
        &self,
        temperature: f64,
        pressure: f64,
        mass_fractions: &[f64],
    ) -> Result<GasState, EquilibriumError> {
        let y = self.checked(temperature, pressure, mass_fractions)?;
        self.equilibrate(Held::Temperature(temperature), pressure, &y)
    }

    fn equilibrate(
        &self,
        held: Held,
        pressure: f64,
        y: &[f64],
    ) -> Result<GasState, EquilibriumError> {
        let n_species = self.n_species();
        let mut atoms = vec![0.0; self.element_names.len()];
        let mut sizes = atoms.clone();
        for k in 0..n_species {
            for &(element, count) in &self.composition[k] {
                let part = count * y[k] * self.recip_weight[k];
                atoms[element] += part;
                sizes[element] += part.abs();
            }
        }
        for (sum, size) in atoms.iter_mut().zip(&sizes) {
            if sum.abs() <= CHARGE_ROUNDING * size {
                *sum = 0.0;
            }
        }
        let (species, elements) = self.possible(&atoms);
        let mut counts = vec![vec![0.0; species.len()]; elements.len()];
        for (i, element) in elements.iter().enumerate() {
            for (j, k) in species.iter().enumerate() {
                let of_element = self.composition[*k].iter().filter(|(e, _)| e == element);
                counts[i][j] = of_element.map(|(_, n)| n).sum();
            }
        }
        let problem = Problem {
            counts,
            atoms: elements.iter().map(|e| atoms[*e]).collect(),
            charge: elements.iter().position(|e| self.is_charge(*e)),
            species: &species,
            ln_pressure: (pressure / REFERENCE_PRESSURE).ln(),
            held,
        };
        let (temperature, amounts) = problem.solve(self)?;
        let mut mass_fractions = vec![0.0; n_species];
        for (j, k) in species.iter().enumerate() {
            mass_fractions[*k] = amounts[j] * self.weight[*k];
        }
        let mass: f64 = mass_fractions.iter().sum();
        for y in &mut mass_fractions {
            *y /= mass;
        }
        let density = self.density(temperature, pressure, &mass_fractions);
        Ok(GasState { temperature, pressure, density, mass_fractions })
    }

    fn is_charge(&self, element: usize) -> bool {
        self.element_names[element] == "E"
    }

    /// The species that can form of these amounts of the elements, and the elements that they are
    /// made of, with the charge where they have any.
    fn possible(&self, atoms: &[f64]) -> (Vec<usize>, Vec<usize>) {
        let charge = |k: &usize| -> f64 {
            let electrons = self.composition[*k].iter().filter(|(e, _)| self.is_charge(*e));
            electrons.map(|(_, n)| n).sum()
        };
        let possible = |k: &usize| {
            let all = &self.composition[*k];
            let there = |&(e, n): &(usize, f64)| self.is_charge(e) || (n > 0.0 && atoms[e] > 0.0);
            !all.is_empty() && all.iter().all(there)
        };
        let mut species: Vec<usize> = (0..self.n_species()).filter(possible).collect();
        // A charge needs one of the other sign beside it, unless the gas itself is charged.
        let sum: f64 = (0..atoms.len()).filter(|e| self.is_charge(*e)).map(|e| atoms[e]).sum();
        let of_sign = |sign: f64| species.iter().any(|k| sign * charge(k) > 0.0);
        let charged = sum != 0.0 || (of_sign(1.0) && of_sign(-1.0));
        if !charged {
            species.retain(|k| charge(k) == 0.0);
        }
        let there = |e: &usize| if self.is_charge(*e) { charged } else { atoms[*e] > 0.0 };
        (species, (0..atoms.len()).filter(there).collect())
    }

    /// Mass fractions that sum to one, of a gas whose temperature and pressure are possible.
    fn checked(&self, t: f64, pressure: f64, y: &[f64]) -> Result<Vec<f64>, StateError> {
        self.check_temperature(t, TEMPERATURE_MARGIN)?;
        if !(pressure > 0.0 && pressure.is_finite()) {
            return Err(StateError::NotPositive { what: "pressure", value: pressure });
        }
        if y.len() != self.n_species() {
            return Err(StateError::Length { expected: self.n_species(), found: y.len() });
        }
        let amounts: Vec<f64> = y.iter().zip(&self.recip_weight).map(|(y, w)| y * w).collect();
        self.mass_fractions(&amounts)
    }
}
