//! How many Robertson systems a core integrates in a second: rate constants perturbed by half,
//! t from 0 to 1e5.

// An example prints.
#![allow(clippy::print_stdout)]

use odeum_ode::problems::Robertson;
use odeum_ode::{Cpu, Device, DynSystem, Ensemble, Error, Isa, Method, Options, Solver, Tolerance};

fn main() -> Result<(), Error> {
    let count = 8192;
    // The golden ratio spreads the factors evenly over [0.5, 1.5].
    let factor = |s: usize, j: usize| 0.5 + ((s * 3 + j) as f64 * 0.618_033_988_749_894_9).fract();
    let params =
        (0..3).flat_map(|j| (0..count).map(move |s| [0.04, 1e4, 3e7][j] * factor(s, j))).collect();
    let ensemble =
        Ensemble::repeated(&[1.0_f64, 0.0, 0.0], count, (0.0, 1e5))?.with_params(params)?;
    let robertson = DynSystem::new(Robertson);
    let device = Device::Cpu(Cpu { threads: Some(1), isa: Isa::best() });
    for rtol in [1e-4, 1e-6, 1e-8] {
        for method in ["rodas3", "rodas4", "rodas5p", "ros34pw2", "radau"] {
            let Some(method) = Method::from_name(method) else { continue };
            let options = Options::new(Tolerance::new(rtol, rtol * 1e-4));
            let solver = Solver::new(&robertson, &method, &device, &options)?;
            let begun = std::time::Instant::now();
            let solution = solver.solve(&ensemble)?;
            let rate = count as f64 / begun.elapsed().as_secs_f64();
            let tight = Options::new(Tolerance::new(1e-11, 1e-16));
            let exact =
                Solver::new(&robertson, &Method::radau(), &device, &tight)?.solve(&ensemble)?;
            let mut worst = 0.0_f64;
            for (a, b) in solution.states.iter().zip(&exact.states) {
                worst = worst.max(((a - b) / b).abs());
            }
            let steps = solution.summary().steps.0;
            let (name, failed) = (method.name(), solution.failed().len());
            println!(
                "{rtol:.0e} {name:9} {rate:9.0} systems/s, {steps:6.1} steps, error {worst:.1e}, {failed} failed"
            );
        }
    }
    Ok(())
}
