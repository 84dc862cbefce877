//! One step of an exponential method on a pack of lanes.

use super::expansion::{Expand, Expansion, SHIFT};
use super::krylov::{Krylov, Project};
use super::{Action, Exponential, Tableau};
use crate::method::linearised::{Along, Linearised};
use crate::method::step_matrix::StepMatrix;
use crate::method::stepper::{Attempt, Cost, Point, Start, Stepper};
use crate::tolerance::{Tolerance, Weights, largest};
use odeum_core::{Lanes, Scalar};

/// What an attempt counts as left out at least, in parts of a component that falls in it, in the norm of the tolerance
/// where a step may err by 1.
pub(super) const LEFT_OUT: f64 = 0.01;

/// How functions of hJ act on vectors, with memory for it.
enum Actor<L> {
    Resolvent {
        /// Of the functions that act on each Dⱼ \[s\].
        expansions: Vec<Expansion>,
        polynomials: [Vec<L>; 3],
    },
    Krylov(Box<Krylov<L>>),
}

/// Memory of an exponential method for one pack of systems of n equations.
pub(crate) struct ExponentialStepper<'a, L: Lanes> {
    matrix: StepMatrix<'a, L>,
    tableau: &'static Tableau,
    actor: Actor<L>,
    weights: Weights<L>,
    inverse_scales: Vec<L>,
    /// Increments of the stages 2, …, s, that of the solution, error estimate \[n\] each.
    sums: Vec<L>,
    /// State of a stage, then Dⱼ \[n\].
    stage: Vec<L>,
    f: Vec<L>,
    /// State of stage 2, which is half-way \[n\].
    middle: Vec<L>,
    candidate: Vec<L>,
}

impl<'a, L: Lanes> ExponentialStepper<'a, L> {
    pub(crate) fn new(
        method: &Exponential,
        tolerance: &Tolerance,
        equations: Linearised<'a, L>,
    ) -> Self {
        let tableau = method.tableau;
        let (n, stages) = (equations.plan().symbolic().dim(), tableau.stages());
        let zeros = || vec![L::lit(0.0); n];
        let functions: Vec<_> = (0..stages).map(|j| tableau.functions_of(j)).collect();
        let actor = match method.action {
            Action::Resolvent => Actor::Resolvent {
                expansions: (0..stages).map(|j| Expansion::new(&functions[j], j == 0)).collect(),
                polynomials: [zeros(), zeros(), zeros()],
            },
            Action::Krylov { max_dimension } => {
                Actor::Krylov(Box::new(Krylov::new(n, max_dimension, &functions)))
            }
        };
        ExponentialStepper {
            matrix: StepMatrix::new(equations),
            tableau,
            actor,
            weights: Weights::new(tolerance, n),
            inverse_scales: zeros(),
            sums: vec![L::lit(0.0); (stages + 1) * n],
            stage: zeros(),
            f: zeros(),
            middle: zeros(),
            candidate: zeros(),
        }
    }

    /// Dⱼ of a later stage, into `stage`, from the increment of the stage.
    #[inline(always)]
    fn nonlinearity(&mut self, j: usize, at: &Point<L>, h: L) {
        let n = at.y.len();
        let Self { matrix, sums, stage, f, .. } = self;
        let elapsed = h * L::lit(self.tableau.c[j]);
        let increment = &sums[(j - 1) * n..j * n];
        for i in 0..n {
            stage[i] = at.y[i] + increment[i];
        }
        if j == 1 {
            self.middle.copy_from_slice(stage);
        }
        let point = Point { t: at.t + elapsed, y: stage, p: at.p };
        matrix.evaluate(&point, f);
        // Of the increment and not of its rate, which J would make a square of rates.
        let (plan, direction, time) = (matrix.plan(), increment, elapsed);
        let derivatives = &matrix.derivatives;
        L::outline(Along { plan, direction, time, derivatives, out: &mut *stage });
        for i in 0..n {
            stage[i] = f[i] - matrix.slope[i] - stage[i];
        }
    }
}

impl<L: Lanes> ExponentialStepper<'_, L> {
    /// Adds what becomes of h Dⱼ to the sums in the lanes of `open`; the norm of what is left out.
    #[inline(always)]
    fn act(&mut self, j: usize, h: L, open: L::Mask) -> L {
        let plan = self.matrix.plan();
        let Self { weights, inverse_scales, sums, .. } = self;
        let StepMatrix { slope, derivatives, lu, .. } = &mut self.matrix;
        let vector = if j == 0 { &*slope } else { &self.stage };
        let timed = j == 0 && !plan.is_autonomous();
        let mut rest = L::lit(0.0);
        match &mut self.actor {
            Actor::Resolvent { expansions, polynomials } => L::outline(Expand {
                expansion: &expansions[j],
                symbolic: plan.symbolic(),
                lu,
                h,
                vector,
                dfdt: timed.then_some(&derivatives.dfdt[..]),
                weights,
                inverse_scales,
                polynomials,
                sums,
                open,
                rest: &mut rest,
            }),
            Actor::Krylov(krylov) => L::outline(Project {
                krylov,
                number: j,
                plan,
                derivatives,
                h,
                vector,
                timed,
                weights,
                inverse_scales,
                sums,
                open,
                rest: &mut rest,
            }),
        }
        rest
    }
}

impl<L: Lanes> Stepper<L> for ExponentialStepper<'_, L> {
    fn error_order(&self) -> u32 {
        self.tableau.embedded_order
    }

    fn pole(&self) -> f64 {
        SHIFT
    }

    fn most_evaluations(&self) -> Option<u32> {
        Some(self.tableau.stages() as u32 + self.matrix.plan().evaluations())
    }

    fn middle(&self) -> Option<&[L]> {
        Some(&self.middle)
    }

    fn slope(&self) -> &[L] {
        &self.matrix.slope
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
        let (n, stages, zero) = (at.y.len(), self.tableau.stages(), L::lit(0.0));
        let pivots = self.matrix.factor(at, L::lit(SHIFT) / h, cost);

        for i in 0..n {
            let scale = self.weights.inverse_scale(i, at.y[i], h * self.matrix.slope[i]);
            self.inverse_scales[i] = scale;
        }
        self.sums.fill(zero);
        let mut rest = zero;
        for j in 0..stages {
            if j > 0 {
                self.nonlinearity(j, at, h);
                cost.add_all(L::WIDTH, 1);
            }
            rest = rest + self.act(j, h, pivots.valid);
        }
        let (increment, error_estimate) = self.sums[(stages - 1) * n..].split_at(n);
        let (weights, slope, one) = (&self.weights, &self.matrix.slope, L::lit(1.0));
        let mut fall = one;
        for i in 0..n {
            self.candidate[i] = at.y[i] + increment[i];
            let scales = [at.y[i], self.candidate[i]].map(|y| weights.scale_at(i, y));
            fall = largest(fall, scales[0] / scales[1]);
        }
        // A state that falls to zero is as near to it as the time is known.
        let tick = largest(h.abs(), (at.t + h).abs()) * L::lit(L::Scalar::EPSILON);
        let fall = fall.min(h.abs() / tick);
        let error = weights.error_norm(at.y, &self.candidate, error_estimate, slope, h);
        // What is left out is in the scales of the state before. Of a linear equation nothing else is error.
        let left_out = (rest + L::lit(LEFT_OUT)).mul_add(fall - one, rest);
        self.matrix.attempt(h, SHIFT, &pivots, error + left_out)
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
