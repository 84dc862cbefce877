//! Reference solutions; written by `validation/references.py`, which says how they were found.

use super::Reference;

pub(super) const ARENSTORF: &[Reference] = &[];
pub(super) const BRUSSELATOR: &[Reference] = &[];
pub(super) const BRUSSELATOR_1D: &[Reference] = &[];
pub(super) const E5: &[Reference] = &[];
pub(super) const HIRES: &[Reference] = &[];
pub(super) const LORENZ: &[Reference] = &[];
pub(super) const LOTKA_VOLTERRA: &[Reference] = &[];
pub(super) const OREGONATOR: &[Reference] = &[];
pub(super) const PLEIADES: &[Reference] = &[];
pub(super) const POLLU: &[Reference] = &[];
pub(super) const ROBERTSON: &[Reference] = &[];
pub(super) const VAN_DER_POL: &[Reference] = &[];
pub(super) const VAN_DER_POL_STIFF: &[Reference] = &[];
pub(super) const VAN_DER_POL_RING: &[Reference] = &[];
