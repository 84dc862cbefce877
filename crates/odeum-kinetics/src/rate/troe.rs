//! Troe's blending function (Gilbert, Luther & Troe 1983).
//!
//! log₁₀ F = L / (1 + f²), L = log₁₀ Fc, f = (log₁₀ Pr + c) / (n − 0.14 (log₁₀ Pr + c)),
//! c = −0.4 − 0.67 L, n = 0.75 − 1.27 L, Fc = (1 − a) exp(−T/T***) + a exp(−T/T*) + exp(−T**/T).

use odeum_core::Real;

use super::blend::{Blend, TINY};
use crate::thermo::Temperature;

/// A time constant below this makes exp(−T/θ) vanish at every temperature of interest, and one
/// above its reciprocal makes it 1: neither exponential nor derivative is then computed, which
/// would overflow for the 1e−30 and 1e30 by which files switch terms off.
const NEVER: f64 = 1e-20;

/// Parameters of each reaction. Fc is a constant, terms w exp(−T/θ), and terms exp(−θ/T).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Troe {
    pub(crate) constant: Vec<f64>,
    /// Terms of the i-th reaction: starts\[i\]..starts\[i + 1\].
    pub(crate) starts: Vec<u32>,
    pub(crate) weight: Vec<f64>,
    /// 1/θ of w exp(−T/θ); 0 where the term is exp(−θ/T).
    pub(crate) rate: Vec<f64>,
    /// θ of exp(−θ/T); 0 where the term is w exp(−T/θ).
    pub(crate) theta: Vec<f64>,
}

impl Troe {
    pub(crate) fn push(&mut self, a: f64, t3: f64, t1: f64, t2: Option<f64>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let mut constant = 0.0;
        for (weight, theta) in [(1.0 - a, t3), (a, t1)] {
            if theta.abs() >= 1.0 / NEVER {
                constant += weight;
            } else if theta.abs() > NEVER && weight != 0.0 {
                self.weight.push(weight);
                self.rate.push(1.0 / theta);
                self.theta.push(0.0);
            }
        }
        match t2 {
            Some(theta) if theta.abs() < 1.0 / NEVER => {
                self.weight.push(1.0);
                self.rate.push(0.0);
                self.theta.push(theta);
            }
            _ => {}
        }
        self.constant.push(constant);
        self.starts.push(self.weight.len() as u32);
    }

    /// Number of exponential terms of all reactions.
    pub(crate) fn n_terms(&self) -> usize {
        self.weight.len()
    }

    /// The exponential terms of all reactions: in a loop of their own, where none waits for
    /// another, and no reaction for its number of them.
    #[inline(always)]
    pub(crate) fn terms<R: Real>(&self, at: &Temperature<R>, terms: &mut [R]) {
        let n = self.weight.len();
        let (weight, rate, theta) = (&self.weight[..n], &self.rate[..n], &self.theta[..n]);
        let terms = &mut terms[..n];
        for j in 0..n {
            // One of the two is zero.
            let exponent = R::lit(rate[j]).mul_add(at.t, R::lit(theta[j]) * at.recip);
            terms[j] = R::lit(weight[j]) * (-exponent).exp();
        }
    }

    /// F of the i-th reaction from the terms of all.
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        i: usize,
        at: &Temperature<R>,
        terms: &[R],
        log10_pr: R,
    ) -> Blend<R> {
        let (mut centre, mut slope) = (R::lit(self.constant[i]), R::lit(0.0));
        for j in self.starts[i] as usize..self.starts[i + 1] as usize {
            let term = terms[j];
            centre = centre + term;
            if D {
                let rate =
                    (R::lit(self.theta[j]) * at.recip).mul_add(at.recip, -R::lit(self.rate[j]));
                slope = term.mul_add(rate, slope);
            }
        }
        broaden::<R, D>(centre, slope, log10_pr)
    }
}

/// F of Troe's width for a centre Fc and its derivative with respect to T.
#[inline(always)]
pub(crate) fn broaden<R: Real, const D: bool>(centre: R, slope: R, log10_pr: R) -> Blend<R> {
    let log10_e = R::lit(std::f64::consts::LOG10_E);
    let clipped = centre.lt(R::lit(TINY));
    let safe = R::select(clipped, R::lit(TINY), centre);
    let l = safe.ln() * log10_e;
    let x = log10_pr - R::lit(0.67).mul_add(l, R::lit(0.4));
    let n = R::lit(0.75) - R::lit(1.27) * l;
    // 1/(1 + f²) with f = x/d.
    let d = n - R::lit(0.14) * x;
    let d_squared = d * d;
    let width = d_squared / x.mul_add(x, d_squared);
    let log10_f = l * width;
    let f = (log10_f * R::lit(std::f64::consts::LN_10)).exp();
    if !D {
        return Blend { f, dlnf_dt: R::lit(0.0), phi: R::lit(0.0) };
    }
    let recip = d.recip();
    let f1 = x * recip;
    // d log₁₀F / df₁, and df₁ with respect to log₁₀ Pr and to L.
    let by_f1 = R::lit(-2.0) * log10_f * f1 * width;
    let f1_by_pr = n * recip * recip;
    let f1_by_l = (R::lit(1.1762) * f1 - R::lit(0.67)) * recip;
    let by_l = by_f1.mul_add(f1_by_l, width);
    let dlnf_dt = by_l * R::select(clipped, R::lit(0.0), slope) / safe;
    Blend { f, dlnf_dt, phi: by_f1 * f1_by_pr }
}
