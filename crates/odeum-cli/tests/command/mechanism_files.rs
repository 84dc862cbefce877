//! Mechanisms of several files, and what a phase says of its own state.

// A helper that cannot go on fails the test.

use crate::common::{Folder, hydrogen, npz};

/// A phase that takes everything of another file.
const OWN: &str = "
phases:
- name: gas
  thermo: ideal-gas
  species: [{all.yaml/species: [H2, O2, H, AR]}, {all.yaml/species: [N2]}]
  kinetics: gas
  reactions: [all.yaml/chain: declared-species]
  state: {T: 1100 K, density: 0.5, Y: 'H2:1, O2: 8 AR:1'}
";

const CASE: &str = "
[system]
mechanism = \"own.yaml\"
include = [\"data\"]

[time]
span = [0.0, 1e-6]

[method]
name = \"rodas4\"

[tolerance]
rtol = 1e-6
atol = 1e-10
";

/// The mechanism, and what it takes sections of in a folder of its own.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("data")).unwrap();
    folder.write("own.yaml", OWN).write("data/all.yaml", hydrogen()).write("a.toml", CASE);
    folder
}

#[test]
fn sections_of_other_files() {
    let folder = folder();
    folder.odeum(&["mechanism", "own.yaml", "--include", "data"]).well();
    folder.odeum(&["run", "a.toml"]).well();
    let names = npz::read(&folder.path("a.npz"))["state_names"].texts();
    assert_eq!(names, ["T", "H2", "O2", "H", "AR", "N2", "m"]);
    let parts = ["own.yaml:5", "'all.yaml': no such file", "among those to include"];
    folder.odeum(&["mechanism", "own.yaml"]).refused(&parts);
    folder.write("a.toml", CASE.replace("data", "date"));
    let parts = ["there is no such folder", "date", "a.toml:4:", "system.include"];
    folder.odeum(&["check", "a.toml"]).refused(&parts);
    folder.write("a.toml", CASE.replace("[\"data\"]", "\"data\""));
    folder.odeum(&["check", "a.toml"]).refused(&[
        "`system.include` is text",
        "a.toml:4:",
        "a list",
    ]);
    folder.write("a.toml", CASE);
    folder.write("data/all.yaml", hydrogen().replacen("a: 1", "a: x", 1).replacen("0.0,", "x,", 1));
    folder.odeum(&["check", "a.toml"]).refused(&["data/all.yaml:", "'x' is not a number"]);
}

/// What a case leaves open is as the state of the phase has it.
#[test]
fn the_state_of_a_phase_is_where_cases_start() {
    let folder = folder();
    let said = folder.odeum(&["check", "a.toml"]).well();
    let taken = "From the state of the phase: composition, temperature, pressure";
    assert!(said.out.contains(taken), "{}", said.out);
    folder.odeum(&["run", "a.toml"]).well();
    let result = npz::read(&folder.path("a.npz"));
    let (start, density) = (result["y0"].f64(), result["params"].f64());
    assert_eq!(start[0], 1100.0);
    let expected = [0.1, 0.8, 0.0, 0.1, 0.0];
    for (found, expected) in start[1..6].iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{start:?}");
    }
    assert!((density[0] - 0.5).abs() < 1e-15, "{density:?}");
    // What the case says goes before, and so does what each system has of a sweep.
    let swept = CASE.replace("[time]", "[ensemble]\nsweep = { T = [900.0, 1000.0] }\n[time]");
    folder.write("swept.toml", swept);
    let said = folder.odeum(&["check", "swept.toml"]).well();
    let taken = "From the state of the phase: composition, pressure\n";
    assert!(said.out.contains(taken), "{}", said.out);
    // So has each row of a table, which may leave the composition to the state.
    let tabled = CASE.replace("[time]", "[ensemble]\ntable = \"t.csv\"\n[time]");
    folder.write("tabled.toml", tabled).write("t.csv", "T\n900\n1000\n");
    let said = folder.odeum(&["check", "tabled.toml"]).well();
    let taken = "From the state of the phase: composition, pressure\n";
    assert!(said.out.contains(taken), "{}", said.out);
    folder.write("t.csv", "T,H2,O2\n900,0.2,0.8\n1000,0.1,0.9\n");
    let said = folder.odeum(&["check", "tabled.toml"]).well();
    assert!(said.out.contains("From the state of the phase: pressure\n"), "{}", said.out);
    folder.odeum(&["run", "tabled.toml"]).well();
    let result = npz::read(&folder.path("tabled.npz"));
    assert_eq!(result["y0"].f64()[1..3], [0.2, 0.8]);
    let cold = CASE.replace("[time]", "[ensemble]\nsweep = { T = [50.0, 60.0] }\n[time]");
    folder.write("cold.toml", cold);
    folder.odeum(&["check", "cold.toml"]).refused(&["1 more system has none either"]);
    let more = "mechanism = \"own.yaml\"\ntemperature = 900.0\nmoles = { H2 = 1, O2 = 1 }";
    folder.write("a.toml", CASE.replace("mechanism = \"own.yaml\"", more));
    let said = folder.odeum(&["check", "a.toml"]).well();
    assert!(said.out.contains("From the state of the phase: pressure"), "{}", said.out);
    let said = folder.odeum(&["mechanism", "own.yaml", "--include", "data"]).well();
    assert!(said.out.contains("1100 K") && said.out.contains("H2 1, O2 8, AR 1 by mass"));
    for (state, shown) in [
        ("T: 300, P: 0.4", "300 K; 0.4 Pa"),
        ("T: 300, P: 1e-6", "300 K; 1e-6 Pa"),
        ("T: 300, P: 1 atm", "300 K; 101325 Pa"),
        ("T: 300, D: 1.2", "300 K; 1.2 kg/m³"),
    ] {
        let state = format!("state: {{{state}}}");
        folder.write(
            "own.yaml",
            OWN.replace("state: {T: 1100 K, density: 0.5, Y: 'H2:1, O2: 8 AR:1'}", &state),
        );
        let said = folder.odeum(&["mechanism", "own.yaml", "--include", "data"]).well();
        assert!(said.out.contains(shown), "{state}: {}", said.out);
    }
}
