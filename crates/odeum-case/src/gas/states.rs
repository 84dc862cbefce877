//! States that come from elsewhere than [`Gas::start`], as from a code that changes them between integrations.

use super::{Gas, SUM_TOLERANCE, remedy};
use odeum_core::Error;
use odeum_kinetics::{Constraint, StateError};

/// Largest distance of `m` from the sum of Y/W, of the mass fractions as they are or scaled to sum to one, relative.
const AMOUNT_TOLERANCE: f64 = 1e-6;

/// Within which states are those of a gas.
pub struct Bounds {
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

impl Bounds {
    /// Those of starts.
    pub fn new(gas: &Gas) -> Bounds {
        Bounds {
            temperatures: gas.reactor.temperature_bounds(),
            margin: gas.reactor.temperature_margin(),
            least: gas.slack.iter().map(|slack| -slack).collect(),
            sum: SUM_TOLERANCE,
            amount: AMOUNT_TOLERANCE,
        }
    }

    /// As far too as reactions, and errors of their integration, took states [n, M]; the margin beyond that, as codes carry gas
    /// from system to system.
    #[must_use]
    pub fn with(mut self, states: &[f64], gas: &Gas) -> Bounds {
        let Some(rows) = Rows::of(states, gas) else { return self };
        for t in rows.temperatures {
            self.temperatures = (self.temperatures.0.min(*t), self.temperatures.1.max(*t));
        }
        for (least, row) in self.least.iter_mut().zip(&rows.fractions) {
            *least = row.iter().copied().fold(*least, f64::min);
        }
        for (totals, m) in totals(&rows.fractions, gas).iter().zip(rows.amounts) {
            self.sum = self.sum.max((totals.sum - 1.0).abs());
            self.amount = self.amount.max(totals.distance(*m));
        }
        self
    }
}

/// Rows \[M\] of states [n, M].
struct Rows<'a> {
    temperatures: &'a [f64],
    /// \[species\]
    fractions: Vec<&'a [f64]>,
    /// `m`.
    amounts: &'a [f64],
}

impl<'a> Rows<'a> {
    /// `None` of no states.
    fn of(states: &'a [f64], gas: &Gas) -> Option<Rows<'a>> {
        let systems = states.len() / (gas.reactor.kinetics().n_species() + 2);
        let mut rows = states.chunks_exact(systems.max(1));
        let (temperatures, amounts) = (rows.next()?, rows.next_back()?);
        Some(Rows { temperatures, fractions: rows.collect(), amounts })
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
fn totals(fractions: &[&[f64]], gas: &Gas) -> Vec<Totals> {
    let mut totals = vec![Totals::default(); fractions.first().map_or(0, |row| row.len())];
    for (row, weight) in fractions.iter().zip(gas.reactor.kinetics().molecular_weights()) {
        for (totals, y) in totals.iter_mut().zip(*row) {
            totals.sum += y;
            totals.amount += y / weight;
        }
    }
    totals
}

impl Gas {
    /// Whether states [n, M] are those of a gas. Unlike variables they are not scaled, and `m` is not made of them.
    ///
    /// # Errors
    /// What is wrong with the first that is none.
    pub fn check_states(&self, states: &[f64], bounds: &Bounds) -> Result<(), Error> {
        let names = self.reactor.kinetics().species_names();
        let Some(rows) = Rows::of(states, self) else { return Ok(()) };
        let Rows { temperatures, fractions, amounts } = rows;
        let totals = totals(&fractions, self);
        // The first system of each kind, and what is wrong with it.
        let mut wrong: Vec<(usize, String, String)> = Vec::new();
        let mut tell = |system: usize, error: &StateError, remedy: String| {
            wrong.push((system, error.to_string(), remedy));
        };

        let (low, high) =
            (bounds.temperatures.0 - bounds.margin, bounds.temperatures.1 + bounds.margin);
        if let Some(s) = temperatures.iter().position(|t| !(*t > 0.0 && (low..=high).contains(t))) {
            let (value, margin) = (temperatures[s], bounds.margin);
            let bounds = self.reactor.temperature_bounds();
            let error = StateError::Temperature { value, bounds, margin };
            tell(s, &error, remedy(&error).1);
        }
        for (k, row) in fractions.iter().enumerate() {
            let from_least = bounds.least[k]..=f64::INFINITY;
            if let Some(s) = row.iter().position(|y| !from_least.contains(y)) {
                let error = StateError::Fraction { species: names[k].clone(), value: row[s] };
                tell(s, &error, remedy(&error).1);
            }
        }
        let sums = 1.0 - bounds.sum..=1.0 + bounds.sum;
        if let Some(s) = totals.iter().position(|totals| !sums.contains(&totals.sum)) {
            let help = "scale them to sum to one, and set `m` to the sum of Y/W".to_owned();
            tell(s, &StateError::Sum(totals[s].sum), help);
        }
        let near = 0.0..=bounds.amount;
        let mut pairs = totals.iter().zip(amounts);
        if let Some(s) = pairs.position(|(totals, m)| !near.contains(&totals.distance(*m))) {
            let (m, expected) = (amounts[s], totals[s].amount);
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
        let (what, help) = match self.reactor.constraint() {
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
