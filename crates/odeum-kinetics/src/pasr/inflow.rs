//! What flows in, and in which turn.

use super::error::PasrError;
use super::settings::{Feed, PasrSettings};
use crate::equilibrium::EquilibriumError;
use crate::kinetics::Kinetics;
use crate::reactor::GasState;

/// Enthalpy [J/kg], temperature \[K\] and composition of a gas.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gas {
    pub(super) enthalpy: f64,
    pub(super) temperature: f64,
    pub(super) mass_fractions: Vec<f64>,
}

/// Streams that feed in turns, so that each gives its fraction of the particles.
#[derive(Clone, Debug)]
pub(super) struct Inflow {
    streams: Vec<Gas>,
    shares: Vec<f64>,
    /// What each stream has yet to give.
    due: Vec<f64>,
}

impl Inflow {
    /// The streams, and the pilot, from which the reactor starts.
    pub(super) fn new(
        kinetics: &Kinetics,
        settings: &PasrSettings,
    ) -> Result<(Inflow, Gas), PasrError> {
        let amounts = |field: &'static str, named: &[(String, f64)]| {
            let named: Vec<(&str, f64)> = named.iter().map(|(s, x)| (s.as_str(), *x)).collect();
            let found = kinetics.composition(&named);
            let found = found.and_then(|x| kinetics.mass_fractions(&x).map(|_| x));
            found.map_err(|error| PasrError::Gas { field, error: error.into() })
        };
        let fuel = amounts("fuel", &settings.fuel)?;
        let oxidizer = amounts("oxidizer", &settings.oxidizer)?;
        let of =
            |field: &'static str| move |error: EquilibriumError| PasrError::Gas { field, error };
        let mixture = "the mixture of fuel and oxidizer at the equivalence_ratio";
        let fresh = kinetics
            .at_equivalence_ratio(settings.equivalence_ratio, &fuel, &oxidizer)
            .map_err(|error| of(mixture)(error.into()))?;
        let t = settings.temperature;
        let burnt = kinetics
            .equilibrate_hp(t, settings.pressure, &fresh)
            .map_err(of("the equilibrium of the mixture at temperature and pressure"))?;
        let (low, high) = kinetics.sought_temperatures();
        let temperature = burnt.temperature;
        if !(temperature > low && temperature < high) {
            return Err(PasrError::Flame { temperature, bounds: kinetics.temperature_bounds() });
        }
        if !has_rates(kinetics, &burnt) {
            let expected = "a pressure at which the rates of reactions are finite";
            return Err(PasrError::Setting {
                field: "pressure",
                value: settings.pressure,
                expected,
            });
        }
        let cold = |mass_fractions: Vec<f64>| Gas {
            enthalpy: kinetics.enthalpy_mass(t, &mass_fractions),
            temperature: t,
            mass_fractions,
        };
        let fresh = cold(fresh);
        let pilot = Gas {
            enthalpy: fresh.enthalpy,
            temperature: burnt.temperature,
            mass_fractions: burnt.mass_fractions,
        };
        let (streams, shares) = match settings.feed {
            Feed::Premixed => (vec![fresh, pilot.clone()], vec![0.95, 0.05]),
            Feed::NonPremixed => {
                let pure = |field: &'static str, amounts: &[f64]| {
                    let y = kinetics.mass_fractions(amounts);
                    y.map(cold).map_err(|error| of(field)(error.into()))
                };
                let (air, fuel) = (pure("oxidizer", &oxidizer)?, pure("fuel", &fuel)?);
                (vec![air, fuel, pilot.clone()], vec![0.85, 0.05, 0.10])
            }
        };
        Ok((Inflow { due: vec![0.0; shares.len()], streams, shares }, pilot))
    }

    /// The next gas: of the stream that is most behind its fraction.
    pub(super) fn next(&mut self) -> &Gas {
        let mut most = 0;
        for i in 0..self.due.len() {
            self.due[i] += self.shares[i];
            if self.due[i] > self.due[most] {
                most = i;
            }
        }
        self.due[most] -= self.shares.iter().sum::<f64>();
        &self.streams[most]
    }
}

/// Whether the rates of a gas are finite.
fn has_rates(kinetics: &Kinetics, gas: &GasState) -> bool {
    let amounts = gas.mass_fractions.iter().zip(&kinetics.recip_weight);
    let concentrations: Vec<f64> = amounts.map(|(y, r)| gas.density * y * r).collect();
    let mut rates = vec![0.0; kinetics.n_species()];
    let mut work = vec![0.0; kinetics.workspace()];
    kinetics.net_production_rates(gas.temperature, &concentrations, &mut rates, &mut work);
    rates.iter().all(|rate| rate.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{Gas, Inflow};

    #[test]
    fn every_stream_gives_its_fraction() {
        for shares in [vec![0.95, 0.05], vec![0.85, 0.05, 0.10], vec![1.0]] {
            let stream = |i: usize| {
                let (enthalpy, temperature) = (0.0, i as f64);
                Gas { enthalpy, temperature, mass_fractions: Vec::new() }
            };
            let streams = (0..shares.len()).map(stream).collect();
            let due = vec![0.0; shares.len()];
            let mut inflow = Inflow { streams, shares: shares.clone(), due };
            let mut counts = vec![0.0; shares.len()];
            for drawn in 1..=1000 {
                counts[inflow.next().temperature as usize] += 1.0;
                for (count, fraction) in counts.iter().zip(&shares) {
                    let expected: f64 = fraction * f64::from(drawn);
                    assert!((count - expected).abs() <= 1.0, "{drawn}: {count} for {expected}");
                }
            }
        }
    }
}
