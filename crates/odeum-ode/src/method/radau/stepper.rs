//! One step of Radau IIA on a pack of lanes.
//!
//! Lanes keep their Jacobian and their factors as long as they may. When one lane wants new ones
//! all are computed, but each lane from its own Jacobian and the step it was factored for: what
//! was not asked for comes out the same to the bit.

use super::Radau;
use super::newton::{Component, MOST_LEFT, NEWTON_FLOOR_EPSILONS, Progress};
use super::transform::{ALPHA, BETA, C, END_SLOPE, ERROR, GAMMA, T, T_INVERSE};
use crate::linalg::{Complex, Factor, Lu, Pivots, Solve};
use crate::method::first_step;
use crate::method::linearised::{Along, Derivatives, Linearised};
use crate::method::stepper::{Attempt, Cost, Point, Start, Stepper, cubic_at};
use crate::tolerance::{Tolerance, Weights, largest, underflow};
use odeum_core::{Lanes, Scalar};

/// The Jacobian is kept while the iteration converges at least as fast as this, or has needed no
/// more than two sweeps.
pub(super) const FAST: f64 = 1e-3;
/// A Jacobian is kept for so many accepted steps at most, and for steps of `LONGER` times the size of its first one: it is where
/// growth shows, which may begin meanwhile. Steps of a given size are not `adaptive`: none is taken again, shorter, where an old
/// Jacobian does not do.
pub(super) fn most_kept(adaptive: bool) -> u32 {
    if adaptive { 10 } else { 1 }
}
pub(super) const LONGER: f64 = 2.0;
/// The step is kept, and with it the factors, when it would change by no more than this: with the
/// controller's safety factor, an error that should pass again.
pub(super) const SAME_STEP: [f64; 2] = [0.9, 1.2];
/// Steps that differ by no more than this fraction, as those that are kept do when the time is rounded, have the same factors.
pub(super) fn same_factors(epsilon: f64) -> f64 {
    epsilon.sqrt()
}

/// Memory of Radau IIA for one pack of systems of n equations.
pub(crate) struct RadauStepper<'a, L: Lanes> {
    equations: Linearised<'a, L>,
    weights: Weights<L>,
    max_iterations: u32,
    /// True unless steps have a fixed size.
    adaptive: bool,
    /// Error of the Newton iteration that may be left, in the norm of the tolerance.
    enough: L,
    /// Lanes that have moved since f(t, y) was evaluated.
    moved: L::Mask,
    /// Lanes that want a new Jacobian; lanes whose Jacobian is that of the present point.
    stale: L::Mask,
    current: L::Mask,
    /// Steps accepted since it was evaluated, and the first one tried from there.
    age: L,
    jacobian_h: L,
    /// Lanes that have accepted no step yet; lanes whose last attempt was rejected.
    first: L::Mask,
    rejected: L::Mask,
    /// Lanes whose Jacobian has changed since their matrices were factored.
    unfactored: L::Mask,
    /// Step for which the matrices of a lane were factored; lanes whose factors can be used.
    factored: L,
    valid: L::Mask,
    /// Growth over a step as the pivots of the real matrix tell it.
    growth: L,
    progress: Progress<L>,
    /// Present step, and the last one that was accepted.
    h: L,
    last_h: L,
    /// f(t, y) \[n\].
    slope: Vec<L>,
    derivatives: Derivatives<L>,
    /// Derivatives at the present point in all lanes, of which only some are wanted.
    everywhere: Derivatives<L>,
    real: Lu<L, L>,
    complex: Lu<L, Complex<L>>,
    /// Increments of the stages, and transformed \[n\] each.
    z: [Vec<L>; 3],
    w: [Vec<L>; 3],
    /// Divided differences of the collocation polynomial of the last accepted step \[n\] each.
    polynomial: [Vec<L>; 3],
    /// f at the stages \[n\] each.
    f: [Vec<L>; 3],
    pair: Vec<Complex<L>>,
    stage: Vec<L>,
    /// Change of the real transformed increments in the iteration before \[n\].
    last_change: Vec<L>,
    candidate: Vec<L>,
    /// Estimated error of each component \[n\].
    error_estimate: Vec<L>,
    work: Vec<L>,
}

impl<'a, L: Lanes> RadauStepper<'a, L> {
    pub(crate) fn new(radau: &Radau, tolerance: &Tolerance, equations: Linearised<'a, L>) -> Self {
        let (plan, workspace) = (equations.plan(), equations.workspace());
        let n = plan.symbolic().dim();
        let (zero, one, none) = (L::lit(0.0), L::lit(1.0), L::from_bits(0));
        let zeros = || vec![zero; n];
        let three = || [zeros(), zeros(), zeros()];
        let epsilon = L::Scalar::EPSILON;
        let enough = (NEWTON_FLOOR_EPSILONS * epsilon / tolerance.rtol)
            .max(tolerance.rtol.sqrt().min(MOST_LEFT));
        RadauStepper {
            equations,
            weights: Weights::new(tolerance, n),
            max_iterations: radau.max_iterations,
            adaptive: radau.controller.fixed_step().is_none(),
            enough: L::lit(enough),
            moved: none,
            stale: none,
            current: none,
            age: zero,
            jacobian_h: zero,
            first: none,
            rejected: none,
            unfactored: none,
            factored: zero,
            valid: none,
            growth: zero,
            progress: Progress::new(none, one),
            h: one,
            last_h: one,
            slope: zeros(),
            derivatives: Derivatives::new(plan),
            everywhere: Derivatives::new(plan),
            real: Lu::new(plan.symbolic()),
            complex: Lu::new(plan.symbolic()),
            z: three(),
            w: three(),
            polynomial: three(),
            f: three(),
            pair: vec![Complex { re: zero, im: zero }; n],
            stage: zeros(),
            last_change: zeros(),
            candidate: zeros(),
            error_estimate: zeros(),
            work: vec![zero; workspace],
        }
    }

    /// Brings f and the Jacobians of all lanes up to date.
    #[inline(always)]
    fn linearise(&mut self, at: &Point<L>, cost: &mut Cost) {
        let plan = self.equations.plan();
        let none = L::from_bits(0);
        if L::bits(self.moved) != 0 {
            self.equations.slope(at, &mut self.slope, &mut self.work);
            cost.add_fresh::<L>(self.moved, 1);
            self.moved = none;
        }
        let stale = self.stale;
        if L::bits(stale) != 0 {
            let (out, work) = (&mut self.everywhere, &mut self.work);
            self.equations.derivatives(at, &self.slope, out, work);
            let pairs = [
                (&mut self.derivatives.jacobian, &self.everywhere.jacobian),
                (&mut self.derivatives.dfdt, &self.everywhere.dfdt),
            ];
            for (kept, new) in pairs {
                for e in 0..kept.len() {
                    kept[e] = L::select(stale, new[e], kept[e]);
                }
            }
            cost.add_jacobian::<L>(stale);
            cost.add_fresh::<L>(stale, plan.evaluations());
            self.current = self.current | stale;
            self.age = L::select(stale, L::lit(0.0), self.age);
            self.unfactored = self.unfactored | stale;
            self.stale = none;
        }
    }

    /// Brings f, the Jacobians and the factors of all lanes up to date for steps of size `h`.
    #[inline(always)]
    fn prepare(&mut self, at: &Point<L>, h: L, cost: &mut Cost) {
        let longer = h.abs().gt(self.jacobian_h.abs() * L::lit(LONGER));
        self.stale = self.stale | (longer & !self.current);
        self.linearise(at, cost);
        self.jacobian_h = L::select(self.current, h, self.jacobian_h);
        let (plan, none) = (self.equations.plan(), L::from_bits(0));
        let differs = (h - self.factored).abs();
        let wanted =
            self.unfactored | differs.gt(h.abs() * L::lit(same_factors(L::Scalar::EPSILON)));
        if L::bits(wanted) != 0 {
            self.factored = L::select(wanted, h, self.factored);
            self.unfactored = none;
            let (symbolic, jacobian) = (plan.symbolic(), &self.derivatives.jacobian[..]);
            let by = |x: f64| L::lit(x) / self.factored;
            let shift = by(GAMMA);
            let (mut real, mut complex) = (Pivots::none(), Pivots::none());
            let (lu, pivots) = (&mut self.real, &mut real);
            L::outline(Factor { symbolic, lu, jacobian, shift, pivots });
            let shift = Complex { re: by(ALPHA), im: by(BETA) };
            let (lu, pivots) = (&mut self.complex, &mut complex);
            L::outline(Factor { symbolic, lu, jacobian, shift, pivots });
            self.valid = real.valid & complex.valid;
            self.growth = real.growth * L::lit(GAMMA);
            cost.add_factors::<L>(wanted, 2);
        }
    }

    /// Increments to start from: those of the last collocation polynomial, continued; zero where
    /// there is none.
    #[inline(always)]
    fn start(&mut self, h: L) {
        let n = self.slope.len();
        let zero = L::lit(0.0);
        let ratio = h / self.last_h;
        for k in 0..3 {
            let s = ratio * L::lit(C[k]);
            let (to_second, to_first) = (s - L::lit(C[1] - 1.0), s - L::lit(C[0] - 1.0));
            let [p, q, r] = &self.polynomial;
            for i in 0..n {
                let continued = s * to_second.mul_add(to_first.mul_add(r[i], q[i]), p[i]);
                self.z[k][i] = L::select(self.first, zero, continued);
            }
        }
        for k in 0..3 {
            for i in 0..n {
                self.w[k][i] = combined(&T_INVERSE[k], &self.z, i);
            }
        }
    }

    /// The Newton iteration.
    #[inline(always)]
    fn iterate(&mut self, at: &Point<L>, h: L, cost: &mut Cost) {
        let (n, symbolic) = (at.y.len(), self.equations.plan().symbolic());
        let (gamma, alpha, beta) = (L::lit(GAMMA) / h, L::lit(ALPHA) / h, L::lit(BETA) / h);
        self.progress = Progress::new(self.valid, L::lit(FAST));
        for iteration in 1..=self.max_iterations {
            if L::bits(self.progress.open) == 0 {
                break;
            }
            for k in 0..3 {
                for i in 0..n {
                    self.stage[i] = at.y[i] + self.z[k][i];
                }
                let point = Point { t: L::lit(C[k]).mul_add(h, at.t), y: &self.stage, p: at.p };
                self.equations.slope(&point, &mut self.f[k], &mut self.work);
            }
            cost.add_fresh::<L>(self.progress.open, 3);
            for i in 0..n {
                let [w0, w1, w2] = [self.w[0][i], self.w[1][i], self.w[2][i]];
                self.stage[i] = combined(&T_INVERSE[0], &self.f, i) - w0 * gamma;
                let re = combined(&T_INVERSE[1], &self.f, i) - (w1 * alpha - w2 * beta);
                let im = combined(&T_INVERSE[2], &self.f, i) - (w2 * alpha + w1 * beta);
                self.pair[i] = Complex { re, im };
            }
            L::outline(Solve { symbolic, lu: &mut self.real, x: &mut self.stage });
            L::outline(Solve { symbolic, lu: &mut self.complex, x: &mut self.pair });
            let change = self.change(at, h);
            let most = self.max_iterations;
            let taken = self.progress.learn((iteration, most), change, self.enough);
            for i in 0..n {
                let steps = [self.stage[i], self.pair[i].re, self.pair[i].im];
                for k in 0..3 {
                    let old = self.w[k][i];
                    self.w[k][i] = L::select(taken, old + steps[k], old);
                }
            }
            for k in 0..3 {
                for i in 0..n {
                    self.z[k][i] = combined(&T[k], &self.w, i);
                }
            }
        }
    }

    /// The norm of a change of the transformed increments, and the lanes in which a component crawls.
    #[inline(always)]
    fn change(&mut self, at: &Point<L>, h: L) -> (L, L::Mask) {
        let n = at.y.len();
        let (mut sum, mut most) = (L::lit(0.0), L::lit(0.0));
        let (mut crawling, gamma) = (L::from_bits(0), L::lit(GAMMA) / h);
        // What one component may have left if the others have nothing.
        let alone = self.enough * L::lit((n as f64).sqrt());
        for i in 0..n {
            let scale = self.weights.inverse_scale(i, at.y[i], h * self.slope[i]);
            for x in [self.stage[i], self.pair[i].re, self.pair[i].im] {
                let ratio = x * scale;
                sum = ratio.mul_add(ratio, sum);
                most = largest(most, ratio.abs());
            }
            let component = Component {
                change: self.stage[i],
                before: self.last_change[i],
                terms: [combined(&T_INVERSE[0], &self.f, i), self.w[0][i] * gamma],
                state: at.y[i],
            };
            crawling = crawling | component.crawls(scale, alone);
            self.last_change[i] = self.stage[i];
        }
        // A change whose square underflows is one still.
        let root = (sum / L::lit(3.0 * n as f64)).sqrt();
        let size = L::select(sum.lt(L::lit(underflow::<L::Scalar>())), most, root);
        (size, crawling)
    }

    /// The error norm of the step, in lanes whose increments are `usable`.
    ///
    /// RADAU5 filters by f(t, y + e) + Σ eᵢzᵢ/h (Hairer & Wanner II, eq. IV.8.20), which is γ/h e where f is linear. Where f jumps
    /// within the step it hides the error: if all stages lie beyond the jump, and y + e does too, nothing is left of it.
    #[inline(always)]
    fn error(&mut self, at: &Point<L>, h: L, usable: L::Mask) -> L {
        let (n, symbolic) = (at.y.len(), self.equations.plan().symbolic());
        for i in 0..n {
            self.candidate[i] = at.y[i] + self.z[2][i];
            self.error_estimate[i] = combined(&ERROR, &self.z, i) / h + self.slope[i];
        }
        L::outline(Solve { symbolic, lu: &mut self.real, x: &mut self.error_estimate });
        let norm = |stepper: &Self| {
            let Self { candidate, error_estimate, slope, .. } = stepper;
            stepper.weights.error_norm(at.y, candidate, error_estimate, slope, h)
        };
        let error = norm(self);
        let again = usable & error.ge(L::lit(1.0)) & (self.first | self.rejected);
        if L::bits(again) == 0 {
            return error;
        }
        for i in 0..n {
            self.error_estimate[i] = self.error_estimate[i] * (L::lit(GAMMA) / h);
        }
        L::outline(Solve { symbolic, lu: &mut self.real, x: &mut self.error_estimate });
        L::select(again, norm(self), error)
    }

    /// Lanes whose iteration would gain from a new Jacobian.
    #[inline(always)]
    fn slow(&self) -> L::Mask {
        self.progress.theta.gt(L::lit(FAST)) & self.progress.iterations.gt(L::lit(2.0))
    }
}

impl<L: Lanes> Stepper<L> for RadauStepper<'_, L> {
    fn error_order(&self) -> u32 {
        Radau::ERROR_ORDER
    }

    fn pole(&self) -> f64 {
        GAMMA
    }

    fn most_evaluations(&self) -> Option<u32> {
        Some(3 * self.max_iterations + 1 + self.equations.plan().evaluations())
    }

    fn slope(&self) -> &[L] {
        &self.slope
    }

    #[inline(always)]
    fn cubic_slopes(&self, _: &Point<L>, i: usize) -> Option<[L; 2]> {
        Some([-combined(&ERROR, &self.z, i), combined(&END_SLOPE, &self.z, i)])
    }

    #[inline(always)]
    fn cubic_misses(&mut self, at: &Point<L>, h: L, theta: f64, i: usize) -> L {
        for k in 0..at.y.len() {
            let slopes = [-combined(&ERROR, &self.z, k), combined(&END_SLOPE, &self.z, k)];
            let [risen, slope] = cubic_at(theta, self.candidate[k] - at.y[k], slopes);
            self.stage[k] = at.y[k] + risen;
            self.error_estimate[k] = slope / h;
        }
        let [residual, ..] = &mut self.f;
        let point = Point { t: L::lit(theta).mul_add(h, at.t), y: &self.stage, p: at.p };
        self.equations.slope(&point, residual, &mut self.work);
        for (f, slope) in residual.iter_mut().zip(&self.error_estimate) {
            *f = *f - *slope;
        }
        let symbolic = self.equations.plan().symbolic();
        L::outline(Solve { symbolic, lu: &mut self.real, x: residual });
        residual[i]
    }

    fn evaluate(&mut self, at: &Point<L>, out: &mut [L]) {
        self.equations.slope(at, out, &mut self.work);
    }

    #[inline(always)]
    fn begin(&mut self, at: &Point<L>, start: &Start<L>, restarted: L::Mask, cost: &mut Cost) -> L {
        self.moved = self.moved | restarted;
        self.stale = self.stale | restarted;
        self.current = self.current & !restarted;
        self.first = self.first | restarted;
        self.rejected = self.rejected & !restarted;
        let mut size = start.length;
        if start.first.is_automatic() {
            // The step that follows starts at this point in all lanes and finds f and J there.
            self.linearise(at, cost);
            let (plan, order) = (self.equations.plan(), Radau::ERROR_ORDER);
            let (slope, derivatives, out) = (&self.slope, &self.derivatives, &mut self.stage);
            let along = Along { plan, direction: slope, time: L::lit(1.0), derivatives, out };
            size = first_step::linearised(&self.weights, (at.t, at.y), along, start.length, order);
        }
        first_step::signed(start.first, size, start.length)
    }

    #[inline(always)]
    fn attempt(&mut self, at: &Point<L>, h: L, _: L, cost: &mut Cost) -> Attempt<L> {
        self.h = h;
        self.prepare(at, h, cost);
        self.start(h);
        self.iterate(at, h, cost);
        let (valid, diverged) = (self.valid, self.progress.diverged);
        // Increments without convergence mean nothing, nor does their error.
        let usable = valid & !diverged & !self.progress.non_finite;
        let error = self.error(at, h, usable);
        let mut singular = L::from_bits(0);
        if L::bits(!valid) != 0 {
            singular = !valid & self.derivatives.are_finite(&self.slope);
        }
        let error = L::select(usable, error, L::lit(f64::NAN));
        Attempt { singular, diverged, growth: self.growth, ..Attempt::new(h, error) }
    }

    #[inline(always)]
    fn state(&self) -> &[L] {
        &self.candidate
    }

    #[inline(always)]
    fn next_step(&self, h: L, factor: L) -> L {
        if !self.adaptive {
            return h * factor;
        }
        let most = 2.0 * f64::from(self.max_iterations);
        let caution = L::lit(1.0 + most) / (self.progress.iterations + L::lit(most));
        let factor = factor * caution;
        let [least, most] = SAME_STEP;
        let same = factor.ge(L::lit(least)) & factor.le(L::lit(most)) & !self.slow();
        let next = L::select(same, h, h * factor);
        L::select(self.progress.diverged, h * self.progress.shrink, next)
    }

    #[inline(always)]
    fn settle(&mut self, accepted: L::Mask) {
        let n = self.slope.len();
        let slow = self.slow();
        self.age = L::select(accepted, self.age + L::lit(1.0), self.age);
        let old = self.age.ge(L::lit(f64::from(most_kept(self.adaptive))));
        self.stale = self.stale | (accepted & (slow | old)) | (!accepted & !self.current);
        self.current = self.current & !accepted;
        self.moved = self.moved | accepted;
        self.first = self.first & !accepted;
        self.rejected = !accepted;
        self.last_h = L::select(accepted, self.h, self.last_h);
        let [c1, c2, _] = C;
        let over = |x: f64| L::lit(1.0 / x);
        let [z1, z2, z3] = &self.z;
        for i in 0..n {
            let p = (z2[i] - z3[i]) * over(c2 - 1.0);
            let between = (z1[i] - z2[i]) * over(c1 - c2);
            let q = (between - p) * over(c1 - 1.0);
            let r = q - (between - z1[i] * over(c1)) * over(c2);
            for (kept, new) in self.polynomial.iter_mut().zip([p, q, r]) {
                kept[i] = L::select(accepted, new, kept[i]);
            }
        }
    }
}

/// Component `i` of a combination of three vectors.
#[inline(always)]
fn combined<L: Lanes>(weights: &[f64; 3], vectors: &[Vec<L>; 3], i: usize) -> L {
    let [a, b, c] = weights;
    let sum = vectors[1][i].mul_add(L::lit(*b), vectors[0][i] * L::lit(*a));
    vectors[2][i].mul_add(L::lit(*c), sum)
}
