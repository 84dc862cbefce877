//! Bad files: a clear error, never a panic, a hang or a wrong mechanism.

use std::time::{Duration, Instant};

use odeum_kinetics::read::{self, Named};

const YAML: &str = include_str!("../data/all-rate-laws.yaml");
const CHEMKIN: &str = include_str!("../data/all-rate-laws.inp");

/// A minute is a hang, on the busiest machine; what it guards against would take hours.
const HANG: Duration = Duration::from_secs(60);

/// The message of the errors in `text`.
fn yaml_error(text: &str) -> String {
    let start = Instant::now();
    let message = read::yaml("f.yaml", text, None).unwrap_err().to_string();
    assert!(start.elapsed() < HANG, "{:?}", start.elapsed());
    message
}

fn chemkin_error(text: &str) -> String {
    let start = Instant::now();
    let message = read::chemkin(Named { file: "f.inp", text }, None).unwrap_err().to_string();
    assert!(start.elapsed() < HANG, "{:?}", start.elapsed());
    message
}

#[test]
fn one_thing_wrong_in_yaml() {
    // (what to replace, by what, what the message must hold).
    let cases = [
        ("O + H2 = H + OH", "O + H3 = H + OH", "'H3' is not a species"),
        ("O + H2 = H + OH", "O + H2 = H + H2O", "not balanced"),
        ("O + H2 = H + OH", "O + H2 + H + OH", "'<=>'"),
        ("O + H2 = H + OH", "1e9 O + H2 = H + OH", "coefficient 1000000000"),
        ("A: 3.87e4", "A: .nan", "not a number"),
        ("A: 3.87e4", "A: 1e400", "beyond the range"),
        ("A: 3.87e4", "A: -3.87e4", "negative pre-exponential"),
        ("A: 3.87e4", "A: [3.87e4]", "a list"),
        ("A: 3.87e4", "A: 3.87e4 cm^6/mol^2/s", "not a unit of this quantity"),
        ("A: 3.87e4", "A: 3.87e4 furlong", "unknown unit 'furlong'"),
        ("b: 2.7", "b: 1e5", "not finite"),
        (
            "activation-energy: cal/mol}\n\nphases",
            "activation-energy: m}\n\nphases",
            "no unit of an activation",
        ),
        ("length: cm, quantity: mol, act", "length: mol, quantity: mol, act", "no unit of length"),
        ("thermo: ideal-gas", "thermo: plasma", "no phase of an ideal gas"),
        (
            "type: Chebyshev",
            "type: Blowers-Masel",
            "'Blowers-Masel' is not supported; fit the rate",
        ),
        ("type: Chebyshev", "type: linear-Burke", "'linear-Burke' is not supported"),
        ("pressure-range: [0.01 atm, 100 atm]", "pressure-range: [1 atm, 0.1 atm]", "ascending"),
        (
            "temperature-ranges: [200, 1000, 3500]",
            "temperature-ranges: [1000, 200, 3500]",
            "do not ascend",
        ),
        (
            "temperature-ranges: [200, 1000, 3500]",
            "temperature-ranges: [200, 3500]",
            "2 temperatures for 2 rows",
        ),
        ("7.376e-12, -917.9, 0.683]", "7.376e-12, -917.9]", "7 coefficients"),
        (
            "model: Shomate",
            "model: piecewise-Gibbs",
            "'piecewise-Gibbs' is not supported; give NASA7",
        ),
        ("composition: {Ar: 1}", "composition: {Zz: 1}", "element Zz"),
        ("composition: {Ar: 1}", "composition: {Ar: 1e300}", "atoms of Ar"),
        ("composition: {Ar: 1}", "composition: {}", "no atoms"),
        ("species: [H2, O2]", "species: [H2, H2]", "declared twice"),
        ("- name: O2", "- name: H2", "two entries of one name"),
        ("species: [H2, O2]", "species: [H2, Q]", "no entry"),
        ("{species: [H2, O2]}", "{other.yaml/species: [H2, O2]}", "another file"),
        (
            ", duplicate: true}\n- {equation: O + H2 = H",
            "}\n- {equation: O + H2 = H",
            "the same reaction",
        ),
        ("type: falloff\n  low", "type: fall\n  low", "'fall' is not supported; fit the rate"),
        ("P: 0.1 atm", "P: -0.1 atm", "a pressure of"),
        ("nonreactant-orders: true", "nonreactant-orders: maybe", "write true or false"),
        ("negative-orders: true, ", "", "negative order"),
        ("kinetics: gas", "kinetics: surface", "'surface' is not supported"),
        ("efficiencies: {N2: 1.5}", "efficiencies: {AR: 1.5}", "only collider"),
        (
            "high-P-rate-constant: {A: 7.4e13",
            "high-rate-constant: {A: 7.4e13",
            "no 'high-P-rate-constant'",
        ),
        (
            "  SRI: {A: 0.45, B: 797, C: 979}",
            "  SRI: {A: 0.45, B: 797, C: 979}\n  Troe: {A: 1, T3: 1, T1: 1}",
            "several blending",
        ),
        ("SRI: {A: 0.45, B: 797,", "SRI: {A: -0.45, B: 797,", "negative at 2000 K"),
        ("B: 797, C: 979", "B: 797, C: -979", "SRI with C = -979"),
        ("kinetics: gas", "kinetics: gas\n  rate-multipliers: {default: 1, 4: 3.0}", "reaction 4"),
        ("kinetics: gas", "kinetics: gas\n  rate-multipliers: {default: 0.0}", "reactions default"),
    ];
    let mut wrong = Vec::new();
    for (from, to, expected) in cases {
        assert!(YAML.contains(from), "{from}");
        let message = yaml_error(&YAML.replacen(from, to, 1));
        if !(message.contains(expected) && message.contains("f.yaml:")) {
            wrong.push(format!("{to}: {expected}: {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_thing_wrong_in_chemkin() {
    let cases = [
        ("O+H2=H+OH ", "O+H3=H+OH ", "'H3' is no declared species"),
        ("O+H2=H+OH ", "O+H2=H+H2O ", "not balanced"),
        ("1.1E-12   0.5   1.3", "1.1E-12   0.5", "three numbers"),
        ("1.1E-12", "nan", "not a number"),
        ("1.1E-12", "1e400", "beyond the range"),
        ("KCAL/MOLE", "BTU/MOLE", "'BTU/MOLE' is not known"),
        ("  DUP\n", "\n", "the same reaction"),
        ("LOW /", "LT /", "'LT' is not supported"),
        ("LOW /", "XYZ /", "'XYZ' is neither"),
        ("LOW / 2.3E-30 -0.9 -1.7 /", "LOW / 2.3E-30 -0.9 /", "LOW takes 3 values, not 2"),
        ("LOW / 2.3E-30 -0.9 -1.7 /", "LOW / 2.3E-30 -0.9 -1.7", "without closing slash"),
        ("LOW / 2.3E-30 -0.9 -1.7 /", "DUP", "needs LOW or HIGH"),
        ("CHEB / 2 3 ", "CHEB / 3 3 ", "N times M"),
        ("PCHEB / 0.01 100. /", "PCHEB / 2. 1. /", "ascending positive numbers"),
        ("H2/2.4/ H2O/15.4/", "H2/2.4/ H2O/15.4/ H2/3/", "the efficiency of H2 twice"),
        ("H2/2.4/ H2O/15.4/", "H2/2.4/\n  H2O/15.4/ H2/2.4/", "the efficiency of H2 twice"),
        ("REV / 1.0E-13 0.5 36. /", "FORD / H 1 /\n  FORD / H 2 /", "FORD H twice"),
        ("SPECIES\nH2 O2", "SPECIES\nH2 QQ O2", "no thermodynamic data"),
        ("H   2O   1          G", "H   2Zz  1          G", "element Zz"),
        ("H   2O   1          G", "                    G", "no atoms"),
        ("X/3.5/", "X", "unknown element"),
        ("200.000  3500.000  1000.000    1", "200.000  3500.000   100.000    1", "do not ascend"),
        (" 3.33700000E+00", " 3.3370000.E+00", "coefficient 1"),
        ("REV / 1.0E-13 0.5 36. /", "RORD / H 1 /", "RORD without REV"),
        ("ELEMENTS\n", "oops\nELEMENTS\n", "outside of all sections"),
    ];
    let mut wrong = Vec::new();
    for (from, to, expected) in cases {
        assert!(CHEMKIN.contains(from), "{from}");
        let message = chemkin_error(&CHEMKIN.replacen(from, to, 1));
        if !(message.contains(expected) && message.contains("f.inp:")) {
            wrong.push(format!("{to}: {expected}: {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Without its line the reaction has another rate.
    let (fit, reaction) = ("fit the rate by A, b and E or by PLOG", "leave the reaction out");
    for (word, remedy) in [
        ("LT", fit),
        ("RLT", fit),
        ("XSMI", reaction),
        ("MOME", reaction),
        ("TDEP", fit),
        ("JAN", fit),
        ("FIT1", fit),
        ("USRPROG", fit),
        ("EXCI", "leave it out, which changes no rate"),
    ] {
        for text in [format!("  {word}/1 2/\n"), format!("  {word}\n")] {
            let message = chemkin_error(&CHEMKIN.replacen("  DUP\n", &format!("  DUP\n{text}"), 1));
            let expected = format!("'{word}' is not supported; {remedy}");
            assert!(message.contains(&expected), "{message}");
        }
    }
}

/// Others may support what is not known here: its name need not be wrong.
#[test]
fn unknown_phase_models_are_not_taken_for_misspelt() {
    for model in ["liquid-water-IAPWS95", "binary-solution-tabulated", "none"] {
        let text = YAML.replacen("thermo: ideal-gas", &format!("thermo: {model}"), 1);
        let message = format!("{:?}", read::yaml("f.yaml", &text, Some("gas")).unwrap_err());
        let expected = format!("'{model}' is not supported");
        let remedy = "choose a phase of an ideal gas, or correct the name";
        assert!(message.contains(&expected) && message.contains(remedy), "{message}");
    }
}

#[test]
fn all_problems_at_once() {
    let text =
        YAML.replace("A: 3.87e4", "A: x").replace("T3: 94", "T3: y").replace("{Ar: 1}", "{Zz: 1}");
    let errors = read::yaml("f.yaml", &text, None).unwrap_err();
    assert!(errors.problems.len() >= 3, "{errors}");
    assert!(errors.problems.is_sorted_by_key(|problem| problem.line), "{errors}");
}

#[test]
fn large_and_recursive() {
    let many = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    let ten = 10 << 20;
    yaml_error("");
    yaml_error("phases");
    yaml_error(&many("[", ten));
    yaml_error(&many("{a: ", ten));
    yaml_error(&many("- ", ten));
    yaml_error(&many("\"", ten));
    yaml_error(&format!("phases: {}", many("a", ten)));
    yaml_error(&many("a: 1\n", ten));
    yaml_error(&many("? ", ten));
    yaml_error("phases: &a [*a]\nspecies: *a");
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..60 {
        let alias = format!("*a{}", i - 1);
        bomb += &format!("a{i}: &a{i} [{}]\n", [alias.as_str(); 9].join(", "));
    }
    yaml_error(&format!("{bomb}phases: [{{name: gas, thermo: ideal-gas, species: *a59}}]"));
    chemkin_error("");
    chemkin_error(&many("(", ten));
    chemkin_error(&many("SPECIES\n", ten));
    chemkin_error(&many("SPECIES H\n", ten));
    chemkin_error(&many("THERMO\n", ten));
    let head = "SPECIES H O\nREACTIONS\n";
    chemkin_error(&format!("{head}{}", many("H", ten)));
    chemkin_error(&format!("{head}{}", many("H+H=O\n", ten)));
    chemkin_error(&format!("{head}{}", many("+", 2 << 20)));
    let line = format!("{}=H 1 1 1\n", many("+H", 1900));
    chemkin_error(&format!("{head}{}", many(&line, ten)));
    let line = format!("H=H{} 1 1 1\n", many("+H+", 1900));
    chemkin_error(&format!("{head}{}", many(&line, ten)));
}

#[test]
fn cut_anywhere() {
    for (i, _) in YAML.char_indices().step_by(7) {
        let _ = read::yaml("f.yaml", &YAML[..i], None);
    }
    for (i, _) in CHEMKIN.char_indices().step_by(7) {
        let _ = read::chemkin(Named { file: "f.inp", text: &CHEMKIN[..i] }, None);
    }
}

/// SplitMix64.
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as usize
}

/// A few random edits: bytes, pieces of syntax, pieces of the text itself.
fn mutated(text: &str, state: &mut u64) -> String {
    const PIECES: &[&str] = &[
        "[",
        "]",
        "{",
        "}",
        ":",
        " ",
        "\n",
        "-",
        "&a ",
        "*a",
        "+",
        "(+M)",
        "M",
        "/",
        "=",
        "<=>",
        "=>",
        "1e999",
        "-0",
        "nan",
        "\u{e9}",
        "\t",
        "'",
        "\"",
        "|",
        "!",
        "#",
        ",",
        "END\n",
        "REACTIONS\n",
        "LOW/",
        "E",
        "0",
        "\r\n",
        "&",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random(state) % 4 {
        let at = random(state) % bytes.len();
        let span = (random(state) % 40).min(bytes.len() - at);
        match random(state) % 4 {
            0 => bytes[at] = (random(state) % 128) as u8,
            1 => drop(bytes.splice(at..at, PIECES[random(state) % PIECES.len()].bytes())),
            2 => drop(bytes.drain(at..at + span)),
            _ => {
                let piece = bytes[at..at + span].to_vec();
                let to = random(state) % bytes.len();
                bytes.splice(to..to, piece);
            }
        }
        if bytes.is_empty() {
            bytes.push(b' ');
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn random_edits() {
    let yaml = [YAML, include_str!("../../fuzz/corpus/yaml/small.yaml")];
    let chemkin = [CHEMKIN, include_str!("../../fuzz/corpus/chemkin/small.inp")];
    for text in yaml {
        read::yaml("f.yaml", text, None).unwrap();
    }
    for text in chemkin {
        read::chemkin(Named { file: "f.inp", text }, None).unwrap();
    }
    let mut state = 2012;
    for i in 0..10_000 {
        // The small seeds more often: an edit there meets more of the grammar.
        let seed = usize::from(i % 8 != 0);
        let _ = read::yaml("f.yaml", &mutated(yaml[seed], &mut state), None);
        let text = mutated(chemkin[seed], &mut state);
        let _ = read::chemkin(Named { file: "f.inp", text: &text }, None);
    }
}
