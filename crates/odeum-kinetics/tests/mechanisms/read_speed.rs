//! How long reading takes; run with `--release -- --ignored --nocapture`.

use std::fmt::Write as _;
use std::time::Instant;

use odeum_kinetics::read::{self, Named};

#[test]
#[ignore = "measures time"]
fn published_yaml() {
    let Some(path) = crate::common::published("grimech30/grimech30.yaml") else { return };
    let start = Instant::now();
    read::from_path(&path, None, None).unwrap();
    println!("53 species, 325 reactions: {:?}", start.elapsed());
    assert!(start.elapsed().as_millis() < 50);
}

/// 1,000 species of carbon and hydrogen, and 5,000 reactions.
#[test]
#[ignore = "measures time"]
fn large_chemkin() {
    let n = 1000;
    let mut text = "ELEMENTS\nC H\nEND\nSPECIES\n".to_owned();
    for i in 0..n {
        writeln!(text, "C{i}H(A)").unwrap();
    }
    text += "END\nTHERMO ALL\n 300. 1000. 5000.\n";
    for i in 0..n {
        let name = format!("C{i}H(A)");
        writeln!(
            text,
            "{name:<24}C   1H   1          G{:10.3}{:10.3}{:8.2}{:>7}",
            300.0, 5000.0, 1000.0, 1
        )
        .unwrap();
        for (line, count) in [(2, 5), (3, 5), (4, 4)] {
            let numbers = " 1.00000000E+00".repeat(count);
            writeln!(text, "{numbers:<79}{line}").unwrap();
        }
    }
    text += "END\nREACTIONS\n";
    for i in 0..5 * n {
        let (a, b) = (i % n, (i * 7 + 1) % n);
        let (c, d) = ((i * 13 + 2) % n, (i / n * 31 + i + 5) % n);
        writeln!(text, "C{a}H(A)+C{b}H(A)=C{c}H(A)+C{d}H(A) 1.0E10 0.5 1000.\n DUP").unwrap();
    }
    text += "END\n";
    let start = Instant::now();
    let read = read::chemkin(Named { file: "large", text: &text }, None);
    println!("{n} species, {} reactions: {:?}", 5 * n, start.elapsed());
    // Marks of duplicates without partner are the only problems; without the marks there are none.
    if let Err(errors) = read {
        let marks =
            |p: &read::Problem| p.found.contains("but no other") || p.found.contains("the same");
        assert!(errors.problems.iter().all(marks), "{errors}");
    }
    assert!(start.elapsed().as_millis() < 1000);
}
