//! When a simplified Newton iteration has converged, and when it should be given up; per lane.
//!
//! Hairer & Wanner II, sec. IV.8, eqs. 8.10–8.12, and RADAU5, with one difference: RADAU5 may take a step after one iteration, by the
//! rate of convergence of the step before. A change is the residual over the matrix of the iteration: where ∂f/∂y falls by orders of
//! magnitude within a step, as from √y near zero, the old matrix makes it small however far the solution is, and the
//! error estimate, which has the same matrix, with it. So the rate is measured in every step, unless there is no change at all;
//! and for each component by itself, whose small changes a norm does not show beside larger ones of others.

use odeum_core::{Lanes, Scalar};

/// Rates of convergence from this on count as none.
pub(super) const DIVERGES: f64 = 0.99;
/// By what the step is multiplied where the iteration does not converge.
pub(super) const SHRINK: f64 = 0.5;
/// Where it converges too slowly: with the error expected after the last iteration, in units of what may be left and
/// no larger than `MOST_EXCESS`, by `SLOW_SHRINK` times its power −1/(`SLOW_DELAY` + iterations left).
pub(super) const SLOW_SHRINK: f64 = 0.8;
pub(super) const MOST_EXCESS: f64 = 20.0;
pub(super) const SLOW_DELAY: u32 = 4;
/// Units of ε that count as rounding. Error that may be left, in the norm of the tolerance: as many over `rtol`, or the root
/// of `rtol` and no more than `MOST_LEFT`, whichever is larger.
pub(super) const NEWTON_FLOOR_EPSILONS: f64 = 10.0;
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
    /// Iterations made.
    pub(super) iterations: L,
    last_change: L,
    last_ratio: L,
}

impl<L: Lanes> Progress<L> {
    /// An iteration in the lanes of `open`, whose rate of convergence counts as `theta` until it is measured.
    #[inline(always)]
    pub(super) fn new(open: L::Mask, theta: L) -> Self {
        let one = L::lit(1.0);
        Progress {
            open,
            diverged: L::from_bits(0),
            non_finite: L::from_bits(0),
            shrink: one,
            theta,
            iterations: one,
            last_change: one,
            last_ratio: one,
        }
    }

    /// Learns the norm of the change that iteration number `k` of at most `most` (from 1) makes, and the lanes in which a
    /// component [crawls](Component::crawls); gives the lanes that take it. `enough` is the error that may be left.
    #[inline(always)]
    pub(super) fn learn(
        &mut self,
        (k, most): (u32, u32),
        (change, crawls): (L, L::Mask),
        enough: L,
    ) -> L::Mask {
        let (zero, one) = (L::lit(0.0), L::lit(1.0));
        let finite = change.lt(L::lit(f64::INFINITY));
        // What is not finite ends the iteration, but is no divergence: its cause is f.
        self.non_finite = self.non_finite | (self.open & !finite);
        self.open = self.open & finite;
        self.iterations = L::select(self.open, L::lit(f64::from(k)), self.iterations);
        let mut converged = change.eq(zero);
        if k > 1 {
            let ratio = change / self.last_change;
            let theta = if k == 2 { ratio } else { (ratio * self.last_ratio).sqrt() };
            self.last_ratio = ratio;
            self.theta = L::select(self.open, theta, self.theta);
            let converges = theta.lt(L::lit(DIVERGES));
            // θ/(1 − θ) of the last change is left.
            let left = theta / (one - theta) * change;
            // Changes that small may be roundings, which do not converge.
            let rounds = !converges & change.le(enough);
            self.give_up(self.open & !converges & !rounds, L::lit(SHRINK));
            if k < most {
                // The error expected after the last iteration.
                let remaining = (most - 1 - k) as i32;
                let expected = left * theta.powi(remaining) / enough;
                let slow = self.open & converges & expected.ge(one);
                let most = L::lit(MOST_EXCESS);
                let excess = L::select(expected.lt(most), expected, most);
                let power = L::lit(-1.0 / (f64::from(SLOW_DELAY) + f64::from(remaining)));
                self.give_up(slow, L::lit(SLOW_SHRINK) * (excess.ln() * power).exp());
            }
            converged = ((converges & left.le(enough)) | rounds) & !crawls;
        }
        self.last_change = change;
        let taken = self.open;
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

/// A component of the real system in an iteration.
pub(super) struct Component<L> {
    /// Its change, and that of the iteration before.
    pub(super) change: L,
    pub(super) before: L,
    /// The two terms whose difference is its residual, and the state.
    pub(super) terms: [L; 2],
    pub(super) state: L,
}

impl<L: Lanes> Component<L> {
    /// Where its change δ is more than half of the one before, δ', and it has more left to go than `most` in units of
    /// 1/`scale`: δ²/(δ' − δ), if it goes on so (Aitken). A norm does not show it beside larger changes of others. What
    /// rounds, in its residual or in the state, may stand still.
    #[inline(always)]
    pub(super) fn crawls(&self, scale: L, most: L) -> L::Mask {
        let rounding = L::lit(NEWTON_FLOOR_EPSILONS * L::Scalar::EPSILON);
        let &Component { change, before, terms: [a, b], state } = self;
        let less = (before - change).abs();
        less.lt(change.abs())
            & (change * scale * change).gt(less * most)
            & (a - b).abs().gt((a.abs() + b.abs()) * rounding)
            & change.abs().gt(state.abs() * rounding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_still_crawls_unless_it_rounds() {
        // A change, the one before, the terms of the residual, the state; in units of a millionth, of which a hundredth may be left.
        let crawls = |change: f64, before: f64, terms, state| {
            Component { change, before, terms, state }.crawls(1e6, 1e-2)
        };
        let wrong = [1.0, 1e3];
        assert!(crawls(1e-30, 1e-30, wrong, 0.0), "however small its changes");
        assert!(crawls(1e-12, 1.0001e-12, wrong, 1e-6), "it goes on for ten thousand changes");
        assert!(!crawls(1e-12, 1e-10, wrong, 1e-6), "it converges");
        assert!(!crawls(1e-6, 3e-6, wrong, 1.0), "it converges, however large its changes");
        assert!(!crawls(1e-12, -1e-12, wrong, 1e-6), "it goes to and fro, about where it stays");
        assert!(!crawls(1e-30, 1e-30, [1.0, 1.0 + 1e-15], 0.0), "its residual is one of roundings");
        assert!(!crawls(1e-22, 1e-22, wrong, 1e-6), "the state does not feel it");
        assert!(!crawls(0.0, 0.0, wrong, 0.0), "there is no change");
    }
}
