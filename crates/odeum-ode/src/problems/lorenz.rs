//! The Lorenz equations.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// The Lorenz equations: x' = σ(y − x), y' = ρx − y − xz, z' = xy − βz; p = (σ, ρ, β).
///
/// E. N. Lorenz, J. Atmos. Sci. 20 (1963) 130–141, eqs. 25–27.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lorenz;

impl Lorenz {
    /// The problem in its usual form.
    pub fn problem() -> Problem {
        Problem {
            name: "lorenz",
            title: "Lorenz equations",
            about: "Chaotic for rho = 28: errors grow by e every 1.1 units of time, so the span \
                    is short. With rho below 24.74 most systems fall to a fixed point; the usual \
                    benchmark sweeps rho from 0 to 21 for t from 0 to 1.",
            source: "E. N. Lorenz, J. Atmos. Sci. 20 (1963) 130-141",
            method: "tsit5",
            y0: vec![1.0, 0.0, 0.0],
            params: vec![10.0, 28.0, 8.0 / 3.0],
            span: (0.0, 5.0),
            references: references::LORENZ,
            system: Builtin::Lorenz(Lorenz),
        }
    }
}

impl System for Lorenz {
    fn dim(&self) -> usize {
        3
    }

    fn n_params(&self) -> usize {
        3
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let [x, y, z] = *fixed(y);
        let [sigma, rho, beta] = *fixed(p);
        let dydt = fixed_mut::<3, R>(dydt);
        dydt[0] = sigma * (y - x);
        dydt[1] = x.mul_add(rho - z, -y);
        dydt[2] = x.mul_add(y, -(beta * z));
    }

    fn state_names(&self) -> Vec<String> {
        names(&["x", "y", "z"])
    }

    fn param_names(&self) -> Vec<String> {
        names(&["sigma", "rho", "beta"])
    }
}
