//! The runs that are asked for: every temperature at every pressure.

use super::{Database, Feeds, refused};
use crate::args::{particles, threads};
use clap::{Args, FromArgMatches};
use odeum_io::Finding;
use odeum_kinetics::Kinetics;
use odeum_kinetics::constants::ONE_ATM;
use odeum_kinetics::pasr::{Feed, PasrSettings};
use odeum_ode::{Cpu, Device, Monitor};
use std::sync::Arc;

/// Options of `odeum pasr` that say what is computed.
#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// Species of the fuel, and their amounts in moles where there are several
    /// [default: CH4, else H2]
    #[arg(long, value_name = "SPECIES:MOLES,…")]
    fuel: Option<String>,
    /// The same of what the fuel burns in [default: air, O2:1, N2:3.76]
    #[arg(long, value_name = "SPECIES:MOLES,…")]
    oxidizer: Option<String>,
    /// Temperatures of what flows in, in K, separated by commas
    #[arg(long, value_name = "T,…", value_delimiter = ',', default_value = "400,600,800")]
    temperature: Vec<f64>,
    /// Pressures in atm, separated by commas
    #[arg(long, value_name = "P,…", value_delimiter = ',', default_value = "1,10,25")]
    pressure: Vec<f64>,
    /// Equivalence ratio
    #[arg(long, default_value_t = 1.0)]
    phi: f64,
    /// Particles, an even number
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = particles)]
    particles: usize,
    /// Duration of a run in residence times
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    residence_times: f64,
    /// Residence time in s [default: 0.01 for H2, else 0.005]
    #[arg(long, value_name = "S")]
    tau_res: Option<f64>,
    /// Mixing time in s [default: 0.001]
    #[arg(long, value_name = "S")]
    tau_mix: Option<f64>,
    /// Pairing time in s [default: 0.001]
    #[arg(long, value_name = "S")]
    tau_pair: Option<f64>,
    /// Fuel and oxidizer enter apart
    #[arg(long)]
    non_premixed: bool,
    /// Seed of the random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,
}

impl Runs {
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
                // Runs of one call differ in their random choices too.
                settings.seed = self.seed.wrapping_add(all.len() as u64);
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
        let command = Runs::augment_args(clap::Command::new("pasr").no_binary_name(true));
        let matches = command.try_get_matches_from(options);
        let runs =
            matches.and_then(|matches| Runs::from_arg_matches(&matches)).map_err(|told| {
                let told = told.to_string();
                let first = told.lines().next().unwrap_or_default();
                Finding::error(first.trim_start_matches("error: ")).help("see `odeum pasr --help`")
            })?;
        Plan::new(kinetics, &runs)
    }

    pub(super) fn new(kinetics: &Arc<Kinetics>, runs: &Runs) -> Result<Plan, Finding> {
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
