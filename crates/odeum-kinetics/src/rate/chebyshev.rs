//! Chebyshev: log₁₀ k = Σᵢ Σⱼ aᵢⱼ Tᵢ(T̃) Tⱼ(p̃), with T̃ linear in 1/T and p̃ in log p, both −1 to 1
//! over the table. Beyond the table the polynomial continues.

use odeum_core::Real;

use super::{Conditions, Constants};
use crate::mechanism;

/// All Chebyshev reactions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chebyshev {
    pub(crate) reaction: Vec<u32>,
    /// T̃ = scale / T + offset.
    pub(crate) temperature: Vec<[f64; 2]>,
    /// p̃ = scale · ln p + offset.
    pub(crate) pressure: Vec<[f64; 2]>,
    /// Rows and columns of each table, and where its coefficients begin.
    pub(crate) shape: Vec<[u32; 3]>,
    /// Coefficients times ln 10.
    pub(crate) coefficients: Vec<f64>,
}

impl Chebyshev {
    pub(crate) fn push(&mut self, reaction: usize, table: &mechanism::Chebyshev) {
        // −1 at the lower, 1 at the upper end.
        let map = |low: f64, high: f64| [2.0 / (high - low), -(high + low) / (high - low)];
        let (t, p) = (table.temperatures, table.pressures);
        self.reaction.push(reaction as u32);
        self.temperature.push(map(1.0 / t.0, 1.0 / t.1));
        self.pressure.push(map(p.0.ln(), p.1.ln()));
        let columns = table.coefficients.first().map_or(0, Vec::len);
        let first = self.coefficients.len();
        self.shape.push([table.coefficients.len() as u32, columns as u32, first as u32]);
        let rows = table.coefficients.iter().flatten();
        self.coefficients.extend(rows.map(|a| a * std::f64::consts::LN_10));
    }

    /// k of all reactions, and with `D` their derivatives; `dlnk_dlnp` from `first` on.
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        with: &Conditions<R>,
        first: usize,
        rates: &mut Constants<'_, R>,
    ) {
        for i in 0..self.reaction.len() {
            let [scale, offset] = self.temperature[i];
            let x = R::lit(scale).mul_add(with.at.recip, R::lit(offset));
            let [p_scale, p_offset] = self.pressure[i];
            let y = R::lit(p_scale).mul_add(with.ln_p, R::lit(p_offset));
            let [rows, columns, begin] = self.shape[i];
            let zero = R::lit(0.0);
            let (mut ln_k, mut by_x, mut by_y) = (zero, zero, zero);
            let mut outer = Recurrence::new();
            for row in 0..rows as usize {
                let (mut sum, mut slope) = (zero, zero);
                let mut inner = Recurrence::new();
                for column in 0..columns as usize {
                    let a =
                        R::lit(self.coefficients[begin as usize + row * columns as usize + column]);
                    sum = a.mul_add(inner.value, sum);
                    if D {
                        slope = a.mul_add(inner.slope, slope);
                    }
                    inner.advance::<D>(column, y);
                }
                ln_k = sum.mul_add(outer.value, ln_k);
                if D {
                    by_x = sum.mul_add(outer.slope, by_x);
                    by_y = slope.mul_add(outer.value, by_y);
                }
                outer.advance::<D>(row, x);
            }
            let r = self.reaction[i] as usize;
            rates.k[r] = ln_k.exp();
            if D {
                rates.dlnk[r] = -(by_x * R::lit(scale) * with.at.recip * with.at.recip);
                rates.dlnk_dlnp[first + i] = by_y * R::lit(p_scale);
            }
        }
    }
}

/// Tₙ(x) and its derivative, n = 0, 1, …
struct Recurrence<R> {
    value: R,
    slope: R,
    before: (R, R),
}

impl<R: Real> Recurrence<R> {
    #[inline(always)]
    fn new() -> Self {
        let (one, zero) = (R::lit(1.0), R::lit(0.0));
        Recurrence { value: one, slope: zero, before: (zero, zero) }
    }

    /// From Tₙ to Tₙ₊₁.
    #[inline(always)]
    fn advance<const D: bool>(&mut self, n: usize, x: R) {
        let (value, slope) = (self.value, self.slope);
        let twice = if n == 0 { x } else { x + x };
        self.value = if n == 0 { x } else { twice.mul_add(value, -self.before.0) };
        if D {
            let two = R::lit(if n == 0 { 1.0 } else { 2.0 });
            self.slope = twice.mul_add(slope, two * value) - self.before.1;
        }
        self.before = (value, slope);
    }
}
