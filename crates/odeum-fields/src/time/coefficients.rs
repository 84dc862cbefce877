//! The coefficients of stages, and what they do to a wave.
//!
//! All methods have the form w₁ = y + μ̃₁ h F₀ and
//! wⱼ = (1 − μ − ν) y + μ wⱼ₋₁ + ν wⱼ₋₂ + μ̃ h F(wⱼ₋₁) − γ̃ h F₀.

use crate::time::eigen::Complex;
use crate::time::method::Method;
use odeum_ode::method::rkc::recurrence::Recurrence;

/// The coefficients of stage j ≥ 2.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) mu: f64,
    pub(crate) nu: f64,
    pub(crate) mu_tilde: f64,
    pub(crate) gamma_tilde: f64,
    /// When the right-hand side is taken, as a fraction of the step.
    pub(crate) theta: f64,
}

/// The stages of a step, one after the other.
pub(crate) enum Stages {
    Rkc(Recurrence<f64>),
    Rkl2 { s: f64, j: f64 },
}

impl Stages {
    pub(crate) fn new(method: Method, stages: u32) -> Stages {
        match method {
            Method::Rkl2 { .. } => Stages::Rkl2 { s: f64::from(stages), j: 1.0 },
            _ => Stages::Rkc(Recurrence::new(f64::from(stages))),
        }
    }

    /// μ̃₁
    pub(crate) fn first(&self) -> f64 {
        match self {
            Stages::Rkc(recurrence) => recurrence.first(),
            Stages::Rkl2 { s, .. } => legendre::b(1.0) * legendre::w1(*s),
        }
    }

    pub(crate) fn advance(&mut self) -> Stage {
        match self {
            Stages::Rkc(recurrence) => {
                let stage = recurrence.advance();
                Stage {
                    mu: stage.mu,
                    nu: stage.nu,
                    mu_tilde: stage.mu_tilde,
                    gamma_tilde: stage.mu_tilde * stage.a,
                    theta: stage.theta,
                }
            }
            Stages::Rkl2 { s, j } => {
                *j += 1.0;
                legendre::stage(*s, *j)
            }
        }
    }
}

/// The second and third stage of SSPRK3, after a step of forward Euler: Shu & Osher 1988, eq. 2.18.
pub(crate) const STRONG: [Stage; 2] = [
    Stage { mu: 0.25, nu: 0.0, mu_tilde: 0.25, gamma_tilde: 0.0, theta: 1.0 },
    Stage { mu: 2.0 / 3.0, nu: 0.0, mu_tilde: 2.0 / 3.0, gamma_tilde: 0.0, theta: 0.5 },
];

/// The coefficients of RKL2: Meyer, Balsara & Aslam 2014, eqs. 15–18.
mod legendre {
    use super::Stage;

    pub(crate) fn b(j: f64) -> f64 {
        if j < 2.0 { 1.0 / 3.0 } else { (j * j + j - 2.0) / (2.0 * j * (j + 1.0)) }
    }

    pub(crate) fn w1(s: f64) -> f64 {
        4.0 / (s * s + s - 2.0)
    }

    /// The time of stage j, as a fraction of the step.
    fn time(s: f64, j: f64) -> f64 {
        if j < 2.0 { b(1.0) * w1(s) } else { (j * j + j - 2.0) / (s * s + s - 2.0) }
    }

    pub(crate) fn stage(s: f64, j: f64) -> Stage {
        let mu = (2.0 * j - 1.0) / j * b(j) / b(j - 1.0);
        let mu_tilde = mu * w1(s);
        Stage {
            mu,
            nu: -(j - 1.0) / j * b(j) / b(j - 2.0),
            mu_tilde,
            gamma_tilde: (1.0 - b(j - 1.0)) * mu_tilde,
            theta: time(s, j - 1.0),
        }
    }
}

/// What a step multiplies an eigenvector by.
pub(crate) struct Amplification {
    first: f64,
    stages: Vec<Stage>,
}

impl Amplification {
    /// Of a method with so many stages.
    pub(crate) fn new(method: Method, stages: u32) -> Amplification {
        match method {
            Method::Euler => return Amplification { first: 1.0, stages: Vec::new() },
            Method::Ssprk3 => return Amplification { first: 1.0, stages: STRONG.to_vec() },
            Method::Rkc { .. } | Method::Rkl2 { .. } => {}
        }
        let mut coefficients = Stages::new(method, stages);
        let first = coefficients.first();
        Amplification { first, stages: (2..=stages).map(|_| coefficients.advance()).collect() }
    }

    /// |R(z)|, with z the step times the eigenvalue.
    pub(crate) fn of(&self, z: Complex) -> f64 {
        let one = Complex::new(1.0, 0.0);
        let [mut before, mut here] = [one, one.add(z.scale(self.first))];
        for stage in &self.stages {
            let rest = one.scale(1.0 - stage.mu - stage.nu);
            let own = here.scale(stage.mu).add(before.scale(stage.nu));
            let rhs = here.scale(stage.mu_tilde).add(one.scale(-stage.gamma_tilde));
            (before, here) = (here, rest.add(own).add(z.mul(rhs)));
        }
        here.abs()
    }

    /// When F is evaluated, as fractions of the step.
    pub(crate) fn times(&self) -> impl Iterator<Item = f64> + '_ {
        std::iter::once(0.0).chain(self.stages.iter().map(|stage| stage.theta))
    }

    /// What a step multiplies the values of `n` species by [n × n], with its size times the matrix of each evaluation.
    pub(crate) fn product(&self, z: &[Vec<Complex>], n: usize) -> Vec<Complex> {
        let one = |k: usize| f64::from(u8::from(k / n == k % n));
        let mut before: Vec<Complex> = (0..n * n).map(|k| Complex::new(one(k), 0.0)).collect();
        let first = |(before, z): (&Complex, &Complex)| before.add(z.scale(self.first));
        let mut here: Vec<Complex> = before.iter().zip(&z[0]).map(first).collect();
        for (stage, own) in self.stages.iter().zip(&z[1..]) {
            let next = |k: usize| {
                let terms = (0..n).map(|m| own[k / n * n + m].mul(here[m * n + k % n]));
                let rhs = terms.fold(Complex::default(), Complex::add).scale(stage.mu_tilde);
                let rest = Complex::new(one(k) * (1.0 - stage.mu - stage.nu), 0.0);
                let blend = here[k].scale(stage.mu).add(before[k].scale(stage.nu));
                rest.add(blend).add(rhs).add(z[0][k].scale(-stage.gamma_tilde))
            };
            let next = (0..n * n).map(next).collect();
            before = std::mem::replace(&mut here, next);
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssprk3_is_of_order_three_and_stable_up_to_its_bound() {
        let step = Amplification::new(Method::Ssprk3, 3);
        let bound = Method::Ssprk3.reach(3);
        for k in 1..=1000 {
            assert!(step.of(Complex::new(-bound * f64::from(k) / 1000.0, 0.0)) <= 1.0 + 1e-13);
            // √3 up the imaginary axis.
            assert!(step.of(Complex::new(0.0, 1.732 * f64::from(k) / 1000.0)) <= 1.0 + 1e-13);
        }
        assert!(step.of(Complex::new(-bound - 1e-6, 0.0)) > 1.0);
        let errors = [0.1, 0.05].map(|z: f64| step.of(Complex::new(-z, 0.0)) - (-z).exp());
        assert!((errors[0] / errors[1]).log2() > 3.9, "{errors:?}");
    }

    #[test]
    fn legendre_steps_are_of_order_two_and_stable_up_to_their_bound() {
        let method = Method::Rkl2 { stages: None };
        for stages in [2, 3, 5, 11, 51] {
            let step = Amplification::new(method, stages);
            let amplification = |z: f64| step.of(Complex::new(z, 0.0));
            let errors = [0.1, 0.05].map(|z: f64| (amplification(-z) - (-z).exp()).abs());
            assert!((errors[0] / errors[1]).log2() > 2.85, "{stages}: {errors:?}");
            let s = f64::from(stages);
            let bound = (s * s + s - 2.0) / 2.0;
            for k in 1..=1000 {
                let amplification = amplification(-bound * f64::from(k) / 1000.0);
                assert!(amplification <= 1.0 + 1e-13);
            }
            assert!(amplification(-bound * 1.2) > 1.0, "{stages}");
        }
    }
}
