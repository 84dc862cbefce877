//! A first step from slope and curvature. Hairer, Nørsett & Wanner I, sec. II.4, with the norm of
//! the tolerance: explicit methods estimate the curvature from the change of the slope over an
//! Euler step, as there; implicit ones have the Jacobian, hence y″ = Jf + ∂f/∂t itself, and save
//! an evaluation.

use crate::method::linearised::Along;
use crate::method::stepper::First;
use crate::tolerance::{Norm, Weights, largest};
use odeum_core::{Lanes, Scalar};

/// A state or a slope whose norm is below this says nothing of the scale.
pub(crate) const SMALL: f64 = 1e-5;
/// The step taken where nothing is known.
pub(crate) const TINY_STEP: f64 = 1e-6;
/// The guess changes the state by this fraction of itself.
pub(crate) const GUESS: f64 = 0.01;
/// Slope and curvature below this count as none: the step is then this fraction of the guess.
pub(crate) const FLAT: f64 = 1e-15;
pub(crate) const FLAT_FRACTION: f64 = 1e-3;
/// The step is longer than the guess by this at most; and by its curvature the error of the step is
/// one over this.
pub(crate) const LONGER: f64 = 100.0;

/// A first step moves the time by so many roundings at least.
pub(crate) const LEAST_ULPS: f64 = 8.0;

/// The norm of a slope or a curvature whose square is beyond the range of numbers: it asks for a step as small as it
/// can be.
pub(crate) fn steepest<S: Scalar>() -> f64 {
    S::MAX.sqrt()
}

/// A norm, [`steepest`] where it is infinite.
#[inline(always)]
fn bounded<L: Lanes>(norm: L) -> L {
    let beyond = norm.eq(L::lit(f64::INFINITY));
    L::select(beyond, L::lit(steepest::<L::Scalar>()), norm)
}

/// The size of a first step from `t`, large enough to move the time.
#[inline(always)]
pub(crate) fn moving<L: Lanes>(size: L, t: L) -> L {
    largest(size, t.abs() * L::lit(LEAST_ULPS * L::Scalar::EPSILON))
}

/// A first guess, to be refined by the curvature.
pub(crate) struct Guess<L> {
    /// Its size, with the sign of the span.
    pub(crate) h: L,
    /// Norm of the slope.
    d1: L,
}

/// The guess from state and slope \[n\], over a piece of signed length `length`.
#[inline(always)]
pub(crate) fn guess<L: Lanes>(weights: &Weights<L>, y: &[L], slope: &[L], length: L) -> Guess<L> {
    let (zero, tiny_step) = (L::lit(0.0), L::lit(TINY_STEP));
    let d0 = start_norm(weights, y, slope, length, |i| y[i]);
    let d1 = bounded(start_norm(weights, y, slope, length, |i| slope[i]));
    let small = d0.lt(L::lit(SMALL)) | d1.lt(L::lit(SMALL));
    let mut h0 = L::select(small, tiny_step, L::lit(GUESS) * d0 / d1);
    h0 = L::select(h0.lt(length.abs()), h0, length.abs());
    // Whatever is not a positive finite number (a non-finite slope) becomes the tiny step.
    h0 = L::select(h0.gt(zero), h0, tiny_step);
    Guess { h: L::select(length.lt(zero), -h0, h0), d1 }
}

/// Norm of the curvature, from the slope `probe` \[n\] at the end of an Euler step of the guess.
#[inline(always)]
pub(crate) fn estimated_curvature<L: Lanes>(
    weights: &Weights<L>,
    y: &[L],
    (slope, probe): (&[L], &[L]),
    length: L,
    guess: &Guess<L>,
) -> L {
    start_norm(weights, y, slope, length, |i| probe[i] - slope[i]) / guess.h.abs()
}

/// The size of the first step, where f and its derivatives at the start are known: of methods that
/// have a Jacobian.
#[inline(always)]
pub(crate) fn linearised<L: Lanes>(
    weights: &Weights<L>,
    (t, y): (L, &[L]),
    along: Along<'_, L>,
    length: L,
    error_order: u32,
) -> L {
    let Along { plan, direction: slope, time, derivatives, out: second } = along;
    L::outline(Along { plan, direction: slope, time, derivatives, out: &mut *second });
    let guess = guess(weights, y, slope, length);
    let curvature = bounded(start_norm(weights, y, slope, length, |i| second[i]));
    moving(refined(curvature, length, &guess, error_order), t)
}

/// The size of the first step, from the norm of the curvature.
#[inline(always)]
pub(crate) fn refined<L: Lanes>(curvature: L, length: L, guess: &Guess<L>, error_order: u32) -> L {
    let (h0, tiny_step) = (guess.h.abs(), L::lit(TINY_STEP));
    // A Jacobian that is not finite says nothing of the step; the step itself will say what it is.
    let finite = curvature.lt(L::lit(f64::INFINITY));
    let steepest = largest(guess.d1, L::select(finite, curvature, guess.d1));
    let exponent = L::lit(-1.0 / f64::from(error_order + 1));
    let by_slope = ((steepest * L::lit(LONGER)).ln() * exponent).exp();
    let flat = largest(tiny_step, h0 * L::lit(FLAT_FRACTION));
    let h1 = L::select(steepest.le(L::lit(FLAT)), flat, by_slope);
    let cap = h0 * L::lit(LONGER);
    let h = L::select(h1.lt(cap), h1, cap);
    L::select(h.lt(length.abs()), h, length.abs())
}

/// The signed first step that an option asks for, no longer than the piece; `automatic` is the
/// size where it is chosen automatically.
#[inline(always)]
pub(crate) fn signed<L: Lanes>(first: First<L>, automatic: L, length: L) -> L {
    let size = match first {
        First::Automatic => automatic,
        First::Sizes(h) => h,
        First::Fraction(fraction) => length.abs() * L::lit(fraction),
    };
    let size = L::select(size.lt(length.abs()), size, length.abs());
    L::select(length.lt(L::lit(0.0)), -size, size)
}

/// The tolerance's norm of a vector at the start, where no step size is known yet: there the
/// whole piece stands for it in [`Norm::StateAndRate`].
#[inline(always)]
fn start_norm<L: Lanes>(
    weights: &Weights<L>,
    y: &[L],
    slope: &[L],
    length: L,
    x: impl Fn(usize) -> L,
) -> L {
    let mut norm = L::lit(0.0);
    for i in 0..y.len() {
        match weights.norm() {
            Norm::WeightedRms => {
                let ratio = x(i) / weights.scale(i, y[i], y[i]);
                norm = ratio.mul_add(ratio, norm);
            }
            Norm::StateAndRate => {
                let ratio = weights.slope_ratio(x(i), y[i], length * slope[i]);
                norm = largest(norm, ratio);
            }
        }
    }
    match weights.norm() {
        Norm::WeightedRms => (norm / L::lit(y.len() as f64)).sqrt(),
        Norm::StateAndRate => norm,
    }
}
