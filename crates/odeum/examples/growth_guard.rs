//! The study of the growth guard: ignitions from cold starts with every implicit method, with the
//! guard and without.
//!
//! ```console
//! cargo run --release -p odeum --example growth_guard -- MECHANISM.yaml FUEL COUNT
//! ```
//!
//! Mixtures of a fuel and air fill 850 to 1600 K, 0.1 to 100 atm and equivalence ratios of 0.2 to 5
//! evenly, at constant volume and at constant pressure by turns. The reference delay of each (the
//! temperature has risen by 400 K) comes from Rodas5P at rtol 1e-9, atol 1e-20 and a first step of
//! 1e-12 s. Then each is integrated to a hundred of its delays. The table counts those that end
//! unburnt with success ("missed"), end with an error status, burnt or not ("failed"), or ignite more
//! than 1 % early or late.

#![allow(clippy::print_stdout)]

use odeum::kinetics::{Kinetics, Reactor, read};
use odeum::ode::{
    Device, DynSystem, Ensemble, FirstStep, Method, Options, Solution, Solver, Status, Tolerance,
};
use std::sync::Arc;

/// Rise of the temperature \[K\] that counts as ignition.
const RISE: f64 = 400.0;
/// Mixtures that take longer \[s\] count as ones that do not ignite.
const LONGEST: f64 = 1e3;
const ATM: f64 = 101_325.0;

type Failure = Box<dyn std::error::Error>;

/// Starts and delays of mixtures in one kind of reactor.
struct Mixtures {
    reactor: DynSystem,
    /// State and parameter of each.
    starts: Vec<Vec<f64>>,
    delays: Vec<f64>,
}

/// Element `i` of the Halton sequence of this base, in (0, 1).
fn halton(mut i: usize, base: usize) -> f64 {
    let (mut x, mut digit) = (0.0, 1.0);
    while i > 0 {
        digit /= base as f64;
        x += digit * (i % base) as f64;
        i /= base;
    }
    x
}

impl Mixtures {
    fn new(reactor: Reactor, fuel: &str, numbers: &[usize]) -> Result<Mixtures, Failure> {
        let kinetics = reactor.kinetics().clone();
        let fuel = kinetics.composition(&[(fuel, 1.0)])?;
        let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)])?;
        let mut starts = Vec::new();
        for &i in numbers {
            let between =
                |from: f64, to: f64, base: usize| from + (to - from) * halton(i + 1, base);
            let temperature = between(850.0, 1600.0, 2);
            let pressure = ATM * 10_f64.powf(between(-1.0, 2.0, 3));
            let phi = 0.2 * 25_f64.powf(between(0.0, 1.0, 5));
            let masses = kinetics.at_equivalence_ratio(phi, &fuel, &air)?;
            let (mut state, parameter) = reactor.state(temperature, pressure, &masses)?;
            state.extend(parameter);
            starts.push(state);
        }
        let mut all = Mixtures { reactor: reactor.into(), starts, delays: Vec::new() };
        let options = Options::new(Tolerance::new(1e-9, 1e-20))
            .first_step(FirstStep::Size(1e-12))
            .max_steps(10_000_000);
        let spans = vec![(0.0, LONGEST); all.starts.len()];
        let reference = all.solve(&spans, &Method::rodas5p(), options)?;
        let ignites =
            |s: usize| reference.status[s] == Status::TerminalEvent && reference.t[s] < LONGEST;
        let kept: Vec<usize> = (0..all.starts.len()).filter(|&s| ignites(s)).collect();
        all.starts = kept.iter().map(|&s| all.starts[s].clone()).collect();
        all.delays = kept.iter().map(|&s| reference.t[s]).collect();
        Ok(all)
    }

    fn solve(
        &self,
        spans: &[(f64, f64)],
        method: &Method,
        options: Options,
    ) -> Result<Solution<f64>, Failure> {
        let count = self.starts.len();
        let n = self.starts[0].len() - 1;
        let component = |i: usize| self.starts.iter().map(move |start| start[i]);
        let states = (0..n).flat_map(component).collect();
        let levels = component(0).map(|t| t + RISE).collect();
        let ensemble = Ensemble::new(n, states, (0.0, 1.0))?
            .with_params(component(n).collect())?
            .with_spans(spans[..count].to_vec())?;
        let options = options.end_when_rises(0, levels);
        Ok(Solver::new(&self.reactor, method, &Device::cpu(), &options)?.solve(&ensemble)?)
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, fuel, count, only @ ..] = &arguments[..] else {
        return Err("give MECHANISM.yaml, FUEL and COUNT, and perhaps the growth limits".into());
    };
    let count: usize = count.parse()?;
    let text = std::fs::read_to_string(path)?;
    let kinetics = Arc::new(Kinetics::new(&read::yaml(path, &text, None)?.mechanism)?);
    let limits: Vec<Option<f64>> = match only {
        [] => vec![None, Some(1.0)],
        only => only.iter().map(|limit| limit.parse().ok()).collect(),
    };
    let (even, odd): (Vec<usize>, Vec<usize>) = (0..count).partition(|i| i % 2 == 0);
    let sets = [
        Mixtures::new(Reactor::constant_volume(kinetics.clone()), fuel, &even)?,
        Mixtures::new(Reactor::constant_pressure(kinetics), fuel, &odd)?,
    ];
    let ignite: usize = sets.iter().map(|set| set.starts.len()).sum();
    println!("{ignite} of {count} mixtures ignite within {LONGEST} s");
    println!(
        "method    rtol   first      limit  missed failed  > 1 %  median    largest  attempts guarded"
    );
    for method in Method::all().into_iter().filter(|method| method.jacobian_source().is_some()) {
        for rtol in [1e-4, 1e-6, 1e-8] {
            for (first, name) in
                [(FirstStep::Automatic, "automatic"), (FirstStep::Fraction(1.0), "span")]
            {
                for &limit in &limits {
                    let mut errors = Vec::new();
                    let (mut missed, mut failed, mut attempts, mut guarded) = (0, 0, 0, 0);
                    for set in &sets {
                        let spans: Vec<_> = set.delays.iter().map(|t| (0.0, 100.0 * t)).collect();
                        let options = Options::new(Tolerance::new(rtol, rtol * 1e-4))
                            .growth_limit(limit)
                            .first_step(first)
                            .max_steps(1_000_000);
                        let solution = set.solve(&spans, &method, options)?;
                        for (s, delay) in set.delays.iter().enumerate() {
                            match solution.status[s] {
                                Status::TerminalEvent => {
                                    errors.push((solution.t[s] / delay - 1.0).abs())
                                }
                                status if status.is_success() => missed += 1,
                                _ => failed += 1,
                            }
                            attempts += u64::from(solution.stats[s].attempts());
                            guarded += u64::from(solution.stats[s].guarded);
                        }
                    }
                    errors.sort_by(f64::total_cmp);
                    let far = errors.iter().filter(|error| **error > 0.01).count();
                    let median = errors.get(errors.len() / 2).copied().unwrap_or(f64::NAN);
                    let most = errors.last().copied().unwrap_or(f64::NAN);
                    let each = |total: u64| total as f64 / ignite as f64;
                    println!(
                        "{:9} {rtol:.0e}   {name:10} {:5} {missed:7} {failed:6} {far:6}  {median:.1e}   {most:.1e}  {:8.1} {:6.2}",
                        method.name(),
                        limit.map_or("off".to_owned(), |limit| limit.to_string()),
                        each(attempts),
                        each(guarded),
                    );
                }
            }
        }
    }
    Ok(())
}
