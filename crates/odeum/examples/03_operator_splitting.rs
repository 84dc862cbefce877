//! Reaction in every cell of a line, diffusion between them: the way a flow code uses Odeum.
//!
//! In each global step the reactions of all cells are integrated from what transport left there,
//! each cell with its own steps.

use odeum::prelude::*;

/// Logistic growth u' = r u (1 - u).
struct Growth;

impl System for Growth {
    fn dim(&self) -> usize {
        1
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, u: &[R], r: &[R], dudt: &mut [R]) {
        dudt[0] = r[0] * u[0] * (R::lit(1.0) - u[0]);
    }
}

fn main() -> Result<(), Error> {
    const CELLS: usize = 400;
    let (rate, diffusivity, dx, dt) = (1.0, 1.0, 0.5, 0.1);
    let u: Vec<f64> = (0..CELLS).map(|i| if i < 20 { 1.0 } else { 0.0 }).collect();
    // Each cell begins a step with the size of step with which it ended the one before.
    let options = Options::new(Tolerance::new(1e-7, 1e-10)).warm_start();
    let front = |u: &[f64]| u.iter().position(|&x| x < 0.5).unwrap_or(CELLS) as f64 * dx;

    // The cells stay on the device: `Device::cuda(0)` is a GPU.
    let solver = Solver::new(DynSystem::new(Growth), &Method::dopri5(), &Device::cpu(), &options)?;
    let cells = Ensemble::new(1, u, (0.0, dt))?.with_shared_params(vec![rate])?;
    let mut cells = solver.session(&cells)?;

    let mut positions = Vec::new();
    for step in 0..800 {
        cells.advance((f64::from(step) * dt, f64::from(step + 1) * dt))?;
        let old = cells.states()?;
        let mut u = old.clone();
        for i in 0..CELLS {
            let (left, right) = (old[i.max(1) - 1], old[(i + 1).min(CELLS - 1)]);
            u[i] += diffusivity * dt / (dx * dx) * (left - 2.0 * old[i] + right);
        }
        positions.push(front(&u));
        cells.set_states(&u)?;
    }
    // The front of Fisher's equation travels at 2 sqrt(r D), which it approaches from below.
    let speed = (positions[799] - positions[399]) / (400.0 * dt);
    assert!((1.8..2.05).contains(&speed), "speed {speed}");
    eprintln!("the front travels at {speed:.3}");
    Ok(())
}
