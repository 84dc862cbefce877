//! The spectral radius of ∂f/∂y by a nonlinear power method, on a pack of lanes.
//!
//! From a direction v the iteration repeats v ← y + δ (f(v) − f(y)) / |f(v) − f(y)| at a small
//! fixed distance δ from y; the growth |f(v) − f(y)| / δ settles at the largest |λ|. Sommeijer,
//! Shampine & Verwer 1998, sec. 3.2; Niemeyer & Sung 2014, appendix, whose test of convergence compares with a
//! value already overwritten: here it is |σ − σ_old| ≤ 0.01 max(σ, 1/h), as SSV have it.

use super::Rkc;
use crate::method::rhs::Rhs;
use crate::method::stepper::{Cost, Point, set_bits};
use crate::tolerance::{largest, underflow};
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// The estimate is enlarged by this, since the iteration comes from below.
pub(crate) const MARGIN: f64 = 1.2;
/// Relative change between two iterations at which the estimate stands.
pub(crate) const SETTLED: f64 = 0.01;

pub(crate) struct PowerMethod<L: Lanes> {
    /// The direction found last \[n\], the start of the next estimate.
    direction: Vec<L>,
    /// Point of the iteration and f there \[n\].
    v: Vec<L>,
    fv: Vec<L>,
}

impl<L: Lanes> PowerMethod<L> {
    pub(crate) fn new(n: usize) -> Self {
        let zeros = || vec![L::lit(0.0); n];
        PowerMethod { direction: zeros(), v: zeros(), fv: zeros() }
    }

    /// Starts from the slope in the lanes of `restarted`.
    #[inline(always)]
    pub(crate) fn forget(&mut self, slope: &[L], restarted: L::Mask) {
        for i in 0..slope.len() {
            self.direction[i] = L::select(restarted, slope[i], self.direction[i]);
        }
    }
}

/// One estimate of σ, kept out of line: it is long, asked for in two places, and seldom.
pub(crate) struct Estimation<'a, L: Lanes, F: ?Sized> {
    pub(crate) power: &'a mut PowerMethod<L>,
    pub(crate) system: &'a F,
    pub(crate) at: &'a Point<'a, L>,
    /// f at the point \[n\].
    pub(crate) slope: &'a [L],
    /// Length of the longest step there can be.
    pub(crate) longest: L,
    /// The lanes that ask; the others keep their σ.
    pub(crate) wanted: L::Mask,
    /// σ, where it is found.
    pub(crate) radius: &'a mut L,
    /// The lanes in which the iteration did not settle.
    pub(crate) failed: &'a mut L::Mask,
    pub(crate) work: &'a mut [L],
    pub(crate) cost: &'a mut Cost,
}

impl<L: Lanes, F: Rhs<L> + ?Sized> Outlined for Estimation<'_, L, F> {
    #[inline(always)]
    fn run(self) {
        let Estimation { system, at, slope, wanted, cost, .. } = self;
        let PowerMethod { direction, v, fv } = self.power;
        let n = at.y.len();
        let zero = L::lit(0.0);
        let epsilon = L::lit(L::Scalar::EPSILON);
        let root_epsilon = L::lit(L::Scalar::EPSILON.sqrt());

        let y_norm = euclid(n, |i| at.y[i]);
        let d_norm = euclid(n, |i| direction[i]);
        let (has_y, has_d) = (y_norm.gt(zero), d_norm.gt(zero));
        let distance = L::select(has_y, y_norm * root_epsilon, epsilon);
        let stretch = L::select(has_d, distance / d_norm, zero);
        for i in 0..n {
            let along = direction[i].mul_add(stretch, at.y[i]);
            let blind = L::select(has_y, at.y[i].mul_add(root_epsilon, at.y[i]), epsilon);
            v[i] = L::select(has_d, along, blind);
        }
        let least = L::lit(1.0) / self.longest;
        let (mut sigma, mut open) = (zero, wanted);
        for iteration in 1..=Rkc::POWER_ITERATIONS {
            let point = Point { t: at.t, y: &v[..n], p: at.p };
            system.slope(&point, &mut fv[..n], self.work);
            for lane in set_bits(L::bits(open)) {
                cost.nfev[lane] += 1;
                cost.nfev_radius[lane] += 1;
            }
            let change = euclid(n, |i| fv[i] - slope[i]);
            let before = sigma;
            sigma = L::select(open, change / distance, sigma);
            if iteration >= 2 {
                let near = L::lit(SETTLED) * largest(sigma, least);
                let settled = open & (sigma - before).abs().le(near);
                for i in 0..n {
                    direction[i] = L::select(settled, v[i] - at.y[i], direction[i]);
                }
                open = open & !settled;
                if L::bits(open) == 0 {
                    break;
                }
            }
            // A direction f does not feel is left by mirroring one component.
            let moves = change.gt(zero);
            let stretch = L::select(moves, distance / change, zero);
            let mirrored = iteration as usize % n;
            for i in 0..n {
                let along = (fv[i] - slope[i]).mul_add(stretch, at.y[i]);
                let still = if i == mirrored { at.y[i] - (v[i] - at.y[i]) } else { v[i] };
                v[i] = L::select(open, L::select(moves, along, still), v[i]);
            }
        }
        *self.radius = L::select(wanted, sigma * L::lit(MARGIN), *self.radius);
        *self.failed = open;
    }
}

/// The power of two, far below one, that numbers are multiplied by whose squares overflow; those whose squares vanish
/// are divided by it.
pub(crate) fn reduction<S: Scalar>() -> f64 {
    S::MIN_POSITIVE.sqrt() * S::EPSILON
}

/// Euclidean norm of a vector of n components.
#[inline(always)]
fn euclid<L: Lanes>(n: usize, x: impl Fn(usize) -> L) -> L {
    let squares = |unit: L| {
        let mut sum = L::lit(0.0);
        for i in 0..n {
            let x = x(i) * unit;
            sum = x.mul_add(x, sum);
        }
        sum
    };
    let one = L::lit(1.0);
    let plain = squares(one);
    let large = plain.eq(L::lit(f64::INFINITY));
    let small = plain.lt(L::lit(underflow::<L::Scalar>()));
    if L::bits(large | small) == 0 {
        return plain.sqrt();
    }
    let reduction = L::lit(reduction::<L::Scalar>());
    let unit = L::select(large, reduction, L::select(small, reduction.recip(), one));
    squares(unit).sqrt() / unit
}
