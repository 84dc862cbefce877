//! The mixture at a state, in symbols.

use super::{Constraint, Temperature};
use crate::constants::{GAS_CONSTANT, REFERENCE_PRESSURE};
use odeum_core::{Real, Symbol};

/// What all reactions have in common.
pub(super) struct Mixture {
    pub(super) at: Temperature<Symbol>,
    /// m [kmol/kg].
    pub(super) amount: Symbol,
    /// M [kmol/m³].
    pub(super) total: Symbol,
    /// ρ [kg/m³].
    pub(super) density: Symbol,
    pub(super) pressure: Symbol,
    /// θ = p°/(R T ρ) = p° m / p [kmol/kg], and its reciprocal: what C/ρ is multiplied by for each species that a
    /// reaction has more among its products.
    standard: [Symbol; 2],
}

impl Mixture {
    pub(super) fn new(constraint: Constraint, t: Symbol, m: Symbol, parameter: Symbol) -> Mixture {
        let at = Temperature::new(t);
        let constant = Symbol::lit(GAS_CONSTANT);
        match constraint {
            Constraint::ConstantPressure => {
                let (pressure, recip_m) = (parameter, m.recip());
                let total = pressure * Symbol::lit(1.0 / GAS_CONSTANT) * at.recip;
                let reference = Symbol::lit(REFERENCE_PRESSURE) * pressure.recip();
                let recip_reference = Symbol::lit(1.0 / REFERENCE_PRESSURE) * pressure;
                Mixture {
                    at,
                    amount: m,
                    total,
                    density: (total * recip_m).intermediate(),
                    pressure,
                    standard: [reference * m, recip_reference * recip_m],
                }
            }
            Constraint::ConstantVolume => {
                let density = parameter;
                let total = density * m;
                let reference = Symbol::lit(REFERENCE_PRESSURE / GAS_CONSTANT) * density.recip();
                let recip_reference = Symbol::lit(GAS_CONSTANT / REFERENCE_PRESSURE) * density;
                Mixture {
                    at,
                    amount: m,
                    total,
                    density,
                    pressure: total * constant * t,
                    standard: [reference * at.recip, recip_reference * t],
                }
            }
        }
    }

    /// ρ to an integer power.
    pub(super) fn density_to(&self, power: i32) -> Symbol {
        if power < 0 { self.density.recip().powi(-power) } else { self.density.powi(power) }
    }

    /// θ to an integer power.
    pub(super) fn standard_to(&self, power: i32) -> Symbol {
        self.standard[usize::from(power < 0)].powi(power.abs())
    }
}
