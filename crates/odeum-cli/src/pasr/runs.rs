//! The runs that are asked for: every temperature at every pressure.

use super::{Database, Feeds, refused};
use crate::args::PasrRuns;
use clap::{Args, FromArgMatches};
use odeum_case::random;
use odeum_io::Finding;
use odeum_kinetics::Kinetics;
use odeum_kinetics::constants::ONE_ATM;
use odeum_kinetics::pasr::{Feed, PasrSettings};
use odeum_ode::{Cpu, Device, Monitor};
use std::sync::Arc;

impl PasrRuns {
    /// The reactors of these options.
    fn settings(&self, kinetics: &Kinetics) -> Result<Vec<PasrSettings>, Finding> {
        let feeds = Feeds::new(kinetics, self.fuel.as_deref(), self.oxidizer.as_deref())?;
        let mut all = Vec::new();
        for &temperature in &self.temperature {
            for &pressure in &self.pressure {
                let mut settings = feeds.settings(temperature, pressure * ONE_ATM);
                settings.equivalence_ratio = self.phi;
                settings.n_particles = self.particles;
                settings.tau_res = self.tau_res.unwrap_or(settings.tau_res);
                settings.tau_mix = self.tau_mix.unwrap_or(settings.tau_mix);
                settings.tau_pair = self.tau_pair.unwrap_or(settings.tau_pair);
                settings.n_residence_times = self.residence_times;
                settings.feed = if self.non_premixed { Feed::NonPremixed } else { Feed::Premixed };
                // Runs of one call, and of calls with other seeds, differ in their random choices too.
                settings.seed = random::seed_of(self.seed, all.len() as u64);
                all.push(settings);
            }
        }
        Ok(all)
    }
}

/// Runs that were checked, and fit into memory.
pub struct Plan {
    kinetics: Arc<Kinetics>,
    threads: Option<usize>,
    pub(crate) settings: Vec<PasrSettings>,
    /// Steps of all runs together.
    pub steps: usize,
}

impl Plan {
    /// Of options as `odeum pasr` has them.
    ///
    /// # Errors
    ///
    /// Options that are none of its own or whose values are wrong, and settings that make no reactor.
    pub fn of_options(kinetics: &Arc<Kinetics>, options: &[String]) -> Result<Plan, Finding> {
        let command = PasrRuns::augment_args(clap::Command::new("pasr").no_binary_name(true));
        let matches = command.try_get_matches_from(options);
        let runs =
            matches.and_then(|matches| PasrRuns::from_arg_matches(&matches)).map_err(|told| {
                let told = told.to_string();
                let first = told.lines().next().unwrap_or_default();
                Finding::error(first.trim_start_matches("error: ")).help("see `odeum pasr --help`")
            })?;
        Plan::new(kinetics, &runs)
    }

    pub(super) fn new(kinetics: &Arc<Kinetics>, runs: &PasrRuns) -> Result<Plan, Finding> {
        let settings = runs.settings(kinetics)?;
        let steps = Database::steps(kinetics, &settings)?;
        refused::room(steps, &settings, kinetics)?;
        Ok(Plan { kinetics: Arc::clone(kinetics), threads: runs.threads, settings, steps })
    }

    /// Runs them all; `progress` hears of each step that is done. A stopped run ends early.
    ///
    /// # Errors
    ///
    /// A particle that could not be integrated.
    pub fn compute(
        &self,
        monitor: &Monitor,
        progress: impl FnMut(usize),
    ) -> Result<Database, Finding> {
        let device = match Device::cpu() {
            Device::Cpu(cpu) => Device::Cpu(Cpu { threads: self.threads.or(cpu.threads), ..cpu }),
            device => device,
        };
        Database::compute(&self.kinetics, &self.settings, &device, monitor, progress)
    }
}
