//! Properties of species and reactions at a given temperature and given concentrations: what
//! Cantera calls by the same names, in the same units.
//!
//! All take the temperature \[K\], most of them concentrations [kmol/m³] \[species\]; the pressure is
//! that of the ideal gas. `work` is a workspace of [`Kinetics::workspace`] values. Slices of
//! results are in the order of the file.

use odeum_core::Real;

use crate::constants::GAS_CONSTANT;
use crate::kinetics::{Kinetics, ln_standard};
use crate::rate::Conditions;
use crate::scratch::Scratch;
use crate::thermo::Temperature;

/// Standard-state properties of all species, a value per species each.
#[derive(Clone, Debug, PartialEq)]
pub struct StandardState<R> {
    /// Molar heat capacity at constant pressure [J/(kmol K)].
    pub cp: Vec<R>,
    /// Molar enthalpy [J/kmol].
    pub enthalpy: Vec<R>,
    /// Molar internal energy [J/kmol].
    pub internal_energy: Vec<R>,
    /// Molar entropy [J/(kmol K)] at one atmosphere.
    pub entropy: Vec<R>,
    /// Molar Gibbs function [J/kmol] at one atmosphere.
    pub gibbs: Vec<R>,
}

impl Kinetics {
    /// Panics unless there is a number per species.
    #[inline(always)]
    pub(crate) fn expect_species(&self, numbers: usize, what: &str) {
        assert!(numbers == self.n_species(), "{numbers} {what} for {} species", self.n_species());
    }

    #[inline(always)]
    fn expect_reactions(&self, numbers: usize) {
        let n = self.n_reactions();
        assert!(numbers == n, "{numbers} results for {n} reactions");
    }

    /// The parts of a workspace, which panics where it is too short.
    #[inline(always)]
    fn scratch<'a, R: Real>(&self, work: &'a mut [R]) -> Scratch<'a, R> {
        let (wanted, found) = (self.workspace(), work.len());
        assert!(found >= wanted, "a workspace of {found} values, not of {wanted}");
        self.split(work)
    }

    /// Thermodynamic functions of all species at a temperature \[K\].
    ///
    /// # Panics
    ///
    /// Where the workspace is too short.
    #[inline(always)]
    pub fn standard_states<R: Real>(&self, t: R, work: &mut [R]) -> StandardState<R> {
        let at = Temperature::new(t);
        let mut s = self.scratch(work);
        self.standard_state::<R, false>(&at, &mut s);
        let n = self.n_species();
        let mut out = StandardState {
            cp: Vec::with_capacity(n),
            enthalpy: Vec::with_capacity(n),
            internal_energy: Vec::with_capacity(n),
            entropy: Vec::with_capacity(n),
            gibbs: Vec::with_capacity(n),
        };
        let (r, rt) = (R::lit(GAS_CONSTANT), R::lit(GAS_CONSTANT) * t);
        for k in 0..n {
            let (lambda, sigma) = self.thermo.shift[k];
            let g = s.gamma[k] + R::lit(lambda) * at.recip - R::lit(sigma);
            out.cp.push(s.cp[k] * r);
            out.enthalpy.push(s.h[k] * rt);
            out.internal_energy.push((s.h[k] - R::lit(1.0)) * rt);
            out.entropy.push((s.h[k] - g) * r);
            out.gibbs.push(g * rt);
        }
        out
    }

    /// Heat capacity at constant pressure of a mixture of these mass fractions [J/(kg K)].
    ///
    /// # Panics
    ///
    /// Unless there is one mass fraction per species; where the workspace is too short.
    #[inline(always)]
    pub fn cp_mass<R: Real>(&self, t: R, mass_fractions: &[R], work: &mut [R]) -> R {
        self.expect_species(mass_fractions.len(), "mass fractions");
        let mut s = self.scratch(work);
        self.standard_state::<R, false>(&Temperature::new(t), &mut s);
        let mut sum = R::lit(0.0);
        for k in 0..self.n_species() {
            sum = (mass_fractions[k] * R::lit(self.recip_weight[k])).mul_add(s.cp[k], sum);
        }
        sum * R::lit(GAS_CONSTANT)
    }

    /// Density of an ideal gas [kg/m³] at a pressure \[Pa\] and these mass fractions.
    ///
    /// # Panics
    ///
    /// Unless there is one mass fraction per species.
    #[inline(always)]
    pub fn density<R: Real>(&self, t: R, pressure: R, mass_fractions: &[R]) -> R {
        self.expect_species(mass_fractions.len(), "mass fractions");
        let mut amount = R::lit(0.0);
        for k in 0..self.n_species() {
            amount = mass_fractions[k].mul_add(R::lit(self.recip_weight[k]), amount);
        }
        pressure / (R::lit(GAS_CONSTANT) * t * amount)
    }

    #[inline(always)]
    fn at<'a, R: Real, const D: bool>(
        &self,
        t: R,
        concentrations: &[R],
        work: &'a mut [R],
    ) -> (Conditions<R>, Scratch<'a, R>) {
        self.expect_species(concentrations.len(), "concentrations");
        let at = Temperature::new(t);
        let mut s = self.scratch(work);
        let mut total = R::lit(0.0);
        for k in 0..self.n_species() {
            s.c[k] = concentrations[k];
            total = total + concentrations[k];
        }
        let pressure = total * R::lit(GAS_CONSTANT) * t;
        self.standard_state::<R, D>(&at, &mut s);
        self.activities::<R, D>(&at, &mut s);
        (Conditions { at, ln_p: pressure.ln(), total }, s)
    }

    /// Forward rate constants of all reactions [(m³/kmol)^(order − 1)/s]; those of three-body
    /// reactions without the concentration of the third body.
    ///
    /// # Panics
    ///
    /// Unless there is one concentration per species, and a result per reaction; where the workspace is too short.
    #[inline(always)]
    pub fn forward_rate_constants<R: Real>(
        &self,
        t: R,
        concentrations: &[R],
        out: &mut [R],
        work: &mut [R],
    ) {
        self.expect_reactions(out.len());
        let (with, mut s) = self.at::<R, false>(t, concentrations, work);
        self.constants::<R, false>(&with, false, &mut s);
        for (r, file) in self.order.iter().enumerate() {
            out[*file as usize] = s.k[r];
        }
    }

    /// Equilibrium constants in concentrations of all reactions, reversible or not
    /// [(kmol/m³)^Δν].
    ///
    /// # Panics
    ///
    /// Unless there is a result per reaction; where the workspace is too short.
    #[inline(always)]
    pub fn equilibrium_constants<R: Real>(&self, t: R, out: &mut [R], work: &mut [R]) {
        self.expect_reactions(out.len());
        let at = Temperature::new(t);
        let mut s = self.scratch(work);
        self.standard_state::<R, false>(&at, &mut s);
        let ln_standard = ln_standard(&at);
        for (r, file) in self.order.iter().enumerate() {
            let mut exponent = R::lit(0.0);
            for &(k, nu) in &self.net[r] {
                let (lambda, sigma) = self.thermo.shift[k];
                let g = s.gamma[k] + R::lit(lambda) * at.recip - R::lit(sigma);
                exponent = R::lit(nu).mul_add(ln_standard - g, exponent);
            }
            out[*file as usize] = exponent.exp();
        }
    }

    /// Forward and reverse rates of progress of all reactions [kmol/m³/s].
    ///
    /// # Panics
    ///
    /// Unless there is one concentration per species, and a result per reaction; where the workspace is too short.
    #[inline(always)]
    pub fn rates_of_progress<R: Real>(
        &self,
        t: R,
        concentrations: &[R],
        forward: &mut [R],
        reverse: &mut [R],
        work: &mut [R],
    ) {
        self.expect_reactions(forward.len());
        self.expect_reactions(reverse.len());
        let (with, mut s) = self.at::<R, false>(t, concentrations, work);
        self.constants::<R, false>(&with, true, &mut s);
        self.both_ways(&with.at, &mut s);
        for (r, file) in self.order.iter().enumerate() {
            forward[*file as usize] = s.scaled[r];
            reverse[*file as usize] = s.net[r];
        }
    }

    /// Net production rates ω of all species [kmol/m³/s].
    ///
    /// # Panics
    ///
    /// Unless there is one concentration per species, and a result per species; where the workspace is too short.
    #[inline(always)]
    pub fn net_production_rates<R: Real>(
        &self,
        t: R,
        concentrations: &[R],
        out: &mut [R],
        work: &mut [R],
    ) {
        self.expect_species(out.len(), "results");
        let (with, mut s) = self.at::<R, false>(t, concentrations, work);
        self.constants::<R, false>(&with, true, &mut s);
        self.progress::<R, false>(&with.at, &mut s);
        self.production.sum(s.k, out);
    }
}
