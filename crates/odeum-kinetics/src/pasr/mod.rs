//! The partially stirred reactor (PaSR): particles of gas that flow through, mix in pairs, and
//! react, as they do in the cells of a turbulent flame.
//!
//! After Chen, *Combust. Sci. Technol.* 122 (1997) 63–94, in the form in which Curtis, Niemeyer &
//! Sung (2017), section 2.2, sample the states on which they measure integrators. The reaction is
//! the caller's: all particles over the same time, as an ensemble of reactors of constant pressure.

mod error;
mod inflow;
mod pairs;
mod settings;

use std::ops::ControlFlow;
use std::sync::Arc;

use odeum_core::random::SplitMix64;

use crate::kinetics::Kinetics;
use crate::reactor::GasState;
use inflow::{Gas, Inflow};

pub use error::{PasrError, RunError};
pub use settings::{Feed, PasrSettings};

/// A partially stirred reactor at some time of its run.
///
/// Equal settings and equal reactions give equal runs, bit by bit.
#[derive(Clone, Debug)]
pub struct Pasr {
    kinetics: Arc<Kinetics>,
    settings: PasrSettings,
    inflow: Inflow,
    random: SplitMix64,
    /// Particles in the order in which they are paired.
    list: Vec<usize>,
    /// Enthalpies [J/kg] of the particles, which mixing and inflow alone change.
    enthalpy: Vec<f64>,
    /// (T, Y, m) of the particles. [dim × particles]
    states: Vec<f64>,
    /// Fractions of a particle yet to flow through, and of a pair yet to part.
    flow: f64,
    parting: f64,
    steps: usize,
    n_inflow: usize,
    n_parted: usize,
    /// Whether [`run`](Pasr::run) has shown the start.
    start_shown: bool,
}

impl Pasr {
    /// The reactor at the start: all particles are the equilibrium of the fresh mixture.
    ///
    /// # Errors
    ///
    /// [`PasrError`] names the setting that is impossible.
    pub fn new(kinetics: Arc<Kinetics>, settings: PasrSettings) -> Result<Pasr, PasrError> {
        settings.check()?;
        let (inflow, pilot) = Inflow::new(&kinetics, &settings)?;
        let n = settings.n_particles;
        let mut pasr = Pasr {
            inflow,
            random: SplitMix64::new(settings.seed),
            list: (0..n).collect(),
            enthalpy: vec![0.0; n],
            states: vec![0.0; n * (kinetics.n_species() + 2)],
            flow: 0.0,
            parting: 0.0,
            steps: 0,
            n_inflow: 0,
            n_parted: 0,
            start_shown: false,
            kinetics,
            settings,
        };
        for particle in 0..n {
            pasr.replace(particle, &pilot);
        }
        Ok(pasr)
    }

    /// Runs to the end. `react` integrates all particles, (T, Y, m) as in a
    /// [`Reactor`](crate::Reactor) of constant pressure \[dim × particles\], over a time \[s\].
    /// `save` sees the reactor at the start and after each step, `n_steps() + 1` times in all, and
    /// may stop the run, which goes on from there when this is called again. True at the end,
    /// false when stopped.
    ///
    /// # Errors
    ///
    /// As [`step`](Pasr::step).
    pub fn run<E>(
        &mut self,
        mut react: impl FnMut(&mut [f64], f64) -> Result<(), E>,
        mut save: impl FnMut(&Pasr) -> ControlFlow<()>,
    ) -> Result<bool, RunError<E>> {
        if self.steps == 0 && !self.start_shown {
            self.start_shown = true;
            if save(self).is_break() {
                return Ok(false);
            }
        }
        while self.steps < self.n_steps() {
            self.step(&mut react)?;
            if save(self).is_break() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One time step: inflow, pairing, then mixing and reaction in turns. None after the end.
    ///
    /// Mass fractions that `react` leaves below zero become zero, the others are scaled to sum to
    /// one, and the temperature follows from the enthalpy, which no reaction changes.
    ///
    /// # Errors
    ///
    /// [`RunError`] of the reaction, or of a particle whose state is none. The step is then not
    /// finished, and neither should be the run.
    pub fn step<E>(
        &mut self,
        react: &mut impl FnMut(&mut [f64], f64) -> Result<(), E>,
    ) -> Result<(), RunError<E>> {
        if self.steps >= self.n_steps() {
            return Ok(());
        }
        let dt = self.time_of(self.steps + 1) - self.time();
        self.exchange(dt);
        let substeps = self.settings.n_substeps(dt);
        let dt_sub = dt / substeps;
        for _ in 0..substeps as usize {
            self.mix(dt_sub)?;
            react(&mut self.states, dt_sub).map_err(RunError::Reaction)?;
            for particle in 0..self.n_particles() {
                self.settle(particle)?;
            }
        }
        self.steps += 1;
        Ok(())
    }

    /// Inflow, then pairing.
    fn exchange(&mut self, dt: f64) {
        let n = self.n_particles();
        let n_out = pairs::due(&mut self.flow, n as f64 * dt / self.settings.tau_res, 1.0);
        let n_out = n_out.min(n / 2);
        pairs::select(&mut self.list, 2 * n_out, 0, &mut self.random);
        for i in 0..n_out {
            let gas = self.inflow.next().clone();
            self.replace(self.list[n - 1 - 2 * i], &gas);
        }
        // A pair alone has no other to change partners with.
        let parting = 0.5 * n as f64 * dt / self.settings.tau_pair;
        let n_pairs = pairs::due(&mut self.parting, parting, 2.0);
        pairs::select(&mut self.list, n_pairs, 2 * n_out, &mut self.random);
        pairs::rotate(&mut self.list, n_pairs);
        self.n_inflow += n_out;
        self.n_parted += n_pairs;
    }

    /// Both members of every pair approach their mean, in enthalpy and mass fractions.
    fn mix(&mut self, dt: f64) -> Result<(), PasrError> {
        let (n, n_species) = (self.n_particles(), self.kinetics.n_species());
        let part = -0.5 * (-2.0 * dt / self.settings.tau_mix).exp_m1();
        for pair in 0..n / 2 {
            let (a, b) = (self.list[2 * pair], self.list[2 * pair + 1]);
            let change = part * (self.enthalpy[a] - self.enthalpy[b]);
            self.enthalpy[a] -= change;
            self.enthalpy[b] += change;
            for k in 1..=n_species {
                let change = part * (self.states[k * n + a] - self.states[k * n + b]);
                self.states[k * n + a] -= change;
                self.states[k * n + b] += change;
            }
            self.settle(a)?;
            self.settle(b)?;
        }
        Ok(())
    }

    /// Makes temperature and amount those of the enthalpy and the mass fractions.
    fn settle(&mut self, particle: usize) -> Result<(), PasrError> {
        let n = self.n_particles();
        let mut y = self.mass_fractions(particle);
        // Unlike `max`, this keeps NaN, for the error below.
        let clip = |y: f64| if y < 0.0 { 0.0 } else { y };
        let sum: f64 = y.iter().map(|y| clip(*y)).sum();
        for y in &mut y {
            *y = clip(*y) / sum;
        }
        let (h, guess) = (self.enthalpy[particle], self.states[particle]);
        let temperature = self
            .kinetics
            .temperature_of(h, &y, guess)
            .map_err(|error| PasrError::Particle { particle, time: self.time(), error })?;
        self.states[particle] = temperature;
        let mut m = 0.0;
        for (k, y) in y.iter().enumerate() {
            self.states[(k + 1) * n + particle] = *y;
            m += y * self.kinetics.recip_weight[k];
        }
        self.states[(y.len() + 1) * n + particle] = m;
        Ok(())
    }

    fn replace(&mut self, particle: usize, gas: &Gas) {
        let n = self.n_particles();
        self.enthalpy[particle] = gas.enthalpy;
        self.states[particle] = gas.temperature;
        let mut m = 0.0;
        for (k, y) in gas.mass_fractions.iter().enumerate() {
            self.states[(k + 1) * n + particle] = *y;
            m += y * self.kinetics.recip_weight[k];
        }
        self.states[(gas.mass_fractions.len() + 1) * n + particle] = m;
    }

    fn mass_fractions(&self, particle: usize) -> Vec<f64> {
        let n = self.n_particles();
        (1..=self.kinetics.n_species()).map(|k| self.states[k * n + particle]).collect()
    }

    fn n_particles(&self) -> usize {
        self.settings.n_particles
    }

    fn time_of(&self, step: usize) -> f64 {
        let end = self.settings.n_residence_times * self.settings.tau_res;
        (step as f64 * self.settings.longest_step()).min(end)
    }
}

/// What `save` may look at.
impl Pasr {
    /// The settings.
    pub fn settings(&self) -> &PasrSettings {
        &self.settings
    }

    /// Time since the start \[s\].
    pub fn time(&self) -> f64 {
        self.time_of(self.steps)
    }

    /// Steps done.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Steps of the whole run; only the last may be shorter than the others.
    pub fn n_steps(&self) -> usize {
        let end = self.settings.n_residence_times * self.settings.tau_res;
        // Rounding of the quotient must not add a step of no length.
        (end / self.settings.longest_step() * (1.0 - 1e-12)).ceil() as usize
    }

    /// Particles that have flown in.
    pub fn n_inflow(&self) -> usize {
        self.n_inflow
    }

    /// Pairs that have been chosen to part.
    pub fn n_parted(&self) -> usize {
        self.n_parted
    }

    /// (T, Y, m) of the particles: states of a [`Reactor`](crate::Reactor) of constant pressure.
    /// [dim × particles]
    pub fn states(&self) -> &[f64] {
        &self.states
    }

    /// Enthalpies of the particles [J/kg]. \[particles\]
    pub fn enthalpies(&self) -> &[f64] {
        &self.enthalpy
    }

    /// The gas of a particle; `None` when there is none of this index.
    pub fn gas(&self, particle: usize) -> Option<GasState> {
        if particle >= self.n_particles() {
            return None;
        }
        let (temperature, pressure) = (self.states[particle], self.settings.pressure);
        let mass_fractions = self.mass_fractions(particle);
        let density = self.kinetics.density(temperature, pressure, &mass_fractions);
        Some(GasState { temperature, pressure, density, mass_fractions })
    }
}
