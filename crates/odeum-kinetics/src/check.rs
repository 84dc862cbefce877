//! Checks of a mechanism that was read, for a report on it: thermodynamic data.

use crate::constants::GAS_CONSTANT;
use crate::mechanism::{Mechanism, Range, Thermo};

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
