//! A ring of coupled Van der Pol oscillators.

use super::{Builtin, Problem, names, references};
use odeum_core::{Error, Real, System};

/// n Van der Pol oscillators in a ring, each drawn to its two neighbours:
///
/// xᵢ' = vᵢ, vᵢ' = μ(1 − xᵢ²)vᵢ − xᵢ + κ(xᵢ₋₁ − 2xᵢ + xᵢ₊₁), p = (μ, κ).
///
/// State: x₁, v₁, x₂, v₂, …. The ring is used to see how stiff solvers for ensembles behave as
/// the dimension grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VanDerPolRing {
    oscillators: usize,
}

impl Default for VanDerPolRing {
    /// Eight oscillators, 16 equations.
    fn default() -> Self {
        VanDerPolRing { oscillators: 8 }
    }
}

impl VanDerPolRing {
    /// A ring of this many oscillators.
    ///
    /// # Errors
    /// When there are fewer than three, which are no ring.
    pub fn new(oscillators: usize) -> Result<Self, Error> {
        if oscillators < 3 {
            return Err(Error::input("size", oscillators, "a ring has at least 3 oscillators"));
        }
        Ok(VanDerPolRing { oscillators })
    }

    /// Number of oscillators.
    pub fn oscillators(&self) -> usize {
        self.oscillators
    }

    /// The problem with μ = 100 and κ = 10, from rest at positions that fall evenly from 2 to
    /// above 3/2 around the ring, so that neighbours differ.
    pub fn problem(self) -> Problem {
        let start = |i| [2.0 - 0.5 * i as f64 / self.oscillators as f64, 0.0];
        let is_default = self == VanDerPolRing::default();
        Problem {
            name: "van_der_pol_ring",
            title: "Ring of coupled Van der Pol oscillators",
            about: "Stiff by its damping (spectral radius 2 mu and more while an oscillator \
                    drifts), in any dimension.",
            source: "the stiff scaling benchmark of the ensemble solver modax: damping 100, \
                     coupling 10",
            method: "rkc",
            y0: (0..self.oscillators).flat_map(start).collect(),
            params: vec![100.0, 10.0],
            span: (0.0, 1.0),
            references: if is_default { references::VAN_DER_POL_RING } else { &[] },
            system: Builtin::VanDerPolRing(self),
        }
    }
}

impl System for VanDerPolRing {
    fn dim(&self) -> usize {
        2 * self.oscillators
    }

    fn n_params(&self) -> usize {
        2
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let (mu, kappa) = (p[0], p[1]);
        let n = self.dim();
        let (y, dydt) = (&y[..n], &mut dydt[..n]);
        let mut left = y[n - 2];
        for i in (0..n).step_by(2) {
            let (x, v) = (y[i], y[i + 1]);
            let right = if i + 2 < n { y[i + 2] } else { y[0] };
            let damping = mu * (-x).mul_add(x, R::lit(1.0));
            let drawn = R::lit(-2.0).mul_add(x, left + right);
            dydt[i] = v;
            dydt[i + 1] = kappa.mul_add(drawn, damping.mul_add(v, -x));
            left = x;
        }
    }

    fn state_names(&self) -> Vec<String> {
        (1..=self.oscillators).flat_map(|i| [format!("x{i}"), format!("v{i}")]).collect()
    }

    fn param_names(&self) -> Vec<String> {
        names(&["mu", "kappa"])
    }
}
