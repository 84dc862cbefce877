//! The spectral radius of ∂f/∂y by a nonlinear power method, on a pack of lanes.
//!
//! From a direction v the iteration repeats v ← y + δ (f(v) − f(y)) / |f(v) − f(y)| at a small
//! fixed distance δ from y; the growth |f(v) − f(y)| / δ settles at the largest |λ|. Sommeijer,
//! Shampine & Verwer 1998, sec. 3.2; Niemeyer & Sung 2014, appendix, whose test of convergence compares with a
//! value already overwritten: here it is |σ − σ_old| ≤ 0.01 max(σ, 1/h), as SSV have it.
//!
//! Theirs begins with f(y), or with the direction found last. A component that is zero in it, and that no other one
//! moves, stays zero: its stiffness is never seen. Here each estimate begins with a part of every component.

use super::Rkc;
use crate::method::rhs::Rhs;
use crate::method::stepper::{Cost, Point, set_bits};
use crate::tolerance::{Weights, largest, underflow};
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// The estimate is enlarged by this, since the iteration comes from below.
pub(crate) const MARGIN: f64 = 1.2;
/// Relative change between two iterations at which the estimate stands.
pub(crate) const SETTLED: f64 = 0.01;
/// Iterations before it can stand. The first begins at another distance than δ, and stiffness in a small part of it shows later.
pub(crate) const LEAST_ITERATIONS: u32 = 3;
/// Roundings of f times the length of the span: the distance where neither the state nor a tolerance gives one.
pub(crate) const ROUNDINGS_OF_SPAN: f64 = 64.0;

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
    pub(crate) weights: &'a Weights<L>,
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
        let distance = self.distance();
        let Estimation { system, at, slope, weights, wanted, cost, .. } = self;
        let PowerMethod { direction, v, fv } = self.power;
        let n = at.y.len();
        let zero = L::lit(0.0);
        let root_epsilon = L::lit(L::Scalar::EPSILON.sqrt());

        let d_norm = euclid(n, |i| direction[i]);
        let stretch = L::select(d_norm.gt(zero), distance / d_norm, zero);
        for i in 0..n {
            let part = largest(at.y[i].abs() * root_epsilon, weights.atol(i));
            let part = if is_negative(i) { -part } else { part };
            v[i] = direction[i].mul_add(stretch, at.y[i] + part);
        }
        let least = L::lit(1.0) / self.longest;
        let (mut sigma, mut open, mut failed) = (zero, wanted, L::from_bits(0));
        let (mut turns, mut mirrored) = (zero, L::from_bits(0));
        for iteration in 1..=Rkc::POWER_ITERATIONS {
            let point = Point { t: at.t, y: &v[..n], p: at.p };
            system.slope(&point, &mut fv[..n], self.work);
            for lane in set_bits(L::bits(open)) {
                cost.nfev[lane] += 1;
                cost.nfev_radius[lane] += 1;
            }
            let change = euclid(n, |i| fv[i] - slope[i]);
            let finite = change.lt(L::lit(f64::INFINITY));
            // Where f ends on one side of y it may go on on the other; where it ends on both there is no radius.
            let nowhere = open & !finite & mirrored;
            let before = sigma;
            sigma = L::select(open & (finite | nowhere), change / distance, sigma);
            failed = failed | nowhere;
            mirrored = open & !finite & !mirrored;
            turns = L::select(finite, turns + L::lit(1.0), turns);
            let near = L::lit(SETTLED) * largest(sigma, least);
            let stands = turns.ge(L::lit(f64::from(LEAST_ITERATIONS)));
            let settled = open & finite & stands & (sigma - before).abs().le(near);
            for i in 0..n {
                direction[i] = L::select(settled, v[i] - at.y[i], direction[i]);
            }
            open = open & !settled & !nowhere;
            if L::bits(open) == 0 {
                break;
            }
            // A direction f does not feel is left by mirroring one component.
            let moves = change.gt(zero) & finite;
            let stretch = L::select(moves, distance / change, zero);
            let turned = iteration as usize % n;
            for i in 0..n {
                let along = (fv[i] - slope[i]).mul_add(stretch, at.y[i]);
                let opposite = at.y[i] - (v[i] - at.y[i]);
                let still = if i == turned { opposite } else { v[i] };
                let next = L::select(moves, along, still);
                v[i] = L::select(open, L::select(mirrored, opposite, next), v[i]);
            }
        }
        *self.radius = L::select(wanted, sigma * L::lit(MARGIN), *self.radius);
        *self.failed = open | failed;
    }
}

impl<L: Lanes, F: Rhs<L> + ?Sized> Estimation<'_, L, F> {
    /// δ: small beside the state, or beside what the tolerance calls zero; and so large that f changes by more than its
    /// roundings where σ limits a step.
    #[inline(always)]
    fn distance(&self) -> L {
        let (n, epsilon) = (self.at.y.len(), L::Scalar::EPSILON);
        let of_state = euclid(n, |i| self.at.y[i]) * L::lit(epsilon.sqrt());
        let of_slope = euclid(n, |i| self.slope[i]) * L::lit(ROUNDINGS_OF_SPAN * epsilon);
        let of_span = of_slope * self.longest;
        let atol = euclid(n, |i| self.weights.atol(i));
        let distance = largest(of_state, L::select(of_span.lt(atol), of_span, atol));
        let seen = distance.gt(L::lit(underflow::<L::Scalar>()));
        L::select(seen, distance, largest(of_span, L::lit(epsilon)))
    }
}

/// The sign of a component's part of a first direction: that of Thue and Morse, which no mode of a grid repeats.
fn is_negative(component: usize) -> bool {
    component.count_ones() % 2 == 1
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
