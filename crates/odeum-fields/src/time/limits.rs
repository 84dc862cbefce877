//! Limits of the steps of coupled species, from the eigenvalues of waves.

use crate::time::eigen::{Complex, eigenvalues};
use crate::time::linearised::{Parts, Wave};
use crate::time::spectrum::{Spectrum, WeaklyDamped};
use crate::time::wave_series::{WaveSeries, golden_section_max};

/// What grows more slowly than this part of its |λ| counts as neutral: rounding makes that much of it.
const NEUTRAL: f64 = 1e-6;

/// What limits the steps of coupled species [1/time], as of [`Stability`](crate::Stability).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limits {
    /// The largest step of forward Euler but for weakly damped waves \[time\].
    pub(super) decaying: f64,
    pub(super) radius: f64,
    pub(super) growth: f64,
    pub(super) growing_radius: f64,
    /// The largest |λ| of what is the same everywhere: how fast reactions change it.
    pub(super) reaction: f64,
    /// What limits forward Euler beside that, and methods with stages beside the radius.
    pub(super) weakly_damped: WeaklyDamped,
    pub(super) spectrum: Spectrum,
    /// Of waves that no velocity carries.
    pub(super) spectrum_without_velocity: Spectrum,
}

impl Default for Limits {
    /// Those of nothing.
    fn default() -> Limits {
        Limits {
            decaying: f64::INFINITY,
            radius: 0.0,
            growth: 0.0,
            growing_radius: 0.0,
            reaction: 0.0,
            weakly_damped: WeaklyDamped::default(),
            spectrum: Spectrum::default(),
            spectrum_without_velocity: Spectrum::default(),
        }
    }
}

/// Linearisations about some states, and the species that are judged.
pub(super) type Matrices<'a> = (&'a [Parts], &'a [usize]);

impl Limits {
    /// No step is stable about values so large that what follows from them is beyond all numbers.
    pub(super) fn allow_nothing(&mut self) {
        (self.decaying, self.radius) = (0.0, f64::INFINITY);
    }

    /// Lowers the limits by the eigenvalues of some matrices on these waves, and on the wave that grows fastest of those of series.
    pub(super) fn add_all(
        &mut self,
        (matrices, species): Matrices<'_>,
        waves: &[Wave],
        series: &[WaveSeries<'_>],
    ) {
        let mut best: Option<(f64, &Parts, &WaveSeries<'_>, usize)> = None;
        for parts in matrices {
            let mut add = |wave: &Wave| self.add(parts, species, wave);
            let growths: Vec<f64> = waves.iter().map(&mut add).collect();
            for one in series {
                let own: Vec<f64> = one.waves.iter().map(&mut add).collect();
                for (k, growth) in own.iter().enumerate() {
                    let before = if k == 0 { growths[0] } else { own[k - 1] };
                    let is_peak = *growth > before && own.get(k + 1).is_none_or(|g| growth >= g);
                    if is_peak && best.is_none_or(|(most, ..)| *growth > most) {
                        best = Some((*growth, parts, one, k));
                    }
                }
            }
        }
        if let Some((_, parts, one, k)) = best {
            let number = |k: usize| one.numbers[k.min(one.numbers.len() - 1)];
            let between = (number(k.saturating_sub(1)), number(k + 1));
            golden_section_max(between, |number| self.add(parts, species, &(one.of)(number)));
        }
    }

    /// Takes in how fast an eigenvalue of this size grows.
    fn add_growth(&mut self, value: Complex, size: f64) {
        self.growth = self.growth.max(value.re);
        if value.re > NEUTRAL * size {
            self.growing_radius = self.growing_radius.max(size);
        }
    }

    /// Lowers the limits by the eigenvalues of a wave, of which it returns the largest real part.
    fn add(&mut self, parts: &Parts, species: &[usize], wave: &Wave) -> f64 {
        let n = species.len();
        let mut fastest = f64::NEG_INFINITY;
        let uniform = wave.laplacian.iter().chain(&wave.star).all(|symbol| *symbol == 0.0)
            && wave.velocity == Complex::default();
        for value in eigenvalues(&mut parts.matrix(species, wave, wave.velocity), n) {
            let size = value.abs();
            if !size.is_finite() {
                // A derivative that is not finite says nothing about the size of a step.
                if parts.is_finite() {
                    self.allow_nothing();
                }
                continue;
            }
            self.radius = self.radius.max(size);
            if uniform {
                self.reaction = self.reaction.max(size);
            }
            fastest = fastest.max(value.re);
            self.add_growth(value, size);
            self.spectrum.add(value);
            if wave.velocity == Complex::default() {
                self.spectrum_without_velocity.add(value);
            }
            // Waves that grow do so by themselves.
            if !self.weakly_damped.add(value) && value.re < 0.0 {
                self.decaying = self.decaying.min(-2.0 * value.re / (size * size));
            }
        }
        // Forward Euler is limited by new extrema instead, and the radius is that of upwind.
        if let Some(third) = wave.third
            && !uniform
        {
            for value in eigenvalues(&mut parts.matrix(species, wave, third), n) {
                let size = value.abs();
                if size.is_finite() {
                    fastest = fastest.max(value.re);
                    // By upwinding long waves decay that the scheme lets grow.
                    self.add_growth(value, size);
                }
                self.spectrum.add(value);
            }
        }
        fastest
    }
}
