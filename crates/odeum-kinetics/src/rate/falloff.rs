//! Rate constants between a low-pressure and a high-pressure limit.
//!
//! With Pr = k₀ X / k∞ and the blending function F, k = k₀ X F / (1 + Pr), which is k∞ F Pr /
//! (1 + Pr) without the division by a k∞ that may vanish; of a chemically activated reaction
//! k = k₀ F / (1 + Pr). With φ = ∂ ln F/∂ ln Pr,
//!
//! - ∂ ln k/∂T = d ln k₀/dT + (φ − Pr/(1 + Pr)) d ln(k₀/k∞)/dT + ∂ ln F/∂T
//! - ∂k/∂X = k₀ F / (1 + Pr) · (φ + 1/(1 + Pr)), finite at X = 0.
//!
//! ln Pr is ln X, which reactions with the same colliders share, and the difference of two ln k,
//! linear in ln T and 1/T: no reaction takes a logarithm of its own Pr. ln X stops at X = 1e−300.
//! Elsewhere X is taken as it is, though a solver may have made
//! it slightly negative, so that k stays differentiable in zero.

use odeum_core::Real;

use super::blend::{Blend, TINY};
use super::third_body::ThirdBodies;
use super::{Conditions, Constants, sri::Sri, troe::Troe, tsang::Tsang};
use crate::mechanism::Arrhenius;

/// Falloff reactions with the same form of F, one after the other among the reactions with a third
/// body.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FalloffTable {
    /// Number of the first among the reactions with a third body.
    pub(crate) first: usize,
    /// Where k₀ of each reaction stands.
    pub(crate) low: Vec<u32>,
    /// Chemically activated.
    pub(crate) activated: Vec<bool>,
    /// ln (k₀/k∞) of each reaction: a constant, and coefficients of ln T and of −1/T.
    pub(crate) ln_ratio: Vec<[f64; 3]>,
}

/// All falloff reactions by the form of F.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Falloffs {
    pub(crate) lindemann: FalloffTable,
    pub(crate) troe: FalloffTable,
    pub(crate) troe_blending: Troe,
    pub(crate) sri: FalloffTable,
    pub(crate) sri_blending: Sri,
    pub(crate) tsang: FalloffTable,
    pub(crate) tsang_blending: Tsang,
}

impl Falloffs {
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        with: &Conditions<R>,
        bodies: &ThirdBodies,
        rates: &mut Constants<'_, R>,
    ) {
        let unity = Blend { f: R::lit(1.0), dlnf_dt: R::lit(0.0), phi: R::lit(0.0) };
        for i in 0..self.lindemann.low.len() {
            let (case, r) = self.lindemann.case(i, with, bodies, rates);
            case.finish::<D>(unity, r, rates);
        }
        self.troe_blending.terms(&with.at, rates.terms);
        for i in 0..self.troe.low.len() {
            let (case, r) = self.troe.case(i, with, bodies, rates);
            let blend =
                self.troe_blending.evaluate::<R, D>(i, &with.at, rates.terms, case.log10_pr);
            case.finish::<D>(blend, r, rates);
        }
        for i in 0..self.sri.low.len() {
            let (case, r) = self.sri.case(i, with, bodies, rates);
            let blend = self.sri_blending.evaluate::<R, D>(i, &with.at, case.log10_pr);
            case.finish::<D>(blend, r, rates);
        }
        for i in 0..self.tsang.low.len() {
            let (case, r) = self.tsang.case(i, with, bodies, rates);
            let blend = self.tsang_blending.evaluate::<R, D>(i, &with.at, case.log10_pr);
            case.finish::<D>(blend, r, rates);
        }
    }
}

/// One reaction at one state.
struct Case<R> {
    /// Number among the reactions with a third body.
    number: usize,
    activated: bool,
    k0: R,
    dlnk0: R,
    /// d ln k∞/dT.
    dlnk_high: R,
    x: R,
    /// 1/(1 + Pr).
    fraction: R,
    /// k₀/(k∞ (1 + Pr)).
    turn: R,
    log10_pr: R,
}

impl FalloffTable {
    pub(crate) fn push(&mut self, low: usize, activated: bool, k0: &Arrhenius, high: &Arrhenius) {
        self.low.push(low as u32);
        self.activated.push(activated);
        self.ln_ratio.push([(k0.a / high.a).ln(), k0.b - high.b, k0.ta - high.ta]);
    }

    /// The i-th reaction of the table and its index.
    #[inline(always)]
    fn case<R: Real>(
        &self,
        i: usize,
        with: &Conditions<R>,
        bodies: &ThirdBodies,
        rates: &Constants<'_, R>,
    ) -> (Case<R>, usize) {
        let number = self.first + i;
        let (r, low) = (bodies.reaction[number] as usize, self.low[i] as usize);
        let set = bodies.set[number] as usize;
        let (x, k0) = (rates.x[set], rates.k[low]);
        let high = rates.k[r] + R::lit(TINY);
        let recip = k0.mul_add(x, high).recip();
        let [constant, b, ta] = self.ln_ratio[i];
        let ratio = R::lit(b).mul_add(with.at.ln, R::lit(constant)) - R::lit(ta) * with.at.recip;
        let case = Case {
            number,
            activated: self.activated[i],
            k0,
            dlnk0: rates.dlnk[low],
            dlnk_high: rates.dlnk[r],
            x,
            fraction: high * recip,
            turn: k0 * recip,
            log10_pr: (ratio + rates.ln_x[set]) * R::lit(std::f64::consts::LOG10_E),
        };
        (case, r)
    }
}

impl<R: Real> Case<R> {
    #[inline(always)]
    fn finish<const D: bool>(self, blend: Blend<R>, r: usize, rates: &mut Constants<'_, R>) {
        let base = self.k0 * blend.f * self.fraction;
        rates.k[r] = if self.activated { base } else { base * self.x };
        if D {
            // Below the smallest X a logarithm is taken of, F does not depend on X.
            let low = self.x.lt(R::lit(TINY));
            let phi = R::select(low, R::lit(0.0), blend.phi);
            let change = self.dlnk0 - self.dlnk_high;
            let slope = blend.phi - self.turn * self.x;
            rates.dlnk[r] = slope.mul_add(change, self.dlnk0) + blend.dlnf_dt;
            rates.dk_dx[self.number] = if self.activated {
                let safe = R::select(low, R::lit(1.0), self.x);
                base * (phi / safe - self.turn)
            } else {
                base * (phi + self.fraction)
            };
        }
    }
}
