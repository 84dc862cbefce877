//! What becomes of a command whose standard output is closed or full.

#![cfg(target_os = "linux")]
use crate::common::Folder;
use std::fs::OpenOptions;
use std::process::Stdio;

const CASE: &str = r#"
[system]
problem = "lorenz"
[time]
span = [0.0, 0.1]
[method]
name = "tsit5"
[tolerance]
rtol = 1e-6
atol = 1e-6
"#;

const COMMANDS: [&[&str]; 9] = [
    &["--help"],
    &["--version"],
    &["run", "--help"],
    &["run", "a.toml", "--overwrite"],
    &["check", "a.toml"],
    &["devices"],
    &["problems"],
    &["mechanism", "h2.yaml"],
    &["bench", "lorenz", "--systems", "8", "--threads", "1"],
];

fn folder() -> Folder {
    let mechanism =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms/hydrogen-burke-2012.yaml");
    let folder = Folder::new();
    folder.write("a.toml", CASE).write("h2.yaml", std::fs::read(mechanism).unwrap());
    folder
}

#[test]
fn a_reader_that_goes_away_ends_a_command_without_a_word() {
    let folder = folder();
    for args in COMMANDS {
        let mut child =
            folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The pipe has no reader from here on.
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(!told.contains("panicked"), "{args:?}: {told}");
        assert!([Some(141), Some(0)].contains(&ended.status.code()), "{args:?}: {ended:?}");
    }
    assert!(folder.has("a.npz"), "what is computed is kept, whoever listens");
}

#[test]
fn a_full_disk_behind_the_standard_output_is_said_in_one_line() {
    let folder = folder();
    for args in COMMANDS {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = folder.command(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(!told.contains("panicked"), "{args:?}: {told}");
        assert_eq!(ended.status.code(), Some(3), "{args:?}: {told}");
        let about = told.lines().filter(|line| line.contains("standard output")).count();
        assert_eq!(about, 1, "{args:?}: {told}");
    }
}
