//! Tables of the species: thermodynamic data, molar masses, colliders.

use super::lists::Long;
use super::production::weighted_reads;
use crate::kinetics::Kinetics;
use crate::thermo::N_GENERAL;
use odeum_core::emit::Tables;

/// Numbers of a range of the nine-coefficient form, with one that fills up the last pair.
const N_GENERAL_FILLED: usize = N_GENERAL + 1;

/// The sections of the species.
pub(super) fn write(kinetics: &Kinetics, width: usize, tables: &mut Tables) {
    tables.count("OD_GAS_SPECIES", kinetics.n_species());
    tables.push_f64("OD_GAS_WEIGHT", &kinetics.weight);
    tables.push_f64("OD_GAS_RECIP_WEIGHT", &kinetics.recip_weight);
    thermo(kinetics, tables);
    colliders(kinetics, width, tables);
}

/// Coefficients of polynomials: of species with two ranges \[range\]\[pair of coefficients\]\[species\], of the others
/// range by range.
fn thermo(kinetics: &Kinetics, tables: &mut Tables) {
    let pair = &kinetics.thermo.pair;
    let species: Vec<u16> = pair.species.iter().map(|k| *k as u16).collect();
    let mut coefficients = Vec::new();
    for range in [&pair.low, &pair.high] {
        for j in 0..range.first().map_or(0, |a| a.len() / 2) {
            coefficients.extend(range.iter().flat_map(|a| [a[2 * j], a[2 * j + 1]]));
        }
    }
    tables.count("OD_GAS_PAIRS", species.len());
    tables.push_u16("OD_GAS_PAIR_SPECIES", &species);
    tables.push_f64("OD_GAS_PAIR_MID", &pair.mid);
    tables.push_f64("OD_GAS_PAIR_COEFFICIENTS", &coefficients);

    let general = &kinetics.thermo.general;
    let mut coefficients = Vec::new();
    for a in &general.coefficients {
        coefficients.extend_from_slice(a);
        coefficients.resize(coefficients.len().next_multiple_of(N_GENERAL_FILLED), 0.0);
    }
    tables.count("OD_GAS_NASA9", general.species.len());
    tables.push_u32("OD_GAS_NASA9_SPECIES", &general.species);
    tables.push_u32("OD_GAS_NASA9_STARTS", &general.starts);
    tables.push_f64("OD_GAS_NASA9_LOW", &general.low);
    tables.push_f64("OD_GAS_NASA9_COEFFICIENTS", &coefficients);
}

/// For each set of efficiencies α₀, and the listed species with (α − α₀)/W. A last set has no colliders:
/// its X is one.
fn colliders(kinetics: &Kinetics, width: usize, tables: &mut Tables) {
    let bodies = &kinetics.bodies;
    let listed = |set: usize| {
        let of = |(k, excess): (u32, f64)| (k as u16, excess * kinetics.recip_weight[k as usize]);
        bodies.listed(set).map(of).collect::<Vec<(u16, f64)>>()
    };
    let n = bodies.default.len();
    let mut lists = Long::new(width);
    let sums = (0..n).map(|set| (set as u32, listed(set))).collect();
    lists.push(sums, n as u32, (0, 0.0), &weighted_reads(size_of::<f64>()));
    let targets: Vec<u16> = lists.targets.iter().map(|set| *set as u16).collect();
    let (species, excess): (Vec<u16>, Vec<f64>) = lists.terms.iter().copied().unzip();
    let default: Vec<f64> = bodies.default.iter().copied().chain([0.0]).collect();
    tables.count("OD_GAS_SETS", n);
    tables.push_f64("OD_GAS_SET_DEFAULT", &default);
    tables.count("OD_GAS_SET_COUNT", lists.rounds.len());
    tables.push_u32("OD_GAS_SET_ROUNDS", lists.rounds.as_flattened());
    tables.push_u16("OD_GAS_SET_TARGETS", &targets);
    tables.push_u16("OD_GAS_SET_SPECIES", &species);
    tables.push_f64("OD_GAS_SET_EXCESS", &excess);
}
