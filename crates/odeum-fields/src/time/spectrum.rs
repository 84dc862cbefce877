//! Complex eigenvalues: how far methods may step with them.
//!
//! The stability regions of stabilised methods are long along the real axis and narrow beside it: close
//! to it at z their width grows with √|z| alone, whatever the number of stages (Verwer, Sommeijer
//! & Hundsdorfer, J. Comput. Phys. 201 (2004) 61–79). So a velocity, or a reaction that oscillates while it
//! diffuses, limits a step that the spectral radius would allow.
//!
//! Near the imaginary axis no region but that of SSPRK3 has room: other methods make waves that decay
//! slowly, or not at all, grow at any step. How fast they may is the [`Slack`].

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

/// Oscillations whose sizes differ by a factor of four at most are about as fast.
const AS_FAST: i32 = 2 * SLOW_PER_OCTAVE as i32;

/// |R| that counts as one.
pub(super) const ONE: f64 = 1.0 + 1e-9;

/// |hλ| that a step resolves: how such a wave is damped is a matter of accuracy.
pub(super) const RESOLVED: f64 = 0.5;

/// From a step that is tried to the next.
const RATIO: f64 = 1.1;

/// How fast waves that decay slowly, or not at all, may be made to grow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slack {
    /// At least [1/time].
    pub(crate) floor: f64,
    /// Or as fast as oscillations about as fast grow by themselves.
    pub(crate) as_others: bool,
}

/// Eigenvalues that turn while they decay slowly, or not at all [1/time], told apart by their sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Slow(BTreeMap<i32, OfSize>);

/// Those of about the same size.
#[derive(Clone, Debug, PartialEq)]
struct OfSize {
    /// The one that decays least.
    least: Complex,
    /// How fast the one grows that grows fastest; zero where none does.
    growth: f64,
}

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
        let of_size = (SLOW_PER_OCTAVE * size.log2()) as i32;
        let own = self.0.entry(of_size).or_insert(OfSize { least: value, growth: 0.0 });
        if decay_rate(&value) < decay_rate(&own.least) {
            own.least = value;
        }
        own.growth = own.growth.max(value.re);
        true
    }

    /// Those that decay least, each with how fast it may be made to grow [1/time].
    fn least(&self, slack: Slack) -> impl Iterator<Item = (Complex, f64)> + '_ {
        self.0.iter().map(move |(of_size, own)| {
            let alike = of_size - AS_FAST..=of_size + AS_FAST;
            let others = if slack.as_others { Some(self.0.range(alike)) } else { None };
            let growths = others.into_iter().flatten().map(|(_, other)| other.growth);
            (own.least, growths.fold(slack.floor, f64::max))
        })
    }

    /// The largest step of forward Euler: that to which it lets none grow, or where it resolves a
    /// wave that by which it grows no faster than it may.
    pub(crate) fn euler(&self, slack: Slack) -> f64 {
        let limit = |(value, slack): (Complex, f64)| {
            let (size, decaying) = (value.abs(), decay_rate(&value));
            let grows = 2.0 * (decaying + slack) / size;
            (2.0 * decaying / size).max(RESOLVED.min(grows)) / size
        };
        self.least(slack).map(limit).fold(f64::INFINITY, f64::min)
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

    /// As that of slow ones.
    pub(crate) fn euler(&self, slack: Slack) -> f64 {
        self.slow.euler(slack)
    }

    /// The largest step up to `most` such that it, and all smaller ones, let no eigenvalue that decays
    /// grow, and slow ones no faster than by themselves and `slack`; `most` is what the
    /// spectral radius allows.
    pub(crate) fn largest_step(&self, method: Method, radius: f64, most: f64, slack: Slack) -> f64 {
        if self.decaying.is_empty() && self.slow.0.is_empty() {
            return most;
        }
        let slow: Vec<(Complex, f64)> = self.slow.least(slack).collect();
        let stable = |h: f64| {
            let one = Amplification::new(method, method.stages(h, radius));
            let within = |(value, slack): &(Complex, f64)| {
                let grows = h * MARGIN * (value.re.max(0.0) + slack);
                one.of(value.scale(h * MARGIN)).ln() <= grows + (ONE - 1.0)
            };
            let mut seen = self.decaying.values().filter(|value| h * value.abs() > RESOLVED);
            seen.all(|value| one.of(value.scale(h * MARGIN)) <= ONE) && slow.iter().all(within)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oscillations_excuse_those_that_are_about_as_fast() {
        let mut slow = Slow::default();
        // One that grows, one that grows without a turn, and undamped ones.
        assert!(slow.add(Complex::new(0.3, 1.0)) && !slow.add(Complex::new(1.0, 0.0)));
        for size in [0.2, 1.0, 3.8, 4.4] {
            slow.add(Complex::new(0.0, size));
        }
        let by_size = |as_others: bool| -> Vec<f64> {
            slow.least(Slack { floor: 0.01, as_others }).map(|(_, slack)| slack).collect()
        };
        assert_eq!(by_size(false), [0.01; 5]);
        assert_eq!(by_size(true), [0.01, 0.3, 0.3, 0.3, 0.01]);
    }
}
