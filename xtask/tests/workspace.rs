//! What cargo does at the root of the repository when no package is named.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

/// The workspace, as cargo describes it.
fn described() -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = command.current_dir(root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The text of the array of a key.
fn array<'a>(described: &'a str, key: &str) -> &'a str {
    let (_, after) = described.split_once(&format!("\"{key}\":[")).unwrap();
    after.split_once(']').unwrap().0
}

/// `cargo test` tests every crate: one that passes says something about all of them.
#[test]
fn no_crate_is_left_out() {
    let described = described();
    let members = array(&described, "workspace_members");
    assert!(members.contains("odeum-core") && members.contains("xtask"), "{members}");
    assert_eq!(array(&described, "workspace_default_members"), members);
}

/// `cargo run` runs the command, as the README says, though there are other programs.
#[test]
fn one_program_is_run() {
    let described = described();
    let programs: Vec<&str> =
        described.split("\"default_run\":").skip(1).filter(|s| !s.starts_with("null")).collect();
    assert_eq!(programs.len(), 1);
    assert!(programs[0].starts_with("\"odeum\""));
}
