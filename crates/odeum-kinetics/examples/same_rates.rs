//! How far the rates of progress of mechanism files are apart, in pairs.
//!
//! `cargo run --release --example same_rates -- FIRST PHASE SECOND [FIRST PHASE SECOND …]` prints a line
//! for each pair: the second file, species, reactions, and the largest relative difference of forward
//! and of reverse rates over some states. `validation/written_mechanisms.py` runs it.
// An example says what it finds.
#![allow(clippy::print_stdout)]

use std::path::Path;

use odeum_kinetics::{Kinetics, Mechanism, read};

/// Temperatures of the states \[K\].
const TEMPERATURES: [f64; 4] = [500.0, 1000.0, 1500.0, 2500.0];

fn load(file: &str, phase: &str) -> Result<(Mechanism, Kinetics), String> {
    let read = read::from_path(Path::new(file), None, Some(phase)).map_err(|e| e.to_string())?;
    let kinetics = Kinetics::new(&read.mechanism).map_err(|e| e.to_string())?;
    Ok((read.mechanism, kinetics))
}

/// The largest relative difference of forward and of reverse rates.
fn apart(first: &Kinetics, second: &Kinetics) -> [f64; 2] {
    let mut worst = [0.0_f64; 2];
    for t in TEMPERATURES {
        let c: Vec<f64> =
            (0..first.n_species()).map(|k| 1e-4 * (1.0 + (k * 7 % 11) as f64)).collect();
        let rates = |kinetics: &Kinetics| {
            let mut work = vec![0.0; kinetics.workspace()];
            let mut rates = [(); 2].map(|()| vec![0.0; kinetics.n_reactions()]);
            let [forward, reverse] = &mut rates;
            kinetics.rates_of_progress(t, &c, forward, reverse, &mut work);
            rates
        };
        let (a, b) = (rates(first), rates(second));
        // A reverse rate is the difference of two: it counts beside the forward one.
        for r in 0..first.n_reactions() {
            let size = a[0][r].abs().max(a[1][r].abs());
            for side in 0..2 {
                let difference = (a[side][r] - b[side][r]).abs();
                worst[side] = worst[side].max(if size > 0.0 { difference / size } else { 0.0 });
            }
        }
    }
    worst
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (triples, _) = args.as_chunks::<3>();
    for [first, phase, second] in triples {
        match (load(first, phase), load(second, phase)) {
            (Ok((a, first)), Ok((b, second_kinetics))) => {
                let names = |m: &Mechanism| m.species.iter().map(|s| s.name.clone()).collect();
                let (one, other): (Vec<String>, Vec<String>) = (names(&a), names(&b));
                if one != other || a.n_reactions() != b.n_reactions() {
                    println!("{second}: other species or reactions");
                    continue;
                }
                let [forward, reverse] = apart(&first, &second_kinetics);
                let (species, reactions) = (a.n_species(), a.n_reactions());
                println!("{second}: {species} {reactions} {forward:.1e} {reverse:.1e}");
            }
            (a, b) => println!("{second}: {:?} {:?}", a.err(), b.err()),
        }
    }
}
