//! Mechanisms to test with, and dual numbers.
#![allow(dead_code, clippy::print_stdout)]

pub(crate) mod dual;
pub(crate) mod synthetic;

use odeum_kinetics::{Mechanism, read};

/// `rate-laws` of this crate, or a published mechanism of the optional test data beside the
/// repository; `None`, with a message, where that is not there.
pub(crate) fn load(name: &str) -> Option<Mechanism> {
    let root = env!("CARGO_MANIFEST_DIR");
    let path = if name == "rate-laws" {
        format!("{root}/tests/data/rate-laws.yaml")
    } else {
        format!("{root}/../../../shared/mechanisms/{name}/{name}.yaml")
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(read::yaml(&path, &text, None).unwrap().mechanism),
        Err(_) => {
            println!("skipped: no mechanism {name} in ../shared");
            None
        }
    }
}
