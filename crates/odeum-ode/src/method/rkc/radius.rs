//! The spectral radius of ∂f/∂y by a nonlinear power method, on a pack of lanes.
//!
//! From a direction v the iteration repeats v ← y ± δ (f(v) − f(y)) / |f(v) − f(y)| at a small
//! distance δ from y; the growth |f(v) − f(y)| / |v − y| settles at the largest |λ|. Sommeijer,
//! Shampine & Verwer 1998, sec. 3.2; Niemeyer & Sung 2014, appendix, whose test of convergence compares with a
//! value already overwritten: here it is |σ − σ_old| ≤ 0.01 max(σ, 1/h), as SSV have it. Three things are not theirs:
//!
//! - Theirs begins with f(y), or with the direction found last. A component that is zero in it, and that no other one
//!   moves, stays zero: its stiffness is never seen. Here each estimate begins with a part of every component.
//! - Their δ is √ε |y|. Where stiffness is that of a small component beside large ones this is many times the component,
//!   and f is not linear so far away. Here δ is small beside those components that the direction moves.
//! - The sign keeps v on one side of y, where theirs changes it in every turn, since the largest λ is negative: where f is
//!   not quite linear the growths on the two sides differ, and never settle.

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
/// So many ε of f times the length of the span: the distance where neither the state nor a tolerance gives one.
pub(crate) const SPAN_EPSILONS: f64 = 64.0;

/// The distance beside the components that a direction moves: f is linear there, and of the digits of its change a third is
/// no rounding.
pub(crate) fn part_of_state(epsilon: f64) -> f64 {
    epsilon.cbrt().powi(2)
}

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
        let Estimation { system, at, slope, weights, wanted, longest, .. } = self;
        let (distances, cost) = (Distances { y: at.y, slope, weights, longest }, self.cost);
        let PowerMethod { direction, v, fv } = self.power;
        let n = at.y.len();
        let (zero, one) = (L::lit(0.0), L::lit(1.0));
        let of_state = L::lit(part_of_state(L::Scalar::EPSILON));

        let stretch = distances.stretch(|i| direction[i]);
        for i in 0..n {
            // Half: of a single component the whole could be the direction's move back.
            let part = largest(at.y[i].abs() * of_state, weights.atol(i)) * L::lit(0.5);
            let part = if is_negative(i) { -part } else { part };
            v[i] = at.y[i] + direction[i].mul_add(stretch, part);
        }
        let least = one / longest;
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
            let length = euclid(n, |i| v[i] - at.y[i]);
            sigma = L::select(open & (finite | nowhere), change / length, sigma);
            failed = failed | nowhere;
            mirrored = open & !finite & !mirrored;
            turns = L::select(finite, turns + one, turns);
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
            let stretch = distances.stretch(|i| fv[i] - slope[i]);
            let (of_change, of_move) = (one / change, one / length);
            let mut cosine = zero;
            for i in 0..n {
                let along = (fv[i] - slope[i]) * of_change;
                cosine = along.mul_add((v[i] - at.y[i]) * of_move, cosine);
            }
            let stretch = L::select(cosine.lt(zero), -stretch, stretch);
            let turned = iteration as usize % n;
            for i in 0..n {
                let along = at.y[i] + (fv[i] - slope[i]) * stretch;
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

/// What distances from a state follow from.
struct Distances<'a, L: Lanes> {
    y: &'a [L],
    slope: &'a [L],
    weights: &'a Weights<L>,
    longest: L,
}

impl<L: Lanes> Distances<'_, L> {
    /// What a direction d is multiplied by, for a move by δ.
    #[inline(always)]
    fn stretch(&self, d: impl Fn(usize) -> L) -> L {
        let (zero, one) = (L::lit(0.0), L::lit(1.0));
        let mut most = zero;
        for i in 0..self.y.len() {
            most = largest(most, d(i).abs());
        }
        let scale = one / most;
        let (mut distance, _) = self.along(|i| d(i).abs() * scale);
        let is_seen = |distance: L| distance.gt(L::lit(underflow::<L::Scalar>()));
        let unseen = !is_seen(distance) & most.gt(zero);
        if L::bits(unseen) != 0 {
            // The direction is one of components without a scale: that of all stands in.
            let (of_all, of_span) = self.along(|_| one);
            let least = largest(of_span, L::lit(L::Scalar::EPSILON));
            distance = L::select(unseen, L::select(is_seen(of_all), of_all, least), distance);
        }
        L::select(most.gt(zero), distance / most, zero)
    }

    /// δ along a direction, of which each component has such a share, the largest 1: small beside the components that it moves, or
    /// beside what the tolerance calls zero; and so large that f changes by more than its roundings where σ limits a step.
    /// And what follows from that alone.
    #[inline(always)]
    fn along(&self, share: impl Fn(usize) -> L) -> (L, L) {
        let zero = L::lit(0.0);
        let (mut of_state, mut of_slope, mut atol) = (zero, zero, zero);
        for i in 0..self.y.len() {
            let share = share(i);
            of_state = largest(of_state, self.y[i].abs() * share);
            of_slope = largest(of_slope, self.slope[i].abs() * share);
            atol = largest(atol, self.weights.atol(i) * share);
        }
        let of_state = of_state * L::lit(part_of_state(L::Scalar::EPSILON));
        let of_span = of_slope * L::lit(SPAN_EPSILONS * L::Scalar::EPSILON) * self.longest;
        (largest(of_state, L::select(of_span.lt(atol), of_span, atol)), of_span)
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
