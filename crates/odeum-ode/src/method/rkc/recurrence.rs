//! The coefficients of Runge–Kutta–Chebyshev, stage by stage, from their closed formulas.

use odeum_core::Real;

/// Damping κ of the stability polynomial (SSV, sec. 2).
pub(crate) const DAMPING: f64 = 2.0 / 13.0;

/// The step of s stages is stable for hσ up to (s² − 1) / this (SSV, sec. 3).
pub const STABILITY: f64 = 1.54;

/// The three-term recurrence of the coefficients over the stages: SSV, eqs. 2.1–2.2; Niemeyer & Sung 2014,
/// eqs. 13–23. The number of stages may differ from lane to lane.
///
/// With y + dⱼ the stages, y the state before the step and F₀ the slope there, d₀ = 0,
/// d₁ = μ̃₁ h F₀, and dⱼ = μ dⱼ₋₁ + ν dⱼ₋₂ + μ̃ h (F(y + dⱼ₋₁) − a F₀).
#[derive(Clone, Copy, Debug)]
pub struct Recurrence<R> {
    w0: R,
    w1: R,
    /// b for j − 2 and j − 1.
    b: [R; 2],
    /// Tⱼ and its derivatives at w₀ for j − 2 and j − 1.
    z: [R; 2],
    dz: [R; 2],
    ddz: [R; 2],
    /// Stage times as fractions of the step.
    theta: [R; 2],
}

/// The coefficients of one stage, from the second on.
#[derive(Clone, Copy, Debug)]
pub struct Stage<R> {
    /// μ, of the stage before.
    pub mu: R,
    /// ν, of the stage before that.
    pub nu: R,
    /// μ̃, of the slope, in units of the step.
    pub mu_tilde: R,
    /// a: what is taken off the slope is this part of the first slope.
    pub a: R,
    /// When the slope is taken, as a fraction of the step.
    pub theta: R,
}

impl<R: Real> Recurrence<R> {
    /// For a step of so many stages, at least 2.
    #[inline(always)]
    pub fn new(stages: R) -> Recurrence<R> {
        let one = R::lit(1.0);
        let w0 = one + R::lit(DAMPING) / (stages * stages);
        let w0_excess = w0 * w0 - one;
        let root = w0_excess.sqrt();
        let angle = stages * (w0 + root).ln();
        let (sinh, cosh) = (angle.sinh(), angle.cosh());
        let w1 = sinh * w0_excess / (cosh * stages * root - w0 * sinh);

        // b₀ = b₁ = b₂ = T₂''/T₂'² at w₀.
        let b = [one / (R::lit(4.0) * w0 * w0); 2];
        let zero = R::lit(0.0);
        let (z, dz, ddz) = ([one, w0], [zero, one], [zero; 2]);
        Recurrence { w0, w1, b, z, dz, ddz, theta: [zero, w1 * b[1]] }
    }

    /// μ̃₁, of the first stage.
    #[inline(always)]
    pub fn first(&self) -> R {
        self.w1 * self.b[1]
    }

    /// The next stage.
    #[inline(always)]
    pub fn advance(&mut self) -> Stage<R> {
        let (one, two) = (R::lit(1.0), R::lit(2.0));
        let Recurrence { w0, w1, b, z, dz, ddz, theta } = *self;
        let twice_w0 = two * w0;
        let zj = twice_w0 * z[1] - z[0];
        let dzj = twice_w0 * dz[1] - dz[0] + two * z[1];
        let ddzj = twice_w0 * ddz[1] - ddz[0] + R::lit(4.0) * dz[1];
        let bj = ddzj / (dzj * dzj);
        let a = one - z[1] * b[1];
        let mu = twice_w0 * bj / b[1];
        let nu = -(bj / b[0]);
        let mu_tilde = mu * w1 / w0;
        let theta_j = mu * theta[1] + nu * theta[0] + mu_tilde * (one - a);
        self.theta = [theta[1], theta_j];
        self.b = [b[1], bj];
        (self.z, self.dz, self.ddz) = ([z[1], zj], [dz[1], dzj], [ddz[1], ddzj]);
        Stage { mu, nu, mu_tilde, a, theta: theta[1] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stability polynomial R(z) of the step, on y' = λ y with z = hλ.
    fn amplification(stages: u32, z: f64) -> f64 {
        let mut recurrence = Recurrence::new(f64::from(stages));
        let mut d = [0.0, recurrence.first() * z];
        for _ in 2..=stages {
            let c = recurrence.advance();
            let slope = z * (1.0 + d[1] - c.a);
            d = [d[1], c.mu * d[1] + c.nu * d[0] + c.mu_tilde * slope];
        }
        1.0 + d[1]
    }

    #[test]
    fn steps_are_of_order_two_and_stable_up_to_their_bound() {
        for stages in [2, 3, 5, 10, 50] {
            let errors = [0.1, 0.05].map(|z: f64| (amplification(stages, -z) - (-z).exp()).abs());
            assert!((errors[0] / errors[1]).log2() > 2.85, "{stages}: {errors:?}");
            let bound = (f64::from(stages).powi(2) - 1.0) / STABILITY;
            for k in 1..=1000 {
                assert!(amplification(stages, -bound * f64::from(k) / 1000.0).abs() <= 1.0);
            }
            assert!(amplification(stages, -bound * 1.4).abs() > 1.0, "{stages}");
        }
    }
}
