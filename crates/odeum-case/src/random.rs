//! Random numbers whose value depends on (seed, system, component) alone, so that an ensemble is
//! the same in whatever pieces it is made.
//!
//! The mixing function is that of SplitMix64.

use odeum_core::random::{GAMMA, mix};

/// A seed for one of several systems or runs, of which neighbouring seeds of all have others.
#[must_use]
pub fn seed_of(seed: u64, system: u64) -> u64 {
    mix(mix(seed.wrapping_add(GAMMA)).wrapping_add(GAMMA.wrapping_mul(system + 1)))
}

/// 64 random bits for the `draw`-th number of a component of a system.
fn bits(seed: u64, system: u64, component: u64, draw: u64) -> u64 {
    let counter = component.wrapping_mul(2).wrapping_add(draw).wrapping_add(1);
    mix(seed_of(seed, system).wrapping_add(GAMMA.wrapping_mul(counter)))
}

/// A number in (0, 1), never an end.
fn open_unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

/// Uniform in (-1, 1).
pub fn uniform(seed: u64, system: u64, component: u64) -> f64 {
    2.0 * open_unit(bits(seed, system, component, 0)) - 1.0
}

/// Normal with mean 0 and standard deviation 1 (Box & Muller), at most [`LARGEST_NORMAL`].
pub fn normal(seed: u64, system: u64, component: u64) -> f64 {
    let radius = (-2.0 * open_unit(bits(seed, system, component, 0)).ln()).sqrt();
    radius * (std::f64::consts::TAU * open_unit(bits(seed, system, component, 1))).cos()
}

/// No normal number exceeds √(2 · 53 · ln 2).
pub const LARGEST_NORMAL: f64 = 8.58;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_right() {
        let n = 100_000_u64;
        let mean = |f: &dyn Fn(u64) -> f64| (0..n).map(f).sum::<f64>() / n as f64;
        assert!(mean(&|s| uniform(1, s, 0)).abs() < 0.01);
        assert!((mean(&|s| uniform(1, s, 3).powi(2)) - 1.0 / 3.0).abs() < 0.01);
        assert!(mean(&|s| normal(1, s, 0)).abs() < 0.01);
        assert!((mean(&|s| normal(1, s, 1).powi(2)) - 1.0).abs() < 0.02);
        assert!((0..n).all(|s| normal(7, s, 0).abs() < LARGEST_NORMAL));
    }

    #[test]
    fn components_and_seeds_are_independent() {
        let n = 100_000_u64;
        let product = |f: &dyn Fn(u64) -> f64| (0..n).map(f).sum::<f64>() / n as f64;
        assert!(product(&|s| uniform(1, s, 0) * uniform(1, s, 1)).abs() < 0.01);
        assert!(product(&|s| uniform(1, s, 0) * uniform(2, s, 0)).abs() < 0.01);
        assert!(product(&|s| uniform(1, s, 0) * uniform(1, s + 1, 0)).abs() < 0.01);
    }
}
