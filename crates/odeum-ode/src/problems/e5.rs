//! The chemical pyrolysis problem E5.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// Pyrolysis by four species: y₁' = −Ay₁ − By₁y₃, y₂' = Ay₁ − MCy₂y₃,
/// y₄' = By₁y₃ − Cy₄, y₃' = y₂' − y₄'; p = (A, B, C, M).
///
/// W. H. Enright, T. E. Hull & B. Lindberg, BIT 15 (1975) 10–48, problem E5; Hairer & Wanner,
/// *Solving ODEs II*, sec. IV.10.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct E5;

impl E5 {
    /// The problem in its usual form.
    pub fn problem() -> Problem {
        Problem {
            name: "e5",
            title: "Pyrolysis problem E5",
            about: "Concentrations of 1e-3 down to 1e-24 over thirteen decades of time: an \
                    absolute tolerance of 1e-24 is needed, and an implicit method.",
            source: "Hairer & Wanner, Solving ODEs II, 2nd ed. (1996), sec. IV.10; Mazzia & \
                     Magherini, Test Set for IVP Solvers, release 2.4 (2008)",
            method: "radau",
            y0: vec![1.76e-3, 0.0, 0.0, 0.0],
            params: vec![7.89e-10, 1.1e7, 1.13e3, 1e6],
            span: (0.0, 1e13),
            references: references::E5,
            system: Builtin::E5(E5),
        }
    }
}

impl System for E5 {
    fn dim(&self) -> usize {
        4
    }

    fn n_params(&self) -> usize {
        4
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let y = fixed::<4, R>(y);
        let [a, b, c, m] = *fixed(p);
        let dydt = fixed_mut::<4, R>(dydt);
        let split = a * y[0];
        let spent = b * y[0] * y[2];
        let joined = m * c * y[1] * y[2];
        let decayed = c * y[3];
        dydt[0] = -split - spent;
        dydt[1] = split - joined;
        dydt[3] = spent - decayed;
        // By the same numbers, so that y2 − y3 − y4 is conserved to rounding: what ends at 1e-22 is a difference of what was 1e-5.
        dydt[2] = dydt[1] - dydt[3];
    }

    fn state_names(&self) -> Vec<String> {
        names(&["y1", "y2", "y3", "y4"])
    }

    fn param_names(&self) -> Vec<String> {
        names(&["A", "B", "C", "M"])
    }
}
