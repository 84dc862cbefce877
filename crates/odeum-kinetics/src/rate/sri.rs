//! The SRI blending function (Stewart, Larson & Golden 1989):
//! F = d T^e (a exp(−b/T) + exp(−T/c))^ξ, ξ = 1 / (1 + log₁₀² Pr).

use odeum_core::Real;

use super::blend::{Blend, TINY};
use crate::thermo::Temperature;

/// Parameters of each reaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sri {
    pub(crate) a: Vec<f64>,
    pub(crate) b: Vec<f64>,
    /// 1/c; the term is absent where c is 0, which `present` then says with 0.
    pub(crate) rate: Vec<f64>,
    pub(crate) present: Vec<f64>,
    pub(crate) d: Vec<f64>,
    pub(crate) e: Vec<f64>,
}

impl Sri {
    pub(crate) fn push(&mut self, a: f64, b: f64, c: f64, d: f64, e: f64) {
        let present = c != 0.0;
        self.a.push(a);
        self.b.push(b);
        self.rate.push(if present { 1.0 / c } else { 0.0 });
        self.present.push(if present { 1.0 } else { 0.0 });
        self.d.push(d);
        self.e.push(e);
    }

    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        i: usize,
        at: &Temperature<R>,
        log10_pr: R,
    ) -> Blend<R> {
        let activated = R::lit(self.a[i]) * (-(R::lit(self.b[i]) * at.recip)).exp();
        let decaying = R::lit(self.present[i]) * (-(R::lit(self.rate[i]) * at.t)).exp();
        let sum = activated + decaying;
        let clipped = sum.lt(R::lit(TINY));
        let safe = R::select(clipped, R::lit(TINY), sum);
        let ln_sum = safe.ln();
        let xi = log10_pr.mul_add(log10_pr, R::lit(1.0)).recip();
        let e = R::lit(self.e[i]);
        let f = R::lit(self.d[i]) * e.mul_add(at.ln, ln_sum * xi).exp();
        if !D {
            return Blend { f, dlnf_dt: R::lit(0.0), phi: R::lit(0.0) };
        }
        let slope =
            activated * R::lit(self.b[i]) * at.recip * at.recip - decaying * R::lit(self.rate[i]);
        let slope = R::select(clipped, R::lit(0.0), slope);
        let dlnf_dt = xi.mul_add(slope / safe, e * at.recip);
        // d ln F / d log₁₀ Pr, and then per d ln Pr.
        let by_log10 = R::lit(-2.0) * log10_pr * xi * xi * ln_sum;
        Blend { f, dlnf_dt, phi: by_log10 * R::lit(std::f64::consts::LOG10_E) }
    }
}
