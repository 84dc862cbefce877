//! Checks of a mechanism: elements that reactions conserve, and thermodynamic data without jumps.

mod faults;

pub(crate) use faults::{Fault, SAME_PRESSURE, of_rate, of_species};

use crate::constants::GAS_CONSTANT;
use crate::mechanism::{Mechanism, Range, Reaction, Species, Thermo};

/// Largest difference of the atoms of an element on both sides of a reaction, relative to all of
/// them: as Cantera has it, with charges counted by their size.
const BALANCE: f64 = 1e-4;
/// Such a difference that is rounding.
const ROUNDING: f64 = 1e-15;

/// An element that a reaction makes or destroys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// Index of the element.
    pub element: usize,
    /// Its atoms among the reactants.
    pub reactants: f64,
    /// Its atoms among the products.
    pub products: f64,
}

/// The elements that a reaction does not conserve, in the order of the mechanism.
///
/// Species and elements that the mechanism does not have count for nothing.
pub fn imbalance(mechanism: &Mechanism, reaction: &Reaction) -> Vec<Imbalance> {
    let mut wrong = beyond(BALANCE, &mechanism.species, reaction);
    wrong.retain(|here| here.element < mechanism.elements.len());
    wrong
}

/// Whether a reaction has as many atoms of each element among its products as among its reactants, to rounding.
pub(crate) fn balances(species: &[Species], reaction: &Reaction) -> bool {
    beyond(ROUNDING, species, reaction).is_empty()
}

/// Of each element, whether all reactions conserve it to rounding.
pub(crate) fn conserved(mechanism: &Mechanism) -> Vec<bool> {
    let mut conserved = vec![true; mechanism.elements.len()];
    for reaction in &mechanism.reactions {
        for wrong in beyond(ROUNDING, &mechanism.species, reaction) {
            conserved[wrong.element] = false;
        }
    }
    conserved
}

/// The elements whose atoms on both sides differ by more than this part of all of them.
fn beyond(tolerance: f64, species: &[Species], reaction: &Reaction) -> Vec<Imbalance> {
    // Each element that occurs, with the sizes of its counts.
    let mut found: Vec<(Imbalance, f64)> = Vec::new();
    for (is_product, side) in [(false, &reaction.reactants), (true, &reaction.products)] {
        for &(k, coefficient) in side {
            let atoms = species.get(k).map_or(&[][..], |s| &s.composition);
            for &(element, count) in atoms {
                let at = found.iter().position(|(here, _)| here.element == element);
                let at = at.unwrap_or_else(|| {
                    found.push((Imbalance { element, reactants: 0.0, products: 0.0 }, 0.0));
                    found.len() - 1
                });
                let (here, size) = &mut found[at];
                let sum = if is_product { &mut here.products } else { &mut here.reactants };
                *sum += coefficient * count;
                *size += (coefficient * count).abs();
            }
        }
    }
    let wrong =
        |(here, size): &(Imbalance, f64)| (here.products - here.reactants).abs() > tolerance * size;
    let mut wrong: Vec<Imbalance> = found.into_iter().filter(wrong).map(|entry| entry.0).collect();
    wrong.sort_by_key(|here| here.element);
    wrong
}

/// How far heat capacity, enthalpy and entropy of a species jump between two ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// Index of the species.
    pub species: usize,
    /// Temperature between the ranges \[K\].
    pub temperature: f64,
    /// |Δcp| / R.
    pub cp: f64,
    /// |Δh| / (R T).
    pub h: f64,
    /// |Δs| / R.
    pub s: f64,
}

impl Jump {
    /// The largest of the three.
    pub fn largest(&self) -> f64 {
        self.cp.max(self.h).max(self.s)
    }
}

/// The jumps of all species with more than one range, in the order of the species.
///
/// Published data jump by up to about 1e-3; more points to a slip in a coefficient.
pub fn thermodynamics(mechanism: &Mechanism) -> Vec<Jump> {
    let mut jumps = Vec::new();
    for (species, entry) in mechanism.species.iter().enumerate() {
        match &entry.thermo {
            Thermo::Nasa7(ranges) => between(species, ranges, nasa7, &mut jumps),
            Thermo::Nasa9(ranges) => between(species, ranges, nasa9, &mut jumps),
            Thermo::Shomate(ranges) => between(species, ranges, shomate, &mut jumps),
            Thermo::ConstantCp { .. } => {}
        }
    }
    jumps
}

/// Lowest and highest temperature of the data of a species \[K\].
pub(crate) fn bounds(thermo: &Thermo) -> (f64, f64) {
    fn ends<const K: usize>(ranges: &[Range<K>]) -> (f64, f64) {
        let (first, last) = (ranges.first(), ranges.last());
        (first.map_or(0.0, |range| range.low), last.map_or(f64::INFINITY, |range| range.high))
    }
    match thermo {
        Thermo::Nasa7(ranges) | Thermo::Shomate(ranges) => ends(ranges),
        Thermo::Nasa9(ranges) => ends(ranges),
        Thermo::ConstantCp { bounds, .. } => *bounds,
    }
}

/// Whether data have no range, and so no values.
pub(crate) fn is_empty(thermo: &Thermo) -> bool {
    match thermo {
        Thermo::Nasa7(ranges) | Thermo::Shomate(ranges) => ranges.is_empty(),
        Thermo::Nasa9(ranges) => ranges.is_empty(),
        Thermo::ConstantCp { .. } => false,
    }
}

/// A temperature \[K\] at which the data of a species give a cp/R of one or less, and that: there it
/// would have no heat capacity at constant volume. The ends and the middle of each range are tried.
pub(crate) fn without_heat_capacity(thermo: &Thermo) -> Option<(f64, f64)> {
    fn lowest<const K: usize>(
        ranges: &[Range<K>],
        value: fn(&[f64; K], f64) -> [f64; 3],
    ) -> Option<(f64, f64)> {
        let at = |range: &Range<K>| {
            let (low, high) = (range.low.max(1.0), range.high);
            [low, 0.5 * (low + high), high].map(|t| (t, value(&range.a, t)[0]))
        };
        ranges.iter().flat_map(at).find(|(_, cp)| *cp <= 1.0)
    }
    match thermo {
        Thermo::Nasa7(ranges) => lowest(ranges, nasa7),
        Thermo::Nasa9(ranges) => lowest(ranges, nasa9),
        Thermo::Shomate(ranges) => lowest(ranges, shomate),
        Thermo::ConstantCp { t0, cp0, .. } => {
            Some((*t0, cp0 / GAS_CONSTANT)).filter(|(_, cp)| *cp <= 1.0)
        }
    }
}

fn between<const K: usize>(
    species: usize,
    ranges: &[Range<K>],
    value: fn(&[f64; K], f64) -> [f64; 3],
    jumps: &mut Vec<Jump>,
) {
    for pair in ranges.windows(2) {
        let t = pair[1].low;
        let (below, above) = (value(&pair[0].a, t), value(&pair[1].a, t));
        let [cp, h, s] = std::array::from_fn(|i| (below[i] - above[i]).abs());
        jumps.push(Jump { species, temperature: t, cp, h, s });
    }
}

/// cp/R, h/(R T), s/R.
fn nasa7(a: &[f64; 7], t: f64) -> [f64; 3] {
    let (mut cp, mut h, mut s, mut power) = (0.0, a[5] / t, a[6] + a[0] * t.ln(), 1.0);
    for i in 0..5 {
        let k = i as f64;
        cp += a[i] * power;
        h += a[i] * power / (k + 1.0);
        if i > 0 {
            s += a[i] * power / k;
        }
        power *= t;
    }
    [cp, h, s]
}

/// As `nasa7`: McBride & Gordon, NASA RP-1311 (1996), with T⁻² and T⁻¹ before the powers.
fn nasa9(a: &[f64; 9], t: f64) -> [f64; 3] {
    let (u, v) = (a[0] / (t * t), a[1] / t);
    let [cp, h, s] = nasa7(&[a[2], a[3], a[4], a[5], a[6], a[7], a[8]], t);
    [cp + u + v, h - u + v * t.ln(), s - u / 2.0 - v]
}

/// As `nasa7`, of the NIST equation with kJ, mol and T / 1000.
fn shomate(a: &[f64; 7], temperature: f64) -> [f64; 3] {
    let t = temperature / 1000.0;
    let r = GAS_CONSTANT / 1000.0;
    let cp = a[0] + t * (a[1] + t * (a[2] + t * a[3])) + a[4] / (t * t);
    let h = t * (a[0] + t * (a[1] / 2.0 + t * (a[2] / 3.0 + t * a[3] / 4.0))) - a[4] / t + a[5];
    let s = a[0] * t.ln() + t * (a[1] + t * (a[2] / 2.0 + t * a[3] / 3.0)) - a[4] / (2.0 * t * t)
        + a[6];
    [cp / r, h / (r * t), s / r]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H, O and charge; H₂, OH, OH⁺, electron, and a lump of a ten-thousandth of an atom of H.
    fn balance(reactants: &[(usize, f64)], products: &[(usize, f64)]) -> Vec<usize> {
        use crate::mechanism::{Arrhenius, Element, Rate};
        let atoms: [&[(usize, f64)]; 5] = [
            &[(0, 2.0)],
            &[(0, 1.0), (1, 1.0)],
            &[(0, 1.0), (1, 1.0), (2, -1.0)],
            &[(2, 1.0)],
            &[(0, 1e-4)],
        ];
        let species = |composition: &&[(usize, f64)]| Species {
            name: String::new(),
            composition: composition.to_vec(),
            weight: 1.0,
            thermo: Thermo::Nasa7(Vec::new()),
            line: 0,
        };
        let element = |name: &str| Element { name: name.to_owned(), weight: 1.0 };
        let mechanism = Mechanism {
            elements: ["H", "O", "E"].map(element).to_vec(),
            species: atoms.iter().map(species).collect(),
            ..Mechanism::default()
        };
        let reaction = Reaction {
            equation: String::new(),
            reactants: reactants.to_vec(),
            products: products.to_vec(),
            orders: Vec::new(),
            reversible: false,
            rate: Rate::Arrhenius(Arrhenius { a: 1.0, b: 0.0, ta: 0.0 }),
            third_body: None,
            duplicate: false,
            line: 0,
        };
        imbalance(&mechanism, &reaction).iter().map(|here| here.element).collect()
    }

    /// One scale for all who judge a balance: the atoms that occur, however few.
    #[test]
    fn balance_is_relative_to_the_atoms() {
        assert_eq!(balance(&[(0, 1.0)], &[(1, 2.0)]), [1]);
        assert_eq!(balance(&[(1, 1.0)], &[(2, 1.0), (3, 1.0)]), [0_usize; 0]);
        assert_eq!(balance(&[(1, 1.0)], &[(2, 1.0)]), [2]);
        // Coefficients rounded to five digits are meant to balance; to three they are not.
        assert_eq!(balance(&[(0, 0.33333)], &[(1, 0.66667)]), [1]);
        assert_eq!(balance(&[(1, 1.0)], &[(1, 0.3333), (1, 0.6667)]), [0_usize; 0]);
        assert_eq!(balance(&[(0, 1.0)], &[(0, 0.99985)]), [0_usize; 0]);
        assert_eq!(balance(&[(0, 1.0)], &[(0, 0.999)]), [0]);
        // Few atoms: all of them are lost, though they are less than 1e-4 of one.
        assert_eq!(balance(&[(4, 0.5)], &[(3, 1e-9), (3, 1e-9)]), [0, 2]);
    }

    #[test]
    fn jumps_of_each_model() {
        // Cantera's own report on this file (its test data): s/R of O2 29.279376622757287 below,
        // 28.612310671002362 above 1000 K; cp/R of O 2.6 and 2.5 at 1400 K.
        let text = include_str!("../tests/data/all-rate-laws.inp");
        let file = crate::read::Named { file: "all-rate-laws.inp", text };
        let read = crate::read::chemkin(file, None).unwrap();
        let jumps = thermodynamics(&read.mechanism);
        let of = |name: &str| {
            let species = read.mechanism.species_index(name).unwrap();
            *jumps.iter().find(|jump| jump.species == species).unwrap()
        };
        assert!((of("O2").s - (29.279376622757287 - 28.612310671002362)).abs() < 1e-12);
        assert!((of("O").cp - 0.1).abs() < 1e-14 && of("O").temperature == 1400.0);
        assert!(read.warnings.iter().any(|warning| warning.subject == "O2"));
        // Published NASA-9 and NIST data are continuous; the file rounds the range above 6000 K.
        let text = include_str!("../tests/data/all-rate-laws.yaml");
        let read = crate::read::yaml("all-rate-laws.yaml", text, None).unwrap();
        for jump in thermodynamics(&read.mechanism) {
            let name = &read.mechanism.species[jump.species].name;
            assert!(jump.temperature == 6000.0 || jump.largest() < 2e-2, "{name}: {jump:?}");
        }
    }
}
