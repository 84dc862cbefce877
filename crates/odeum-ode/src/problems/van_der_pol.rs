//! The Van der Pol oscillator.

use super::{Builtin, Problem, fixed, fixed_mut, names, references};
use odeum_core::{Real, System};

/// The Van der Pol oscillator: x' = v, v' = μ(1 − x²)v − x; p = (μ).
///
/// B. van der Pol, Phil. Mag. 2 (1926) 978–992; Hairer & Wanner, *Solving ODEs II*, eq. IV.1.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VanDerPol;

impl VanDerPol {
    /// A mild case, μ = 5.
    pub fn problem() -> Problem {
        Problem {
            name: "van_der_pol",
            title: "Van der Pol oscillator",
            about: "A limit cycle of slow drift and fast jumps; mu sets how fast.",
            source: "B. van der Pol, Phil. Mag. 2 (1926) 978-992",
            method: "tsit5",
            y0: vec![2.0, 0.0],
            params: vec![5.0],
            span: (0.0, 20.0),
            references: references::VAN_DER_POL,
            system: Builtin::VanDerPol(VanDerPol),
        }
    }

    /// The stiff case, μ = 1000. Hairer & Wanner's form with ε = 10⁻⁶ is this one in the time
    /// t/μ, with μv for their second component.
    pub fn stiff_problem() -> Problem {
        Problem {
            name: "van_der_pol_stiff",
            title: "Van der Pol oscillator, mu = 1000",
            about: "The stiff case: relaxation oscillations of period 1614.3 whose jumps last \
                    some 1e-3.",
            source: "Hairer & Wanner, Solving ODEs II, 2nd ed. (1996), eq. IV.1.5, in unscaled \
                     time; Mazzia & Magherini, Test Set for IVP Solvers, release 2.4 (2008)",
            method: "rodas5p",
            y0: vec![2.0, 0.0],
            params: vec![1000.0],
            span: (0.0, 2000.0),
            references: references::VAN_DER_POL_STIFF,
            system: Builtin::VanDerPol(VanDerPol),
        }
    }
}

impl System for VanDerPol {
    fn dim(&self) -> usize {
        2
    }

    fn n_params(&self) -> usize {
        1
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let [x, v] = *fixed(y);
        let mu = p[0];
        let dydt = fixed_mut::<2, R>(dydt);
        let damping = mu * (-x).mul_add(x, R::lit(1.0));
        dydt[0] = v;
        dydt[1] = damping.mul_add(v, -x);
    }

    fn state_names(&self) -> Vec<String> {
        names(&["x", "v"])
    }

    fn param_names(&self) -> Vec<String> {
        names(&["mu"])
    }
}
