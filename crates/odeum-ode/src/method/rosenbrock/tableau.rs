//! The coefficients of a Rosenbrock method.

use crate::method::coefficients::Coefficients;
use odeum_core::{Argument, Error};

/// Coefficients of a Rosenbrock method of s stages in transformed form, in the notation of
/// Hairer & Wanner II, eqs. IV.7.16–17: a = αΓ⁻¹, c = diag(1/γ) − Γ⁻¹, m = bᵀΓ⁻¹.
#[derive(Debug, PartialEq)]
pub struct Tableau {
    /// Short name.
    pub name: &'static str,
    /// Order of the solution that is continued.
    pub order: u32,
    /// Order of the embedded solution: the error estimate is h^(order + 1) of this.
    pub embedded_order: u32,
    /// True when the order needs no exact Jacobian.
    pub is_w_method: bool,
    /// The diagonal coefficient γ.
    pub gamma: f64,
    /// Stage times αᵢ \[s\].
    pub alpha: &'static [f64],
    /// Coefficients γᵢ = Σⱼ γᵢⱼ of ∂f/∂t \[s\].
    pub gamma_sums: &'static [f64],
    /// Rows of aᵢⱼ for j < i; row 0 is empty.
    pub a: &'static [&'static [f64]],
    /// Rows of cᵢⱼ for j < i; row 0 is empty.
    pub c: &'static [&'static [f64]],
    /// Weights mᵢ \[s\].
    pub m: &'static [f64],
    /// Error weights eᵢ = mᵢ − m̂ᵢ \[s\].
    pub e: &'static [f64],
    /// Weights of h times the slopes at the start and the end of a step: with the states there they give a cubic \[s\] each.
    pub slopes: [&'static [f64]; 2],
    /// Where the coefficients come from.
    pub reference: &'static str,
}

impl Tableau {
    /// Number of stages s.
    pub fn stages(&self) -> usize {
        self.alpha.len()
    }

    /// Refuses coefficients of too few or too many stages, or of no order. With γⱼ the sums of Γ, α = aΓ sums to αᵢ,
    /// Γ⁻¹Γ = diag(1/γ)Γ − cΓ to one, bᵀ = mᵀΓ to one, and the error weights to zero.
    pub(crate) fn check(&self, fixed_step: Option<f64>) -> Result<(), Error> {
        let coefficients = Coefficients { name: self.name, stages: self.stages() };
        coefficients.check_stages()?;
        let [start, end] = self.slopes;
        let numbers = [
            ("alpha", self.alpha),
            ("gamma_sums", self.gamma_sums),
            ("m", self.m),
            ("e", self.e),
            ("slopes", start),
            ("slopes", end),
        ];
        for (part, numbers) in numbers {
            coefficients.check_numbers(part, numbers)?;
        }
        coefficients.check_rows("a", self.a.iter().map(|row| row.len()))?;
        coefficients.check_rows("c", self.c.iter().map(|row| row.len()))?;
        let part = |name: &'static str| Argument::new("tableau").key(name);
        if !(self.gamma > 0.0 && self.gamma.is_finite()) {
            return Err(Error::input(part("gamma"), self.gamma, "must be positive and finite"));
        }
        let of = |row: &'static [f64]| row.iter().zip(self.gamma_sums).map(|(x, sum)| x * sum);
        for i in 0..self.stages() {
            coefficients.check_sum(part("a").at(i), of(self.a[i]), self.alpha[i])?;
            let whole = [self.gamma_sums[i] / self.gamma].into_iter();
            coefficients.check_sum(part("c").at(i), whole.chain(of(self.c[i]).map(|x| -x)), 1.0)?;
        }
        coefficients.check_sum(part("m"), of(self.m), 1.0)?;
        coefficients.check_sum(part("e"), of(self.e), 0.0)?;
        coefficients.check_estimate(self.e.iter().all(|e| *e == 0.0), fixed_step)
    }

    /// True when stage `i` evaluates the right-hand side where the stage before did.
    pub fn repeats(&self, i: usize) -> bool {
        let row = |i: usize| self.a[i].iter().copied().chain(std::iter::repeat(0.0));
        i > 0
            && self.alpha[i] == self.alpha[i - 1]
            && row(i).zip(row(i - 1)).take(self.stages()).all(|(x, y)| x == y)
    }

    /// Evaluations of the right-hand side in one step, that at its start included.
    pub fn evaluations(&self) -> usize {
        (0..self.stages()).filter(|&i| !self.repeats(i)).count()
    }
}
