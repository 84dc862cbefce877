//! A system read from text: the same solvers, no compiler.

use odeum::core::text::TextSource;
use odeum::prelude::*;

fn main() -> Result<(), Error> {
    let source = TextSource {
        states: vec!["angle", "speed"],
        params: vec!["length"],
        definitions: vec![("pull", "-9.81 / length * sin(angle)")],
        equations: vec![("angle", "speed"), ("speed", "pull")],
        ..TextSource::default()
    };
    let pendulum = DynSystem::from(&source.read()?);

    // Small oscillations of pendulums of 1 m to 2 m, over one period of the first.
    let lengths: Vec<f64> = (0..100).map(|s| 1.0 + f64::from(s) / 100.0).collect();
    let period = std::f64::consts::TAU * (1.0 / 9.81_f64).sqrt();
    let ensemble = Ensemble::repeated(&[1e-3, 0.0], 100, (0.0, period))?.with_params(lengths)?;
    let options = Options::new(Tolerance::new(1e-9, 1e-12));
    let solver = Solver::new(&pendulum, &Method::dopri5(), &Device::cpu(), &options)?;
    let solution = solver.solve(&ensemble)?;
    assert!(solution.all_succeeded());
    assert!((solution.y(0)[0] - 1e-3).abs() < 1e-9);
    Ok(())
}
