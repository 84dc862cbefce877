//! Numbers of species and rates that make no sense, for those who read mechanisms and those who
//! build them.

use super::BALANCE;
use crate::mechanism::{
    Arrhenius, Blending, Chebyshev, Element, PlogPoint, Range, Rate, Species, Thermo,
};

/// What makes no sense, and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) found: String,
    pub(crate) remedy: &'static str,
}

/// Temperatures at which rates must be finite \[K\].
const PROBES: [f64; 6] = [300.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0];

/// Pressures that differ by less are one that was rounded: 1 bar and 0.986923266716013 atm.
pub(crate) const SAME_PRESSURE: f64 = 1.0 + 1e-12;

/// What to do about a rate constant that is not finite.
const RATE: &str = "correct A, b, Ea or their units";

/// All that is wrong with a rate.
pub(crate) fn of_rate(rate: &Rate) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut tell = |found: String, remedy| faults.push(Fault { found, remedy });
    match rate {
        Rate::Arrhenius(k) => {
            if let Some(t) = PROBES.iter().find(|&&t| !at(k, t).is_finite()) {
                tell(format!("the rate constant is not finite at {t} K"), RATE);
            }
        }
        Rate::Falloff { low, high, blending, .. } => {
            let infinite = |k: &Arrhenius| PROBES.into_iter().find(|&t| !at(k, t).is_finite());
            let ratio = low.a / high.a;
            if low.a == 0.0 || high.a == 0.0 {
                let remedy = "correct it; without one of its limits the reaction has no rate";
                tell("a limit with A = 0".to_owned(), remedy);
            } else if let Some(t) = infinite(low).or(infinite(high)) {
                tell(format!("a limit of the rate constant is not finite at {t} K"), RATE);
            } else if ratio < 0.0 {
                tell("limits of opposite sign".to_owned(), "correct one of them");
            } else if ratio == 0.0 || ratio.is_infinite() {
                let found = format!("limits with A = {} and {}", low.a, high.a);
                tell(found, "correct one of them: their ratio is beyond all numbers");
            }
            if let Some(found) = blending_fault(blending) {
                tell(found, "correct the parameters of the blending function");
            }
        }
        Rate::Plog(points) => plog(points, &mut tell),
        Rate::Chebyshev(table) => chebyshev(table, &mut tell),
    }
    faults
}

fn at(k: &Arrhenius, t: f64) -> f64 {
    k.a * (k.b * t.ln() - k.ta / t).exp()
}

/// Of SRI the sum that is raised to a power may vanish, but not be negative.
fn blending_fault(blending: &Blending) -> Option<String> {
    let parameters = match *blending {
        Blending::Lindemann => [0.0; 5],
        Blending::Troe { a, t3, t1, t2 } => [a, t3, t1, t2.unwrap_or(0.0), 0.0],
        Blending::Sri { a, b, c, d, e } => [a, b, c, d, e],
        Blending::Tsang { a, b } => [a, b, 0.0, 0.0, 0.0],
    };
    if let Some(value) = parameters.iter().find(|value| !value.is_finite()) {
        return Some(format!("{value} in the blending function"));
    }
    let &Blending::Sri { a, b, c, d, .. } = blending else { return None };
    let sum = |t: f64| a * (-b / t).exp() + if c == 0.0 { 0.0 } else { (-t / c).exp() };
    if c < 0.0 || d <= 0.0 {
        return Some(format!("SRI with C = {c}, D = {d}"));
    }
    let negative = PROBES.iter().find(|&&t| sum(t) < 0.0)?;
    Some(format!("A exp(−B/T) + exp(−T/C) of SRI is negative at {negative} K"))
}

fn plog(points: &[PlogPoint], tell: &mut impl FnMut(String, &'static str)) {
    if points.is_empty() {
        tell("a table without rows".to_owned(), "give pressures, each with A, b and Ea");
    }
    for point in points {
        let pressure = point.pressure;
        if !(pressure > 0.0 && pressure.is_finite()) {
            tell(format!("a pressure of {pressure} Pa"), "give positive pressures");
        }
        let bad = PROBES.iter().find(|&&t| {
            let sum: f64 = point.rates.iter().map(|k| at(k, t)).sum();
            !(sum > 0.0 && sum.is_finite())
        });
        if let Some(t) = bad {
            let found =
                format!("the rate constant at {pressure} Pa and {t} K is not positive and finite");
            tell(found, RATE);
        }
    }
    for pair in points.windows(2) {
        let [before, after] = [pair[0].pressure, pair[1].pressure];
        if after <= before * SAME_PRESSURE {
            let found = format!("a pressure of {after} Pa after {before} Pa");
            tell(found, "put the pressures in ascending order, each once");
        }
    }
}

fn chebyshev(table: &Chebyshev, tell: &mut impl FnMut(String, &'static str)) {
    let ranges = [("temperatures", table.temperatures, "K"), ("pressures", table.pressures, "Pa")];
    for (what, (low, high), unit) in ranges {
        if !(0.0 < low && low < high && high.is_finite()) {
            let found = format!(
                "a Chebyshev table of the {what} {low} to {high} {unit}, which are no ascending \
                 positive numbers"
            );
            tell(found, "give the lowest and the highest");
        }
    }
    let columns = table.coefficients.first().map_or(0, Vec::len);
    if columns == 0 || table.coefficients.iter().any(|row| row.len() != columns) {
        let found = "coefficients that are no table with rows of one length".to_owned();
        tell(found, "give a row per order in temperature");
    }
    // |Tᵢ| ≤ 1 within the table.
    let bound: f64 = table.coefficients.iter().flatten().map(|c| c.abs()).sum();
    if bound > 300.0 || bound.is_nan() {
        tell(format!("log₁₀ k may reach {bound}"), RATE);
    }
}

/// What is wrong with a species whose elements are there.
pub(crate) fn of_species(species: &Species, elements: &[Element]) -> Option<Fault> {
    let weight = species.weight;
    let atoms = species.composition.iter().map(|&(e, n)| n * elements[e].weight);
    // Not `sum`, which is -0 of nothing.
    let atoms = atoms.fold(0.0, |sum, weight| sum + weight);
    if !(weight > 0.0 && weight.is_finite()) {
        let found = format!("a molar mass of {weight} kg/kmol");
        return Some(Fault { found, remedy: "give that of its atoms" });
    }
    if (weight - atoms).abs() > BALANCE * weight || atoms.is_nan() {
        let found = format!("a molar mass of {weight} kg/kmol, and {atoms} of its atoms");
        return Some(Fault { found, remedy: "correct one of the two" });
    }
    let (found, remedy) = match &species.thermo {
        Thermo::Nasa7(ranges) | Thermo::Shomate(ranges) => of_ranges(ranges),
        Thermo::Nasa9(ranges) => of_ranges(ranges),
        &Thermo::ConstantCp { t0, h0, s0, cp0, bounds: (low, high) } => {
            let numbers = not_finite(&[t0, h0, s0, cp0]).or_else(|| descends(low, high));
            let reference = || format!("a reference temperature of {t0} K");
            numbers.or_else(|| (t0 <= 0.0).then(|| (reference(), "give a positive one")))
        }
    }?;
    Some(Fault { found, remedy })
}

type Wrong = Option<(String, &'static str)>;

fn of_ranges<const K: usize>(ranges: &[Range<K>]) -> Wrong {
    let each = ranges
        .iter()
        .find_map(|range| not_finite(&range.a).or_else(|| descends(range.low, range.high)));
    each.or_else(|| {
        let apart = ranges.windows(2).find(|pair| pair[0].high != pair[1].low)?;
        let found =
            format!("data that end at {} K and go on from {} K", apart[0].high, apart[1].low);
        Some((found, "let the ranges ascend, each from the end of the one before"))
    })
}

fn not_finite(numbers: &[f64]) -> Wrong {
    let value = numbers.iter().find(|value| !value.is_finite())?;
    Some((format!("{value} in the thermodynamic data"), "give a finite number"))
}

fn descends(low: f64, high: f64) -> Wrong {
    let ascend = 0.0 <= low && low < high;
    let found = || format!("thermodynamic data from {low} to {high} K");
    (!ascend).then(|| (found(), "give temperatures that ascend"))
}
