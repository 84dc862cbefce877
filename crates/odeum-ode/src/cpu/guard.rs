//! The growth guard: implicit methods do not step over an instability.
//!
//! An L-stable method damps every perturbation whose hλ is large, one that ought to grow as well,
//! and its error estimate sees nothing while the perturbation is far below the tolerance. The
//! pivots of the iteration matrix σI − J show such growth ([`Pivots::growth`]). A step over which a
//! perturbation grows by more than e to the power of a limit is rejected, and the steps that
//! follow are kept below it, until either the error estimate limits them or the growth ends.
//!
//! The work is bounded. A perturbation that is not zero has at least the size of the smallest
//! number, and comes to any tolerance within [`EXPONENTS`] of growth. When the guard alone has limited the steps for that long, for
//! a time T, what grew so fast is zero, and what is still unseen is slower than `EXPONENTS` / T: steps as long as T / `EXPONENTS` do not
//! pass over it. The guard allows these, until something else limits the steps.
//!
//! [`Pivots::growth`]: crate::linalg::Pivots::growth

use crate::tolerance::largest;
use odeum_core::Lanes;

/// The exponent from the smallest positive number to 1 and beyond: −ln 5e-324 = 744.4.
pub(crate) const EXPONENTS: f64 = 745.0;
/// Steps aim somewhat below the limit.
pub(crate) const SAFETY: f64 = 0.9;
/// By what a rejected step is multiplied at least and at most.
pub(crate) const SHRINK: [f64; 2] = [1e-3, 0.5];

/// The guard of the lanes of a pack.
pub(super) struct Guard<L> {
    /// The largest hλ.
    limit: L,
    /// Sum of hλ over the last steps that nothing but the guard limited.
    resolved: L,
    /// Their time.
    alone: L,
}

impl<L: Lanes> Guard<L> {
    pub(super) fn new(limit: f64) -> Self {
        Guard { limit: L::lit(limit), resolved: L::lit(0.0), alone: L::lit(0.0) }
    }

    /// Forgets what was known of these lanes.
    #[inline(always)]
    pub(super) fn forget(&mut self, lanes: L::Mask) {
        self.resolved = L::select(lanes, L::lit(0.0), self.resolved);
        self.alone = L::select(lanes, L::lit(0.0), self.alone);
    }

    /// What it remembers of a lane.
    pub(super) fn memory(&self, lane: usize) -> [L::Scalar; 2] {
        [self.resolved.lane(lane), self.alone.lane(lane)]
    }

    /// Takes it up.
    pub(super) fn restore(&mut self, lane: usize, [resolved, alone]: [L::Scalar; 2]) {
        self.resolved.set_lane(lane, resolved);
        self.alone.set_lane(lane, alone);
    }

    /// The longest step over which what is unseen after so much growth does not grow by more than the limit.
    #[inline(always)]
    fn free(&self) -> L {
        let most = L::lit(EXPONENTS);
        L::select(self.resolved.lt(most), L::lit(0.0), self.alone * (self.limit / most))
    }

    /// The lanes in which a step of size `h` and this growth is too long.
    #[inline(always)]
    pub(super) fn vetoes(&self, h: L, growth: L) -> L::Mask {
        growth.gt(self.limit) & h.abs().gt(self.free())
    }

    /// The next step after one of size `h` that had this growth, from the one the controller
    /// proposes. `failed`: the lanes that the error test rejected.
    #[inline(always)]
    pub(super) fn next_step(
        &mut self,
        h: L,
        growth: L,
        proposed: L,
        vetoed: L::Mask,
        failed: L::Mask,
    ) -> L {
        let zero = L::lit(0.0);
        let grows = growth.gt(zero);
        let fraction =
            L::select(grows, self.limit * L::lit(SAFETY) / growth, L::lit(f64::INFINITY));
        let [least, most] = SHRINK.map(L::lit);
        let shrink =
            L::select(fraction.lt(least), least, L::select(fraction.gt(most), most, fraction));
        let longest = (h * fraction).abs();
        let limited = proposed.abs().gt(longest) & grows;
        let goes_on = limited & !failed;
        let resolved = L::select(goes_on, self.resolved + growth, zero);
        let alone = L::select(goes_on, self.alone + h.abs(), zero);
        self.resolved = L::select(vetoed, self.resolved, resolved);
        self.alone = L::select(vetoed, self.alone, alone);
        let longest = largest(longest, self.free() * L::lit(SAFETY));
        let holds = goes_on & proposed.abs().gt(longest);
        let next = L::select(holds, L::select(h.lt(zero), -longest, longest), proposed);
        L::select(vetoed, h * shrink, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_beyond_the_limit_is_rejected_and_the_next_step_stays_below_it() {
        let mut guard = Guard::<f64>::new(1.0);
        assert!(guard.vetoes(1.0, 4.0) && !guard.vetoes(1.0, 0.9) && !guard.vetoes(1.0, f64::NAN));
        assert_eq!(guard.next_step(1.0, 4.0, 5.0, true, false), 0.225);
        assert_eq!(guard.next_step(1.0, 1e9, 5.0, true, false), 1e-3);
        assert_eq!(guard.next_step(-1.0, 0.5, -6.0, false, false), -1.8);
        assert_eq!(guard.next_step(1.0, -3.0, 6.0, false, false), 6.0);
        assert_eq!(guard.next_step(1.0, 0.5, 0.1, false, true), 0.1);
    }

    #[test]
    fn after_a_perturbation_of_size_zero_steps_pass_over_nothing_slower() {
        let (fast, slow) = (10.0, 0.01);
        let mut guard = Guard::<f64>::new(1.0);
        let (mut t, mut h, mut steps) = (0.0, 0.09, 0);
        while t < 1e5 {
            assert!(!guard.vetoes(h, fast * h), "{t}");
            // Until it has had the growth of any perturbation, if it is not zero.
            assert!(slow * h < 1.0 || slow * t > EXPONENTS, "{t} {h}");
            (t, steps) = (t + h, steps + 1);
            h = guard.next_step(h, fast * h, 6.0 * h, false, false);
        }
        // 828, and as many for each of the ln(1e5 / 74.5) factors of e after 74.5.
        assert!((6_500..7_200).contains(&steps), "{steps}");
        guard.next_step(h, fast * h, 0.05, false, false);
        assert!(guard.vetoes(h, fast * h), "something else limited the step: it begins anew");
    }
}
