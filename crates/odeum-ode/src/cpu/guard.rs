//! The growth guard: implicit methods do not step over an instability.
//!
//! An L-stable method damps every perturbation whose hλ is large, one that ought to grow as well,
//! and its error estimate sees nothing while the perturbation is far below the tolerance. The
//! pivots of the method's own matrix show such growth ([`Pivots::growth`]). A step over which a
//! perturbation grows by more than e to the power of a limit is rejected, and the steps that
//! follow are kept below it, until either the error estimate limits them or the growth ends.
//!
//! The work is bounded. A perturbation that is not zero has at least the size of the smallest
//! number, and comes to any tolerance within [`EXPONENTS`] of growth. When the guard alone has
//! limited the steps for that long nothing grows, and it lets go until something else limits them.
//!
//! [`Pivots::growth`]: crate::linalg::Pivots::growth

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
}

impl<L: Lanes> Guard<L> {
    pub(super) fn new(limit: f64) -> Self {
        Guard { limit: L::lit(limit), resolved: L::lit(0.0) }
    }

    /// Forgets what was known of these lanes.
    #[inline(always)]
    pub(super) fn forget(&mut self, lanes: L::Mask) {
        self.resolved = L::select(lanes, L::lit(0.0), self.resolved);
    }

    /// What it remembers of a lane.
    pub(super) fn memory(&self, lane: usize) -> L::Scalar {
        self.resolved.lane(lane)
    }

    /// Takes it up.
    pub(super) fn restore(&mut self, lane: usize, memory: L::Scalar) {
        self.resolved.set_lane(lane, memory);
    }

    /// The lanes in which a step of this growth is too long.
    #[inline(always)]
    pub(super) fn vetoes(&self, growth: L) -> L::Mask {
        growth.gt(self.limit) & self.resolved.lt(L::lit(EXPONENTS))
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
        let limited = proposed.abs().gt((h * fraction).abs());
        let holds = limited & self.resolved.lt(L::lit(EXPONENTS));
        let sum = L::select(limited & grows, self.resolved + growth, zero);
        self.resolved = L::select(vetoed, self.resolved, L::select(failed, zero, sum));
        let next = L::select(holds & !failed, h * fraction, proposed);
        L::select(vetoed, h * shrink, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_beyond_the_limit_is_rejected_and_the_next_step_stays_below_it() {
        let mut guard = Guard::<f64>::new(1.0);
        assert!(guard.vetoes(4.0) && !guard.vetoes(0.9) && !guard.vetoes(f64::NAN));
        assert_eq!(guard.next_step(1.0, 4.0, 5.0, true, false), 0.225);
        assert_eq!(guard.next_step(1.0, 1e9, 5.0, true, false), 1e-3);
        assert_eq!(guard.next_step(-1.0, 0.5, -6.0, false, false), -1.8);
        assert_eq!(guard.next_step(1.0, -3.0, 6.0, false, false), 6.0);
        assert_eq!(guard.next_step(1.0, 0.5, 0.1, false, true), 0.1);
    }

    #[test]
    fn a_perturbation_of_size_zero_is_waited_for_no_longer_than_any_other() {
        let mut guard = Guard::<f64>::new(1.0);
        let mut steps = 0;
        while guard.next_step(1.0, 0.9, 6.0, false, false) != 6.0 {
            steps += 1;
        }
        assert!((820..840).contains(&steps), "{steps}");
        assert!(!guard.vetoes(1e9), "the guard has let go");
        guard.next_step(1.0, 0.9, 0.5, false, false);
        assert!(guard.vetoes(1e9), "something else limited the step: the guard is back");
    }
}
