//! Ends a system where a component crosses its level.
//!
//! The terminal event is approached by real steps of the method: a step that goes past it is taken
//! again, shorter, by the rule of false position with the Illinois weights (Dowell & Jarratt,
//! BIT 11 (1971) 168–174), so the state at the end has the accuracy of any other step.
//!
//! A step may go past the level and come back. So where a component moves as far as its level is
//! away, the cubic through the states and slopes at both ends of the step (Hairer, Nørsett &
//! Wanner I, sec. II.6) is looked at: if it comes to the level in between, the step is taken
//! again up to its extremum. The same is done where a component that is beyond its level may leave it and
//! come back within a step.
//!
//! Stiffness divides the error estimates of implicit methods, and steps pass the test within which a component that is forced
//! goes to and fro many times. So their cubics are tested: those of exponential methods by the state half-way; those of
//! Rosenbrock methods and Radau, which their stages give, by what they leave of the equation at two places, f(t, p) − p',
//! through the matrix of the step, as error estimates are filtered. Where f jumps within a step of an explicit Runge–Kutta method,
//! the error estimate may not see it, and the cubic makes the turn of the component half as deep as it is: so these cubics are tested
//! by the slopes of the stages. Where the test fails, half the step is taken.

use super::Task;
use super::pack::Pack;
use crate::method::stepper::{Point, Stepper, set_bits};
use crate::options::TerminalEvent;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// A level is reached at it, or beyond it by no more than this fraction of the tolerance there: what goes on from there begins
/// at its level. The middle of that is aimed at.
pub(crate) const FRACTION: f64 = 0.01;

/// A component may move by this much more than its slope at the start and its change say.
pub(crate) const BEND: f64 = 2.0;
/// A step taken again up to an extremum is at least so much shorter.
pub(crate) const SHORTER: f64 = 0.9;

/// A cubic is trusted that misses the middle by no more than this fraction of what the component moves; less than the tolerance
/// is no miss.
pub(crate) const MISS: f64 = 1e-3;
/// The same of a cubic whose slopes are compared with those of stages. Where f jumps so that the component turns within a step, they
/// miss 0.15 (`tsit5`) or more; where f is smooth, stages are of lower order than the cubic, and it is not the cubic that misses.
pub(crate) const STAGE_MISS: f64 = 0.05;
/// The same of a cubic of stages, of what it misses at these places together.
pub(crate) const CUBIC_MISS: f64 = 1e-3;
pub(crate) const PLACES: [f64; 2] = [0.3, 0.7];
/// Evaluations of the right-hand side that a look takes at most.
pub(super) const EVALUATIONS: u32 = PLACES.len() as u32;

/// An attempt.
pub(super) struct Step<'a, L> {
    /// The state at its end \[n\].
    pub(super) state: &'a [L],
    /// The state half-way \[n\], if the method tells.
    pub(super) middle: Option<&'a [L]>,
}

/// What is known of a terminal event that is being approached.
#[derive(Clone, Copy, Default)]
struct Approach {
    /// Time beyond the terminal event, and the weighted excess there.
    beyond: Option<(f64, f64)>,
    /// Steps in a row that went past.
    overshoots: i32,
}

/// What an attempt did, one bit per lane.
#[derive(Default)]
pub(super) struct Sight {
    /// Lanes that stand at the terminal event.
    pub(super) hit: u64,
    /// Lanes that went past it and must take a shorter step.
    pub(super) overshot: u64,
    /// Lanes that approach it.
    approaching: u64,
}

/// Watches the lanes of a pack for the terminal event of their levels.
pub(super) struct Watch<'a, L> {
    event: &'a TerminalEvent,
    atol: f64,
    rtol: f64,
    approaches: [Approach; 64],
    /// Signed size of the next step of lanes that approach.
    steps: [f64; 64],
    /// The state at the end of a step, and f there \[n\].
    end: Vec<L>,
    end_slope: Vec<L>,
    /// Step times slopes of the cubic of the component at both ends of it.
    slopes: [L; 2],
    /// How far the cubic misses the component at the places, or h times its slopes those of the stages, together.
    miss: L,
    /// How far it may, as a fraction of what the component moves.
    most_miss: f64,
    /// Lanes whose steps may have come to the level between their ends.
    doubtful: u64,
}

impl<'a, L: Lanes> Watch<'a, L> {
    pub(super) fn new(event: &'a TerminalEvent, task: &Task<L::Scalar>) -> Self {
        let tolerance = &task.options.tolerance;
        let atol = tolerance.atol_of(task.dim);
        Watch {
            event,
            atol: atol.get(event.component).copied().unwrap_or(0.0),
            rtol: tolerance.rtol,
            approaches: [Approach::default(); 64],
            steps: [0.0; 64],
            end: vec![L::lit(0.0); task.dim],
            end_slope: vec![L::lit(0.0); task.dim],
            slopes: [L::lit(0.0); 2],
            miss: L::lit(0.0),
            most_miss: 0.0,
            doubtful: 0,
        }
    }

    /// How far component i lies beyond the level of lane `l`; negative before it.
    fn excess(&self, pack: &Pack<L>, l: usize, y: L) -> f64 {
        let sign = if self.event.rises { 1.0 } else { -1.0 };
        sign * (y.lane(l).to_f64() - pack.level(l))
    }

    /// The tolerance of the component at the level of lane `l`, times `fraction`; what rounding makes of the level is no distance.
    fn tolerance(&self, pack: &Pack<L>, l: usize, fraction: f64) -> f64 {
        let level = pack.level(l).abs();
        let rounding = 4.0 * L::Scalar::EPSILON * level;
        (fraction * (self.atol + self.rtol * level)).max(rounding)
    }

    /// How far beyond the level of lane `l` counts as at it.
    fn near(&self, pack: &Pack<L>, l: usize) -> f64 {
        self.tolerance(pack, l, FRACTION)
    }

    /// Excesses over a step of lane `l`, and the sign they have kept: negated, less what counts as at the level, if the step begins
    /// at the level or beyond it. Then they, too, are negative at first, and above zero across the level.
    fn across<const N: usize>(&self, pack: &Pack<L>, l: usize, states: [L; N]) -> ([f64; N], f64) {
        if self.excess(pack, l, pack.y[self.event.component]) < 0.0 {
            return (states.map(|y| self.excess(pack, l, y)), 1.0);
        }
        let near = self.near(pack, l);
        (states.map(|y| -self.excess(pack, l, y) - near), -1.0)
    }

    /// Finds the cubics of the steps of size `h` that passed the error test, and where the component moves as far as its level is
    /// away, f at their ends or how far they miss it.
    #[inline(always)]
    pub(super) fn probe<M: Stepper<L> + ?Sized>(
        &mut self,
        stepper: &mut M,
        pack: &mut Pack<L>,
        h: L,
        t_new: L,
        passed: u64,
    ) {
        L::outline(Probe { watch: self, stepper, pack, h, t_new, passed });
    }

    #[inline(always)]
    fn probe_here<M: Stepper<L> + ?Sized>(
        &mut self,
        stepper: &mut M,
        pack: &mut Pack<L>,
        (h, t_new): (L, L),
        passed: u64,
    ) {
        let i = self.event.component;
        let at = Point { t: pack.t, y: &pack.y, p: &pack.p };
        let cubic = stepper.cubic_slopes(&at, i);
        self.slopes = cubic.unwrap_or([stepper.slope()[i] * h, L::lit(0.0)]);
        let state = stepper.state()[i];
        let middle = stepper.middle().map_or(state, |middle| middle[i]);
        self.doubtful = 0;
        for l in set_bits(passed) {
            let ([before, middle, after], _) = self.across(pack, l, [pack.y[i], middle, state]);
            let [start, end] = self.slopes.map(|slope| slope.lane(l).to_f64().abs());
            let moves = start.max(end) + (after - middle).abs() + (middle - before).abs();
            let nearest = before.max(middle).max(after);
            if self.approaches[l].beyond.is_none() && nearest + BEND * moves >= 0.0 {
                self.doubtful |= 1 << l;
            }
        }
        if self.doubtful == 0 {
            return;
        }
        let doubtful = L::from_bits(self.doubtful);
        if cubic.is_some() {
            (self.miss, self.most_miss) = (L::lit(0.0), CUBIC_MISS);
            for theta in PLACES {
                self.miss = self.miss + stepper.cubic_misses(&at, h, theta, i).abs();
            }
            pack.cost.add_fresh::<L>(doubtful, EVALUATIONS);
            return;
        }
        if let Some(slope) = stepper.end_slope() {
            self.slopes[1] = slope[i] * h;
        } else {
            self.end.copy_from_slice(stepper.state());
            let at = Point { t: t_new, y: &self.end, p: &pack.p };
            stepper.evaluate(&at, &mut self.end_slope);
            self.slopes[1] = self.end_slope[i] * h;
            pack.cost.add_fresh::<L>(doubtful, 1);
        }
        self.miss = stepper.stage_misses(h, i, state - pack.y[i], self.slopes);
        self.most_miss = STAGE_MISS;
    }

    /// Where in a step of lane `l`, as a fraction of it, the component crosses the level and comes back,
    /// as far as that can be told; half-way if it cannot.
    fn hidden(&self, pack: &Pack<L>, l: usize, attempt: &Step<L>) -> Option<f64> {
        if self.doubtful >> l & 1 == 0 {
            return None;
        }
        let i = self.event.component;
        let (ends, side) = self.across(pack, l, [pack.y[i], attempt.state[i]]);
        let sign = if self.event.rises { side } else { -side };
        let slopes = self.slopes.map(|slope| slope.lane(l).to_f64() * sign);
        if let Some(middle) = attempt.middle {
            let cubic = (ends[0] + ends[1]) / 2.0 + (slopes[0] - slopes[1]) / 8.0;
            let ([middle], _) = self.across(pack, l, [middle[i]]);
            let moves = (middle - ends[0]).abs() + (ends[1] - middle).abs();
            let most = MISS * (moves + slopes[0].abs() + slopes[1].abs());
            if (middle - cubic).abs() > most.max(self.tolerance(pack, l, 1.0)) {
                return Some(0.5);
            }
        }
        let moves = (ends[1] - ends[0]).abs() + slopes[0].abs() + slopes[1].abs();
        let most = (self.most_miss * moves).max(self.tolerance(pack, l, 1.0));
        let miss = self.miss.lane(l).to_f64();
        // What is no number is no small miss.
        if miss.is_nan() || miss > most {
            return Some(0.5);
        }
        excursion(ends, slopes)
    }

    /// Forgets what was known of these lanes.
    pub(super) fn forget(&mut self, lanes: u64) {
        for l in set_bits(lanes) {
            self.approaches[l] = Approach::default();
        }
    }

    /// Looks at the attempts that passed the error test, from the pack to `t_new`.
    pub(super) fn look(
        &mut self,
        pack: &Pack<L>,
        attempt: &Step<L>,
        t_new: L,
        passed: u64,
    ) -> Sight {
        let mut sight = Sight::default();
        let i = self.event.component;
        for l in set_bits(passed) {
            let (before, after) =
                (self.excess(pack, l, pack.y[i]), self.excess(pack, l, attempt.state[i]));
            let (t0, t1) = (pack.t.lane(l).to_f64(), t_new.lane(l).to_f64());
            let least = 4.0 * L::Scalar::EPSILON * t0.abs().max(t1.abs());
            // A step that does not move the time finds nothing; half of the least is below it in spite of rounding.
            let step = |aimed: f64| aimed.abs().max(0.5 * least).copysign(t1 - t0);
            // Of so few roundings of the time a part may be rounded to the whole again; no level is looked for within.
            let is_short = (t1 - t0).abs() <= 4.0 * least;
            if let Some(fraction) = self.hidden(pack, l, attempt).filter(|_| !is_short) {
                sight.approaching |= 1 << l;
                sight.overshot |= 1 << l;
                self.steps[l] = step((t1 - t0) * fraction.min(SHORTER));
                continue;
            }
            if before >= 0.0 || (after < 0.0 && self.approaches[l].beyond.is_none()) {
                continue;
            }
            let near = self.near(pack, l);
            let approach = &mut self.approaches[l];
            let (bit, aim) = (1 << l, 0.5 * near);
            if after >= 0.0 && (after <= near || (t1 - t0).abs() <= least) {
                sight.hit |= bit;
                continue;
            }
            let aimed = if after >= 0.0 {
                sight.overshot |= bit;
                let (before, after) = (before - aim, after - aim);
                let weighed = before * 0.5_f64.powi(approach.overshoots);
                approach.overshoots += 1;
                approach.beyond = Some((t1, after));
                (t1 - t0) * (weighed / (weighed - after))
            } else if let Some((beyond, excess)) =
                approach.beyond.filter(|(beyond, _)| (beyond - t1).abs() > least)
            {
                approach.overshoots = 0;
                approach.beyond = Some((beyond, 0.5 * excess));
                let after = after - aim;
                (beyond - t1) * (after / (after - excess))
            } else {
                // A step from further back, with another error, went past at this time: the event comes later.
                *approach = Approach::default();
                continue;
            };
            sight.approaching |= bit;
            self.steps[l] = step(aimed);
        }
        sight
    }

    /// The next steps `h`; in lanes that approach those that are aimed, whatever the controller proposes: a step beyond the
    /// event has passed its error test, and what a law makes of steps that were cut may not move the time.
    pub(super) fn aimed(&self, sight: &Sight, mut h: L) -> L {
        for l in set_bits(sight.approaching) {
            h.set_lane(l, L::Scalar::from_f64(self.steps[l]));
        }
        h
    }
}

/// A [probe](Watch::probe), apart from the loop of steps.
struct Probe<'a, 'b, L: Lanes, M: ?Sized> {
    watch: &'a mut Watch<'b, L>,
    stepper: &'a mut M,
    pack: &'a mut Pack<L>,
    h: L,
    t_new: L,
    passed: u64,
}

impl<L: Lanes, M: Stepper<L> + ?Sized> Outlined for Probe<'_, '_, L, M> {
    #[inline(always)]
    fn run(self) {
        let Probe { watch, stepper, pack, h, t_new, passed } = self;
        watch.probe_here(stepper, pack, (h, t_new), passed);
    }
}

/// Where in (0, 1) the cubic with these values and slopes at 0 and 1, below zero at 0, has a
/// maximum at or above zero after which it falls below zero.
fn excursion(ends: [f64; 2], slopes: [f64; 2]) -> Option<f64> {
    let ([p, q], [f, g]) = (ends, slopes);
    // p + f θ + b θ² + a θ³, whose derivative is 3a θ² + 2b θ + f.
    let rise = q - p;
    let (a, b) = (f + g - 2.0 * rise, 3.0 * rise - 2.0 * f - g);
    let value = |x: f64| ((a * x + b) * x + f) * x + p;
    // In units of their size: squares of large states are beyond the range of numbers.
    let size = a.abs() + b.abs() + f.abs();
    let discriminant = (b / size) * (b / size) - 3.0 * (a / size) * (f / size);
    if discriminant.is_nan() || discriminant <= 0.0 {
        return None;
    }
    // The maximum is the root at which the second derivative 6aθ + 2b is negative; both roots in
    // the form that does not cancel.
    let root = size * discriminant.sqrt();
    let peak = if b > 0.0 { -(b + root) / (3.0 * a) } else { f / (root - b) };
    let trough = if b > 0.0 { -f / (b + root) } else { (root - b) / (3.0 * a) };
    let inside = |x: f64| x > 0.0 && x < 1.0;
    let falls = q < 0.0 || (inside(trough) && trough > peak && value(trough) < 0.0);
    (inside(peak) && value(peak) >= 0.0 && falls).then_some(peak)
}

#[cfg(test)]
mod tests {
    use super::excursion;

    #[test]
    fn excursions_of_a_cubic_are_found() {
        // −1 + 6θ(1 − θ): up to 1/2 in the middle.
        let fraction = excursion([-1.0, -1.0], [6.0, -6.0]);
        assert!((fraction.unwrap_or(0.0) - 0.5).abs() < 1e-15);
        // Up to −1/4 only; upward all the way; downward all the way.
        assert_eq!(excursion([-1.0, -1.0], [3.0, -3.0]), None);
        assert_eq!(excursion([-1.0, 1.0], [2.0, 2.0]), None);
        assert_eq!(excursion([-1.0, -2.0], [-1.0, -1.0]), None);
        // Up, down and up again: 8(θ − 0.1)(θ − 0.5)(θ − 0.9) has its maximum before 1/2.
        let p = |x: f64| 8.0 * (x - 0.1) * (x - 0.5) * (x - 0.9);
        let d = |x: f64| 8.0 * (3.0 * x * x - 3.0 * x + 0.59);
        let fraction = excursion([p(0.0), p(1.0)], [d(0.0), d(1.0)]);
        let expected = 0.5 - (0.25 - 0.59 / 3.0_f64).sqrt();
        assert!((fraction.unwrap_or(0.0) - expected).abs() < 1e-12, "{fraction:?}");
        // A maximum late in the step, from a cubic whose square has a positive factor.
        let fraction = excursion([-1.0, -0.1], [0.0, -4.0]);
        assert!(fraction.is_some_and(|x| x > 0.5 && x < 1.0), "{fraction:?}");
    }
}
