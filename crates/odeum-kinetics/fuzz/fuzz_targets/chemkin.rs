//! `cargo +nightly fuzz run chemkin fuzz/corpus/chemkin tests/data`
#![no_main]

use libfuzzer_sys::fuzz_target;
use odeum_kinetics::read::{Named, chemkin};

fuzz_target!(|text: &str| {
    let _ = chemkin(Named { file: "fuzz.inp", text }, None);
});
