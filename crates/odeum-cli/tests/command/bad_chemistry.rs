//! What is refused in a case with a mechanism, and how that is said: place, field, value, remedy.

use crate::common::{Folder, Said, hydrogen};

/// A good case; each test spoils one thing. Line 3 names the mechanism.
const CASE: &str = r#"
[system]
mechanism = "h2.yaml"
reactor = "constant volume"
temperature = 1000.0
pressure = 1e5
fuel = { H2 = 1 }
oxidizer = { O2 = 1, N2 = 3.76 }

[time]
span = [0.0, 1e-6]

[method]
name = "rodas4"

[tolerance]
rtol = 1e-6
atol = 1e-10
"#;

/// Amounts in the place of fuel and oxidizer, line 7.
const MOLES: &str = "moles = { H2 = 2, O2 = 1 }\n";

fn with(from: &str, to: &str) -> String {
    assert!(CASE.contains(from), "`{from}` is not in the case");
    CASE.replacen(from, to, 1)
}

fn with_moles(moles: &str) -> String {
    let (start, end) = (CASE.find("fuel").unwrap(), CASE.find("\n[time]").unwrap());
    format!("{}{moles}{}", &CASE[..start], &CASE[end..])
}

/// Both `check` and `run` refuse it with all of these, and `run` writes nothing.
#[track_caller]
fn refused(case: impl AsRef<str>, parts: &[&str]) -> Said {
    refused_with(case, &[], parts)
}

#[track_caller]
fn refused_with(case: impl AsRef<str>, args: &[&str], parts: &[&str]) -> Said {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("a.toml", case.as_ref());
    folder.odeum(&[&["check", "a.toml"][..], args].concat()).refused(parts);
    let said = folder.odeum(&[&["run", "a.toml"][..], args].concat()).refused(parts);
    assert_eq!(folder.files(), ["a.toml", "h2.yaml"]);
    said
}

#[test]
fn the_cases_here_are_good_before_they_are_spoiled() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    folder.write("a.toml", CASE).odeum(&["run", "a.toml"]).well();
    folder.write("b.toml", with_moles(MOLES)).odeum(&["run", "b.toml"]).well();
}

#[test]
fn species_that_are_none() {
    for (case, place, field) in [
        (with("fuel = { H2", "fuel = { H22"), "a.toml:7:", "system.fuel.H22"),
        (with("N2 = 3.76", "H22 = 3.76"), "a.toml:8:", "system.oxidizer.H22"),
        (with_moles("mole_fractions = { H22 = 1 }\n"), "a.toml:7:", "system.mole_fractions.H22"),
        (with_moles("mass_fractions = { H22 = 1 }\n"), "a.toml:7:", "system.mass_fractions.H22"),
    ] {
        let message = "the mechanism has no species `H22`";
        refused(case, &[message, place, field, "did you mean `H2`?"]);
    }
}

#[test]
fn gases_are_perturbed_by_the_names_of_variables() {
    let perturbed = |of: &str| {
        format!("{CASE}[ensemble]\nseed = 1\nperturb = {{ of = {of}, relative = 1e-3 }}\n")
    };
    for of in ["\"states\"", "[\"T\", \"parameters\"]"] {
        let parts = ["a gas starts from variables", "a.toml:21:", "name some of them: T, p, phi"];
        refused(perturbed(of), &parts);
    }
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("a.toml", perturbed("[\"T\", \"phi\"]"));
    folder.odeum(&["check", "a.toml"]).well();
}

#[test]
fn amounts_that_are_none() {
    let negative = with_moles("mole_fractions = { H2 = 2, O2 = -1 }\n");
    let parts = ["cannot be negative", "a.toml:7:", "system.mole_fractions.O2", "found: -1"];
    refused(negative, &parts);
    let nan = with_moles("mass_fractions = { H2 = nan, O2 = 1 }\n");
    refused(nan, &["must be finite", "a.toml:7:", "system.mass_fractions.H2", "nan"]);
    let nothing = with("fuel = { H2 = 1 }", "fuel = { H2 = 0 }");
    refused(nothing, &["there is nothing in it", "a.toml:7:", "system.fuel", "give an amount"]);
    let text = with("fuel = { H2 = 1 }", "fuel = \"H2\"");
    refused(text, &["a.toml:7:", "system.fuel", "\"H2\""]);
    // Amounts are scaled: a sum far from one is how most people write mixtures.
    let folder = Folder::new();
    let hundred = with_moles("moles = { H2 = 66.7, O2 = 33.3 }\n");
    folder.write("h2.yaml", hydrogen()).write("a.toml", hundred);
    folder.odeum(&["check", "a.toml"]).well();
    // An ensemble can leave the possible.
    let swept = format!("{}[ensemble]\nsweep = {{ O2 = [1.0, -1.0, 0.5] }}\n", with_moles(MOLES));
    let parts = ["system 1 has no state", "-1 of O2", "a.toml:19:", "O2 = -1", "zero or more"];
    refused(swept, &parts);
}

#[test]
fn fractions_sum_to_one_within_a_thousandth() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let of =
        |oxygen: &str| with_moles(&format!("mole_fractions = {{ H2 = 0.5, O2 = {oxygen} }}\n"));
    folder.write("a.toml", of("0.5009")).odeum(&["check", "a.toml"]).well();
    folder.write("a.toml", of("0.5011")).odeum(&["check", "a.toml"]).refused(&["1.0011"]);
    folder.write("a.toml", of("0.4989")).odeum(&["check", "a.toml"]).refused(&["0.9989"]);
}

#[test]
fn mixtures_that_are_none() {
    let neither = with("fuel = { H2 = 1 }\n", "").replace("oxidizer = { O2 = 1, N2 = 3.76 }", "");
    // Of the phase's state it can be known.
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen().replace("  state:", "  note:")).write("a.toml", neither);
    let parts = ["what is the gas made of?", "a.toml:2:", "give fuel", "mole_fractions"];
    folder.odeum(&["check", "a.toml"]).refused(&parts);
    let half = with("fuel = { H2 = 1 }\n", "");
    refused(half, &["an oxidizer without a fuel", "a.toml:7:", "system.oxidizer", "give fuel"]);
    let half = with("oxidizer = { O2 = 1, N2 = 3.76 }\n", "");
    refused(half, &["a fuel without an oxidizer", "a.toml:7:", "system.fuel", "and oxidizer"]);
    let both = with("pressure = 1e5\n", &format!("pressure = 1e5\n{MOLES}"));
    let parts = ["more than one way: fuel, oxidizer, moles", "a.toml:7:", "H2 = 2"];
    refused(both, &parts);
    let ratio = with_moles(&format!("{MOLES}equivalence_ratio = 2\n"));
    refused(ratio, &["more than one way: equivalence_ratio, moles", "a.toml:7:"]);
    let twice = with_moles(&format!("{MOLES}mass_fractions = {{ H2 = 1 }}\n"));
    refused(twice, &["more than one way: mass_fractions, moles", "a.toml:7:"]);
    let inert = with("O2 = 1, N2 = 3.76", "N2 = 1");
    let parts = ["no stoichiometric mixture", "a.toml:7:", "system.fuel", "must hold C, H or S"];
    refused(inert, &parts);
    let ratio = with("pressure = 1e5", "pressure = 1e5\nequivalence_ratio = -0.5");
    let parts = ["equivalence ratio -0.5", "a.toml:7:", "phi = -0.5", "oxidizer alone"];
    refused(ratio, &parts);
}

/// Several threads look at pieces of an ensemble: what is told is of the first system all the same.
#[test]
fn starts_of_many_systems_are_told_in_order() {
    let sweep =
        "[ensemble]\nsweep = { T = { from = 1000.0, to = 5000.0, count = 10000 } }\n\n[time]";
    for threads in ["1", "3"] {
        let folder = Folder::new();
        folder.write("h2.yaml", hydrogen()).write("a.toml", with("[time]", sweep));
        folder.odeum(&["check", "a.toml", "--threads", threads]).refused(&[
            "system 6275 has no state to start from",
            "724 more systems have none either",
            "25 systems start outside the thermodynamic data, first system 6250",
        ]);
    }
}

#[test]
fn temperatures_and_pressures_that_are_none() {
    for t in ["150.0", "9000.0", "-300.0"] {
        let case = with("temperature = 1000.0", &format!("temperature = {t}"));
        let parts = [
            "is more than 10 K outside the thermodynamic data, 300 to 3500 K",
            "a.toml:5:",
            "system.temperature",
            &format!("T = {}", &t[..t.len() - 2]),
            "for which the mechanism has the data",
            "`temperature_margin` to extrapolate them",
        ];
        refused(case, &parts);
    }
    let negative = with("temperature = 1000.0", "temperature_margin = -1");
    refused(negative, &["a margin cannot be negative", "a.toml:5:", "system.temperature_margin"]);
    // Narrower and wider on request; what is extrapolated is told.
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let start = |t: &str| folder.write("a.toml", with("temperature = 1000.0", t));
    start("temperature = 298.15\ntemperature_margin = 1.0")
        .odeum(&["check", "a.toml"])
        .refused(&["298.15 K is more than 1 K outside"]);
    for (start_at, told) in [
        ("temperature = 298.15", "298.15 K"),
        ("temperature = 200.0\ntemperature_margin = 100.0", "200 K"),
        ("temperature = 3501.0", "3501 K"),
    ] {
        let said = start(start_at).odeum(&["check", "a.toml"]).well();
        let what = "system 0 starts outside the thermodynamic data";
        let text = said.out + &said.err;
        for part in [what, told, "a.toml:5:", "300 to 3500 K, and are extrapolated"] {
            assert!(text.contains(part), "`{part}` is not in:\n{text}");
        }
    }
    // Rounding at the end of the data is not outside of them.
    let said = start("temperature = 299.9999999").odeum(&["check", "a.toml"]).well();
    assert!(!(said.out + &said.err).contains("outside"));
    let sweep = format!("{CASE}[ensemble.sweep]\nT = [300.0, 295.0, 290.0]\n");
    let said = folder.write("a.toml", sweep).odeum(&["check", "a.toml"]).well();
    let text = said.out + &said.err;
    assert!(
        text.contains("2 systems start outside the thermodynamic data, first system 1"),
        "{text}"
    );

    for p in ["0.0", "-1e5"] {
        let case = with("pressure = 1e5", &format!("pressure = {p}"));
        refused(case, &["pressure", "a.toml:6:", "system.pressure", "above zero, in Pa"]);
    }
    let nan = with("temperature = 1000.0", "temperature = nan").replace("1e5", "inf");
    let said = refused(nan, &["must be finite", "a.toml:5:", "a.toml:6:", "2 errors"]);
    assert!(said.err.contains("system.temperature"), "{}", said.err);
    let swept = format!("{CASE}[ensemble.sweep]\nT = {{ from = 200.0, to = 1000.0, count = 5 }}\n");
    let parts = ["system 0 has no state", "temperature 200 K", "a.toml:20:", "T = 200"];
    refused(swept, &parts);
    let table = format!("{CASE}[ensemble]\ntable = \"t.csv\"\n");
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("t.csv", "T,p\n1000,1e5\n900,-7\n");
    let parts = ["system 1 (table row 1, from 0) has no state", "a.toml:20:", "p = -7"];
    folder.write("a.toml", table).odeum(&["check", "a.toml"]).refused(&parts);
}

#[test]
fn mechanisms_that_cannot_be_had() {
    let missing = with("h2.yaml", "none.yaml");
    refused(missing, &["no such file", "none.yaml", "a.toml:3:", "system.mechanism"]);
    let thermo = with("[time]", "thermo = \"none.dat\"\n\n[time]");
    refused(thermo, &["no such file", "none.dat", "a.toml:10:", "system.thermo", "give the path"]);
    let phase = with("[time]", "phase = \"liquid\"\n\n[time]");
    refused(phase, &["no phase 'liquid'; there are", "a.toml:", "field: system.phase"]);
    let both = with("[time]", "equations = { x = \"x\" }\n\n[time]");
    let parts = ["more than one of `problem`, `equations` and `mechanism`", "a.toml:3:", "h2.yaml"];
    refused(both, &parts);
    let folder = with("\"h2.yaml\"", "\".\"");
    refused(folder, &["this is a folder", "a.toml:3:", "system.mechanism", "the path of a file"]);
    refused(with("\"h2.yaml\"", "7"), &["a.toml:3:", "system.mechanism", "found: 7"]);

    let folder = Folder::new();
    let text = hydrogen();
    folder.write("a.toml", CASE);
    for fraction in [0.1, 0.5, 0.9] {
        let cut = (text.len() as f64 * fraction) as usize;
        folder.write("h2.yaml", &text[..cut]);
        folder.odeum(&["check", "a.toml"]).refused(&["h2.yaml"]);
    }
    folder.write("h2.yaml", "");
    folder.odeum(&["check", "a.toml"]).refused(&["h2.yaml"]);
    folder.write("h2.yaml", b"\xff\xfe\x00");
    folder.odeum(&["check", "a.toml"]).refused(&["h2.yaml"]);
}

#[test]
fn words_that_are_not_known() {
    for (key, word, near, known) in [
        ("jacobian", "exactly", "did you mean `exact`?", "jacobian"),
        ("energy", "adiabatik", "did you mean `adiabatic`?", "energy"),
        ("reactor", "constant volumes", "did you mean `constant volume`?", "reactor"),
    ] {
        let line = format!("{key} = \"{word}\"\n");
        let case = if key == "reactor" {
            with("reactor = \"constant volume\"\n", &line)
        } else {
            with("[time]", &format!("{line}\n[time]"))
        };
        refused(case, &[word, near, &format!("system.{known}"), "a.toml:"]);
    }
    let unknown = with("pressure = 1e5", "presure = 1e5");
    refused(unknown, &["unknown key `presure`", "a.toml:6:", "did you mean `pressure`?"]);
    let until =
        with("span = [0.0, 1e-6]", "until = { OHH = { rises_to = 1e-3 } }\nspan = [0.0, 1.0]");
    refused(until, &["no state `OHH`", "a.toml:11:", "did you mean `OH`?"]);
    let until = with("span = [0.0, 1e-6]", "until = { T = { rises_by = -1 } }\nspan = [0.0, 1.0]");
    refused(until, &["a change must be positive", "a.toml:11:", "found: -1"]);
    let sweep = format!("{CASE}[ensemble.sweep]\nTT = [1000.0]\n");
    refused(sweep, &["no variable `TT`", "a.toml:20:", "did you mean `T`?"]);
}

#[test]
fn mechanisms_are_refused_in_single_precision() {
    let single = format!("{CASE}[run]\nprecision = \"f32\"\n");
    let parts = ["in double precision", "a.toml:20:", "run.precision", "f32", "\"f64\""];
    refused(single, &parts);
}

#[test]
fn approximate_jacobians_are_warned_of_where_a_method_wants_exact_ones() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let approximate = with("pressure = 1e5", "pressure = 1e5\njacobian = \"approximate\"");
    for name in ["rodas3", "rodas4", "rodas5p", "exp4", "exprb43"] {
        folder.write("a.toml", approximate.replace("rodas4", name));
        let said = folder.odeum(&["check", "a.toml"]).well();
        for part in [&format!("`{name}` loses its order")[..], "a.toml:7:", "ros34pw2"] {
            assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
        }
    }
    for name in ["ros34pw2", "radau"] {
        folder.write("a.toml", approximate.replace("rodas4", name));
        let said = folder.odeum(&["check", "a.toml"]).well();
        assert!(!said.err.contains("warning"), "{}", said.err);
    }
}

/// A method for systems that are not stiff is of no use to a mechanism.
#[test]
fn without_a_method_one_for_stiff_systems_is_named() {
    let said = refused(with("[method]\nname = \"rodas4\"\n", ""), &["name = \"rodas5p\" (all: "]);
    assert!(!said.err.contains("name = \"dopri5\""), "{}", said.err);
}

/// Followed to a terminal event, a gas with 1e-9 is warned of.
#[test]
fn without_a_tolerance_one_for_radicals_is_named() {
    let without = with("[tolerance]\nrtol = 1e-6\natol = 1e-10\n", "");
    let said = refused(without, &["add [tolerance] with", "atol = 1e-15"]);
    assert!(!said.err.contains("1e-9"), "{}", said.err);
    let said = refused(with("atol = 1e-10\n", ""), &["`atol` is missing", "others = 1e-15"]);
    assert!(!said.err.contains("1e-9"), "{}", said.err);
}

#[test]
fn explicit_methods_are_warned_of() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    for name in ["dopri5", "rkc"] {
        folder.write("a.toml", with("rodas4", name));
        for command in [&["check", "a.toml"][..], &["run", "a.toml", "--overwrite"]] {
            let said = folder.odeum(command).well();
            for part in ["warning", &format!("`{name}` is explicit"), "a.toml:14:", "rodas5p"] {
                assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
            }
        }
    }
    let said = folder.write("a.toml", CASE).odeum(&["check", "a.toml"]).well();
    assert!(!said.err.contains("explicit"), "{}", said.err);
}

/// Tritium is called `T`, as the temperature is.
#[test]
fn species_that_are_called_as_the_temperature_are_warned_of() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen().replace("N2", "T"));
    folder.write("a.toml", with("N2 = 3.76", "T = 3.76"));
    let said = folder.odeum(&["check", "a.toml"]).well();
    for part in ["warning", "a species `T`, as the temperature", "a.toml:3:", "rename the species"]
    {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
}

/// Systems that do not fit are refused before the start of each is looked at.
#[test]
fn more_systems_than_fit_are_refused_at_once() {
    let case = with("[time]", "[time]\nsave = { count = 1000 }");
    let many = case + "[ensemble]\ncount = 4_000_000_000\n";
    refused(many, &["the results of 4000000000 systems need", "ensemble.count", "take fewer"]);
}
