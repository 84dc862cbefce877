//! What RKC will cost, told before it runs.

use super::Rkc;
use super::recurrence::STABILITY;
use super::stepper::RkcStepper;
use crate::method::rhs::{Inlined, Rhs};
use crate::method::stepper::{Cost, First, Point, Start, Stepper};
use crate::tolerance::Tolerance;
use odeum_core::{Lanes, System};

impl Rkc {
    /// Most stages of a step, where numbers are rounded to a relative `epsilon`. No tolerance limits steps of one size, but that the damping
    /// of the stages, 2/(13 s²), is not to vanish in roundings.
    pub fn most_stages(&self, rtol: f64, epsilon: f64) -> f64 {
        let rtol = if self.controller.fixed_step().is_some() { 0.1 } else { rtol };
        let by_rounding = (rtol / (10.0 * epsilon)).sqrt().round();
        self.max_stages.map_or(by_rounding, f64::from).max(2.0)
    }

    /// The spectral radius σ that the method works with at a state, of which a span of this length is
    /// left [1 / units of t]; `None` where it finds none.
    pub fn radius_at<S: System>(
        &self,
        system: &S,
        (t, length): (f64, f64),
        y: &[f64],
        p: &[f64],
    ) -> Option<f64> {
        self.radius_of(&Inlined(system), (t, length), y, p)
    }

    /// As [`radius_at`](Rkc::radius_at).
    pub(crate) fn radius_of<F: Rhs<f64> + ?Sized>(
        &self,
        system: &F,
        (t, length): (f64, f64),
        y: &[f64],
        p: &[f64],
    ) -> Option<f64> {
        let mut stepper = RkcStepper::new(self, &Tolerance::new(1.0, 1.0), system);
        let start = Start { length, first: First::Sizes(length.abs()) };
        let restarted = <f64 as Lanes>::from_bits(1);
        stepper.begin(&Point { t, y, p }, &start, restarted, &mut Cost::new());
        stepper.radius()
    }

    /// Evaluations of the right-hand side that steps over a length take at least, about, where σ
    /// stays as it is, steps have no more than `stages` stages, and none is longer than `longest`:
    /// s stages cost s evaluations and are stable over (s² − 1) / 1.54σ, so long steps are cheapest.
    pub fn least_evaluations(radius: f64, length: f64, stages: f64, longest: f64) -> f64 {
        let reach = (stages * stages - 1.0) / (STABILITY * radius);
        let step = length.min(longest).min(reach);
        let each = 1.0 + (STABILITY * step * radius + 1.0).sqrt().floor();
        each.min(stages).max(2.0) * (length / step)
    }
}
