//! Robertson's reactions.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// Robertson's autocatalytic reactions A → B, 2B → B + C, B + C → A + C:
/// a' = −k₁a + k₂bc, c' = k₃b², b' = −a' − c'; p = (k₁, k₂, k₃).
///
/// H. H. Robertson in J. Walsh (ed.), *Numerical Analysis* (1966) 178–182; Hairer & Wanner,
/// *Solving ODEs II*, eq. IV.1.4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Robertson;

impl Robertson {
    /// The problem in its usual form.
    pub fn problem() -> Problem {
        Problem {
            name: "robertson",
            title: "Robertson reactions",
            about: "Rate constants over nine decades; a + b + c is conserved. Up to t = 40 it is \
                    stiff enough for RKC; the usual end for stiff codes, t = 1e11, wants an \
                    implicit method and an absolute tolerance for b well below 1e-6 (a code that \
                    lets c overshoot diverges).",
            source: "Hairer & Wanner, Solving ODEs II, 2nd ed. (1996), eq. IV.1.4; Mazzia & \
                     Magherini, Test Set for IVP Solvers, release 2.4 (2008)",
            method: "rkc",
            y0: vec![1.0, 0.0, 0.0],
            params: vec![0.04, 1e4, 3e7],
            span: (0.0, 40.0),
            references: references::ROBERTSON,
            system: Builtin::Robertson(Robertson),
        }
    }
}

impl System for Robertson {
    fn dim(&self) -> usize {
        3
    }

    fn n_params(&self) -> usize {
        3
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let [a, b, c] = *fixed(y);
        let [k1, k2, k3] = *fixed(p);
        let dydt = fixed_mut::<3, R>(dydt);
        let backward = (k2 * b).mul_add(c, -(k1 * a));
        let formed = k3 * b * b;
        dydt[0] = backward;
        dydt[1] = -backward - formed;
        dydt[2] = formed;
    }

    fn state_names(&self) -> Vec<String> {
        names(&["a", "b", "c"])
    }

    fn param_names(&self) -> Vec<String> {
        names(&["k1", "k2", "k3"])
    }
}
