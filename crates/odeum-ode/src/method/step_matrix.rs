//! What Rosenbrock and exponential methods share, which factor one iteration matrix σI − J at the start of each attempt: f and
//! its derivatives there, and the factors.

use super::first_step;
use super::linearised::{Along, Derivatives, JacobianPlan, Linearised};
use super::stepper::{Attempt, Cost, Point, Start};
use crate::linalg::{Factor, Lu, Pivots};
use crate::tolerance::Weights;
use odeum_core::Lanes;

/// A system linearised at the state of a pack of lanes.
pub(crate) struct StepMatrix<'a, L: Lanes> {
    equations: Linearised<'a, L>,
    /// Lanes that have moved since f(t, y) and its derivatives were evaluated.
    moved: L::Mask,
    /// f(t, y) \[n\].
    pub(crate) slope: Vec<L>,
    pub(crate) derivatives: Derivatives<L>,
    pub(crate) lu: Lu<L, L>,
    work: Vec<L>,
}

impl<'a, L: Lanes> StepMatrix<'a, L> {
    pub(crate) fn new(equations: Linearised<'a, L>) -> Self {
        let (plan, zero) = (equations.plan(), L::lit(0.0));
        let work = vec![zero; equations.workspace()];
        StepMatrix {
            equations,
            moved: L::from_bits(0),
            slope: vec![zero; plan.symbolic().dim()],
            derivatives: Derivatives::new(plan),
            lu: Lu::new(plan.symbolic()),
            work,
        }
    }

    pub(crate) fn plan(&self) -> &'a JacobianPlan {
        self.equations.plan()
    }

    /// f at a point, into `out` \[n\].
    pub(crate) fn evaluate(&mut self, at: &Point<L>, out: &mut [L]) {
        self.equations.slope(at, out, &mut self.work);
    }

    /// Begins anew in the lanes of `restarted` and gives the signed size of the first step, for an error estimate of such an order; `out`
    /// \[n\] is overwritten.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        (at, start): (&Point<L>, &Start<L>),
        restarted: L::Mask,
        cost: &mut Cost,
        (weights, error_order): (&Weights<L>, u32),
        out: &mut [L],
    ) -> L {
        self.moved = self.moved | restarted;
        let mut size = start.length;
        if start.first.is_automatic() {
            // The step that follows starts at this point in all lanes and finds f and J there.
            self.linearise(at, cost);
            let (plan, derivatives, time) = (self.plan(), &self.derivatives, L::lit(1.0));
            let along = Along { plan, direction: &self.slope, time, derivatives, out };
            size = first_step::linearised(weights, (at.t, at.y), along, start.length, error_order);
        }
        first_step::signed(start.first, size, start.length)
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

    /// Linearises and factors for an attempt whose σ is `shift`.
    #[inline(always)]
    pub(crate) fn factor(&mut self, at: &Point<L>, shift: L, cost: &mut Cost) -> Pivots<L> {
        self.linearise(at, cost);
        let mut pivots = Pivots::none();
        L::outline(Factor {
            symbolic: self.equations.plan().symbolic(),
            lu: &mut self.lu,
            jacobian: &self.derivatives.jacobian,
            shift,
            pivots: &mut pivots,
        });
        cost.add_factors::<L>(!L::from_bits(0), 1);
        pivots
    }

    /// The attempt of size `h` with an error norm, by pivots for σ = pole / h.
    #[inline(always)]
    pub(crate) fn attempt(&self, h: L, pole: f64, pivots: &Pivots<L>, mut error: L) -> Attempt<L> {
        let (mut singular, valid) = (L::from_bits(0), pivots.valid);
        if L::bits(!valid) != 0 {
            error = L::select(valid, error, L::lit(f64::NAN));
            singular = !valid & self.derivatives.are_finite(&self.slope);
        }
        let growth = pivots.growth * L::lit(pole);
        Attempt { singular, growth, ..Attempt::new(h, error) }
    }

    /// Learns which lanes accepted the attempt.
    #[inline(always)]
    pub(crate) fn settle(&mut self, accepted: L::Mask) {
        self.moved = self.moved | accepted;
    }
}
