//! High irradiance response of plant growth.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// How light drives the growth of plant tissue, by eight reactants of phytochrome:
/// p = (k₁ … k₆, k₊, k₋, k*, o) as in the equations below, where Y₇ is the complex of Y₆ and Y₈.
///
/// E. Schäfer, J. Math. Biol. 2 (1975) 41–56; Hairer & Wanner, *Solving ODEs II*, eq. IV.10.4;
/// Mazzia & Magherini, *Test Set for IVP Solvers*, problem HIRES.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hires;

impl Hires {
    /// The problem in its usual form.
    pub fn problem() -> Problem {
        Problem {
            name: "hires",
            title: "High irradiance response",
            about: "Mildly stiff chemistry with a late fast change near t = 321.8, when one \
                    reactant is used up; y7 + y8 is conserved.",
            source: "E. Schaefer, J. Math. Biol. 2 (1975) 41-56; Mazzia & Magherini, Test Set for \
                     IVP Solvers, release 2.4 (2008)",
            method: "rkc",
            y0: vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057],
            params: vec![1.71, 0.43, 8.32, 0.69, 0.035, 8.32, 280.0, 0.69, 0.69, 0.0007],
            span: (0.0, 321.8122),
            references: references::HIRES,
            system: Builtin::Hires(Hires),
        }
    }
}

impl System for Hires {
    fn dim(&self) -> usize {
        8
    }

    fn n_params(&self) -> usize {
        10
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let y = fixed::<8, R>(y);
        let [k1, k2, k3, k4, k5, k6, k_plus, k_minus, k_star, o] = *fixed(p);
        let dydt = fixed_mut::<8, R>(dydt);
        let bound = k_plus * y[5] * y[7];
        dydt[0] = k2 * y[1] + k6 * y[2] + o - k1 * y[0];
        dydt[1] = k1 * y[0] - (k2 + k3) * y[1];
        dydt[2] = k5 * y[4] + k2 * y[3] - (k1 + k6) * y[2];
        dydt[3] = k3 * y[1] + k1 * y[2] - (k2 + k4) * y[3];
        dydt[4] = k2 * (y[5] + y[6]) - (k1 + k5) * y[4];
        dydt[5] = k4 * y[3] + k1 * y[4] + k_minus * y[6] - k2 * y[5] - bound;
        let released = (k2 + k_minus + k_star) * y[6];
        dydt[6] = bound - released;
        dydt[7] = released - bound;
    }

    fn state_names(&self) -> Vec<String> {
        names(&["pr", "pfr", "prx", "pfrx", "prx2", "pfrx2", "pfrx2e", "e"])
    }

    fn param_names(&self) -> Vec<String> {
        names(&["k1", "k2", "k3", "k4", "k5", "k6", "k_plus", "k_minus", "k_star", "o"])
    }
}
