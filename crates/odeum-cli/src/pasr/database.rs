//! The states of several runs of a partially stirred reactor, one after the other.

use super::refused;
use odeum_io::Finding;
use odeum_kinetics::pasr::{Pasr, PasrError, PasrSettings, RunError};
use odeum_kinetics::{EquilibriumError, Kinetics, Reactor};
use odeum_ode::{Device, Ensemble, Error, Method, Monitor, Options, Solver, Tolerance};
use std::ops::ControlFlow;
use std::sync::Arc;

/// States in the order of runs, times, particles.
#[derive(Clone, Debug, Default)]
pub struct Database {
    /// Run of each state.
    pub runs: Vec<usize>,
    /// Time in the run \[s\].
    pub times: Vec<f64>,
    /// Of each state \[K\].
    pub temperatures: Vec<f64>,
    /// Of each state \[Pa\].
    pub pressures: Vec<f64>,
    /// \[states × species\]
    pub mass_fractions: Vec<f64>,
    /// Reactors integrated on the way.
    pub integrations: u64,
}

/// Why a reaction step failed.
enum Failure {
    Solver(Error),
    System(&'static str),
    Stopped,
}

impl Database {
    /// Steps of all runs together.
    pub(crate) fn steps(
        kinetics: &Arc<Kinetics>,
        settings: &[PasrSettings],
    ) -> Result<usize, Finding> {
        let mut steps = 0_usize;
        for run in settings {
            let pasr = Pasr::new(Arc::clone(kinetics), run.clone())
                .map_err(|error| refused::finding(&error, run))?;
            steps = steps.saturating_add(pasr.n_steps());
        }
        Ok(steps)
    }

    /// Runs them all; `progress` hears of each step that is done. A stopped run ends early.
    pub(crate) fn compute(
        kinetics: &Arc<Kinetics>,
        settings: &[PasrSettings],
        device: &Device,
        monitor: &Monitor,
        mut progress: impl FnMut(usize),
    ) -> Result<Database, Finding> {
        let mut database = Database::default();
        let reactor = Arc::new(Reactor::constant_pressure(Arc::clone(kinetics)));
        let options = Options::new(Tolerance::new(1e-6, 1e-10));
        let solver = Solver::new(reactor, &Method::rodas4(), device, &options)
            .map_err(|error| Finding::error(error.to_string()))?;
        let dim = kinetics.n_species() + 2;
        let mut done = 0;
        for (run, settings) in settings.iter().enumerate() {
            let place = |why: String| {
                Finding::error(format!(
                    "run {run} ({} K, {} Pa): {why}",
                    settings.temperature, settings.pressure
                ))
            };
            let mut pasr = Pasr::new(Arc::clone(kinetics), settings.clone())
                .map_err(|error| place(error.to_string()))?;
            let mut integrations = 0;
            let react = |states: &mut [f64], dt: f64| {
                if monitor.is_stopped() {
                    return Err(Failure::Stopped);
                }
                integrations += (states.len() / dim) as u64;
                react(&solver, dim, settings.pressure, states, dt)
            };
            let ended = pasr.run(react, |pasr| {
                database.add(run, pasr, kinetics.n_species());
                progress(done + pasr.steps());
                ControlFlow::Continue(())
            });
            done += pasr.steps();
            database.integrations += integrations;
            match ended {
                Ok(_) => {}
                Err(RunError::Reaction(Failure::Stopped)) => return Ok(database),
                Err(RunError::Reaction(Failure::Solver(error))) => {
                    return Err(place(error.to_string()));
                }
                Err(RunError::Reaction(Failure::System(status))) => {
                    return Err(place(format!("a particle could not be integrated: {status}")));
                }
                Err(RunError::Pasr(error)) => {
                    let finding = place(error.to_string());
                    return Err(match error {
                        PasrError::Particle {
                            error: EquilibriumError::Enthalpy { .. }, ..
                        } => finding.help(refused::COLDER),
                        _ => finding,
                    });
                }
            }
        }
        Ok(database)
    }

    fn add(&mut self, run: usize, pasr: &Pasr, n_species: usize) {
        let states = pasr.states();
        let n = states.len() / (n_species + 2);
        for particle in 0..n {
            self.runs.push(run);
            self.times.push(pasr.time());
            self.temperatures.push(states[particle]);
            self.pressures.push(pasr.settings().pressure);
            self.mass_fractions.extend((1..=n_species).map(|k| states[k * n + particle]));
        }
    }

    /// Number of states.
    pub(crate) fn len(&self) -> usize {
        self.temperatures.len()
    }

    /// Lowest and highest temperature.
    pub(crate) fn temperatures(&self) -> (f64, f64) {
        let bounds = (f64::INFINITY, f64::NEG_INFINITY);
        self.temperatures.iter().fold(bounds, |(low, high), t| (low.min(*t), high.max(*t)))
    }
}

/// Integrates all particles over a time.
fn react(
    solver: &Solver,
    dim: usize,
    pressure: f64,
    states: &mut [f64],
    dt: f64,
) -> Result<(), Failure> {
    let ensemble = Ensemble::new(dim, states.to_vec(), (0.0, dt))
        .and_then(|ensemble| ensemble.with_shared_params(vec![pressure]))
        .map_err(Failure::Solver)?;
    let solution = solver.solve(&ensemble).map_err(Failure::Solver)?;
    match solution.status.iter().find(|status| !status.is_success()) {
        Some(status) => Err(Failure::System(status.name())),
        None => {
            states.copy_from_slice(&solution.states);
            Ok(())
        }
    }
}
