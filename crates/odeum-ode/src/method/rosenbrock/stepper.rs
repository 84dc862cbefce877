//! One step of a Rosenbrock method on a pack of lanes.

use super::{Rosenbrock, Tableau};
use crate::linalg::Solve;
use crate::method::combination::{Combination, Row};
use crate::method::linearised::Linearised;
use crate::method::step_matrix::StepMatrix;
use crate::method::stepper::{Attempt, Cost, Point, Start, Stepper, cubic_at};
use crate::tolerance::{Tolerance, Weights};
use odeum_core::Lanes;

/// Memory of a Rosenbrock method for one pack of systems of n equations.
pub(crate) struct RosenbrockStepper<'a, L: Lanes> {
    matrix: StepMatrix<'a, L>,
    tableau: &'static Tableau,
    a: Vec<Row>,
    c: Vec<Row>,
    solution: Row,
    error: Row,
    slopes: [Row; 2],
    weights: Weights<L>,
    /// Stages Uᵢ [s × n].
    u: Vec<L>,
    /// State of a stage, then f there \[n\].
    stage: Vec<L>,
    f: Vec<L>,
    candidate: Vec<L>,
    /// Estimated error of each component \[n\].
    error_estimate: Vec<L>,
}

impl<'a, L: Lanes> RosenbrockStepper<'a, L> {
    pub(crate) fn new(
        method: &Rosenbrock,
        tolerance: &Tolerance,
        equations: Linearised<'a, L>,
    ) -> Self {
        let (tableau, n) = (method.tableau, equations.plan().symbolic().dim());
        let zeros = || vec![L::lit(0.0); n];
        RosenbrockStepper {
            matrix: StepMatrix::new(equations),
            tableau,
            a: tableau.a.iter().map(|row| Row::new(row)).collect(),
            c: tableau.c.iter().map(|row| Row::new(row)).collect(),
            solution: Row::new(tableau.m),
            error: Row::new(tableau.e),
            slopes: tableau.slopes.map(Row::new),
            weights: Weights::new(tolerance, n),
            u: vec![L::lit(0.0); tableau.stages() * n],
            stage: zeros(),
            f: zeros(),
            candidate: zeros(),
            error_estimate: zeros(),
        }
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
        Some(self.tableau.stages() as u32 + 1 + self.matrix.plan().evaluations())
    }

    fn slope(&self) -> &[L] {
        &self.matrix.slope
    }

    #[inline(always)]
    fn cubic_slopes(&self, at: &Point<L>, i: usize) -> Option<[L; 2]> {
        let n = at.y.len();
        let slope = |row: &Row| {
            let add = |sum: L, &(s, weight): &(usize, f64)| {
                self.u[s * n + i].mul_add(L::lit(weight), sum)
            };
            row.terms.iter().fold(L::lit(0.0), add)
        };
        Some([slope(&self.slopes[0]), slope(&self.slopes[1])])
    }

    #[inline(always)]
    fn cubic_misses(&mut self, at: &Point<L>, h: L, theta: f64, i: usize) -> L {
        let (vectors, scale) = (&self.u[..], L::lit(1.0));
        for (out, row) in [&mut self.f, &mut self.error_estimate].into_iter().zip(&self.slopes) {
            L::outline(Combination { out, base: None, vectors, row, scale });
        }
        for k in 0..at.y.len() {
            let rise = self.candidate[k] - at.y[k];
            let [risen, slope] = cubic_at(theta, rise, [self.f[k], self.error_estimate[k]]);
            self.stage[k] = at.y[k] + risen;
            self.error_estimate[k] = slope / h;
        }
        let point = Point { t: L::lit(theta).mul_add(h, at.t), y: &self.stage, p: at.p };
        self.matrix.evaluate(&point, &mut self.f);
        for (f, slope) in self.f.iter_mut().zip(&self.error_estimate) {
            *f = *f - *slope;
        }
        let symbolic = self.matrix.plan().symbolic();
        L::outline(Solve { symbolic, lu: &mut self.matrix.lu, x: &mut self.f });
        self.f[i]
    }

    fn evaluate(&mut self, at: &Point<L>, out: &mut [L]) {
        self.matrix.evaluate(at, out);
    }

    #[inline(always)]
    fn begin(&mut self, at: &Point<L>, start: &Start<L>, restarted: L::Mask, cost: &mut Cost) -> L {
        let weighed = (&self.weights, self.tableau.embedded_order);
        self.matrix.begin((at, start), restarted, cost, weighed, &mut self.stage)
    }

    #[inline(always)]
    fn attempt(&mut self, at: &Point<L>, h: L, _: L, cost: &mut Cost) -> Attempt<L> {
        let (n, stages, one) = (at.y.len(), self.tableau.stages(), L::lit(1.0));
        let plan = self.matrix.plan();
        let shift = one / (h * L::lit(self.tableau.gamma));
        let pivots = self.matrix.factor(at, shift, cost);
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
                self.matrix.evaluate(&point, &mut self.f);
                cost.add_all(L::WIDTH, 1);
            }
            let u = &mut from_here[..n];
            let at_start = (0..=s).all(|i| i == 0 || self.tableau.repeats(i));
            L::outline(Combination {
                out: &mut *u,
                base: Some(if at_start { &self.matrix.slope } else { &self.f }),
                vectors: before,
                row: &self.c[s],
                scale: one / h,
            });
            let gamma = self.tableau.gamma_sums[s];
            if gamma != 0.0 && !plan.is_autonomous() {
                let weight = L::lit(gamma) * h;
                for i in 0..n {
                    u[i] = self.matrix.derivatives.dfdt[i].mul_add(weight, u[i]);
                }
            }
            L::outline(Solve { symbolic: plan.symbolic(), lu: &mut self.matrix.lu, x: u });
        }
        let (vectors, scale) = (&self.u[..], one);
        let (row, base) = (&self.solution, Some(at.y));
        L::outline(Combination { out: &mut self.candidate, base, vectors, row, scale });
        let row = &self.error;
        L::outline(Combination { out: &mut self.error_estimate, base: None, vectors, row, scale });
        let (candidate, slope) = (&self.candidate, &self.matrix.slope);
        let error = self.weights.error_norm(at.y, candidate, &self.error_estimate, slope, h);
        self.matrix.attempt(h, self.pole(), &pivots, error)
    }

    #[inline(always)]
    fn state(&self) -> &[L] {
        &self.candidate
    }

    #[inline(always)]
    fn settle(&mut self, accepted: L::Mask) {
        self.matrix.settle(accepted);
    }
}
