//! Complex eigenvalues: how far methods may step with them.
//!
//! The stability regions of stabilised methods are long along the real axis and narrow beside it: close
//! to it at z their width grows with √|z| alone, whatever the number of stages (Verwer, Sommeijer
//! & Hundsdorfer, J. Comput. Phys. 201 (2004) 61–79). So a velocity, or a reaction that oscillates while it
//! diffuses, limits a step that the spectral radius would allow.
//!
//! Near the imaginary axis no region but that of SSPRK3 has room: other methods make waves that decay
//! slowly, or not at all, grow at any step. How fast they may is the [`slack`].
//!
//! [`slack`]: Spectrum::largest_step

use crate::time::coefficients::Amplification;
use crate::time::eigen::Complex;
use crate::time::method::{MARGIN, Method};
use std::collections::BTreeMap;

/// An eigenvalue counts as real where its imaginary part is this small beside it.
const REAL: f64 = 1e-9;

/// Eigenvalues are told apart by their real parts, so many of them within a factor of two.
const PER_OCTAVE: f64 = 16.0;

/// Slow ones by their sizes: what is kept of those in between differs by 2 % of their limit.
const SLOW_PER_OCTAVE: f64 = 64.0;

/// |R| that counts as one.
pub(super) const ONE: f64 = 1.0 + 1e-9;

/// |hλ| that a step resolves: how such a wave is damped is a matter of accuracy.
pub(super) const RESOLVED: f64 = 0.5;

/// From a step that is tried to the next.
const RATIO: f64 = 1.1;

/// Eigenvalues that turn while they decay slowly, or not at all [1/time]: of those with about the same
/// size the one that decays least.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Slow(BTreeMap<i32, Complex>);

/// How fast a wave decays; zero where it grows.
fn decay_rate(value: &Complex) -> f64 {
    (-value.re).max(0.0)
}

impl Slow {
    /// Takes an eigenvalue in; false where it is none of these: it is real, or decays within half
    /// a turn, or grows faster than it turns.
    pub(crate) fn add(&mut self, value: Complex) -> bool {
        let size = value.abs();
        let turns = value.im.abs() > REAL * size && value.im.abs() > value.re;
        if !(turns && 2.0 * decay_rate(&value) < RESOLVED * size) {
            return false;
        }
        let least = self.0.entry((SLOW_PER_OCTAVE * size.log2()) as i32).or_insert(value);
        if decay_rate(&value) < decay_rate(least) {
            *least = value;
        }
        true
    }

    /// The largest step of forward Euler: that to which it lets none grow, or where it resolves a
    /// wave that by which it grows no faster than `slack`.
    pub(crate) fn euler(&self, slack: f64) -> f64 {
        let limit = |value: &Complex| {
            let (size, decaying) = (value.abs(), decay_rate(value));
            let grows = 2.0 * (decaying + slack) / size;
            (2.0 * decaying / size).max(RESOLVED.min(grows)) / size
        };
        self.0.values().map(limit).fold(f64::INFINITY, f64::min)
    }
}

/// Eigenvalues off the real axis [1/time]: those that decay, of those with about the same real part
/// the one that lies furthest from it, and slow ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spectrum {
    decaying: BTreeMap<i32, Complex>,
    slow: Slow,
}

impl Spectrum {
    /// Takes an eigenvalue in.
    pub(crate) fn add(&mut self, value: Complex) {
        self.slow.add(value);
        if !(value.re < 0.0 && value.im.abs() > REAL * value.abs()) {
            return;
        }
        let turn = |value: &Complex| value.im * value.im / -value.re;
        let worst = self.decaying.entry((PER_OCTAVE * (-value.re).log2()) as i32).or_insert(value);
        if turn(&value) > turn(worst) {
            *worst = value;
        }
    }

    /// The largest step up to `most` such that it, and all smaller ones, let no eigenvalue that decays
    /// grow, and slow ones no faster than by themselves and `slack` [1/time]; `most` is what the
    /// spectral radius allows.
    pub(crate) fn largest_step(&self, method: Method, radius: f64, most: f64, slack: f64) -> f64 {
        if self.decaying.is_empty() && self.slow.0.is_empty() {
            return most;
        }
        let stable = |h: f64| {
            let one = Amplification::new(method, method.stages(h, radius));
            let within = |value: &Complex| {
                let grows = h * MARGIN * (value.re.max(0.0) + slack);
                one.of(value.scale(h * MARGIN)).ln() <= grows + (ONE - 1.0)
            };
            let mut seen = self.decaying.values().filter(|value| h * value.abs() > RESOLVED);
            seen.all(|value| one.of(value.scale(h * MARGIN)) <= ONE)
                && self.slow.0.values().all(within)
        };
        let mut low = (RESOLVED / radius).min(most);
        let least = low * 1e-9;
        while !stable(low) {
            low /= 2.0;
            if low < least {
                return 0.0;
            }
        }
        while low < most {
            let mut high = (low * RATIO).min(most);
            if !stable(high) {
                for _ in 0..20 {
                    let middle = (low + high) / 2.0;
                    *(if stable(middle) { &mut low } else { &mut high }) = middle;
                }
                return low;
            }
            low = high;
        }
        most
    }
}
