//! A method as the loop of steps calls it: through a pointer.

use crate::method::stepper::{Attempt, Cost, Point, Start, Stepper};
use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// A stepper whose long functions are out of line and compiled for the instruction set: what is called through a
/// pointer is compiled for any CPU.
pub(super) struct OutOfLine<M>(pub(super) M);

impl<L: Lanes, M: Stepper<L>> Stepper<L> for OutOfLine<M> {
    fn error_order(&self) -> u32 {
        self.0.error_order()
    }

    fn begin(&mut self, at: &Point<L>, start: &Start<L>, restarted: L::Mask, cost: &mut Cost) -> L {
        let mut h = L::lit(0.0);
        L::outline(Begin { stepper: &mut self.0, at, start, restarted, cost, h: &mut h });
        h
    }

    fn attempt(&mut self, at: &Point<L>, h: L, end: L, cost: &mut Cost) -> Attempt<L> {
        let mut made = Attempt::new(h, L::lit(0.0));
        L::outline(Try { stepper: &mut self.0, at, h, end, cost, made: &mut made });
        made
    }

    fn state(&self) -> &[L] {
        self.0.state()
    }

    fn middle(&self) -> Option<&[L]> {
        self.0.middle()
    }

    fn cubic_slopes(&self, at: &Point<L>, i: usize) -> Option<[L; 2]> {
        self.0.cubic_slopes(at, i)
    }

    fn cubic_misses(&mut self, at: &Point<L>, h: L, theta: f64, i: usize) -> L {
        let mut miss = L::lit(0.0);
        L::outline(CubicMisses { stepper: &mut self.0, at, h, theta, i, miss: &mut miss });
        miss
    }

    fn stage_misses(&self, h: L, i: usize, rise: L, slopes: [L; 2]) -> L {
        self.0.stage_misses(h, i, rise, slopes)
    }

    fn most_evaluations(&self) -> Option<u32> {
        self.0.most_evaluations()
    }

    fn slope(&self) -> &[L] {
        self.0.slope()
    }

    fn end_slope(&self) -> Option<&[L]> {
        self.0.end_slope()
    }

    fn evaluate(&mut self, at: &Point<L>, out: &mut [L]) {
        L::outline(Evaluate { stepper: &mut self.0, at, out });
    }

    fn pole(&self) -> f64 {
        self.0.pole()
    }

    fn next_step(&self, h: L, factor: L) -> L {
        let mut next = h;
        L::outline(NextStep { stepper: &self.0, h, factor, next: &mut next });
        next
    }

    fn settle(&mut self, accepted: L::Mask) {
        L::outline(Settle { stepper: &mut self.0, accepted });
    }
}

struct Begin<'a, L: Lanes, M> {
    stepper: &'a mut M,
    at: &'a Point<'a, L>,
    start: &'a Start<L>,
    restarted: L::Mask,
    cost: &'a mut Cost,
    h: &'a mut L,
}

impl<L: Lanes, M: Stepper<L>> Outlined for Begin<'_, L, M> {
    #[inline(always)]
    fn run(self) {
        *self.h = self.stepper.begin(self.at, self.start, self.restarted, self.cost);
    }
}

struct Try<'a, L: Lanes, M> {
    stepper: &'a mut M,
    at: &'a Point<'a, L>,
    h: L,
    end: L,
    cost: &'a mut Cost,
    made: &'a mut Attempt<L>,
}

impl<L: Lanes, M: Stepper<L>> Outlined for Try<'_, L, M> {
    #[inline(always)]
    fn run(self) {
        *self.made = self.stepper.attempt(self.at, self.h, self.end, self.cost);
    }
}

struct CubicMisses<'a, L, M> {
    stepper: &'a mut M,
    at: &'a Point<'a, L>,
    h: L,
    theta: f64,
    i: usize,
    miss: &'a mut L,
}

impl<L: Lanes, M: Stepper<L>> Outlined for CubicMisses<'_, L, M> {
    #[inline(always)]
    fn run(self) {
        *self.miss = self.stepper.cubic_misses(self.at, self.h, self.theta, self.i);
    }
}

struct Evaluate<'a, L, M> {
    stepper: &'a mut M,
    at: &'a Point<'a, L>,
    out: &'a mut [L],
}

impl<L: Lanes, M: Stepper<L>> Outlined for Evaluate<'_, L, M> {
    #[inline(always)]
    fn run(self) {
        self.stepper.evaluate(self.at, self.out);
    }
}

struct NextStep<'a, L, M> {
    stepper: &'a M,
    h: L,
    factor: L,
    next: &'a mut L,
}

impl<L: Lanes, M: Stepper<L>> Outlined for NextStep<'_, L, M> {
    #[inline(always)]
    fn run(self) {
        *self.next = self.stepper.next_step(self.h, self.factor);
    }
}

struct Settle<'a, L: Lanes, M> {
    stepper: &'a mut M,
    accepted: L::Mask,
}

impl<L: Lanes, M: Stepper<L>> Outlined for Settle<'_, L, M> {
    #[inline(always)]
    fn run(self) {
        self.stepper.settle(self.accepted);
    }
}
