//! The coefficients of an explicit Runge–Kutta pair.

use crate::method::coefficients::Coefficients;
use odeum_core::{Argument, Error};

/// Coefficients of an explicit pair of s stages, in the notation of Butcher.
#[derive(Debug, PartialEq)]
pub struct Tableau {
    /// Short name.
    pub name: &'static str,
    /// Order of the solution that is continued.
    pub order: u32,
    /// Order of the embedded solution: the error estimate is h^(order + 1) of this.
    pub embedded_order: u32,
    /// Stage times cᵢ \[s\].
    pub c: &'static [f64],
    /// Rows of aᵢⱼ for j < i; row 0 is empty.
    pub a: &'static [&'static [f64]],
    /// Weights bᵢ \[s\].
    pub b: &'static [f64],
    /// Error weights bᵢ − b̂ᵢ \[s\].
    pub e: &'static [f64],
    /// Where the coefficients come from.
    pub reference: &'static str,
}

/// The stage before is an Euler step.
pub(super) const FIRST_INNER: usize = 2;

impl Tableau {
    /// Number of stages s.
    pub fn stages(&self) -> usize {
        self.c.len()
    }

    /// Refuses coefficients of too few or too many stages, or of no order.
    pub(crate) fn check(&self, fixed_step: Option<f64>) -> Result<(), Error> {
        let coefficients = Coefficients { name: self.name, stages: self.stages() };
        coefficients.check_stages()?;
        for (part, numbers) in [("c", self.c), ("b", self.b), ("e", self.e)] {
            coefficients.check_numbers(part, numbers)?;
        }
        coefficients.check_rows("a", self.a.iter().map(|row| row.len()))?;
        let part = |name: &'static str| Argument::new("tableau").key(name);
        for (i, (row, c)) in self.a.iter().zip(self.c).enumerate() {
            coefficients.check_sum(part("a").at(i), row.iter().copied(), *c)?;
        }
        coefficients.check_sum(part("b"), self.b.iter().copied(), 1.0)?;
        coefficients.check_sum(part("e"), self.e.iter().copied(), 0.0)?;
        coefficients.check_estimate(self.e.iter().all(|e| *e == 0.0), fixed_step)
    }

    /// True when the last stage is the right-hand side at the new state (first same as last), so
    /// that an accepted step needs one evaluation fewer.
    pub fn is_fsal(&self) -> bool {
        let last = self.stages() - 1;
        self.c[last] == 1.0 && self.b[last] == 0.0 && self.a[last] == &self.b[..last]
    }

    /// Stages within the step, from [`FIRST_INNER`] on.
    pub(crate) fn inner_stages(&self) -> impl Iterator<Item = usize> {
        (FIRST_INNER..self.stages()).filter(|&s| self.c[s] < 1.0)
    }

    /// Coefficients of the stability polynomial R(z) = 1 + Σ zᵏ bᵀAᵏ⁻¹1, lowest power first
    /// [s + 1]: one step multiplies the solution of y' = λy by R(hλ).
    ///
    /// Hairer & Wanner, *Solving ODEs II*, eq. IV.2.11.
    pub fn stability_polynomial(&self) -> Vec<f64> {
        let mut powers = vec![1.0; self.stages()];
        let mut polynomial = vec![1.0];
        for _ in 0..self.stages() {
            polynomial.push(dot(self.b, &powers));
            powers = self.a.iter().map(|row| dot(row, &powers)).collect();
        }
        polynomial
    }

    /// Length of the stability interval on the negative real axis: the largest x with
    /// |R(−ξ)| ≤ 1 for all ξ in \[0, x\], to about ten digits.
    pub fn real_stability(&self) -> f64 {
        let polynomial = self.stability_polynomial();
        let is_stable = |x: f64| {
            let r = polynomial.iter().rev().fold(0.0, |sum, coefficient| coefficient - x * sum);
            r.abs() <= 1.0
        };
        // The interval of an s-stage method is at most 2s² (Chebyshev); the grid is fine enough
        // for polynomials of these degrees.
        let step = 1.0 / 256.0;
        let end = 2.0 * (self.stages() * self.stages()) as f64;
        let mut x = step;
        while x < end && is_stable(x) {
            x += step;
        }
        let (mut stable, mut unstable) = (x - step, x);
        for _ in 0..32 {
            let middle = 0.5 * (stable + unstable);
            if is_stable(middle) {
                stable = middle;
            } else {
                unstable = middle;
            }
        }
        stable
    }
}

/// Σ aᵢxᵢ over the entries of the shorter of the two.
fn dot(a: &[f64], x: &[f64]) -> f64 {
    a.iter().zip(x).map(|(a, x)| a * x).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{ALL, CASH_KARP, DORMAND_PRINCE, TSITOURAS, VERNER7};

    #[test]
    fn fsal_pairs_are_found() {
        assert!(DORMAND_PRINCE.is_fsal() && TSITOURAS.is_fsal());
        assert!(!CASH_KARP.is_fsal() && !VERNER7.is_fsal());
    }

    #[test]
    fn stability_polynomial_agrees_with_the_exponential_up_to_the_order() {
        for tableau in ALL {
            let polynomial = tableau.stability_polynomial();
            let mut factorial = 1.0;
            for k in 1..=tableau.order as usize {
                factorial *= k as f64;
                let error = polynomial[k] * factorial - 1.0;
                assert!(error.abs() < 1e-9, "{}: z^{k} off by {error:e}", tableau.name);
            }
        }
    }

    #[test]
    fn stability_intervals() {
        // From the roots of R(z)² = 1 computed with 60 digits.
        for (tableau, expected) in [
            (&CASH_KARP, 3.73435960723472),
            (&DORMAND_PRINCE, 3.30656789263495),
            (&TSITOURAS, 3.50684699380493),
            (&VERNER7, 4.64002433533755),
        ] {
            let found = tableau.real_stability();
            assert!((found - expected).abs() < 1e-8, "{}: {found}", tableau.name);
        }
    }
}
