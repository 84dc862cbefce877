//! Functions of hJ as polynomials in one resolvent.
//!
//! x = (1 + γ(z − s))/(1 − γ(z − s)) takes the half line z ≤ s to −1 < x ≤ 1. What is bounded and
//! smooth there is a series Σ aₖTₖ(x) of Chebyshev polynomials. Of a function g that decays as 1/z, as
//! φₖ does, this is (1/γ + s − z) g(z), and so the action of g on a vector is
//!
//! h g(hJ) v = Σ aₖTₖ(X)u,  u = (σI − J)⁻¹v,
//! X = 2 (I − γ(hJ − sI))⁻¹ − I = 2/(γh) (σI − J)⁻¹ − I,  σ = (1/γ + s)/h:
//!
//! one factorisation of a real matrix, and one solution for each term. (A series of g itself is zero at
//! x = −1 but for roundings. Where hλ is beyond one over a rounding, so are these times hv: what has
//! decayed would grow.) The best polynomials
//! converge to exp z as 2.41⁻ᵏ when γ suits the degree k (Nørsett, SIAM J. Numer. Anal. 15 (1978)
//! 1008; Andersson, J. Approx. Theory 32 (1981) 85; of matrices van den Eshof & Hochbruck, SIAM J.
//! Sci. Comput. 27 (2006) 1438). With γ = 1/24 and s = 1 the degrees 16, 21 and 30 leave 1e-6, 1e-8
//! and 1e-12, and perturbations that grow by up to e in a step are within the half line.
//!
//! Off the real axis Tₖ grows, near x = ±i as fast as the coefficients fall. The last terms of the
//! series show it in each lane, and are the estimate of what is left out.

use super::phi::phi;
use super::tableau::{Function, Term};
use crate::linalg::{Lu, Solve, Symbolic};
use crate::tolerance::Weights;
use odeum_core::Lanes;
use odeum_core::real::Outlined;
use std::f64::consts::PI;

/// 1/γ.
pub(super) const INVERSE_GAMMA: f64 = 24.0;
/// s, the right end of the half line.
const END: f64 = 1.0;
/// 1/γ + s = σh: growth with this hλ is where the resolvent has its pole.
pub(super) const SHIFT: f64 = INVERSE_GAMMA + END;
/// Most terms of a series: coefficients beyond are below 1e-16.
pub(super) const TERMS: usize = 48;
/// Points at which functions are sampled: what they alias to is below 1e-16 as well.
const POINTS: usize = 64;
/// What a series may leave out, in the norm of the tolerance, where a step may err by 1.
pub(super) const ENOUGH: f64 = 0.01;

/// What series for f may leave out of themselves at least, whatever the tolerance: what is below
/// the tolerance must grow at its own rate, so that ignitions come in time.
const ROUGHLY: f64 = 1e-4;

/// The series of the functions that act on one vector.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    /// Number of the sum that a function g adds to, and the coefficients of (σh − z) g(z) [TERMS].
    pub(super) series: Vec<(usize, Vec<f64>)>,
    /// The largest coefficient of any series from each degree on [TERMS].
    pub(super) majorant: Vec<f64>,
    /// Terms that are taken whatever the tolerance.
    pub(super) least: usize,
}

impl Expansion {
    /// Of the functions that add to the sums 0, 1, …; an empty one adds nothing. `of_slope`: they
    /// act on f.
    pub(super) fn new(functions: &[Function], of_slope: bool) -> Self {
        let wanted = functions.iter().enumerate().filter(|(_, function)| !function.is_empty());
        let series: Vec<_> = wanted.map(|(sum, function)| (sum, coefficients(function))).collect();
        let mut majorant = vec![0.0_f64; TERMS];
        let mut largest = 0.0_f64;
        for k in (0..TERMS).rev() {
            largest = series.iter().map(|(_, a)| a[k].abs()).fold(largest, f64::max);
            majorant[k] = largest;
        }
        let rough = ROUGHLY * largest;
        let least = majorant.iter().take_while(|a| of_slope && **a > rough).count();
        Expansion { series, majorant, least }
    }
}

/// Chebyshev coefficients of (σh − z) g(z) in x, by interpolation at the zeros of a Chebyshev polynomial.
fn coefficients(function: Function) -> Vec<f64> {
    let cosine = |m: usize| (m as f64 * PI / (2 * POINTS) as f64).cos();
    let cosines: Vec<f64> = (0..4 * POINTS).map(cosine).collect();
    let sample = |i: usize| {
        let x = cosines[2 * i + 1];
        let z = END + INVERSE_GAMMA * (x - 1.0) / (x + 1.0);
        let value = |term: &Term| term.weight * phi(term.k, term.scale * z);
        (SHIFT - z) * function.iter().map(value).sum::<f64>()
    };
    let samples: Vec<f64> = (0..POINTS).map(sample).collect();
    let coefficient = |k: usize| {
        let products = samples.iter().enumerate();
        let sum: f64 = products.map(|(i, g)| g * cosines[k * (2 * i + 1) % (4 * POINTS)]).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / POINTS as f64
    };
    (0..TERMS).map(coefficient).collect()
}

/// Adds h g(hJ̃)(v, τ) to sums, for the functions g of an expansion, where J̃ is the Jacobian of the
/// system together with t' = 1, as autonomous systems have it; its last row is zero.
pub(super) struct Expand<'a, L: Lanes> {
    pub(super) expansion: &'a Expansion,
    pub(super) symbolic: &'a Symbolic,
    /// Factors of σI − J with σ = [`SHIFT`]/h.
    pub(super) lu: &'a mut Lu<L, L>,
    pub(super) h: L,
    /// v \[n\].
    pub(super) vector: &'a [L],
    /// ∂f/∂t \[n\] where τ is 1; without it τ is zero.
    pub(super) dfdt: Option<&'a [L]>,
    pub(super) weights: &'a Weights<L>,
    pub(super) inverse_scales: &'a [L],
    /// Three polynomials \[n\] each.
    pub(super) polynomials: &'a mut [Vec<L>; 3],
    /// The sums \[n\] one after the other.
    pub(super) sums: &'a mut [L],
    /// The lanes to do.
    pub(super) open: L::Mask,
    /// Norm of what the series leave out; to be added to.
    pub(super) rest: &'a mut L,
}

impl<L: Lanes> Outlined for Expand<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Expand { expansion, symbolic, lu, h, vector, dfdt, .. } = self;
        let Expand { weights, inverse_scales, polynomials, sums, mut open, rest, .. } = self;
        let n = vector.len();
        let zero = L::lit(0.0);
        let (step_over_shift, one) = (h * L::lit(1.0 / SHIFT), L::lit(1.0));
        let [before, now, next] = polynomials;
        now.copy_from_slice(vector);
        before.fill(zero);
        // The last component of Tₖ(X̃)ũ; first (v, τ) itself.
        let (mut time_before, mut time) = (zero, one);
        let (mut left, mut was_large) = (zero, zero.eq(zero));
        for k in 0..TERMS {
            // X itself for k = 1; 2X less the polynomial before for those that follow.
            let less = L::lit(k.min(2) as f64);
            let by = if k == 0 { one } else { L::lit(2.0 * INVERSE_GAMMA) / h * less };
            for i in 0..n {
                next[i] = now[i] * by;
            }
            if let Some(dfdt) = dfdt {
                let along = time * (by * step_over_shift);
                for i in 0..n {
                    next[i] = dfdt[i].mul_add(along, next[i]);
                }
                let time_next = along - less.mul_add(time, time_before);
                (time_before, time) = (if k == 0 { zero } else { time }, time_next);
            }
            L::outline(Solve { symbolic, lu: &mut *lu, x: &mut *next });
            for i in 0..n {
                next[i] = next[i] - less.mul_add(now[i], before[i]);
            }
            std::mem::swap(before, now);
            std::mem::swap(now, next);
            if k == 0 {
                before.fill(zero);
            }
            let all_open = L::bits(!open) == 0;
            for (sum, a) in &expansion.series {
                let a = L::lit(a[k]);
                let sum = &mut sums[sum * n..(sum + 1) * n];
                if all_open {
                    for i in 0..n {
                        sum[i] = now[i].mul_add(a, sum[i]);
                    }
                } else {
                    for i in 0..n {
                        sum[i] = L::select(open, now[i].mul_add(a, sum[i]), sum[i]);
                    }
                }
            }
            let term = weights.norm_of(&now[..n], inverse_scales, expansion.majorant[k]);
            left = L::select(open, term, left);
            // NaN is not large: such a lane is done, and says so by what is left.
            let large = term.gt(L::lit(ENOUGH));
            if k >= expansion.least {
                open = open & (large | was_large);
                if L::bits(open) == 0 {
                    break;
                }
            }
            was_large = large;
        }
        *rest = *rest + left;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tables::ALL;
    use super::*;

    /// (σh − z) g(z) for each function of the methods, on the half line, to 1e-13 of itself at zero.
    #[test]
    fn series_are_the_functions_on_the_half_line() {
        let functions = ALL.iter().flat_map(|m| (0..3).flat_map(|j| m.functions_of(j)));
        for function in functions.filter(|function| !function.is_empty()) {
            let a = coefficients(function);
            let size: f64 = function.iter().map(|t| t.weight.abs() * phi(t.k, 0.0)).sum();
            let size = SHIFT * size;
            for z in [1.0, 0.4, 0.0, -0.1, -2.0, -11.0, -60.0, -900.0, -1e7] {
                let u = (z - END) / INVERSE_GAMMA;
                let x = (1.0 + u) / (1.0 - u);
                let (mut before, mut now, mut sum) = (1.0, x, a[0] + a[1] * x);
                for a in &a[2..] {
                    (before, now) = (now, 2.0 * x * now - before);
                    sum += a * now;
                }
                let exact: f64 = function.iter().map(|t| t.weight * phi(t.k, t.scale * z)).sum();
                let exact = (SHIFT - z) * exact;
                assert!((sum - exact).abs() < 1e-13 * size, "{function:?} at {z}: {sum} {exact}");
            }
        }
    }

    #[test]
    fn coefficients_fall_as_they_should() {
        const PHI: Function = &[Term { k: 1, scale: 1.0, weight: 1.0 }];
        let Expansion { majorant, least, .. } = Expansion::new(&[&[], PHI], true);
        assert!((9..13).contains(&least), "{least}");
        for (k, most) in [(16, 1e-6), (21, 1e-8), (30, 1e-12), (47, 1e-15)] {
            // In parts of the function at zero, which is the shift.
            assert!(majorant[k] < most * SHIFT, "{k}: {:e}", majorant[k]);
        }
    }
}
