//! The Lotka–Volterra equations.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// The Lotka–Volterra equations of prey x and predator y: x' = ax − bxy, y' = dxy − cy;
/// p = (a, b, c, d).
///
/// A. J. Lotka 1925, V. Volterra 1926; Hairer, Nørsett & Wanner, *Solving ODEs I*, sec. I.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LotkaVolterra;

impl LotkaVolterra {
    /// The problem in its usual form.
    pub fn problem() -> Problem {
        Problem {
            name: "lotka_volterra",
            title: "Lotka-Volterra equations",
            about: "Prey and predator on a closed orbit: d x - c ln x + b y - a ln y stays \
                    constant, so a drift of the method shows.",
            source: "A. J. Lotka, Elements of Physical Biology (1925); V. Volterra, Nature 118 \
                     (1926) 558-560",
            method: "tsit5",
            y0: vec![1.0, 1.0],
            params: vec![1.5, 1.0, 3.0, 1.0],
            span: (0.0, 10.0),
            references: references::LOTKA_VOLTERRA,
            system: Builtin::LotkaVolterra(LotkaVolterra),
        }
    }
}

impl System for LotkaVolterra {
    fn dim(&self) -> usize {
        2
    }

    fn n_params(&self) -> usize {
        4
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let [x, y] = *fixed(y);
        let [a, b, c, d] = *fixed(p);
        let dydt = fixed_mut::<2, R>(dydt);
        dydt[0] = x * (-b).mul_add(y, a);
        dydt[1] = y * d.mul_add(x, -c);
    }

    fn state_names(&self) -> Vec<String> {
        names(&["x", "y"])
    }

    fn param_names(&self) -> Vec<String> {
        names(&["a", "b", "c", "d"])
    }
}
