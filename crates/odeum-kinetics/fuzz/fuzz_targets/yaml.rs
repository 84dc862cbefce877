//! `cargo +nightly fuzz run yaml fuzz/corpus/yaml ../../mechanisms`
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = odeum_kinetics::read::yaml("fuzz.yaml", text, None);
});
