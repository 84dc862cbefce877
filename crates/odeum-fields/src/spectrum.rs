//! Eigenvalues that damp and turn: how far methods with stages may step with them.
//!
//! The stability regions of stabilised methods are long along the real axis and narrow beside it: close
//! to it at z their width grows with √|z| alone, whatever the number of stages (Verwer, Sommeijer
//! & Hundsdorfer, J. Comput. Phys. 201 (2004) 61–79). So a wind, or a reaction that swings while it
//! diffuses, limits a step that the spectral radius would allow.

use crate::coefficients::Amplification;
use crate::eigen::Complex;
use crate::method::{MARGIN, Method};
use std::collections::BTreeMap;

/// An eigenvalue counts as real where its imaginary part is this small beside it.
const REAL: f64 = 1e-9;

/// Eigenvalues are told apart by their real parts, so many of them within a factor of two.
const PER_OCTAVE: f64 = 16.0;

/// |R| that counts as one.
const ONE: f64 = 1.0 + 1e-9;

/// |hλ| that a step resolves: how such a wave is damped is a matter of accuracy.
const RESOLVED: f64 = 0.5;

/// From a step that is tried to the next.
const RATIO: f64 = 1.1;

/// Damped eigenvalues off the real axis [1/time]: of those with about the same real part the one
/// that lies furthest from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spectrum(BTreeMap<i32, Complex>);

impl Spectrum {
    /// Takes an eigenvalue in.
    pub(crate) fn add(&mut self, value: Complex) {
        if !(value.re < 0.0 && value.im.abs() > REAL * value.abs()) {
            return;
        }
        let turn = |value: &Complex| value.im * value.im / -value.re;
        let worst = self.0.entry((PER_OCTAVE * (-value.re).log2()) as i32).or_insert(value);
        if turn(&value) > turn(worst) {
            *worst = value;
        }
    }

    /// The largest step up to `most` such that it, and all smaller ones, let none of the
    /// eigenvalues grow; `most` is what the spectral radius allows.
    pub(crate) fn largest_step(&self, method: Method, radius: f64, most: f64) -> f64 {
        if self.0.is_empty() {
            return most;
        }
        let stable = |h: f64| {
            let one = Amplification::new(method, method.stages(h, radius));
            let mut seen = self.0.values().filter(|value| h * value.abs() > RESOLVED);
            seen.all(|value| one.of(value.scale(h * MARGIN)) <= ONE)
        };
        let mut low = (RESOLVED / radius).min(most);
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
