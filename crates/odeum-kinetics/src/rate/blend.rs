//! The blending function F of falloff reactions, whatever its form.

/// Where logarithms of X and of the centre of F stop.
pub(crate) const TINY: f64 = 1e-300;

/// F and its derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blend<R> {
    pub(crate) f: R,
    /// ∂ ln F/∂T at constant Pr [1/K].
    pub(crate) dlnf_dt: R,
    /// φ = ∂ ln F/∂ ln Pr.
    pub(crate) phi: R,
}
