//! A thousand predator–prey systems, each with its own growth rate.

use odeum::prelude::*;

/// Lotka–Volterra: prey x, predator y; the growth of the prey is the parameter.
struct LotkaVolterra;

impl System for LotkaVolterra {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], growth: &[R], dydt: &mut [R]) {
        let meetings = y[0] * y[1];
        dydt[0] = growth[0] * y[0] - meetings;
        dydt[1] = meetings - R::lit(3.0) * y[1];
    }
}

fn main() -> Result<(), Error> {
    let growth: Vec<f64> = (0..1000).map(|s| 1.0 + f64::from(s) / 1000.0).collect();
    let ensemble = Ensemble::repeated(&[1.0, 1.0], 1000, (0.0, 10.0))?.with_params(growth)?;
    let options = Options::new(Tolerance::new(1e-8, 1e-10));
    let solution = solve(&LotkaVolterra, &ensemble, &Method::tsit5(), &Device::cpu(), &options)?;

    // V = x - 3 ln x + y - a ln y stays what it was.
    for s in solution.failed() {
        eprintln!("system {s}: {}", solution.status[s].advice());
    }
    let invariant = |y: &[f64], a: f64| y[0] - 3.0 * y[0].ln() + y[1] - a * y[1].ln();
    for s in 0..solution.len() {
        let a = ensemble.param(s, 0);
        let drift = invariant(&solution.y(s), a) - invariant(&[1.0, 1.0], a);
        assert!(drift.abs() < 1e-5, "system {s} drifted by {drift:e}");
    }
    eprintln!("{:?}", solution.summary());
    Ok(())
}
