//! States that come from elsewhere than [`Reactor::state`], as from a code that changes them between integrations.

use super::{Constraint, Reactor};
use crate::error::StateError;
use odeum_core::Error;

/// Largest distance of `m` from the sum of Y/W, of the mass fractions as they are or scaled to sum to one, relative.
const AMOUNT_TOLERANCE: f64 = 1e-6;

/// A fraction below zero counts as zero down to so many times its absolute tolerance: as far as the
/// end of a run may lie there that counts as a success.
const NEGATIVE: f64 = 100.0;

/// Within which states are those of a gas.
#[derive(Clone, Debug)]
pub struct StateBounds {
    /// Lowest and highest temperature, without the margin \[K\].
    temperatures: (f64, f64),
    /// How far temperatures may lie beyond that \[K\].
    margin: f64,
    /// Least mass fractions. \[species\]
    least: Vec<f64>,
    /// Largest distances of sums from one, and of `m` from what mass fractions give, relative.
    sum: f64,
    amount: f64,
}

impl StateBounds {
    /// Largest distance of the sum of given fractions from one: tables have three digits and more. It is a thousandth, with room
    /// for the rounding of a sum.
    pub const SUM: f64 = 1e-3 * (1.0 + 1e-9);

    /// A fraction so far below zero counts as zero, whatever the tolerance: the run before may have had another one.
    pub const NEGATIVE_LEAST: f64 = 1e-8;

    /// How far below zero a fraction of this absolute tolerance may lie that counts as zero.
    pub fn slack(atol: f64) -> f64 {
        (NEGATIVE * atol).max(StateBounds::NEGATIVE_LEAST)
    }

    /// Those of starts, with how far below zero a fraction may lie that counts as zero \[species\].
    pub fn new(reactor: &Reactor, slack: impl IntoIterator<Item = f64>) -> StateBounds {
        StateBounds {
            temperatures: reactor.temperature_bounds(),
            margin: reactor.temperature_margin(),
            least: slack.into_iter().map(|slack| -slack).collect(),
            sum: StateBounds::SUM,
            amount: AMOUNT_TOLERANCE,
        }
    }

    /// As far too as reactions, and errors of their integration, took states [n × M]; the margin beyond that, as codes carry gas
    /// from system to system.
    #[must_use]
    pub fn with(mut self, states: &[f64], reactor: &Reactor) -> StateBounds {
        let Some(rows) = Rows::of(states, reactor) else { return self };
        // What is not finite was given so, and says nothing.
        let finite = |system: &usize| rows.are_finite(*system);
        let totals = totals(&rows.fractions, reactor);
        for system in (0..totals.len()).filter(finite) {
            let t = rows.temperatures[system];
            self.temperatures = (self.temperatures.0.min(t), self.temperatures.1.max(t));
            for (least, row) in self.least.iter_mut().zip(&rows.fractions) {
                *least = least.min(row[system]);
            }
            self.sum = self.sum.max((totals[system].sum - 1.0).abs());
            self.amount = self.amount.max(totals[system].distance(rows.amounts[system]));
        }
        self
    }
}

/// Rows \[M\] of states [n × M].
struct Rows<'a> {
    temperatures: &'a [f64],
    /// \[species\]
    fractions: Vec<&'a [f64]>,
    /// `m`.
    amounts: &'a [f64],
}

impl<'a> Rows<'a> {
    /// `None` of no states.
    fn of(states: &'a [f64], reactor: &Reactor) -> Option<Rows<'a>> {
        let systems = states.len() / (reactor.kinetics().n_species() + 2);
        let mut rows = states.chunks_exact(systems.max(1));
        let (temperatures, amounts) = (rows.next()?, rows.next_back()?);
        Some(Rows { temperatures, fractions: rows.collect(), amounts })
    }

    /// Whether all numbers of a system are finite.
    fn are_finite(&self, system: usize) -> bool {
        let mut rows = self.fractions.iter().chain([&self.temperatures, &self.amounts]);
        rows.all(|row| row[system].is_finite())
    }
}

/// Sums over the species of a system.
#[derive(Clone, Copy, Default)]
struct Totals {
    /// Of Y.
    sum: f64,
    /// Of Y/W.
    amount: f64,
}

impl Totals {
    /// Of `m` from the sum of Y/W, relative; of mass fractions that do not quite sum to one as they are, or scaled.
    fn distance(self, m: f64) -> f64 {
        let from = |amount: f64| (m - amount).abs() / amount;
        from(self.amount).min(from(self.amount / self.sum))
    }
}

/// Those of all systems \[M\].
fn totals(fractions: &[&[f64]], reactor: &Reactor) -> Vec<Totals> {
    let mut totals = vec![Totals::default(); fractions.first().map_or(0, |row| row.len())];
    for (row, weight) in fractions.iter().zip(reactor.kinetics().molecular_weights()) {
        for (totals, y) in totals.iter_mut().zip(*row) {
            totals.sum += y;
            totals.amount += y / weight;
        }
    }
    totals
}

impl Reactor {
    /// Whether states, component-major [n × M], are those of a gas: temperatures within the data, mass fractions not below zero
    /// that sum to one, and `m` their sum of Y/W. They are not scaled as by [`state`](Reactor::state), and `m` is not made of
    /// them. Systems with NaN or infinity are passed over where these are `let_pass`.
    ///
    /// # Errors
    /// What is wrong with the first that is none.
    pub fn check_states(
        &self,
        states: &[f64],
        bounds: &StateBounds,
        let_pass: bool,
    ) -> Result<(), Error> {
        let names = self.kinetics.species_names();
        let Some(rows) = Rows::of(states, self) else { return Ok(()) };
        let counts = |system: usize| !let_pass || rows.are_finite(system);
        let totals = totals(&rows.fractions, self);
        // The first system of each kind, and what is wrong with it.
        let mut wrong: Vec<(usize, String, String)> = Vec::new();
        let mut tell = |system: usize, error: &StateError, remedy: String| {
            wrong.push((system, error.to_string(), remedy));
        };

        let (low, high) =
            (bounds.temperatures.0 - bounds.margin, bounds.temperatures.1 + bounds.margin);
        let is_one = |t: f64| t > 0.0 && (low..=high).contains(&t);
        if let Some(s) = first(rows.temperatures, |s, t| !is_one(*t) && counts(s)) {
            let (value, margin) = (rows.temperatures[s], bounds.margin);
            let error =
                StateError::Temperature { value, bounds: self.temperature_bounds(), margin };
            tell(s, &error, error.remedy());
        }
        for (k, row) in rows.fractions.iter().enumerate() {
            let from_least = bounds.least[k]..=f64::INFINITY;
            if let Some(s) = first(row, |s, y| !from_least.contains(y) && counts(s)) {
                let error = StateError::Fraction { species: names[k].clone(), value: row[s] };
                tell(s, &error, error.remedy());
            }
        }
        let sums = 1.0 - bounds.sum..=1.0 + bounds.sum;
        if let Some(s) = first(&totals, |s, of| !sums.contains(&of.sum) && counts(s)) {
            let help = "scale them to sum to one, and set `m` to the sum of Y/W".to_owned();
            tell(s, &StateError::Sum(totals[s].sum), help);
        }
        let near = 0.0..=bounds.amount;
        let is_off = |s: usize, of: &Totals| !near.contains(&of.distance(rows.amounts[s]));
        if let Some(s) = first(&totals, |s, of| is_off(s, of) && counts(s)) {
            let (m, expected) = (rows.amounts[s], totals[s].amount);
            let found = format!("`m` is {m}, while its mass fractions give {expected}");
            let help = "set `m` to the sum of Y/W in kmol/kg, 1 / mean_molecular_weight(Y)";
            wrong.push((s, found, help.to_owned()));
        }
        match wrong.into_iter().min_by_key(|(system, ..)| *system) {
            None => Ok(()),
            Some((system, found, help)) => {
                Err(Error::input("states", format!("system {system}: {found}"), help))
            }
        }
    }

    /// Whether parameters are pressures or densities.
    ///
    /// # Errors
    /// The first that is none.
    pub fn check_params(&self, params: &[f64]) -> Result<(), Error> {
        let (what, help) = match self.constraint {
            Constraint::ConstantPressure => ("pressure", "give a pressure above zero, in Pa"),
            Constraint::ConstantVolume => ("density", "give a density above zero, in kg/m³"),
        };
        match params.iter().position(|p| !(*p > 0.0 && p.is_finite())) {
            None => Ok(()),
            Some(system) => {
                let value = params[system];
                let error = StateError::NotPositive { what, value };
                Err(Error::input("params", format!("system {system}: {error}"), help))
            }
        }
    }
}

/// The first system whose value is wrong.
fn first<T>(row: &[T], is_wrong: impl Fn(usize, &T) -> bool) -> Option<usize> {
    row.iter().enumerate().position(|(s, value)| is_wrong(s, value))
}
