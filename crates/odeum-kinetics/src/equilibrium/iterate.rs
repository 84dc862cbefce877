//! Where the iteration stands.

/// Mole fraction up to which traces may grow in a step (RP-1311, eq. 3.2).
pub(super) const GROWN: f64 = 1e-4;

/// The iterate: logarithms, so that amounts are positive.
pub(super) struct Iterate {
    pub(super) ln_amounts: Vec<f64>,
    pub(super) ln_total: f64,
    pub(super) ln_t: f64,
    /// Element potentials over RT.
    pub(super) potentials: Vec<f64>,
}

impl Iterate {
    pub(super) fn amounts(&self) -> Vec<f64> {
        self.ln_amounts.iter().map(|n| n.exp()).collect()
    }
}
