//! Tsang's blending function: Troe's with a centre linear in T (Tsang & Herron 1991).

use odeum_core::Real;

use super::blend::Blend;
use super::troe::broaden;
use crate::thermo::Temperature;

/// Fc = a + b T of each reaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tsang {
    pub(crate) a: Vec<f64>,
    pub(crate) b: Vec<f64>,
}

impl Tsang {
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        i: usize,
        at: &Temperature<R>,
        log10_pr: R,
    ) -> Blend<R> {
        let slope = R::lit(self.b[i]);
        broaden::<R, D>(slope.mul_add(at.t, R::lit(self.a[i])), slope, log10_pr)
    }
}
