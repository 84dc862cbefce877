//! Readers on thousands of mangled files: no panic, no hang, and an error that says something.
//!
//! The targets in `fuzz/` do the same with coverage as their guide, where a nightly compiler is at
//! hand; this test runs on any.

use std::time::{Duration, Instant};

use odeum_core::random::SplitMix64;
use odeum_kinetics::read::{self, Named};
use odeum_kinetics::{Kinetics, Mechanism};

const CHEMKIN: [&str; 2] = [
    include_str!("../../fuzz/corpus/chemkin/small.inp"),
    include_str!("../data/all-rate-laws.inp"),
];
const YAML: [&str; 3] = [
    include_str!("../../fuzz/corpus/yaml/small.yaml"),
    include_str!("../data/all-rate-laws.yaml"),
    include_str!("../data/rate-laws.yaml"),
];
/// Mangled files of each seed file.
const COUNT: u64 = 1500;
/// What means something to a reader of either format.
const WORDS: [&str; 28] = [
    "\n",
    " ",
    "\t",
    "\r\n",
    "\0",
    "!",
    "#",
    "/",
    "&",
    "=",
    "<=>",
    "=>",
    "+",
    "(+M)",
    "END\n",
    "-1e400",
    "nan",
    "99999999999999999999",
    "é",
    "\u{feff}",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    ": ",
    "- ",
];

/// A text with some of its parts cut, doubled, moved or replaced.
fn mangled(seed: &str, random: &mut SplitMix64) -> String {
    let mut text: Vec<char> = seed.chars().collect();
    for _ in 0..1 + random.below(8) {
        let at = random.below(text.len() + 1);
        let most = 1 << random.below(9);
        let end = (at + random.below(most)).min(text.len());
        match random.below(7) {
            0 => text.truncate(at),
            1 => drop(text.drain(at..end)),
            2 => {
                let part = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, part);
            }
            3 if at < text.len() => {
                text[at] = char::from_u32(random.below(0x180) as u32).unwrap_or(' ');
            }
            4 if at < text.len() => {
                let other = random.below(text.len());
                text.swap(at, other);
            }
            5 => drop(text.splice(at..end, WORDS[random.below(WORDS.len())].chars())),
            _ => drop(text.splice(at..at, WORDS[random.below(WORDS.len())].chars())),
        }
    }
    text.into_iter().collect()
}

/// Reads mangled files; how many were read as mechanisms.
fn survives(name: &str, seeds: &[&str], read: impl Fn(&str) -> Result<Mechanism, String>) -> usize {
    let mut good = 0;
    for (number, seed) in (0..).zip(seeds) {
        assert!(read(seed).is_ok(), "{name} {number} is not good to begin with");
        for k in 0..COUNT {
            let mut random = SplitMix64::new((number << 32) + k);
            let text = mangled(seed, &mut random);
            let start = Instant::now();
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(&text))) {
                Err(_) => panic!("{name} {number}, mutation {k} panics:\n{text}"),
                Ok(Err(message)) => assert!(message.len() > 10, "{message:?} of {text}"),
                Ok(Ok(mechanism)) => {
                    good += 1;
                    // What a reader lets through is a mechanism, or is refused with a reason.
                    let _ = Kinetics::new(&mechanism).map_err(|error| error.to_string());
                }
            }
            let time = start.elapsed();
            assert!(time < Duration::from_secs(60), "{name} {number}, mutation {k}: {time:?}");
        }
    }
    good
}

#[test]
fn mangled_chemkin() {
    let read = |text: &str| {
        let read = read::chemkin(Named { file: "f.inp", text }, None);
        read.map(|read| read.mechanism).map_err(|errors| errors.to_string())
    };
    let good = survives("chemkin", &CHEMKIN, read);
    // Some changes lie in comments; a test in which nothing fails would say nothing.
    assert!(good > 10 && good < 2 * COUNT as usize, "{good}");
}

#[test]
fn mangled_yaml() {
    let read = |text: &str| {
        let read = read::yaml("f.yaml", text, None);
        read.map(|read| read.mechanism).map_err(|errors| errors.to_string())
    };
    let good = survives("yaml", &YAML, read);
    assert!(good > 10 && good < 3 * COUNT as usize, "{good}");
}
