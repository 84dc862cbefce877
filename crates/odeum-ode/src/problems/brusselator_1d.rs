//! The Brusselator with diffusion in one dimension.

use super::{Builtin, Problem, names, references};
use odeum_core::{Error, Real, System};

/// The Brusselator with diffusion on 0 ≤ x ≤ 1, by second-order differences at N inner points
/// xᵢ = i/(N + 1):
///
/// uᵢ' = a + uᵢ²vᵢ − (b + 1)uᵢ + α(N + 1)²(uᵢ₋₁ − 2uᵢ + uᵢ₊₁),
/// vᵢ' = buᵢ − uᵢ²vᵢ + α(N + 1)²(vᵢ₋₁ − 2vᵢ + vᵢ₊₁), p = (a, b, α).
///
/// At both ends u and v are held at their equilibrium a and b/a. State: u₁, v₁, u₂, v₂, …, so
/// that the Jacobian has two diagonals on either side.
///
/// Hairer & Wanner, *Solving ODEs II*, eqs. IV.1.6'–1.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brusselator1d {
    points: usize,
}

impl Default for Brusselator1d {
    /// 32 points, 64 equations.
    fn default() -> Self {
        Brusselator1d { points: 32 }
    }
}

impl Brusselator1d {
    /// A grid of this many inner points.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(points: usize) -> Result<Self, Error> {
        if points == 0 {
            return Err(Error::input("size", points, "give at least one grid point"));
        }
        Ok(Brusselator1d { points })
    }

    /// Number of inner points N.
    pub fn points(&self) -> usize {
        self.points
    }

    /// The problem with u = 1 + sin 2πx and v = 3 at the start, a = 1, b = 3, α = 1/50.
    pub fn problem(self) -> Problem {
        let x = |i: usize| (i + 1) as f64 / (self.points + 1) as f64;
        let start = |i| [1.0 + (std::f64::consts::TAU * x(i)).sin(), 3.0];
        let is_default = self == Brusselator1d::default();
        Problem {
            name: "brusselator_1d",
            title: "Brusselator with diffusion in one dimension",
            about: "Moderately stiff: the spectral radius is nearly that of diffusion, \
                    4 alpha (N + 1)^2, with real eigenvalues. The case RKC is made for.",
            source: "Hairer & Wanner, Solving ODEs II, 2nd ed. (1996), eqs. IV.1.6' and IV.1.7",
            method: "rkc",
            y0: (0..self.points).flat_map(start).collect(),
            params: vec![1.0, 3.0, 0.02],
            span: (0.0, 10.0),
            references: if is_default { references::BRUSSELATOR_1D } else { &[] },
            system: Builtin::Brusselator1d(self),
        }
    }

    /// α(N + 1)².
    #[inline(always)]
    fn exchange<R: Real>(&self, p: &[R]) -> R {
        let intervals = (self.points + 1) as f64;
        p[2] * R::lit(intervals * intervals)
    }
}

impl System for Brusselator1d {
    fn dim(&self) -> usize {
        2 * self.points
    }

    fn n_params(&self) -> usize {
        3
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let (a, b) = (p[0], p[1]);
        let exchange = self.exchange(p);
        let two = R::lit(2.0);
        let ends = [a, b / a];
        let n = self.dim();
        let (y, dydt) = (&y[..n], &mut dydt[..n]);
        let mut left = ends;
        let mut here = [y[0], y[1]];
        for i in (0..n).step_by(2) {
            let right = if i + 2 < n { [y[i + 2], y[i + 3]] } else { ends };
            let [u, v] = here;
            let excess = u * u.mul_add(v, -b);
            let spread_u = (-two).mul_add(u, left[0] + right[0]);
            let spread_v = (-two).mul_add(v, left[1] + right[1]);
            dydt[i] = exchange.mul_add(spread_u, a + excess - u);
            dydt[i + 1] = exchange.mul_add(spread_v, -excess);
            (left, here) = (here, right);
        }
    }

    /// The largest row sum of |∂f/∂y| (Gershgorin), for diffusion and reaction apart.
    #[inline(always)]
    fn spectral_radius<R: Real>(&self, _t: R, y: &[R], p: &[R]) -> Option<R> {
        let b = p[1];
        let mut largest = R::lit(0.0);
        for i in (0..self.dim()).step_by(2) {
            let (u, v) = (y[i], y[i + 1]);
            let gain = R::lit(2.0) * u * v - b;
            let row_u = (gain - R::lit(1.0)).abs();
            largest = largest.max(u.mul_add(u, row_u.max(gain.abs())));
        }
        Some(R::lit(4.0).mul_add(self.exchange(p), largest))
    }

    fn state_names(&self) -> Vec<String> {
        (1..=self.points).flat_map(|i| [format!("u{i}"), format!("v{i}")]).collect()
    }

    fn param_names(&self) -> Vec<String> {
        names(&["a", "b", "alpha"])
    }
}
