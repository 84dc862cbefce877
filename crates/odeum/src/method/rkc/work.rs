//! What RKC will cost, told before it runs.

use super::Rkc;
use super::recurrence::STABILITY;
use super::stepper::RkcStepper;
use crate::method::stepper::{Cost, Point, Start, Stepper};
use crate::options::FirstStep;
use crate::tolerance::Tolerance;
use odeum_core::{Lanes, System};

impl Rkc {
    /// Most stages of a step, where numbers are rounded to a relative `epsilon`.
    pub fn most_stages(&self, rtol: f64, epsilon: f64) -> f64 {
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
        let mut stepper = RkcStepper::<f64, S>::new(self, &Tolerance::new(1.0, 1.0), system);
        let start = Start { length, first: FirstStep::Size(length.abs()) };
        let fresh = <f64 as Lanes>::from_bits(1);
        stepper.begin(&Point { t, y, p }, &start, fresh, &mut Cost::new());
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

#[cfg(test)]
mod tests {
    use super::Rkc;
    use crate::{Device, Ensemble, Method, Options, SaveAt, Tolerance, solve};
    use odeum_core::{Real, System};

    /// y' = -1000 y, and a component that hardly changes.
    struct Decay;

    impl System for Decay {
        fn dim(&self) -> usize {
            2
        }
        fn n_params(&self) -> usize {
            0
        }
        fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
            dydt[0] = R::lit(-1000.0) * y[0];
            dydt[1] = R::lit(-1e-3) * y[1];
        }
    }

    #[test]
    fn no_run_takes_fewer_evaluations_than_are_told() {
        let rkc = Rkc::default();
        let (length, rtol) = (500.0, 1e-4);
        let radius = rkc.radius_at(&Decay, (0.0, length), &[1.0, 1.0], &[]).unwrap();
        assert!((1000.0..1300.0).contains(&radius), "{radius}");
        for (max_stages, save, largest_step) in
            [(None, 1, None), (Some(20), 1, None), (None, 40, None), (None, 1, Some(0.5))]
        {
            let rkc = Rkc { max_stages, ..Rkc::default() };
            let ensemble = Ensemble::new(2, vec![1.0, 1.0], (0.0, length)).unwrap();
            let mut options = Options::new(Tolerance::new(rtol, 1e-6));
            let gap = length / f64::from(save);
            options.save_at = SaveAt::Times((1..=save).map(|k| gap * f64::from(k)).collect());
            options.largest_step = largest_step;
            let method = Method::Rkc(rkc.clone());
            let solution = solve(&Decay, &ensemble, &method, &Device::cpu(), &options).unwrap();
            let stages = rkc.most_stages(rtol, f64::EPSILON);
            let longest = largest_step.unwrap_or(f64::INFINITY);
            // The radius without its margin.
            let each = Rkc::least_evaluations(1000.0, gap, stages, longest);
            let (least, taken) = (f64::from(save) * each, f64::from(solution.stats[0].nfev));
            assert!(least <= taken && taken < 4.0 * least + 300.0, "{least} of {taken}");
        }
    }
}
