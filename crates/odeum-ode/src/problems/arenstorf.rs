//! Arenstorf's orbit of the restricted three-body problem.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// A satellite in the plane of earth and moon, in coordinates that turn with them:
///
/// x'' = x + 2y' − μ'(x + μ)/D₁ − μ(x − μ')/D₂, y'' = y − 2x' − μ'y/D₁ − μy/D₂, with
/// D₁ = ((x + μ)² + y²)^(3/2), D₂ = ((x − μ')² + y²)^(3/2), μ' = 1 − μ; p = (μ).
///
/// R. F. Arenstorf, Amer. J. Math. 85 (1963) 27–35; Hairer, Nørsett & Wanner, *Solving ODEs I*,
/// eqs. II.0.1 and II.0.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arenstorf;

impl Arenstorf {
    /// The problem in its usual form.
    pub fn problem() -> Problem {
        Problem {
            name: "arenstorf",
            title: "Arenstorf orbit",
            about: "A closed orbit around earth and moon with three close passages, where the \
                    step must shrink a hundredfold; errors of the start are much enlarged, so the \
                    orbit closes to about 1e-11 only when its data are rounded to double.",
            source: "Hairer, Nørsett & Wanner, Solving ODEs I, 2nd ed. (1993), eqs. II.0.1 and \
                     II.0.2",
            method: "vern7",
            y0: vec![0.994, 0.0, 0.0, -2.001_585_106_379_082_5],
            params: vec![0.012_277_471],
            span: (0.0, 17.065_216_560_157_964),
            references: references::ARENSTORF,
            system: Builtin::Arenstorf(Arenstorf),
        }
    }
}

impl System for Arenstorf {
    fn dim(&self) -> usize {
        4
    }

    fn n_params(&self) -> usize {
        1
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let [x, y, vx, vy] = *fixed(y);
        let mu = p[0];
        let nu = R::lit(1.0) - mu;
        let dydt = fixed_mut::<4, R>(dydt);
        let (to_earth, to_moon) = (x + mu, x - nu);
        let earth = to_earth.mul_add(to_earth, y * y).rsqrt();
        let moon = to_moon.mul_add(to_moon, y * y).rsqrt();
        let pull_earth = nu * (earth * earth * earth);
        let pull_moon = mu * (moon * moon * moon);
        let two = R::lit(2.0);
        dydt[0] = vx;
        dydt[1] = vy;
        dydt[2] = two.mul_add(vy, x) - pull_earth.mul_add(to_earth, pull_moon * to_moon);
        dydt[3] = (-two).mul_add(vx, y) - y * (pull_earth + pull_moon);
    }

    fn state_names(&self) -> Vec<String> {
        names(&["x", "y", "vx", "vy"])
    }

    fn param_names(&self) -> Vec<String> {
        names(&["mu"])
    }
}
