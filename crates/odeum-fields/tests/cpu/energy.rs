//! Cahn and Hilliard's equation as what it is, a descent of free energy that keeps the mass.

use crate::common::one_thread;
use odeum_fields::{
    Boundaries, Boundary, Combination, Engine, Field, Grid, ModelText, Problem, Stencil, noise,
};

/// c' = −∇²(ε c − γ c³ + σ ∇²c).
const PARAMS: [(&str, f64); 3] = [("epsilon", 1.2), ("gamma", 0.9), ("sigma", 0.8)];

fn problem(grid: Grid, equation: &str) -> Problem {
    let text = ModelText {
        species: vec!["c"],
        params: PARAMS.to_vec(),
        equations: vec![("c", equation)],
        ..ModelText::default()
    };
    Problem::new(text.read().unwrap().0, grid)
}

/// Σ (γ c⁴/4 − ε c²/2 − σ c ∇²c/2) with the discrete Laplacian, the free energy of which the
/// potential is the negative gradient; and how large a rounding of it may be.
fn energy(laplacian: &Engine<f64>, c: &Field<f64>) -> (f64, f64) {
    let [epsilon, gamma, sigma] = PARAMS.map(|(_, value)| value);
    let mut lap = laplacian.zeros().unwrap();
    laplacian.rhs(0.0, c, &mut lap);
    let terms =
        c.to_values(0).into_iter().zip(lap.to_values(0)).map(|(c, lap)| {
            gamma * c.powi(4) / 4.0 - epsilon * c * c / 2.0 - sigma * c * lap / 2.0
        });
    let terms: Vec<f64> = terms.collect();
    (terms.iter().sum(), 1e-14 * terms.iter().map(|term| term.abs()).sum::<f64>())
}

/// In every single step, from noise to grown domains, in a closed and in a periodic box.
#[test]
fn free_energy_never_increases_and_mass_stays() {
    // About c² = ε/γ stable up to 0.056 and 0.0139, 2/(2 ε λ + σ λ²) with λ up to 16/3 and 12.
    for (stencil, step) in [(Stencil::Isotropic, 0.02), (Stencil::Star, 0.005)] {
        for boundary in [Boundary::NoFlux, Boundary::Periodic] {
            for shape in [[20, 14, 12], [40, 30, 1]] {
                let grid = Grid::new(shape, 1.0).unwrap();
                let on = |equation| {
                    let problem = problem(grid, equation).stencil(stencil);
                    Engine::<f64>::new(
                        &problem.boundaries(Boundaries::all(boundary.clone())),
                        &one_thread(),
                    )
                };
                let descent = on("-lap(epsilon * c - gamma * c^3 + sigma * lap(c))").unwrap();
                let laplacian = on("lap(c)").unwrap();
                let mut cell = 0;
                let mut c = Field::<f64>::from_fn(&grid, 1, |_, _| {
                    cell += 1;
                    0.1 + 0.5 * noise(11, 0, cell)
                })
                .unwrap();
                let mass = descent.summaries(&c)[0].sum;
                let first = energy(&laplacian, &c).0;
                let (mut before, mut next) = (first, descent.zeros().unwrap());
                for n in 0..2000 {
                    let what = Combination { rhs: step, own: None, terms: &[(1.0, &c)] };
                    assert!(descent.sweep(0.0, &c, &what, &mut next));
                    std::mem::swap(&mut c, &mut next);
                    let (energy, rounding) = energy(&laplacian, &c);
                    assert!(
                        energy <= before + rounding,
                        "{stencil:?} {boundary:?} {shape:?}, step {n}: {before} to {energy}"
                    );
                    before = energy;
                }
                let all = descent.summaries(&c)[0];
                // Domains of both phases have grown.
                assert!(all.max > 0.9 && all.min < -0.9, "{stencil:?} {shape:?}: {all:?}");
                assert!(before < first - 0.1 * grid.cells() as f64, "{first} to {before}");
                let drift = (all.sum - mass).abs();
                assert!(drift < 1e-14 * 2000.0 * grid.cells() as f64, "{drift:e}");
            }
        }
    }
}
