//! What the program says about itself.

use crate::common::{DECAY, Folder, hydrogen, npz};

#[test]
fn help_is_worth_reading() {
    let folder = Folder::new();
    let help = folder.odeum(&["--help"]).well().out;
    for part in ["run", "check", "devices", "problems", "bench", "Examples:", "Exit codes:", "130"]
    {
        assert!(help.contains(part), "`{part}` is not in:\n{help}");
    }
    let help = folder.odeum(&["run", "--help"]).well().out;
    for part in [
        "--resume",
        "--overwrite",
        "--strict",
        "--threads",
        "--device",
        "numpy.load",
        "y [M, n]",
        "reshape(*shape, n)",
        "Examples:",
    ] {
        assert!(help.contains(part), "`{part}` is not in:\n{help}");
    }
    for command in ["check", "devices", "problems", "bench"] {
        let help = folder.odeum(&[command, "--help"]).well().out;
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    assert!(folder.odeum(&["--version"]).well().out.starts_with("odeum "));
    assert_eq!(folder.odeum(&[]).code, 2);
}

#[test]
fn help_names_every_array_of_a_result_and_every_study() {
    let folder = Folder::new();
    let help = folder.odeum(&["run", "--help"]).well().out;
    let names = |text: &str, word: &str| {
        text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|other| other == word)
    };
    let gas = "[system]\nmechanism = \"h2.yaml\"\nfuel = { H2 = 1 }\noxidizer = { O2 = 1 }\n\
        [time]\nspan = [0.0, 1e-9]\n[method]\nname = \"rodas4\"\n[tolerance]\nrtol = 1e-4\natol = 1e-8\n";
    let saving = DECAY.replace("[time]", "[time]\nsave = [0.5]");
    let field = "[system]\nspecies = [\"u\"]\nequations = { u = \"0 * u\" }\n\
        [grid]\nshape = [3, 1, 1]\nspacing = 1.0\nmask = \"2 - x\"\n\
        [initial]\nu = 1.0\n[time]\nuntil = 1.0\nstep = 1.0\n";
    folder.write("h2.yaml", hydrogen()).write("gas.toml", gas);
    folder.write("saving.toml", saving).write("field.toml", field);
    for case in ["gas", "saving", "field"] {
        folder.odeum(&["run", &format!("{case}.toml"), "-q"]).well();
        let arrays = npz::read(&folder.path(&format!("{case}.npz")));
        for array in arrays.keys().filter(|array| *array != "u") {
            assert!(names(&help, array), "`{array}` of {case}.npz is not in:\n{help}");
        }
    }
    let help = folder.odeum(&["bench", "--help"]).well().out;
    let refused = folder.odeum(&["bench", "nothing"]).refused(&["studies: "]).err;
    let studies = refused.split("studies: ").nth(1).unwrap().lines().next().unwrap();
    for study in studies.split(", ") {
        assert!(names(&help, study), "`{study}` is not in:\n{help}");
    }
    assert!(!help.contains("as the case file says"), "a study has no case file:\n{help}");
}

#[test]
fn problems_and_devices_are_listed() {
    let folder = Folder::new();
    let list = folder.odeum(&["problems"]).well().out;
    for problem in odeum_ode::problems::all() {
        assert!(list.contains(problem.name), "{list}");
        let one = folder.odeum(&["problems", problem.name]).well().out;
        assert!(one.contains("source") && one.contains(&problem.state_names()[0]), "{one}");
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(problem.name));
        let method = line.and_then(|line| line.split_whitespace().nth(3)).unwrap_or_default();
        assert_eq!(method, problem.method, "{list}");
    }
    let devices = folder.odeum(&["devices"]).well().out;
    assert!(devices.contains("cpu") && devices.contains("lanes"), "{devices}");
}

#[test]
fn check_says_what_would_be_run() {
    let folder = Folder::new();
    let case =
        format!("{}[ensemble]\ncount = 1000\nsweep = {{ k = [1.0, 2.0] }}\n", crate::common::DECAY);
    let said = folder.write("a.toml", case).odeum(&["check", "a.toml", "--threads", "3"]).well();
    for part in [
        "a' = -k * a",
        "2 000 = 2 (k) × 1 000 (copy)",
        "dopri5, order 5",
        "rtol 1e-8, atol 1e-10",
        "cpu, 3 threads",
        "memory",
        "nothing is wrong",
    ] {
        assert!(said.out.contains(part), "`{part}` is not in:\n{}", said.out);
    }
    assert_eq!(folder.files(), ["a.toml"]);
}
