//! One step of an exponential method on a pack of lanes.

use super::expansion::{Expand, Expansion, SHIFT};
use super::krylov::{Krylov, Project};
use super::{Action, Exponential, Tableau};
use crate::linalg::{Factor, Lu, Pivots};
use crate::method::first_step;
use crate::method::linearised::{Along, Derivatives, Linearised};
use crate::method::stepper::{Attempt, Cost, Point, Start, Stepper};
use crate::tolerance::{Tolerance, Weights};
use odeum_core::Lanes;

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
    equations: Linearised<'a, L>,
    tableau: &'static Tableau,
    actor: Actor<L>,
    weights: Weights<L>,
    inverse_scales: Vec<L>,
    /// Lanes that have moved since f(t, y) and its derivatives were evaluated.
    moved: L::Mask,
    /// f(t, y) \[n\].
    slope: Vec<L>,
    derivatives: Derivatives<L>,
    lu: Lu<L, L>,
    /// Increments of the stages 2, …, s, that of the solution, error estimate \[n\] each.
    sums: Vec<L>,
    /// State of a stage, then Dⱼ \[n\].
    stage: Vec<L>,
    f: Vec<L>,
    /// State of stage 2, which is half-way \[n\].
    middle: Vec<L>,
    candidate: Vec<L>,
    work: Vec<L>,
}

impl<'a, L: Lanes> ExponentialStepper<'a, L> {
    pub(crate) fn new(
        method: &Exponential,
        tolerance: &Tolerance,
        equations: Linearised<'a, L>,
    ) -> Self {
        let (plan, workspace) = (equations.plan(), equations.workspace());
        let tableau = method.tableau;
        let (n, stages) = (plan.symbolic().dim(), tableau.stages());
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
            equations,
            tableau,
            actor,
            weights: Weights::new(tolerance, n),
            inverse_scales: zeros(),
            moved: L::from_bits(0),
            slope: zeros(),
            derivatives: Derivatives::new(plan),
            lu: Lu::new(plan.symbolic()),
            sums: vec![L::lit(0.0); (stages + 1) * n],
            stage: zeros(),
            f: zeros(),
            middle: zeros(),
            candidate: zeros(),
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

    /// Dⱼ of a later stage, into `stage`, from the increment of the stage.
    #[inline(always)]
    fn nonlinearity(&mut self, j: usize, at: &Point<L>, h: L) {
        let n = at.y.len();
        let Self { sums, stage, f, slope, derivatives, work, .. } = self;
        let elapsed = h * L::lit(self.tableau.c[j]);
        let increment = &mut sums[(j - 1) * n..j * n];
        for i in 0..n {
            stage[i] = at.y[i] + increment[i];
            increment[i] = increment[i] / elapsed;
        }
        if j == 1 {
            self.middle.copy_from_slice(stage);
        }
        let point = Point { t: at.t + elapsed, y: stage, p: at.p };
        self.equations.slope(&point, f, work);
        let (plan, direction, time) = (self.equations.plan(), &*increment, L::lit(1.0));
        L::outline(Along { plan, direction, time, derivatives, out: &mut *stage });
        for i in 0..n {
            stage[i] = f[i] - slope[i] - elapsed * stage[i];
        }
    }
}

impl<L: Lanes> ExponentialStepper<'_, L> {
    /// Adds what becomes of h Dⱼ to the sums in the lanes of `open`; the norm of what is left out.
    #[inline(always)]
    fn act(&mut self, j: usize, h: L, open: L::Mask) -> L {
        let plan = self.equations.plan();
        let Self { weights, inverse_scales, derivatives, sums, .. } = self;
        let vector = if j == 0 { &self.slope } else { &self.stage };
        let timed = j == 0 && !plan.is_autonomous();
        let mut rest = L::lit(0.0);
        match &mut self.actor {
            Actor::Resolvent { expansions, polynomials } => L::outline(Expand {
                expansion: &expansions[j],
                symbolic: plan.symbolic(),
                lu: &mut self.lu,
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
        Some(self.tableau.stages() as u32 + self.equations.plan().evaluations())
    }

    fn middle(&self) -> Option<&[L]> {
        Some(&self.middle)
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
            let (direction, derivatives, out) = (&self.slope, &self.derivatives, &mut self.stage);
            let along = Along { plan, direction, time: L::lit(1.0), derivatives, out };
            size = first_step::linearised(&self.weights, at.y, along, start.length, order);
        }
        first_step::signed(start.first, size, start.length)
    }

    #[inline(always)]
    fn attempt(&mut self, at: &Point<L>, h: L, cost: &mut Cost) -> Attempt<L> {
        let (n, stages, none) = (at.y.len(), self.tableau.stages(), L::from_bits(0));
        let (plan, zero) = (self.equations.plan(), L::lit(0.0));
        self.linearise(at, cost);
        let mut pivots = Pivots::none();
        L::outline(Factor {
            symbolic: plan.symbolic(),
            lu: &mut self.lu,
            jacobian: &self.derivatives.jacobian,
            shift: L::lit(SHIFT) / h,
            pivots: &mut pivots,
        });
        cost.add_factors::<L>(!none, 1);

        for i in 0..n {
            let scale = self.weights.inverse_scale(i, at.y[i], h * self.slope[i]);
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
        for i in 0..n {
            self.candidate[i] = at.y[i] + increment[i];
        }
        let (candidate, slope) = (&self.candidate, &self.slope);
        let mut error = self.weights.error_norm(at.y, candidate, error_estimate, slope, h) + rest;
        let (mut singular, valid) = (none, pivots.valid);
        if L::bits(!valid) != 0 {
            error = L::select(valid, error, L::lit(f64::NAN));
            singular = !valid & self.finite();
        }
        let growth = pivots.growth * L::lit(SHIFT);
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
