//! The Oregonator.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// The Oregonator, a model of the Belousov–Zhabotinsky reaction:
/// x' = s(y + x(1 − qx − y)), y' = (z − (1 + x)y)/s, z' = w(x − z); p = (s, w, q).
///
/// R. J. Field & R. M. Noyes, J. Chem. Phys. 60 (1974) 1877–1884; Hairer & Wanner, *Solving ODEs
/// II*, eq. IV.10.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oregonator;

impl Oregonator {
    /// The problem in its usual form.
    pub fn problem() -> Problem {
        Problem {
            name: "oregonator",
            title: "Oregonator",
            about: "A stiff limit cycle of period 302.9 with sharp peaks over five decades; near \
                    the peaks the spectral radius reaches 1e5.",
            source: "Hairer & Wanner, Solving ODEs II, 2nd ed. (1996), eq. IV.10.3; Mazzia & \
                     Magherini, Test Set for IVP Solvers, release 2.4 (2008)",
            method: "rodas5p",
            y0: vec![1.0, 2.0, 3.0],
            params: vec![77.27, 0.161, 8.375e-6],
            span: (0.0, 360.0),
            references: references::OREGONATOR,
            system: Builtin::Oregonator(Oregonator),
        }
    }
}

impl System for Oregonator {
    fn dim(&self) -> usize {
        3
    }

    fn n_params(&self) -> usize {
        3
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let [x, y, z] = *fixed(y);
        let [s, w, q] = *fixed(p);
        let dydt = fixed_mut::<3, R>(dydt);
        let one = R::lit(1.0);
        dydt[0] = s * x.mul_add((-q).mul_add(x, one) - y, y);
        dydt[1] = (z - (one + x) * y) / s;
        dydt[2] = w * (x - z);
    }

    fn state_names(&self) -> Vec<String> {
        names(&["x", "y", "z"])
    }

    fn param_names(&self) -> Vec<String> {
        names(&["s", "w", "q"])
    }
}
