//! Exponential methods beside Rodas4 on reacting gases: what a reactor costs, and how wrong it is.
//!
//! ```console
//! cargo run --release -p odeum-ode --example exponential -- MECHANISM.yaml FUEL [MIXTURES]
//! ```
//!
//! States along ignitions at constant pressure, of 64 mixtures (unless said) at 32 times each between a hundredth of
//! the delay and ten delays, are advanced by 1e-6 and 1e-4 s from a cold start on one thread. Errors are the largest of
//! a component in units of atol + rtol |y|, against Radau at 1e-11: their median and 95 %.

// An example prints.
#![allow(clippy::print_stdout)]

use odeum_kinetics::{Kinetics, Reactor, read};
use odeum_ode::method::exponential::Action;
use odeum_ode::{
    Cpu, Device, DynSystem, Ensemble, Isa, Method, Options, Solution, Solver, System, Tolerance,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const TIMES: usize = 32;
const ATM: f64 = 101_325.0;

type Failure = Box<dyn std::error::Error>;

/// States along ignitions, and the pressure of each.
fn states(
    reactor: &Reactor,
    fuel: &str,
    mixtures: usize,
) -> Result<(Vec<Vec<f64>>, Vec<f64>), Failure> {
    let kinetics = reactor.kinetics();
    let fuel = kinetics.composition(&[(fuel, 1.0)])?;
    let air = kinetics.composition(&[("O2", 1.0), ("N2", 3.76)])?;
    let (mut states, mut pressures) = (Vec::new(), Vec::new());
    for m in 0..mixtures {
        // The golden ratio and its like spread three numbers evenly.
        let [a, b, c] = [0.754_877_67, 0.569_840_29, 0.618_033_99].map(|x| (m as f64 * x).fract());
        let masses = kinetics.at_equivalence_ratio(0.5 + 1.5 * a, &fuel, &air)?;
        let pressure = ATM * 10_f64.powf(1.4 * b);
        let (start, parameters) = reactor.state(1100.0 + 600.0 * c, pressure, &masses)?;
        let (system, device) = (DynSystem::from(reactor.clone()), Device::cpu());
        let run = |end: f64, options: Options| -> Result<Solution<f64>, Failure> {
            let ensemble = Ensemble::new(reactor.dim(), start.clone(), (0.0, end))?
                .with_params(parameters.to_vec())?;
            Ok(Solver::new(&system, &Method::rodas5p(), &device, &options)?.solve(&ensemble)?)
        };
        let tight = || Options::new(Tolerance::new(1e-8, 1e-16));
        let ignited = run(10.0, tight().end_when_rises(0, vec![start[0] + 400.0]))?;
        let delay = ignited.t[0];
        let time = |k: usize| delay * 10_f64.powf(-2.0 + 3.0 * k as f64 / (TIMES - 1) as f64);
        let along = run(11.0 * delay, tight().save_at((0..TIMES).map(time).collect()))?;
        for k in 0..TIMES {
            states.push(along.y_at(k, 0).ok_or("a state was not saved")?);
            pressures.push(parameters[0]);
        }
    }
    Ok((states, pressures))
}

fn by_krylov(method: Method) -> Method {
    let Method::Exponential(mut exponential) = method else { return method };
    exponential.action = Action::Krylov { max_dimension: 60 };
    Method::Exponential(exponential)
}

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let (Some(file), Some(fuel)) = (args.next(), args.next()) else {
        return Err("which mechanism and fuel?".into());
    };
    let mechanism = read::from_path(Path::new(&file), None, None)
        .map_err(|_| "the mechanism cannot be read")?
        .mechanism;
    let kinetics = Arc::new(Kinetics::new(&mechanism)?);
    let reactor = Reactor::constant_pressure(kinetics);
    let mixtures = args.next().map_or(Ok(64), |count| count.parse())?;
    let (states, pressures) = states(&reactor, &fuel, mixtures)?;
    let (n, count) = (reactor.dim(), states.len());
    // Neighbours in a pack differ.
    let order: Vec<usize> = (0..count).map(|s| s * 1_237 % count).collect();
    let flat = (0..n).flat_map(|i| order.iter().map(|&s| states[s][i]).collect::<Vec<_>>());
    let flat: Vec<f64> = flat.collect();
    let pressures: Vec<f64> = order.iter().map(|&s| pressures[s]).collect();
    let system = DynSystem::from(reactor);
    let device = Device::Cpu(Cpu { threads: Some(1), isa: Isa::best() });
    println!("{count} states, n = {n}");
    for dt in [1e-6, 1e-4] {
        let ensemble = Ensemble::new(n, flat.clone(), (0.0, dt))?.with_params(pressures.clone())?;
        let solve = |method: &Method, rtol: f64| -> Result<Solution<f64>, Failure> {
            let options = Options::new(Tolerance::new(rtol, rtol * 1e-4));
            Ok(Solver::new(&system, method, &device, &options)?.solve(&ensemble)?)
        };
        let exact = solve(&Method::radau(), 1e-11)?;
        for rtol in [1e-4, 1e-6, 1e-8] {
            let methods = [
                ("rodas4", Method::rodas4()),
                ("radau", Method::radau()),
                ("exp4", Method::exp4()),
                ("exprb43", Method::exprb43()),
                ("exp4, Krylov", by_krylov(Method::exp4())),
                ("exprb43, Krylov", by_krylov(Method::exprb43())),
            ];
            for (name, method) in methods {
                let (mut best, mut found) = (f64::INFINITY, None);
                for _ in 0..3 {
                    let begun = Instant::now();
                    let solution = solve(&method, rtol)?;
                    best = best.min(begun.elapsed().as_secs_f64());
                    found = Some(solution);
                }
                let Some(found) = found else { continue };
                let mut errors: Vec<f64> = (0..count)
                    .map(|s| {
                        let pairs = found.y(s).into_iter().zip(exact.y(s));
                        let ratio = |(a, b): (f64, f64)| (a - b).abs() / (rtol * (b.abs() + 1e-4));
                        pairs.map(ratio).fold(0.0, f64::max)
                    })
                    .collect();
                errors.sort_by(f64::total_cmp);
                let mean = |of: &dyn Fn(usize) -> u32| {
                    (0..count).map(|s| f64::from(of(s))).sum::<f64>() / count as f64
                };
                let stats = &found.stats;
                println!(
                    "{dt:.0e} s {rtol:.0e} {name:16} {:8.2} µs, steps {:5.2}, LU {:5.2}, f {:6.2}, \
                     E {:.1e} {:.1e}, {} failed",
                    best / count as f64 * 1e6,
                    mean(&|s| stats[s].attempts()),
                    mean(&|s| stats[s].nlu),
                    mean(&|s| stats[s].nfev),
                    errors[count / 2],
                    errors[count * 95 / 100],
                    found.failed().len(),
                );
            }
        }
    }
    Ok(())
}
