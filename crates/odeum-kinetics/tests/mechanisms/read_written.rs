//! YAML as programs write it: lists and mappings in brackets that go on at the indentation of what
//! holds them. YAML 1.2 asks for one blank more there; libyaml, yaml-cpp and ruamel do not, and
//! `Solution.write_yaml` of Cantera relies on it.

use odeum_kinetics::mechanism::{Blending, Rate, Thermo};
use odeum_kinetics::read;

const WRITTEN: &str = include_str!("../data/written.yaml");

/// The text with the lines that go on in a bracket indented further, as strict YAML wants them.
fn indented() -> String {
    let mut inside = 0_usize;
    let mut text = String::new();
    // Brackets outside of text: those after the two block scalars of the file.
    let brackets = |line: &str| {
        let counted =
            !line.contains("text") && !line.contains("brackets") && !line.contains("not]");
        let text = line.contains("[as this") || line.contains("[with");
        if counted && !text { line } else { "" }.to_owned()
    };
    for line in WRITTEN.lines() {
        if inside > 0 {
            text += "        ";
        }
        text += line;
        text += "\n";
        let code = brackets(line);
        inside += code.matches(['[', '{']).count();
        inside -= code.matches([']', '}']).count();
    }
    assert_eq!(inside, 0);
    text
}

#[test]
fn brackets_go_on_at_any_indentation() {
    let first = read::yaml("written.yaml", WRITTEN, None).unwrap_or_else(|e| panic!("{e}"));
    let second = read::yaml("written.yaml", &indented(), None).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(first, second);
    let mechanism = first.mechanism;
    assert_eq!((mechanism.n_species(), mechanism.n_reactions()), (7, 4));
    let body = mechanism.reactions[0].third_body.as_ref().unwrap();
    assert_eq!(body.efficiencies.last(), Some(&(0, 2.0)));
    let Rate::Falloff { blending, .. } = &mechanism.reactions[2].rate else { panic!() };
    assert_eq!(*blending, Blending::Troe { a: 0.7346, t3: 94.0, t1: 1756.0, t2: Some(5182.0) });
    let Rate::Plog(points) = &mechanism.reactions[3].rate else { panic!() };
    assert_eq!(points[1].rates[0].a, 2e9);
}

#[test]
fn lines_of_problems_are_those_of_the_file() {
    for (from, to) in [
        ("2.00255376e-14, -950", "2.00255376e-14, x"),
        ("Ea: 0.0}\n    eff", "Ea: y}\n    eff"),
        ("T2: 5182.0", "T2: z"),
    ] {
        let line = 1 + WRITTEN[..WRITTEN.find(from).unwrap()].matches('\n').count();
        let errors = read::yaml("f.yaml", &WRITTEN.replacen(from, to, 1), None).unwrap_err();
        assert_eq!(errors.problems[0].line, line, "{errors}");
    }
}

/// Data of one range are written as of two, the second without width.
#[test]
fn ranges_without_width() {
    let read = read::yaml("f.yaml", WRITTEN, None).unwrap();
    let Thermo::Nasa7(ranges) = &read.mechanism.species[1].thermo else { panic!() };
    assert_eq!((ranges.len(), ranges[0].low, ranges[0].high), (1, 200.0, 3500.0));
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    // Of another polynomial nothing is dropped in silence; data without any width are none.
    let other =
        WRITTEN.replacen("[2.5, 0.0, 0.0, 0.0, 0.0, 2.54", "[2.4, 0.0, 0.0, 0.0, 0.0, 2.54", 1);
    let read = read::yaml("f.yaml", &other, None).unwrap();
    assert!(read.warnings[0].found.contains("3500 K alone"), "{:?}", read.warnings);
    for ranges in ["[3500.0, 3500.0, 3500.0]", "[200.0, 3500.0, 3400.0]"] {
        let none = WRITTEN.replacen("[200.0, 3500.0, 3500.0]", ranges, 1);
        let message = read::yaml("f.yaml", &none, None).unwrap_err().to_string();
        assert!(message.contains("do not ascend"), "{message}");
    }
}

/// What is broken stays broken: a bracket that never closes, and a key beside it.
#[test]
fn brackets_must_close() {
    for (from, to) in [
        ("-7.37611761e-12, -917.935173, 0.683010238]", "-7.37611761e-12, -917.935173, 0.683010238"),
        ("    Ea: 0.0}\n    eff", "    Ea: 0.0\n    eff"),
        ("species: [H2, H, O2", "species: [[H2, H, O2"),
    ] {
        assert!(WRITTEN.contains(from));
        assert!(read::yaml("f.yaml", &WRITTEN.replacen(from, to, 1), None).is_err(), "{to}");
    }
}

/// `Solution.write_yaml` writes the charge of a species beside its electrons.
#[test]
fn charges_are_those_of_the_electrons() {
    let text = include_str!("../data/air-ions.yaml");
    let first = read::yaml("f.yaml", text, None).unwrap();
    let with = |charge: &str| {
        let charged = format!("composition: {{N: 2, E: -1}}\n  charge: {charge}");
        assert!(text.contains("composition: {N: 2, E: -1}"));
        read::yaml("f.yaml", &text.replacen("composition: {N: 2, E: -1}", &charged, 1), None)
    };
    let read = with("1.0").unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    assert_eq!(read.mechanism.n_species(), first.mechanism.n_species());
    let read = with("-1").unwrap();
    assert!(read.warnings[0].found.contains("a charge of -1 is not used"), "{:?}", read.warnings);
    let bare = text.replacen("composition: {N: 2, E: -1}", "composition: {N: 2}\n  charge: 1", 1);
    let read = read::yaml("f.yaml", &bare, None).unwrap();
    assert!(read.warnings[0].found.contains("has 0 electrons"), "{:?}", read.warnings);
    assert!(with("plus").unwrap_err().to_string().contains("'plus' is not a number"));
}
