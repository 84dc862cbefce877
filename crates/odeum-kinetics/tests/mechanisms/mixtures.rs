//! Mixtures of fuel and oxidizer against Cantera (`validation/mixtures.py` writes the references).

use odeum_kinetics::{Kinetics, read};
use serde_json::Value;

/// Amounts \[kmol\] of all species from a table of named moles or masses.
fn amounts(kinetics: &Kinetics, table: &Value, basis: &str) -> Vec<f64> {
    let mut all = vec![0.0; kinetics.n_species()];
    for (name, amount) in table.as_object().unwrap() {
        let k = kinetics.species_index(name).unwrap();
        let weight = if basis == "mass" { kinetics.molecular_weights()[k] } else { 1.0 };
        all[k] = amount.as_f64().unwrap() / weight;
    }
    all
}

#[test]
fn mixtures_are_those_of_cantera() {
    let mechanism = read::yaml("fuels.yaml", include_str!("../data/fuels.yaml"), None).unwrap();
    let kinetics = Kinetics::new(&mechanism.mechanism).unwrap();
    let document: Value = serde_json::from_str(include_str!("../data/mixtures.json")).unwrap();
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 12 * 2 * 6);
    for case in cases {
        let basis = case["basis"].as_str().unwrap();
        let [fuel, oxidizer] =
            ["fuel", "oxidizer"].map(|key| amounts(&kinetics, &case[key], basis));
        let phi = case["phi"].as_f64().unwrap();
        let found = kinetics.at_equivalence_ratio(phi, &fuel, &oxidizer).unwrap();
        for (name, y) in kinetics.species_names().iter().zip(&found) {
            let expected = case["Y"][name].as_f64().unwrap_or(0.0);
            assert!(
                (y - expected).abs() <= 1e-13,
                "{name}: {y}, not {expected}, in {} and {} ({basis}) at {phi}",
                case["fuel"],
                case["oxidizer"]
            );
        }
    }
}
