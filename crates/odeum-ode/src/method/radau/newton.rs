//! When a simplified Newton iteration has converged, and when it should be given up; per lane.
//!
//! Hairer & Wanner II, sec. IV.8, eqs. 8.10–8.12, and RADAU5.

use crate::tolerance::largest;
use odeum_core::Lanes;

/// Rates of convergence from this on count as none.
pub(super) const DIVERGES: f64 = 0.99;
/// By what the step is multiplied where the iteration does not converge.
pub(super) const SHRINK: f64 = 0.5;
/// Where it converges too slowly: with the error expected after the last iteration, in units of what may be left and
/// no larger than `MOST_EXCESS`, by `SLOW_SHRINK` times its power −1/(`SLOW_DELAY` + iterations left).
pub(super) const SLOW_SHRINK: f64 = 0.8;
pub(super) const MOST_EXCESS: f64 = 20.0;
pub(super) const SLOW_DELAY: u32 = 4;
/// What is known of the rate of convergence fades between steps: its power.
pub(super) const FADING: f64 = 0.8;
/// Error that may be left, in the norm of the tolerance: roundings over `rtol`, or the root of `rtol` and no more than
/// this, whichever is larger.
pub(super) const ROUNDINGS: f64 = 10.0;
pub(super) const MOST_LEFT: f64 = 0.03;

/// The progress of an iteration.
pub(super) struct Progress<L: Lanes> {
    /// Lanes that go on.
    pub(super) open: L::Mask,
    /// Lanes in which it was given up.
    pub(super) diverged: L::Mask,
    /// Lanes in which it met numbers that are not finite.
    pub(super) non_finite: L::Mask,
    /// By what to multiply the step of lanes that diverged.
    pub(super) shrink: L,
    /// Rate of convergence θ.
    pub(super) theta: L,
    /// θ/(1 − θ): how much of the iteration is left after a change; kept from step to step.
    pub(super) rest: L,
    /// Iterations made.
    pub(super) iterations: L,
    last_change: L,
    last_ratio: L,
}

impl<L: Lanes> Progress<L> {
    /// An iteration in the lanes of `open`; `rest` as it was at the end of the last one.
    #[inline(always)]
    pub(super) fn new(open: L::Mask, rest: L, theta: L, epsilon: L) -> Self {
        let one = L::lit(1.0);
        Progress {
            open,
            diverged: L::from_bits(0),
            non_finite: L::from_bits(0),
            shrink: one,
            theta,
            rest: (largest(rest, epsilon).ln() * L::lit(FADING)).exp(),
            iterations: one,
            last_change: one,
            last_ratio: one,
        }
    }

    /// Learns the norm of the change that iteration number `k` of at most `most` (from 1) makes,
    /// and gives the lanes that take it; `enough` is the error that may be left.
    #[inline(always)]
    pub(super) fn learn(&mut self, k: u32, most: u32, change: L, enough: L, epsilon: L) -> L::Mask {
        let one = L::lit(1.0);
        let finite = change.lt(L::lit(f64::INFINITY));
        // What is not finite ends the iteration, but is no divergence: its cause is f.
        self.non_finite = self.non_finite | (self.open & !finite);
        self.open = self.open & finite;
        self.iterations = L::select(self.open, L::lit(f64::from(k)), self.iterations);
        if k > 1 {
            let ratio = change / self.last_change;
            let theta = if k == 2 { ratio } else { (ratio * self.last_ratio).sqrt() };
            self.last_ratio = ratio;
            self.theta = L::select(self.open, theta, self.theta);
            let converges = theta.lt(L::lit(DIVERGES));
            let rest = theta / (one - theta);
            self.rest = L::select(self.open & converges, rest, self.rest);
            self.give_up(self.open & !converges, L::lit(SHRINK));
            if k < most {
                // The error expected after the last iteration.
                let left = (most - 1 - k) as i32;
                let expected = self.rest * change * theta.powi(left) / enough;
                let slow = self.open & expected.ge(one);
                let most = L::lit(MOST_EXCESS);
                let excess = L::select(expected.lt(most), expected, most);
                let power = L::lit(-1.0 / (f64::from(SLOW_DELAY) + f64::from(left)));
                self.give_up(slow, L::lit(SLOW_SHRINK) * (excess.ln() * power).exp());
            }
        }
        self.last_change = largest(change, epsilon);
        let taken = self.open;
        let converged = (self.rest * change).le(enough);
        self.open = self.open & !converged;
        if k == most {
            self.give_up(self.open, L::lit(SHRINK));
        }
        taken
    }

    #[inline(always)]
    fn give_up(&mut self, lanes: L::Mask, shrink: L) {
        self.diverged = self.diverged | lanes;
        self.shrink = L::select(lanes, shrink, self.shrink);
        self.open = self.open & !lanes;
    }
}
