//! Rate parameters and thermodynamic data equal those that Cantera 3.2 reads of the same files.
//!
//! The numbers come from `validation/rate_parameters.py`; the Chemkin file went through ck2yaml.

use odeum_kinetics::mechanism::{Arrhenius, Blending, Rate, Reaction};
use odeum_kinetics::read::{self, Named};

/// The numbers of a reaction in the order of the script.
fn parameters(rate: &Rate) -> Vec<f64> {
    let of = |k: &Arrhenius| vec![k.a, k.b, k.ta];
    match rate {
        Rate::Arrhenius(k) => of(k),
        Rate::Falloff { low, high, blending, .. } => {
            let mut all = [of(low), of(high)].concat();
            match *blending {
                Blending::Lindemann => {}
                Blending::Troe { a, t3, t1, t2 } => {
                    all.extend([a, t3, t1]);
                    all.extend(t2);
                }
                Blending::Sri { a, b, c, d, e } => all.extend([a, b, c, d, e]),
                Blending::Tsang { a, b } => all.extend([a, b]),
            }
            all
        }
        Rate::Plog(points) => {
            let mut all = Vec::new();
            for point in points {
                for k in &point.rates {
                    all.push(point.pressure);
                    all.extend(of(k));
                }
            }
            all
        }
        Rate::Chebyshev(table) => {
            let mut all = vec![table.temperatures.0, table.temperatures.1];
            all.extend([table.pressures.0, table.pressures.1]);
            all.extend(table.coefficients.iter().flatten());
            all
        }
    }
}

/// The numbers after `"key":` in `text`: a list or one number. Enough of JSON for the script's
/// output, whose order is fixed.
fn numbers(text: &str, key: &str) -> Vec<f64> {
    let start = text.find(&format!("\"{key}\":")).unwrap() + key.len() + 3;
    let rest = &text[start..];
    let end = if rest.starts_with('[') {
        rest.find(']').unwrap()
    } else {
        rest.find([',', '}']).unwrap()
    };
    rest[..end]
        .trim_start_matches('[')
        .split(',')
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().unwrap_or(f64::NAN))
        .collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4e-15 * b.abs()
}

fn compare(reactions: &[Reaction], names: &[&str], json: &str) {
    let (_, json) = json.split_once("\"reactions\":").unwrap();
    let entries: Vec<&str> = json.split("{\"type\":").skip(1).collect();
    assert_eq!(reactions.len(), entries.len());
    for (reaction, entry) in reactions.iter().zip(entries) {
        let what = &reaction.equation;
        let (ours, theirs) = (parameters(&reaction.rate), numbers(entry, "parameters"));
        assert_eq!(ours.len(), theirs.len(), "{what}: {ours:?} {theirs:?}");
        for (a, b) in ours.iter().zip(&theirs) {
            assert!(close(*a, *b), "{what}: {ours:?} {theirs:?}");
        }
        assert_eq!(entry.contains("\"reversible\":true"), reaction.reversible, "{what}");
        let order: f64 = reaction.orders.iter().map(|entry| entry.1).sum();
        assert_eq!(numbers(entry, "order"), [order], "{what}");
        let activated = matches!(reaction.rate, Rate::Falloff { activated: true, .. });
        assert_eq!(entry.starts_with("\"chemically-activated"), activated, "{what}");
        let Some(body) = &reaction.third_body else {
            assert!(entry.contains("\"default\":null"), "{what}");
            continue;
        };
        assert_eq!(numbers(entry, "default"), [body.default_efficiency], "{what}");
        for &(k, efficiency) in &body.efficiencies {
            assert_eq!(numbers(entry, names[k]), [efficiency], "{what}");
        }
    }
}

#[test]
fn yaml_as_cantera_reads_it() {
    let text = include_str!("../data/all-rate-laws.yaml");
    let read = read::yaml("all-rate-laws.yaml", text, None).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = read.mechanism.species.iter().map(|s| s.name.as_str()).collect();
    let json = include_str!("../data/all-rate-laws.yaml.json");
    compare(&read.mechanism.reactions, &names, json);
    for species in &read.mechanism.species {
        let entry = json.split_once(&format!("\"name\":\"{}\"", species.name)).unwrap().1;
        assert!(close(species.weight, numbers(entry, "weight")[0]), "{}", species.name);
    }
}

#[test]
fn chemkin_as_cantera_reads_it() {
    let text = include_str!("../data/all-rate-laws.inp");
    let file = Named { file: "all-rate-laws.inp", text };
    let read = read::chemkin(file, None).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = read.mechanism.species.iter().map(|s| s.name.as_str()).collect();
    compare(&read.mechanism.reactions, &names, include_str!("../data/all-rate-laws.inp.json"));
}
