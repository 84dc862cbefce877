//! The reduced Newton iteration for the least Gibbs function.

use super::charge::Charge;
use super::enthalpy::{SPACINGS, Standard};
use super::error::EquilibriumError;
use super::iterate::{GROWN, Iterate};
use super::linear;
use crate::kinetics::Kinetics;

/// A few dozen suffice from any start; more means that there is no convergence.
const MAX_ITERATIONS: usize = 300;
/// Convergence is quadratic: a step this small leaves rounding behind it.
const SMALL: f64 = 1e-9;
/// Largest lack of an element relative to itself: some times the rounding of its sum.
const SMALL_LACK: f64 = 1e-13;
/// The same of charge, relative to that of one sign: logarithms of traces as small as e⁻⁴⁰⁰ have no
/// more digits.
const SMALL_CHARGE: f64 = 1e-12;
/// Mole fractions below this are traces, which may shrink or grow by orders of magnitude in a
/// step, up to [`GROWN`] (RP-1311, eq. 3.2).
const TRACE: f64 = 1e-8;
/// Largest changes of the logarithms of temperature, total amount and amounts of species that are
/// no traces (RP-1311, eq. 3.1).
const LARGEST: f64 = 0.4;
const LARGEST_SPECIES: f64 = 2.0;
/// Temperature from which iterations start \[K\]: at low temperatures amounts differ by so many
/// orders of magnitude that steps from far away leave nothing of what is needed later.
const START: f64 = 3000.0;
/// What part of their amounts ions start with: as traces, as which they end in most gases. Charges that are no traces are not
/// balanced by themselves, and where they then vanish together the iteration loses them.
const IONISED: f64 = 1e-8;
/// Largest change of the logarithm of a given temperature on the way to it, and the change of an
/// iterate that is near enough to its equilibrium to go on.
const COOLING: f64 = 0.2;
const NEAR: f64 = 0.1;
/// Steps in a row that take the temperature back and forth, after which they would for ever: where ranges of the data join, each
/// may lead across to the other.
const MOST_TURNS: usize = 10;
/// Of the bracket of a temperature that is then halved: its ends, and the farthest that they may be, relative to the iterate.
const FIRST_WIDTH: f64 = 1.0 + 1e-3;
const WIDEST: f64 = 2.0;

/// What is constant beside the pressure.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    /// Temperature \[K\].
    Temperature(f64),
    /// Enthalpy over the gas constant [K kmol/kg].
    Enthalpy(f64),
}

impl Held {
    /// How far the logarithm of the temperature is from that of a given one.
    fn distance(self, now: &Iterate) -> f64 {
        match self {
            Held::Temperature(t) => t.ln() - now.ln_t,
            Held::Enthalpy(_) => 0.0,
        }
    }
}

/// Minimise the Gibbs function of the amounts n [kmol/kg] of `species` so that counts · n = atoms.
pub(super) struct Problem<'a> {
    /// Atoms in each species. [element × species]
    pub(super) counts: Vec<Vec<f64>>,
    /// Amounts of the elements [kmol/kg], all positive but that of charge.
    pub(super) atoms: Vec<f64>,
    /// Which of them is charge, counted in electrons.
    pub(super) charge: Option<usize>,
    /// Which species of the mechanism these are.
    pub(super) species: &'a [usize],
    /// Logarithm of the pressure over that of the standard state.
    pub(super) ln_pressure: f64,
    pub(super) held: Held,
}

/// What one linearisation gives.
struct Step {
    ln_amounts: Vec<f64>,
    ln_total: f64,
    ln_t: f64,
    potentials: Vec<f64>,
    /// Largest change relative to the whole.
    change: f64,
    /// Largest lack of an element before the step, relative to itself.
    lack: f64,
    /// Lack of charge before the step, relative to that of one sign.
    uncharged: f64,
}

impl Step {
    /// Whether it takes the temperature back at least half as far as the step before changed it, near to its end.
    fn turns_from(&self, last_ln_t: f64) -> bool {
        let (size, last) = (self.ln_t.abs(), last_ln_t.abs());
        self.ln_t * last_ln_t < 0.0 && size < NEAR && size > SMALL.max(0.5 * last)
    }
}

impl Problem<'_> {
    /// The temperature \[K\] and the amounts of the species [kmol/kg].
    pub(super) fn solve(&self, kinetics: &Kinetics) -> Result<(f64, Vec<f64>), EquilibriumError> {
        let mut now = self.start(kinetics.temperature_bounds());
        let found = self.iterate(kinetics, self.held, &mut now);
        match (self.held, found) {
            (Held::Temperature(t), found) => found.map(|()| (t, now.amounts())),
            (Held::Enthalpy(_), Ok(())) => Ok((now.ln_t.exp(), now.amounts())),
            (Held::Enthalpy(h), Err(error)) => self.halve(kinetics, h, now).ok_or(error),
        }
    }

    /// Newton's iteration.
    fn iterate(
        &self,
        kinetics: &Kinetics,
        held: Held,
        now: &mut Iterate,
    ) -> Result<(), EquilibriumError> {
        let mut standard = Standard::new(kinetics.n_species());
        let charge = self.charge.map(|row| Charge::new(row, &self.counts[row], self.atoms[row]));
        let (mut change, mut last, mut turns) = (f64::INFINITY, 0.0, 0);
        for iteration in 0..MAX_ITERATIONS {
            standard.evaluate(kinetics, now.ln_t.exp());
            // On the way to a given temperature everything may be at rest for a moment.
            let arrived = held.distance(now).abs() <= SMALL;
            let step = self.linearise(now, &standard, held, change);
            change = step.change;
            turns = if step.turns_from(last) { turns + 1 } else { 0 };
            last = step.ln_t;
            if !change.is_finite() || turns > MOST_TURNS {
                return Err(diverged(iteration + 1, now, change));
            }
            let damping = damping(now, &step);
            advance(now, &step, damping);
            if let Some(charge) = &charge {
                charge.balance(now);
            }
            let conserves = step.lack <= SMALL_LACK && step.uncharged <= SMALL_CHARGE;
            if arrived && damping == 1.0 && change <= SMALL && conserves {
                return Ok(());
            }
        }
        Err(diverged(MAX_ITERATIONS, now, change))
    }

    /// The equilibrium at the temperature at which its enthalpy passes the given one, by halving. Where ranges of the data join,
    /// the enthalpy may jump across it: then the temperature is that of the join.
    fn halve(
        &self,
        kinetics: &Kinetics,
        enthalpy: f64,
        mut now: Iterate,
    ) -> Option<(f64, Vec<f64>)> {
        let mut standard = Standard::new(kinetics.n_species());
        let bounds = kinetics.temperature_bounds();
        let near = now.ln_t.exp();
        // Whether the enthalpy at a temperature is above the given one, and the amounts there.
        let mut at = |t: f64| {
            let held = Held::Temperature(t);
            if self.iterate(kinetics, held, &mut now).is_err() {
                now = self.start(bounds);
                self.iterate(kinetics, held, &mut now).ok()?;
            }
            standard.evaluate(kinetics, t);
            let amounts = now.amounts();
            let parts = self.species.iter().zip(&amounts).map(|(&k, n)| n * standard.h[k] * t);
            Some((parts.sum::<f64>() > enthalpy, amounts))
        };
        let (mut low, mut high) = (near / FIRST_WIDTH, near * FIRST_WIDTH);
        let mut amounts;
        loop {
            let (above, found) = at(low)?;
            amounts = found;
            if !above {
                break;
            }
            let ratio = low / high;
            (low, high) = (low * ratio * ratio, low);
            if low < near / WIDEST {
                return None;
            }
        }
        loop {
            let (above, found) = at(high)?;
            if above {
                break;
            }
            amounts = found;
            let ratio = high / low;
            (low, high) = (high, high * ratio * ratio);
            if high > near * WIDEST {
                return None;
            }
        }
        while high - low > SPACINGS * high {
            let middle = 0.5 * (low + high);
            let (above, found) = at(middle)?;
            if above {
                high = middle;
            } else {
                (low, amounts) = (middle, found);
            }
        }
        Some((low, amounts))
    }

    /// Whether a row of the counts is one of atoms, not of charge.
    fn is_element(&self, row: usize) -> bool {
        self.charge != Some(row)
    }

    /// Every species with its fraction of the largest amount that the elements allow, electrons with
    /// that of all atoms; of what is charged a trace.
    fn start(&self, bounds: (f64, f64)) -> Iterate {
        let n = self.species.len();
        let all: f64 = self.atoms.iter().map(|atoms| atoms.abs()).sum();
        let largest = |k: usize| {
            let allowed = (0..self.atoms.len())
                .filter(|&i| self.is_element(i) && self.counts[i][k] > 0.0)
                .map(|i| self.atoms[i] / self.counts[i][k]);
            allowed.fold(all, f64::min)
        };
        let is_charged = |k: usize| self.charge.is_some_and(|row| self.counts[row][k] != 0.0);
        let part = |k: usize| if is_charged(k) { IONISED } else { 1.0 };
        let amounts: Vec<f64> = (0..n).map(|k| part(k) * largest(k) / n as f64).collect();
        // Ranges of data that miss each other by less than their margin have these the wrong way round.
        let t = START.min(bounds.1).max(bounds.0);
        Iterate {
            ln_total: amounts.iter().sum::<f64>().ln(),
            ln_amounts: amounts.iter().map(|n| n.ln()).collect(),
            ln_t: t.ln(),
            potentials: vec![0.0; self.atoms.len()],
        }
    }

    /// RP-1311, eqs. 2.24, 2.26 and 2.27, for changes of the potentials instead of their values:
    /// rounding then shrinks with the steps.
    fn linearise(&self, now: &Iterate, standard: &Standard, held: Held, last_change: f64) -> Step {
        let (m, n) = (self.atoms.len(), self.species.len());
        let adiabatic = matches!(held, Held::Enthalpy(_));
        let given =
            if last_change < NEAR { held.distance(now).clamp(-COOLING, COOLING) } else { 0.0 };
        let size = if adiabatic { m + 2 } else { m + 1 };
        let mut a = vec![vec![0.0; size]; size];
        let mut b = vec![0.0; size];
        b[..m].copy_from_slice(&self.atoms);
        let total = now.ln_total.exp();
        a[m][m] = -total;
        b[m] = total;
        if let Held::Enthalpy(h) = held {
            b[m + 1] = h / now.ln_t.exp();
        }
        let mut row = vec![0.0; size];
        row[m] = 1.0;
        let mut residuals = vec![0.0; n];
        let mut lack = self.atoms.clone();
        // Charges of either sign.
        let mut charges = [0.0; 2];
        for (j, &k) in self.species.iter().enumerate() {
            let amount = now.ln_amounts[j].exp();
            let mut residual = standard.g[k] + now.ln_amounts[j] - now.ln_total + self.ln_pressure;
            for i in 0..m {
                row[i] = self.counts[i][j];
                residual -= row[i] * now.potentials[i];
                lack[i] -= row[i] * amount;
            }
            if let Some(charge) = self.charge {
                charges[usize::from(row[charge] < 0.0)] += row[charge].abs() * amount;
            }
            if adiabatic {
                row[m + 1] = standard.h[k];
                a[m + 1][m + 1] += amount * standard.cp[k];
            }
            residuals[j] = residual;
            for i in 0..size {
                b[i] += amount * row[i] * (residual - 1.0 - standard.h[k] * given);
                for other in 0..size {
                    a[i][other] += amount * row[i] * row[other];
                }
            }
        }
        let x = linear::solve(a, b);
        let ln_t = if adiabatic { x[m + 1] } else { given };
        let mut change = x[m].abs().max(ln_t.abs());
        let of_one_sign = charges[0].max(charges[1]);
        let uncharged = match self.charge {
            Some(charge) if of_one_sign > 0.0 => lack[charge].abs() / of_one_sign,
            _ => 0.0,
        };
        let elements = (0..m).filter(|&i| self.is_element(i));
        let lack = elements.fold(0.0_f64, |most, i| most.max(lack[i].abs() / self.atoms[i]));
        let mut ln_amounts = vec![0.0; n];
        for (j, &k) in self.species.iter().enumerate() {
            let mut d = x[m] - residuals[j] + standard.h[k] * ln_t;
            for i in 0..m {
                d += self.counts[i][j] * x[i];
            }
            ln_amounts[j] = d;
            // NaN must not be lost, as `max` would.
            let weighted = d.abs() * (now.ln_amounts[j] - now.ln_total).exp();
            change = if weighted <= change { change } else { weighted };
        }
        Step {
            ln_amounts,
            ln_total: x[m],
            ln_t,
            potentials: x[..m].to_vec(),
            change,
            lack,
            uncharged,
        }
    }
}

/// The part of the step to take (RP-1311, section 3.3).
fn damping(now: &Iterate, step: &Step) -> f64 {
    let mut part = 1.0_f64;
    let fast = step.ln_t.abs().max(step.ln_total.abs());
    if fast > LARGEST {
        part = part.min(LARGEST / fast);
    }
    for (ln_n, d) in now.ln_amounts.iter().zip(&step.ln_amounts) {
        let ln_x = ln_n - now.ln_total;
        if *d <= 0.0 {
            continue;
        }
        if ln_x > TRACE.ln() {
            if *d > LARGEST_SPECIES {
                part = part.min(LARGEST_SPECIES / d);
            }
        } else if ln_x + d - step.ln_total > GROWN.ln() {
            part = part.min((GROWN.ln() - ln_x) / (d - step.ln_total).abs());
        }
    }
    part
}

fn advance(now: &mut Iterate, step: &Step, part: f64) {
    for (ln_n, d) in now.ln_amounts.iter_mut().zip(&step.ln_amounts) {
        *ln_n += part * d;
    }
    for (potential, d) in now.potentials.iter_mut().zip(&step.potentials) {
        *potential += part * d;
    }
    now.ln_total += part * step.ln_total;
    now.ln_t += part * step.ln_t;
}

fn diverged(iterations: usize, now: &Iterate, change: f64) -> EquilibriumError {
    EquilibriumError::Diverged { iterations, temperature: now.ln_t.exp(), change }
}
