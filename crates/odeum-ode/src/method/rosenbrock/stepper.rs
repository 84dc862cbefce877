//! One step of a Rosenbrock method on a pack of lanes.

use super::{Rosenbrock, Tableau};
use crate::linalg::{Factor, Lu, Pivots, Solve};
use crate::method::combination::{Combination, Row};
use crate::method::first_step;
use crate::method::linearised::{Along, Derivatives, Linearised};
use crate::method::stepper::{Attempt, Cost, Point, Start, Stepper};
use crate::tolerance::{Tolerance, Weights};
use odeum_core::Lanes;

/// Memory of a Rosenbrock method for one pack of systems of n equations.
pub(crate) struct RosenbrockStepper<'a, L: Lanes> {
    equations: Linearised<'a, L>,
    tableau: &'static Tableau,
    a: Vec<Row>,
    c: Vec<Row>,
    solution: Row,
    error: Row,
    weights: Weights<L>,
    /// Lanes that have moved since f(t, y) and its derivatives were evaluated.
    moved: L::Mask,
    /// f(t, y) \[n\].
    slope: Vec<L>,
    derivatives: Derivatives<L>,
    lu: Lu<L, L>,
    /// Stages Uᵢ [s × n].
    u: Vec<L>,
    /// State of a stage, then f there \[n\].
    stage: Vec<L>,
    f: Vec<L>,
    candidate: Vec<L>,
    /// Estimated error of each component \[n\].
    error_estimate: Vec<L>,
    work: Vec<L>,
}

impl<'a, L: Lanes> RosenbrockStepper<'a, L> {
    pub(crate) fn new(
        method: &Rosenbrock,
        tolerance: &Tolerance,
        equations: Linearised<'a, L>,
    ) -> Self {
        let (plan, workspace) = (equations.plan(), equations.workspace());
        let tableau = method.tableau;
        let n = plan.symbolic().dim();
        let zeros = || vec![L::lit(0.0); n];
        RosenbrockStepper {
            equations,
            tableau,
            a: tableau.a.iter().map(|row| Row::new(row)).collect(),
            c: tableau.c.iter().map(|row| Row::new(row)).collect(),
            solution: Row::new(tableau.m),
            error: Row::new(tableau.e),
            weights: Weights::new(tolerance, n),
            moved: L::from_bits(0),
            slope: zeros(),
            derivatives: Derivatives::new(plan),
            lu: Lu::new(plan.symbolic()),
            u: vec![L::lit(0.0); tableau.stages() * n],
            stage: zeros(),
            f: zeros(),
            candidate: zeros(),
            error_estimate: zeros(),
            work: vec![L::lit(0.0); workspace],
        }
    }

    /// Brings f and its derivatives up to date. What is computed again in lanes that have not
    /// moved comes out the same.
    #[inline(always)]
    fn linearise(&mut self, at: &Point<L>, cost: &mut Cost) {
        let stale = self.moved;
        if L::bits(stale) != 0 {
            let (slope, out, work) = (&mut self.slope, &mut self.derivatives, &mut self.work);
            self.equations.linearise(at, slope, out, work);
            cost.add_jacobian::<L>(stale);
            cost.add_fresh::<L>(stale, 1 + self.equations.plan().evaluations());
        }
        self.moved = L::from_bits(0);
    }

    /// The lanes in which f, J and fₜ are numbers.
    #[inline(always)]
    fn finite(&self) -> L::Mask {
        let zero = L::lit(0.0);
        let mut non_finite = zero;
        for values in [&self.slope, &self.derivatives.jacobian, &self.derivatives.dfdt] {
            for value in values {
                non_finite = value.mul_add(zero, non_finite);
            }
        }
        non_finite.eq(zero)
    }
}

impl<L: Lanes> Stepper<L> for RosenbrockStepper<'_, L> {
    fn error_order(&self) -> u32 {
        self.tableau.embedded_order
    }

    fn pole(&self) -> f64 {
        1.0 / self.tableau.gamma
    }

    fn most_evaluations(&self) -> Option<u32> {
        Some(self.tableau.stages() as u32 + 1 + self.equations.plan().evaluations())
    }

    fn slope(&self) -> &[L] {
        &self.slope
    }

    fn evaluate(&mut self, at: &Point<L>, out: &mut [L]) {
        self.equations.slope(at, out, &mut self.work);
    }

    #[inline(always)]
    fn begin(&mut self, at: &Point<L>, start: &Start<L>, restarted: L::Mask, cost: &mut Cost) -> L {
        self.moved = self.moved | restarted;
        let mut size = start.length;
        if start.first.is_automatic() {
            // The step that follows starts at this point in all lanes and finds f and J there.
            self.linearise(at, cost);
            let (plan, order) = (self.equations.plan(), self.tableau.embedded_order);
            let (slope, derivatives, out) = (&self.slope, &self.derivatives, &mut self.stage);
            let along = Along { plan, direction: slope, time: L::lit(1.0), derivatives, out };
            size = first_step::linearised(&self.weights, at.y, along, start.length, order);
        }
        first_step::signed(start.first, size, start.length)
    }

    #[inline(always)]
    fn attempt(&mut self, at: &Point<L>, h: L, cost: &mut Cost) -> Attempt<L> {
        let (n, stages, none) = (at.y.len(), self.tableau.stages(), L::from_bits(0));
        let (plan, one) = (self.equations.plan(), L::lit(1.0));
        self.linearise(at, cost);
        let mut pivots = Pivots::none();
        L::outline(Factor {
            symbolic: plan.symbolic(),
            lu: &mut self.lu,
            jacobian: &self.derivatives.jacobian,
            shift: one / (h * L::lit(self.tableau.gamma)),
            pivots: &mut pivots,
        });
        cost.add_factors::<L>(!none, 1);

        for s in 0..stages {
            let (before, from_here) = self.u.split_at_mut(s * n);
            if s > 0 && !self.tableau.repeats(s) {
                L::outline(Combination {
                    out: &mut self.stage,
                    base: Some(at.y),
                    vectors: before,
                    row: &self.a[s],
                    scale: one,
                });
                let t = L::lit(self.tableau.alpha[s]).mul_add(h, at.t);
                let point = Point { t, y: &self.stage, p: at.p };
                self.equations.slope(&point, &mut self.f, &mut self.work);
                cost.add_all(L::WIDTH, 1);
            }
            let u = &mut from_here[..n];
            let at_start = (0..=s).all(|i| i == 0 || self.tableau.repeats(i));
            L::outline(Combination {
                out: &mut *u,
                base: Some(if at_start { &self.slope } else { &self.f }),
                vectors: before,
                row: &self.c[s],
                scale: one / h,
            });
            let gamma = self.tableau.gamma_sums[s];
            if gamma != 0.0 && !plan.is_autonomous() {
                let weight = L::lit(gamma) * h;
                for i in 0..n {
                    u[i] = self.derivatives.dfdt[i].mul_add(weight, u[i]);
                }
            }
            L::outline(Solve { symbolic: plan.symbolic(), lu: &mut self.lu, x: u });
        }
        let (vectors, scale) = (&self.u[..], one);
        let (row, base) = (&self.solution, Some(at.y));
        L::outline(Combination { out: &mut self.candidate, base, vectors, row, scale });
        let row = &self.error;
        L::outline(Combination { out: &mut self.error_estimate, base: None, vectors, row, scale });
        let mut error =
            self.weights.error_norm(at.y, &self.candidate, &self.error_estimate, &self.slope, h);
        let (mut singular, valid) = (none, pivots.valid);
        if L::bits(!valid) != 0 {
            error = L::select(valid, error, L::lit(f64::NAN));
            singular = !valid & self.finite();
        }
        let growth = pivots.growth * L::lit(self.pole());
        Attempt { singular, growth, ..Attempt::new(h, error) }
    }

    #[inline(always)]
    fn state(&self) -> &[L] {
        &self.candidate
    }

    #[inline(always)]
    fn settle(&mut self, accepted: L::Mask) {
        self.moved = self.moved | accepted;
    }
}
