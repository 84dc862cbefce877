//! Equilibria against Cantera (`validation/equilibrium.py` writes the references), and what every
//! equilibrium obeys.

use crate::common::synthetic;
use odeum_kinetics::constants::{GAS_CONSTANT, ONE_ATM};
use odeum_kinetics::{EquilibriumError, Kinetics, Mechanism, StateError, read};
use serde_json::Value;

const AIR: [(&str, f64); 2] = [("O2", 1.0), ("N2", 3.76)];

fn mixture(kinetics: &Kinetics, fuel: &str, phi: f64) -> Vec<f64> {
    let fuel = kinetics.composition(&[(fuel, 1.0)]).unwrap();
    let air = kinetics.composition(&AIR).unwrap();
    kinetics.at_equivalence_ratio(phi, &fuel, &air).unwrap()
}

/// Amounts of the elements [kmol/kg].
fn atoms(mechanism: &Mechanism, y: &[f64]) -> Vec<f64> {
    let mut atoms = vec![0.0; mechanism.elements.len()];
    for (species, y) in mechanism.species.iter().zip(y) {
        for (element, count) in &species.composition {
            atoms[*element] += count * y / species.weight;
        }
    }
    atoms
}

fn assert_conserves(mechanism: &Mechanism, before: &[f64], after: &[f64], what: &str) {
    for (a, b) in atoms(mechanism, before).iter().zip(&atoms(mechanism, after)) {
        assert!((a - b).abs() <= 1e-12 * a, "{what}: an element changed from {a} to {b}");
    }
}

fn against_cantera(name: &str) {
    let Some(mechanism) = crate::common::load(name) else {
        return;
    };
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let path = format!("{}/tests/data/equilibrium.json", env!("CARGO_MANIFEST_DIR"));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let reference = &document["mechanisms"][name];
    let states = reference["states"].as_array().unwrap();
    assert_eq!(states.len(), 9);
    for state in states {
        let number = |key: &str| state[key].as_f64().unwrap();
        let (held, phi) = (state["held"].as_str().unwrap(), number("phi"));
        let (t0, p) = (number("T0"), number("P"));
        let y = mixture(&kinetics, reference["fuel"].as_str().unwrap(), phi);
        let what = format!("{name} {held} phi {phi} {t0} K {p} Pa");
        let found = if held == "HP" {
            kinetics.equilibrate_hp(t0, p, &y).unwrap()
        } else {
            kinetics.equilibrate_tp(t0, p, &y).unwrap()
        };
        let t = number("T");
        assert!((found.temperature / t - 1.0).abs() < 1e-8, "{what}: {} {t}", found.temperature);
        assert_conserves(&mechanism, &y, &found.mass_fractions, &what);
        let w = kinetics.molecular_weights();
        let amounts: Vec<f64> = found.mass_fractions.iter().zip(w).map(|(y, w)| y / w).collect();
        let total: f64 = amounts.iter().sum();
        for (species, x) in state["X"].as_object().unwrap() {
            let x = x.as_f64().unwrap();
            let mine = amounts[kinetics.species_index(species).unwrap()] / total;
            let tolerance = if x > 1e-5 { 1e-8 } else { 1e-6 };
            assert!((mine / x - 1.0).abs() < tolerance, "{what}: {species} {mine:e} for {x:e}");
        }
    }
}

#[test]
fn hydrogen_agrees_with_cantera() {
    against_cantera("burke-h2-2012");
}

#[test]
fn methane_agrees_with_cantera() {
    against_cantera("grimech30");
}

#[test]
fn every_mixture_from_lean_to_rich_has_one() {
    for (name, fuel) in [("burke-h2-2012", "H2"), ("grimech30", "CH4")] {
        let Some(mechanism) = crate::common::load(name) else {
            return;
        };
        let kinetics = Kinetics::new(&mechanism).unwrap();
        for phi in [0.0, 1e-6, 0.05, 0.5, 0.999, 1.0, 1.001, 1.9, 3.0, 4.0, 10.0, 100.0] {
            let y = mixture(&kinetics, fuel, phi);
            for p in [1e-3, 0.1, 1.0, 40.0, 1000.0].map(|p| p * ONE_ATM) {
                for t in [300.0, 800.0, 2000.0, 3000.0] {
                    let what = format!("{name} phi {phi} {t} K {p} Pa");
                    let hp = kinetics.equilibrate_hp(t, p, &y);
                    let tp = kinetics.equilibrate_tp(t, p, &y);
                    let (Ok(hp), Ok(tp)) = (&hp, &tp) else { panic!("{what}: {hp:?} {tp:?}") };
                    assert_conserves(&mechanism, &y, &hp.mass_fractions, &what);
                    assert_conserves(&mechanism, &y, &tp.mass_fractions, &what);
                    let before = kinetics.enthalpy_mass(t, &y);
                    let after = kinetics.enthalpy_mass(hp.temperature, &hp.mass_fractions);
                    let scale = 1e3 * hp.temperature;
                    assert!((before - after).abs() < 1e-11 * scale, "{what}: {before} {after}");
                    // An equilibrium is its own.
                    let (low, high) = kinetics.temperature_bounds();
                    if (low..=high).contains(&hp.temperature) {
                        let again = kinetics.equilibrate_hp(hp.temperature, p, &hp.mass_fractions);
                        let ratio = again.unwrap().temperature / hp.temperature;
                        assert!((ratio - 1.0).abs() < 1e-10, "{what}: {ratio}");
                    }
                }
            }
        }
    }
}

#[test]
fn any_composition_has_one() {
    for name in ["burke-h2-2012", "grimech30", "marinov-ethanol-1999"] {
        let Some(mechanism) = crate::common::load(name) else {
            return;
        };
        let kinetics = Kinetics::new(&mechanism).unwrap();
        let mut seed = 1_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        for case in 0..500 {
            let mut y: Vec<f64> = vec![0.0; kinetics.n_species()];
            for y in &mut y {
                if draw() < 0.3 {
                    *y = 10_f64.powf(-12.0 * draw());
                }
            }
            let t = 300.0 + 2000.0 * draw();
            let p = ONE_ATM * 10_f64.powf(4.0 * draw() - 2.0);
            if y.iter().all(|y| *y == 0.0) {
                continue;
            }
            let what = format!("{name} case {case}");
            let sum: f64 = y.iter().sum();
            let y: Vec<f64> = y.iter().map(|y| y / sum).collect();
            for found in [kinetics.equilibrate_hp(t, p, &y), kinetics.equilibrate_tp(t, p, &y)] {
                let found = found.unwrap_or_else(|error| panic!("{what} {t} K {p} Pa: {error}"));
                assert_conserves(&mechanism, &y, &found.mass_fractions, &what);
            }
        }
    }
}

#[test]
fn without_reactions_there_is_nothing_to_change() {
    let Some(mechanism) = crate::common::load("grimech30") else {
        return;
    };
    let kinetics = Kinetics::new(&mechanism).unwrap();
    for (species, t) in [("AR", 300.0), ("N2", 300.0), ("O2", 400.0), ("H2O", 500.0)] {
        let y = kinetics.composition(&[(species, 1.0)]).unwrap();
        let hp = kinetics.equilibrate_hp(t, ONE_ATM, &y).unwrap();
        assert!((hp.temperature / t - 1.0).abs() < 1e-9, "{species} {}", hp.temperature);
        let kept = hp.mass_fractions[kinetics.species_index(species).unwrap()];
        assert!((kept - 1.0).abs() < 1e-9, "{species} {kept}");
    }
}

#[test]
fn the_synthetic_mechanism_balances() {
    let mechanism = synthetic::mechanism();
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let x = kinetics.composition(&[("H2", 2.0), ("O2", 1.0), ("AR", 7.0)]).unwrap();
    let y = kinetics.mass_fractions(&x).unwrap();
    let hp = kinetics.equilibrate_hp(300.0, ONE_ATM, &y).unwrap();
    assert_conserves(&mechanism, &y, &hp.mass_fractions, "synthetic");
    assert!(hp.temperature > 1500.0 && hp.temperature < 6000.0, "{}", hp.temperature);
    // Forward and reverse reactions are in balance: the rates know nothing of this iteration.
    let c: Vec<f64> = hp
        .mass_fractions
        .iter()
        .zip(kinetics.molecular_weights())
        .map(|(y, w)| hp.density * y / w)
        .collect();
    let mut work = vec![0.0; kinetics.workspace()];
    let [mut forward, mut reverse] = [(); 2].map(|()| vec![0.0; kinetics.n_reactions()]);
    kinetics.rates_of_progress(hp.temperature, &c, &mut forward, &mut reverse, &mut work);
    for (r, reaction) in mechanism.reactions.iter().enumerate() {
        if reaction.reversible {
            let ratio = forward[r] / reverse[r];
            assert!((ratio - 1.0).abs() < 1e-9, "{}: {ratio}", reaction.equation);
        }
    }
}

#[test]
fn the_temperature_of_an_enthalpy() {
    let mechanism = synthetic::mechanism();
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let n = kinetics.n_species();
    let mut y = vec![1.0 / n as f64; n];
    for t in [200.0, 300.0, 999.9, 1000.0, 1000.1, 2500.0, 6000.0] {
        let h = kinetics.enthalpy_mass(t, &y);
        for guess in [f64::NAN, 0.0, 200.0, 1000.0, 5900.0] {
            let found = kinetics.temperature_of(h, &y, guess).unwrap();
            // The synthetic data jump a little where their ranges join.
            let tolerance = if (t - 1000.0).abs() < 1.0 { 1e-2 } else { 1e-13 };
            assert!((found / t - 1.0).abs() < tolerance, "{t} from {guess}: {found}");
        }
    }
    y[0] += y[1];
    y[1] = 0.0;
    let h = kinetics.enthalpy_mass(1500.0, &y);
    let without = kinetics.temperature_of(h, &y, 1000.0).unwrap();
    y[1] = -1e-9;
    assert_eq!(kinetics.temperature_of(h, &y, 1000.0).unwrap(), without);
    for h in [-1e9, 1e9] {
        let error = kinetics.temperature_of(h, &y, 1000.0).unwrap_err();
        assert!(matches!(error, EquilibriumError::Enthalpy { .. }), "{error}");
    }
    // Not even zeros, which have any temperature.
    for factor in [0.0, 0.5, 1.3] {
        let scaled: Vec<f64> = y.iter().map(|y| factor * y).collect();
        let error = kinetics.temperature_of(factor * 1e5, &scaled, 777.0).unwrap_err();
        assert!(error.to_string().contains("not to one"), "{factor}: {error}");
    }
    y[2] = f64::NAN;
    assert!(kinetics.temperature_of(h, &y, 1000.0).unwrap_err().to_string().contains("of O2"));
}

/// Published data jump a little where their ranges join: no temperature has an enthalpy within the jump.
#[test]
fn equilibria_where_ranges_join_are_found() {
    let Some(mechanism) = crate::common::load("burke-h2-2012") else { return };
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let mut mixtures = vec![mixture(&kinetics, "H2", 0.5), mixture(&kinetics, "H2", 1.0)];
    for one in ["N2", "O2", "H2", "H2O", "AR"] {
        mixtures.push(kinetics.composition(&[(one, 1.0)]).unwrap());
    }
    // The range above begins at the next number.
    let above = 1000.0_f64.next_up();
    for (number, y) in mixtures.iter().enumerate() {
        for offset in [0.0, 1e-7, 1e-5, 3e-4, 1e-3, 1e-2].into_iter().flat_map(|d| [-d, d]) {
            let t = 1000.0 + offset;
            let tp = kinetics.equilibrate_tp(t, 1e5, y).unwrap();
            let hp = kinetics.equilibrate_hp(t, 1e5, &tp.mass_fractions);
            let hp = hp.unwrap_or_else(|error| panic!("{number}, {t} K: {error}"));
            // Where enthalpies fall at the join, two temperatures have one.
            assert!((hp.temperature - t).abs() < 2e-2, "{number}, {t} K: {}", hp.temperature);
            for (a, b) in hp.mass_fractions.iter().zip(&tp.mass_fractions) {
                assert!((a - b).abs() < 1e-6, "{number}, {t} K: {a} {b}");
            }
            assert_conserves(&mechanism, y, &hp.mass_fractions, "at the join");
        }
        // From a gas whose enthalpy may lie within the jump.
        let y = kinetics.equilibrate_tp(1000.0, 1e5, y).unwrap().mass_fractions;
        let [low, high] = [1000.0, above].map(|t| kinetics.enthalpy_mass(t, &y));
        let start = kinetics.temperature_of(0.5 * (low + high), &y, 900.0).unwrap();
        let hp = kinetics.equilibrate_hp(start, 1e5, &y);
        let hp = hp.unwrap_or_else(|error| panic!("{number}: {error}"));
        let before = kinetics.enthalpy_mass(start, &y);
        let after = kinetics.enthalpy_mass(hp.temperature, &hp.mass_fractions);
        let jump = 2.0 * (high - low).abs() + 1e-9 * GAS_CONSTANT * 1000.0;
        assert!((before - after).abs() <= jump, "{number}: {before} {after}, not {jump}");
    }
}

/// Of two species no temperature is within both ranges, and some are near enough to both.
#[test]
fn ranges_that_miss_each_other_by_less_than_the_margin_have_equilibria() {
    let text = r"
phases: [{name: gas, thermo: ideal-gas, species: [A, B]}]
species:
- {name: A, composition: {H: 1}, thermo: {model: constant-cp, T-min: 200 K, T-max: 1000 K, T0: 300 K, h0: 50 kJ/mol, s0: 170 J/mol/K, cp0: 29 J/mol/K}}
- {name: B, composition: {H: 2}, thermo: {model: constant-cp, T-min: 1015 K, T-max: 3000 K, T0: 300 K, h0: 0 kJ/mol, s0: 200 J/mol/K, cp0: 29 J/mol/K}}
";
    let kinetics = Kinetics::new(&read::yaml("f.yaml", text, None).unwrap().mechanism).unwrap();
    let (low, high) = kinetics.temperature_bounds();
    assert!(low > high, "{low} {high}");
    let found = kinetics.equilibrate_tp(1007.0, 1e5, &[0.5, 0.5]).unwrap();
    assert!(found.mass_fractions.iter().all(|y| (0.0..=1.0).contains(y)), "{found:?}");
    let found = kinetics.equilibrate_hp(1007.0, 1e5, &found.mass_fractions).unwrap();
    assert!((found.temperature / 1007.0 - 1.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn impossible_gases_are_named() {
    let kinetics = Kinetics::new(&synthetic::mechanism()).unwrap();
    let n = kinetics.n_species();
    let y = vec![1.0; n];
    let error = kinetics.equilibrate_hp(20.0, 1e5, &y).unwrap_err();
    assert!(matches!(error, EquilibriumError::State(StateError::Temperature { .. })));
    let error = kinetics.equilibrate_tp(300.0, -1.0, &y).unwrap_err();
    assert!(error.to_string().contains("pressure"));
    let error = kinetics.equilibrate_tp(300.0, 1e5, &y[1..]).unwrap_err();
    assert!(error.to_string().contains("9 fractions"));
    let error = kinetics.equilibrate_tp(300.0, 1e5, &vec![0.0; n]).unwrap_err();
    assert!(matches!(error, EquilibriumError::State(StateError::Sum(_))));
}

fn air_with_ions() -> Mechanism {
    read::yaml("air-ions.yaml", include_str!("../data/air-ions.yaml"), None).unwrap().mechanism
}

/// By Cantera 3.2.0 (`TPX`, then `equilibrate` with rtol = 1e-13). Traces of ions, of which it leaves the
/// charges unbalanced, follow from its standard Gibbs functions and the amounts of N₂ and O₂.
#[test]
fn ions_form_as_in_cantera() {
    let mechanism = air_with_ions();
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let air: &[(&str, f64)] = &[("N2", 0.79), ("O2", 0.21)];
    let charged: &[(&str, f64)] = &[("N2", 0.78), ("O2", 0.2), ("e-", 1e-2), ("N+", 2e-2)];
    type Case<'a> = (&'a [(&'a str, f64)], f64, f64, Option<f64>, &'a [(&'a str, f64)]);
    let cases: [Case<'_>; 6] = [
        (
            air,
            15000.0,
            1e5,
            None,
            &[
                ("N+", 0.2849556871825429),
                ("e-", 0.341950849281361),
                ("N", 0.23488740074218287),
                ("O+", 0.05698192750410214),
                ("NO+", 4.843643453190937e-6),
            ],
        ),
        (
            &[("N", 1.0)],
            9000.0,
            1e5,
            Some(9085.190294418197),
            &[
                ("N+", 0.009505942531901785),
                ("e-", 0.00959262938313321),
                ("N2", 0.016938103416350152),
            ],
        ),
        (
            air,
            6000.0,
            1e3,
            None,
            &[
                ("NO+", 0.00020990546213361206),
                ("e-", 0.0006144013006377029),
                ("N+", 0.00028474036942510185),
            ],
        ),
        (air, 2000.0, 1e5, None, &[("NO+", 9.13342575516947e-13), ("e-", 9.133524474192237e-13)]),
        (air, 300.0, 1e5, None, &[("NO+", 1.2487274998186333e-86), ("e-", 1.2487274998186333e-86)]),
        (charged, 15000.0, 1e5, None, &[("N+", 0.28890749858895187), ("e-", 0.34064040556731057)]),
    ];
    for (made_of, t, p, adiabatic, fractions) in cases {
        let y = kinetics.mass_fractions(&kinetics.composition(made_of).unwrap()).unwrap();
        let found = match adiabatic {
            Some(_) => kinetics.equilibrate_hp(t, p, &y).unwrap(),
            None => kinetics.equilibrate_tp(t, p, &y).unwrap(),
        };
        let what = format!("{made_of:?} {t} K {p} Pa");
        let expected = adiabatic.unwrap_or(t);
        assert!((found.temperature / expected - 1.0).abs() < 1e-9, "{what}: {found:?}");
        let w = kinetics.molecular_weights();
        let amounts: Vec<f64> = found.mass_fractions.iter().zip(w).map(|(y, w)| y / w).collect();
        let total: f64 = amounts.iter().sum();
        for &(species, x) in fractions {
            let mine = amounts[kinetics.species_index(species).unwrap()] / total;
            let tolerance = if x > 1e-5 { 1e-8 } else { 1e-6 };
            assert!((mine / x - 1.0).abs() < tolerance, "{what}: {species} {mine:e} for {x:e}");
        }
    }
}

/// Hot or cold, from atoms, molecules or ions; the charge stays to rounding.
#[test]
fn every_ionised_gas_has_one() {
    let mechanism = air_with_ions();
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let electrons = |y: &[f64]| -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for (species, y) in mechanism.species.iter().zip(y) {
            for (element, count) in &species.composition {
                if mechanism.elements[*element].name == "E" {
                    sums.0 += count * y / species.weight;
                    sums.1 += count.abs() * y / species.weight;
                }
            }
        }
        sums
    };
    for made_of in [
        &[("N2", 0.79), ("O2", 0.21)][..],
        &[("N", 1.0)],
        &[("O", 1.0), ("N", 1e-9)],
        &[("N+", 1.0), ("e-", 1.0)],
        &[("O2", 1.0), ("e-", 1e-3)],
        &[("O2", 1.0), ("e-", 1e-13)],
        &[("NO", 1.0), ("NO+", 1e-10), ("e-", 1e-10)],
        &[("N2", 0.7), ("NO+", 0.1), ("N+", 0.1), ("O2+", 0.1), ("e-", 0.3)],
    ] {
        let y = kinetics.mass_fractions(&kinetics.composition(made_of).unwrap()).unwrap();
        let before = electrons(&y).0;
        for p in [1e-1, 1e2, 1e5, 1e8] {
            for t in [300.0, 1000.0, 3000.0, 6000.0, 10000.0, 20000.0] {
                let what = format!("{made_of:?} {t} K {p} Pa");
                let hp = kinetics.equilibrate_hp(t, p, &y);
                let tp = kinetics.equilibrate_tp(t, p, &y);
                for found in [tp, hp] {
                    let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
                    let (after, size) = electrons(&found.mass_fractions);
                    let rounding = 1e-11 * size.max(electrons(&y).1);
                    assert!((after - before).abs() <= rounding, "{what}: {before} {after}");
                    let again =
                        kinetics.equilibrate_tp(found.temperature, p, &found.mass_fractions);
                    if let Ok(again) = again {
                        for (a, b) in again.mass_fractions.iter().zip(&found.mass_fractions) {
                            assert!((a - b).abs() < 1e-10, "{what}: {a} {b}");
                        }
                    }
                }
            }
        }
    }
}

/// Ions of a molecule that is most of the gas: with full shares of them at the start, some pressures had no equilibrium.
#[test]
fn molecules_with_ions_of_their_own_have_one_at_any_pressure() {
    let text = r"
phases: [{name: gas, thermo: ideal-gas, elements: [H, E]}]
species:
- {name: e-, composition: {E: 1}, thermo: {model: constant-cp, T0: 1000 K, h0: 15 kJ/mol, s0: 46 J/mol/K, cp0: 21 J/mol/K}}
- {name: H, composition: {H: 1}, thermo: {model: constant-cp, T0: 1000 K, h0: 233 kJ/mol, s0: 140 J/mol/K, cp0: 21 J/mol/K}}
- {name: H+, composition: {E: -1, H: 1}, thermo: {model: constant-cp, T0: 1000 K, h0: 1551 kJ/mol, s0: 134 J/mol/K, cp0: 21 J/mol/K}}
- {name: H-, composition: {E: 1, H: 1}, thermo: {model: constant-cp, T0: 1000 K, h0: 154 kJ/mol, s0: 134 J/mol/K, cp0: 21 J/mol/K}}
- {name: H2, composition: {H: 2}, thermo: {model: constant-cp, T0: 1000 K, h0: 21 kJ/mol, s0: 166 J/mol/K, cp0: 30 J/mol/K}}
- {name: H2+, composition: {E: -1, H: 2}, thermo: {model: constant-cp, T0: 1000 K, h0: 1517 kJ/mol, s0: 180 J/mol/K, cp0: 34 J/mol/K}}
- {name: H2-, composition: {E: 1, H: 2}, thermo: {model: constant-cp, T0: 1000 K, h0: 258 kJ/mol, s0: 183 J/mol/K, cp0: 36 J/mol/K}}
";
    let kinetics = Kinetics::new(&read::yaml("f.yaml", text, None).unwrap().mechanism).unwrap();
    let y = kinetics.composition(&[("H2", 1.0)]).unwrap();
    let amount = |y: &[f64], name: &str| {
        let k = kinetics.species_index(name).unwrap();
        y[k] / kinetics.molecular_weights()[k]
    };
    for t in [300.0, 1000.0, 3000.0, 10000.0] {
        for exponent in -8..32 {
            let p = 10_f64.powf(0.25 * f64::from(exponent));
            let what = format!("{t} K {p} Pa");
            for found in [kinetics.equilibrate_tp(t, p, &y), kinetics.equilibrate_hp(t, p, &y)] {
                let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
                let of = |name| amount(&found.mass_fractions, name);
                let (negative, positive) = (of("e-") + of("H-") + of("H2-"), of("H+") + of("H2+"));
                assert!((negative / positive - 1.0).abs() < 1e-9, "{what}: {negative} {positive}");
            }
        }
    }
}

/// An ion that nothing can balance does not form, and does no harm.
#[test]
fn lone_ions_stay_away() {
    let text = include_str!("../data/air-ions.yaml").replace(", e-]", "]");
    let mechanism = read::yaml("f.yaml", &text, None).unwrap().mechanism;
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let y = kinetics.mass_fractions(&kinetics.composition(&AIR).unwrap()).unwrap();
    let found = kinetics.equilibrate_tp(6000.0, 1e5, &y).unwrap();
    for name in ["N2+", "N+", "NO+", "O2+", "O+"] {
        assert_eq!(found.mass_fractions[kinetics.species_index(name).unwrap()], 0.0, "{name}");
    }
    assert!(found.mass_fractions[kinetics.species_index("O").unwrap()] > 0.1);
}

/// On the way to a low temperature nothing else moves for a while, from far above it.
#[test]
fn what_forms_only_in_the_cold_is_found() {
    let text = r"
phases: [{name: gas, thermo: ideal-gas, species: [A, B]}]
species:
- {name: A, composition: {H: 1, F: 1}, thermo: {model: constant-cp, T0: 300 K, h0: 0 kJ/mol, s0: 170 J/mol/K, cp0: 29 J/mol/K}}
- {name: B, composition: {H: 6, F: 6}, thermo: {model: constant-cp, T0: 300 K, h0: -190 kJ/mol, s0: 400 J/mol/K, cp0: 174 J/mol/K}}
";
    let kinetics = Kinetics::new(&read::yaml("f.yaml", text, None).unwrap().mechanism).unwrap();
    for (t, p) in [(280.0, ONE_ATM), (300.0, 1e5), (320.0, 1e7)] {
        let found = kinetics.equilibrate_tp(t, p, &[1.0, 0.0]).unwrap();
        let [a, b] = [found.mass_fractions[0], found.mass_fractions[1] / 6.0];
        let (x_a, x_b) = (a / (a + b), b / (a + b));
        // Six of A make one of B.
        let constant = ((190e6 / t - 620e3) / GAS_CONSTANT).exp() * (p / ONE_ATM).powi(5);
        let ratio = x_b / x_a.powi(6) / constant;
        assert!((ratio - 1.0).abs() < 1e-9, "{t} K {p} Pa: {x_a} {x_b} {ratio}");
    }
    // By Cantera 3.2.0 (`TPX`, then `equilibrate` with rtol = 1e-12).
    let mechanism = air_with_ions();
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let y = kinetics.composition(&[("N2", 1.0)]).unwrap();
    let found = kinetics.equilibrate_tp(452.8, 3673.2, &y).unwrap();
    let x = 2.0 * found.mass_fractions[kinetics.species_index("N").unwrap()];
    assert!((x / 1.6661617715795097e-51 - 1.0).abs() < 1e-6, "{x:e}");
}
