//! What the program says about itself.

use crate::common::Folder;

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
fn problems_and_devices_are_listed() {
    let folder = Folder::new();
    let list = folder.odeum(&["problems"]).well().out;
    for problem in odeum_ode::problems::all() {
        assert!(list.contains(problem.name), "{list}");
        let one = folder.odeum(&["problems", problem.name]).well().out;
        assert!(one.contains("source") && one.contains(&problem.state_names()[0]), "{one}");
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
