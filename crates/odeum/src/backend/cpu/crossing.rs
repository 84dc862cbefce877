//! Ends a system where a component crosses its level.
//!
//! The crossing is approached by real steps of the method: a step that goes past it is taken
//! again, shorter, by the rule of false position with the Illinois weights (Dowell & Jarratt,
//! BIT 11 (1971) 168–174), so the state at the end has the accuracy of any other step.

use super::Task;
use super::pack::Pack;
use crate::method::stepper::set_bits;
use crate::options::Crossing;
use odeum_core::{Lanes, Scalar};

/// A level is reached within this share of the tolerance there.
const SHARE: f64 = 0.01;

/// What is known of a crossing that is being approached.
#[derive(Clone, Copy, Default)]
struct Approach {
    /// Time beyond the crossing, and the weighted excess there.
    beyond: Option<(f64, f64)>,
    /// Steps in a row that went past.
    overshoots: i32,
}

/// What an attempt did, one bit per lane.
#[derive(Default)]
pub(super) struct Sight {
    /// Lanes that stand at the crossing.
    pub(super) hit: u64,
    /// Lanes that went past it and must take a shorter step.
    pub(super) overshot: u64,
    /// Lanes that approach it.
    approaching: u64,
}

/// Watches the lanes of a pack for the crossing of their levels.
pub(super) struct Watch<'a> {
    crossing: &'a Crossing,
    atol: f64,
    rtol: f64,
    approaches: [Approach; 64],
    /// Signed size of the next step of lanes that approach.
    steps: [f64; 64],
}

impl<'a> Watch<'a> {
    pub(super) fn new<T: Scalar>(crossing: &'a Crossing, task: &Task<T>) -> Self {
        let tolerance = &task.options.tolerance;
        let atol = tolerance.atol_of(task.ensemble.dim());
        Watch {
            crossing,
            atol: atol.get(crossing.component).copied().unwrap_or(0.0),
            rtol: tolerance.rtol,
            approaches: [Approach::default(); 64],
            steps: [0.0; 64],
        }
    }

    /// Forgets what was known of these lanes.
    pub(super) fn forget(&mut self, lanes: u64) {
        for l in set_bits(lanes) {
            self.approaches[l] = Approach::default();
        }
    }

    /// Looks at the attempts that passed the error test, from the pack to `state` at `t_new`.
    pub(super) fn look<L: Lanes>(
        &mut self,
        pack: &Pack<L>,
        state: &[L],
        t_new: L,
        passed: u64,
    ) -> Sight {
        let mut sight = Sight::default();
        let i = self.crossing.component;
        let sign = if self.crossing.rises { 1.0 } else { -1.0 };
        for l in set_bits(passed) {
            let level = self.crossing.level(pack.system(l));
            let excess = |y: L| sign * (y.lane(l).to_f64() - level);
            let (before, after) = (excess(pack.y[i]), excess(state[i]));
            let (t0, t1) = (pack.t.lane(l).to_f64(), t_new.lane(l).to_f64());
            let approach = &mut self.approaches[l];
            if before >= 0.0 || (after < 0.0 && approach.beyond.is_none()) {
                continue;
            }
            let near = SHARE * (self.atol + self.rtol * level.abs());
            let least = 4.0 * L::Scalar::EPSILON * t0.abs().max(t1.abs());
            let bit = 1 << l;
            if after.abs() <= near || (after >= 0.0 && (t1 - t0).abs() <= least) {
                sight.hit |= bit;
                continue;
            }
            sight.approaching |= bit;
            if after >= 0.0 {
                sight.overshot |= bit;
                let weighed = before * 0.5_f64.powi(approach.overshoots);
                approach.overshoots += 1;
                approach.beyond = Some((t1, after));
                self.steps[l] = (t1 - t0) * (weighed / (weighed - after));
            } else if let Some((beyond, excess)) = approach.beyond {
                approach.overshoots = 0;
                approach.beyond = Some((beyond, 0.5 * excess));
                self.steps[l] = (beyond - t1) * (after / (after - excess));
            }
        }
        sight
    }

    /// The next steps `h`, shortened in lanes that approach.
    pub(super) fn aimed<L: Lanes>(&self, sight: &Sight, mut h: L) -> L {
        for l in set_bits(sight.approaching) {
            let aimed = self.steps[l];
            if aimed.abs() < h.lane(l).to_f64().abs() || sight.overshot >> l & 1 == 1 {
                h.set_lane(l, L::Scalar::from_f64(aimed));
            }
        }
        h
    }
}
