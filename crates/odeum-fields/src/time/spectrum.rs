//! Complex eigenvalues: how far methods may step with them.
//!
//! The stability regions of stabilised methods are long along the real axis and narrow beside it: close
//! to it at z their width grows with √|z| alone, whatever the number of stages (Verwer, Sommeijer
//! & Hundsdorfer, J. Comput. Phys. 201 (2004) 61–79). So a velocity, or a reaction that oscillates while it
//! diffuses, limits a step that the spectral radius would allow.
//!
//! Near the imaginary axis no region but that of SSPRK3 has room: other methods make waves that decay
//! slowly, or not at all, grow at any step. How fast they may is the [`AllowedGrowth`].

use crate::time::coefficients::Amplification;
use crate::time::eigen::Complex;
use crate::time::method::{MARGIN, Method};
use std::collections::BTreeMap;

/// An eigenvalue counts as real where its imaginary part is this small beside it.
const REAL: f64 = 1e-9;

/// Eigenvalues are told apart by their real parts, so many of them within a factor of two.
const PER_OCTAVE: f64 = 16.0;

/// Weakly damped ones by their sizes: what is kept of those in between differs by 2 % of their limit.
const BINS_PER_OCTAVE: f64 = 64.0;

/// Oscillations whose sizes differ by a factor of four at most are about as fast.
const AS_FAST: i32 = 2 * BINS_PER_OCTAVE as i32;

/// |R| that counts as one.
pub(super) const ONE: f64 = 1.0 + 1e-9;

/// |hλ| that a step resolves: how such a wave is damped is a matter of accuracy.
pub(super) const RESOLVED: f64 = 0.5;

/// From a step that is tried to the next.
const RATIO: f64 = 1.1;

/// How fast waves that decay slowly, or not at all, may be made to grow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllowedGrowth {
    /// At least [1/time].
    pub(crate) rate: f64,
    /// Or as fast as oscillations about as fast grow by themselves.
    pub(crate) up_to_neighbours: bool,
}

/// Eigenvalues of oscillations that decay slowly, or not at all [1/time], told apart by their sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WeaklyDamped(BTreeMap<i32, SizeBin>);

/// Those of about the same size.
#[derive(Clone, Debug, PartialEq)]
struct SizeBin {
    /// The one that decays least.
    least: Complex,
    /// How fast the one grows that grows fastest; zero where none does.
    growth: f64,
}

/// How fast a wave decays; zero where it grows.
fn decay_rate(value: &Complex) -> f64 {
    (-value.re).max(0.0)
}

impl WeaklyDamped {
    /// Takes an eigenvalue in; false where it is none of these: it is real, or decays within half
    /// a period, or grows faster than it oscillates.
    pub(crate) fn add(&mut self, value: Complex) -> bool {
        let size = value.abs();
        let oscillates = value.im.abs() > REAL * size && value.im.abs() > value.re;
        if !(oscillates && 2.0 * decay_rate(&value) < RESOLVED * size) {
            return false;
        }
        let bin = (BINS_PER_OCTAVE * size.log2()) as i32;
        let own = self.0.entry(bin).or_insert(SizeBin { least: value, growth: 0.0 });
        if decay_rate(&value) < decay_rate(&own.least) {
            own.least = value;
        }
        own.growth = own.growth.max(value.re);
        true
    }

    /// Those that decay least, each with how fast it may be made to grow [1/time].
    fn least(&self, allowed: AllowedGrowth) -> impl Iterator<Item = (Complex, f64)> + '_ {
        self.0.iter().map(move |(bin, own)| {
            let alike = bin - AS_FAST..=bin + AS_FAST;
            let others = if allowed.up_to_neighbours { Some(self.0.range(alike)) } else { None };
            let growths = others.into_iter().flatten().map(|(_, other)| other.growth);
            (own.least, growths.fold(allowed.rate, f64::max))
        })
    }

    /// The largest step of forward Euler: that to which it lets none grow, or where it resolves a
    /// wave that by which it grows no faster than it may.
    pub(crate) fn euler(&self, allowed: AllowedGrowth) -> f64 {
        let limit = |(value, allowed): (Complex, f64)| {
            let (size, decaying) = (value.abs(), decay_rate(&value));
            let grows = 2.0 * (decaying + allowed) / size;
            (2.0 * decaying / size).max(RESOLVED.min(grows)) / size
        };
        self.least(allowed).map(limit).fold(f64::INFINITY, f64::min)
    }
}

/// Eigenvalues off the real axis [1/time]: those that decay, of those with about the same real part
/// the one that lies furthest from it, and weakly damped ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spectrum {
    decaying: BTreeMap<i32, Complex>,
    weakly_damped: WeaklyDamped,
}

impl Spectrum {
    /// Takes an eigenvalue in.
    pub(crate) fn add(&mut self, value: Complex) {
        self.weakly_damped.add(value);
        if !(value.re < 0.0 && value.im.abs() > REAL * value.abs()) {
            return;
        }
        let width = |value: &Complex| value.im * value.im / -value.re;
        let worst = self.decaying.entry((PER_OCTAVE * (-value.re).log2()) as i32).or_insert(value);
        if width(&value) > width(worst) {
            *worst = value;
        }
    }

    /// As that of weakly damped ones.
    pub(crate) fn euler(&self, allowed: AllowedGrowth) -> f64 {
        self.weakly_damped.euler(allowed)
    }

    /// The largest step up to `most` such that it, and all smaller ones, let no eigenvalue that decays
    /// grow, and weakly damped ones no faster than by themselves and `allowed`; `most` is what the
    /// spectral radius allows.
    pub(crate) fn largest_step(
        &self,
        method: Method,
        radius: f64,
        most: f64,
        allowed: AllowedGrowth,
    ) -> f64 {
        if self.decaying.is_empty() && self.weakly_damped.0.is_empty() {
            return most;
        }
        let weakly_damped: Vec<(Complex, f64)> = self.weakly_damped.least(allowed).collect();
        let stable = |h: f64| {
            let one = Amplification::new(method, method.stages(h, radius));
            let within = |(value, allowed): &(Complex, f64)| {
                let grows = h * MARGIN * (value.re.max(0.0) + allowed);
                one.of(value.scale(h * MARGIN)).ln() <= grows + (ONE - 1.0)
            };
            let mut seen = self.decaying.values().filter(|value| h * value.abs() > RESOLVED);
            seen.all(|value| one.of(value.scale(h * MARGIN)) <= ONE)
                && weakly_damped.iter().all(within)
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
        let mut waves = WeaklyDamped::default();
        // One that grows, one that grows without oscillating, and undamped ones.
        assert!(waves.add(Complex::new(0.3, 1.0)) && !waves.add(Complex::new(1.0, 0.0)));
        for size in [0.2, 1.0, 3.8, 4.4] {
            waves.add(Complex::new(0.0, size));
        }
        let by_size = |up_to_neighbours: bool| -> Vec<f64> {
            let allowed = AllowedGrowth { rate: 0.01, up_to_neighbours };
            waves.least(allowed).map(|(_, rate)| rate).collect()
        };
        assert_eq!(by_size(false), [0.01; 5]);
        assert_eq!(by_size(true), [0.01, 0.3, 0.3, 0.3, 0.01]);
    }
}
