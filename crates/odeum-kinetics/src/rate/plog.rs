//! PLOG: ln k linear in ln p between tabulated pressures, constant beyond them.

use odeum_core::Real;

use super::{Conditions, Constants};
use crate::mechanism::{Arrhenius, PlogPoint};
use crate::thermo::Temperature;

/// All PLOG reactions. A pressure with one positive expression has its logarithm directly; a sum
/// of several is summed first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plog {
    pub(crate) reaction: Vec<u32>,
    /// Points of the i-th reaction: starts\[i\]..starts\[i + 1\].
    pub(crate) starts: Vec<u32>,
    /// ln p of each point.
    pub(crate) ln_p: Vec<f64>,
    /// 1 / (difference of ln p to the point before); 0 at the first of a table.
    pub(crate) recip_step: Vec<f64>,
    /// Expressions of each point, as `starts`.
    pub(crate) terms: Vec<u32>,
    pub(crate) a: Vec<f64>,
    /// ln A of a single expression.
    pub(crate) ln_a: Vec<f64>,
    pub(crate) b: Vec<f64>,
    pub(crate) ta: Vec<f64>,
}

impl Plog {
    pub(crate) fn push(&mut self, reaction: usize, points: &[PlogPoint]) {
        if self.starts.is_empty() {
            self.starts.push(0);
            self.terms.push(0);
        }
        self.reaction.push(reaction as u32);
        let mut before: Option<f64> = None;
        for point in points {
            let ln_p = point.pressure.ln();
            self.ln_p.push(ln_p);
            self.recip_step.push(before.map_or(0.0, |before| 1.0 / (ln_p - before)));
            before = Some(ln_p);
            for &Arrhenius { a, b, ta } in &point.rates {
                self.a.push(a);
                self.ln_a.push(a.ln());
                self.b.push(b);
                self.ta.push(ta);
            }
            self.terms.push(self.a.len() as u32);
        }
        self.starts.push(self.ln_p.len() as u32);
    }

    /// k of all reactions, and with `D` their derivatives.
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        with: &Conditions<R>,
        rates: &mut Constants<'_, R>,
    ) {
        let zero = R::lit(0.0);
        for i in 0..self.reaction.len() {
            let (mut ln_k, mut dlnk_dt, mut dlnk_dlnp) = (zero, zero, zero);
            let mut before = (zero, zero);
            for j in self.starts[i] as usize..self.starts[i + 1] as usize {
                let here = self.point::<R, D>(j, &with.at);
                if j == self.starts[i] as usize {
                    (ln_k, dlnk_dt) = here;
                } else {
                    let recip = R::lit(self.recip_step[j]);
                    // How far p is from the point before to this one; beyond this one the next
                    // interval, or the constant end, takes over.
                    let past = with.ln_p.gt(R::lit(self.ln_p[j - 1]));
                    let beyond = with.ln_p.ge(R::lit(self.ln_p[j]));
                    let way = (with.ln_p - R::lit(self.ln_p[j - 1])) * recip;
                    let inside = way.mul_add(here.0 - before.0, before.0);
                    ln_k = R::select(past, R::select(beyond, here.0, inside), ln_k);
                    if D {
                        let slope = (here.0 - before.0) * recip;
                        let inside = way.mul_add(here.1 - before.1, before.1);
                        dlnk_dt = R::select(past, R::select(beyond, here.1, inside), dlnk_dt);
                        dlnk_dlnp = R::select(past, R::select(beyond, zero, slope), dlnk_dlnp);
                    }
                }
                before = here;
            }
            let r = self.reaction[i] as usize;
            rates.k[r] = ln_k.exp();
            if D {
                rates.dlnk[r] = dlnk_dt;
                rates.dlnk_dlnp[i] = dlnk_dlnp;
            }
        }
    }

    /// ln k and d ln k/dT at the j-th pressure.
    #[inline(always)]
    fn point<R: Real, const D: bool>(&self, j: usize, at: &Temperature<R>) -> (R, R) {
        let (first, end) = (self.terms[j] as usize, self.terms[j + 1] as usize);
        if end == first + 1 {
            let (b, ta) = (R::lit(self.b[first]), R::lit(self.ta[first]));
            let ln_k = b.mul_add(at.ln, R::lit(self.ln_a[first])) - ta * at.recip;
            return (ln_k, ta.mul_add(at.recip, b) * at.recip);
        }
        let (mut sum, mut slope) = (R::lit(0.0), R::lit(0.0));
        for term in first..end {
            let (b, ta) = (R::lit(self.b[term]), R::lit(self.ta[term]));
            let k = R::lit(self.a[term]) * b.mul_add(at.ln, -(ta * at.recip)).exp();
            sum = sum + k;
            if D {
                slope = (k * at.recip).mul_add(ta.mul_add(at.recip, b), slope);
            }
        }
        (sum.ln(), if D { slope / sum } else { slope })
    }
}
