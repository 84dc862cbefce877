//! One step of Runge–Kutta–Chebyshev on a pack of lanes.

use super::Rkc;
use super::radius::{Estimation, PowerMethod};
use super::recurrence::{Recurrence, STABILITY};
use crate::controller::exact_step;
use crate::method::first_step;
use crate::method::rhs::Rhs;
use crate::method::stepper::{Attempt, Cost, First, Point, Start, Stepper};
use crate::tolerance::{Norm, Tolerance, Weights, largest};
use odeum_core::{Lanes, Scalar};

/// Memory of RKC for one pack of systems of n equations.
pub(crate) struct RkcStepper<'a, L: Lanes, F: ?Sized> {
    system: &'a F,
    weights: Weights<L>,
    max_stages: L,
    radius_bound: Option<f64>,
    power: PowerMethod<L>,
    /// Spectral radius σ.
    radius: L,
    /// Length of the piece being integrated, the longest step there can be.
    longest: L,
    /// Accepted steps since σ was estimated, and those after which it is estimated anew.
    age: L,
    radius_every: L,
    /// Lanes that must estimate σ before their next step.
    stale: L::Mask,
    /// f(t, y) \[n\].
    slope: Vec<L>,
    /// What stages j−2 and j−1 add to the state \[n\]: kept apart from it, so that its roundings do not add up over the stages.
    d: [Vec<L>; 2],
    /// Stage j−1, at last the new state \[n\].
    w: Vec<L>,
    /// f at a stage, and at the new state at the end of an attempt \[n\].
    f: Vec<L>,
    work: Vec<L>,
}

impl<'a, L: Lanes, F: Rhs<L> + ?Sized> RkcStepper<'a, L, F> {
    pub(crate) fn new(rkc: &Rkc, tolerance: &Tolerance, system: &'a F) -> Self {
        let n = system.dim();
        let zeros = || vec![L::lit(0.0); n];
        let max_stages = rkc.most_stages(tolerance.rtol, L::Scalar::EPSILON);
        RkcStepper {
            system,
            weights: Weights::new(tolerance, n),
            max_stages: L::lit(max_stages),
            radius_bound: rkc.radius_bound,
            power: PowerMethod::new(n),
            radius: L::lit(1.0),
            longest: L::lit(1.0),
            age: L::lit(0.0),
            radius_every: L::lit(f64::from(rkc.radius_every())),
            stale: L::from_bits(0),
            slope: zeros(),
            d: [zeros(), zeros()],
            w: zeros(),
            f: zeros(),
            work: vec![L::lit(0.0); system.workspace()],
        }
    }

    /// σ of the first lane, where it is known.
    pub(super) fn radius(&self) -> Option<f64> {
        let found = L::bits(self.stale) & 1 == 0;
        Some(self.radius.lane(0).to_f64()).filter(|radius| found && radius.is_finite())
    }

    /// A bound of σ that needs no estimate: the option, or else what the system says.
    #[inline(always)]
    fn known_bound(&mut self, at: &Point<L>) -> Option<L> {
        match self.radius_bound {
            Some(bound) => Some(L::lit(bound)),
            None => self.system.spectral_radius(at, &mut self.work),
        }
    }

    /// Brings σ up to date: from a known bound everywhere, else by the power method in the lanes
    /// of `wanted`. Gives the lanes where that failed.
    #[inline(always)]
    fn update_radius(&mut self, at: &Point<L>, wanted: L::Mask, cost: &mut Cost) -> L::Mask {
        if let Some(bound) = self.known_bound(at) {
            self.radius = bound;
            return !(bound.ge(L::lit(0.0)) & bound.lt(L::lit(f64::INFINITY)));
        }
        if L::bits(wanted) == 0 {
            return wanted;
        }
        let mut failed = wanted;
        L::outline(Estimation {
            power: &mut self.power,
            system: self.system,
            at,
            slope: &self.slope,
            weights: &self.weights,
            longest: self.longest,
            wanted,
            radius: &mut self.radius,
            failed: &mut failed,
            work: &mut self.work,
            cost,
        });
        self.age = L::select(wanted, L::lit(0.0), self.age);
        failed
    }

    /// The weighted error of an Euler step of size `h`, from f at its end in `self.f`.
    #[inline(always)]
    fn euler_error(&self, y: &[L], h: L) -> L {
        let mut sum = L::lit(0.0);
        for i in 0..y.len() {
            let change = self.f[i] - self.slope[i];
            let ratio = match self.weights.norm() {
                Norm::WeightedRms => change / self.weights.scale(i, y[i], y[i]),
                Norm::StateAndRate => self.weights.slope_ratio(change, y[i], h * self.slope[i]),
            };
            sum = ratio.mul_add(ratio, sum);
        }
        h * (sum / L::lit(y.len() as f64)).sqrt()
    }

    /// The recurrence over the stages: from y over `h` to `self.w`, with `stages` stages in
    /// each lane. SSV, eqs. 2.1–2.2; Niemeyer & Sung 2014, eqs. 13–23.
    #[inline(always)]
    fn stages(&mut self, at: &Point<L>, h: L, stages: L, cost: &mut Cost) {
        let n = at.y.len();
        let mut recurrence = Recurrence::new(stages);
        let first = h * recurrence.first();
        for i in 0..n {
            self.d[0][i] = L::lit(0.0);
            self.d[1][i] = self.slope[i] * first;
            self.w[i] = at.y[i] + self.d[1][i];
        }
        let mut most = 0.0_f64;
        for lane in 0..L::WIDTH {
            most = most.max(stages.lane(lane).to_f64());
        }
        for lane in 0..L::WIDTH {
            cost.nfev[lane] += stages.lane(lane).to_f64() as u32 - 1;
        }
        for j in 2..=most as u32 {
            // A lane with fewer stages is finished: its last stage stays.
            let live = L::lit(f64::from(j)).le(stages);
            let stage = recurrence.advance();
            let t = h.mul_add(stage.theta, at.t);
            let point = Point { t, y: &self.w[..n], p: at.p };
            self.system.slope(&point, &mut self.f[..n], &mut self.work);
            let step = h * stage.mu_tilde;
            let [before, last] = &mut self.d;
            for i in 0..n {
                let slope = self.f[i] - stage.a * self.slope[i];
                let old = stage.mu.mul_add(last[i], stage.nu * before[i]);
                let next = L::select(live, slope.mul_add(step, old), last[i]);
                before[i] = last[i];
                last[i] = next;
                self.w[i] = at.y[i] + next;
            }
        }
    }

    /// The error norm of the attempt (Niemeyer & Sung 2014, eqs. 24–26); NaN unless the new state is finite.
    #[inline(always)]
    fn norm(&self, y: &[L], h: L) -> L {
        let zero = L::lit(0.0);
        let (mut non_finite, mut norm) = (zero, zero);
        let [of_states, of_slopes] = Rkc::ERROR_WEIGHTS.map(L::lit);
        let of_slopes = h * of_slopes;
        for i in 0..y.len() {
            let (new, change) = (self.w[i], self.d[1][i]);
            let error = (self.slope[i] + self.f[i]).mul_add(of_slopes, -(of_states * change));
            non_finite = new.mul_add(zero, error.mul_add(zero, non_finite));
            match self.weights.norm() {
                Norm::WeightedRms => {
                    let ratio = error / self.weights.scale(i, y[i], new);
                    norm = ratio.mul_add(ratio, norm);
                }
                Norm::StateAndRate => {
                    let ratio = self.weights.slope_ratio(error, y[i], h * self.slope[i]);
                    norm = largest(norm, ratio);
                }
            }
        }
        if self.weights.norm() == Norm::WeightedRms {
            norm = (norm / L::lit(y.len() as f64)).sqrt();
        }
        norm + non_finite
    }
}

impl<L: Lanes, F: Rhs<L> + ?Sized> Stepper<L> for RkcStepper<'_, L, F> {
    fn error_order(&self) -> u32 {
        Rkc::ERROR_ORDER
    }

    fn most_evaluations(&self) -> Option<u32> {
        None
    }

    #[inline(always)]
    fn slope(&self) -> &[L] {
        &self.slope
    }

    #[inline(always)]
    fn end_slope(&self) -> Option<&[L]> {
        Some(&self.f)
    }

    #[inline(always)]
    fn evaluate(&mut self, at: &Point<L>, out: &mut [L]) {
        self.system.slope(at, out, &mut self.work);
    }

    #[inline(always)]
    fn begin(&mut self, at: &Point<L>, start: &Start<L>, restarted: L::Mask, cost: &mut Cost) -> L {
        let n = at.y.len();
        let (zero, length) = (L::lit(0.0), start.length.abs());
        self.system.slope(at, &mut self.f[..n], &mut self.work);
        cost.add_fresh::<L>(restarted, 1);
        for i in 0..n {
            self.slope[i] = L::select(restarted, self.f[i], self.slope[i]);
        }
        self.power.forget(&self.slope, restarted);
        self.longest = L::select(restarted, length, self.longest);
        // Where this fails the first attempt tries again, and reports it.
        let failed = self.update_radius(at, restarted, cost);
        self.stale = (self.stale & !restarted) | (failed & restarted);
        let size = match start.first {
            First::Sizes(h) => h,
            First::Fraction(fraction) => length * L::lit(fraction),
            First::Automatic => {
                let stable = L::lit(1.0) / self.radius;
                let trial = L::select(stable.lt(length), stable, length);
                let signed = L::select(start.length.lt(zero), -trial, trial);
                for i in 0..n {
                    self.w[i] = at.y[i] + self.slope[i] * signed;
                }
                let end = Point { t: at.t + signed, y: &self.w[..n], p: at.p };
                self.system.slope(&end, &mut self.f[..n], &mut self.work);
                cost.add_fresh::<L>(restarted, 1);
                let root = self.euler_error(at.y, trial).sqrt();
                let cautious = L::lit(0.1) * trial;
                let size = L::select(cautious.lt(length * root), cautious / root, length);
                first_step::moving(size, at.t)
            }
        };
        // A non-finite estimate must not become the step: the attempt then meets the cause itself.
        let size = L::select(size.gt(zero) & size.lt(length), size, length);
        L::select(start.length.lt(zero), -size, size)
    }

    #[inline(always)]
    fn attempt(&mut self, at: &Point<L>, h: L, end: L, cost: &mut Cost) -> Attempt<L> {
        let n = at.y.len();
        let (zero, one) = (L::lit(0.0), L::lit(1.0));
        let failed = self.update_radius(at, self.stale, cost);
        // Where f is not finite there is no radius for that reason: the attempt then says so.
        let non_finite = failed & !self.radius.abs().lt(L::lit(f64::INFINITY));
        self.radius = L::select(non_finite, L::lit(f64::NAN), self.radius);
        let no_radius = failed & !non_finite;
        self.stale = L::from_bits(0);
        let by_radius = (h.abs() * self.radius).mul_add(L::lit(STABILITY), one).sqrt().floor();
        let wanted = largest(by_radius + one, L::lit(2.0));
        let too_many = wanted.gt(self.max_stages);
        let stages = L::select(too_many, self.max_stages, wanted);
        let stable = (stages * stages - one) / (self.radius * L::lit(STABILITY));
        let shortened = L::select(h.lt(zero), -stable, stable);
        let h = L::select(too_many, exact_step(at.t, shortened), h);
        let end = L::select(too_many, at.t + h, end);
        // A non-finite radius gives no number of stages: two, and a NaN error, which rejects.
        let valid = stages.ge(L::lit(2.0));
        let stages = L::select(valid, stages, L::lit(2.0));

        self.stages(at, h, stages, cost);
        let end = Point { t: end, y: &self.w[..n], p: at.p };
        self.system.slope(&end, &mut self.f[..n], &mut self.work);
        cost.add_all(L::WIDTH, 1);
        let error = L::select(valid, self.norm(at.y, h), L::lit(f64::NAN));
        Attempt { no_radius, ..Attempt::new(h, error) }
    }

    #[inline(always)]
    fn state(&self) -> &[L] {
        &self.w
    }

    #[inline(always)]
    fn settle(&mut self, accepted: L::Mask) {
        for i in 0..self.slope.len() {
            self.slope[i] = L::select(accepted, self.f[i], self.slope[i]);
        }
        self.age = L::select(accepted, self.age + L::lit(1.0), self.age);
        let old = self.age.ge(self.radius_every);
        self.stale = self.stale | !accepted | old;
    }
}
