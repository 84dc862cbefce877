//! What a partially stirred reactor is made of.

use super::error::PasrError;
use crate::constants::ONE_ATM;

/// Time step over the smaller of residence and pairing time.
const STEP: f64 = 0.1;
/// Mixing and reaction alternate in steps of at most this part of the mixing time.
const SPLITTING: f64 = 0.04;
/// Turns of mixing and reaction that a time step may have. Each integrates all particles; and
/// pairs that mix so fast are one gas long before the step is over.
const MOST_SUBSTEPS: f64 = 1e4;
/// The mixing time that keeps to them: STEP / (SPLITTING · MOST_SUBSTEPS) = 1/4000.
const TAU_MIX: &str = "a mixing time above 1/4000 of the smaller of residence and pairing \
                       time: the time steps would have more than 10000 turns of mixing and \
                       reaction";

/// Particles that a reactor may have.
const MOST_PARTICLES: usize = 1_000_000;

/// How fuel and oxidizer enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feed {
    /// Mixed: 95 parts of fresh mixture and 5 parts of its equilibrium, the pilot.
    Premixed,
    /// Apart: 85 parts of oxidizer, 5 parts of fuel and 10 parts of pilot.
    NonPremixed,
}

/// A partially stirred reactor of constant pressure. Fields are named as in table 2 of Curtis,
/// Niemeyer & Sung (2017).
#[derive(Clone, Debug, PartialEq)]
pub struct PasrSettings {
    /// How fuel and oxidizer enter.
    pub feed: Feed,
    /// Species of the fuel and their amounts \[kmol\], in any multiple.
    pub fuel: Vec<(String, f64)>,
    /// Species of the oxidizer and their amounts \[kmol\], in any multiple.
    pub oxidizer: Vec<(String, f64)>,
    /// Equivalence ratio φ of the fresh mixture, and of the mixture whose equilibrium is the pilot.
    pub equivalence_ratio: f64,
    /// Temperature of what flows in \[K\].
    pub temperature: f64,
    /// Pressure \[Pa\].
    pub pressure: f64,
    /// Number of particles, even, from 2 to 1,000,000.
    pub n_particles: usize,
    /// Residence time \[s\].
    pub tau_res: f64,
    /// Mixing time of a pair \[s\], above 1/4000 of the smaller of the other two times.
    pub tau_mix: f64,
    /// Time after which a particle has on average met a new partner \[s\].
    pub tau_pair: f64,
    /// Duration of the run in residence times.
    pub n_residence_times: f64,
    /// Seed of the random choices: the same seed gives the same run.
    pub seed: u64,
}

impl PasrSettings {
    /// Hydrogen and air, premixed, as in table 2 of Curtis, Niemeyer & Sung (2017), who take 400,
    /// 600 and 800 K and 1, 10 and 25 atm. `temperature` \[K\], `pressure` \[Pa\].
    pub fn hydrogen(temperature: f64, pressure: f64) -> PasrSettings {
        PasrSettings::table_2("H2", 0.01, temperature, pressure)
    }

    /// Methane and air, premixed, as [`hydrogen`](PasrSettings::hydrogen) but with half its
    /// residence time.
    pub fn methane(temperature: f64, pressure: f64) -> PasrSettings {
        PasrSettings::table_2("CH4", 0.005, temperature, pressure)
    }

    /// Temperatures \[K\] and pressures \[Pa\] of the nine runs of table 2.
    pub fn published_conditions() -> [(f64, f64); 9] {
        let [t, p] = [[400.0, 600.0, 800.0], [1.0, 10.0, 25.0]];
        std::array::from_fn(|i| (t[i / 3], p[i % 3] * ONE_ATM))
    }

    fn table_2(fuel: &str, tau_res: f64, temperature: f64, pressure: f64) -> PasrSettings {
        PasrSettings {
            feed: Feed::Premixed,
            fuel: vec![(fuel.to_owned(), 1.0)],
            oxidizer: vec![("O2".to_owned(), 1.0), ("N2".to_owned(), 3.76)],
            equivalence_ratio: 1.0,
            temperature,
            pressure,
            n_particles: 100,
            tau_res,
            tau_mix: 0.001,
            tau_pair: 0.001,
            n_residence_times: 10.0,
            seed: 0,
        }
    }

    /// The numbers that nothing else checks.
    pub(super) fn check(&self) -> Result<(), PasrError> {
        let times = [
            ("tau_res", self.tau_res),
            ("tau_mix", self.tau_mix),
            ("tau_pair", self.tau_pair),
            ("n_residence_times", self.n_residence_times),
        ];
        for (field, value) in times {
            if !(value > 0.0 && value.is_finite()) {
                return Err(PasrError::Setting { field, value, expected: "a positive number" });
            }
        }
        if !(2..=MOST_PARTICLES).contains(&self.n_particles) || !self.n_particles.is_multiple_of(2)
        {
            let value = self.n_particles as f64;
            let expected = "an even number of particles from 2 to 1000000: they mix in pairs";
            return Err(PasrError::Setting { field: "n_particles", value, expected });
        }
        if self.n_substeps(self.longest_step()) > MOST_SUBSTEPS {
            let (value, expected) = (self.tau_mix, TAU_MIX);
            return Err(PasrError::Setting { field: "tau_mix", value, expected });
        }
        Ok(())
    }

    /// The longest time step \[s\].
    pub(super) fn longest_step(&self) -> f64 {
        STEP * self.tau_res.min(self.tau_pair)
    }

    /// Turns of mixing and reaction in a time step \[s\], a whole number.
    pub(super) fn n_substeps(&self, dt: f64) -> f64 {
        1.0 + (dt / (SPLITTING * self.tau_mix)).floor()
    }
}
