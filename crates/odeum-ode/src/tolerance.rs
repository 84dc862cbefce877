//! How accurate a solution must be: the one definition of error weights and norms.

use odeum_core::{Argument, Error, Lanes, Real, Scalar};

/// Absolute tolerance: one for all components, or one for each.
#[derive(Clone, Debug, PartialEq)]
pub enum Atol {
    /// The same for every component.
    Scalar(f64),
    /// One per component \[n\].
    PerComponent(Vec<f64>),
}

impl Atol {
    /// That of a component; zero where there is none.
    pub fn at(&self, component: usize) -> f64 {
        match self {
            Atol::Scalar(atol) => *atol,
            Atol::PerComponent(each) => each.get(component).copied().unwrap_or(0.0),
        }
    }

    /// The smallest of all components.
    pub fn least(&self) -> f64 {
        match self {
            Atol::Scalar(atol) => *atol,
            Atol::PerComponent(each) => each.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }
}

/// How the errors of the components become one number, which a step must bring to 1 or below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Norm {
    /// sqrt( 1/n Σ (eᵢ / (atolᵢ + rtol·max(|yᵢ|, |yᵢ⁺|)))² ), with the state before and after the
    /// step. Hairer, Nørsett & Wanner, *Solving ODEs I*, eq. II.4.10 and 4.11.
    #[default]
    WeightedRms,
    /// maxᵢ |eᵢ| / (rtol·(|yᵢ| + |h fᵢ| + 1e-30)): a purely relative test on state and slope.
    /// `atol` is not used. Niemeyer & Sung 2014, eq. 11 (after Press et al., sec. 16.2).
    StateAndRate,
}

/// Tolerance of the local error.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: Atol,
    /// How component errors become one number.
    pub norm: Norm,
}

/// An absolute tolerance as it is used: never zero, so that a component that is zero and stays so
/// has no error.
pub(crate) fn used_atol<T: Scalar>(atol: f64) -> f64 {
    atol.max(T::MIN_POSITIVE)
}

/// Keeps the scale of [`Norm::StateAndRate`] above zero (Niemeyer & Sung 2014's δ).
pub(crate) const TINY: f64 = 1e-30;

impl Tolerance {
    /// Relative tolerance and one absolute tolerance, in the weighted RMS norm.
    pub fn new(rtol: f64, atol: f64) -> Self {
        Tolerance { rtol, atol: Atol::Scalar(atol), norm: Norm::WeightedRms }
    }

    /// A relative tolerance and an absolute one for each component \[n\].
    pub fn per_component(rtol: f64, atol: Vec<f64>) -> Self {
        Tolerance { rtol, atol: Atol::PerComponent(atol), norm: Norm::WeightedRms }
    }

    /// The tolerance ε of Niemeyer & Sung 2014, relative to state and slope ([`Norm::StateAndRate`]).
    pub fn state_and_rate(eps: f64) -> Self {
        Tolerance { rtol: eps, atol: Atol::Scalar(0.0), norm: Norm::StateAndRate }
    }

    /// The absolute tolerance of every component \[n\].
    pub fn atol_of(&self, dim: usize) -> Vec<f64> {
        match &self.atol {
            Atol::Scalar(atol) => vec![*atol; dim],
            Atol::PerComponent(atol) => atol.clone(),
        }
    }

    /// Refuses what precision `T` cannot give, and what has no meaning.
    ///
    /// # Errors
    /// A relative tolerance below four roundings of `T` or not below one, an absolute one that is negative or not finite, and not one
    /// for each of the `dim` components.
    pub fn check<T: Scalar>(&self, dim: usize) -> Result<(), Error> {
        let least = 4.0 * T::EPSILON;
        if !(self.rtol >= least && self.rtol < 1.0) {
            return Err(Error::input(
                "rtol",
                self.rtol,
                format!("must lie between {least:.1e} (four roundings of {}) and 1", T::NAME),
            ));
        }
        let atol = self.atol_of(dim);
        if atol.len() != dim {
            return Err(Error::input(
                "atol",
                format!("{} values", atol.len()),
                format!("give one value, or one for each of the {dim} components"),
            ));
        }
        if let Some(i) = atol.iter().position(|a| !(*a >= 0.0 && a.is_finite())) {
            return Err(Error::input(
                Argument::new("atol").at(i),
                atol[i],
                "must be zero or positive, and finite",
            ));
        }
        Ok(())
    }
}

/// A tolerance made ready for one lane pack: the norm as running sums over components.
#[derive(Clone, Debug)]
pub(crate) struct Weights<L> {
    rtol: L,
    atol: Vec<L>,
    norm: Norm,
}

impl<L: Lanes> Weights<L> {
    pub(crate) fn new(tolerance: &Tolerance, dim: usize) -> Self {
        Weights {
            rtol: L::lit(tolerance.rtol),
            atol: tolerance
                .atol_of(dim)
                .into_iter()
                .map(|atol| L::lit(used_atol::<L::Scalar>(atol)))
                .collect(),
            norm: tolerance.norm,
        }
    }

    pub(crate) fn norm(&self) -> Norm {
        self.norm
    }

    /// The absolute tolerance of component `i`, above zero.
    #[inline(always)]
    pub(crate) fn atol(&self, i: usize) -> L {
        self.atol[i]
    }

    /// The weight of component `i` in the weighted RMS norm.
    #[inline(always)]
    pub(crate) fn scale(&self, i: usize, before: L, after: L) -> L {
        largest(before.abs(), after.abs()).mul_add(self.rtol, self.atol[i])
    }

    /// |e| over the scale of [`Norm::StateAndRate`].
    #[inline(always)]
    pub(crate) fn slope_ratio(&self, error: L, before: L, step_slope: L) -> L {
        let scale = before.abs() + step_slope.abs() + L::lit(TINY);
        error.abs() / (self.rtol * scale)
    }

    /// What an error of component `i` is multiplied by, where no new state is known yet.
    #[inline(always)]
    pub(crate) fn inverse_scale(&self, i: usize, before: L, step_slope: L) -> L {
        match self.norm {
            Norm::WeightedRms => self.scale(i, before, before).recip(),
            Norm::StateAndRate => self.slope_ratio(L::lit(1.0), before, step_slope),
        }
    }

    /// What component `i` may err by in the state `y`, whatever it was before and its slope.
    #[inline(always)]
    pub(crate) fn scale_at(&self, i: usize, y: L) -> L {
        match self.norm {
            Norm::WeightedRms => self.scale(i, y, y),
            Norm::StateAndRate => self.rtol * (y.abs() + L::lit(TINY)),
        }
    }

    /// The norm of `by` times errors \[n\], each component times its [inverse scale](Self::inverse_scale);
    /// NaN when a component is. Products are squared: vectors may be of any size where the norm is not.
    #[inline(always)]
    pub(crate) fn norm_of(&self, errors: &[L], inverse_scales: &[L], by: f64) -> L {
        let (n, by) = (errors.len(), L::lit(by));
        let mut norm = L::lit(0.0);
        for i in 0..n {
            let ratio = errors[i] * inverse_scales[i] * by;
            norm = match self.norm {
                Norm::WeightedRms => ratio.mul_add(ratio, norm),
                Norm::StateAndRate => norm.max(ratio.abs()),
            };
        }
        match self.norm {
            Norm::WeightedRms => (norm / L::lit(n as f64)).sqrt(),
            Norm::StateAndRate => norm,
        }
    }

    /// The error norm of a step of size `h` from `y`, where the slope is `slope`, to `candidate`
    /// with errors `error_estimate` (all \[n\]); NaN unless the new state and every error are finite.
    #[inline(always)]
    pub(crate) fn error_norm(
        &self,
        y: &[L],
        candidate: &[L],
        error_estimate: &[L],
        slope: &[L],
        h: L,
    ) -> L {
        let n = y.len();
        let (candidate, error_estimate, slope) =
            (&candidate[..n], &error_estimate[..n], &slope[..n]);
        let zero = L::lit(0.0);
        let (mut non_finite, mut norm) = (zero, zero);
        for i in 0..n {
            // Zero times a number is zero unless the number is NaN or infinite.
            non_finite = candidate[i].mul_add(zero, error_estimate[i].mul_add(zero, non_finite));
        }
        match self.norm {
            Norm::WeightedRms => {
                for i in 0..n {
                    let ratio = error_estimate[i] / self.scale(i, y[i], candidate[i]);
                    norm = ratio.mul_add(ratio, norm);
                }
                norm = (norm / L::lit(n as f64)).sqrt();
            }
            Norm::StateAndRate => {
                for i in 0..n {
                    let ratio = self.slope_ratio(error_estimate[i], y[i], h * slope[i]);
                    norm = largest(norm, ratio);
                }
            }
        }
        norm + non_finite
    }
}

/// Sums of squares below this may have lost digits, or all of them, where what was squared has not.
pub(crate) fn underflow<S: Scalar>() -> f64 {
    S::MIN_POSITIVE / S::EPSILON
}

/// The larger of two, for values whose NaN is caught elsewhere: cheaper than [`Real::max`].
#[inline(always)]
pub(crate) fn largest<R: Real>(a: R, b: R) -> R {
    R::select(a.lt(b), b, a)
}
