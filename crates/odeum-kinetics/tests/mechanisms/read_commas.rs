//! Decimal commas: what they make of a number is an error with its line, wherever it stands.

use odeum_kinetics::read::{self, Named};

const YAML: &str = include_str!("../data/all-rate-laws.yaml");
const CHEMKIN: &str = include_str!("../data/all-rate-laws.inp");

/// The line, from 1, at which `part` begins.
fn line_of(text: &str, part: &str) -> usize {
    1 + text[..text.find(part).unwrap()].matches('\n').count()
}

/// Each change makes an error at its line that says what to do.
fn refused(text: &str, cases: &[(&str, &str)], read: impl Fn(&str) -> Option<read::ReadErrors>) {
    let mut wrong = Vec::new();
    for (from, to) in cases {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        let line = line_of(&changed, to);
        let Some(errors) = read(&changed) else {
            wrong.push(format!("{to} was read"));
            continue;
        };
        let found = |p: &read::Problem| {
            p.line == line
                && (p.remedy.contains("decimal point") || p.found.contains("decimal point"))
        };
        if !errors.problems.iter().any(found) {
            wrong.push(format!("{to} (line {line}): {errors}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn in_yaml() {
    let cases = [
        // The end of a number becomes a key without a value.
        ("A: 3.87e4", "A: 3,87e4"),
        ("b: 2.7", "b: 2,7"),
        ("Ea: 6260", "Ea: 6,26e3"),
        ("T3: 94", "T3: 94,5"),
        ("SRI: {A: 0.45", "SRI: {A: 0,45"),
        ("P: 0.1 atm", "P: 0,1 atm"),
        ("efficiencies: {N2: 1.5}", "efficiencies: {N2: 1,5}"),
        ("composition: {Ar: 1}", "composition: {Ar: 1,0}"),
        // Twice the same end.
        ("b: 2.7, Ea: 6260", "b: 2,7, Ea: 6260,7"),
        // Lists become longer.
        ("7.376e-12, -917.9, 0.683]", "7.376e-12, -917,9, 0.683]"),
    ];
    refused(YAML, &cases, |text| read::yaml("f.yaml", text, None).err());
}

#[test]
fn in_blocks_of_yaml() {
    let text = "
phases: [{name: gas, thermo: ideal-gas, kinetics: gas}]
species:
- {name: H2, composition: {H: 2}, thermo: {model: constant-cp}}
- {name: H, composition: {H: 1}, thermo: {model: constant-cp, h0: 218 kJ/mol}}
reactions:
- equation: H2 + M <=> 2.0 H + M
  rate-constant:
    A: 4.6e16
    b: -1.4
    Ea: 104 kcal/mol
";
    read::yaml("f.yaml", text, None).unwrap();
    let cases = [
        ("A: 4.6e16", "A: 4,6e16"),
        ("b: -1.4", "b: -1,4"),
        ("Ea: 104 kcal/mol", "Ea: 104,1 kcal/mol"),
        ("equation: H2 + M <=> 2.0 H + M", "equation: H2 + M <=> 2,0 H + M"),
    ];
    refused(text, &cases, |text| read::yaml("f.yaml", text, None).err());
}

/// Keys of a rate that have no value, whatever they are called.
#[test]
fn keys_without_a_value() {
    for (from, to, found) in [
        ("Ea: 6260", "Ea: ", "nothing as 'Ea'"),
        ("Ea: 6260", "Ea: 6260, x", "the key 'x' has no value"),
        ("T3: 94", "T3: 94, T4", "the key 'T4' has no value"),
        ("P: 0.1 atm", "P: , Q: 0.1", "nothing as 'P'"),
        ("duplicate: true", "duplicate: ", "nothing as 'duplicate'"),
    ] {
        assert!(YAML.contains(from), "{from}");
        let message = read::yaml("f.yaml", &YAML.replacen(from, to, 1), None).unwrap_err();
        assert!(message.to_string().contains(found), "{to}: {message}");
    }
}

#[test]
fn in_chemkin() {
    let cases = [
        ("1.1E-12", "1,1E-12"),
        ("LOW / 2.3E-30", "LOW / 2,3E-30"),
        ("X/3.5/", "X/3,5/"),
        ("REV / 1.0E-13 0.5 36. /", "REV / 1,0E-13 0.5 36. /"),
        (" 3.33700000E+00", " 3,33700000E+00"),
        ("H   2O   1          G", "H  2,O   1          G"),
    ];
    let read = |text: &str| read::chemkin(Named { file: "f.inp", text }, None).err();
    refused(CHEMKIN, &cases, read);
}
