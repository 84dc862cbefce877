//! Notices a right-hand side that was not inlined into the lane code.
//!
//! Such a right-hand side gives the right answer some ten times slower: every operation on a pack
//! becomes a function call. The compiler does not say so; the clock does. It is asked once of a system that is
//! integrated many times, and never of systems that are written here.

use super::{Job, OnLanes};
use crate::method::rhs::Equations;
use crate::method::stepper::Point;
use odeum_core::{Isa, Lanes, Scalar};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Below this many systems a run is too short for the question to matter.
const ENOUGH_SYSTEMS: usize = 256;
/// Time one measurement aims at.
const MEASUREMENT: Duration = Duration::from_micros(20);
/// The shortest of several measurements is free of interruptions.
const MEASUREMENTS: usize = 5;

/// The warning of a right-hand side that was not inlined, or none, once that is known.
#[derive(Debug)]
pub(crate) struct Inlining(OnceLock<Option<String>>);

impl Inlining {
    /// Of a system that a caller has written, or not.
    pub(crate) fn new(is_callers: bool) -> Inlining {
        Inlining(if is_callers { OnceLock::new() } else { OnceLock::from(None) })
    }

    /// The warning after a run of so many systems, with state and parameters of one of them.
    pub(super) fn warning<T: Scalar>(
        &self,
        system: &dyn OnLanes<T>,
        isa: Isa,
        (state, params): &(Vec<T>, Vec<T>),
        n_systems: usize,
    ) -> Option<String> {
        if n_systems < ENOUGH_SYSTEMS || isa == Isa::Scalar {
            return None;
        }
        self.0.get_or_init(|| measured(system, isa, state, params)).clone()
    }
}

/// A warning when a pack of lanes takes longer over the right-hand side than its systems would
/// one by one.
fn measured<T: Scalar>(
    system: &dyn OnLanes<T>,
    isa: Isa,
    state: &[T],
    params: &[T],
) -> Option<String> {
    let time = |isa: Isa| {
        let timing = Timing { state, params, found: Cell::new((1, 0.0)) };
        system.run(isa, Job::Time(&timing));
        timing.found.get()
    };
    let ((_, single), (width, pack)) = (time(Isa::Scalar), time(isa));
    (pack > single * width as f64).then(|| {
        format!(
            "the right-hand side gains nothing from lanes: {width} systems at once take {:.0} ns, one \
             takes {:.0} ns. Mark `rhs`, and every function it calls, #[inline(always)]",
            pack * 1e9,
            single * 1e9,
        )
    })
}

/// A measurement: where, and what it gave.
pub(crate) struct Timing<'a, T> {
    state: &'a [T],
    params: &'a [T],
    /// Lanes of the pack, and the time of one evaluation \[s\].
    found: Cell<(usize, f64)>,
}

impl<T: Scalar> Timing<'_, T> {
    #[inline(always)]
    pub(super) fn measure<L: Lanes<Scalar = T>>(&self, system: &dyn Equations<L>) {
        let splat = |from: &[T]| -> Vec<L> { from.iter().map(|&x| L::splat(x)).collect() };
        let (y, p) = (splat(self.state), splat(self.params));
        let mut dydt = y.clone();
        let mut work = vec![L::lit(0.0); system.workspace()];
        let (mut best, mut repeats) = (f64::INFINITY, 1_u32);
        let mut taken = 0;
        while taken < MEASUREMENTS {
            let start = Instant::now();
            for _ in 0..repeats {
                let at = Point { t: black_box(L::lit(0.0)), y: black_box(&y), p: black_box(&p) };
                system.slope(&at, &mut dydt, &mut work);
                black_box(&mut dydt);
            }
            let elapsed = start.elapsed();
            if elapsed < MEASUREMENT && repeats < 1 << 16 {
                repeats *= 2;
                continue;
            }
            best = best.min(elapsed.as_secs_f64() / f64::from(repeats));
            taken += 1;
        }
        self.found.set((L::WIDTH, best));
    }
}
