//! What a method must do for the loop that drives it, on a pack of lanes.

use crate::options::FirstStep;
use odeum_core::Lanes;

/// Where the lanes are: one system per lane.
pub(crate) struct Point<'a, L> {
    /// Time.
    pub(crate) t: L,
    /// State \[n\].
    pub(crate) y: &'a [L],
    /// Parameters \[m\].
    pub(crate) p: &'a [L],
}

/// What one step attempt gave.
pub(crate) struct Attempt<L: Lanes> {
    /// Size of the step taken; a method may shorten the one it was asked for.
    pub(crate) h: L,
    /// Error norm of the step: acceptable up to 1, NaN when the new state is not finite.
    pub(crate) error: L,
    /// Lanes that cannot go on, for want of a spectral radius.
    pub(crate) no_radius: L::Mask,
    /// Lanes whose matrix could not be factored; their error is NaN.
    pub(crate) singular: L::Mask,
    /// Lanes whose Newton iteration did not converge; their error is NaN.
    pub(crate) diverged: L::Mask,
    /// hλ of the fastest growth of a perturbation that an implicit method met; zero of others.
    pub(crate) growth: L,
}

impl<L: Lanes> Attempt<L> {
    /// An attempt that nothing stood in the way of.
    #[inline(always)]
    pub(crate) fn new(h: L, error: L) -> Self {
        let none = L::from_bits(0);
        let growth = L::lit(0.0);
        Attempt { h, error, no_radius: none, singular: none, diverged: none, growth }
    }
}

/// What bounds the first step of a span.
pub(crate) struct Start<L> {
    /// Signed length of the piece to integrate.
    pub(crate) length: L,
    /// How the first step is chosen.
    pub(crate) first: First<L>,
}

/// How the first step of a pack is chosen.
#[derive(Clone, Copy)]
pub(crate) enum First<L> {
    /// By the method.
    Automatic,
    /// These sizes.
    Sizes(L),
    /// This fraction of the piece.
    Fraction(f64),
}

impl<L: Lanes> First<L> {
    pub(crate) fn new(option: FirstStep) -> Self {
        match option {
            FirstStep::Automatic => First::Automatic,
            FirstStep::Size(h) => First::Sizes(L::lit(h)),
            FirstStep::Fraction(fraction) => First::Fraction(fraction),
        }
    }

    pub(crate) fn is_automatic(&self) -> bool {
        matches!(self, First::Automatic)
    }
}

/// A method at work on a pack of lanes. Lanes never mix: what a lane gives depends on what it
/// was given alone, and a lane that is not meant keeps its memory to the bit.
pub(crate) trait Stepper<L: Lanes> {
    /// Order of the error estimate.
    fn error_order(&self) -> u32;

    /// Begins anew in the lanes of `restarted` and gives the signed size of the first step there,
    /// no longer than the piece.
    fn begin(&mut self, at: &Point<L>, start: &Start<L>, restarted: L::Mask, cost: &mut Cost) -> L;

    /// Attempts a step of signed size `h` to the time `end` in all lanes; the new state is [`Stepper::state`]. A step to a stop ends there,
    /// which at + h may miss by a rounding: a slope that is kept for the next step is to be that at `end`.
    fn attempt(&mut self, at: &Point<L>, h: L, end: L, cost: &mut Cost) -> Attempt<L>;

    /// The state \[n\] the last attempt led to.
    fn state(&self) -> &[L];

    /// The state \[n\] half-way through the last attempt, of a method whose steps may be longer than a
    /// cubic through their ends can follow.
    fn middle(&self) -> Option<&[L]> {
        None
    }

    /// h times the slopes of component `i` at both ends of the last attempt, of a method whose stages give a cubic. f at the
    /// ends is multiplied by the stiffness: of what small errors there make of it the stages are free.
    fn cubic_slopes(&self, _: &Point<L>, _i: usize) -> Option<[L; 2]> {
        None
    }

    /// How far that cubic misses component `i` at a fraction `theta` of the attempt, of size `h`, from `at`: by one evaluation of f.
    fn cubic_misses(&mut self, _: &Point<L>, _h: L, _theta: f64, _i: usize) -> L {
        L::lit(0.0)
    }

    /// How far h times the slopes of component `i` at stages within the last attempt, of size `h`, are together from those of the cubic
    /// that rises by `rise` between ends with h times `slopes`, of a method whose stages lie on the way.
    fn stage_misses(&self, _h: L, _i: usize, _rise: L, _slopes: [L; 2]) -> L {
        L::lit(0.0)
    }

    /// Evaluations of the right-hand side that one attempt takes at most, a beginning before it
    /// included; `None` without a bound.
    fn most_evaluations(&self) -> Option<u32>;

    /// f \[n\] at the start of the last attempt.
    fn slope(&self) -> &[L];

    /// f \[n\] at its end, of a method whose attempts evaluate it there.
    fn end_slope(&self) -> Option<&[L]> {
        None
    }

    /// f at a point, into `out` \[n\].
    fn evaluate(&mut self, at: &Point<L>, out: &mut [L]);

    /// hλ at which the stability function has its real pole: faster growth is damped instead.
    fn pole(&self) -> f64 {
        f64::INFINITY
    }

    /// The signed size of the next step, after one of size `h` for which the controller gave
    /// `factor`.
    #[inline(always)]
    fn next_step(&self, h: L, factor: L) -> L {
        h * factor
    }

    /// Learns which lanes accepted the attempt.
    fn settle(&mut self, accepted: L::Mask);
}

/// A cubic that rises by so much between ends with h times these slopes, at a fraction of the way: how far it has risen, and h times
/// its slope.
#[inline(always)]
pub(crate) fn cubic_at<L: Lanes>(theta: f64, rise: L, [start, end]: [L; 2]) -> [L; 2] {
    let (theta, two, three) = (L::lit(theta), L::lit(2.0), L::lit(3.0));
    let a = start + end - rise * two;
    let b = rise * three - start * two - end;
    let risen = a.mul_add(theta, b).mul_add(theta, start) * theta;
    let slope = (a * three).mul_add(theta, b * two).mul_add(theta, start);
    [risen, slope]
}

/// What the systems in the lanes have cost so far.
pub(crate) struct Cost {
    /// Evaluations of the right-hand side.
    pub(crate) nfev: [u32; 64],
    /// Those for spectral radii.
    pub(crate) nfev_radius: [u32; 64],
    /// Evaluations of the Jacobian.
    pub(crate) njev: [u32; 64],
    /// Factorisations.
    pub(crate) nlu: [u32; 64],
}

impl Cost {
    pub(crate) fn new() -> Self {
        Cost { nfev: [0; 64], nfev_radius: [0; 64], njev: [0; 64], nlu: [0; 64] }
    }

    pub(crate) fn reset(&mut self, lane: usize) {
        self.set(lane, [0; 4]);
    }

    /// All counts of a lane.
    pub(crate) fn of(&self, lane: usize) -> [u32; 4] {
        [self.nfev[lane], self.nfev_radius[lane], self.njev[lane], self.nlu[lane]]
    }

    /// Sets them.
    pub(crate) fn set(&mut self, lane: usize, counts: [u32; 4]) {
        [self.nfev[lane], self.nfev_radius[lane], self.njev[lane], self.nlu[lane]] = counts;
    }

    /// Counts `evaluations` in every lane of a pack of `width`; of idle lanes the count is not
    /// read.
    #[inline(always)]
    pub(crate) fn add_all(&mut self, width: usize, evaluations: u32) {
        for count in &mut self.nfev[..width] {
            *count += evaluations;
        }
    }

    /// Counts `evaluations` in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn add_fresh<L: Lanes>(&mut self, mask: L::Mask, evaluations: u32) {
        for lane in set_bits(L::bits(mask)) {
            self.nfev[lane] += evaluations;
        }
    }

    /// Counts a Jacobian in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn add_jacobian<L: Lanes>(&mut self, mask: L::Mask) {
        for lane in set_bits(L::bits(mask)) {
            self.njev[lane] += 1;
        }
    }

    /// Counts `factorisations` in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn add_factors<L: Lanes>(&mut self, mask: L::Mask, factorisations: u32) {
        for lane in set_bits(L::bits(mask)) {
            self.nlu[lane] += factorisations;
        }
    }
}

/// The numbers of the lanes whose bit is set, lowest first.
pub(crate) fn set_bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let lane = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            lane
        })
    })
}
