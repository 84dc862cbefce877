//! Rates of reaction: one file per rate law, and the law of mass action over all of them.
//!
//! Every law is a table in structure-of-arrays form with one loop that evaluates it for all its
//! reactions. With the const parameter `D` the same loop also leaves the derivatives: of ln k with
//! respect to T at constant concentrations and pressure, of k with respect to the effective
//! third-body concentration X, and of ln k with respect to ln p.

pub(crate) mod arrhenius;
pub(crate) mod blend;
pub(crate) mod chebyshev;
pub(crate) mod falloff;
pub(crate) mod mass_action;
pub(crate) mod plog;
pub(crate) mod sri;
pub(crate) mod tabulated;
pub(crate) mod third_body;
pub(crate) mod troe;
pub(crate) mod tsang;

use crate::scratch::Scratch;
use crate::thermo::Temperature;

/// What rate constants depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions<R> {
    pub(crate) at: Temperature<R>,
    /// ln p, p in Pa.
    pub(crate) ln_p: R,
    /// Total concentration M [kmol/m³].
    pub(crate) total: R,
}

/// Rate constants and their derivatives.
pub(crate) struct Constants<'a, R> {
    /// k of each reaction, then k₀ of each falloff reaction.
    pub(crate) k: &'a mut [R],
    /// ∂ ln k/∂T of the same [1/K].
    pub(crate) dlnk: &'a mut [R],
    /// X of each set of efficiencies [kmol/m³].
    pub(crate) x: &'a mut [R],
    /// ln X of the sets for which it is wanted.
    pub(crate) ln_x: &'a mut [R],
    /// Exponential terms of Troe's blending functions.
    pub(crate) terms: &'a mut [R],
    /// ∂k/∂X of each reaction with a third body, in the order of
    /// [`ThirdBodies::reaction`](third_body::ThirdBodies).
    pub(crate) dk_dx: &'a mut [R],
    /// ∂ ln k/∂ ln p of each reaction of [`Tabulated`](tabulated::Tabulated).
    pub(crate) dlnk_dlnp: &'a mut [R],
}

impl<'a, R> Constants<'a, R> {
    /// Those of an evaluation.
    #[inline(always)]
    pub(crate) fn of(s: &'a mut Scratch<'_, R>) -> Self {
        Constants {
            k: s.k,
            dlnk: s.dlnk,
            x: s.x,
            ln_x: s.ln_x,
            terms: s.terms,
            dk_dx: s.dk_dx,
            dlnk_dlnp: s.dlnk_dlnp,
        }
    }
}
