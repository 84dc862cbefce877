//! One thing wrong makes one problem: what depends on it is not told as well.

use odeum_kinetics::read::{self, Named, Problem};

const YAML: &str = include_str!("../data/all-rate-laws.yaml");
const CHEMKIN: &str = include_str!("../data/all-rate-laws.inp");

/// The one problem of a text in which one thing was changed.
fn only(text: &str, from: &str, to: &str, chemkin: bool) -> Problem {
    assert!(text.contains(from), "{from}");
    let text = text.replacen(from, to, 1);
    let read = if chemkin {
        read::chemkin(Named { file: "f.inp", text: &text }, None)
    } else {
        read::yaml("f.yaml", &text, None)
    };
    let mut errors = read.expect_err(to);
    assert_eq!((errors.problems.len(), errors.more), (1, 0), "{to}: {errors}");
    errors.problems.remove(0)
}

#[test]
fn in_yaml() {
    for (from, to, subject, found) in [
        // Thermodynamic data of a species that half of the reactions name.
        ("data: [[2.5, 0,", "data: [[.nan, 0,", "H", "'.nan' is not a number"),
        ("h0: 37.3 kJ/mol", "h0: 37.3 furlong", "OH", "unknown unit"),
        ("model: Shomate", "model: Shomat", "H2O", "not supported"),
        (
            "composition: {H: 2, O: 1}, thermo",
            "compositions: {H: 2, O: 1}, thermo",
            "H2O",
            "no 'composition'",
        ),
        ("composition: {H: 2, O: 1}", "composition: {H: -2, O: 1}", "H2O", "-2 atoms"),
        ("composition: {H: 2, O: 1}", "composition: {Q: 2, O: 1}", "H2O", "the element Q is not"),
        ("composition: {H: 2, O: 1}", "composition: {}", "H2O", "no atoms"),
        ("composition: {H: 2, O: 1}", "composition: {H: 0}", "H2O", "no atoms"),
        ("- {name: H2O,", "- {name: H20,", "H2O", "no entry"),
        // An element that half of the species have.
        ("elements: [H, O, N, Ar, X]", "elements: [H, O, N, Ar, X, Qq]", "Qq", "unknown element"),
        ("atomic-weight: 3.5", "atomic-weight: -3.5", "X", "atomic weight of -3.5"),
        ("atomic-weight: 3.5", "atomic-weight: three", "element", "'three' is not a number"),
        // Without one of its limits a falloff reaction has no rate.
        ("{A: 2.3e18, b: -0.9", "{A: 0, b: -0.9", "2 OH (+M) <=> H2O2 (+M)", "a limit with A = 0"),
    ] {
        let problem = only(YAML, from, to, false);
        assert_eq!(problem.subject, subject, "{problem}");
        assert!(problem.found.contains(found), "{problem}");
        assert!(problem.line > 0 && !problem.remedy.is_empty(), "{problem}");
    }
}

#[test]
fn in_chemkin() {
    for (from, to, subject, found) in [
        (" 2.50000000E+00 0.0", " 2.5000000.E+00 0.0", "H", "coefficient 1"),
        (
            "G   200.000  6000.000  1000.000    1\n 2.5",
            "G   900.000   600.000  1000.000    1\n 2.5",
            "H",
            "do not ascend",
        ),
        ("H   2O   1          G", "H   2Zz  1          G", "H2O", "the element Zz is not declared"),
        ("H   2O   1          G", "H   2,   1          G", "H2O", "atoms of ','"),
        ("X/3.5/", "X", "X", "unknown element"),
        ("X/3.5/", "X/-3.5/", "X", "'-3.5' is not positive"),
    ] {
        let problem = only(CHEMKIN, from, to, true);
        assert_eq!(problem.subject, subject, "{problem}");
        assert!(problem.found.contains(found), "{problem}");
    }
}

/// Two things wrong make two problems, though one is of a species and one of its reactions.
#[test]
fn no_cause_hides_another() {
    let text = YAML
        .replacen("data: [[2.5, 0,", "data: [[.nan, 0,", 1)
        .replacen("O + H2 <=> H + OH, rate", "O + H2 <=> H + OOH, rate", 1)
        .replacen("2 O + M <=> O2 + M", "O + M <=> O2 + M", 1);
    let errors = read::yaml("f.yaml", &text, None).unwrap_err();
    assert_eq!(errors.problems.len(), 3, "{errors}");
    assert!(errors.problems[1].found.contains("'OOH' is not a species"), "{errors}");
    assert!(errors.problems[2].found.contains("not balanced"), "{errors}");
}
