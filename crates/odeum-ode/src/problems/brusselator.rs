//! The Brusselator.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// The Brusselator, a chemical oscillator: u' = a + u²v − (b + 1)u, v' = bu − u²v; p = (a, b).
///
/// R. Lefever & G. Nicolis, J. Theor. Biol. 30 (1971) 267–284; Hairer, Nørsett & Wanner,
/// *Solving ODEs I*, secs. I.16 and II.4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brusselator;

impl Brusselator {
    /// The problem in its usual form.
    pub fn problem() -> Problem {
        Problem {
            name: "brusselator",
            title: "Brusselator",
            about: "Runs into a limit cycle when b is above 1 + a^2, with phases of fast change \
                    that step-size control must catch.",
            source: "Hairer, Nørsett & Wanner, Solving ODEs I, 2nd ed. (1993), secs. I.16 and II.4",
            method: "dopri5",
            y0: vec![1.5, 3.0],
            params: vec![1.0, 3.0],
            span: (0.0, 20.0),
            references: references::BRUSSELATOR,
            system: Builtin::Brusselator(Brusselator),
        }
    }
}

impl System for Brusselator {
    fn dim(&self) -> usize {
        2
    }

    fn n_params(&self) -> usize {
        2
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let [u, v] = *fixed(y);
        let [a, b] = *fixed(p);
        let dydt = fixed_mut::<2, R>(dydt);
        let excess = u * u.mul_add(v, -b);
        dydt[0] = a + excess - u;
        dydt[1] = -excess;
    }

    fn state_names(&self) -> Vec<String> {
        names(&["u", "v"])
    }

    fn param_names(&self) -> Vec<String> {
        names(&["a", "b"])
    }
}
