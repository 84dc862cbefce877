//! Step-size control. A controller knows error norms and orders, but no method.

use crate::tolerance::largest;
use odeum_core::{Argument, Error, Lanes, Scalar};

/// A step of about `h` that is as long as the time moves by it: t + h is rounded, and with steps of another length states
/// and times would drift apart. `h` itself where it does not move the time.
#[inline(always)]
pub fn exact_step<L: Lanes>(t: L, h: L) -> L {
    let moves = (t + h) - t;
    L::select(moves.eq(L::lit(0.0)), h, moves)
}

/// A step that reaches to within 1 % of itself of the next stop is stretched to end on it (as DOPRI5 of
/// Hairer, Nørsett & Wanner does), so that rounding never leaves a sliver.
pub const STRETCH: f64 = 1.01;

/// Roundings of the time below which no factor makes the next step: what it makes of so short a step
/// [may be rounded](exact_step) to the same length again, and be rejected again, without end, or not move the time.
pub(crate) const SHORT_STEP_EPSILONS: f64 = 100.0;

/// By what so short a step is multiplied after a rejection. Next to a half, so that no length is left out at which an
/// iteration converges next to a jump; below it, as a half of one rounding may be rounded to one.
pub(crate) const SHORTER: f64 = 0.49;

/// The step after one that was rejected: `next`, or about half of the rejected one where that is few roundings of the time long.
#[inline(always)]
pub fn shorter_step<L: Lanes>(t: L, rejected: L, next: L) -> L {
    L::select(is_short(t, rejected), rejected * L::lit(SHORTER), next)
}

/// The step after one that passed: `next`, or one as long where that is few roundings of the time long. What a law
/// extrapolates from longer steps may not move the time.
#[inline(always)]
pub fn no_shorter_step<L: Lanes>(t: L, passed: L, next: L) -> L {
    let shortened = is_short(t, passed) & next.abs().lt(passed.abs());
    L::select(shortened, passed, next)
}

/// Whether a step from t is few roundings of the time long.
#[inline(always)]
fn is_short<L: Lanes>(t: L, step: L) -> L::Mask {
    step.abs().lt(t.abs() * L::lit(SHORT_STEP_EPSILONS * L::Scalar::EPSILON))
}

/// How the next step follows from the errors of the last ones.
///
/// With eₙ the error norm of the step just tried (1 is the largest acceptable) and k the order of
/// the error estimate plus one, an accepted step of size h is followed by one of size
/// h · clamp(safety · g, `min_factor`, `max_factor`), where g is given by the [`Law`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controller {
    /// The formula for g.
    pub law: Law,
    /// Below 1: aims for an error somewhat smaller than allowed. Smaller means fewer rejections
    /// and more steps.
    pub safety: f64,
    /// Smallest factor between two steps.
    pub min_factor: f64,
    /// Largest factor between two steps.
    pub max_factor: f64,
}

/// The formula that gives the factor between two steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Every step has this size [units of t] (the last one before a stop may be shorter, or longer by a hundredth), and
    /// every step whose result is finite is accepted.
    Fixed(f64),
    /// g = eₙ^(−1/k); after a rejection eₙ^(−1/(k−1)). The integral (elementary) controller, in
    /// the form of Press et al. that Niemeyer & Sung 2014 use (eq. 12).
    I,
    /// g = eₙ^(−0.7/k) eₙ₋₁^(0.4/k): smoother on mildly stiff problems. Gustafsson; Hairer &
    /// Wanner II, eq. IV.2.43.
    Pi,
    /// g = eₙ^(−0.7/k) eₙ₋₁^(0.4/k) eₙ₋₂^(−0.1/k): as `Pi` with a differential part.
    Pid,
    /// g = (hₙ/hₙ₋₁) (eₙ₋₁/eₙ)^(1/k) eₙ^(−1/k): extrapolates the trend of the error. Watts;
    /// Sommeijer, Shampine & Verwer 1998; Niemeyer & Sung 2014, eq. 28.
    Predictive,
}

impl Law {
    /// The exponents (of eₙ, eₙ₋₁, eₙ₋₂), in units of 1/k.
    pub(crate) fn exponents(self) -> [f64; 3] {
        match self {
            Law::Fixed(_) => [0.0, 0.0, 0.0],
            Law::I => [-1.0, 0.0, 0.0],
            Law::Pi => [-0.7, 0.4, 0.0],
            Law::Pid => [-0.7, 0.4, -0.1],
            Law::Predictive => [-2.0, 1.0, 0.0],
        }
    }
}

impl Controller {
    /// The integral controller of Niemeyer & Sung 2014: safety 0.9, factors 0.1 to 5.
    pub const fn integral() -> Self {
        Controller { law: Law::I, safety: 0.9, min_factor: 0.1, max_factor: 5.0 }
    }

    /// Proportional–integral: safety 0.9, factors 0.2 to 10.
    pub const fn pi() -> Self {
        Controller { law: Law::Pi, safety: 0.9, min_factor: 0.2, max_factor: 10.0 }
    }

    /// Proportional–integral–differential: safety 0.9, factors 0.2 to 10.
    pub const fn pid() -> Self {
        Controller { law: Law::Pid, safety: 0.9, min_factor: 0.2, max_factor: 10.0 }
    }

    /// Predictive: safety 0.8, factors 0.1 to 10, as RKC prescribes.
    pub const fn predictive() -> Self {
        Controller { law: Law::Predictive, safety: 0.8, min_factor: 0.1, max_factor: 10.0 }
    }

    /// Steps of one size.
    pub const fn fixed(h: f64) -> Self {
        Controller { law: Law::Fixed(h), safety: 1.0, min_factor: 1.0, max_factor: 1.0 }
    }

    /// The size of every step, if it is the same.
    pub fn fixed_step(&self) -> Option<f64> {
        match self.law {
            Law::Fixed(h) => Some(h),
            _ => None,
        }
    }

    /// Refuses what has no meaning.
    ///
    /// # Errors
    /// Sizes, factors and a safety outside their ranges.
    pub fn check(&self) -> Result<(), Error> {
        if let Law::Fixed(h) = self.law {
            return if h > 0.0 && h.is_finite() {
                Ok(())
            } else {
                Err(Error::input(
                    Argument::new("controller").key("step"),
                    h,
                    "must be positive and finite",
                ))
            };
        }
        let (least, most) = (self.min_factor, self.max_factor);
        if !(self.safety > 0.0 && self.safety <= 1.0) {
            return Err(Error::input(
                Argument::new("controller").key("safety"),
                self.safety,
                "must lie in (0, 1]",
            ));
        }
        if !(least > 0.0 && least < 1.0) {
            let field = Argument::new("controller").key("min_factor");
            return Err(Error::input(field, least, "must lie between 0 and 1"));
        }
        if !(most > 1.0 && most.is_finite()) {
            let field = Argument::new("controller").key("max_factor");
            return Err(Error::input(field, most, "must be finite and above 1"));
        }
        Ok(())
    }
}

/// Errors below this count as this: a vanishing error must not make the history infinite.
pub(crate) const LEAST_ERROR: f64 = 1e-10;

/// The memory of a controller, one per lane: for drivers of steps, as those of grids.
#[derive(Clone, Debug)]
pub struct ControllerState<L> {
    settings: Controller,
    /// k: order of the error estimate plus one.
    order: f64,
    /// ln eₙ₋₁ and ln eₙ₋₂ of accepted steps.
    ln_errors: [L; 2],
    /// hₙ₋₁; zero when there was none.
    last_h: L,
    /// 1 when the attempt before was rejected, else 0.
    was_rejected: L,
}

impl<L: Lanes> ControllerState<L> {
    /// Before the first step, for error estimates of this order.
    pub fn new(settings: Controller, error_order: u32) -> Self {
        let zero = L::lit(0.0);
        ControllerState {
            settings,
            order: f64::from(error_order) + 1.0,
            ln_errors: [zero; 2],
            last_h: zero,
            was_rejected: zero,
        }
    }

    /// Forgets the history of the lanes in `mask`.
    #[inline(always)]
    pub(crate) fn reset(&mut self, mask: L::Mask) {
        let zero = L::lit(0.0);
        for memory in [&mut self.last_h, &mut self.was_rejected] {
            *memory = L::select(mask, zero, *memory);
        }
        for ln_error in &mut self.ln_errors {
            *ln_error = L::select(mask, zero, *ln_error);
        }
    }

    /// The memory as numbers, for a checkpoint.
    pub fn memory(&self) -> [L; 4] {
        [self.ln_errors[0], self.ln_errors[1], self.last_h, self.was_rejected]
    }

    /// Takes up the memory of a checkpoint.
    pub fn restore(&mut self, memory: [L; 4]) {
        let [newest, older, last_h, was_rejected] = memory;
        self.ln_errors = [newest, older];
        (self.last_h, self.was_rejected) = (last_h, was_rejected);
    }

    /// Judges an attempt of size `h` with this error norm: which lanes accept it, and the factor
    /// to the next step. An error that is NaN is a rejection; it shrinks the step most.
    #[inline(always)]
    pub fn judge(&mut self, h: L, error: L) -> (L::Mask, L) {
        let (zero, one) = (L::lit(0.0), L::lit(1.0));
        if self.settings.fixed_step().is_some() {
            // An infinite error is that of a finite state whose square overflows.
            let finite = error.eq(error);
            return (finite, L::select(finite, one, zero));
        }
        let accepted = error.le(one);
        let ln_error = largest(error, L::lit(LEAST_ERROR)).ln();
        let [now, before, earlier] = self.settings.law.exponents();
        let k = 1.0 / self.order;
        let mut exponent = ln_error * L::lit(now * k);
        match self.settings.law {
            Law::Predictive => {
                // Without a step before, the formula is that of `I`.
                let first = self.last_h.eq(zero);
                let plain = ln_error * L::lit(-k);
                let trend = self.ln_errors[0].mul_add(L::lit(before * k), exponent);
                let ratio = L::select(first, one, h / self.last_h).abs();
                exponent = L::select(first, plain, trend + ratio.ln());
            }
            Law::I => {
                let strict = ln_error * L::lit(-1.0 / (self.order - 1.0));
                exponent = L::select(accepted, exponent, strict);
            }
            Law::Pi | Law::Pid => {
                exponent = self.ln_errors[0].mul_add(L::lit(before * k), exponent);
                exponent = self.ln_errors[1].mul_add(L::lit(earlier * k), exponent);
            }
            Law::Fixed(_) => {}
        }
        if !matches!(self.settings.law, Law::I) {
            exponent = L::select(accepted, exponent, ln_error * L::lit(-k));
        }
        let wanted = L::lit(self.settings.safety) * exponent.exp();
        // A step is never enlarged right after a rejection, except by the elementary law, which
        // has no memory at all.
        let ceiling = L::lit(self.settings.max_factor);
        let ceiling = match self.settings.law {
            Law::I => ceiling,
            _ => L::select(self.was_rejected.eq(one), one, ceiling),
        };
        let floor = L::lit(self.settings.min_factor);
        // Comparisons with NaN are false: a NaN error ends at the floor.
        let factor = L::select(wanted.gt(floor), wanted, floor);
        let factor = L::select(factor.lt(ceiling), factor, ceiling);
        let factor = L::select(error.le(L::lit(f64::INFINITY)), factor, floor);
        self.ln_errors[1] = L::select(accepted, self.ln_errors[0], self.ln_errors[1]);
        self.ln_errors[0] = L::select(accepted, ln_error, self.ln_errors[0]);
        self.last_h = L::select(accepted, h, self.last_h);
        self.was_rejected = L::select(accepted, zero, one);
        (accepted, factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(law: Law, errors: &[f64]) -> (bool, f64) {
        let settings = Controller { law, safety: 1.0, min_factor: 0.1, max_factor: 5.0 };
        let mut control = ControllerState::<f64>::new(settings, 4);
        let mut last = (false, 0.0);
        for &error in errors {
            last = control.judge(0.1, error);
        }
        last
    }

    #[test]
    fn integral_law_follows_niemeyer_and_sung() {
        assert_eq!(factor(Law::I, &[0.5]).1, 0.5_f64.ln().mul_add(-0.2, 0.0).exp());
        let (accepted, shrink) = factor(Law::I, &[16.0]);
        assert!(!accepted && (shrink - 0.5).abs() < 1e-15);
    }

    #[test]
    fn nan_and_infinity_are_rejected_with_the_strongest_reduction() {
        for law in [Law::I, Law::Pi, Law::Pid, Law::Predictive] {
            for error in [f64::NAN, f64::INFINITY] {
                assert_eq!(factor(law, &[0.5, error]), (false, 0.1), "{law:?} {error}");
            }
            assert!(factor(law, &[0.5, f64::NAN, 0.5]).1.is_finite());
        }
        let (accepted, factor) = factor(Law::Fixed(0.1), &[f64::NAN]);
        assert!(!accepted && factor == 0.0);
    }

    #[test]
    fn steps_of_few_roundings_follow_no_factor() {
        let (t, rounding) = (1e8, (-26.0_f64).exp2());
        let short = 10.0 * rounding;
        assert_eq!(no_shorter_step(t, short, 0.1 * short), short);
        assert_eq!(no_shorter_step(-t, -short, -2.0 * short), -2.0 * short);
        assert_eq!(no_shorter_step(t, 1.0, 0.1), 0.1);
        assert_eq!(shorter_step(t, -short, -0.9 * short), -SHORTER * short);
        assert_eq!(exact_step(t, shorter_step(t, rounding, rounding)), SHORTER * rounding);
        assert_eq!(shorter_step(t, 1.0, 0.1), 0.1);
    }

    #[test]
    fn no_growth_right_after_a_rejection() {
        for law in [Law::Pi, Law::Pid, Law::Predictive] {
            assert!(factor(law, &[2.0, 1e-6]).1 <= 1.0, "{law:?}");
        }
    }

    #[test]
    fn proportional_laws_weigh_the_last_errors() {
        // With a weight of 1/k = 1/5.
        let product = |powers: &[(f64, f64)]| -> f64 {
            powers.iter().map(|(error, power)| error.powf(power / 5.0)).product()
        };
        let pi = product(&[(0.5, -0.7), (0.4, 0.4)]);
        assert!((factor(Law::Pi, &[0.3, 0.4, 0.5]).1 - pi).abs() < 1e-14);
        let pid = product(&[(0.5, -0.7), (0.4, 0.4), (0.3, -0.1)]);
        assert!((factor(Law::Pid, &[0.3, 0.4, 0.5]).1 - pid).abs() < 1e-14);
        // What was rejected is no part of the history, and no step is longer after it: this one would not be.
        let (_, expected) = factor(Law::Pid, &[0.3, 0.4, 0.95]);
        assert!(expected < 1.0);
        assert_eq!(factor(Law::Pid, &[0.3, 0.4, 2.0, 0.95]).1, expected);
    }

    #[test]
    fn a_memory_that_is_taken_up_goes_on_as_it_was() {
        for law in [Law::I, Law::Pi, Law::Pid, Law::Predictive] {
            let settings = Controller { law, safety: 1.0, min_factor: 0.1, max_factor: 5.0 };
            let mut control = ControllerState::<f64>::new(settings, 4);
            for (h, error) in [(0.1, 0.3), (0.2, 0.4), (0.3, 0.2)] {
                control.judge(h, error);
            }
            let mut other = ControllerState::<f64>::new(settings, 4);
            other.restore(control.memory());
            for (h, error) in [(0.4, 0.5), (0.5, 2.0), (0.2, 0.1)] {
                assert_eq!(other.judge(h, error), control.judge(h, error), "{law:?}");
            }
        }
    }

    #[test]
    fn predictive_law_extrapolates_the_trend() {
        // Equal errors of equal steps: the trend is flat, what remains is the elementary law.
        let (_, factor) = factor(Law::Predictive, &[0.2, 0.2]);
        assert!((factor - 0.2_f64.powf(-0.2)).abs() < 1e-14);
    }
}
