//! Mechanisms to test with, and dual numbers.
#![allow(dead_code, clippy::unwrap_used)]

pub(crate) mod cpu;
pub(crate) mod dual;
pub(crate) mod group;
pub(crate) mod synthetic;

use odeum_kinetics::{Mechanism, read};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A file of `../shared/mechanisms`, published mechanisms beside the repository that are not part of it.
///
/// `None` where it is not there. That is said on the terminal itself, since the output of tests that pass
/// is not shown; where the data must be there (`ODEUM_NEED_DATA`) it is a failure.
pub(crate) fn published(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mechanisms").join(file);
    if path.exists() {
        return Some(path);
    }
    let message = format!("{} is not there", path.display());
    assert!(std::env::var_os("ODEUM_NEED_DATA").is_none(), "{message}, and ODEUM_NEED_DATA is set");
    let test = std::thread::current();
    let name = test.name().unwrap_or("a test");
    // `eprintln!` would be kept back with the rest of the test's output.
    #[allow(clippy::explicit_write)]
    writeln!(std::io::stderr(), "SKIPPED: {name}: {message}").unwrap();
    None
}

/// `rate-laws` of this crate, or a published mechanism; `None` as in [`published`].
pub(crate) fn load(name: &str) -> Option<Mechanism> {
    let path = match name {
        "rate-laws" => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rate-laws.yaml"),
        _ => published(&format!("{name}/{name}.yaml"))?,
    };
    let text = std::fs::read_to_string(&path).unwrap();
    Some(read::yaml(&path.display().to_string(), &text, None).unwrap().mechanism)
}
