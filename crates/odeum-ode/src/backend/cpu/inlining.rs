//! Notices a right-hand side that was not inlined into the lane code.
//!
//! Such a right-hand side gives the right answer some ten times slower: every operation on a pack
//! becomes a function call. The compiler does not say so; the clock does.

use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Lanes, Scalar, System};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Below this many systems a run is too short for the question to matter.
const ENOUGH_SYSTEMS: usize = 256;
/// Time one measurement aims at.
const MEASUREMENT: Duration = Duration::from_micros(20);
/// The shortest of several measurements is free of interruptions.
const MEASUREMENTS: usize = 5;

/// A warning when a pack of lanes takes longer over the right-hand side than its systems would
/// one by one.
pub(super) fn warning<T: Scalar, S: System>(
    system: &S,
    isa: Isa,
    state: &[T],
    params: &[T],
    n_systems: usize,
) -> Option<String> {
    if S::INTERPRETED || n_systems < ENOUGH_SYSTEMS || isa == Isa::Scalar {
        return None;
    }
    let time = |isa: Isa| isa.dispatch(Timing { system, state, params });
    let (single, pack) = (time(Isa::Scalar), time(isa));
    (pack.seconds > single.seconds * pack.width as f64).then(|| {
        format!(
            "the right-hand side gains nothing from lanes: {} systems at once take {:.0} ns, one \
             takes {:.0} ns. Mark `rhs`, and every function it calls, #[inline(always)]",
            pack.width,
            pack.seconds * 1e9,
            single.seconds * 1e9,
        )
    })
}

struct Timing<'a, T, S> {
    system: &'a S,
    state: &'a [T],
    params: &'a [T],
}

struct Timed {
    width: usize,
    /// Of one evaluation of a pack \[s\].
    seconds: f64,
}

impl<T: Scalar, S: System> LaneWork<T> for Timing<'_, T, S> {
    type Output = Timed;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> Timed {
        let splat = |from: &[T]| -> Vec<L> { from.iter().map(|&x| L::splat(x)).collect() };
        let (y, p) = (splat(self.state), splat(self.params));
        let mut dydt = y.clone();
        let mut work = vec![L::lit(0.0); self.system.workspace()];
        let (mut best, mut repeats) = (f64::INFINITY, 1_u32);
        let mut taken = 0;
        while taken < MEASUREMENTS {
            let start = Instant::now();
            for _ in 0..repeats {
                let (t, y, p) = (black_box(L::lit(0.0)), black_box(&y[..]), black_box(&p[..]));
                self.system.rhs_in(t, y, p, &mut dydt, &mut work);
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
        Timed { width: L::WIDTH, seconds: best }
    }
}
